// HcclSignalRecord and HcclSignalWait: checks, order, records, and how long a wait may take.
#include "dispatcher_test_util.h"
#include "hccl/dispatcher/dispatch.h"

namespace hccl_signal_test {

using namespace dispatcher_test;

class HcclSignal : public DispatcherTest {
 protected:
  HcclResult Record(aclrtNotify signal, hccl::Stream& stream, u32 rank = 1, u64 offset = INVALID_U64) {
    return HcclSignalRecord(dispatcher_, signal, stream, rank, offset, INVALID_VALUE_STAGE, true, 0);
  }
  HcclResult Wait(aclrtNotify signal, hccl::Stream& stream) {
    return HcclSignalWait(dispatcher_, signal, stream, 1, 2, INVALID_VALUE_STAGE, true);
  }
};

TEST_F(HcclSignal, NullsAndStaleNotifies) {
  Notify notify;
  EXPECT_EQ(HcclSignalRecord(nullptr, notify.handle, wrapped_, 0, 0, -1, true, 0), HCCL_E_PTR);
  EXPECT_EQ(HcclSignalWait(nullptr, notify.handle, wrapped_, 0, 0, -1, true), HCCL_E_PTR);
  EXPECT_EQ(Record(nullptr, wrapped_), HCCL_E_PTR);
  EXPECT_EQ(Wait(nullptr, wrapped_), HCCL_E_PTR);
  EXPECT_EQ(Record(notify.handle, empty_), HCCL_E_PTR);
  EXPECT_EQ(Wait(notify.handle, empty_), HCCL_E_PTR);
  EXPECT_EQ(Record(stream_, wrapped_), HCCL_E_RUNTIME);
  EXPECT_EQ(Wait(stream_, wrapped_), HCCL_E_RUNTIME);
  TakeErrorText();
}

TEST_F(HcclSignal, AWaitHoldsTheStreamAndConsumesTheSignal) {
  Notify notify;
  SubStream sub;
  PinnedBuffer from(64);
  PinnedBuffer back(64);
  DeviceBuffer device(64);
  memset(back.get(), 0, 64);
  for (int round = 1; round <= 2; ++round) {
    memset(from.get(), round, 64);
    EXPECT_EQ(Wait(notify.handle, wrapped_), HCCL_SUCCESS);
    EXPECT_EQ(Copy(device.get(), 64, from.get(), 64, kH2D), HCCL_SUCCESS);
    EXPECT_EQ(Copy(back.get(), 64, device.get(), 64, kD2H), HCCL_SUCCESS);
    EXPECT_EQ(back.get()[0], round - 1);
    EXPECT_EQ(Record(notify.handle, sub.wrapped), HCCL_SUCCESS);
    Sync();
    EXPECT_EQ(back.get()[0], round);
  }
}

TEST_F(HcclSignal, TheRecordCarriesRankAndOffset) {
  Notify notify;
  uint32_t number = 0;
  ASSERT_EQ(aclrtGetNotifyId(notify.handle, &number), ACL_SUCCESS);
  TaskLog log(dispatcher_);
  EXPECT_EQ(Record(notify.handle, wrapped_, 7, 0x1122334455667788), HCCL_SUCCESS);
  EXPECT_EQ(Wait(notify.handle, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(Record(notify.handle, wrapped_, 7), HCCL_SUCCESS);
  Sync();
  ASSERT_EQ(log.tasks.size(), 3u);
  EXPECT_EQ(log.tasks[0].type, hccl::TaskType::TASK_NOTIFY_RECORD);
  EXPECT_EQ(log.tasks[0].notify.notifyID, 0x0000000755667788u);
  EXPECT_EQ(log.tasks[0].notify.stage, -1);
  EXPECT_EQ(log.tasks[1].type, hccl::TaskType::TASK_NOTIFY_WAIT);
  EXPECT_EQ(log.tasks[1].notify.remoteUserRank, 2u);
  EXPECT_EQ(log.tasks[2].notify.notifyID, (u64{7} << 32) | number) << "INVALID_U64 means: look it up";
}

TEST_F(HcclSignal, TheModeDecidesHowLongAWaitMayTake) {
  ropeway::comm::Dispatcher* dispatcher = ropeway::comm::FindDispatcher(dispatcher_).value();
  ASSERT_NE(dispatcher, nullptr);
  EXPECT_EQ(dispatcher->WaitSeconds(), 1836u);
  ASSERT_EQ(HcclSetExecTimeOut(dispatcher_, 77), HCCL_SUCCESS);
  EXPECT_EQ(dispatcher->WaitSeconds(), 1836u);
  ASSERT_EQ(HcclSetNotifyWaitMode(dispatcher_, CONFIGURABLE_TIMEWAITSYNCMODE), HCCL_SUCCESS);
  EXPECT_EQ(dispatcher->WaitSeconds(), 77u);
  ASSERT_EQ(HcclSetExecTimeOut(dispatcher_), HCCL_SUCCESS);
  EXPECT_EQ(dispatcher->WaitSeconds(), 1836u);
  ASSERT_EQ(HcclSetNotifyWaitMode(dispatcher_, UNLIMITED_TIMEWAITSYNCMODE), HCCL_SUCCESS);
  EXPECT_EQ(dispatcher->WaitSeconds(), 2147483647u);
}

}  // namespace hccl_signal_test
