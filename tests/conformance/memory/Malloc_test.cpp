// aclrtMalloc, aclrtMallocAlign32 and aclrtMallocCached: the allocation calls that take a size and a policy.
#include <map>
#include <mutex>
#include <random>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace malloc_test {

struct Variant {
  const char* name;
  decltype(&aclrtMalloc) allocate;
  size_t padding;  // bytes reserved behind the rounded size
};

class Malloc : public DeviceTest, public ::testing::WithParamInterface<Variant> {
 protected:
  static aclError Allocate(void** out, size_t size, int policy = ACL_MEM_MALLOC_HUGE_FIRST) {
    return GetParam().allocate(out, size, static_cast<aclrtMemMallocPolicy>(policy));
  }
  static size_t Reserved(size_t size) { return (size + 31) / 32 * 32 + GetParam().padding; }
};

INSTANTIATE_TEST_SUITE_P(Memory, Malloc,
                         ::testing::Values(Variant{"aclrtMalloc", &aclrtMalloc, 32}, Variant{"aclrtMallocAlign32", &aclrtMallocAlign32, 0},
                                           Variant{"aclrtMallocCached", &aclrtMallocCached, 32}),
                         [](const auto& tested) { return std::string(tested.param.name); });

struct Args : CallArgs {
  bool null_output = false;
  size_t size = 100;
};

TEST_P(Malloc, EarlierCheckWins) {
  int mark = 0;
  void* out = &mark;
  const std::vector<Check<Args>> checks = {
      {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.null_output = true; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"size wraps", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = SIZE_MAX; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"out of memory", ACL_ERROR_RT_MEMORY_ALLOCATION, [](Args& a) { a.size = SIZE_MAX / 2; }},
  };
  auto call = [&](const Args& a) { return Allocate(a.null_output ? nullptr : &out, a.size); };
  ExpectCheckOrder(GetParam().name, Args{}, checks, call, [&] { EXPECT_EQ(out, &mark) << "a failed call wrote devPtr"; });
  EXPECT_NE(out, &mark);
  EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
}

TEST_P(Malloc, LargestSizeThatDoesNotWrapIsOutOfMemory) {
  void* out = nullptr;
  const size_t largest = SIZE_MAX - 31 - GetParam().padding;  // its rounded size plus padding is the last that fits
  EXPECT_EQ(Allocate(&out, largest), ACL_ERROR_RT_MEMORY_ALLOCATION);
  for (size_t size : {largest + 1, largest + 2, SIZE_MAX - 1, SIZE_MAX}) {
    EXPECT_EQ(Allocate(&out, size), ACL_ERROR_INVALID_PARAM) << size;
  }
  for (int policy : {ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P}) {
    EXPECT_NE(Allocate(&out, SIZE_MAX - 63, policy), ACL_SUCCESS);
  }
  EXPECT_EQ(out, nullptr);
}

TEST_P(Malloc, AddressesAreAlignedAndBlocksApart) {
  std::map<char*, size_t> blocks;
  for (size_t size : {1, 31, 32, 33, 64, 100, 511, 512, 513, 4096, 100'000, 1 << 20, (1 << 20) + 1, 3 << 20}) {
    for (int i = 0; i < 4; ++i) {
      void* out = nullptr;
      ASSERT_EQ(Allocate(&out, size), ACL_SUCCESS);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % 512, 0u) << size;
      blocks[static_cast<char*>(out)] = Reserved(size);
    }
  }
  char* end = nullptr;
  for (auto [begin, size] : blocks) {
    EXPECT_GE(begin, end) << "two blocks overlap";
    end = begin + size;
  }
  for (auto [begin, size] : blocks) EXPECT_EQ(aclrtFree(begin), ACL_SUCCESS);
}

TEST_P(Malloc, FreeMemoryDropsByTheReservedBytesAtOnce) {
  const size_t at_start = FreeDeviceBytes();
  for (size_t size : {size_t{1}, size_t{32}, size_t{33}, size_t{1000}, kMiB, 5 * kMiB + 1}) {
    for (int policy : {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_FIRST_P2P}) {
      void* out = nullptr;
      ASSERT_EQ(Allocate(&out, size, policy), ACL_SUCCESS);
      EXPECT_EQ(at_start - FreeDeviceBytes(), Reserved(size)) << "size " << size << " policy " << policy;
      ASSERT_EQ(aclrtFree(out), ACL_SUCCESS);
      EXPECT_EQ(FreeDeviceBytes(), at_start);
    }
  }
}

TEST_P(Malloc, EveryPolicyIsAccepted) {
  for (int policy : {0, 1, 2, 3, 4, 5, 8, 99, -1, 0x100, 0x1000, 0x100000}) {
    void* out = nullptr;
    ASSERT_EQ(Allocate(&out, 100, policy), ACL_SUCCESS) << "policy " << policy;
    EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  }
}

