// Exception callbacks: who is called when a task fails, how often, where, and what the getters say.
#include <algorithm>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace exception_callback_test {

constexpr uint32_t kNone = 0xFFFFFFFFu;

struct Failure {
  uint32_t task, stream, thread, device, code;
  int callback;
  std::thread::id on;
};

// The callbacks carry no user data, so what they saw is kept here.
class Seen {
 public:
  void Add(const aclrtExceptionInfo* info, int callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    failures_.push_back({aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
                         aclrtGetThreadIdFromExceptionInfo(info), aclrtGetDeviceIdFromExceptionInfo(info),
                         aclrtGetErrorCodeFromExceptionInfo(info), callback, std::this_thread::get_id()});
    changed_.notify_all();
  }
  std::vector<Failure> Await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return failures_.size() >= count; });
    return failures_;
  }
  size_t count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return failures_.size();
  }
  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    failures_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Failure> failures_;
};

Seen g_seen;

template <int kNumber>
void OnException(aclrtExceptionInfo* info) {
  g_seen.Add(info, kNumber);
}

class ExceptionCallback : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    g_seen.Clear();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&OnException<1>), ACL_SUCCESS);
    EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&OnException<2>), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  void FailOnce() {
    FailingCopy copy;
    ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  }
  static long CallsOf(const std::vector<Failure>& failures, int callback) {
    return std::count_if(failures.begin(), failures.end(), [&](const Failure& f) { return f.callback == callback; });
  }
};

TEST_F(ExceptionCallback, NullIsRejectedByTheSetAndClearsTheSlot) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
}

TEST_F(ExceptionCallback, UnregisteringAnUnknownOneSucceeds) {
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&OnException<1>), ACL_SUCCESS);
}

TEST_F(ExceptionCallback, GettersAnswerAllOnesForNull) {
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), kNone);
}

TEST_F(ExceptionCallback, TellsWhatFailedOnAnInternalThread) {
  int32_t stream_id = -1;
  ASSERT_EQ(aclrtStreamGetId(stream_, &stream_id), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  FailOnce();
  uint32_t task_id = kNone;
  ASSERT_EQ(aclrtGetThreadLastTaskId(&task_id), ACL_SUCCESS);
  Failure failure = g_seen.Await(1)[0];
  EXPECT_EQ(failure.code, static_cast<uint32_t>(ACL_ERROR_RT_SYS_DMA));
  EXPECT_EQ(failure.stream, static_cast<uint32_t>(stream_id));
  EXPECT_EQ(failure.device, 0u);
  EXPECT_EQ(failure.task, task_id);
  EXPECT_NE(failure.on, std::this_thread::get_id());
}

TEST_F(ExceptionCallback, EveryFailureIsToldAndSuccessIsNot) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  DeviceBuffer block(64);
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(g_seen.Await(2).size(), 2u);
}

TEST_F(ExceptionCallback, RegisteringTwiceKeepsOneEntry) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<2>), ACL_SUCCESS);
  FailOnce();
  auto failures = g_seen.Await(2);
  EXPECT_EQ(CallsOf(failures, 1), 1);
  EXPECT_EQ(CallsOf(failures, 2), 1);
}

TEST_F(ExceptionCallback, SlotAndSetAreIndependent) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(&OnException<1>), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  FailOnce();
  EXPECT_EQ(CallsOf(g_seen.Await(2), 1), 2) << "in both, so called twice";
}

TEST_F(ExceptionCallback, SlotHoldsOneFunction) {
  ASSERT_EQ(aclrtSetExceptionInfoCallback(&OnException<1>), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(&OnException<2>), ACL_SUCCESS);
  FailOnce();
  auto failures = g_seen.Await(1);
  EXPECT_EQ(CallsOf(failures, 1), 0);
  EXPECT_EQ(CallsOf(failures, 2), 1);
}

TEST_F(ExceptionCallback, UnregisteredOneIsNotCalled) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<2>), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackUnregister(&OnException<1>), ACL_SUCCESS);
  FailOnce();
  EXPECT_EQ(CallsOf(g_seen.Await(1), 1), 0);
}

TEST_F(ExceptionCallback, RefusedCallsAreNoExceptions) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  EXPECT_NE(aclrtRecordEvent(nullptr, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(g_seen.count(), 0u);
}

}  // namespace exception_callback_test
}  // namespace ropeway_test
