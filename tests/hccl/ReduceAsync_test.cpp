// HcclReduceAsync: checks, both ways of reducing, and what each can do.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dispatcher_test_util.h"
#include "p2p_mgmt_pub.h"

namespace hccl_reduce_async_test {

using namespace dispatcher_test;

constexpr u64 kInline = INLINE_REDUCE_BITMASK;
constexpr u64 kVector = 0;

class HcclReduceAsync_ : public DispatcherTest {
 protected:
  HcclResult Reduce(void* dst, void* src, uint64_t count, int type, int op, u64 attribute) {
    return HcclReduceAsync(dispatcher_, src, count, static_cast<HcclDataType>(type), static_cast<HcclReduceOp>(op), wrapped_, dst, 9,
                           hccl::LinkType::LINK_PCIE, attribute);
  }
  // dst op src on the device, and the result.
  template <typename Element>
  std::vector<Element> Result(const std::vector<Element>& dst, const std::vector<Element>& src, int type, int op, u64 attribute) {
    const size_t bytes = dst.size() * sizeof(Element);
    DeviceBuffer a(bytes);
    DeviceBuffer b(bytes);
    EXPECT_EQ(aclrtMemcpy(a.get(), bytes, dst.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(b.get(), bytes, src.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(Reduce(a.get(), b.get(), dst.size(), type, op, attribute), HCCL_SUCCESS);
    Sync();
    std::vector<Element> result(dst.size());
    EXPECT_EQ(aclrtMemcpy(result.data(), bytes, a.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return result;
  }
};

TEST_F(HcclReduceAsync_, ChecksComeInOrder) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  const auto bad_type = static_cast<HcclDataType>(13);
  auto call = [&](HcclDispatcher d, void* src, void* dst, hccl::Stream& stream, uint64_t count) {
    return HcclReduceAsync(d, src, count, bad_type, HCCL_REDUCE_SUM, stream, dst, 0, kOnChip, kInline);
  };
  EXPECT_EQ(call(nullptr, nullptr, nullptr, empty_, 0), HCCL_E_PTR);
  EXPECT_EQ(call(dispatcher_, nullptr, b.get(), wrapped_, 0), HCCL_E_PTR);
  EXPECT_EQ(call(dispatcher_, a.get(), nullptr, wrapped_, 0), HCCL_E_PTR);
  EXPECT_EQ(call(dispatcher_, a.get(), b.get(), empty_, 0), HCCL_E_PTR);
  EXPECT_EQ(call(dispatcher_, a.get(), b.get(), wrapped_, 0), HCCL_SUCCESS);
  EXPECT_EQ(call(dispatcher_, a.get(), b.get(), wrapped_, 1), HCCL_E_PARA);
  EXPECT_EQ(Reduce(a.get(), b.get(), UINT64_MAX / 2, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, kInline), HCCL_E_PARA);
  EXPECT_EQ(Reduce(a.get(), b.get(), 1u << 30, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, kInline), HCCL_E_RUNTIME);
  EXPECT_EQ(Reduce(a.get(), b.get(), 1u << 30, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, kVector), HCCL_E_RUNTIME);
  TakeErrorText();
}

TEST_F(HcclReduceAsync_, WhatEachWayCanReduce) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(std::vector<uint8_t>(64, 0));
  b.Write(std::vector<uint8_t>(64, 0));
  const std::vector<int> inline_types = {0, 1, 2, 3, 4, 11};
  for (int type = 0; type <= 18; ++type) {
    for (int op = -1; op <= 4; ++op) {
      SCOPED_TRACE("type " + std::to_string(type) + " op " + std::to_string(op));
      const bool is_inline_type = std::find(inline_types.begin(), inline_types.end(), type) != inline_types.end();
      const bool inline_fits = is_inline_type && (op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_MAX || op == HCCL_REDUCE_MIN);
      EXPECT_EQ(Reduce(a.get(), b.get(), 4, type, op, kInline), inline_fits ? HCCL_SUCCESS : HCCL_E_PARA);
      const bool vector_fits = type <= 11 && op >= 0 && op <= 3;
      EXPECT_EQ(Reduce(a.get(), b.get(), 4, type, op, kVector), vector_fits ? HCCL_SUCCESS : HCCL_E_PARA);
    }
  }
  Sync();
  TakeErrorText();
}

TEST_F(HcclReduceAsync_, CountIsElementsAndDstIsTheTarget) {
  for (u64 attribute : {kInline, kVector}) {
    const std::vector<int32_t> result = Result<int32_t>({1, 2, 3, 4}, {10, 20, 30, -40}, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, attribute);
    EXPECT_EQ(result, (std::vector<int32_t>{11, 22, 33, -36}));
  }
}

TEST_F(HcclReduceAsync_, BothWaysAgreeOnFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> dst = {1.5f, -2.0f, 0.0f, -0.0f, nan, 7.0f};
  const std::vector<float> src = {2.25f, -3.0f, -0.0f, 0.0f, 1.0f, nan};
  for (int op : {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
    const auto a = Result(dst, src, HCCL_DATA_TYPE_FP32, op, kInline);
    const auto b = Result(dst, src, HCCL_DATA_TYPE_FP32, op, kVector);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(std::isnan(a[i]), std::isnan(b[i])) << op << " " << i;
      if (!std::isnan(a[i])) EXPECT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i])) << op << " " << i;
    }
  }
}

TEST_F(HcclReduceAsync_, BothWaysAgreeOnEveryHalfAgainstSome) {
  std::vector<uint16_t> dst(65536);
  for (size_t i = 0; i < dst.size(); ++i) dst[i] = static_cast<uint16_t>(i);
  for (int type : {HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_BFP16}) {
    const int exponent_mask = type == HCCL_DATA_TYPE_FP16 ? 0x7C00 : 0x7F80;
    auto is_nan = [&](uint16_t half) { return (half & 0x7FFF) > exponent_mask; };
    for (uint16_t other : {0x0000, 0x8000, 0x0001, 0x03FF, 0x3C00, 0xBC01, 0x7BFF, 0x7C00}) {
      const std::vector<uint16_t> src(65536, other);
      const auto a = Result(dst, src, type, HCCL_REDUCE_SUM, kInline);
      const auto b = Result(dst, src, type, HCCL_REDUCE_SUM, kVector);
      size_t different = 0;
      for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i] && !(is_nan(a[i]) && is_nan(b[i]));
      EXPECT_EQ(different, 0u) << "type " << type << " other " << other;
    }
  }
}