TEST_P(Malloc, BlockIsUsableToItsLastByteFromEveryContextAndThread) {
  constexpr size_t kSize = 3 * kMiB + 1;
  void* block = nullptr;
  ASSERT_EQ(Allocate(&block, kSize), ACL_SUCCESS);
  const auto bytes = Pattern(kSize, 1);
  ForeignStream other;
  OnFreshThread([&] {
    ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(block, kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  });
  std::vector<uint8_t> seen(kSize);
  ASSERT_EQ(aclrtMemcpy(seen.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_TRUE(seen == bytes);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_P(Malloc, DeviceCanBeExhaustedAndRecovers) {
  const size_t at_start = FreeDeviceBytes();
  const size_t size = at_start / 16;
  std::vector<void*> blocks;
  void* out = nullptr;
  aclError code = ACL_SUCCESS;
  while (blocks.size() <= 16 && (code = Allocate(&out, size)) == ACL_SUCCESS) blocks.push_back(out);
  EXPECT_EQ(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_GE(blocks.size(), 15u);
  EXPECT_EQ(out, blocks.back()) << "the failed call wrote devPtr";
  EXPECT_EQ(at_start - FreeDeviceBytes(), blocks.size() * Reserved(size));

  // What was given out works, first byte to last.
  for (void* block : blocks) {
    auto* last = static_cast<char*>(block) + size - 1;
    EXPECT_EQ(aclrtMemset(block, 1, 0x11, 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(last, 1, 0x22, 1), ACL_SUCCESS);
  }
  // A hole is filled again, and only that.
  ASSERT_EQ(aclrtFree(blocks[3]), ACL_SUCCESS);
  ASSERT_EQ(Allocate(&blocks[3], size), ACL_SUCCESS);
  EXPECT_EQ(Allocate(&out, size), ACL_ERROR_RT_MEMORY_ALLOCATION);
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), at_start);
  ASSERT_EQ(Allocate(&out, at_start / 2), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
}

TEST_P(Malloc, MoreThanTheDeviceHasIsOutOfMemory) {
  int mark = 0;
  void* out = &mark;
  const size_t at_start = FreeDeviceBytes();
  for (size_t size : {at_start + 1, 2 * at_start, SIZE_MAX / 2, SIZE_MAX - kGiB}) {
    EXPECT_EQ(Allocate(&out, size), ACL_ERROR_RT_MEMORY_ALLOCATION) << size;
  }
  EXPECT_EQ(out, &mark);
  EXPECT_EQ(FreeDeviceBytes(), at_start);
}

TEST_P(Malloc, TextNamesCallArgumentAndValue) {
  void* out = nullptr;
  const std::string name = GetParam().name;
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "devPtr"}, [] { return Allocate(nullptr, 64); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "size"}, [&] { return Allocate(&out, 0); });
  ExpectText(ACL_ERROR_RT_MEMORY_ALLOCATION, {name, std::to_string(SIZE_MAX / 2)}, [&] { return Allocate(&out, SIZE_MAX / 2); });
}

TEST_P(Malloc, ManyThreads) {
  constexpr int kThreads = 16;
  const size_t at_start = FreeDeviceBytes();
  OnDeviceThreads(kThreads, [&](int thread) {
    struct Block {
      void* data;
      size_t size;
      uint32_t seed;
    };
    std::mt19937 random(20 + static_cast<uint32_t>(thread));
    std::vector<Block> mine;
    auto retire = [&](size_t index) {
      const Block block = mine[index];
      mine.erase(mine.begin() + static_cast<ptrdiff_t>(index));
      std::vector<uint8_t> seen(block.size);
      ASSERT_EQ(aclrtMemcpy(seen.data(), block.size, block.data, block.size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      EXPECT_EQ(seen, Pattern(block.size, block.seed)) << "somebody else wrote here";
      ASSERT_EQ(aclrtFree(block.data), ACL_SUCCESS);
    };
    for (int i = 0; i < 200; ++i) {
      if (!mine.empty() && random() % 3 == 0) {
        retire(random() % mine.size());
        continue;
      }
      Block block{nullptr, 1 + random() % 5000, static_cast<uint32_t>(random())};
      ASSERT_EQ(Allocate(&block.data, block.size, static_cast<int>(random() % 6)), ACL_SUCCESS);
      const auto bytes = Pattern(block.size, block.seed);
      ASSERT_EQ(aclrtMemcpy(block.data, block.size, bytes.data(), block.size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      mine.push_back(block);
    }
    while (!mine.empty()) retire(0);
  });
  EXPECT_EQ(FreeDeviceBytes(), at_start);
}

}  // namespace malloc_test
}  // namespace ropeway_test::bytes
