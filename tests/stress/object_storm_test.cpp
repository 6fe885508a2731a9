// Streams, events and contexts that come and go while others use them.
#include <atomic>
#include <set>

#include "tests/stress/stress_util.h"

namespace ropeway_test {
namespace {

using ObjectStorm = DeviceTest;

// Everything that a stream does in its life, on many threads, while memory is allocated and freed: a free looks at every
// stream of the process.
TEST_F(ObjectStorm, StreamsAndMemoryComeAndGo) {
  OnThreads(4, [](int number) {
    Random random(static_cast<uint32_t>(number));
    for (int round = 0; round < Rounds(300); ++round) {
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      const size_t size = 1 + random.Below(20000);
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemsetAsync(block, size, 0x3C, size, stream), ACL_SUCCESS);
      if (random.OneIn(2)) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      uint8_t last = 0;
      ASSERT_EQ(aclrtMemcpy(&last, 1, static_cast<uint8_t*>(block) + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      ASSERT_EQ(last, 0x3C);
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  });
}

// New streams while old ones stay: each needs a queue of its own, and frees on other threads must not see half a stream.
TEST_F(ObjectStorm, ManyStreamsAreMadeWhileMemoryIsFreed) {
  std::atomic<int> makers{2};
  OnThreads(4, [&](int number) {
    if (number < 2) {
      std::vector<aclrtStream> streams;
      for (int i = 0; i < 400; ++i) ASSERT_EQ(aclrtCreateStream(&streams.emplace_back()), ACL_SUCCESS);
      for (aclrtStream stream : streams) ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      --makers;
      return;
    }
    while (makers > 0) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  });
}

bool LiveOrGone(aclError error) { return error == ACL_SUCCESS || error == ACL_ERROR_RT_INVALID_HANDLE; }

// Handles in a table that everybody uses and some replace: a call sees a live object or a stale handle, nothing else.
TEST_F(ObjectStorm, HandlesGoStaleUnderUse) {
  constexpr size_t kSlots = 4;
  std::atomic<aclrtStream> streams[kSlots];
  std::atomic<aclrtEvent> events[kSlots];
  for (size_t i = 0; i < kSlots; ++i) {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    streams[i] = stream;
    events[i] = event;
  }
  const auto rounds = static_cast<size_t>(Rounds(3000));
  DeviceBuffer block(4 * rounds);
  OnThreads(4, [&](int number) {
    Random random(static_cast<uint32_t>(number));
    for (size_t round = 0; round < rounds; ++round) {
      char* own_byte = block.at(static_cast<size_t>(number) * rounds + round);  // streams do not order each other's writes
      auto& stream = streams[random.Below(kSlots)];
      auto& event = events[random.Below(kSlots)];
      switch (random.Below(number == 0 ? 8 : 6)) {
        case 0: EXPECT_PRED1(LiveOrGone, aclrtMemsetAsync(own_byte, 1, 1, 1, stream)); break;
        case 1: EXPECT_PRED1(LiveOrGone, aclrtRecordEvent(event, stream)); break;
        case 2: EXPECT_PRED1(LiveOrGone, aclrtStreamWaitEvent(stream, event)); break;
        case 3: EXPECT_PRED1(LiveOrGone, aclrtSynchronizeStream(stream)); break;
        case 4: EXPECT_PRED1(LiveOrGone, aclrtSynchronizeEvent(event)); break;
        case 5: {
          int32_t id = 0;
          EXPECT_PRED1(LiveOrGone, aclrtStreamGetId(stream, &id));
          break;
        }
        case 6: {
          aclrtStream fresh = nullptr;
          ASSERT_EQ(aclrtCreateStream(&fresh), ACL_SUCCESS);
          ASSERT_EQ(aclrtDestroyStream(stream.exchange(fresh)), ACL_SUCCESS);
          break;
        }
        default: {
          aclrtEvent fresh = nullptr;
          ASSERT_EQ(aclrtCreateEventExWithFlag(&fresh, ACL_EVENT_SYNC), ACL_SUCCESS);
          ASSERT_EQ(aclrtDestroyEvent(event.exchange(fresh)), ACL_SUCCESS);
        }
      }
    }
  });
  for (auto& stream : streams) EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  for (auto& event : events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  // Objects are reused, but never for two streams at once.
  std::vector<aclrtStream> made(200);
  std::set<int32_t> ids;
  for (aclrtStream& stream : made) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  for (aclrtStream stream : made) {
    int32_t id = -1;
    ASSERT_EQ(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), made.size());
  for (aclrtStream stream : made) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(ObjectStorm, ContextsComeAndGoWithTheirStreams) {
  OnThreads(3, [](int number) {
    Random random(static_cast<uint32_t>(number));
    for (int round = 0; round < Rounds(60); ++round) {
      aclrtContext context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      int sum = 0;
      for (int i = 0; i < 3; ++i) {
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchHostFunc(
                      stream, [](void* count) { ++*static_cast<int*>(count); }, &sum),
                  ACL_SUCCESS);
        if (random.OneIn(2)) ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      ASSERT_EQ(sum, 3) << "work of a context that is destroyed is finished first";
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);  // back to one use of the device, and to its default context
    }
  });
}

// Memory is freed while copies that use it are queued, and what is allocated next is not touched by them.
TEST_F(ObjectStorm, FreeWhileQueued) {
  OnThreads(3, [](int number) {
    Random random(static_cast<uint32_t>(number));
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    for (int round = 0; round < Rounds(15); ++round) {
      const size_t size = random.OneIn(4) ? 3 << 20 : 1 + random.Below(20000);
      StreamGate gate;
      ASSERT_EQ(gate.Close(stream), ACL_SUCCESS);
      std::vector<void*> old_blocks(4);
      for (void*& block : old_blocks) {
        ASSERT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemsetAsync(block, size, 0xEE, size, stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtMemcpyAsync(old_blocks[0], size, old_blocks[1], size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
      for (void* block : old_blocks) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      std::vector<void*> new_blocks(4);
      for (void*& block : new_blocks) {
        ASSERT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemset(block, size, 0x11, size), ACL_SUCCESS);
      }
      gate.Open();
      ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      for (void* block : new_blocks) {
        std::vector<uint8_t> bytes(size);
        ASSERT_EQ(aclrtMemcpy(bytes.data(), size, block, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
        ASSERT_TRUE(bytes == std::vector<uint8_t>(size, 0x11)) << "freed memory was reused too early";
        ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
    }
    ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  });
}

// A range that is registered all the time counts as pinned all the time, whatever else is registered meanwhile: only for
// pinned memory is the wrong kind corrected.
TEST_F(ObjectStorm, RegistrationsWhileCopying) {
  constexpr size_t kSize = 4096;
  std::vector<uint8_t> steady(kSize, 5);
  ASSERT_EQ(aclrtHostRegisterV2(steady.data(), kSize, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  {
    DeviceBuffer device(4 * kSize);
    std::atomic<int> copiers{2};
    OnThreads(4, [&](int number) {
      if (number < 2) {
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        for (int round = 0; round < Rounds(4000); ++round) {
          char* dst = device.at(static_cast<size_t>(number) * kSize);
          ASSERT_EQ(aclrtMemcpyAsync(dst, kSize, steady.data(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS) << round;
          if (round % 64 == 0) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        }
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        --copiers;
        return;
      }
      std::vector<uint8_t> pool(300 * 64);
      for (int round = 0; copiers > 0; ++round) {
        const size_t count = static_cast<size_t>(10 + round % 290);
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(aclrtHostRegisterV2(&pool[i * 64], 64, ACL_HOST_REG_PINNED), ACL_SUCCESS);
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(aclrtHostUnregister(&pool[i * 64]), ACL_SUCCESS);
      }
    });
  }
  ASSERT_EQ(aclrtHostUnregister(steady.data()), ACL_SUCCESS);
}

}  // namespace
}  // namespace ropeway_test
