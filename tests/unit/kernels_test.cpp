// The byte-moving kernels: every table that this CPU can run against memcpy at all alignments, with guard bytes around,
// and the pattern fills.
#include "engine/cpu/kernels/kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/cpu/kernels/fill.h"

namespace ropeway::cpu {
namespace kernels_test {

std::vector<std::string> AvailableTables() {
  std::vector<std::string> names;
  for (const char* name : {"avx512", "avx2", "sse2", "rep_movsb", "neon", "libc"}) {
    if (FindKernels(name) != nullptr) names.push_back(name);
  }
  return names;
}

std::vector<uint8_t> RandomBytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  for (auto& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

// A destination between guard bytes and its expected twin. Offsets are counted from a 64-byte boundary.
class Arena {
 public:
  explicit Arena(size_t room) : actual_(room + 3 * kGuard, kGuardByte), expected_(actual_) {
    base_ = kGuard - reinterpret_cast<uintptr_t>(actual_.data()) % 64;
  }
  uint8_t* at(size_t offset) { return actual_.data() + base_ + offset; }
  uint8_t* expected_at(size_t offset) { return expected_.data() + base_ + offset; }

  // Whether all bytes are as expected, near the range only: what a kernel could wrongly touch is within a few vectors.
  bool Matches(size_t offset, size_t size) {
    const size_t begin = base_ + offset - std::min(base_ + offset, kGuard);
    const size_t end = std::min(actual_.size(), base_ + offset + size + kGuard);
    return std::memcmp(actual_.data() + begin, expected_.data() + begin, end - begin) == 0;
  }
  void Reset(size_t offset, size_t size) {
    std::memset(at(offset), kGuardByte, size);
    std::memset(expected_at(offset), kGuardByte, size);
  }

 private:
  static constexpr size_t kGuard = 256;
  static constexpr uint8_t kGuardByte = 0xa7;
  std::vector<uint8_t> actual_;
  std::vector<uint8_t> expected_;
  size_t base_;
};

class KernelTableTest : public ::testing::TestWithParam<std::string> {
 protected:
  using CopyFn = std::function<void(void*, const void*, size_t)>;
  static constexpr size_t kAhead = 2048;
  const KernelTable& table() const { return *FindKernels(GetParam().c_str()); }
  std::vector<CopyFn> BothWays() const { return {Streaming(), table().cached_copy}; }
  CopyFn Streaming() const {
    return [copy = table().stream_copy](void* dst, const void* src, size_t size) { copy(dst, src, size, {kAhead, SIZE_MAX}); };
  }

  // One copy, compared with memcpy. Offsets are counted from a 64-byte boundary.
  ::testing::AssertionResult CopyIsExact(const CopyFn& copy, Arena& arena, size_t dst_offset, const std::vector<uint8_t>& source,
                                         size_t src_offset, size_t size) {
    const uint8_t* aligned = source.data() + (64 - reinterpret_cast<uintptr_t>(source.data()) % 64);
    copy(arena.at(dst_offset), aligned + src_offset, size);
    if (size > 0) std::memcpy(arena.expected_at(dst_offset), aligned + src_offset, size);
    const bool exact = arena.Matches(dst_offset, size);
    arena.Reset(dst_offset, size);
    if (exact) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "dst at " << dst_offset << ", src at " << src_offset << ", size " << size;
  }
};

INSTANTIATE_TEST_SUITE_P(All, KernelTableTest, ::testing::ValuesIn(AvailableTables()), [](const auto& param) { return param.param; });

TEST_P(KernelTableTest, CopiesAreExactForSmallSizesAtAllAlignments) {
  constexpr size_t kMaxSize = 600, kMaxOffset = 65;
  const std::vector<uint8_t> source = RandomBytes(kMaxSize + kMaxOffset + 128, 1);
  Arena arena(kMaxSize + kMaxOffset);
  for (const CopyFn& copy : BothWays()) {
    for (size_t size = 0; size <= kMaxSize; ++size) {
      for (size_t dst = 0; dst <= kMaxOffset; ++dst) {
        const size_t src = (dst * 7 + size) % (kMaxOffset + 1);  // walks through all pairs over the sizes
        ASSERT_TRUE(CopyIsExact(copy, arena, dst, source, src, size));
      }
    }
  }
}

TEST_P(KernelTableTest, CopiesAreExactForAllPairsOfAlignments) {
  constexpr size_t kMaxOffset = 65;
  const std::vector<uint8_t> source = RandomBytes(8192 + 128, 2);
  Arena arena(8192);
  for (const CopyFn& copy : BothWays()) {
    for (size_t size : {64, 256, 319, 2048, 2303, 3500}) {
      for (size_t dst = 0; dst <= kMaxOffset; ++dst) {
        for (size_t src = 0; src <= kMaxOffset; ++src) {
          ASSERT_TRUE(CopyIsExact(copy, arena, dst, source, src, size));
        }
      }
    }
  }
}

TEST_P(KernelTableTest, CopiesAreExactForLargeRandomSizes) {
  constexpr size_t kMaxSize = 400'000;
  const std::vector<uint8_t> source = RandomBytes(kMaxSize + 5000, 3);
  Arena arena(kMaxSize + 5000);
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const size_t size = random() % (round % 2 == 0 ? 16'384 : kMaxSize);
    const size_t dst = random() % 4200, src = random() % 4200;
    ASSERT_TRUE(CopyIsExact(Streaming(), arena, dst, source, src, size));
    ASSERT_TRUE(CopyIsExact(table().cached_copy, arena, dst, source, src, size));
  }
}

TEST_P(KernelTableTest, SetsAreExactAtAllAlignments) {
  constexpr size_t kMaxSize = 600, kMaxOffset = 65;
  Arena arena(20'000);
  std::vector<size_t> sizes(kMaxSize + 1);
  for (size_t i = 0; i <= kMaxSize; ++i) sizes[i] = i;
  sizes.insert(sizes.end(), {4096, 10'000, 16'384});
  for (size_t size : sizes) {
    for (size_t dst = 0; dst <= kMaxOffset; ++dst) {
      const int value = static_cast<int>(size + dst * 31);  // beyond a byte as well: only the low one counts
      table().stream_set(arena.at(dst), value, size);
      std::memset(arena.expected_at(dst), value, size);
      ASSERT_TRUE(arena.Matches(dst, size)) << "dst at " << dst << ", size " << size;
      arena.Reset(dst, size);
    }
  }
}

// Two readable pages between two that are not.
class FencedPages {
 public:
  FencedPages() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* all = mmap(nullptr, 4 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(all, MAP_FAILED);
    all_ = static_cast<uint8_t*>(all);
    EXPECT_EQ(mprotect(begin(), size(), PROT_READ | PROT_WRITE), 0);
  }
  ~FencedPages() { munmap(all_, 4 * page_); }
  FencedPages(const FencedPages&) = delete;
  FencedPages& operator=(const FencedPages&) = delete;
  uint8_t* begin() const { return all_ + page_; }
  uint8_t* end() const { return begin() + size(); }
  size_t size() const { return 2 * page_; }

 private:
  size_t page_;
  uint8_t* all_;
};

TEST_P(KernelTableTest, NothingBeyondTheRangesIsTouched) {
  const FencedPages src, dst;
  const std::vector<uint8_t> bytes = RandomBytes(src.size(), 5);
  std::memcpy(src.begin(), bytes.data(), src.size());
  for (const CopyFn& copy : BothWays()) {
    for (size_t size = 0; size <= src.size(); size += size < 600 ? 1 : 97) {
      copy(dst.end() - size, src.end() - size, size);
      copy(dst.begin(), src.end() - size, size);
      ASSERT_EQ(std::memcmp(dst.begin(), src.end() - size, size), 0) << size;
      copy(dst.end() - size, src.begin(), size);
      ASSERT_EQ(std::memcmp(dst.end() - size, src.begin(), size), 0) << size;
      table().stream_set(dst.begin(), 1, size);
      table().stream_set(dst.end() - size, 1, size);
    }
  }
}

TEST_P(KernelTableTest, OverlappingCopiesStayInsideTheDestination) {
  constexpr size_t kSize = 6000, kFrom = 3000;
  for (const CopyFn& copy : BothWays()) {
    for (size_t to : {2000, 2936, 2999, 3000, 3001, 3064, 4000}) {
      std::vector<uint8_t> actual = RandomBytes(12'000, 6);
      const std::vector<uint8_t> before = actual;
      copy(actual.data() + to, actual.data() + kFrom, kSize);
      EXPECT_TRUE(std::equal(actual.begin(), actual.begin() + static_cast<long>(to), before.begin())) << to;
      const auto behind = static_cast<long>(to + kSize);
      EXPECT_TRUE(std::equal(actual.begin() + behind, actual.end(), before.begin() + behind)) << to;
      EXPECT_EQ(actual == before, to == kFrom) << to;
    }
  }
}

TEST_P(KernelTableTest, PrefetchIsHarmlessAnywhere) {
  const FencedPages pages;
  table().prefetch(nullptr, 0);
  table().prefetch(nullptr, 1 << 20);
  table().prefetch(pages.end() - 1, 1 << 20);
  const std::vector<uint8_t> bytes = RandomBytes(700, 7);
  const std::vector<uint8_t> before = bytes;
  table().prefetch(bytes.data() + 3, 690);
  EXPECT_EQ(bytes, before);
}

// Every distance and every span move the same bytes: the end of the loop that asks ahead is where a wrong one would show.
TEST_P(KernelTableTest, HowFarAheadMakesNoDifference) {
  const FencedPages src, dst;
  const std::vector<uint8_t> bytes = RandomBytes(src.size(), 8);
  std::memcpy(src.begin(), bytes.data(), src.size());
  for (size_t distance : {0, 1, 64, 100, 128, 1024, 3072, 8192, 65536}) {
    for (size_t span : {size_t{0}, size_t{1}, size_t{200}, size_t{2048}, SIZE_MAX}) {
      for (size_t size = 0; size <= src.size(); size += size < 300 ? 7 : 61) {
        std::memset(dst.begin(), 0, dst.size());
        table().stream_copy(dst.end() - size, src.end() - size, size, {distance, span});
        ASSERT_EQ(std::memcmp(dst.end() - size, src.end() - size, size), 0) << size << " bytes, " << distance << " ahead of " << span;
      }
    }
  }
}

TEST(KernelsTest, TheTablesThatThisCpuCanRunAreCounted) {
  size_t count = 0;
  for (; KernelsAt(count) != nullptr; ++count) EXPECT_EQ(FindKernels(KernelsAt(count)->name), KernelsAt(count));
  EXPECT_EQ(count, AvailableTables().size());
  EXPECT_STREQ(KernelsAt(count - 1)->name, "libc");
}

TEST(KernelsTest, TablesAreFoundByTheirName) {
  for (const std::string& name : AvailableTables()) EXPECT_EQ(FindKernels(name.c_str())->name, name);
  EXPECT_NE(FindKernels("libc"), nullptr);
  EXPECT_EQ(FindKernels("abacus"), nullptr);
  EXPECT_EQ(FindKernels(""), nullptr);
}

TEST(FillWordsTest, ThePatternIsExactAtAllAlignments) {
  constexpr uint32_t kPattern = 0x89674523;
  constexpr size_t kStreamed = 70'000;  // words: beyond the size from which fills are streamed
  Arena arena(kStreamed * 4 + 64);
  std::vector<size_t> counts(160);
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = i;
  counts.insert(counts.end(), {1000, kStreamed});
  for (size_t count : counts) {
    for (size_t dst = 0; dst < 64; ++dst) {
      FillWords(arena.at(dst), kPattern, count);
      for (size_t i = 0; i < count; ++i) std::memcpy(arena.expected_at(dst) + 4 * i, &kPattern, 4);
      ASSERT_TRUE(arena.Matches(dst, count * 4)) << "dst at " << dst << ", count " << count;
      arena.Reset(dst, count * 4);
    }
  }
}

}  // namespace kernels_test
}  // namespace ropeway::cpu
