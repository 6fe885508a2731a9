// Descriptor copies at work: length, source and destination are fetched when the task runs, from wherever the
// descriptor's bytes are by then; one descriptor serves many launches.
#include <algorithm>
#include <memory>

#include "tests/conformance/copy/descriptor.h"

namespace ropeway_test::bytes {
namespace memcpy_desc_use_test {

constexpr size_t kSize = 256;

aclError Set(void* desc, void* src, void* dst, size_t count) { return aclrtSetMemcpyDesc(desc, kInner, src, dst, count, nullptr); }

aclError Launch(void* desc, aclrtStream stream) { return aclrtMemcpyAsyncWithDesc(desc, kInner, stream); }

aclError OnDevice(void* dst, const void* src, size_t count, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, count, src, count, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
}

// Two sources and two destinations, all different, and room for two descriptors.
class MemcpyDescUse : public StreamTest {
 protected:
  struct Memory {
    DeviceBuffer first_source{kSize}, second_source{kSize};
    DeviceBuffer first_target{kSize}, second_target{kSize};
    DeviceBuffer descs{128};
    void* desc = descs.get();
    void* other_desc = descs.at(64);
  };

  void SetUp() override {
    StreamTest::SetUp();
    memory_ = std::make_unique<Memory>();
    memory_->first_source.Write(first_bytes_);
    memory_->second_source.Write(second_bytes_);
    memory_->first_target.Write(old_bytes_);
    memory_->second_target.Write(old_bytes_);
  }
  void TearDown() override {
    memory_.reset();
    StreamTest::TearDown();
  }

  const std::vector<uint8_t> first_bytes_ = Pattern(kSize, 1);
  const std::vector<uint8_t> second_bytes_ = Pattern(kSize, 2);
  const std::vector<uint8_t> old_bytes_ = Pattern(kSize, 3);
  std::unique_ptr<Memory> memory_;
};

TEST_F(MemcpyDescUse, CopiesExactlyTheBytesItWasSetFor) {
  constexpr size_t kLarge = kMiB + 77;
  DeviceBuffer src(kLarge), dst(kLarge);
  const auto bytes = Pattern(kLarge, 4);
  const auto before = Pattern(kLarge, 5);
  src.Write(bytes);
  struct Row {
    size_t from, to, count;
  };
  const Row rows[] = {{0, 0, 1}, {0, 0, 64}, {1, 3, 63}, {63, 0, 4097}, {0, 61, 100001}, {7, 0, kLarge - 7}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.count);
    auto expected = before;
    dst.Write(before);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(row.from), row.count, expected.begin() + static_cast<ptrdiff_t>(row.to));
    ASSERT_EQ(Set(memory_->desc, src.at(row.from), dst.at(row.to), row.count), ACL_SUCCESS);
    ASSERT_EQ(Launch(memory_->desc, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_TRUE(dst.Read(kLarge) == expected);
  }
}

TEST_F(MemcpyDescUse, LaunchWaitsForItsStreamAndReadsTheSourceThen) {
  Memory& m = *memory_;
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), old_bytes_);
  m.first_source.Write(second_bytes_);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), second_bytes_);
}

