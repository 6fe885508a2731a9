// Counting notifies exist on the 950 class, and the product is a setting of the whole process. So are events of other
// processes, which 950DT does not have.
#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

using namespace process_test;

constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;
constexpr aclError kHeldUp = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;

// A counter, one stream that changes it and one that waits for it.
struct Counter {
  Counter() {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&changes), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&waits), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCntNotifyCreate(&notify, 0), ACL_SUCCESS);
  }
  ~Counter() { RW_CHECK_EQ(aclrtCntNotifyDestroy(notify), ACL_SUCCESS); }

  void Change(aclrtCntNotifyRecordMode mode, uint32_t value) const {
    aclrtCntNotifyRecordInfo info = {mode, value};
    RW_CHECK_EQ(aclrtCntNotifyRecord(notify, changes, &info), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(changes), ACL_SUCCESS);
  }
  void Set(uint32_t value) const { Change(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, value); }
  void Wait(aclrtCntNotifyWaitMode mode, uint32_t value, uint8_t clear = 0, uint32_t timeout = 0) const {
    aclrtCntNotifyWaitInfo info = {mode, value, timeout, clear, {}};
    RW_CHECK_EQ(aclrtCntNotifyWaitWithTimeout(notify, waits, &info), ACL_SUCCESS);
  }
  // A wait that is expected to pass has all the time it needs; one that is not is given a moment, and taken back.
  void CheckWait(aclrtCntNotifyWaitMode mode, uint32_t value, bool passes) const {
    Wait(mode, value);
    if (passes) {
      RW_CHECK_EQ(aclrtSynchronizeStream(waits), ACL_SUCCESS);
      return;
    }
    RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(waits, 2), kHeldUp);
    RW_CHECK_EQ(aclrtStreamAbort(waits), ACL_SUCCESS);
  }
  void CheckValue(uint32_t value) const { CheckWait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value, true); }

  aclrtCntNotify notify = nullptr;
  aclrtStream changes = nullptr, waits = nullptr;
};

void Changes() {
  Counter counter;
  counter.CheckValue(0);
  counter.Set(6);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 3);
  counter.CheckValue(9);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 6);
  counter.CheckValue(15);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 10);
  counter.CheckValue(10);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 0xFFFFFFFF);
  counter.CheckValue(9);
  RW_CHECK_EQ(aclrtCntNotifyReset(counter.notify, counter.changes), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(counter.changes), ACL_SUCCESS);
  counter.CheckValue(0);
}

void Conditions() {
  Counter counter;
  counter.Set(5);
  struct Row {
    aclrtCntNotifyWaitMode mode;
    bool four, five, six;
  };
  for (const Row& row :
       {Row{ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, false, false, true}, Row{ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, false, true, false},
        Row{ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, true, false, false}, Row{ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, true, true, false},
        Row{ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, true, true, false}}) {
    counter.CheckWait(row.mode, 4, row.four);
    counter.CheckWait(row.mode, 5, row.five);
    counter.CheckWait(row.mode, 6, row.six);
  }
}

void Waits() {
  Counter counter;
  counter.Wait(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 3, 1);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(counter.waits, 2), kHeldUp);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(counter.waits, 2), kHeldUp);
  counter.Change(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 2);
  RW_CHECK_EQ(aclrtSynchronizeStream(counter.waits), ACL_SUCCESS);
  counter.CheckValue(0);
  // A handle that is gone leaves its queued work alone.
  counter.Wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 7);
  RW_CHECK_EQ(aclrtCntNotifyDestroy(counter.notify), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCntNotifyDestroy(counter.notify), kStale);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(counter.waits, 2), kHeldUp);
  RW_CHECK_EQ(aclrtStreamAbort(counter.waits), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCntNotifyCreate(&counter.notify, 0), ACL_SUCCESS);
}

void Checks() {
  Counter counter;
  aclrtCntNotify made = nullptr, stale = nullptr;
  RW_CHECK_EQ(aclrtCntNotifyCreate(&stale, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCntNotifyDestroy(stale), ACL_SUCCESS);
  aclrtCntNotifyRecordInfo record = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
  aclrtCntNotifyWaitInfo wait = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 0, {}};
  uint32_t id = 0;
  RW_CHECK_EQ(aclrtCntNotifyCreate(nullptr, 1), kRange);
  RW_CHECK_EQ(aclrtCntNotifyCreate(&made, 1), kRange);
  RW_CHECK_EQ(aclrtCntNotifyDestroy(nullptr), kRange);
  RW_CHECK_EQ(aclrtCntNotifyRecord(nullptr, counter.changes, nullptr), ACL_ERROR_INVALID_PARAM);
  RW_CHECK_EQ(aclrtCntNotifyRecord(nullptr, counter.changes, &record), kRange);
  RW_CHECK_EQ(aclrtCntNotifyWaitWithTimeout(nullptr, counter.waits, nullptr), ACL_ERROR_INVALID_PARAM);
  RW_CHECK_EQ(aclrtCntNotifyWaitWithTimeout(nullptr, counter.waits, &wait), kRange);
  RW_CHECK_EQ(aclrtCntNotifyReset(nullptr, counter.changes), kRange);
  RW_CHECK_EQ(aclrtCntNotifyGetId(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  RW_CHECK_EQ(aclrtCntNotifyGetId(nullptr, &id), kRange);
  RW_CHECK_EQ(aclrtCntNotifyGetId(stale, &id), kStale);
  for (int bad : {3, 5, -1}) {
    record.mode = static_cast<aclrtCntNotifyRecordMode>(bad);
    RW_CHECK_EQ(aclrtCntNotifyRecord(stale, counter.changes, &record), kStale);
    RW_CHECK_EQ(aclrtCntNotifyRecord(counter.notify, counter.changes, &record), kRange);
  }
  wait.mode = static_cast<aclrtCntNotifyWaitMode>(5);
  RW_CHECK_EQ(aclrtCntNotifyWaitWithTimeout(stale, counter.waits, &wait), kStale);
  RW_CHECK_EQ(aclrtCntNotifyWaitWithTimeout(counter.notify, counter.waits, &wait), kRange);
  RW_CHECK_EQ(aclrtCntNotifyReset(stale, counter.changes), kStale);
  RW_CHECK_EQ(aclrtCntNotifyGetId(counter.notify, &id), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyStream(counter.changes), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCntNotifyReset(counter.notify, counter.changes), kStale);
}

void Without() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtCntNotify made = nullptr;
  RW_CHECK_EQ(aclrtCntNotifyCreate(&made, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

void NoIpcEvents() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC), kRange);
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  RW_CHECK_EQ(aclrtIpcOpenEventHandle({}, &event), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

void All() {
  for (const char* mode : {"changes", "conditions", "waits", "checks"}) {
    for (const char* schedule : {"fast", "earliest", "latest", "random:3"})
      ExpectClean(mode, {{"ROPEWAY_SOC", "Ascend950PR_9589"}, {"ROPEWAY_SCHEDULE", schedule}});
  }
  ExpectClean("without", {{"ROPEWAY_SOC", "Ascend910B1"}});
  ExpectClean("no-ipc-events", {{"ROPEWAY_SOC", "Ascend950DT_9591"}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"changes", &Changes},
                             {"conditions", &Conditions},
                             {"waits", &Waits},
                             {"checks", &Checks},
                             {"without", &Without},
                             {"no-ipc-events", &NoIpcEvents}});
}
