// Exception callbacks: who is called when a task fails, how often, where, and what the getters say.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

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

// Takes its time, so that whoever does not wait for it is through before.
std::atomic<int> g_slow_calls{0};
void OnExceptionSlowly(aclrtExceptionInfo*) {
  for (int i = 0; i < 1000; ++i) sched_yield();
  ++g_slow_calls;
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
    EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(&OnExceptionSlowly), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  // Without a synchronise, which would take the error.
  static void AwaitIdle(aclrtStream stream) {
    while (StatusOf(stream) != ACL_STREAM_STATUS_COMPLETE) sched_yield();
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

// --- When: before the call that tells the program, or that loses the error, returns ----------------------------------------

TEST_F(ExceptionCallback, IsOverBeforeTheSynchroniseReturns) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnExceptionSlowly), ACL_SUCCESS);
  uint8_t pageable[64] = {};
  FailingCopy copy;
  DeviceBuffer block(64);
  const std::vector<std::pair<const char*, Callable<aclError()>>> calls = {
      {"stream", [&] { return aclrtSynchronizeStream(stream_); }},
      {"stream, with a limit", [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 1000000); }},
      {"device", [&] { return aclrtSynchronizeDevice(); }},
      {"device, with a limit", [&] { return aclrtSynchronizeDeviceWithTimeout(1000000); }},
      {"copy of pageable memory", [&] { return aclrtMemcpyAsync(block.get(), 64, pageable, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
  };
  for (const auto& [name, synchronise] : calls) {
    g_slow_calls = 0;
    ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
    ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
    ASSERT_EQ(synchronise(), ACL_ERROR_RT_SYS_DMA) << name;
    EXPECT_EQ(g_slow_calls, 2) << name;
  }
}

// In stop mode the error belongs to the context, and an event of it tells, too.
TEST_F(ExceptionCallback, IsOverBeforeAFailedContextTells) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnExceptionSlowly), ACL_SUCCESS);
  using Synchronise = aclError (*)(aclrtStream, aclrtEvent);
  const std::pair<const char*, Synchronise> calls[] = {
      {"stream", [](aclrtStream stream, aclrtEvent) { return aclrtSynchronizeStream(stream); }},
      {"device", [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDevice(); }},
      {"event", [](aclrtStream, aclrtEvent event) { return aclrtSynchronizeEvent(event); }},
  };
  for (const auto& [name, synchronise] : calls) {
    g_slow_calls = 0;
    ForeignContext context;
    context.Run([&, what = name, call = synchronise] {
      FailingCopy copy;
      TestEvent event(EventKind::kEx);
      ASSERT_EQ(aclrtSetStreamFailureMode(context.stream(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
      Hold hold(context.stream());
      ASSERT_EQ(copy.Submit(context.stream()), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event.get(), context.stream()), ACL_SUCCESS);
      hold.Open();
      EXPECT_EQ(call(context.stream(), event.get()), ACL_ERROR_RT_SYS_DMA) << what;
      EXPECT_EQ(g_slow_calls, 1) << what;
    });
  }
}

// Nobody asked for the error; the callback has it all the same, and may be unregistered behind the call.
TEST_F(ExceptionCallback, IsNotLostWithTheStream) {
  FailingCopy copy;
  using End = aclError (*)(aclrtStream);
  const std::pair<const char*, End> calls[] = {
      {"destroy", &aclrtDestroyStream},
      {"destroy by force",
       [](aclrtStream stream) {
         AwaitIdle(stream);
         return aclrtDestroyStreamForce(stream);
       }},
      {"abort",
       [](aclrtStream stream) {
         AwaitIdle(stream);
         return aclrtStreamAbort(stream);
       }},
  };
  for (const auto& [name, end] : calls) {
    g_slow_calls = 0;
    ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnExceptionSlowly), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(copy.Submit(stream), ACL_SUCCESS);
    EXPECT_EQ(end(stream), ACL_SUCCESS) << name;
    ASSERT_EQ(aclrtExceptionInfoCallbackUnregister(&OnExceptionSlowly), ACL_SUCCESS);
    EXPECT_EQ(g_slow_calls, 1) << name;
    aclrtDestroyStream(stream);  // stale behind the first two
  }
}

