// Aborts, forced destruction and device resets from several threads: nothing hangs, nothing that was dropped touches memory
// afterwards, and what belongs to others goes on.
#include <atomic>

#include "tests/stress/stress_util.h"

namespace ropeway_test {
namespace {

using TeardownStorm = DeviceTest;

bool WorkedOrAborted(aclError error) { return error == ACL_SUCCESS || error == ACL_ERROR_RT_STREAM_ABORT; }

TEST_F(TeardownStorm, AbortedAndForciblyDestroyedWorkLeavesMemoryAlone) {
  Barrier barrier;
  OnThreads(4, [&](int number) {
    Random random(static_cast<uint32_t>(number));
    DeviceBuffer canary(8192);
    for (int round = 0; round < Rounds(150); ++round) {
      aclrtStream stream = nullptr;
      aclrtEvent event = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
      canary.Write(std::vector<uint8_t>(8192, 1));
      if (random.OneIn(2)) ASSERT_EQ(aclrtMemsetAsync(canary.get(), 8192, 1, 8192, stream), ACL_SUCCESS);
      ASSERT_EQ(barrier.Block(stream), ACL_SUCCESS);
      for (size_t i = random.Below(20); i > 0; --i) ASSERT_EQ(aclrtMemsetAsync(canary.get(), 8192, 2, 8192, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemsetAsync(canary.get(), 8192, 3, 8192, stream), ACL_SUCCESS);
      const bool force = random.OneIn(2);
      ASSERT_EQ(force ? aclrtDestroyStreamForce(stream) : aclrtStreamAbort(stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS) << "a dropped record is no record";
      ASSERT_EQ(canary.Read(8192), std::vector<uint8_t>(8192, 1));
      if (!force) {
        ASSERT_EQ(aclrtMemsetAsync(canary.get(), 8192, 4, 8192, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(canary.Read(8192), std::vector<uint8_t>(8192, 4));
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    }
  });
}

// Several threads submit to, wait for and abort the same streams.
TEST_F(TeardownStorm, AbortsUnderUse) {
  aclrtStream streams[2] = {};
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  {
    Barrier barrier;
    const auto rounds = static_cast<size_t>(Rounds(1500));
    DeviceBuffer block(4 * rounds);
    std::atomic<int> calls{0};
    OnThreads(4, [&](int number) {
      Random random(static_cast<uint32_t>(number));
      for (size_t round = 0; round < rounds; ++round) {
        char* own_byte = block.at(static_cast<size_t>(number) * rounds + round);  // streams do not order each other's writes
        aclrtStream stream = streams[random.Below(2)];
        switch (random.Below(number < 2 ? 5 : 4)) {
          case 0: EXPECT_PRED1(WorkedOrAborted, barrier.Block(stream)); break;
          case 1:
            EXPECT_PRED1(WorkedOrAborted, aclrtLaunchHostFunc(
                                              stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls));
            break;
          case 2: {
            const aclError error = aclrtSynchronizeStreamWithTimeout(stream, 1);
            EXPECT_TRUE(WorkedOrAborted(error) || error == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << error;
            break;
          }
          case 3: EXPECT_PRED1(WorkedOrAborted, aclrtMemsetAsync(own_byte, 1, 1, 1, stream)); break;
          default: EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
        }
      }
    });
    for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  }
}

// The whole device is aborted while others make streams and work.
TEST_F(TeardownStorm, DeviceAbortsUnderUse) {
  std::atomic<int> workers{3};
  auto fine = [](aclError error) {
    return error == ACL_SUCCESS || error == ACL_ERROR_RT_STREAM_ABORT || error == ACL_ERROR_RT_DEVICE_TASK_ABORT;
  };
  OnThreads(4, [&](int number) {
    if (number == 3) {
      while (workers > 0) EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
      return;
    }
    DeviceBuffer block(64);
    for (int round = 0; round < Rounds(300); ++round) {
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      EXPECT_PRED1(fine, aclrtMemsetAsync(block.get(), 64, 1, 64, stream));
      EXPECT_PRED1(fine, aclrtSynchronizeStream(stream));
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
    --workers;
  });
}

using DeviceStorm = BareTest;

// Uses of a device are counted: whoever has set it may rely on it, whatever other threads set and reset meanwhile.
TEST_F(DeviceStorm, SetAndResetFromSeveralThreads) {
  constexpr int kThreads = 4, kDevices = 2;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      SCOPED_TRACE("ROPEWAY_STRESS_SEED=" + std::to_string(Seed()) + ", thread " + std::to_string(number));
      Random random(static_cast<uint32_t>(number));
      for (int round = 0; round < Rounds(150); ++round) {
        const auto device = static_cast<int32_t>(random.Below(kDevices));
        ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, 100, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemsetAsync(block, 100, 9, 50, stream), ACL_SUCCESS);
        std::atomic<int> calls{0};
        auto count = [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); };
        ASSERT_EQ(aclrtLaunchHostFunc(stream, count, &calls), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemsetAsync(static_cast<char*>(block) + 50, 50, 8, 50, nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
        ASSERT_EQ(calls, 1);
        ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
        ASSERT_EQ(random.OneIn(2) ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// One thread forces the device down again and again; others see success or one of the answers for what is gone.
TEST_F(DeviceStorm, ForcedResetsUnderUse) {
  std::atomic<int> workers{3};
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&workers] {
      auto fine = [](aclError error) {
        return error == ACL_SUCCESS || error == ACL_ERROR_RT_CONTEXT_NULL || error == ACL_ERROR_RT_INVALID_HANDLE ||
               error == ACL_ERROR_RT_STREAM_CONTEXT || error == ACL_ERROR_RT_PARAM_INVALID || error == ACL_ERROR_RT_STREAM_ABORT;
      };
      for (int round = 0; round < Rounds(200); ++round) {
        EXPECT_PRED1(fine, aclrtSetDevice(0));
        aclrtStream stream = nullptr;
        const aclError made = aclrtCreateStream(&stream);
        EXPECT_PRED1(fine, made);
        void* block = nullptr;
        const aclError allocated = aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
        EXPECT_PRED1(fine, allocated);
        if (made == ACL_SUCCESS && allocated == ACL_SUCCESS) {
          EXPECT_PRED1(fine, aclrtMemsetAsync(block, 64, 1, 64, stream));
          EXPECT_PRED1(fine, aclrtSynchronizeStream(stream));
        }
        if (made == ACL_SUCCESS) EXPECT_PRED1(fine, aclrtDestroyStream(stream));
        if (allocated == ACL_SUCCESS) EXPECT_PRED1(fine, aclrtFree(block));
      }
      --workers;
    });
  }
  while (workers > 0) {
    const aclError error = aclrtResetDeviceForce(0);
    EXPECT_TRUE(error == ACL_SUCCESS || error == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << error;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  aclrtSetDevice(0);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

}  // namespace
}  // namespace ropeway_test
