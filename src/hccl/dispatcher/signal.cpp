// Signals: notifies of the runtime, recorded and waited for in stream order.
#include "acl/acl.h"
#include "hccl/dispatcher/dispatch.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

// The number that a notify has in task records: the rank in the upper half, the offset in the lower one.
Status RecordId(HcclRtNotify signal, u32 rank, u64 offset, u64* id) {
  if (offset == INVALID_U64) {
    uint32_t number = 0;
    RW_TRY(FromRuntime("aclrtGetNotifyId", aclrtGetNotifyId(signal, &number)));
    offset = number;
  }
  *id = (static_cast<u64>(rank) << 32) | (offset & 0xFFFFFFFFULL);
  return Ok();
}

// Queues or records `queue`, and reports it.
Status Signal(Dispatcher& dispatcher, hccl::TaskPara task, hccl::Stream& stream, std::function<Status(HcclRtStream)> queue) {
  const u64 begin_time = dispatcher.BeginTime();
  u32 index = INVALID_UINT;
  const bool recorded = dispatcher.Record({stream.ptr(), queue}, &index);
  if (!recorded) {
    RW_TRY(RequirePointer("the stream's handle", stream.ptr()));
    RW_TRY(queue(stream.ptr()));
  }
  task.notify.ctxId = index;
  dispatcher.Report(task, stream, begin_time, recorded);
  return Ok();
}

}  // namespace
}  // namespace ropeway::comm

// inchip chooses a kind of node and signalAddr a register of the hardware; a notify of the runtime needs neither.
HcclResult HcclSignalRecord(HcclDispatcher dispatcherPtr, HcclRtNotify signal, hccl::Stream& stream, u32 userRank, u64 offset, s32 stage,
                            bool, u64) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("signal", signal));
    hccl::TaskPara task{};
    task.type = hccl::TaskType::TASK_NOTIFY_RECORD;
    task.notify = {0, stage, userRank, INVALID_UINT};
    RW_TRY(RecordId(signal, userRank, offset, &task.notify.notifyID));
    return Signal(*dispatcher, task, stream,
                  [signal](HcclRtStream on) { return FromRuntime("aclrtRecordNotify", aclrtRecordNotify(signal, on)); });
  });
}

HcclResult HcclSignalWait(HcclDispatcher dispatcherPtr, HcclRtNotify signal, hccl::Stream& stream, u32 userRank, u32 remoteUserRank,
                          s32 stage, bool) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("signal", signal));
    hccl::TaskPara task{};
    task.type = hccl::TaskType::TASK_NOTIFY_WAIT;
    task.notify = {0, stage, remoteUserRank, INVALID_UINT};
    RW_TRY(RecordId(signal, userRank, INVALID_U64, &task.notify.notifyID));
    const u32 seconds = dispatcher->WaitSeconds();
    return Signal(*dispatcher, task, stream, [signal, seconds](HcclRtStream on) {
      return FromRuntime("aclrtWaitAndResetNotify", aclrtWaitAndResetNotify(signal, on, seconds));
    });
  });
}
