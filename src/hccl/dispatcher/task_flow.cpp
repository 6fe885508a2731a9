// Recorded subgraphs and callbacks: InitTask to LaunchTask.
#include <atomic>

#include "acl/acl.h"
#include "hccl/dispatcher/dispatch.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

using StreamCallback = HcclResult (*)(const HcclDispatcher&, hccl::Stream&);
std::atomic<StreamCallback> g_on_init{nullptr};
std::atomic<StreamCallback> g_on_launch{nullptr};

Status Call(const char* which, const std::atomic<StreamCallback>& callback, const HcclDispatcher& handle, hccl::Stream& stream) {
  const StreamCallback function = callback.load();
  if (function == nullptr) return Ok();
  const HcclResult code = function(handle, stream);
  if (code == HCCL_SUCCESS) return Ok();
  return Fail(code, "the %s-task callback answered %d", which, code);
}

Status Launch(Dispatcher& dispatcher, hccl::Stream& stream) {
  if (!dispatcher.recording_open()) return Ok();
  RW_TRY(RequirePointer("the stream's handle", stream.ptr()));
  const u64 begin_time = dispatcher.BeginTime();
  const std::vector<RecordedNode> nodes = dispatcher.CloseRecording();
  if (nodes.empty()) return Ok();
  RW_TRY(LaunchRecording(nodes, stream.ptr()));
  hccl::TaskPara task{};
  task.type = hccl::TaskType::TASK_GRAPH_LAUNCH;
  dispatcher.Report(task, stream, begin_time, true);
  return Ok();
}

[[gnu::always_inline]] inline HcclResult LaunchOn(const char* call, HcclDispatcher handle, hccl::Stream& stream) {
  return Entry(call, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(handle));
    RW_TRY(Call("launch", g_on_launch, handle, stream));
    return Launch(*dispatcher, stream);
  });
}

}  // namespace
}  // namespace ropeway::comm

// A cached subgraph would be filled with the new arguments before it runs, so recording anew has the same effect: the key and the
// graph constructor make no difference. Not to look at the string also lets in callers of libstdc++'s older string ABI.
HcclResult InitTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream, const bool, const std::string&, bool) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    if (dispatcher->can_record()) dispatcher->OpenRecording();
    return Call("init", g_on_init, dispatcherPtr, stream);
  });
}

HcclResult LaunchTask(HcclDispatcher dispatcherPtr, hccl::Stream& stream) { return LaunchOn(__func__, dispatcherPtr, stream); }

// Nodes know their streams; the list matters on the device only.
HcclResult LaunchTaskExtend(HcclDispatcher dispatcherPtr, hccl::Stream& stream, std::vector<hccl::Stream>&) {
  return LaunchOn(__func__, dispatcherPtr, stream);
}

HcclResult SetNormalMode(HcclDispatcher dispatcher) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * found, FindDispatcher(dispatcher));
    found->CloseRecording();
    return Ok();
  });
}

HcclResult IsCtxInitialized(HcclDispatcher dispatcherPtr, bool* ctxInitFlag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("ctxInitFlag", ctxInitFlag));
    *ctxInitFlag = dispatcher->recording_open();
    return Ok();
  });
}

void RegisterInitTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&)) { g_on_init.store(p1); }

void RegisterLaunchTaskCallBack(HcclResult (*p1)(const HcclDispatcher&, hccl::Stream&)) { g_on_launch.store(p1); }

HcclResult RegisterLoadTaskCallBack(HcclDispatcher dispatcherPtr, void* userPtr, void (*p1)(void* userPtr, void* param, u32 length)) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    dispatcher->ChangeSettings([&](Dispatcher::Settings& settings) {
      settings.callback_user = userPtr;
      settings.callback = p1;
    });
    return Ok();
  });
}