TEST_F(ExceptionCallback, IsNotLostWithTheContext) {
  g_slow_calls = 0;
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnExceptionSlowly), ACL_SUCCESS);
  {
    ForeignContext context;
    context.Run([&] { EXPECT_EQ(FailingCopy().Submit(context.stream()), ACL_SUCCESS); });
  }
  EXPECT_EQ(g_slow_calls, 1);
}

// --- What a callback may do ------------------------------------------------------------------------------------------------

std::atomic<bool> g_used_the_library{false};
aclError g_answers[4];
aclrtStream g_told_stream = nullptr;
aclrtContext g_told_context = nullptr;

void UseTheLibrary(aclrtExceptionInfo*) {
  g_answers[0] = aclrtSetCurrentContext(g_told_context);
  g_answers[1] = aclrtSynchronizeStream(g_told_stream);
  g_answers[2] = aclrtResetDevice(0);
  g_answers[3] = aclrtExceptionInfoCallbackUnregister(&UseTheLibrary);
  g_used_the_library = true;
  g_used_the_library.notify_all();
}

// Also what would wait for the callback itself, called from elsewhere.
TEST_F(ExceptionCallback, MayUseTheLibrary) {
  g_used_the_library = false;
  g_told_stream = stream_;
  ASSERT_EQ(aclrtGetCurrentContext(&g_told_context), ACL_SUCCESS);
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&UseTheLibrary), ACL_SUCCESS);
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  const aclError here = aclrtSynchronizeStream(stream_);
  g_used_the_library.wait(false);  // where the callback took the error, this thread found none and did not wait
  EXPECT_EQ(g_answers[0], ACL_SUCCESS);
  EXPECT_EQ(here + g_answers[1], ACL_ERROR_RT_SYS_DMA) << "one of the two has it";
  EXPECT_EQ(g_answers[2], ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(g_answers[3], ACL_SUCCESS);
}

// --- Who submitted it ------------------------------------------------------------------------------------------------------

uint32_t ThreadNumber() { return static_cast<uint32_t>(gettid()); }

TEST_F(ExceptionCallback, NamesTheThreadThatSubmitted) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  FailingCopy copy;
  Worker other;
  uint32_t others_number = 0;
  std::vector<uint32_t> expected;
  {
    Hold hold(stream_);
    for (int turn : {0, 1, 1, 0, 1, 0, 0, 1}) {
      if (turn == 0) {
        ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
        expected.push_back(ThreadNumber());
        continue;
      }
      other.Do([&] {
        others_number = ThreadNumber();
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
        ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      });
      expected.push_back(others_number);
    }
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  }
  std::vector<uint32_t> told;
  for (const Failure& failure : g_seen.Await(expected.size())) told.push_back(failure.thread);
  EXPECT_EQ(told, expected);
}

// What fails inside a graph is of whoever asked for the replay, and not of whoever captured it.
TEST_F(ExceptionCallback, NamesTheThreadThatAskedForTheReplay) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  FailingCopy copy;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  Worker other;
  uint32_t others_number = 0;
  other.Do([&] {
    others_number = ThreadNumber();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(g_seen.Await(1)[0].thread, others_number);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

// More changes than a stream remembers at once, with every failure at its right place.
TEST_F(ExceptionCallback, NamesTheThreadAfterManyTurns) {
  ASSERT_EQ(aclrtExceptionInfoCallbackRegister(&OnException<1>), ACL_SUCCESS);
  FailingCopy copy;
  DeviceBuffer block(64);
  Worker other;
  uint32_t others_number = 0;
  other.Do([&] {
    others_number = ThreadNumber();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  });
  for (int turn = 0; turn < 3000; ++turn) {
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
    other.Do([&] { ASSERT_EQ(turn % 500 == 0 ? copy.Submit(stream_) : aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS); });
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  const auto failures = g_seen.Await(6);
  EXPECT_EQ(failures.size(), 6u);
  for (const Failure& failure : failures) EXPECT_EQ(failure.thread, others_number);
  other.Do([&] { ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS); });
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
