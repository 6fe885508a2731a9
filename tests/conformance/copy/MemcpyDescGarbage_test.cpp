// Descriptors that make no sense when the task runs: never set, freed memory, ranges that leave their block, host
// memory, two devices, noise. The launch is accepted; the task moves no byte and fails with 507013; the stream goes on.
#include <memory>
#include <random>

#include "tests/conformance/copy/descriptor.h"

namespace ropeway_test::bytes {
namespace memcpy_desc_garbage_test {

constexpr size_t kSize = 256;
constexpr uint32_t kReserved = kSize + 32;  // what aclrtMalloc reserves for it: the end of the block

class MemcpyDescGarbage : public StreamTest {
 protected:
  struct Memory {
    DeviceBuffer desc{64}, src{kSize}, dst{kSize}, healthy{kSize};
    PinnedBuffer pinned{kSize};
    std::vector<uint8_t> pageable = Pattern(kSize, 4);
  };

  void SetUp() override {
    StreamTest::SetUp();
    memory_ = std::make_unique<Memory>();
    memory_->src.Write(Pattern(kSize, 1));
    memory_->dst.Write(Pattern(kSize, 2));
    Fill(memory_->pinned, Pattern(kSize, 3));
  }
  void TearDown() override {
    memory_.reset();
    StreamTest::TearDown();
  }

  void ExpectNothingMoved() {
    EXPECT_EQ(memory_->src.Read(kSize), Pattern(kSize, 1));
    EXPECT_EQ(memory_->dst.Read(kSize), Pattern(kSize, 2));
    EXPECT_EQ(BytesAt(memory_->pinned.get(), kSize), Pattern(kSize, 3));
    EXPECT_EQ(memory_->pageable, Pattern(kSize, 4));
  }

  // The launch of `bytes` fails while it runs, alone, and the copy behind it in the stream is carried out.
  void ExpectGarbage(const std::string& what, const Descriptor& bytes) {
    SCOPED_TRACE(what);
    Memory& m = *memory_;
    WriteBytes(m.desc.get(), &bytes, kDescSize);
    m.healthy.Write(std::vector<uint8_t>(kSize));
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(m.healthy.get(), kSize, m.pinned.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    ExpectFailsOnce("aclrtMemcpyAsyncWithDesc", stream_);
    EXPECT_EQ(m.healthy.Read(kSize), Pattern(kSize, 3)) << "the work behind the failed launch";
    ExpectNothingMoved();
  }

  // A good descriptor in the same place works after all of this.
  void ExpectHealthy() {
    Memory& m = *memory_;
    ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, m.src.get(), m.dst.get(), kSize, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(m.dst.Read(kSize), Pattern(kSize, 1));
  }

  std::unique_ptr<Memory> memory_;
};

TEST_F(MemcpyDescGarbage, NeverSet) {
  ExpectGarbage("all zero", Descriptor{});
  ExpectGarbage("all ones", {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, UINT32_MAX, UINT64_MAX, UINT64_MAX});
  ExpectHealthy();
}

TEST_F(MemcpyDescGarbage, AddressesThatAreNoDeviceMemory) {
  Memory& m = *memory_;
  struct Row {
    const char* what;
    const void* address;
  };
  const Row rows[] = {
      {"null", nullptr},
      {"freed", FreedBlock()},
      {"pinned", m.pinned.get()},
      {"pageable", m.pageable.data()},
      {"a stream", stream_},
      {"behind the block", m.healthy.at(kReserved)},
      {"a small number", reinterpret_cast<void*>(uintptr_t{0x10})},
      {"the last address", reinterpret_cast<void*>(~uintptr_t{0})},
      {"not canonical", reinterpret_cast<void*>(uintptr_t{1} << 62)},
  };
  for (const Row& row : rows) {
    ExpectGarbage(std::string("source: ") + row.what, Describe(row.address, m.dst.get(), 16));
    ExpectGarbage(std::string("destination: ") + row.what, Describe(m.src.get(), row.address, 16));
    ExpectGarbage(std::string("both: ") + row.what, Describe(row.address, row.address, 16));
  }
  ExpectHealthy();
}

TEST_F(MemcpyDescGarbage, RangesThatLeaveTheirBlock) {
  Memory& m = *memory_;
  DeviceBuffer large(8192);
  ExpectGarbage("source one byte too long", Describe(m.src.get(), large.get(), kReserved + 1));
  ExpectGarbage("destination one byte too long", Describe(large.get(), m.dst.get(), kReserved + 1));
  ExpectGarbage("destination begins inside", Describe(large.get(), m.dst.at(kReserved - 8), 9));
  ExpectGarbage("as long as can be", Describe(m.src.get(), m.dst.get(), UINT32_MAX));
  ExpectGarbage("length 0 is 4 GiB", Describe(m.src.get(), m.dst.get(), 0));
}

TEST_F(MemcpyDescGarbage, ExactlyTheBlockIsNoGarbage) {
  Memory& m = *memory_;
  const Descriptor whole = Describe(m.src.get(), m.dst.get(), kReserved);
  WriteBytes(m.desc.get(), &whole, kDescSize);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(m.dst.Read(kReserved), m.src.Read(kReserved));
}

// What aclrtSetMemcpyDesc accepts without looking at the bytes themselves is found out here.
TEST_F(MemcpyDescGarbage, SetAcceptsWhatTheTaskRefuses) {
  Memory& m = *memory_;
  for (size_t count : {size_t{kReserved} + 1, size_t{4} * kGiB}) {
    SCOPED_TRACE(count);
    ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, m.src.get(), m.dst.get(), count, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
    ExpectFailsOnce("aclrtMemcpyAsyncWithDesc", stream_);
    ExpectNothingMoved();
  }
}

TEST_F(MemcpyDescGarbage, SourceFreedAfterTheSet) {
  Memory& m = *memory_;
  void* src = nullptr;
  ASSERT_EQ(aclrtMalloc(&src, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, src, m.dst.get(), kSize, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(src), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
  ExpectFailsOnce("aclrtMemcpyAsyncWithDesc", stream_);
  ExpectNothingMoved();
}

// A source freed under the queued launch: its bytes are kept for the task, or the task finds it gone. Nothing else.
TEST_F(MemcpyDescGarbage, SourceFreedUnderTheQueuedLaunchIsCopiedOrRefused) {
  Memory& m = *memory_;
  void* src = nullptr;
  ASSERT_EQ(aclrtMalloc(&src, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  WriteBytes(src, Pattern(kSize, 7).data(), kSize);
  ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, src, m.dst.get(), kSize, nullptr), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(src), ACL_SUCCESS);
  const aclError code = held.Release();
  EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_SYS_DMA) << code;
  EXPECT_EQ(m.dst.Read(kSize), code == ACL_SUCCESS ? Pattern(kSize, 7) : Pattern(kSize, 2));
}

// An inner copy stays on one device, whatever peers may do.
TEST_F(MemcpyDescGarbage, TwoDevices) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  Memory& m = *memory_;
  SecondDevice other;
  const auto there = Pattern(kSize, 8);
  other.Run([&] { WriteBytes(other.block(0), there.data(), kSize); });
  for (bool enabled : {false, true}) {
    SCOPED_TRACE(enabled);
    if (enabled) ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
    ExpectGarbage("source on the other device", Describe(other.block(0), m.dst.get(), kSize));
    ExpectGarbage("destination on the other device", Describe(m.src.get(), other.block(0), kSize));
  }
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  other.Run([&] { EXPECT_EQ(ReadBytes(other.block(0), kSize), there); });
}

// What lies on another device must have been enabled, as for every copy; which device that is shows when the task runs.
TEST_F(MemcpyDescGarbage, OtherDeviceWithoutAccess) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  Memory& m = *memory_;
  SecondDevice other;
  const auto there = Pattern(SecondDevice::kSize, 8), before = Pattern(SecondDevice::kSize, 9);
  const auto launch = [&] { return aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_); };
  other.Run([&] {
    WriteBytes(other.block(0), there.data(), there.size());
    WriteBytes(other.block(1), before.data(), before.size());
  });
  ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, other.block(0), other.block(1), there.size(), nullptr), ACL_SUCCESS);
  ASSERT_EQ(launch(), ACL_SUCCESS);
  ExpectText(ACL_ERROR_RT_SYS_DMA, {"aclrtMemcpyAsyncWithDesc", "device 1", "device 0", "aclrtDeviceEnablePeerAccess"},
             [&] { return aclrtSynchronizeStream(stream_); });
  other.Run([&] { EXPECT_EQ(ReadBytes(other.block(1), before.size()), before); });
  HeldStream held(stream_);
  ASSERT_EQ(launch(), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  other.Run([&] { EXPECT_EQ(ReadBytes(other.block(1), there.size()), there); });
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  ASSERT_EQ(launch(), ACL_SUCCESS);
  ExpectFailsOnce("aclrtMemcpyAsyncWithDesc", stream_);
}

