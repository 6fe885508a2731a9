// ropewayLaunchOperation: work of somebody else in a stream's order, with the stream's own way to fail and to be aborted.
#ifndef ROPEWAY_TEST_VENDOR
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "ropeway/ropeway.h"
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test {
namespace operation_test {

using namespace bytes;

// What happened to one operation.
class Work {
 public:
  aclError Launch(aclrtStream stream) { return ropewayLaunchOperation(&Work::Start, &Work::Drop, this, stream); }
  ropewayOperation AwaitStart() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return operation_ != nullptr; });
    return operation_;
  }
  bool started() {
    std::lock_guard lock(mutex_);
    return operation_ != nullptr;
  }
  // -1: not dropped; else what the function was told.
  int dropped() {
    std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  static void Start(void* self, ropewayOperation operation) {
    auto* work = static_cast<Work*>(self);
    std::lock_guard lock(work->mutex_);
    EXPECT_EQ(work->operation_, nullptr) << "started twice";
    work->operation_ = operation;
    work->changed_.notify_all();
  }
  static void Drop(void* self, int32_t started) {
    auto* work = static_cast<Work*>(self);
    std::lock_guard lock(work->mutex_);
    EXPECT_EQ(work->dropped_, -1) << "dropped twice";
    work->dropped_ = started;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  ropewayOperation operation_ = nullptr;
  int dropped_ = -1;
};

class OperationTest : public StreamTest {};

TEST_F(OperationTest, NullsAndStaleStreamsAreRefused) {
  const auto start = [](void*, ropewayOperation) {};
  const auto drop = [](void*, int32_t) {};
  EXPECT_EQ(ropewayLaunchOperation(nullptr, drop, nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayLaunchOperation(start, nullptr, nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayLaunchOperation(start, drop, nullptr, &stream_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(bytes::OnFreshThread([&] { return ropewayLaunchOperation(start, drop, nullptr, nullptr); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(ropewayFinishOperation(nullptr, 0, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(OperationTest, TheStreamWaitsUntilItIsFinished) {
  DeviceBuffer block(64);
  Work work;
  ASSERT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 2, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(block.Read(1)[0], 1);
  std::thread other([&] { EXPECT_EQ(ropewayFinishOperation(work.AwaitStart(), 0, nullptr), ACL_SUCCESS); });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  other.join();
  EXPECT_EQ(block.Read(1)[0], 2);
  EXPECT_EQ(work.dropped(), -1);
}

TEST_F(OperationTest, ItStartsBehindWhatWasSubmittedBefore) {
  StreamGate gate;
  Work work;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_FALSE(work.started());
  gate.Open();
  std::thread other([&] { ropewayFinishOperation(work.AwaitStart(), 0, ""); });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  other.join();
}

TEST_F(OperationTest, MayBeFinishedWhileItStarts) {
  const auto start = [](void*, ropewayOperation operation) { ropewayFinishOperation(operation, 0, nullptr); };
  const auto drop = [](void*, int32_t) {};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(ropewayLaunchOperation(start, drop, nullptr, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(OperationTest, AFailureIsTheStreams) {
  Work work;
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  std::thread other([&] { ropewayFinishOperation(work.AwaitStart(), ACL_ERROR_RT_IPC_ERROR, "the cable is cut"); });
  const Outcome outcome = Observe([&] { return aclrtSynchronizeStream(stream_); });
  other.join();
  EXPECT_EQ(outcome.code, ACL_ERROR_RT_IPC_ERROR);
  EXPECT_NE(outcome.text.find("the cable is cut"), std::string::npos) << outcome.text;
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "told once";
}

TEST_F(OperationTest, AnAbortDropsWhatHasNotStarted) {
  StreamGate gate;
  Work work;
  aclrtStream held = nullptr;
  ASSERT_EQ(aclrtCreateStream(&held), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(held, event), ACL_SUCCESS);  // nobody will record it
  ASSERT_EQ(work.Launch(held), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(held), ACL_SUCCESS);
  EXPECT_FALSE(work.started());
  EXPECT_EQ(work.dropped(), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(OperationTest, AnAbortLeavesAStartedOneToItself) {
  Work work;
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ropewayOperation operation = work.AwaitStart();
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(work.dropped(), 1);
  EXPECT_EQ(ropewayFinishOperation(operation, ACL_ERROR_RT_IPC_ERROR, "too late"), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(OperationTest, AStreamMayStopAlone) {
  aclrtStream alone = nullptr;
  ASSERT_EQ(aclrtCreateStream(&alone), ACL_SUCCESS);
  ASSERT_EQ(ropewayStopStreamOnFailure(alone), ACL_SUCCESS);
  Work fails, behind, later;
  ASSERT_EQ(fails.Launch(alone), ACL_SUCCESS);
  ASSERT_EQ(behind.Launch(alone), ACL_SUCCESS);
  std::thread other([&] { ropewayFinishOperation(fails.AwaitStart(), ACL_ERROR_RT_IPC_ERROR, "the cable is cut"); });
  EXPECT_EQ(aclrtSynchronizeStream(alone), ACL_ERROR_RT_IPC_ERROR);
  other.join();
  EXPECT_EQ(later.Launch(alone), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(alone), ACL_SUCCESS);
  for (Work* dropped : {&behind, &later}) {
    EXPECT_FALSE(dropped->started());
    EXPECT_EQ(dropped->dropped(), 0);
  }
  DeviceBuffer block(64);
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 2, 64, stream_), ACL_SUCCESS) << "the context goes on";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(alone), ACL_SUCCESS);
}

TEST_F(OperationTest, StoppingAloneNeedsAStreamOfThisContext) {
  EXPECT_EQ(ropewayStopStreamOnFailure(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayStopStreamOnFailure(&stream_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(bytes::OnFreshThread([&] { return ropewayStopStreamOnFailure(stream_); }), ACL_ERROR_RT_CONTEXT_NULL);
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  EXPECT_EQ(ropewayStopStreamOnFailure(stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(OperationTest, AGraphCannotRepeatIt) {
  Work work;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(work.Launch(stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(work.dropped(), -1);
}

}  // namespace operation_test
}  // namespace ropeway_test
#endif
