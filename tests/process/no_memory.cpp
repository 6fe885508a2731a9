// A process that is out of memory for a moment: every allocation of every call fails once, one at a time. The call
// answers 207001 and has had no effect, or it did what it should; the next try works; nothing ends the process. Each
// row of the table runs in a fork of its own, so that what a process makes on first use fails, too.
#define RW_LOOKS_FOR_LEAKS
#include "tests/process/no_memory.h"

#include <pthread.h>

#include <fstream>

namespace {

using namespace no_memory;

constexpr auto kH2D = ACL_MEMCPY_HOST_TO_DEVICE;
constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
constexpr size_t kUnit = size_t{2} << 20;
constexpr size_t kSize = 4096;
constexpr const char* kLongName = "a name that is longer than a short string";

void Nothing(void*) {}
void NoException(aclrtExceptionInfo*) {}
void NoState(aclrtStream, aclrtStreamState, void*) {}
void NoDeviceState(int32_t, aclrtDeviceState, void*) {}
aclError NoInit(const char*, size_t, void*) { return ACL_SUCCESS; }
aclError NoFinalize(void*) { return ACL_SUCCESS; }

// --- What rows prepare and undo
// -----------------------------------------------------------------------------------------

void MakeStream(World& w) { Must(aclrtCreateStream(&w.made)); }
void EndStream(World& w) { Must(aclrtDestroyStream(w.made)); }
void MakeEvent(World& w) { Must(aclrtCreateEvent(&w.made)); }
void MakeExEvent(World& w) { Must(aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_SYNC)); }
void MakeIpcEvent(World& w) { Must(aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_IPC)); }
void MakeClassicEvent(World& w) { Must(aclrtCreateEventWithFlag(&w.made, ACL_EVENT_SYNC)); }
void EndEvent(World& w) {
  Drain(w);
  Must(aclrtDestroyEvent(w.made));
}
void MakeNotify(World& w) { Must(aclrtCreateNotify(&w.made, 0)); }
void EndNotify(World& w) {
  Drain(w);
  Must(aclrtDestroyNotify(w.made));
}
void MakeCounter(World& w) { Must(aclrtCntNotifyCreate(&w.made, 0)); }
void EndCounter(World& w) {
  Drain(w);
  Must(aclrtCntNotifyDestroy(w.made));
}
void MakeContext(World& w) { Must(aclrtCreateContext(&w.made, 0)); }
void EndContext(World& w) {
  Must(aclrtDestroyContext(w.made));
  Must(aclrtSetDevice(0));
  Must(aclrtResetDevice(0));  // as many users as before, and the default context is current again
}
void MakeBlock(World& w) { Must(aclrtMalloc(&w.made, kSize, ACL_MEM_MALLOC_NORMAL_ONLY)); }
void MakeLargeBlock(World& w) { Must(aclrtMalloc(&w.made, 3 * kUnit, ACL_MEM_MALLOC_HUGE_FIRST)); }
void EndBlock(World& w) { Must(aclrtFree(w.made)); }
void MakePinned(World& w) { Must(aclrtMallocHost(&w.made, kSize)); }
void EndPinned(World& w) { Must(aclrtFreeHost(w.made)); }
void MakeRegistered(World& w) { Must(aclrtHostRegisterV2(w.pageable, kSize, ACL_HOST_REG_MAPPED)); }
void EndRegistered(World& w) { Must(aclrtHostUnregister(w.pageable)); }
aclrtMemManagedLocation OnDevice(int32_t id) { return {ACL_MEM_LOCATIONTYPE_DEVICE, id}; }
void MakeManaged(World& w) { Must(aclrtMemAllocManaged(&w.made, kUnit, 1)); }

// Work that is pending as long as the gate is closed, so that frees find something to wait for.
void HoldUp(World& w) {
  Must(aclrtCreateEventWithFlag(&w.gate, ACL_EVENT_SYNC));
  for (aclrtStream stream : {w.stream, w.other}) Must(aclrtStreamWaitEvent(stream, w.gate));
}
void LetGo(World& w) {
  Must(aclrtRecordEvent(w.gate, nullptr));
  Drain(w);
  Must(aclrtDestroyEvent(w.gate));
}

void MakePool(World& w) {
  aclrtMemPoolProps props{};
  props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {w.device_id, ACL_MEM_LOCATION_TYPE_DEVICE};
  Must(aclrtMemPoolCreate(&w.pool, &props));
}
void EndPool(World& w) {
  Drain(w);
  Must(aclrtMemPoolDestroy(w.pool));
}
void MakePooled(World& w) {
  MakePool(w);
  Must(aclrtMemPoolMallocAsync(&w.made, kUnit, w.pool, w.stream));
}
void EndPooled(World& w) {
  Must(aclrtMemPoolFreeAsync(w.made, w.stream));
  EndPool(w);
}

aclrtPhysicalMemProp DeviceProp(const World& w) {
  aclrtPhysicalMemProp prop{};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {w.device_id, ACL_MEM_LOCATION_TYPE_DEVICE};
  return prop;
}
void MakePhysical(World& w) {
  const aclrtPhysicalMemProp prop = DeviceProp(w);
  Must(aclrtMallocPhysical(&w.physical, kUnit, &prop, 0));
}
void EndPhysical(World& w) { Must(aclrtFreePhysical(w.physical)); }
void MakeRange(World& w) { Must(aclrtReserveMemAddress(&w.made, 2 * kUnit, 0, nullptr, 1)); }
void EndRange(World& w) { Must(aclrtReleaseMemAddress(w.made)); }
void MakeRangeAndPhysical(World& w) {
  MakeRange(w);
  MakePhysical(w);
}
void EndRangeAndPhysical(World& w) {
  EndRange(w);
  EndPhysical(w);
}
void MakeMapped(World& w) {
  MakeRangeAndPhysical(w);
  Must(aclrtMapMem(w.made, kUnit, 0, w.physical, 0));
}
void EndMapped(World& w) {
  Must(aclrtUnmapMem(w.made));
  EndRangeAndPhysical(w);
}
void MakeMappedNoAccess(World& w) {
  MakeRangeAndPhysical(w);
  Must(aclrtMemMapNoAccess(w.made, kUnit, 0, w.physical, 0));
}
aclError GiveAccess(World& w) {
  aclrtMemAccessDesc access[2] = {};
  access[0] = {ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
  access[1] = {ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
  return aclrtMemSetAccess(w.made, kUnit, access, 2);
}

void BeginCapture(World& w) { Must(aclmdlRICaptureBegin(w.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED)); }
void EndCapture(World& w) {
  Must(aclmdlRICaptureEnd(w.stream, &w.model));
  Must(aclmdlRIDestroy(w.model));
}
// A fork to the other stream and its return.
void Fork(World& w) {
  Must(aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_SYNC));
  Must(aclrtCreateEventExWithFlag(&w.back, ACL_EVENT_SYNC));
  BeginCapture(w);
  Must(aclrtRecordEvent(w.made, w.stream));
}
void JoinForked(World& w) {
  Must(aclrtStreamWaitEvent(w.other, w.made));
  Must(aclrtMemsetAsync(w.device, kSize, 1, kSize, w.other));
  Must(aclrtRecordEvent(w.back, w.other));
  Must(aclrtStreamWaitEvent(w.stream, w.back));
}
void EndForkedCapture(World& w) {
  EndCapture(w);
  Must(aclrtDestroyEvent(w.made));
  Must(aclrtDestroyEvent(w.back));
}
void CaptureForked(World& w) {
  Fork(w);
  JoinForked(w);
}
void MakeModel(World& w) {
  CaptureForked(w);
  Must(aclrtMemcpyAsync(w.device, kSize, w.pinned, kSize, kH2D, w.stream));
  Must(aclrtValueWrite(w.device, 1, 0, w.stream));
  Must(aclmdlRICaptureEnd(w.stream, &w.model));
  Must(aclrtDestroyEvent(w.made));
  Must(aclrtDestroyEvent(w.back));
}
void EndModel(World& w) {
  Drain(w);
  Must(aclmdlRIDestroy(w.model));
}
// A model built by hand, of one stream; with an end.
void MakeStored(World& w) {
  Must(aclmdlRIBuildBegin(&w.model, 0));
  Must(aclrtCreateStreamWithConfig(&w.made, 0, ACL_STREAM_PERSISTENT));
  Must(aclmdlRIBindStream(w.model, w.made, 0));
  Must(aclrtMemcpyAsync(w.device, kSize, w.pinned, kSize, kH2D, w.made));
  Must(aclmdlRIEndTask(w.model, w.made));
}
void MakeHandBuilt(World& w) {
  MakeStored(w);
  Must(aclmdlRIBuildEnd(w.model, nullptr));
}
void EndHandBuilt(World& w) {
  EndModel(w);
  Must(aclrtDestroyStream(w.made));
}
// One with a host function in it, and an event that each replay records for the outside.
void MakeModelWithOutside(World& w) {
  Must(aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_SYNC));
  BeginCapture(w);
  Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));
  Must(aclrtRecordEventWithFlag(w.made, w.stream, ACL_EVENT_RECORD_EXTERNAL));
  Must(aclmdlRICaptureEnd(w.stream, &w.model));
}
void EndModelWithOutside(World& w) {
  EndModel(w);
  Must(aclrtDestroyEvent(w.made));
}

