// Models (runtime.md 8): capture, replay, hand-built models, update, conditions; and the data dump of models. Not there
// yet. No model handle can exist, so a handle is only looked at for null.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoCapture = "capture is not there yet; submit the work to the stream each time";
constexpr const char* kNoModels = "models are not there yet; submit the work to a stream instead";
constexpr const char* kNoDump =
    "there are no operators here whose data could be dumped; ROPEWAY_TRACE writes a trace of all work";

aclError RefuseModel(const char* call, std::initializer_list<Argument> required) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointers(required));
    return NotSupportedQuietly(kNoModels);
  });
}

// For calls on a stream that must be named: null is 100000, a stale handle 107017.
Status RequireNamedStream(aclrtStream stream) {
  RW_TRY(RequirePointer("stream", stream));
  return RequireLiveStream(stream);
}

Status RequireMode(aclmdlRICaptureMode mode) {
  return RequireRange(Layer::kRuntime, "mode", mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
                      ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
}

Status RefuseTaskGroup(aclrtStream stream) {
  RW_TRY(RequireNamedStream(stream));
  return NotSupportedQuietly(kNoCapture);
}

// Streams of a model built by hand; a null stream would be the default one, which is never part of a model.
Status RefuseModelStream(aclmdlRI modelRI, aclrtStream stream) {
  RW_TRY(RequirePointer("modelRI", modelRI));
  RW_TRY(RequireNamedStream(stream));
  return NotSupportedQuietly(kNoModels);
}

}  // namespace
}  // namespace ropeway::api

// --- Capture
// ------------------------------------------------------------------------------------------------------------

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireNamedStream(stream));
    RW_TRY(RequireMode(mode));
    return NotSupportedQuietly(kNoCapture);
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    if (status == nullptr && modelRI == nullptr)
      return Reject(ACL_ERROR_INVALID_PARAM, "status and modelRI are both NULL");
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoCapture);
  });
}

// A null output is only looked at on a stream under capture.
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI*) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireNamedStream(stream));
    return NotSupportedQuietly(kNoCapture);
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("mode", mode));
    RW_TRY(RequireMode(*mode));
    return NotSupportedQuietly(kNoCapture);
  });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseTaskGroup(stream); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"stream", stream}, {"handle", handle}}));
    return RefuseTaskGroup(stream);
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"stream", stream}, {"handle", handle}}));
    return RefuseTaskGroup(stream);
  });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseTaskGroup(stream); });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"stream", stream}, {"modelRI", modelRI}}));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY(RequireMode(mode));
    return NotSupportedQuietly(kNoCapture);
  });
}

// --- Replay and end
// -----------------------------------------------------------------------------------------------------

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    if (timeout == 0 || timeout < -1)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "timeout %d is neither -1 (forever) nor a number of milliseconds",
                  timeout);
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) { return RefuseModel(__func__, {{"modelRI", modelRI}}); }

aclError aclmdlRIDestroy(aclmdlRI modelRI) { return RefuseModel(__func__, {{"modelRI", modelRI}}); }

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void*) {
  return RefuseModel(__func__, {{"modelRI", modelRI}, {"func", AddressOf(func)}});
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  return RefuseModel(__func__, {{"modelRI", modelRI}, {"func", AddressOf(func)}});
}

// --- Models built by hand
// -----------------------------------------------------------------------------------------------

aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireZero(Layer::kRuntime, "flag", flag));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireNull("reserve", reserve));
    return NotSupportedQuietly(kNoModels);
  });
}

// --- Names and descriptions
// ---------------------------------------------------------------------------------------------

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return RefuseModel(__func__, {{"modelRI", modelRI}, {"name", name}});
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"modelRI", modelRI}, {"name", name}}));
    RW_TRY(RequireSome(Layer::kRuntime, "maxLen", maxLen));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return RefuseModel(__func__, {{"modelRI", modelRI}, {"modelRIId", modelRIId}});
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) { return RefuseModel(__func__, {{"modelRI", modelRI}}); }

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t) {
  return RefuseModel(__func__, {{"modelRI", modelRI}, {"path", path}});
}

// --- Looking at captured work, and changing it
// --------------------------------------------------------------------------

// The array may be null: then only the number is asked for.
aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream*, uint32_t* numStreams) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireRuntimePointer("numStreams", numStreams));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask*, uint32_t* numTasks) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("stream", stream));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY(RequireRuntimePointer("numTasks", numTasks));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
  return RefuseModel(__func__, {{"task", task}, {"type", type}});
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id) {
  return RefuseModel(__func__, {{"task", task}, {"id", id}});
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return RefuseModel(__func__, {{"task", task}, {"params", params}});
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return RefuseModel(__func__, {{"task", task}, {"params", params}});
}

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId,
                                        aclrtLaunchKernelAttrValue* attrValue) {
  return RefuseModel(__func__, {{"task", task}, {"attrValue", attrValue}});
}

aclError aclmdlRITaskDisable(aclmdlRITask task) { return RefuseModel(__func__, {{"task", task}}); }

aclError aclmdlRIUpdate(aclmdlRI modelRI) { return RefuseModel(__func__, {{"modelRI", modelRI}}); }

// --- Conditions
// ---------------------------------------------------------------------------------------------------------

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t, aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"modelRI", modelRI}, {"handle", handle}}));
    RW_TRY(RequireRange(Layer::kRuntime, "flag", flag, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT));
    return NotSupportedQuietly(kNoModels);
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  return RefuseModel(__func__, {{"handle", handle}, {"ptr", ptr}});
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"params.handle", params.handle}, {"params.modelRIArray", params.modelRIArray}}));
    RW_TRY(RequireNamedStream(stream));
    RW_TRY(RequireZero(Layer::kRuntime, "flags", flags));
    return NotSupportedQuietly(kNoModels);
  });
}

// --- Data dump
// ----------------------------------------------------------------------------------------------------------

aclError aclmdlInitDump(void) { return Refuse(__func__, kNoDump); }

aclError aclmdlSetDump(const char* dumpCfgPath) { return Refuse(__func__, kNoDump, {{"dumpCfgPath", dumpCfgPath}}); }

aclError aclmdlFinalizeDump(void) { return Refuse(__func__, kNoDump); }