TEST_F(MemcpyDescGarbage, GarbageThatArrivesInStreamOrder) {
  Memory& m = *memory_;
  PinnedBuffer noise(kDescSize);
  Fill(noise, Pattern(kDescSize, 9));
  ASSERT_EQ(aclrtSetMemcpyDesc(m.desc.get(), kInner, m.src.get(), m.dst.get(), kSize, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(m.desc.get(), 64, noise.get(), kDescSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
  ExpectFailsOnce("aclrtMemcpyAsyncWithDesc", stream_);
  ExpectNothingMoved();
}

TEST_F(MemcpyDescGarbage, ManyFailuresAreOneError) {
  Memory& m = *memory_;
  ASSERT_EQ(aclrtMemset(m.desc.get(), 64, 0, 64), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(aclrtMemcpyAsyncWithDesc(m.desc.get(), kInner, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_SYS_DMA) << "the device synchronise reports it, too";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ExpectNothingMoved();
  ExpectHealthy();
}

// Noise of every mixture: each field is valid, nearly valid, or anything at all, and never all three valid at once.
TEST_F(MemcpyDescGarbage, RandomBytes) {
  Memory& m = *memory_;
  std::mt19937_64 random(20261115);
  auto address = [&](const DeviceBuffer& valid) -> uint64_t {
    switch (random() % 4) {
      case 0: return Number(valid.at(random() % kSize));
      case 1: return Number(valid.get()) + kReserved + random() % 64;
      case 2: return Number(valid.get()) ^ (uint64_t{1} << (20 + random() % 44));
      default: return random();
    }
  };
  for (int i = 0; i < 200; ++i) {
    Descriptor noise;
    for (uint32_t& word : noise.header) word = static_cast<uint32_t>(random());
    noise.src = address(m.src);
    noise.dst = address(m.dst);
    // Longer than any block here: not even two good addresses make it legal.
    noise.length = random() % 4 == 0 ? 0 : static_cast<uint32_t>(random()) | 0x10000u;
    ExpectGarbage("round " + std::to_string(i), noise);
    if (HasFailure()) break;
  }
  ExpectHealthy();
}

}  // namespace memcpy_desc_garbage_test
}  // namespace ropeway_test::bytes