void MakeExport(World& w) {
  MakeBlock(w);
  Must(aclrtIpcMemGetExportKey(w.made, kSize, w.key, sizeof(w.key), 1));
}
void EndExport(World& w) {
  Must(aclrtIpcMemClose(w.key));
  EndBlock(w);
}
void MakeNotifyKey(World& w) {
  MakeNotify(w);
  Must(aclrtNotifyGetExportKey(w.made, w.key, sizeof(w.key), 2));
}
void EndImportedNotify(World& w) {
  Drain(w);
  Must(aclrtDestroyNotify(w.imported));
  EndNotify(w);
}
void MakeImportedNotify(World& w) {
  MakeNotifyKey(w);
  Must(aclrtNotifyImportByKey(&w.imported, w.key, 0));
}
void MakeEventHandle(World& w) {
  MakeIpcEvent(w);
  Must(aclrtIpcGetEventHandle(w.made, &w.handle));
}

void PrepareBatch(World& w, void* host, size_t count) {
  std::vector<void*>& dsts = w.batch_dsts;
  std::vector<void*>& srcs = w.batch_srcs;
  dsts.assign(count, w.device);
  srcs.assign(count, host);
  w.batch_sizes.assign(count, 8);
  for (size_t i = 0; i < count; ++i) {
    dsts[i] = static_cast<char*>(w.device) + 16 * i % kSize;
    srcs[i] = static_cast<char*>(host) + 16 * i % kSize;
  }
}
void PreparePinnedBatch(World& w) { PrepareBatch(w, w.pinned, 64); }
void PreparePageableBatch(World& w) { PrepareBatch(w, w.pageable, 64); }
aclError CallBatch(World& w, bool async) {
  aclrtMemcpyBatchAttr attr{};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  size_t index = 0, failed = 0;
  void** dsts = w.batch_dsts.data();
  void** srcs = w.batch_srcs.data();
  size_t* sizes = w.batch_sizes.data();
  const size_t count = w.batch_dsts.size();
  return async ? aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, count, &attr, &index, 1, &failed, w.stream)
               : aclrtMemcpyBatch(dsts, sizes, srcs, sizes, count, &attr, &index, 1, &failed);
}

void MakeDescriptor(World& w) {
  size_t size = 0;
  Must(aclrtGetMemcpyDescSize(kInner, &size));
  Must(aclrtMalloc(&w.made, size, ACL_MEM_MALLOC_NORMAL_ONLY));
  Must(aclrtSetMemcpyDesc(w.made, kInner, w.device, static_cast<char*>(w.device) + kSize / 2, 64, nullptr));
}

// A copy that fails when it runs: its descriptor names memory that was freed.
void MakeBadDescriptor(World& w) {
  MakeDescriptor(w);
  void* freed = nullptr;
  Must(aclrtMalloc(&freed, kSize, ACL_MEM_MALLOC_NORMAL_ONLY));
  Must(aclrtSetMemcpyDesc(w.made, kInner, freed, w.device, 64, nullptr));
  Must(aclrtFree(freed));
}

aclError Subscribe(World& w) { return aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), w.stream); }
void MustSubscribe(World& w) { Must(Subscribe(w)); }
void Unsubscribe(World& w) { Must(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), w.stream)); }
void ServeAndUnsubscribe(World& w) {
  Must(aclrtProcessReport(10000));
  Unsubscribe(w);
}

void MakeTwoStreams(World& w) {
  MakeContext(w);
  aclrtStream stream = nullptr;
  for (int i = 0; i < 2; ++i) Must(aclrtCreateStream(&stream));
  Must(aclrtMemsetAsync(w.device, kSize, 1, kSize, stream));
}
void BackToDefault(World&) {
  Must(aclrtSetDevice(0));
  Must(aclrtResetDevice(0));
}

