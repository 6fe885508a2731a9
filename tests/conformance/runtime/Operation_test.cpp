// ropewayLaunchOperation: work of somebody else in a stream's order, with the stream's own way to fail and to be aborted.
#ifndef ROPEWAY_TEST_VENDOR
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  ropewayOperation operation_ = nullptr;
  int dropped_ = -1;
};

class OperationTest : public StreamTest {};

bool RunsFast() {
  const char* const schedule = std::getenv("ROPEWAY_SCHEDULE");
  return schedule == nullptr || std::string(schedule) == "fast";
}

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

// One behind the other, each finished by the thread that finished the first: nobody else is needed to begin them.
TEST_F(OperationTest, ABriefOneIsBegunByWhoeverFinishesTheOneBefore) {
  struct Brief {
    std::promise<std::pair<ropewayOperation, std::thread::id>> begun;
    static void Start(void* self, ropewayOperation operation) {
      static_cast<Brief*>(self)->begun.set_value({operation, std::this_thread::get_id()});
    }
  } works[3];
  const auto drop = [](void*, int32_t) {};
  for (Brief& work : works) ASSERT_EQ(ropewayLaunchBriefOperation(&Brief::Start, drop, &work, stream_), ACL_SUCCESS);
  std::thread other([&] {
    for (Brief& work : works) {
      const auto [operation, starter] = work.begun.get_future().get();
      if (&work != works && RunsFast()) EXPECT_EQ(starter, std::this_thread::get_id());
      EXPECT_EQ(ropewayFinishOperation(operation, 0, nullptr), ACL_SUCCESS);
    }
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  other.join();
}

// The stream was just waited for: the call begins it, as long as nobody is about to leave the queue.
TEST_F(OperationTest, ABriefOneIsBegunByTheCall) {
  if (!RunsFast()) GTEST_SKIP() << "other schedules decide for themselves";
  const auto start = [](void* starter, ropewayOperation operation) {
    *static_cast<std::thread::id*>(starter) = std::this_thread::get_id();
    ropewayFinishOperation(operation, 0, nullptr);
  };
  const auto drop = [](void*, int32_t) {};
  int here = 0;
  for (int i = 0; i < 1000 && here == 0; ++i) {
    std::thread::id starter;
    ASSERT_EQ(ropewayLaunchBriefOperation(start, drop, &starter, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    here += starter == std::this_thread::get_id();
  }
  EXPECT_GT(here, 0);
}

TEST_F(OperationTest, AnIdleStreamIsOneWhereNobodyCouldTell) {
  aclrtContext context = nullptr, first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  EXPECT_EQ(ropewayIsIdle(stream_), RunsFast() ? 1 : 0);
  EXPECT_EQ(ropewayIsIdle(nullptr), 0);
  EXPECT_EQ(ropewayIsIdle(&context), 0) << "no stream";
  Work work;
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  EXPECT_EQ(ropewayIsIdle(stream_), 0) << "something is queued";
  std::thread helper([this] { aclrtSynchronizeStream(stream_); });  // where nothing runs before somebody waits
  ASSERT_EQ(ropewayFinishOperation(work.AwaitStart(), 0, nullptr), ACL_SUCCESS);
  helper.join();
  // Who ran the last task may be about to leave the queue.
  while (RunsFast() && ropewayIsIdle(stream_) == 0) std::this_thread::yield();
  EXPECT_EQ(ropewayIsIdle(stream_), RunsFast() ? 1 : 0);

  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(ropewayIsIdle(stream_), 0) << "it is captured";
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);

  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(ropewayIsIdle(stream_), 0) << "of another context";
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
}

// Its bytes are not given to anybody else; nor is whoever frees it held up.
TEST_F(OperationTest, MemoryThatWasFoundStaysThroughAnAccess) {
  constexpr size_t kBytes = 4 << 20;
  void *memory = nullptr, *view = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  void* const access = ropewayBeginAccess();
  ASSERT_NE(access, nullptr);
  const aclError code = ropewayHostView(memory, kBytes, &view);
  if (code != ACL_SUCCESS) {
    ropewayEndAccess(access);
    ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
    GTEST_SKIP() << "the host does not reach the engine's memory";
  }
  std::thread other([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
    for (int i = 0; i < 20; ++i) {
      void* next = nullptr;
      ASSERT_EQ(aclrtMalloc(&next, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_NE(next, memory);
      ASSERT_EQ(aclrtFree(next), ACL_SUCCESS);
    }
  });
  other.join();
  std::memset(view, 1, kBytes);  // no fault
  ropewayEndAccess(access);
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

// What a waiter is given to look at: an operation that ends when somebody looks often enough, and by nobody else.
std::atomic<ropewayOperation> g_looked_at{nullptr};
std::atomic<bool> g_is_there{false};  // something to look at, for this waiter to its end
std::atomic<int> g_looks{0}, g_stops{0};
int LookAtOperation(int leaving) {
  if (leaving != 0) return ++g_stops, 0;
  if (!g_is_there) return 0;
  if (++g_looks == 5) ropewayFinishOperation(g_looked_at.exchange(nullptr), 0, "");
  return 1;
}

TEST_F(OperationTest, AWaiterHelpsWhereNobodyElseLooks) {
  EXPECT_EQ(ropewayHelpWaiters(nullptr), ACL_ERROR_INVALID_PARAM);
  if (!RunsFast()) GTEST_SKIP() << "only lanes have waiters that help";
  Work work;
  ASSERT_EQ(work.Launch(stream_), ACL_SUCCESS);
  g_looked_at = work.AwaitStart();
  g_is_there = true;
  ASSERT_EQ(ropewayHelpWaiters(&LookAtOperation), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  g_is_there = false;
  EXPECT_GE(g_looks.load(), 5);
  EXPECT_EQ(g_stops.load(), 1) << "it says when it stops";
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

// --- In graphs --------------------------------------------------------------------------------------------------------------

// A pattern, and what was made after it: each one ends at once, with the code of its turn.
class Pattern {
 public:
  explicit Pattern(std::vector<aclError> codes = {}) : codes_(std::move(codes)) {}
  aclError Capture(aclrtStream stream) {
    return ropewayCaptureOperation(&Pattern::Start, &Pattern::Drop, &Pattern::Repeat, &Pattern::Forget, this, stream);
  }
  std::atomic<int> made{0}, started{0}, dropped{0}, forgotten{0};
  std::atomic<bool> full{false};  // there is no memory for another one

 private:
  struct Turn {
    Pattern& pattern;
    const int number;
  };
  static void* Repeat(void* self) {
    auto& pattern = *static_cast<Pattern*>(self);
    return pattern.full ? nullptr : new Turn{pattern, pattern.made++};
  }
  static void Forget(void* self) { ++static_cast<Pattern*>(self)->forgotten; }
  static void Start(void* argument, ropewayOperation operation) {
    const std::unique_ptr<Turn> turn(static_cast<Turn*>(argument));
    EXPECT_EQ(turn->pattern.started++, turn->number) << "replays start in the order of their submits";
    const auto& codes = turn->pattern.codes_;
    ropewayFinishOperation(operation, static_cast<size_t>(turn->number) < codes.size() ? codes[static_cast<size_t>(turn->number)] : 0,
                           "as told");
  }
  static void Drop(void* argument, int32_t was_started) {
    EXPECT_EQ(was_started, 0);
    const std::unique_ptr<Turn> turn(static_cast<Turn*>(argument));
    ++turn->pattern.dropped;
  }
  const std::vector<aclError> codes_;
};

TEST_F(OperationTest, WhatCannotBeCaptured) {
  const auto start = [](void*, ropewayOperation) {};
  const auto drop = [](void*, int32_t) {};
  const auto repeat = [](void*) -> void* { return nullptr; };
  const auto forget = [](void*) { ADD_FAILURE() << "nothing was captured"; };
  EXPECT_EQ(ropewayCaptureOperation(nullptr, drop, repeat, forget, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCaptureOperation(start, nullptr, repeat, forget, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCaptureOperation(start, drop, nullptr, forget, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCaptureOperation(start, drop, repeat, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCaptureOperation(start, drop, repeat, forget, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCaptureOperation(start, drop, repeat, forget, nullptr, &stream_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(ropewayCaptureOperation(start, drop, repeat, forget, nullptr, stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
}

TEST_F(OperationTest, EveryReplayHasOneOfItsOwn) {
  DeviceBuffer block(64);
  Pattern pattern({0, ACL_ERROR_RT_IPC_ERROR, 0});
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(pattern.Capture(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 2, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(pattern.made, 0);
  for (const aclError expected : {ACL_SUCCESS, ACL_ERROR_RT_IPC_ERROR, ACL_SUCCESS}) {
    ASSERT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    const Outcome outcome = Observe([&] { return aclrtSynchronizeStream(stream_); });
    EXPECT_EQ(outcome.code, expected);
    if (expected != ACL_SUCCESS) EXPECT_NE(outcome.text.find("as told"), std::string::npos) << outcome.text;
    EXPECT_EQ(block.Read(1)[0], 2) << "the rest of a graph runs, as behind a failed copy";
  }
  EXPECT_EQ(pattern.started, 3);
  EXPECT_EQ(pattern.forgotten, 0);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(pattern.forgotten, 1);
}

TEST_F(OperationTest, WhatAReplayWaitsForDoesNotHoldAnotherBranch) {
  Work work;
  // A work is started once: the graph is replayed once.
  const auto repeat = [](void* argument) { return argument; };
  aclrtStream other = nullptr;
  aclrtEvent fork = nullptr, join = nullptr;
  aclmdlRI model = nullptr;
  DeviceBuffer block(64);
  ASSERT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, fork), ACL_SUCCESS);
  ASSERT_EQ(ropewayCaptureOperation(
                &Work::Start, &Work::Drop, repeat, [](void*) {}, &work, other),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(join, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 2, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, join), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  while (!work.started() || block.Read(1)[0] != 2) static_cast<void>(aclrtSynchronizeStreamWithTimeout(stream_, 1));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ropewayFinishOperation(work.AwaitStart(), 0, nullptr);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(fork), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(join), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(OperationTest, AReplayThatIsNotToBeDropsWhatWasMadeForIt) {
  Pattern first, second;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(first.Capture(stream_), ACL_SUCCESS);
  ASSERT_EQ(second.Capture(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  second.full = true;
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(first.dropped, 1);
  second.full = false;
  // One that is aborted before the stream comes to it.
  aclrtStream held = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&held), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(held, event), ACL_SUCCESS);  // nobody will record it
  ASSERT_EQ(aclmdlRIExecuteAsync(model, held), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(held), ACL_SUCCESS);
  EXPECT_EQ(first.dropped, 2);
  EXPECT_EQ(second.dropped, 1);
  EXPECT_EQ(first.started + second.started, 0);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(first.forgotten, 1);
}

// An operation is made when the replay is submitted, and nobody knows then whether a body will run.
TEST_F(OperationTest, BodyOfAConditionHasNone) {
  Pattern pattern;
  aclmdlRI root = nullptr, body = nullptr, model = nullptr;
  aclmdlRICondHandle handle = nullptr;
  aclrtStream inside = nullptr;
  ASSERT_EQ(aclrtCreateStream(&inside), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, nullptr, &root), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICondHandleCreate(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_IF, 1, &body}, stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(inside, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(pattern.Capture(inside), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclmdlRICaptureEnd(inside, nullptr), ACL_SUCCESS) << "the capture is as good as before";
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(inside), ACL_SUCCESS);
  EXPECT_EQ(pattern.forgotten, 0) << "it was never taken";
}

TEST_F(OperationTest, AnAbandonedCaptureForgetsIt) {
  Pattern pattern;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(pattern.Capture(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  EXPECT_EQ(pattern.Capture(stream_), ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT);
  EXPECT_NE(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(pattern.forgotten, 1) << "what was refused is not counted";
}

}  // namespace operation_test
}  // namespace ropeway_test
#endif
