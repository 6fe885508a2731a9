// Events shared between many threads: every thread creates, records, waits and destroys, and the data proves the order.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace event_threads_test {

constexpr EventKind kAllKinds[] = {EventKind::kDefault, EventKind::kClassic, EventKind::kEx};
constexpr size_t kSize = 4096;

using EventThreads = DeviceTest;

// Producer stream writes, consumer stream waits for the event and copies out; each round with a new event.
void PingPong(uint32_t thread, EventKind kind) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  TestStream producer, consumer;
  DeviceBuffer block(kSize);
  PinnedBuffer in(kSize), out(kSize);
  for (uint32_t round = 0; round < 20; ++round) {
    TestEvent ready(kind), taken(kind);
    auto bytes = Pattern(kSize, thread * 1000 + round);
    std::memcpy(in.get(), bytes.data(), kSize);
    ASSERT_EQ(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(ready.get(), producer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(consumer.get(), ready.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(out.get(), kSize, block.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(taken.get(), consumer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(taken.get()), ACL_SUCCESS);
    ASSERT_EQ(std::memcmp(out.get(), bytes.data(), kSize), 0) << "thread " << thread << " round " << round;
  }
}

TEST_F(EventThreads, SixteenThreadsEachWithTheirOwnEvents) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 16; ++i) threads.emplace_back([i] { PingPong(i, kAllKinds[i % 3]); });
  for (auto& thread : threads) thread.join();
}

TEST_F(EventThreads, ChainThroughStreamsOfManyThreads) {
  // Thread i copies slot i to slot i + 1 behind the event of thread i - 1; all record and wait calls are made in turn.
  constexpr uint32_t kThreads = 16;
  DeviceBuffer block(kSize * (kThreads + 1));
  auto bytes = Pattern(kSize, 99);
  ASSERT_EQ(aclrtMemset(block.get(), block.size(), 0, block.size()), ACL_SUCCESS);
  TestStream streams[kThreads];
  std::vector<aclrtEvent> events(kThreads + 1, nullptr);
  for (auto& event : events) ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  TestStream first;
  Hold hold(first.get());
  PinnedBuffer in(kSize);
  std::memcpy(in.get(), bytes.data(), kSize);
  ASSERT_EQ(aclrtMemcpyAsync(block.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, first.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(events[0], first.get()), ACL_SUCCESS);
  for (uint32_t i = 0; i < kThreads; ++i) {
    OnFreshThread([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(streams[i].get(), events[i]), ACL_SUCCESS);
      ASSERT_EQ(
          aclrtMemcpyAsync(block.at((i + 1) * kSize), kSize, block.at(i * kSize), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, streams[i].get()),
          ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(events[i + 1], streams[i].get()), ACL_SUCCESS);
    });
  }
  hold.Open();
  ASSERT_EQ(aclrtSynchronizeEvent(events[kThreads]), ACL_SUCCESS);
  std::vector<uint8_t> last(kSize);
  ASSERT_EQ(aclrtMemcpy(last.data(), kSize, block.at(kThreads * kSize), kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(last, bytes);
  for (auto event : events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(EventThreads, OneEventRecordedQueriedAndWaitedForByAll) {
  TestEvent shared(EventKind::kEx);
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      TestStream stream;
      for (int round = 0; round < 50; ++round) {
        switch ((i + round) % 4) {
          case 0: ASSERT_EQ(aclrtRecordEvent(shared.get(), stream.get()), ACL_SUCCESS); break;
          case 1: ASSERT_EQ(aclrtStreamWaitEvent(stream.get(), shared.get()), ACL_SUCCESS); break;
          case 2: RecordedStatus(shared.get()); break;
          default: ASSERT_EQ(aclrtSynchronizeEvent(shared.get()), ACL_SUCCESS);
        }
      }
      ASSERT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(RecordedStatus(shared.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

}  // namespace event_threads_test
}  // namespace ropeway_test
