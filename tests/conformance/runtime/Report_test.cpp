// Callbacks that a user's thread serves: aclrtSubscribeReport, aclrtLaunchCallback, aclrtProcessReport,
// aclrtUnSubscribeReport.
#include <pthread.h>

#include <atomic>
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace report_test {

uint64_t Self() { return static_cast<uint64_t>(pthread_self()); }

// A thread that serves callbacks in a loop from Serve() on until it is gone.
class ReportServer {
 public:
  ReportServer() : thread_([this] { Loop(); }) { ready_.wait(false); }
  ~ReportServer() {
    stop_ = true;
    Serve();
    thread_.join();
  }
  uint64_t id() const { return id_; }
  void Serve() {
    serve_ = true;
    serve_.notify_all();
  }

 private:
  void Loop() {
    id_ = Self();
    ready_ = true;
    ready_.notify_all();
    serve_.wait(false);
    while (!stop_) {
      aclError result = aclrtProcessReport(20);
      EXPECT_TRUE(result == ACL_SUCCESS || result == ACL_ERROR_RT_REPORT_TIMEOUT || result == ACL_ERROR_RT_THREAD_SUBSCRIBE) << result;
    }
  }
  std::atomic<bool> ready_{false}, serve_{false}, stop_{false};
  uint64_t id_ = 0;
  std::thread thread_;
};

// Counts calls, and lets a test wait until there were enough.
class CallCounter {
 public:
  static void Call(void* self) {
    auto* counter = static_cast<CallCounter*>(self);
    std::lock_guard<std::mutex> lock(counter->mutex_);
    ++counter->count_;
    counter->threads_.push_back(Self());
    counter->changed_.notify_all();
  }
  void Await(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }
  int count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  std::vector<uint64_t> threads() {
    std::lock_guard<std::mutex> lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  std::vector<uint64_t> threads_;
};

using SubscribeReport = StreamTest;

TEST_F(SubscribeReport, StaleStreamThenNoContext) {
  aclrtStream stale = StaleStream();
  EXPECT_EQ(WithoutContext([&] { return aclrtSubscribeReport(Self(), stale); }), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(WithoutContext([&] { return aclrtSubscribeReport(Self(), stream_); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtSubscribeReport(Self(), nullptr); }), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(SubscribeReport, StreamHasOneThread) {
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtSubscribeReport(Self() + 1, stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
}

TEST_F(SubscribeReport, ThreadServesSeveralStreamsOfOneDeviceOnly) {
  TestStream other;
  ForeignContext elsewhere(1);
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(Self(), other.get()), ACL_SUCCESS);
  elsewhere.Run([&, me = Self()] { EXPECT_EQ(aclrtSubscribeReport(me, elsewhere.stream()), ACL_ERROR_RT_THREAD_SUBSCRIBE); });
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), other.get()), ACL_SUCCESS);
}

TEST_F(SubscribeReport, StreamOfTheOtherFamilyIsRefused) {
  int count = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
}

TEST_F(SubscribeReport, StreamsContextIsNotCompared) {
  ForeignContext foreign;
  EXPECT_EQ(aclrtSubscribeReport(Self(), foreign.stream()), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), foreign.stream()), ACL_SUCCESS);
}

TEST_F(SubscribeReport, DestroyUnsubscribes) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

using UnSubscribeReport = StreamTest;

TEST_F(UnSubscribeReport, PairMustBeRegistered) {
  TestStream other;
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self() + 1, stream_), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), other.get()), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
}

TEST_F(UnSubscribeReport, DropsNonBlockingCallbacksThatNobodyServed) {
  CallCounter calls;
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(calls.count(), 0);
}