// A device whose default context has work, a host function's thread and an open capture, and somebody who listens.
void MakeDeviceWithStreams(World& w) {
  Must(aclrtSetDevice(1));
  Must(aclrtRegDeviceStateCallback("listener", &NoDeviceState, nullptr));
  Must(aclrtRegStreamStateCallback("listener", &NoState, nullptr));
  for (int i = 0; i < 3; ++i) Must(aclrtCreateStream(&w.made));
  Must(aclrtLaunchHostFunc(w.made, &Nothing, nullptr));
  Must(aclmdlRICaptureBegin(w.made, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
}
void EndListening(World& w) {
  Must(aclrtRegDeviceStateCallback("listener", nullptr, nullptr));
  Must(aclrtRegStreamStateCallback("listener", nullptr, nullptr));
  BackToDefault(w);
}

std::string InitFile() {
  const std::string path = "/tmp/ropeway_no_memory." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << "{\"err_msg_mode\": \"1\", \"defaultDevice\": {\"default_device\": \"0\"}}";
  return path;
}
void WriteInitFile(World& w) { w.path = InitFile(); }
void Finalize(World& w) {
  Must(aclFinalize());
  unlink(w.path.c_str());
}
void Init(World&) { Must(aclInit(nullptr)); }

// --- What a call that failed has left alone
// -----------------------------------------------------------------------------

bool BlockWorks(World& w) { return aclrtMemset(w.made, 16, 1, 16) == ACL_SUCCESS; }
bool NothingThere(World& w) { return aclrtMemset(w.made, 16, 1, 16) == ACL_ERROR_RT_PARAM_INVALID; }
bool PinnedWorks(World& w) {
  return aclrtMemcpyAsync(w.device, 16, w.made, 16, kH2D, w.stream) == ACL_SUCCESS && aclrtSynchronizeStream(w.stream) == ACL_SUCCESS;
}
bool HasAlias(void* host) {
  void* alias = nullptr;
  return aclrtHostGetDevicePointer(host, &alias, 0) == ACL_SUCCESS && alias != nullptr;
}
bool NothingPreferred(World& w) {
  int32_t place = 0;
  const void* at = static_cast<char*>(w.made) + 14336;
  return aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 1024, &place, sizeof(place)) == ACL_SUCCESS && place == -2;
}
bool IsRegistered(World& w) { return HasAlias(w.pageable); }
bool IsNotRegistered(World& w) { return !HasAlias(w.pageable); }
bool PinnedAndRegistered(World& w) { return PinnedWorks(w) && HasAlias(w.made); }

// --- The table
// ----------------------------------------------------------------------------------------------------------

const Row kRows[] = {
    // Devices and contexts.
    {"aclrtSetDevice, the first", kBare, {}, [](World&) { return aclrtSetDevice(0); }, [](World&) { Must(aclrtResetDevice(0)); }},
    {"aclrtSetDevice, another", kNone, {}, [](World&) { return aclrtSetDevice(1); },
     [](World&) {
       Must(aclrtResetDevice(1));
       Must(aclrtSetDevice(0));
       Must(aclrtResetDevice(0));
     }},
    {"aclrtSetDevice, a callback listens", kNone,
     [](World&) {
       Must(aclrtRegDeviceStateCallback("listener", &NoDeviceState, nullptr));
       Must(aclrtRegStreamStateCallback("listener", &NoState, nullptr));
     },
     [](World&) { return aclrtSetDevice(1); },
     [](World&) {
       Must(aclrtResetDevice(1));
       Must(aclrtRegDeviceStateCallback("listener", nullptr, nullptr));
       Must(aclrtRegStreamStateCallback("listener", nullptr, nullptr));
       Must(aclrtSetDevice(0));
       Must(aclrtResetDevice(0));
     }},
    {"aclrtResetDevice, not the last", kNone, [](World&) { Must(aclrtSetDevice(0)); }, [](World&) { return aclrtResetDevice(0); }, {}},
    {"aclrtResetDevice", kNone, [](World&) { Must(aclrtSetDevice(1)); }, [](World&) { return aclrtResetDevice(1); }, BackToDefault},
    {"aclrtResetDevice with streams", kNone, MakeDeviceWithStreams, [](World&) { return aclrtResetDevice(1); }, EndListening},
    {"aclrtResetDevice with memory", kNone,
     [](World& w) {
       MakeDeviceWithStreams(w);
       w.device_id = 1;
       for (int i = 0; i < 3; ++i) MakeBlock(w);
       MakeManaged(w);
       MakePool(w);
       MakeMapped(w);
     },
     [](World&) { return aclrtResetDevice(1); },
     [](World& w) {
       EndRange(w);
       EndListening(w);
     }},
    {"aclrtResetDeviceForce", kNone, [](World&) { Must(aclrtSetDevice(1)); },
     [](World&) { return aclrtResetDeviceForce(1); }, BackToDefault},
    {"aclrtDeviceTaskAbort", kNone, HoldUp, [](World&) { return aclrtDeviceTaskAbort(0, 1000); }, LetGo},
    {"aclrtSynchronizeDevice", kNone, {}, [](World&) { return aclrtSynchronizeDevice(); }, {}},
    {"aclrtCreateContext", kNone, {}, [](World& w) { return aclrtCreateContext(&w.made, 0); }, EndContext},
    {"aclrtDestroyContext", kNone, MakeTwoStreams, [](World& w) { return aclrtDestroyContext(w.made); }, BackToDefault},
    {"aclrtCtxSetSysParamOpt", kNone, {}, [](World&) { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }, {}},
    {"aclrtCtxGetSysParamOpt", kNone, [](World&) { Must(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1)); },
     [](World&) {
       int64_t value = 0;
       return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value);
     },
     {}},
    {"aclrtSetSysParamOpt", kNone, {}, [](World&) { return aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }, {}},
    {"aclrtGetDeviceCount, the first call", kBare, {},
     [](World&) {
       uint32_t count = 0;
       return aclrtGetDeviceCount(&count);
     },
     {}},
    {"aclrtGetDeviceInfo", kNone, {},
     [](World&) {
       int64_t value = 0;
       return aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value);
     },
     {}},
    {"aclrtRegStreamStateCallback", kNone, {}, [](World&) { return aclrtRegStreamStateCallback(kLongName, &NoState, nullptr); },
     [](World&) { Must(aclrtRegStreamStateCallback(kLongName, nullptr, nullptr)); }},
    {"aclrtRegStreamStateCallback, removal", kNone,
     [](World&) { Must(aclrtRegStreamStateCallback(kLongName, &NoState, nullptr)); },
     [](World&) { return aclrtRegStreamStateCallback(kLongName, nullptr, nullptr); }, {}},
    {"aclInit", kBare, WriteInitFile, [](World& w) { return aclInit(w.path.c_str()); }, Finalize},
    {"aclInit with a callback", kBare, [](World&) { Must(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &NoInit, nullptr)); },
     [](World&) { return aclInit(nullptr); },
     [](World&) {
       Must(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, &NoInit));
       Must(aclFinalize());
     }},
    {"aclFinalize", kBare,
     [](World&) {
       Must(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, &NoFinalize, nullptr));
       Must(aclInit(nullptr));
     },
     [](World&) { return aclFinalize(); }, [](World&) { Must(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, &NoFinalize)); }},
    {"aclInitCallbackRegister", kBare, Init, [](World&) { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &NoInit, nullptr); },
     [](World&) {
       Must(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, &NoInit));
       Must(aclFinalize());
     }},
    // Streams.
    {"aclrtCreateStream", kNone, {}, [](World& w) { return aclrtCreateStream(&w.made); }, EndStream},
    {"aclrtCreateStream, a callback listens", kNone, [](World&) { Must(aclrtRegStreamStateCallback("listener", &NoState, nullptr)); },
     [](World& w) { return aclrtCreateStream(&w.made); },
     [](World& w) {
       EndStream(w);
       Must(aclrtRegStreamStateCallback("listener", nullptr, nullptr));
     }},
    {"aclrtDestroyStream", kNone, MakeStream, [](World& w) { return aclrtDestroyStream(w.made); }, {}},
    {"aclrtDestroyStream, a callback listens", kNone,
     [](World& w) {
       MakeStream(w);
       Must(aclrtRegStreamStateCallback("listener", &NoState, nullptr));
     },
     [](World& w) { return aclrtDestroyStream(w.made); }, [](World&) { Must(aclrtRegStreamStateCallback("listener", nullptr, nullptr)); }},
    {"aclrtDestroyStreamForce", kNone, MakeStream, [](World& w) { return aclrtDestroyStreamForce(w.made); }, {}},
    {"aclrtStreamAbort", kNone, HoldUp, [](World& w) { return aclrtStreamAbort(w.stream); }, LetGo},
    {"aclrtSynchronizeStream", kNone, {}, [](World& w) { return aclrtSynchronizeStream(w.stream); }, {}},
    {"work for a persistent stream", kNone, [](World& w) { Must(aclrtCreateStreamWithConfig(&w.made, 0, ACL_STREAM_PERSISTENT)); },
     [](World& w) { return aclrtMemsetAsync(w.device, kSize, 1, kSize, w.made); }, EndStream},
    // Events.
    {"aclrtCreateEvent", kNone, {}, [](World& w) { return aclrtCreateEvent(&w.made); }, EndEvent},
    {"aclrtCreateEventWithFlag", kNone, {}, [](World& w) { return aclrtCreateEventWithFlag(&w.made, ACL_EVENT_SYNC); }, EndEvent},
    {"aclrtCreateEventExWithFlag", kNone, {}, [](World& w) { return aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_SYNC); }, EndEvent},
    {"aclrtCreateEventExWithFlag, IPC", kNone, {}, [](World& w) { return aclrtCreateEventExWithFlag(&w.made, ACL_EVENT_IPC); }, EndEvent},
    {"aclrtDestroyEvent", kNone, MakeEvent, [](World& w) { return aclrtDestroyEvent(w.made); }, {}},
    {"aclrtDestroyEvent, IPC", kNone, MakeEventHandle, [](World& w) { return aclrtDestroyEvent(w.made); }, {}},
    {"aclrtRecordEvent", kNone, MakeEvent, [](World& w) { return aclrtRecordEvent(w.made, w.stream); }, EndEvent},
    {"aclrtRecordEvent, Ex", kNone, MakeExEvent, [](World& w) { return aclrtRecordEvent(w.made, w.stream); }, EndEvent},
    {"aclrtRecordEvent, classic", kNone, MakeClassicEvent, [](World& w) { return aclrtRecordEvent(w.made, w.stream); }, EndEvent},
    {"aclrtRecordEvent, IPC", kNone, MakeIpcEvent, [](World& w) { return aclrtRecordEvent(w.made, w.stream); }, EndEvent},
    {"aclrtResetEvent", kNone, MakeClassicEvent, [](World& w) { return aclrtResetEvent(w.made, w.stream); }, EndEvent},
    {"aclrtStreamWaitEvent", kNone,
     [](World& w) {
       HoldUp(w);
       MakeExEvent(w);
       Must(aclrtRecordEvent(w.made, w.stream));
     },
     [](World& w) { return aclrtStreamWaitEvent(w.other, w.made); },
     [](World& w) {
       LetGo(w);
       EndEvent(w);
     }},
    {"aclrtStreamWaitEvent, with a limit", kNone,
     [](World& w) {
       MakeClassicEvent(w);
       Must(aclrtSynchronizeStream(w.other));
     },
     [](World& w) { return aclrtStreamWaitEventWithTimeout(w.other, w.made, 60000); },
     [](World& w) {
       Must(aclrtRecordEvent(w.made, w.stream));
       EndEvent(w);
     }},
    {"aclrtStreamWaitEvent, IPC", kNone,
     [](World& w) {
       HoldUp(w);
       MakeIpcEvent(w);
       Must(aclrtRecordEvent(w.made, w.stream));
     },
     [](World& w) { return aclrtStreamWaitEvent(w.other, w.made); },
     [](World& w) {
       LetGo(w);
       EndEvent(w);
     }},
    {"aclrtQueryEventStatus, IPC", kNone,
     [](World& w) {
       MakeIpcEvent(w);
       Must(aclrtRecordEvent(w.made, w.stream));
     },
     [](World& w) {
       aclrtEventRecordedStatus status;
       return aclrtQueryEventStatus(w.made, &status);
     },
     EndEvent},
    {"aclrtSynchronizeEvent, IPC", kNone,
     [](World& w) {
       MakeIpcEvent(w);
       Must(aclrtRecordEvent(w.made, w.stream));
     },
     [](World& w) { return aclrtSynchronizeEvent(w.made); }, EndEvent},
    {"aclrtIpcGetEventHandle", kNone, MakeIpcEvent, [](World& w) { return aclrtIpcGetEventHandle(w.made, &w.handle); }, EndEvent},
    {"aclrtIpcOpenEventHandle", kNone, MakeEventHandle, [](World& w) { return aclrtIpcOpenEventHandle(w.handle, &w.imported); },
     [](World& w) {
       Must(aclrtDestroyEvent(w.imported));
       EndEvent(w);
     }},
    {"aclrtRecordEvent, opened", kNone,
     [](World& w) {
       MakeEventHandle(w);
       Must(aclrtIpcOpenEventHandle(w.handle, &w.imported));
     },
     [](World& w) { return aclrtRecordEvent(w.imported, w.stream); },
     [](World& w) {
       Drain(w);
       Must(aclrtDestroyEvent(w.imported));
       EndEvent(w);
     }},
    {"aclrtStreamWaitEvent, opened", kNone,
     [](World& w) {
       MakeEventHandle(w);
       Must(aclrtIpcOpenEventHandle(w.handle, &w.imported));
       HoldUp(w);
       Must(aclrtRecordEvent(w.made, w.stream));
     },
     [](World& w) { return aclrtStreamWaitEvent(w.other, w.imported); },
     [](World& w) {
       LetGo(w);
       Must(aclrtDestroyEvent(w.imported));
       EndEvent(w);
     }},
    // Notifies.
    {"aclrtCreateNotify", kNone, {}, [](World& w) { return aclrtCreateNotify(&w.made, 0); }, EndNotify},
    {"aclrtDestroyNotify", kNone, MakeNotify, [](World& w) { return aclrtDestroyNotify(w.made); }, {}},
    {"aclrtDestroyNotify, exported", kNone, MakeNotifyKey, [](World& w) { return aclrtDestroyNotify(w.made); }, {}},
    {"aclrtRecordNotify", kNone, MakeNotify, [](World& w) { return aclrtRecordNotify(w.made, w.stream); }, EndNotify},
    {"aclrtWaitAndResetNotify", kNone, MakeNotify, [](World& w) { return aclrtWaitAndResetNotify(w.made, w.stream, 0); },
     [](World& w) {
       Must(aclrtRecordNotify(w.made, w.other));
       EndNotify(w);
     }},
    {"aclrtNotifyGetExportKey", kNone, MakeNotify,
     [](World& w) { return aclrtNotifyGetExportKey(w.made, w.key, sizeof(w.key), 2); }, EndNotify},
    {"aclrtNotifySetImportPid", kNone,
     [](World& w) {
       MakeNotify(w);
       Must(aclrtNotifyGetExportKey(w.made, w.key, sizeof(w.key), 0));
     },
     [](World& w) {
       int32_t pids[2] = {1, 2};
       return aclrtNotifySetImportPid(w.made, pids, 2);
     },
     EndNotify},
    {"aclrtNotifyImportByKey", kNone, MakeNotifyKey,
     [](World& w) { return aclrtNotifyImportByKey(&w.imported, w.key, 0); }, EndImportedNotify},
    {"aclrtDestroyNotify, imported", kNone, MakeImportedNotify, [](World& w) { return aclrtDestroyNotify(w.imported); }, EndNotify},
    {"aclrtRecordNotify, imported", kNone, MakeImportedNotify,
     [](World& w) { return aclrtRecordNotify(w.imported, w.stream); }, EndImportedNotify},
    {"aclrtCntNotifyCreate", kNone, {}, [](World& w) { return aclrtCntNotifyCreate(&w.made, 0); }, EndCounter},
    {"aclrtCntNotifyRecord", kNone, MakeCounter,
     [](World& w) {
       aclrtCntNotifyRecordInfo info{ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 1};
       return aclrtCntNotifyRecord(w.made, w.stream, &info);
     },
     EndCounter},
    {"aclrtCntNotifyWaitWithTimeout", kNone, MakeCounter,
     [](World& w) {
       aclrtCntNotifyWaitInfo info{ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 0, {}};
       return aclrtCntNotifyWaitWithTimeout(w.made, w.stream, &info);
     },
     [](World& w) {
       aclrtCntNotifyRecordInfo info{ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 1};
       Must(aclrtCntNotifyRecord(w.made, w.other, &info));
       EndCounter(w);
     }},
    {"aclrtCntNotifyDestroy", kNone, MakeCounter, [](World& w) { return aclrtCntNotifyDestroy(w.made); }, {}},
    // Memory.
    {"aclrtMalloc", kNone, {}, [](World& w) { return aclrtMalloc(&w.made, kSize, ACL_MEM_MALLOC_NORMAL_ONLY); }, EndBlock},
    {"aclrtMalloc, large", kNone, {}, [](World& w) { return aclrtMalloc(&w.made, 3 * kUnit, ACL_MEM_MALLOC_HUGE_FIRST); }, EndBlock},
    {"aclrtMalloc, work pending", kNone, HoldUp, [](World& w) { return aclrtMalloc(&w.made, kSize, ACL_MEM_MALLOC_NORMAL_ONLY); },
     [](World& w) {
       EndBlock(w);
       LetGo(w);
     }},
    {"aclrtFree", kNone, MakeBlock, [](World& w) { return aclrtFree(w.made); }, {}, BlockWorks},
    {"aclrtFree, large", kNone, MakeLargeBlock, [](World& w) { return aclrtFree(w.made); }, {}, BlockWorks},
    {"aclrtFree, work pending", kNone,
     [](World& w) {
       MakeBlock(w);
       HoldUp(w);
     },
     [](World& w) { return aclrtFree(w.made); }, LetGo},
    {"aclrtFreeWithDevSync", kNone, MakeBlock, [](World& w) { return aclrtFreeWithDevSync(w.made); }, {}, BlockWorks},
    {"aclrtMallocHost", kNone, {}, [](World& w) { return aclrtMallocHost(&w.made, kSize); }, EndPinned},
    {"aclrtMallocHost, large", kNone, {}, [](World& w) { return aclrtMallocHost(&w.made, 3 * kUnit); }, EndPinned},
    {"aclrtFreeHost", kNone, MakePinned, [](World& w) { return aclrtFreeHost(w.made); }, {}, PinnedWorks},
    {"aclrtFreeHost, registered", kNone,
     [](World& w) {
       MakePinned(w);
       void* alias = nullptr;
       Must(aclrtHostRegister(w.made, kSize, ACL_HOST_REGISTER_MAPPED, &alias));
     },
     [](World& w) { return aclrtFreeHost(w.made); }, {}, PinnedAndRegistered},
    {"aclrtHostRegister", kNone, {},
     [](World& w) {
       void* alias = nullptr;
       return aclrtHostRegister(w.pageable, kSize, ACL_HOST_REGISTER_MAPPED, &alias);
     },
     EndRegistered, IsNotRegistered},
    {"aclrtHostRegisterV2", kNone, {}, [](World& w) { return aclrtHostRegisterV2(w.pageable, kSize, ACL_HOST_REG_PINNED); }, EndRegistered},
    {"aclrtHostUnregister", kNone, MakeRegistered, [](World& w) { return aclrtHostUnregister(w.pageable); }, {}, IsRegistered},
    {"aclrtMemAllocManaged", kNone, {}, [](World& w) { return aclrtMemAllocManaged(&w.made, kSize, 1); }, EndBlock},
    {"aclrtFree, managed", kNone, MakeManaged, [](World& w) { return aclrtFree(w.made); }, {}, BlockWorks},
    {"aclrtMemManagedAdvise", kNone, MakeManaged,
     [](World& w) {
       return aclrtMemManagedAdvise(static_cast<char*>(w.made) + 4096, 8192, ACL_MEM_ADVISE_SET_ACCESSED_BY, OnDevice(0));
     },
     EndBlock},
    {"aclrtMemManagedAdvise, over others", kNone,
     [](World& w) {
       MakeManaged(w);
       char* at = static_cast<char*>(w.made);
       for (int i = 1; i < 4; ++i) Must(aclrtMemManagedAdvise(at + i * 12288, 4096, ACL_MEM_ADVISE_SET_ACCESSED_BY, OnDevice(0)));
     },
     [](World& w) {
       return aclrtMemManagedAdvise(static_cast<char*>(w.made) + 14336, 30000, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, OnDevice(1));
     },
     EndBlock, NothingPreferred},
    {"aclrtMemManagedPrefetchAsync", kNone, MakeManaged,
     [](World& w) { return aclrtMemManagedPrefetchAsync(w.made, kUnit, OnDevice(0), 0, w.stream); },
     [](World& w) {
       Drain(w);
       EndBlock(w);
     }},
    {"aclrtPointerGetAttributes", kNone, {},
     [](World& w) {
       aclrtPtrAttributes attributes;
       return aclrtPointerGetAttributes(w.device, &attributes);
     },
     {}},
    // Pools.
    {"aclrtMemPoolCreate", kNone, {},
     [](World& w) {
       aclrtMemPoolProps props{};
       props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
       props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
       return aclrtMemPoolCreate(&w.pool, &props);
     },
     EndPool},
    {"aclrtMemPoolDestroy", kNone,
     [](World& w) {
       MakePooled(w);
       Must(aclrtMemPoolFreeAsync(w.made, w.stream));
       Drain(w);
     },
     [](World& w) { return aclrtMemPoolDestroy(w.pool); }, {}},
    {"aclrtMemPoolMallocAsync", kNone, MakePool,
     [](World& w) { return aclrtMemPoolMallocAsync(&w.made, kUnit, w.pool, w.stream); }, EndPooled},
    {"aclrtMemPoolMallocAsync, a block again", kNone,
     [](World& w) {
       MakePooled(w);
       Must(aclrtMemPoolFreeAsync(w.made, w.stream));
     },
     [](World& w) { return aclrtMemPoolMallocAsync(&w.made, kUnit, w.pool, w.stream); }, EndPooled},
    {"aclrtMemPoolMallocAsync, behind another stream", kNone,
     [](World& w) {
       aclrtMemPoolProps props{};
       props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
       props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
       props.maxSize = kUnit;
       Must(aclrtMemPoolCreate(&w.pool, &props));
       Must(aclrtMemPoolMallocAsync(&w.made, kUnit, w.pool, w.other));
       HoldUp(w);
       Must(aclrtMemPoolFreeAsync(w.made, w.other));
     },
     [](World& w) { return aclrtMemPoolMallocAsync(&w.made, kUnit, w.pool, w.stream); },
     [](World& w) {
       LetGo(w);
       EndPooled(w);
     }},
    {"aclrtMemPoolFreeAsync", kNone, MakePooled, [](World& w) { return aclrtMemPoolFreeAsync(w.made, w.stream); }, EndPool, BlockWorks},
    {"aclrtFree, of a pool", kNone, MakePooled, [](World& w) { return aclrtFree(w.made); }, EndPool, BlockWorks},
    {"aclrtMemPoolTrimTo", kNone,
     [](World& w) {
       MakePooled(w);
       Must(aclrtMemPoolFreeAsync(w.made, w.stream));
       uint64_t all = UINT64_MAX;
       Must(aclrtMemPoolSetAttr(w.pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &all));
       Drain(w);
     },
     [](World& w) { return aclrtMemPoolTrimTo(w.pool, 0); }, EndPool},
    {"aclrtSynchronizeStream, a pool shrinks", kNone,
     [](World& w) {
       MakePooled(w);
       Must(aclrtMemPoolFreeAsync(w.made, w.stream));
     },
     [](World& w) { return aclrtSynchronizeStream(w.stream); }, EndPool},
    // Virtual memory.
    {"aclrtReserveMemAddress", kNone, {}, [](World& w) { return aclrtReserveMemAddress(&w.made, kUnit, 0, nullptr, 1); }, EndRange},
    {"aclrtReleaseMemAddress", kNone, MakeRange, [](World& w) { return aclrtReleaseMemAddress(w.made); }, {}},
    {"aclrtMallocPhysical", kNone, {},
     [](World& w) {
       const aclrtPhysicalMemProp prop = DeviceProp(w);
       return aclrtMallocPhysical(&w.physical, kUnit, &prop, 0);
     },
     EndPhysical},
    {"aclrtFreePhysical", kNone, MakePhysical, [](World& w) { return aclrtFreePhysical(w.physical); }, {}},
    {"aclrtMapMem", kNone, MakeRangeAndPhysical,
     [](World& w) { return aclrtMapMem(w.made, kUnit, 0, w.physical, 0); }, EndMapped, NothingThere},
    {"aclrtMemMapNoAccess", kNone, MakeRangeAndPhysical,
     [](World& w) { return aclrtMemMapNoAccess(w.made, kUnit, 0, w.physical, 0); }, EndMapped},
    {"aclrtMemSetAccess", kNone, MakeMappedNoAccess, GiveAccess, EndMapped, NothingThere},
    {"aclrtUnmapMem", kNone, MakeMapped, [](World& w) { return aclrtUnmapMem(w.made); }, EndRangeAndPhysical, BlockWorks},
    {"aclrtUnmapMem, work pending", kNone,
     [](World& w) {
       MakeMapped(w);
       HoldUp(w);
     },
     [](World& w) { return aclrtUnmapMem(w.made); },
     [](World& w) {
       LetGo(w);
       EndRangeAndPhysical(w);
     }, BlockWorks},
    {"aclrtMapMem, where something was", kNone,
     [](World& w) {
       MakeMapped(w);
       HoldUp(w);
       Must(aclrtUnmapMem(w.made));
     },
     [](World& w) { return aclrtMapMem(w.made, kUnit, 0, w.physical, 0); },
     [](World& w) {
       LetGo(w);
       EndMapped(w);
     }},
    {"aclrtMemRetainAllocationHandle", kNone,
     [](World& w) {
       MakeMapped(w);
       EndPhysical(w);
     },
     [](World& w) { return aclrtMemRetainAllocationHandle(w.made, &w.physical); }, EndMapped},
    {"aclrtMemExportToShareableHandle", kNone, MakePhysical,
     [](World& w) { return aclrtMemExportToShareableHandle(w.physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &w.shareable); }, EndPhysical},
    {"aclrtMemSetPidToShareableHandle", kNone,
     [](World& w) {
       MakePhysical(w);
       Must(aclrtMemExportToShareableHandle(w.physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &w.shareable));
     },
     [](World& w) {
       int32_t pids[2] = {1, 2};
       return aclrtMemSetPidToShareableHandle(w.shareable, pids, 2);
     },
     EndPhysical},
    {"aclrtFreePhysical, exported", kNone,
     [](World& w) {
       MakePhysical(w);
       Must(aclrtMemExportToShareableHandle(w.physical, ACL_MEM_HANDLE_TYPE_NONE, 0, &w.shareable));
     },
     [](World& w) { return aclrtFreePhysical(w.physical); }, {}},
    // Memory for other processes.
    {"aclrtIpcMemGetExportKey", kNone, MakeBlock,
     [](World& w) { return aclrtIpcMemGetExportKey(w.made, kSize, w.key, sizeof(w.key), 1); }, EndExport},
    {"aclrtIpcMemSetImportPid", kNone,
     [](World& w) {
       MakeBlock(w);
       Must(aclrtIpcMemGetExportKey(w.made, kSize, w.key, sizeof(w.key), 0));
     },
     [](World& w) {
       int32_t pids[2] = {1, 2};
       return aclrtIpcMemSetImportPid(w.key, pids, 2);
     },
     EndExport},
    {"aclrtIpcMemClose", kNone, MakeExport, [](World& w) { return aclrtIpcMemClose(w.key); }, EndBlock},
    {"aclrtIpcMemImportByKey", kNone, MakeExport, [](World& w) { return aclrtIpcMemImportByKey(&w.imported, w.key, 0); },
     [](World& w) {
       Must(aclrtIpcMemClose(w.key));
       EndExport(w);
     }},
    {"aclrtIpcMemClose, an import", kNone,
     [](World& w) {
       MakeExport(w);
       Must(aclrtIpcMemImportByKey(&w.imported, w.key, 0));
     },
     [](World& w) { return aclrtIpcMemClose(w.key); }, EndExport},
    // Copies.
    {"aclrtMemcpyAsync", kNone, {}, [](World& w) { return aclrtMemcpyAsync(w.device, kSize, w.pinned, kSize, kH2D, w.stream); }, Drain},
    {"aclrtMemcpyAsync, pageable", kNone, {},
     [](World& w) { return aclrtMemcpyAsync(w.device, kSize, w.pageable, kSize, kH2D, w.stream); }, Drain},
    {"aclrtMemcpyAsync, staged", kNone, {},
     [](World& w) { return aclrtMemcpyAsync(w.device, kSize, w.pageable, kSize, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, w.stream); }, Drain},
    {"aclrtMemcpy", kNone, {}, [](World& w) { return aclrtMemcpy(w.device, kSize, w.pageable, kSize, kH2D); }, {}},
    {"aclrtMemcpy, large", kNone, MakeLargeBlock,
     [](World& w) { return aclrtMemcpy(w.made, 3 * kUnit, static_cast<char*>(w.made) + kUnit, kUnit, ACL_MEMCPY_DEVICE_TO_DEVICE); },
     EndBlock},
    {"aclrtMemcpy2d", kNone, {}, [](World& w) { return aclrtMemcpy2d(w.device, 64, w.pageable, 64, 32, 16, kH2D); }, {}},
    {"aclrtMemcpy2dAsync", kNone, {},
     [](World& w) { return aclrtMemcpy2dAsync(w.device, 64, w.pinned, 64, 32, 16, kH2D, w.stream); }, Drain},
    {"aclrtMemcpyBatch", kNone, PreparePinnedBatch, [](World& w) { return CallBatch(w, false); }, {}},
    {"aclrtMemcpyBatchAsync", kNone, PreparePinnedBatch, [](World& w) { return CallBatch(w, true); }, Drain},
    {"aclrtMemcpyBatchAsync, pageable", kNone, PreparePageableBatch, [](World& w) { return CallBatch(w, true); }, Drain},
    {"aclrtMemcpyBatchAsync, both", kNone,
     [](World& w) {
       PreparePinnedBatch(w);
       for (size_t i = 32; i < 64; ++i) w.batch_srcs[i] = w.pageable;
     },
     [](World& w) { return CallBatch(w, true); }, Drain},
    {"aclrtMemcpyAsyncWithDesc", kNone, MakeDescriptor, [](World& w) { return aclrtMemcpyAsyncWithDesc(w.made, kInner, w.stream); },
     [](World& w) {
       Drain(w);
       EndBlock(w);
     }},
    {"aclrtMemset", kNone, {}, [](World& w) { return aclrtMemset(w.device, kSize, 1, kSize); }, {}},
    {"aclrtMemsetAsync", kNone, {}, [](World& w) { return aclrtMemsetAsync(w.device, kSize, 1, kSize, w.stream); }, Drain},
    {"aclrtReduceAsync", kNone, {},
     [](World& w) {
       const void* src = static_cast<char*>(w.device) + 512;
       return aclrtReduceAsync(w.device, src, 256, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, w.stream, nullptr);
     },
     Drain},
    {"aclrtValueWrite", kNone, {}, [](World& w) { return aclrtValueWrite(w.device, 1, 0, w.stream); }, Drain},
    {"aclrtValueWait", kNone, [](World& w) { Must(aclrtMemset(w.device, kSize, 0, kSize)); },
     [](World& w) { return aclrtValueWait(w.device, 7, ACL_STREAM_WAIT_VALUE_EQ, w.stream); },
     [](World& w) {
       Must(aclrtValueWrite(w.device, 7, 0, w.other));
       Drain(w);
     }},
    {"aclrtValueWrite, somebody waits", kNone,
     [](World& w) {
       Must(aclrtMemset(w.device, kSize, 0, kSize));
       Must(aclrtValueWait(w.device, 7, ACL_STREAM_WAIT_VALUE_EQ, w.stream));
     },
     [](World& w) { return aclrtValueWrite(w.device, 7, 0, w.other); }, Drain},
    {"aclrtMemset, somebody waits", kNone,
     [](World& w) {
       Must(aclrtMemset(w.device, kSize, 0, kSize));
       Must(aclrtValueWait(w.device, 0, ACL_STREAM_WAIT_VALUE_AND, w.stream));
       Must(aclrtStreamAbort(w.stream));
       Must(aclrtValueWait(w.device, 0x0101010101010101, ACL_STREAM_WAIT_VALUE_EQ, w.stream));
     },
     [](World& w) { return aclrtMemset(w.device, kSize, 1, kSize); }, Drain},
    // Host functions and callbacks.
    {"aclrtLaunchHostFunc", kNone, {}, [](World& w) { return aclrtLaunchHostFunc(w.stream, &Nothing, nullptr); }, Drain},
    {"aclrtLaunchHostFunc and its wait", kNone, {},
     [](World& w) {
       const aclError launched = aclrtLaunchHostFunc(w.stream, &Nothing, nullptr);
       return launched != ACL_SUCCESS ? launched : aclrtSynchronizeStream(w.stream);
     },
     {}},
    {"aclrtSubscribeReport", kNone, {}, Subscribe, Unsubscribe},
    {"aclrtUnSubscribeReport", kNone, MustSubscribe,
     [](World& w) { return aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), w.stream); }, {}},
    {"aclrtLaunchCallback", kNone, MustSubscribe,
     [](World& w) { return aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, w.stream); },
     ServeAndUnsubscribe},
    {"aclrtLaunchCallback, blocking", kNone, MustSubscribe,
     [](World& w) { return aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_BLOCK, w.stream); }, ServeAndUnsubscribe},
    {"aclrtProcessReport", kNone,
     [](World& w) {
       MustSubscribe(w);
       Must(aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, w.stream));
     },
     [](World&) { return aclrtProcessReport(10000); }, Unsubscribe},
    {"aclrtSetExceptionInfoCallback", kNone, {}, [](World&) { return aclrtSetExceptionInfoCallback(&NoException); },
     [](World&) { Must(aclrtSetExceptionInfoCallback(nullptr)); }},
    {"aclrtExceptionInfoCallbackRegister", kNone, {}, [](World&) { return aclrtExceptionInfoCallbackRegister(&NoException); },
     [](World&) { Must(aclrtExceptionInfoCallbackUnregister(&NoException)); }},
    {"ropewayLaunchOperation", kNone, {},
     [](World& w) {
       const auto start = [](void*, ropewayOperation operation) { ropewayFinishOperation(operation, 0, nullptr); };
       return ropewayLaunchOperation(start, [](void*, int32_t) {}, nullptr, w.stream);
     },
     Drain},
    {"ropewayFinishOperation", kNone,
     [](World& w) {
       Must(ropewayLaunchOperation([](void* argument, ropewayOperation operation) { static_cast<World*>(argument)->operation = operation; },
                                   [](void*, int32_t) {}, &w, w.stream));
       while (w.operation.load() == nullptr) static_cast<void>(aclrtSynchronizeStreamWithTimeout(w.stream, 1));
     },
     [](World& w) { return ropewayFinishOperation(w.operation.exchange(nullptr), 507000, kLongName); },
     [](World& w) {
       const aclError code = aclrtSynchronizeStream(w.stream);
       if (code != 507000) Complain("the stream did not fail", code);
     }},
    {"ropewayReserveRemote", kNone, {},
     [](World& w) { return ropewayReserveRemote(kSize, &w.made); }, [](World& w) { Must(ropewayReleaseRemote(w.made)); }},
    // Captures and graphs.
    {"aclmdlRICaptureBegin", kNone, {},
     [](World& w) { return aclmdlRICaptureBegin(w.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL); }, EndCapture},
    {"ropewayCaptureOperation", kCaptured, BeginCapture,
     [](World& w) {
       const auto start = [](void*, ropewayOperation operation) { ropewayFinishOperation(operation, 0, nullptr); };
       return ropewayCaptureOperation(start, [](void*, int32_t) {}, [](void* argument) { return argument; }, [](void*) {}, &w, w.stream);
     },
     EndCapture},
    {"aclrtMemcpyAsync, captured", kCaptured, BeginCapture,
     [](World& w) { return aclrtMemcpyAsync(w.device, kSize, w.pinned, kSize, kH2D, w.stream); },
     EndCapture},
    {"aclrtMemcpyBatchAsync, captured", kCaptured,
     [](World& w) {
       PreparePinnedBatch(w);
       BeginCapture(w);
     },
     [](World& w) { return CallBatch(w, true); }, EndCapture},
    {"aclrtLaunchHostFunc, captured", kCaptured, BeginCapture,
     [](World& w) { return aclrtLaunchHostFunc(w.stream, &Nothing, nullptr); }, EndCapture},
    {"aclrtRecordEvent, captured", kCaptured,
     [](World& w) {
       MakeExEvent(w);
       BeginCapture(w);
     },
     [](World& w) { return aclrtRecordEvent(w.made, w.stream); },
     [](World& w) {
       EndCapture(w);
       EndEvent(w);
     }},
    {"aclrtStreamWaitEvent, a stream joins", kCaptured, Fork, [](World& w) { return aclrtStreamWaitEvent(w.other, w.made); },
     [](World& w) {
       JoinForked(w);
       EndForkedCapture(w);
     }},
    {"aclrtStreamWaitEvent, a stream returns", kCaptured,
     [](World& w) {
       Fork(w);
       Must(aclrtStreamWaitEvent(w.other, w.made));
       Must(aclrtRecordEvent(w.back, w.other));
     },
     [](World& w) { return aclrtStreamWaitEvent(w.stream, w.back); }, EndForkedCapture},
    {"aclrtRecordEventWithFlag, external", kCaptured,
     [](World& w) {
       MakeExEvent(w);
       BeginCapture(w);
     },
     [](World& w) { return aclrtRecordEventWithFlag(w.made, w.stream, ACL_EVENT_RECORD_EXTERNAL); },
     [](World& w) {
       EndCapture(w);
       EndEvent(w);
     }},
    {"aclmdlRICaptureEnd", kNone, CaptureForked, [](World& w) { return aclmdlRICaptureEnd(w.stream, &w.model); },
     [](World& w) {
       Must(aclmdlRIDestroy(w.model));
       Must(aclrtDestroyEvent(w.made));
       Must(aclrtDestroyEvent(w.back));
     }},
    {"aclmdlRICaptureTaskGrpBegin", kNone, [](World& w) { BeginCapture(w); },
     [](World& w) { return aclmdlRICaptureTaskGrpBegin(w.stream); },
     [](World& w) {
       aclrtTaskGrp group = nullptr;
       Must(aclmdlRICaptureTaskGrpEnd(w.stream, &group));
       EndCapture(w);
     }},
    {"aclmdlRICaptureTaskGrpEnd", kNone,
     [](World& w) {
       BeginCapture(w);
       Must(aclmdlRICaptureTaskGrpBegin(w.stream));
     },
     [](World& w) {
       aclrtTaskGrp group = nullptr;
       return aclmdlRICaptureTaskGrpEnd(w.stream, &group);
     },
     EndCapture},
    {"aclmdlRIExecuteAsync", kNone, MakeModel, [](World& w) { return aclmdlRIExecuteAsync(w.model, w.stream); }, EndModel},
    {"aclmdlRIExecuteAsync and its wait", kNone, MakeModel,
     [](World& w) {
       const aclError executed = aclmdlRIExecuteAsync(w.model, w.stream);
       return executed != ACL_SUCCESS ? executed : aclrtSynchronizeStream(w.stream);
     },
     EndModel},
    {"aclmdlRIExecuteAsync, with the outside", kNone, MakeModelWithOutside,
     [](World& w) { return aclmdlRIExecuteAsync(w.model, w.stream); },
     EndModelWithOutside},
    {"aclmdlRIBuildBegin", kNone, {}, [](World& w) { return aclmdlRIBuildBegin(&w.model, 0); }, EndModel},
    {"aclmdlRIBindStream", kNone,
     [](World& w) {
       Must(aclmdlRIBuildBegin(&w.model, 0));
       Must(aclrtCreateStreamWithConfig(&w.made, 0, ACL_STREAM_PERSISTENT));
     },
     [](World& w) { return aclmdlRIBindStream(w.model, w.made, 0); }, EndHandBuilt},
    {"aclrtMemcpyAsync, stored", kNone, MakeStored,
     [](World& w) { return aclrtMemcpyAsync(w.pinned, kSize, w.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, w.made); }, EndHandBuilt},
    {"aclmdlRIBuildEnd", kNone, MakeStored, [](World& w) { return aclmdlRIBuildEnd(w.model, nullptr); }, EndHandBuilt},
    {"aclmdlRIExecuteAsync, built by hand", kNone, MakeHandBuilt,
     [](World& w) {
       const aclError executed = aclmdlRIExecuteAsync(w.model, w.stream);
       return executed != ACL_SUCCESS ? executed : aclrtSynchronizeStream(w.stream);
     },
     EndHandBuilt},
    {"aclmdlRIExecute", kNone, MakeHandBuilt, [](World& w) { return aclmdlRIExecute(w.model, -1); }, EndHandBuilt},
    {"aclmdlRIDestroy, built by hand", kNone,
     [](World& w) {
       MakeHandBuilt(w);
       Must(aclmdlRIExecute(w.model, -1));
     },
     [](World& w) { return aclmdlRIDestroy(w.model); }, [](World& w) { Must(aclrtDestroyStream(w.made)); }},
    {"aclmdlRIDestroy", kNone, MakeModel, [](World& w) { return aclmdlRIDestroy(w.model); }, {}},
    {"aclmdlRIDestroy, after replays", kNone,
     [](World& w) {
       MakeModel(w);
       for (int i = 0; i < 3; ++i) Must(aclmdlRIExecuteAsync(w.model, w.stream));
     },
     [](World& w) { return aclmdlRIDestroy(w.model); },
     [](World& w) { static_cast<void>(aclrtSynchronizeStream(w.stream)); }},
    {"aclmdlRISetName", kNone, MakeModel, [](World& w) { return aclmdlRISetName(w.model, kLongName); }, EndModel},
    {"aclmdlRIGetName", kNone,
     [](World& w) {
       MakeModel(w);
       Must(aclmdlRISetName(w.model, kLongName));
     },
     [](World& w) {
       char name[64];
       return aclmdlRIGetName(w.model, sizeof(name), name);
     },
     EndModel},
    {"aclmdlRIDestroyRegisterCallback", kNone, MakeModel,
     [](World& w) { return aclmdlRIDestroyRegisterCallback(w.model, &Nothing, nullptr); }, EndModel},
    {"aclmdlRIGetStreams", kNone, MakeModel,
     [](World& w) {
       uint32_t count = 2;
       aclrtStream streams[2];
       return aclmdlRIGetStreams(w.model, streams, &count);
     },
     EndModel},
    {"aclmdlRITaskDisable", kNone,
     [](World& w) {
       MakeModel(w);
       uint32_t count = 2, tasks = 16;
       aclrtStream streams[2];
       aclmdlRITask found[16];
       Must(aclmdlRIGetStreams(w.model, streams, &count));
       Must(aclmdlRIGetTasksByStream(streams[0], found, &tasks));
       w.made = found[tasks - 1];
     },
     [](World& w) { return aclmdlRITaskDisable(w.made); }, EndModel},
    {"aclmdlRIDebugJsonPrint", kNone, MakeModel, [](World& w) { return aclmdlRIDebugJsonPrint(w.model, "/dev/null", 1); }, EndModel},
    // The rest.
    {"aclrtCreateLabel", kNone, {}, [](World& w) { return aclrtCreateLabel(&w.made); }, [](World& w) { Must(aclrtDestroyLabel(w.made)); }},
    {"aclrtCreateLabelList", kNone, [](World& w) { Must(aclrtCreateLabel(&w.made)); },
     [](World& w) { return aclrtCreateLabelList(&w.made, 1, &w.back); },
     [](World& w) {
       Must(aclrtDestroyLabelList(w.back));
       Must(aclrtDestroyLabel(w.made));
     }},
    {"aclrtSetStreamResLimit", kNone, {}, [](World& w) { return aclrtSetStreamResLimit(w.stream, ACL_RT_DEV_RES_CUBE_CORE, 1); },
     [](World& w) { Must(aclrtResetStreamResLimit(w.stream)); }},
    // Error texts.
    {"a refusal and its text", kRefused, {}, [](World&) { return aclrtFree(reinterpret_cast<void*>(0x1234)); }, {}},
    {"aclGetRecentErrMsg", kNone, [](World&) { static_cast<void>(aclrtFree(reinterpret_cast<void*>(0x1234))); },
     [](World& w) {
       w.text = aclGetRecentErrMsg();
       return ACL_SUCCESS;
     },
     [](World&) { static_cast<void>(aclGetRecentErrMsg()); }},
    {"ropewayFileErrorText", kNone, {}, [](World&) { return ropewayFileErrorText(kLongName); },
     [](World&) { static_cast<void>(aclGetRecentErrMsg()); }},
    {"a task that fails, on this thread or another", kTaskFails, MakeBadDescriptor,
     [](World& w) {
       const aclError copied = aclrtMemcpyAsyncWithDesc(w.made, kInner, w.stream);
       return copied != ACL_SUCCESS ? copied : aclrtSynchronizeStream(w.stream);
     },
     EndBlock},
};

