// Contexts, streams, events and graphs that go away while other threads are at work with them: destroyed, aborted, reset, finalised, and
// used through handles that are long stale. Whatever the answers are, nothing crashes, hangs or is left behind.
#include <array>
#include <atomic>

#include "tests/stress/stress_util.h"

namespace ropeway_test {
namespace teardown_chaos {
namespace {

using TeardownChaos = BareTest;

// Bytes of a block that no other task has: streams that nothing orders would race for them, which is the program's fault and not the
// subject.
constexpr size_t kBlock = size_t{1} << 20;
constexpr size_t kBytes = 16;
char* FreshBytes(void* block) {
  static std::atomic<size_t> next{0};
  return static_cast<char*>(block) + next++ * kBytes % kBlock;
}

// A graph of some copies, an event across two streams and a host function.
aclmdlRI Capture(aclrtStream stream, aclrtStream other, void* block) {
  if (block == nullptr) return nullptr;
  aclrtEvent fork = nullptr, join = nullptr;
  aclmdlRI model = nullptr;
  if (aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC) != ACL_SUCCESS) return nullptr;
  if (aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC) == ACL_SUCCESS) {
    if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == ACL_SUCCESS) {
      aclrtMemsetAsync(FreshBytes(block), kBytes, 1, kBytes, stream);
      aclrtRecordEvent(fork, stream);
      aclrtStreamWaitEvent(other, fork);
      aclrtMemsetAsync(FreshBytes(block), kBytes, 2, kBytes, other);
      aclrtRecordEvent(join, other);
      aclrtLaunchHostFunc(
          stream, [](void*) {}, nullptr);
      aclrtStreamWaitEvent(stream, join);
      if (aclmdlRICaptureEnd(stream, &model) != ACL_SUCCESS) model = nullptr;
    }
    aclrtDestroyEvent(join);
  }
  aclrtDestroyEvent(fork);
  return model;
}

struct TwoStreams {
  TwoStreams() {
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  }
  aclrtStream stream = nullptr, other = nullptr;
};

void AwaitStale(aclrtStream stream) {
  aclrtStreamStatus status;
  while (aclrtStreamQuery(stream, &status) == ACL_SUCCESS) std::this_thread::yield();
}

// The context goes while another thread is inside aclrtDestroyStream, with a replay of a graph of that context queued.
TEST_F(TeardownChaos, AContextEndsUnderAStreamThatIsBeingDestroyed) {
  for (int round = 0; round < Rounds(3); ++round) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    {
      Barrier barrier;
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      aclrtContext context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      TwoStreams streams;
      aclmdlRI model = Capture(streams.stream, streams.other, block);
      ASSERT_NE(model, nullptr);
      ASSERT_EQ(barrier.Block(streams.stream), ACL_SUCCESS);
      ASSERT_EQ(aclmdlRIExecuteAsync(model, streams.stream), ACL_SUCCESS);
      std::thread destroyer([&] {
        ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
        EXPECT_EQ(aclrtDestroyStream(streams.stream), ACL_SUCCESS);
      });
      AwaitStale(streams.stream);
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      destroyer.join();
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  }
}

