// The bytes of copy descriptors: programs move them with ordinary copies and may look at them, so each is behaviour.
#include "engine/copy_descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ropeway {
namespace copy_descriptor_test {

constexpr size_t kSmall = 32;  // A2, A3
constexpr size_t kLarge = 64;  // 950

// Every byte of the three fields is another one.
const CopyDescriptor kTelling = {reinterpret_cast<void*>(0x1817161514131211), reinterpret_cast<const void*>(0x2827262524232221),
                                 0x34333231};

std::vector<uint8_t> Written(size_t size, const CopyDescriptor& copy) {
  std::vector<uint8_t> bytes(size, 0xEE);  // what was there before must not show
  WriteDescriptor(bytes.data(), size, copy);
  return bytes;
}

void ExpectSame(const CopyDescriptor& read, const CopyDescriptor& written) {
  EXPECT_EQ(read.dst, written.dst);
  EXPECT_EQ(read.src, written.src);
  EXPECT_EQ(read.size, written.size);
}

TEST(CopyDescriptorTest, TheSmallLayoutByteByByte) {
  const std::vector<uint8_t> expected = {
      0,    0,    0,    0,    0,    0,    0,    0,     // launch header
      0,    0,    0,    0,    0x31, 0x32, 0x33, 0x34,  // its end, length
      0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,  // source
      0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // destination
  };
  EXPECT_EQ(Written(kSmall, kTelling), expected);
}

TEST(CopyDescriptorTest, TheLargeLayoutByteByByte) {
  std::vector<uint8_t> expected(32, 0);  // launch header
  const uint8_t fields[] = {
      0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,  // source
      0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // destination
      0x31, 0x32, 0x33, 0x34, 0,    0,    0,    0,     // length, zeros
      0,    0,    0,    0,    0,    0,    0,    0,
  };
  expected.insert(expected.end(), std::begin(fields), std::end(fields));
  EXPECT_EQ(Written(kLarge, kTelling), expected);
}

TEST(CopyDescriptorTest, NothingBehindTheDescriptorIsTouched) {
  for (size_t size : {kSmall, kLarge}) {
    std::vector<uint8_t> bytes(size + 16, 0xEE);
    WriteDescriptor(bytes.data(), size, kTelling);
    EXPECT_EQ(std::count(bytes.data() + size, bytes.data() + size + 16, 0xEE), 16) << size;
  }
}

TEST(CopyDescriptorTest, WhatWasWrittenIsRead) {
  const size_t sizes[] = {1, 2, 4096, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  for (size_t layout : {kSmall, kLarge}) {
    for (size_t size : sizes) {
      const CopyDescriptor copy = {kTelling.dst, kTelling.src, size};
      ExpectSame(ReadDescriptor(Written(layout, copy).data(), layout), copy);
    }
  }
}

TEST(CopyDescriptorTest, FourGibibytesAreStoredAsZeroAndReadAsFourGibibytes) {
  const size_t whole = size_t{1} << 32;
  const CopyDescriptor copy = {kTelling.dst, kTelling.src, whole};
  const std::vector<uint8_t> small = Written(kSmall, copy), large = Written(kLarge, copy);
  const std::vector<uint8_t> zero(4, 0);
  EXPECT_EQ(std::vector<uint8_t>(small.begin() + 12, small.begin() + 16), zero);
  EXPECT_EQ(std::vector<uint8_t>(large.begin() + 48, large.begin() + 52), zero);
  ExpectSame(ReadDescriptor(small.data(), kSmall), copy);
  ExpectSame(ReadDescriptor(large.data(), kLarge), copy);
}

TEST(CopyDescriptorTest, ZeroBytesNameNoAddresses) {
  for (size_t layout : {kSmall, kLarge}) {
    const std::vector<uint8_t> zeros(layout, 0);
    const CopyDescriptor copy = ReadDescriptor(zeros.data(), layout);
    EXPECT_EQ(copy.dst, nullptr);
    EXPECT_EQ(copy.src, nullptr);
  }
}

// A launch may write its header; the copy is the same.
TEST(CopyDescriptorTest, TheHeaderDoesNotMatter) {
  for (size_t layout : {kSmall, kLarge}) {
    std::vector<uint8_t> bytes = Written(layout, kTelling);
    std::fill_n(bytes.begin(), layout == kSmall ? 12 : 32, 0xAB);
    ExpectSame(ReadDescriptor(bytes.data(), layout), kTelling);
  }
}

TEST(CopyDescriptorTest, MayBeMovedToAnyAddress) {
  for (size_t layout : {kSmall, kLarge}) {
    const std::vector<uint8_t> bytes = Written(layout, kTelling);
    std::vector<uint8_t> elsewhere(layout + 9);
    for (size_t offset = 0; offset < 9; ++offset) {
      std::copy(bytes.begin(), bytes.end(), elsewhere.begin() + static_cast<std::ptrdiff_t>(offset));
      ExpectSame(ReadDescriptor(elsewhere.data() + offset, layout), kTelling);
    }
  }
}

}  // namespace copy_descriptor_test
}  // namespace ropeway