// On the threads of the runtime, where nobody is there to be told: whatever fails, the process lives and the stream
// gets on.
const Row kRowsElsewhere[] = {
    {"a task that fails", kTaskFails,
     [](World& w) {
       MakeBadDescriptor(w);
       Must(aclrtSetExceptionInfoCallback(&NoException));
     },
     [](World& w) {
       Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));  // what comes behind it is not run by the submitter
       const aclError copied = aclrtMemcpyAsyncWithDesc(w.made, kInner, w.stream);
       return copied != ACL_SUCCESS ? copied : AwaitByQuery(w.stream);
     },
     [](World& w) {
       Must(aclrtSetExceptionInfoCallback(nullptr));
       EndBlock(w);
     }},
    {"host functions",
     kNone,
     {},
     [](World& w) {
       for (int i = 0; i < 8; ++i) Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));
       return AwaitByQuery(w.stream);
     },
     {}},
    {"a replay", kNone, MakeModel,
     [](World& w) {
       Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));
       Must(aclmdlRIExecuteAsync(w.model, w.stream));
       return AwaitByQuery(w.stream);
     },
     EndModel},
    {"counters", kNone, MakeCounter,
     [](World& w) {
       aclrtCntNotifyWaitInfo wait{ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 0, {}};
       aclrtCntNotifyRecordInfo record{ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 1};
       for (aclrtStream stream : {w.stream, w.other}) Must(aclrtLaunchHostFunc(stream, &Nothing, nullptr));
       Must(aclrtCntNotifyWaitWithTimeout(w.made, w.stream, &wait));
       Must(aclrtCntNotifyRecord(w.made, w.other, &record));
       return AwaitBoth(w);
     },
     EndCounter},
    {"waits for values",
     kNone,
     [](World& w) { Must(aclrtMemset(w.device, kSize, 0, kSize)); },
     [](World& w) {
       for (aclrtStream stream : {w.stream, w.other}) Must(aclrtLaunchHostFunc(stream, &Nothing, nullptr));
       Must(aclrtValueWait(w.device, 7, ACL_STREAM_WAIT_VALUE_EQ, w.stream));
       Must(aclrtValueWrite(w.device, 7, 0, w.other));
       return AwaitBoth(w);
     },
     {}},
    {"waits with a limit", kNone, MakeClassicEvent,
     [](World& w) {
       Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));
       Must(aclrtStreamWaitEventWithTimeout(w.stream, w.made, 1));
       const aclError passed = AwaitByQuery(w.stream);
       return passed == ACL_ERROR_RT_TASK_TIMEOUT ? ACL_SUCCESS : passed == ACL_SUCCESS ? ACL_ERROR_FAILURE : passed;
     },
     EndEvent},
    {"an imported notify", kOrGone, MakeNotifyKey,
     [](World& w) {
       const aclError imported = aclrtNotifyImportByKey(&w.imported, w.key, 0);
       if (imported != ACL_SUCCESS) return imported;
       Must(aclrtLaunchHostFunc(w.stream, &Nothing, nullptr));
       Must(aclrtWaitAndResetNotify(w.imported, w.stream, 0));
       Must(aclrtRecordNotify(w.made, w.other));
       const aclError passed = AwaitBoth(w);
       Must(aclrtDestroyNotify(w.imported));
       return passed;
     },
     EndNotify},
    {"an opened event", kOrGone, MakeEventHandle,
     [](World& w) {
       const aclError opened = aclrtIpcOpenEventHandle(w.handle, &w.imported);
       if (opened != ACL_SUCCESS) return opened;
       for (aclrtStream stream : {w.stream, w.other}) Must(aclrtLaunchHostFunc(stream, &Nothing, nullptr));
       aclError code = aclrtRecordEvent(w.imported, w.stream);
       if (code == ACL_SUCCESS) code = aclrtStreamWaitEvent(w.other, w.made);
       const aclError passed = AwaitBoth(w);
       Must(aclrtDestroyEvent(w.imported));
       return code != ACL_SUCCESS ? code : passed;
     },
     EndEvent},
    {"imported memory", kOrGone, MakeExport,
     [](World& w) {
       const aclError imported = aclrtIpcMemImportByKey(&w.imported, w.key, 0);
       if (imported == ACL_SUCCESS) Must(aclrtIpcMemClose(w.key));
       return imported;
     },
     EndExport},
};

void RunAll() {
  for (const Row& row : kRows) RunRow(row, Threads::kThis);
  for (const Row& row : kRowsElsewhere) RunRow(row, Threads::kOthers);
}

}  // namespace

int main(int argc, char** argv) {
#if defined(ROPEWAY_TSAN)
  return process_test::Skip("threads of ThreadSanitizer do not start over a calloc that was replaced");
#endif
  setenv("ROPEWAY_ENGINE", "cpu", 1);
  setenv("ROPEWAY_DEVICES", "2", 1);
  setenv("ROPEWAY_SOC", "Ascend950PR", 1);  // which has counters
  if (!failing_memory::ReachesLibrary([] { aclrtSetDevice(0); })) return process_test::Skip(failing_memory::kOutOfReach);
  return process_test::Main(argc, argv, &RunAll, {});
}
