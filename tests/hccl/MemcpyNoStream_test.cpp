// HcclMemcpyAsync with a stream that has no handle: a bounded copy by the calling thread, with rules of its own.
#include <algorithm>

#include "dispatcher_test_util.h"

namespace hccl_memcpy_no_stream_test {

using namespace dispatcher_test;

class HcclMemcpyNoStream : public DispatcherTest {
 protected:
  HcclResult CopyNow(void* dst, uint64_t dest_max, const void* src, uint64_t count, HcclRtMemcpyKind kind = HCCL_RT_MEMCPY_KIND_RESERVED) {
    return HcclMemcpyAsync(dispatcher_, dst, dest_max, src, count, kind, empty_, kNoRank, kOnChip);
  }
  std::vector<uint8_t> from_ = Pattern(64, 1);
  std::vector<uint8_t> to_ = Pattern(64, 2);
};

TEST_F(HcclMemcpyNoStream, CopiesDuringTheCallWhateverTheKind) {
  TaskLog log(dispatcher_);
  for (int kind : {-1, 0, 1, 2, 3, 4, 5}) {
    to_ = Pattern(64, 2);
    EXPECT_EQ(CopyNow(to_.data(), 64, from_.data(), 64, static_cast<HcclRtMemcpyKind>(kind)), HCCL_SUCCESS);
    EXPECT_EQ(to_, from_);
  }
  EXPECT_TRUE(log.tasks.empty());
}

TEST_F(HcclMemcpyNoStream, NullIsFoundFirst) {
  EXPECT_EQ(CopyNow(nullptr, 64, from_.data(), 64), HCCL_E_PTR);
  EXPECT_EQ(CopyNow(to_.data(), 64, nullptr, 0), HCCL_E_PTR);
  TakeErrorText();
}

TEST_F(HcclMemcpyNoStream, DestMaxHasLimitsWhateverTheCount) {
  for (uint64_t dest_max : {uint64_t{0}, uint64_t{0x80000000}, UINT64_MAX}) {
    for (uint64_t count : {0, 1}) EXPECT_EQ(CopyNow(to_.data(), dest_max, from_.data(), count), HCCL_E_INTERNAL) << dest_max;
    EXPECT_EQ(CopyNow(to_.data(), dest_max, to_.data(), 1), HCCL_E_INTERNAL) << dest_max;
  }
  EXPECT_EQ(to_, Pattern(64, 2));
  EXPECT_EQ(CopyNow(to_.data(), 0x7FFFFFFF, from_.data(), 64), HCCL_SUCCESS);
  EXPECT_EQ(to_, from_);
  EXPECT_NE(TakeErrorText().find("destMax 0 "), std::string::npos);
}

TEST_F(HcclMemcpyNoStream, TooLargeACountClearsTheDestination) {
  EXPECT_EQ(CopyNow(to_.data(), 32, from_.data(), 33), HCCL_E_INTERNAL);
  auto wanted = Pattern(64, 2);
  std::fill(wanted.begin(), wanted.begin() + 32, 0);
  EXPECT_EQ(to_, wanted);
  EXPECT_NE(TakeErrorText().find("count 33 exceeds destMax 32"), std::string::npos);
}

TEST_F(HcclMemcpyNoStream, OverlapClearsTheDestinationToo) {
  for (int distance : {1, -1, 15, -15}) {
    auto bytes = Pattern(64, 3);
    uint8_t* dst = bytes.data() + 24;
    EXPECT_EQ(CopyNow(dst, 20, dst + distance, 16), HCCL_E_INTERNAL) << distance;
    auto wanted = Pattern(64, 3);
    std::fill(wanted.begin() + 24, wanted.begin() + 44, 0);
    EXPECT_EQ(bytes, wanted) << distance;
  }
  auto bytes = Pattern(64, 3);
  EXPECT_EQ(CopyNow(bytes.data(), 16, bytes.data() + 16, 16), HCCL_SUCCESS) << "side by side is no overlap";
  TakeErrorText();
}

TEST_F(HcclMemcpyNoStream, TheSamePointerAndCountZeroSucceed) {
  EXPECT_EQ(CopyNow(to_.data(), 64, to_.data(), 64), HCCL_SUCCESS);
  EXPECT_EQ(CopyNow(to_.data(), 64, from_.data(), 0), HCCL_SUCCESS);
  EXPECT_EQ(to_, Pattern(64, 2));
}

TEST_F(HcclMemcpyNoStream, DeviceAddressesAreTheRuntimesToCopy) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  EXPECT_EQ(CopyNow(a.get(), 64, from_.data(), 64), HCCL_SUCCESS);
  EXPECT_EQ(CopyNow(b.get(), 64, a.get(), 64), HCCL_SUCCESS);
  EXPECT_EQ(CopyNow(to_.data(), 64, b.get(), 64), HCCL_SUCCESS);
  EXPECT_EQ(to_, from_);
  EXPECT_EQ(CopyNow(a.get(), 32, from_.data(), 64), HCCL_E_INTERNAL);
  EXPECT_EQ(a.Read(32), std::vector<uint8_t>(32, 0));
  TakeErrorText();
}

TEST_F(HcclMemcpyNoStream, AFreedDeviceAddressIsRefused) {
  void* gone = nullptr;
  ASSERT_EQ(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(gone), ACL_SUCCESS);
  EXPECT_EQ(CopyNow(gone, 64, from_.data(), 64), HCCL_E_RUNTIME);
  EXPECT_EQ(CopyNow(to_.data(), 64, gone, 64), HCCL_E_RUNTIME);
  EXPECT_EQ(CopyNow(gone, 32, from_.data(), 64), HCCL_E_RUNTIME);
  TakeErrorText();
}

// rules/hccl-copy.md 2: a stream that could not be made works, synchronously.
TEST_F(HcclMemcpyNoStream, AFailedStreamBehavesLikeThis) {
  const hccl::Stream failed = ropeway_test::bytes::OnFreshThread([] { return hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE); });
  EXPECT_EQ(failed.ptr(), nullptr);
  hccl::Stream copy(failed);
  EXPECT_EQ(HcclMemcpyAsync(dispatcher_, to_.data(), 64, from_.data(), 64, kD2D, copy, kNoRank, kOnChip), HCCL_SUCCESS);
  EXPECT_EQ(to_, from_);
}

}  // namespace hccl_memcpy_no_stream_test