// A graph is destroyed by one thread while another takes its replay away.
TEST_F(TeardownChaos, AGraphEndsBesideAnAbort) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    Barrier barrier;
    DeviceBuffer block(kBlock);
    for (int round = 0; round < Rounds(100); ++round) {
      TwoStreams streams;
      aclmdlRI model = Capture(streams.stream, streams.other, block.get());
      ASSERT_NE(model, nullptr);
      ASSERT_EQ(barrier.Block(streams.stream), ACL_SUCCESS);
      ASSERT_EQ(aclmdlRIExecuteAsync(model, streams.stream), ACL_SUCCESS);
      std::thread destroyer([&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      });
      switch (round % 3) {
        case 0: EXPECT_EQ(aclrtStreamAbort(streams.stream), ACL_SUCCESS); break;
        case 1: EXPECT_EQ(aclrtDestroyStreamForce(streams.stream), ACL_SUCCESS); break;
        default: EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
      }
      destroyer.join();
      if (round % 3 != 1) EXPECT_EQ(aclrtDestroyStream(streams.stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyStream(streams.other), ACL_SUCCESS);
    }
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// Handles that all threads use without asking anybody whether they are still good. Whoever replaces one destroys it.
class Shared {
 public:
  explicit Shared(aclError (*destroy)(void*)) : destroy_(destroy) {}
  void* Any(Random& random) const { return slots_[random.Below(slots_.size())].load(); }
  void Put(Random& random, void* handle) { Destroy(slots_[random.Below(slots_.size())].exchange(handle)); }
  void DestroyAll() {
    for (std::atomic<void*>& slot : slots_) Destroy(slot.exchange(nullptr));
  }
  void Destroy(void* handle) {
    if (handle != nullptr) destroy_(handle);
  }

 private:
  aclError (*destroy_)(void*);
  std::array<std::atomic<void*>, 6> slots_{};
};

struct World {
  Shared contexts{&aclrtDestroyContext};
  Shared streams{&aclrtDestroyStream};
  Shared events{&aclrtDestroyEvent};
  Shared models{&aclmdlRIDestroy};
  Shared blocks{&aclrtFree};
  std::atomic<int> replays{0};
};

void CreateSomething(World& world, Random& random) {
  void* made = nullptr;
  switch (random.Below(5)) {
    case 0:
      if (aclrtCreateContext(&made, 0) == ACL_SUCCESS) world.contexts.Put(random, made);
      break;
    case 1:
      if (aclrtCreateStream(&made) == ACL_SUCCESS) world.streams.Put(random, made);
      break;
    case 2:
      if (aclrtCreateEventWithFlag(&made, ACL_EVENT_SYNC) == ACL_SUCCESS) world.events.Put(random, made);
      break;
    case 3:
      if (aclrtMalloc(&made, kBlock, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS) world.blocks.Put(random, made);
      break;
    default:
      made = Capture(world.streams.Any(random), world.streams.Any(random), world.blocks.Any(random));
      if (made != nullptr) world.models.Put(random, made);
  }
}

void* Place(World& world, Random& random) {
  void* block = world.blocks.Any(random);
  return block == nullptr ? nullptr : FreshBytes(block);
}

void UseSomething(World& world, Random& random) {
  aclrtStream stream = world.streams.Any(random);
  switch (random.Below(8)) {
    case 0: aclrtMemsetAsync(Place(world, random), kBytes, 7, kBytes, stream); break;
    case 1:
      aclrtLaunchHostFunc(
          stream, [](void*) {}, nullptr);
      break;
    case 2: aclrtRecordEvent(world.events.Any(random), stream); break;
    case 3: aclrtStreamWaitEvent(stream, world.events.Any(random)); break;
    case 4: aclrtSynchronizeStreamWithTimeout(stream, 1); break;
    case 5: world.replays += aclmdlRIExecuteAsync(world.models.Any(random), stream) == ACL_SUCCESS; break;
    case 6: aclrtMemcpyAsync(Place(world, random), kBytes, Place(world, random), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream); break;
    default: aclrtSetCurrentContext(world.contexts.Any(random));
  }
}

void EndSomething(World& world, Random& random) {
  switch (random.Below(9)) {
    case 0: world.contexts.Destroy(world.contexts.Any(random)); break;
    case 1: aclrtDestroyStreamForce(world.streams.Any(random)); break;
    case 2: aclrtStreamAbort(world.streams.Any(random)); break;
    case 3: world.events.Destroy(world.events.Any(random)); break;
    case 4: world.blocks.Destroy(world.blocks.Any(random)); break;
    case 5: world.models.Destroy(world.models.Any(random)); break;
    case 6: world.streams.Destroy(world.streams.Any(random)); break;
    case 7: random.OneIn(2) ? aclFinalize() : aclInit(nullptr); break;
    default:
      if (random.OneIn(8)) aclrtResetDeviceForce(0);
  }
}

TEST_F(TeardownChaos, EverythingEndsUnderEverybody) {
  World world;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      Random random(static_cast<uint32_t>(number));
      for (int round = 0; round < Rounds(1000); ++round) {
        aclrtSetDevice(0);
        CreateSomething(world, random);
        for (int i = 0; i < 4; ++i) UseSomething(world, random);
        if (random.OneIn(2)) EndSomething(world, random);
      }
    });
  }
  // Streams that wait for an event which nobody records hold up whoever destroys them or their graphs.
  std::atomic<bool> done{false};
  std::thread reaper([&] {
    while (!done) {
      aclrtSetDevice(0);
      aclrtDeviceTaskAbort(0, 0);
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  aclrtSetDevice(0);
  for (Shared* handles : {&world.models, &world.streams, &world.events, &world.contexts, &world.blocks}) handles->DestroyAll();
  done = true;
  reaper.join();
  EXPECT_GT(world.replays, 0) << "nothing was under way that could have been torn down";
  // The fixture insists that nothing is alive afterwards.
  aclrtSetDevice(0);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  while (aclFinalize() == ACL_SUCCESS) {
  }
}

}  // namespace
}  // namespace teardown_chaos
}  // namespace ropeway_test