TEST_F(HcclReduceAsync_, ProductsAndWideTypesTakeTheVectorWay) {
  EXPECT_EQ(Result<int16_t>({300, -5}, {300, 7}, HCCL_DATA_TYPE_INT16, HCCL_REDUCE_PROD, kVector),
            (std::vector<int16_t>{static_cast<int16_t>(90000), -35}));
  EXPECT_EQ(Result<int64_t>({int64_t{1} << 40, -3}, {5, 4}, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, kVector),
            (std::vector<int64_t>{(int64_t{1} << 40) + 5, 1}));
  EXPECT_EQ(Result<uint64_t>({UINT64_MAX, 1}, {1, 2}, HCCL_DATA_TYPE_UINT64, HCCL_REDUCE_MAX, kVector),
            (std::vector<uint64_t>{UINT64_MAX, 2}));
  EXPECT_EQ(Result<uint8_t>({250, 3}, {10, 4}, HCCL_DATA_TYPE_UINT8, HCCL_REDUCE_SUM, kVector), (std::vector<uint8_t>{4, 7}));
  EXPECT_EQ(Result<double>({1.5, -2}, {4, 8}, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_PROD, kVector), (std::vector<double>{6, -16}));
}

TEST_F(HcclReduceAsync_, RunsInStreamOrder) {
  for (u64 attribute : {kInline, kVector}) {
    DeviceBuffer a(64);
    DeviceBuffer b(64);
    PinnedBuffer host(64);
    memset(host.get(), 1, 64);
    a.Write(std::vector<uint8_t>(64, 0));
    b.Write(std::vector<uint8_t>(64, 5));
    StreamGate gate;
    ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
    EXPECT_EQ(Copy(a.get(), 64, host.get(), 64, kH2D), HCCL_SUCCESS);
    EXPECT_EQ(Reduce(a.get(), b.get(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, attribute), HCCL_SUCCESS);
    EXPECT_EQ(Copy(host.get(), 64, a.get(), 64, kD2H), HCCL_SUCCESS);
    EXPECT_EQ(host.get()[0], 1);
    gate.Open();
    Sync();
    EXPECT_EQ(host.get()[63], 6);
  }
}

TEST_F(HcclReduceAsync_, TheRecordNamesThePeerOnTheInlineWayOnly) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  TaskLog log(dispatcher_);
  EXPECT_EQ(Reduce(a.get(), b.get(), 16, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, kInline), HCCL_SUCCESS);
  EXPECT_EQ(Reduce(a.get(), b.get(), 16, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_MAX, kVector), HCCL_SUCCESS);
  Sync();
  ASSERT_EQ(log.tasks.size(), 2u);
  EXPECT_EQ(log.tasks[0].type, hccl::TaskType::TASK_REDUCE_INLINE);
  EXPECT_EQ(log.tasks[0].reduce.remoteUserRank, 9u);
  EXPECT_EQ(log.tasks[0].reduce.linkType, hccl::LinkType::LINK_PCIE);
  EXPECT_EQ(log.tasks[0].reduce.size, 64u);
  EXPECT_EQ(log.tasks[0].reduce.op, HCCL_REDUCE_MAX);
  EXPECT_EQ(log.tasks[0].reduce.dataType, HCCL_DATA_TYPE_INT32);
  EXPECT_EQ(log.tasks[1].type, hccl::TaskType::TASK_REDUCE_TBE);
  EXPECT_EQ(log.tasks[1].reduce.remoteUserRank, INVALID_VALUE_RANKID);
  EXPECT_EQ(log.tasks[1].reduce.linkType, kOnChip);
}

