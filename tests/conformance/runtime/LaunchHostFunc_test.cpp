// aclrtLaunchHostFunc: always part of the stream, one internal thread per context, no current context on it.
#include <pthread.h>

#include <atomic>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace launch_host_func_test {

using LaunchHostFunc = StreamTest;

TEST_F(LaunchHostFunc, EarlierCheckWins) {
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  int count = 0;
  ExpectAll({
      {"stale, null function, no context", ACL_ERROR_RT_INVALID_HANDLE,
       [&] { return WithoutContext([&] { return aclrtLaunchHostFunc(stale, nullptr, nullptr); }); }},
      {"null function, no context", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return WithoutContext([&] { return aclrtLaunchHostFunc(stream_, nullptr, nullptr); }); }},
      {"null function, other context", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtLaunchHostFunc(foreign.stream(), nullptr, nullptr); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtLaunchHostFunc(stream_, &CountUp, &count); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtLaunchHostFunc(foreign.stream(), &CountUp, &count); }},
  });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(count, 0);
}

TEST_F(LaunchHostFunc, SubscribedStreamIsRefused) {
  auto me = static_cast<uint64_t>(pthread_self());
  int count = 0;
  ASSERT_EQ(aclrtSubscribeReport(me, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(me, stream_), ACL_SUCCESS);
}

TEST_F(LaunchHostFunc, RunsOnceInOrderWithItsArgument) {
  DeviceBuffer block(64);
  PinnedBuffer host(64);
  std::memset(host.get(), 0, 64);
  block.Write(std::vector<uint8_t>(64, 7));
  struct Seen {
    const uint8_t* host;
    int value = -1;
    int calls = 0;
  } seen{host.get()};
  auto look = [](void* data) {
    auto* s = static_cast<Seen*>(data);
    s->value = s->host[63];
    ++s->calls;
  };
  ASSERT_EQ(aclrtMemcpyAsync(host.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, look, &seen), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.value, 7) << "after the copy before it";
  EXPECT_EQ(seen.calls, 1);
}

TEST_F(LaunchHostFunc, LaterWorkWaitsForIt) {
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  Hold hold(stream_);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
  hold.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9));
}

TEST_F(LaunchHostFunc, NullStreamIsTheDefaultOneAndANullArgumentIsPassedOn) {
  static std::atomic<void*> seen;
  seen = &seen;
  auto look = [](void* data) { seen = data; };
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, look, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(seen.load(), nullptr);
}

TEST_F(LaunchHostFunc, OneInternalThreadPerContextAndNotTheCallers) {
  TestStream other;
  ForeignContext foreign;
  std::thread::id ids[3];
  auto note = [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, note, &ids[0]), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(other.get(), note, &ids[1]), ACL_SUCCESS);
  foreign.Run([&] { ASSERT_EQ(aclrtLaunchHostFunc(foreign.stream(), note, &ids[2]), ACL_SUCCESS); });
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  EXPECT_NE(ids[0], std::this_thread::get_id());
}

TEST_F(LaunchHostFunc, FunctionsOfOneContextRunOneAtATime) {
  struct Shared {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
  } shared;
  auto enter = [](void* data) {
    auto* s = static_cast<Shared*>(data);
    int now = ++s->inside;
    if (now > s->most) s->most = now;
    std::this_thread::yield();
    --s->inside;
  };
  TestStream streams[4];
  for (int round = 0; round < 25; ++round) {
    for (auto& stream : streams) ASSERT_EQ(aclrtLaunchHostFunc(stream.get(), enter, &shared), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(shared.most, 1);
}

TEST_F(LaunchHostFunc, HasNoContextUntilItSetsOne) {
  struct Results {
    aclrtContext context = nullptr;
    aclError before = kNotCalled, set = kNotCalled, after = kNotCalled;
  } results;
  ASSERT_EQ(aclrtGetCurrentContext(&results.context), ACL_SUCCESS);
  auto look = [](void* data) {
    auto* r = static_cast<Results*>(data);
    int32_t device = -1;
    r->before = aclrtGetDevice(&device);
    r->set = aclrtSetCurrentContext(r->context);
    r->after = aclrtGetDevice(&device);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, look, &results), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(results.before, ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(results.set, ACL_SUCCESS);
  EXPECT_EQ(results.after, ACL_SUCCESS);
}

TEST_F(LaunchHostFunc, MayAllocateCopySubmitAndFree) {
  struct Job {
    aclrtContext context = nullptr;
    aclrtStream other = nullptr;
    void* device = nullptr;
    bool good = false;
  } job;
  TestStream other;
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 5));
  job.other = other.get();
  job.device = block.get();
  ASSERT_EQ(aclrtGetCurrentContext(&job.context), ACL_SUCCESS);
  auto work = [](void* data) {
    auto* j = static_cast<Job*>(data);
    void* pinned = nullptr;
    j->good = aclrtSetCurrentContext(j->context) == ACL_SUCCESS && aclrtMallocHost(&pinned, 64) == ACL_SUCCESS &&
              aclrtMemcpy(pinned, 64, j->device, 64, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS && static_cast<uint8_t*>(pinned)[63] == 5 &&
              aclrtMemsetAsync(j->device, 64, 6, 64, j->other) == ACL_SUCCESS && aclrtFreeHost(pinned) == ACL_SUCCESS;
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, work, &job), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(job.good);
  ASSERT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 6));
}

TEST_F(LaunchHostFunc, OneContextsLongFunctionDoesNotDelayAnother) {
  ForeignContext foreign;
  int count = 0;
  Hold hold(stream_);
  foreign.Run([&] {
    ASSERT_EQ(aclrtLaunchHostFunc(foreign.stream(), &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.stream()), ACL_SUCCESS);
  });
  EXPECT_EQ(count, 1);
}

TEST_F(LaunchHostFunc, ManyThreadsLaunchOnManyStreams) {
  std::atomic<int> count{0};
  auto up = [](void* data) { ++*static_cast<std::atomic<int>*>(data); };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      TestStream own;
      for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(aclrtLaunchHostFunc(own.get(), up, &count), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchHostFunc(stream_, up, &count), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSynchronizeStream(own.get()), ACL_SUCCESS);
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 16 * 20 * 2);
}

}  // namespace launch_host_func_test
}  // namespace ropeway_test