// A descriptor is position independent: its bytes are all there is to it.
TEST_F(MemcpyDescUse, WorksFromTheNewPlaceAfterAnOrdinaryCopy) {
  Memory& m = *memory_;
  PinnedBuffer pinned(kDescSize);
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  ASSERT_EQ(OnDevice(m.other_desc, m.desc, kDescSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(m.desc, kDescSize, 0xFF, kDescSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(Launch(m.other_desc, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_) << "moved on the device";

  m.first_target.Write(old_bytes_);
  const auto carried = ReadBytes(m.other_desc, kDescSize);
  ASSERT_EQ(aclrtMemset(m.other_desc, kDescSize, 0xFF, kDescSize), ACL_SUCCESS);
  Fill(pinned, carried);
  ASSERT_EQ(aclrtMemcpyAsync(m.desc, kDescSize, pinned.get(), kDescSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_) << "carried over the host";
}

TEST_F(MemcpyDescUse, StreamOrderedCopyIntoTheDescriptorChangesTheNextLaunchOnly) {
  Memory& m = *memory_;
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  ASSERT_EQ(Set(m.other_desc, m.second_source.get(), m.second_target.get(), kSize / 2), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  ASSERT_EQ(OnDevice(m.desc, m.other_desc, kDescSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_) << "the launch before the copy";
  auto half = old_bytes_;
  std::copy_n(second_bytes_.begin(), kSize / 2, half.begin());
  EXPECT_EQ(m.second_target.Read(kSize), half) << "the launch behind the copy, with its own length";
}

TEST_F(MemcpyDescUse, SetWhileTheLaunchIsHeldBackChangesWhatItCopies) {
  Memory& m = *memory_;
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  ASSERT_EQ(Set(m.desc, m.second_source.get(), m.second_target.get(), kSize), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), old_bytes_);
  EXPECT_EQ(m.second_target.Read(kSize), second_bytes_);
}

TEST_F(MemcpyDescUse, DescriptorMayBeSetAfterTheLaunchWasSubmitted) {
  Memory& m = *memory_;
  ASSERT_EQ(aclrtMemset(m.desc, kDescSize, 0, kDescSize), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS) << "the payload is not looked at by the call";
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_);
}

TEST_F(MemcpyDescUse, LaunchLeavesLengthAndAddressesAlone) {
  Memory& m = *memory_;
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  const Descriptor set = Describe(m.first_source.get(), m.first_target.get(), kSize);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  EXPECT_EQ(ReadBytes(m.descs.at(12), 20), BytesAt(&set.length, 20)) << "after the submit";
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(ReadBytes(m.descs.at(12), 20), BytesAt(&set.length, 20)) << "after the copy";
}

TEST_F(MemcpyDescUse, OneDescriptorServesManyLaunches) {
  constexpr size_t kLaunches = 200;
  Memory& m = *memory_;
  DeviceBuffer inputs(kLaunches * kSize), log(kLaunches * kSize);
  const auto bytes = Pattern(kLaunches * kSize, 6);
  inputs.Write(bytes);
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  for (size_t i = 0; i < kLaunches; ++i) {
    ASSERT_EQ(OnDevice(m.first_source.get(), inputs.at(i * kSize), kSize, stream_), ACL_SUCCESS);
    ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
    ASSERT_EQ(OnDevice(log.at(i * kSize), m.first_target.get(), kSize, stream_), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(log.Read(kLaunches * kSize) == bytes);
}

TEST_F(MemcpyDescUse, OneDescriptorIsLaunchedOnTwoStreams) {
  Memory& m = *memory_;
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  {
    HeldStream held(stream_);
    ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
    ASSERT_EQ(Launch(m.desc, other), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
    EXPECT_EQ(m.first_target.Read(kSize), first_bytes_) << "the stream that runs";
    m.first_source.Write(second_bytes_);
    ASSERT_EQ(held.Release(), ACL_SUCCESS);
  }
  EXPECT_EQ(m.first_target.Read(kSize), second_bytes_) << "the stream that was held";
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(MemcpyDescUse, ManyThreadsLaunchOneDescriptor) {
  Memory& m = *memory_;
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  OnDeviceThreads(8, [&](int) {
    for (int i = 0; i < 50; ++i) ASSERT_EQ(Launch(m.desc, stream_), ACL_SUCCESS);
  });
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_);
}

TEST_F(MemcpyDescUse, DefaultStreamIsReachedByItsHandle) {
  Memory& m = *memory_;
  aclrtStream by_default = nullptr;
  ASSERT_EQ(aclrtCtxGetCurrentDefaultStream(&by_default), ACL_SUCCESS);
  ASSERT_EQ(Set(m.desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  ASSERT_EQ(Launch(m.desc, by_default), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_);
}

TEST_F(MemcpyDescUse, SetFromAnotherDeviceWorksWhereItBelongs) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  SecondDevice other;
  void* desc = other.block(0);
  auto* src = static_cast<char*>(other.block(0)) + 64;
  other.Run([&] { WriteBytes(src, first_bytes_.data(), 128); });
  ASSERT_EQ(Set(desc, src, other.block(1), 128), ACL_SUCCESS) << "device 0 is current";
  other.Run([&] {
    ASSERT_EQ(Launch(desc, other.stream()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(other.stream()), ACL_SUCCESS);
    EXPECT_EQ(ReadBytes(other.block(1), 128), BytesAt(first_bytes_.data(), 128));
  });
}

// The descriptor is read behind the free: its bytes and its address must still be its own.
TEST_F(MemcpyDescUse, DescriptorFreedUnderAQueuedLaunchStillWorks) {
  Memory& m = *memory_;
  void* desc = nullptr;
  ASSERT_EQ(aclrtMalloc(&desc, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(Set(desc, m.first_source.get(), m.first_target.get(), kSize), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(Launch(desc, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(desc), ACL_SUCCESS) << "the stream is held: this free cannot have waited for it";
  EXPECT_EQ(aclrtFree(desc), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Launch(desc, stream_), ACL_ERROR_RT_PARAM_INVALID) << "gone for every later call";
  std::vector<std::unique_ptr<DeviceBuffer>> later;
  for (int i = 0; i < 32; ++i) {
    later.push_back(std::make_unique<DeviceBuffer>(64));
    later.back()->Write(std::vector<uint8_t>(64, 0xEE));
  }
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.first_target.Read(kSize), first_bytes_);
}

}  // namespace memcpy_desc_use_test
}  // namespace ropeway_test::bytes
