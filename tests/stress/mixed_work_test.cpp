// Many threads with many streams and random copies, memsets, events and host functions, byte by byte against a reference
// that is computed in the order of the program.
#include <algorithm>
#include <atomic>
#include <memory>

#include "tests/stress/stress_util.h"

namespace ropeway_test {
namespace {

// One thread's program. Each buffer is used by one stream at a time; an event hands it from stream to stream, so the result
// is fixed however the streams run.
class Program {
 public:
  Program(int number, size_t buffer_size) : random_(static_cast<uint32_t>(number)), size_(buffer_size) {
    for (aclrtStream& stream : streams_) EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    for (int i = 0; i < 4; ++i) {
      Buffer& buffer = buffers_.emplace_back();
      buffer.on_device = i < 2;
      void* data = nullptr;
      EXPECT_EQ(buffer.on_device ? aclrtMalloc(&data, size_, ACL_MEM_MALLOC_HUGE_FIRST) : aclrtMallocHost(&data, size_), ACL_SUCCESS);
      buffer.data = static_cast<uint8_t*>(data);
      buffer.expected = std::vector<uint8_t>(size_, static_cast<uint8_t>(i));
      EXPECT_EQ(aclrtMemset(data, size_, i, size_), ACL_SUCCESS);
    }
  }
  ~Program() {
    for (aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    for (Buffer& buffer : buffers_) EXPECT_EQ(buffer.on_device ? aclrtFree(buffer.data) : aclrtFreeHost(buffer.data), ACL_SUCCESS);
  }

  void Step() {
    aclrtStream stream = streams_[random_.Below(std::size(streams_))];
    switch (random_.Below(8)) {
      case 0: return Set(stream);
      case 1: return Call(stream);
      case 2: return CopyNow();
      case 3: return Pause(stream);
      default: return Copy(stream);
    }
  }

  void Verify() {
    for (aclrtStream stream : streams_) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      std::vector<uint8_t> bytes(size_);
      ASSERT_EQ(aclrtMemcpy(bytes.data(), size_, buffers_[i].data, size_, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
      const auto wrong = std::mismatch(bytes.begin(), bytes.end(), buffers_[i].expected.begin());
      ASSERT_TRUE(wrong.first == bytes.end()) << "buffer " << i << " byte " << wrong.first - bytes.begin() << ": " << +*wrong.first
                                              << " instead of " << +*wrong.second;
    }
  }

 private:
  struct Buffer {
    uint8_t* data = nullptr;
    bool on_device = false;
    aclrtStream user = nullptr;
    std::vector<uint8_t> expected;
  };
  struct Range {
    size_t offset, size;
  };
  struct Xor {
    uint8_t* begin;
    size_t size;
    uint8_t value;
  };

  Range AnyRange() {
    const size_t size = 1 + random_.Below(random_.OneIn(8) ? size_ : 4096);
    return {random_.Below(size_ - size + 1), size};
  }

  void Use(Buffer& buffer, aclrtStream stream) {
    if (buffer.user != nullptr && buffer.user != stream) {
      aclrtEvent event = nullptr;
      ASSERT_EQ(random_.OneIn(2) ? aclrtCreateEvent(&event) : aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event, buffer.user), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
      ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    }
    buffer.user = stream;
  }

  // Device memory only: host memory is set at once, out of the stream's order.
  void Set(aclrtStream stream) {
    Buffer& buffer = buffers_[random_.Below(2)];
    const Range range = AnyRange();
    const uint8_t value = random_.Byte();
    Use(buffer, stream);
    ASSERT_EQ(aclrtMemsetAsync(buffer.data + range.offset, range.size, value, range.size, stream), ACL_SUCCESS);
    std::fill_n(buffer.expected.begin() + static_cast<std::ptrdiff_t>(range.offset), range.size, value);
  }

  void Copy(aclrtStream stream) {
    const size_t from = random_.Below(buffers_.size());
    const size_t to = (from + 1 + random_.Below(buffers_.size() - 1)) % buffers_.size();
    Buffer &src = buffers_[from], &dst = buffers_[to];
    if (!src.on_device && !dst.on_device) return;
    const Range range = AnyRange();
    const size_t dst_offset = random_.Below(size_ - range.size + 1);
    Use(src, stream);
    Use(dst, stream);
    ASSERT_EQ(aclrtMemcpyAsync(dst.data + dst_offset, range.size, src.data + range.offset, range.size, ACL_MEMCPY_DEFAULT, stream),
              ACL_SUCCESS);
    std::copy_n(src.expected.begin() + static_cast<std::ptrdiff_t>(range.offset), range.size,
                dst.expected.begin() + static_cast<std::ptrdiff_t>(dst_offset));
  }

  void Call(aclrtStream stream) {
    Buffer& buffer = buffers_[2 + random_.Below(2)];
    const Range range = AnyRange();
    const uint8_t value = random_.Byte();
    Use(buffer, stream);
    auto* work = new Xor{buffer.data + range.offset, range.size, value};
    auto run = [](void* argument) {
      std::unique_ptr<Xor> here(static_cast<Xor*>(argument));
      for (size_t i = 0; i < here->size; ++i) here->begin[i] ^= here->value;
    };
    ASSERT_EQ(aclrtLaunchHostFunc(stream, run, work), ACL_SUCCESS);
    for (size_t i = 0; i < range.size; ++i) buffer.expected[range.offset + i] ^= value;
  }

  // A synchronous copy, behind the stream that used the buffer last.
  void CopyNow() {
    if (!random_.OneIn(4)) return;
    Buffer& buffer = buffers_[random_.Below(buffers_.size())];
    const Range range = AnyRange();
    if (buffer.user != nullptr) ASSERT_EQ(aclrtSynchronizeStream(buffer.user), ACL_SUCCESS);
    std::vector<uint8_t> bytes(range.size);
    ASSERT_EQ(aclrtMemcpy(bytes.data(), range.size, buffer.data + range.offset, range.size, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.expected.begin() + static_cast<std::ptrdiff_t>(range.offset)));
  }

  void Pause(aclrtStream stream) {
    if (random_.OneIn(4)) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    aclrtStreamStatus status;
    ASSERT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  }

  Random random_;
  const size_t size_;
  aclrtStream streams_[5] = {};
  std::vector<Buffer> buffers_;
};

using MixedWork = DeviceTest;

TEST_F(MixedWork, SmallBuffers) {
  OnThreads(4, [](int number) {
    Program program(number, 32 << 10);
    for (int round = 0; round < Rounds(20) && !testing::Test::HasFatalFailure(); ++round) {
      for (int step = 0; step < 150 && !testing::Test::HasFatalFailure(); ++step) program.Step();
      program.Verify();
    }
  });
}

// Copies that are large enough to be shared between lanes and helpers.
TEST_F(MixedWork, LargeBuffers) {
  OnThreads(2, [](int number) {
    Program program(100 + number, 3 << 20);
    for (int round = 0; round < Rounds(2) && !testing::Test::HasFatalFailure(); ++round) {
      for (int step = 0; step < 30 && !testing::Test::HasFatalFailure(); ++step) program.Step();
      program.Verify();
    }
  });
}

// All threads submit to the same streams; each has its own slice.
TEST_F(MixedWork, SharedStreams) {
  constexpr int kThreads = 4;
  constexpr size_t kSlice = 4096;
  aclrtStream streams[3] = {};
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  {
    DeviceBuffer device(kThreads * kSlice);
    PinnedBuffer in(kThreads * kSlice), out(kThreads * kSlice);
    OnThreads(kThreads, [&](int number) {
      Random random(static_cast<uint32_t>(200 + number));
      const size_t offset = static_cast<size_t>(number) * kSlice;
      for (int round = 0; round < Rounds(3000); ++round) {
        aclrtStream stream = streams[random.Below(std::size(streams))];
        const uint8_t value = random.Byte();
        std::fill_n(in.get() + offset, kSlice, value);
        ASSERT_EQ(aclrtMemcpyAsync(device.at(offset), kSlice, in.get() + offset, kSlice, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtMemcpyAsync(out.get() + offset, kSlice, device.at(offset), kSlice, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(std::vector<uint8_t>(out.get() + offset, out.get() + offset + kSlice), std::vector<uint8_t>(kSlice, value));
      }
    });
  }
  for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// Two thousand threads, some of them at once, each with one small errand.
TEST_F(MixedWork, TwoThousandThreadsCallBriefly) {
  constexpr int kThreads = 2000, kAtOnce = 50;
  DeviceBuffer device(kThreads);
  std::atomic<int> next{0};
  for (int batch = 0; batch < kThreads / kAtOnce; ++batch) {
    OnThreads(kAtOnce, [&](int) {
      const int mine = next++;
      const auto value = static_cast<uint8_t>(mine * 7);
      EXPECT_EQ(aclrtMemsetAsync(device.at(static_cast<size_t>(mine)), 1, value, 1, nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      uint8_t back = 0;
      EXPECT_EQ(aclrtMemcpy(&back, 1, device.at(static_cast<size_t>(mine)), 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      EXPECT_EQ(back, value);
    });
  }
}

}  // namespace
}  // namespace ropeway_test