TEST_F(UnSubscribeReport, WaitsForBlockingCallbacks) {
  CallCounter calls;
  ReportServer server;
  ASSERT_EQ(aclrtSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  server.Serve();
  ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  EXPECT_EQ(calls.count(), 1);
}

using ProcessReport = StreamTest;

TEST_F(ProcessReport, TimeoutIsCheckedBeforeTheSubscription) {
  for (int32_t timeout : {0, -2, INT_MIN}) EXPECT_EQ(aclrtProcessReport(timeout), ACL_ERROR_INVALID_PARAM) << timeout;
}

TEST_F(ProcessReport, ThreadThatIsNotSubscribedReturnsAtOnce) {
  EXPECT_EQ(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(WithoutContext([] { return aclrtProcessReport(1000); }), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(ProcessReport, NothingDueIsATimeout) {
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
}

TEST_F(ProcessReport, RunsAllDueCallbacksOnTheCallingThread) {
  CallCounter calls;
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  while (calls.count() < 3) ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(calls.threads(), std::vector<uint64_t>(3, Self()));
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
}

TEST_F(ProcessReport, ServingThreadNeedsNoContext) {
  CallCounter calls;
  ReportServer server;  // never sets a device
  ASSERT_EQ(aclrtSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  server.Serve();
  ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(calls.threads(), std::vector<uint64_t>{server.id()});
  EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream_), ACL_SUCCESS);
}

using LaunchCallback = StreamTest;

TEST_F(LaunchCallback, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  TestStream host_func_stream;
  int count = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(host_func_stream.get(), &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(host_func_stream.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtSubscribeReport(Self(), foreign.stream()), ACL_SUCCESS);
  auto bad_type = static_cast<aclrtCallbackBlockType>(2);
  ExpectAll({
      {"block type, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtLaunchCallback(nullptr, nullptr, bad_type, stale); }},
      {"stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, stale); }},
      {"null function, no subscription", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, nullptr); }); }},
      {"no subscription", ACL_ERROR_RT_STREAM_NO_CB_REG,
       [&] { return aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, stream_); }},
      {"stream of the other family", ACL_ERROR_RT_STREAM_SUBSCRIBE,
       [&] { return aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, host_func_stream.get()); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT,
       [&] { return aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, foreign.stream()); }},
  });
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), foreign.stream()), ACL_SUCCESS);
}

TEST_F(LaunchCallback, BlockingOneIsPartOfTheStream) {
  struct Job {
    uint8_t* byte;
    uint8_t seen;
    aclError result;
  };
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  ReportServer server;
  ASSERT_EQ(aclrtSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  server.Serve();
  PinnedBuffer host(64);
  host.get()[0] = 0;
  TestEvent event(EventKind::kEx);
  Job job{host.get(), 0, kNotCalled};
  auto look = [](void* data) {
    auto* j = static_cast<Job*>(data);
    j->seen = *j->byte;
    *j->byte = 2;
    j->result = ACL_SUCCESS;
  };
  ASSERT_EQ(aclrtMemcpyAsync(host.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(look, &job, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(block.get(), 64, host.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  EXPECT_EQ(job.result, ACL_SUCCESS) << "the event behind it completes after it returned";
  EXPECT_EQ(job.seen, 1) << "after the copy before it";
  EXPECT_EQ(block.Read(1)[0], 2) << "before the copy behind it";
  EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream_), ACL_SUCCESS);
}

TEST_F(LaunchCallback, BlockingOneHoldsTheStreamUntilServed) {
  CallCounter calls;
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  while (calls.count() < 1) ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
}

TEST_F(LaunchCallback, NonBlockingOneIsNotWaitedFor) {
  CallCounter calls;
  ASSERT_EQ(aclrtSubscribeReport(Self(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(calls.count(), 0) << "this thread serves it, and did not yet";
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(calls.count(), 1);
  EXPECT_EQ(aclrtUnSubscribeReport(Self(), stream_), ACL_SUCCESS);
}

TEST_F(LaunchCallback, OrderWithinAStreamIsKept) {
  struct Step {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  std::vector<Step> steps;
  for (int i = 0; i < 40; ++i) steps.push_back({&order, i});
  auto note = [](void* data) {
    auto* step = static_cast<Step*>(data);
    step->order->push_back(step->number);
  };
  ReportServer server;
  ASSERT_EQ(aclrtSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  server.Serve();
  for (size_t i = 0; i < steps.size(); ++i) {
    auto type = i % 4 == 3 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
    ASSERT_EQ(aclrtLaunchCallback(note, &steps[i], type, stream_), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // the last one blocks, so all before it ran
  ASSERT_EQ(order.size(), 40u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream_), ACL_SUCCESS);
}

TEST_F(LaunchCallback, OneThreadServesManyStreams) {
  constexpr int kStreams = 16, kRounds = 20;
  CallCounter calls;
  ReportServer server;
  TestStream streams[kStreams];
  for (auto& stream : streams) ASSERT_EQ(aclrtSubscribeReport(server.id(), stream.get()), ACL_SUCCESS);
  server.Serve();
  std::vector<std::thread> threads;
  for (auto& stream : streams) {
    threads.emplace_back([&, handle = stream.get()] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(aclrtLaunchCallback(&CallCounter::Call, &calls, ACL_CALLBACK_BLOCK, handle), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSynchronizeStream(handle), ACL_SUCCESS);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(calls.count(), kStreams * kRounds);
  EXPECT_EQ(calls.threads(), std::vector<uint64_t>(kStreams * kRounds, server.id()));
  for (auto& stream : streams) EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream.get()), ACL_SUCCESS);
}

}  // namespace report_test
}  // namespace ropeway_test