TEST_F(HcclReduceAsync_, DroppedReductionsLeaveNothingBehind) {
  SubStream sub;
  Notify never;
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(std::vector<uint8_t>(64, 0));
  ASSERT_EQ(aclrtWaitAndResetNotify(never.handle, sub.handle, 0), ACL_SUCCESS);
  EXPECT_EQ(HcclReduceAsync(dispatcher_, b.get(), 8, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_SUM, sub.wrapped, a.get(), 0, kOnChip, kVector),
            HCCL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(sub.handle), ACL_SUCCESS);
  EXPECT_EQ(a.Read(64), std::vector<uint8_t>(64, 0));
}

TEST_F(HcclReduceAsync_, ThePeersMemoryNeedsAccess) {
  uint32_t devices = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
  if (devices < 2) GTEST_SKIP() << "two devices are needed";
  int32_t physical = -1;
  ASSERT_EQ(aclrtGetPhyDevIdByUserDevId(1, &physical), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  auto peer = std::make_unique<DeviceBuffer>(64);
  peer->Write(std::vector<uint8_t>(64, 3));
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  DeviceBuffer mine(64);
  mine.Write(std::vector<uint8_t>(64, 4));
  EXPECT_EQ(Reduce(mine.get(), peer->get(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, kInline), HCCL_E_RUNTIME);
  EXPECT_NE(TakeErrorText().find("EnableP2P"), std::string::npos);
  ASSERT_EQ(hccl::P2PMgmtPub::EnableP2P({static_cast<uint32_t>(physical)}), HCCL_SUCCESS);
  EXPECT_EQ(Reduce(mine.get(), peer->get(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, kInline), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(mine.Read(64), std::vector<uint8_t>(64, 7));
  ASSERT_EQ(hccl::P2PMgmtPub::DisableP2P({static_cast<uint32_t>(physical)}), HCCL_SUCCESS);
  peer.reset();
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

}  // namespace hccl_reduce_async_test
