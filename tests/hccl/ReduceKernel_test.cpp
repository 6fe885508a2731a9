// The loops that collectives reduce with: every type and operation against its definition, and the CPU's best code against the portable
// one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/half.h"
#include "base/reduce_ops.h"
#include "hccl/base/reduce_kernel.h"

namespace reduce_kernel_test {

using namespace ropeway::comm;
using ropeway::Int128;
using ropeway::UnsignedInt128;

template <typename T>
std::vector<T> Values(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<int64_t>(random())) / static_cast<T>(1e15);
    } else {
      const uint64_t high = random();
      value = static_cast<T>(static_cast<UnsignedInt128>(high) << 64 | random());
    }
  }
  return values;
}

template <typename T, typename Wide>
void TryType(HcclDataType type) {
  constexpr size_t kCount = 1000;  // blocks and a rest
  ASSERT_EQ(ElementBytes(type), sizeof(T));
  const std::vector<T> a = Values<T>(1, kCount), b = Values<T>(2, kCount);
  for (int op = 0; op < 4; ++op) {
    std::vector<T> expected(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      const T values[] = {static_cast<T>(static_cast<Wide>(a[i]) + static_cast<Wide>(b[i])),
                          static_cast<T>(static_cast<Wide>(a[i]) * static_cast<Wide>(b[i])), a[i] > b[i] ? a[i] : b[i],
                          a[i] < b[i] ? a[i] : b[i]};
      expected[i] = values[op];
    }
    for (const auto find : {FindReduceKernel, FindPlainReduceKernel}) {
      const ReduceKernel kernel = find(type, static_cast<HcclReduceOp>(op));
      ASSERT_NE(kernel, nullptr);
      std::vector<T> apart(kCount), left = a, right = b;
      kernel(apart.data(), a.data(), b.data(), kCount);
      kernel(left.data(), left.data(), b.data(), kCount);
      kernel(right.data(), a.data(), right.data(), kCount);
      EXPECT_TRUE(apart == expected) << "type " << type << " op " << op;
      EXPECT_TRUE(left == expected) << "in place of the left, type " << type << " op " << op;
      EXPECT_TRUE(right == expected) << "in place of the right, type " << type << " op " << op;
      std::vector<char> shifted(kCount * sizeof(T) + 1);
      kernel(shifted.data() + 1, a.data(), b.data(), kCount);
      EXPECT_EQ(std::memcmp(shifted.data() + 1, expected.data(), kCount * sizeof(T)), 0) << "not aligned, type " << type << " op " << op;
    }
  }
}

TEST(ReduceKernels, EveryTypeAndOperationDoesWhatItSays) {
  TryType<int8_t, uint64_t>(HCCL_DATA_TYPE_INT8);
  TryType<int16_t, uint64_t>(HCCL_DATA_TYPE_INT16);
  TryType<int32_t, uint64_t>(HCCL_DATA_TYPE_INT32);
  TryType<int64_t, uint64_t>(HCCL_DATA_TYPE_INT64);
  TryType<uint8_t, uint64_t>(HCCL_DATA_TYPE_UINT8);
  TryType<uint16_t, uint64_t>(HCCL_DATA_TYPE_UINT16);
  TryType<uint32_t, uint64_t>(HCCL_DATA_TYPE_UINT32);
  TryType<uint64_t, uint64_t>(HCCL_DATA_TYPE_UINT64);
  TryType<Int128, UnsignedInt128>(HCCL_DATA_TYPE_INT128);
  TryType<float, float>(HCCL_DATA_TYPE_FP32);
  TryType<double, double>(HCCL_DATA_TYPE_FP64);
}

TEST(ReduceKernels, WhatCannotBeReducedHasNone) {
  for (const int type : {-1, 13, 14, 15, 16, 17, 18, 255})
    EXPECT_EQ(FindReduceKernel(static_cast<HcclDataType>(type), HCCL_REDUCE_SUM), nullptr);
  for (const int op : {-1, 4, 255}) EXPECT_EQ(FindReduceKernel(HCCL_DATA_TYPE_FP32, static_cast<HcclReduceOp>(op)), nullptr);
  EXPECT_EQ(ElementBytes(static_cast<HcclDataType>(13)), 0u);
  EXPECT_EQ(ElementBytes(HCCL_DATA_TYPE_FP8E8M0), 1u);
}

// Every 16-bit pattern, infinities and NaNs among them, against some others: the same bits by both codes.
TEST(ReduceKernels, BothCodesAgreeOnEvery16BitFloat) {
  constexpr size_t kAll = 65536;
  for (const HcclDataType type : {HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_BFP16}) {
    std::vector<uint16_t> a(kAll), b(kAll), plain(kAll), best(kAll);
    for (size_t i = 0; i < kAll; ++i) a[i] = static_cast<uint16_t>(i);
    for (uint32_t seed = 0; seed < 8; ++seed) {
      std::mt19937 random(seed);
      for (uint16_t& bits : b) bits = static_cast<uint16_t>(random());
      for (int op = 0; op < 4; ++op) {
        FindPlainReduceKernel(type, static_cast<HcclReduceOp>(op))(plain.data(), a.data(), b.data(), kAll);
        FindReduceKernel(type, static_cast<HcclReduceOp>(op))(best.data(), a.data(), b.data(), kAll);
        for (size_t i = 0; i < kAll; ++i) ASSERT_EQ(plain[i], best[i]) << "type " << type << " op " << op << ": " << a[i] << ", " << b[i];
      }
    }
  }
}

TEST(ReduceKernels, ExtremesKnowNansAndSignsOfZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double a[] = {nan, 1, -0.0, 0.0}, b[] = {1, nan, 0.0, -0.0};
  double greatest[4], least[4];
  FindReduceKernel(HCCL_DATA_TYPE_FP64, HCCL_REDUCE_MAX)(greatest, a, b, 4);
  FindReduceKernel(HCCL_DATA_TYPE_FP64, HCCL_REDUCE_MIN)(least, a, b, 4);
  for (const int i : {0, 1}) EXPECT_TRUE(std::isnan(greatest[i]) && std::isnan(least[i]));
  for (const int i : {2, 3}) EXPECT_TRUE(!std::signbit(greatest[i]) && std::signbit(least[i]));
}

}  // namespace reduce_kernel_test
