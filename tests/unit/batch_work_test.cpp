// The pieces of a batch in portions: every byte once, portions of the right size, by any number of threads.
#include "engine/cpu/batch_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "engine/cpu/copy_profile.h"

namespace ropeway::cpu {
namespace batch_work_test {

constexpr size_t kPortion = BatchWork::kPortion;
constexpr size_t kHalf = kPortion / 2;
constexpr char kUntouched = 0x5A;  // no source byte has this value

std::atomic<bool> g_never{false};
const CopyKernels kKernels = KernelsOf(ThisProfile().profile);

// Sources, destinations with a moat around each piece, and the batch between them.
class Field {
 public:
  explicit Field(const std::vector<size_t>& sizes, bool shuffled = false, uint32_t seed = 1) : batch_(sizes.size()) {
    constexpr size_t kMoat = 3;  // pieces that do not touch are not merged, and odd addresses come for free
    size_t total = kMoat;
    std::vector<size_t> starts;
    for (size_t size : sizes) {
      starts.push_back(total);
      total += size + kMoat;
    }
    std::mt19937 random(seed);
    std::vector<char> pattern(4093);  // a prime: whatever is copied to the wrong place is seen
    for (char& byte : pattern) byte = static_cast<char>(random() % 80);
    while (src_.size() < total) src_.insert(src_.end(), pattern.begin(), pattern.end());
    dst_.assign(total, kUntouched);
    expected_.assign(total, kUntouched);
    std::vector<size_t> order(sizes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (shuffled) std::shuffle(order.begin(), order.end(), random);
    for (size_t i : order) {
      batch_.Add(dst_.data() + starts[i], src_.data() + starts[i], sizes[i]);
      std::copy_n(src_.begin() + static_cast<std::ptrdiff_t>(starts[i]), sizes[i],
                  expected_.begin() + static_cast<std::ptrdiff_t>(starts[i]));
    }
  }
  const Batch& batch() const { return batch_; }
  bool CopiedExactly() const { return dst_ == expected_; }

  // How many bytes the last portion wrote. Each must be one that was asked for and that no portion wrote before. Page by
  // page, because the sanitizers make loops over bytes slow.
  size_t TakeStock() {
    static const std::vector<char> untouched(kPage, kUntouched);
    size_t written = 0;
    for (size_t i = 0; i < dst_.size(); i += kPage) {
      const size_t size = std::min(kPage, dst_.size() - i);
      char *got = dst_.data() + i, *asked = expected_.data() + i;
      if (std::memcmp(got, untouched.data(), size) == 0) continue;
      for (size_t k = 0; k < size; ++k) {
        if (got[k] == kUntouched) continue;
        wrong_ += got[k] != asked[k];
        asked[k] = got[k] = kUntouched;  // written: not asked for any more
        ++written;
      }
    }
    EXPECT_EQ(wrong_, 0u) << "bytes are wrong, or were copied twice";
    return written;
  }

 private:
  static constexpr size_t kPage = 4096;
  Batch batch_;
  std::vector<char> src_, dst_, expected_;
  size_t wrong_ = 0;
};

// What each portion copies, one after the other on one thread.
std::vector<size_t> PortionsOf(Field& field, bool streaming) {
  AddressSpace addresses;
  BatchWork work(field.batch(), addresses, kKernels, streaming);
  std::vector<size_t> portions;
  while (!work.AllTaken()) {
    EXPECT_TRUE(work.RunPortion());
    portions.push_back(field.TakeStock());
  }
  EXPECT_FALSE(work.RunPortion());
  EXPECT_EQ(field.TakeStock(), 0u);
  EXPECT_TRUE(field.CopiedExactly()) << "bytes were left out";
  return portions;
}

struct Case {
  const char* what;
  std::vector<size_t> sizes, portions;
};
const Case kCases[] = {
    {"one byte", {1}, {1}},
    {"almost a portion", {kPortion - 1}, {kPortion - 1}},
    {"a portion", {kPortion}, {kPortion}},
    {"a small tail goes along", {kPortion + 1}, {kPortion + 1}},
    {"the largest tail that goes along", {kPortion + kHalf}, {kPortion + kHalf}},
    {"a tail worth a portion", {kPortion + kHalf + 1}, {kPortion, kHalf + 1}},
    {"two portions", {2 * kPortion}, {kPortion, kPortion}},
    {"a large piece with a tail", {4 * kPortion + 7}, {kPortion, kPortion, kPortion, kPortion + 7}},
    {"two that fill a portion", {kHalf, kHalf}, {kPortion}},
    {"and one byte more", {kHalf, kHalf, 1}, {kPortion, 1}},
    {"the second goes along whole", {kHalf, kPortion}, {kPortion + kHalf}},
    {"the second is cut", {kHalf, kPortion + 1}, {kPortion, kHalf + 1}},
    {"the end of one and the start of the next", {kPortion + kHalf + 1, kPortion}, {kPortion, kPortion, kHalf + 1}},
    {"both ends are parts", {kPortion + kHalf + 1, 2 * kPortion}, {kPortion, kPortion, kPortion, kHalf + 1}},
    {"large, small, large", {2 * kPortion, 10, 2 * kPortion}, {kPortion, kPortion, kPortion, kPortion + 10}},
    {"alike, and three of them are more than a portion", std::vector<size_t>(7, 100000), {300000, 300000, 100000}},
    {"alike, and too large to be dealt out by number", std::vector<size_t>(3, kHalf + 1), {kPortion + 2, kHalf + 1}},
    {"nothing in between", {100, 0, 100}, {200}},
    {"only nothing", {0, 0}, {0}},
};

TEST(BatchWorkTest, PortionsHaveTheSizesTheyShould) {
  for (const Case& entry : kCases) {
    for (bool streaming : {false, true}) {
      Field field(entry.sizes);
      EXPECT_EQ(PortionsOf(field, streaming), entry.portions) << entry.what;
    }
  }
}

TEST(BatchWorkTest, ManyTinyPiecesShareAPortion) {
  constexpr size_t kTiny = 64;
  Field full(std::vector<size_t>(kPortion / kTiny, kTiny));
  EXPECT_EQ(PortionsOf(full, true), (std::vector<size_t>{kPortion}));
  Field one_more(std::vector<size_t>(kPortion / kTiny + 1, kTiny));
  EXPECT_EQ(PortionsOf(one_more, true), (std::vector<size_t>{kPortion, kTiny}));
}

TEST(BatchWorkTest, AnEmptyBatchHasNothingToTake) {
  Batch batch(0);
  AddressSpace addresses;
  BatchWork work(batch, addresses, kKernels, false);
  EXPECT_TRUE(work.AllTaken());
  EXPECT_FALSE(work.RunPortion());
}

TEST(BatchWorkTest, StopCutsItShort) {
  Field field({4 * kPortion});
  AddressSpace addresses;
  BatchWork work(field.batch(), addresses, kKernels, true);
  std::atomic<bool> stop{true};
  work.RunPortions(stop);
  EXPECT_FALSE(work.AllTaken());
  EXPECT_EQ(field.TakeStock(), 0u);
}

TEST(BatchWorkTest, DeviceAddressesAreReachedThroughTheirView) {
  constexpr size_t kSize = 2 * kPortion;
  AddressSpace addresses;
  char* device = static_cast<char*>(addresses.ReserveDevices(size_t{2} << 20, false, 0));
  ASSERT_NE(device, nullptr);
  std::vector<char> out(kSize), in(kSize, 7);
  auto run = [&](const Batch& batch) {
    BatchWork work(batch, addresses, kKernels, true);
    work.RunPortions(g_never);
  };
  Batch there(2), here(2);
  there.Add(device, in.data(), kSize / 2);
  there.Add(device + kSize, in.data() + kSize / 2, kSize / 2);
  run(there);
  here.Add(out.data() + kSize / 2, device + kSize, kSize / 2);
  here.Add(out.data(), device, kSize / 2);
  run(here);
  EXPECT_EQ(out, in);
}

// Sizes of every class: tiny, around a portion, around one and a half, and several portions.
std::vector<size_t> RandomSizes(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> sizes;
  const size_t pieces = 1 + random() % 20;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t wiggle = random() % 5;
    switch (random() % 8) {
      case 0: sizes.push_back(kPortion - 2 + wiggle); break;
      case 1: sizes.push_back(kPortion + kHalf - 2 + wiggle); break;
      case 2: sizes.push_back(random() % (2 * kPortion)); break;
      default: sizes.push_back(1 + random() % 5000);
    }
  }
  return sizes;
}

TEST(BatchWorkTest, RandomBatchesAreCopiedExactlyOnce) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    Field field(RandomSizes(seed), true, seed);
    const std::vector<size_t> portions = PortionsOf(field, seed % 2 == 0);
    for (size_t i = 0; i < portions.size(); ++i) {
      EXPECT_LE(portions[i], kPortion + kHalf) << "seed " << seed;
      if (i + 1 < portions.size()) EXPECT_GE(portions[i], kPortion) << "seed " << seed;
    }
  }
}

// A thread race here is one for the sanitizer; everywhere the number of portions tells whether one was dealt twice.
TEST(BatchWorkTest, AnyNumberOfThreadsCopiesTheSame) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Field alone(RandomSizes(seed), true, seed);
    const size_t portions = PortionsOf(alone, true).size();
    for (size_t count = 1; count <= 4; ++count) {
      Field field(RandomSizes(seed), true, seed);
      AddressSpace addresses;
      BatchWork work(field.batch(), addresses, kKernels, seed % 2 == 0);
      std::atomic<size_t> taken{0}, ready{0};
      std::vector<std::thread> threads;
      for (size_t i = 0; i < count; ++i) {
        threads.emplace_back([&] {
          ++ready;
          while (ready < count) std::this_thread::yield();
          while (work.RunPortion()) ++taken;
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_TRUE(field.CopiedExactly()) << "seed " << seed << ", threads " << count;
      EXPECT_EQ(taken, portions) << "seed " << seed << ", threads " << count;
      EXPECT_TRUE(work.AllTaken());
    }
  }
}

TEST(BatchWorkTest, GuestsOfABoardHelp) {
  sched::WorkBoard board;
  board.set_max_guests(3);
  std::atomic<bool> over{false};
  std::vector<std::thread> helpers;
  for (int i = 0; i < 3; ++i) {
    helpers.emplace_back([&] {
      while (!over) {
        if (!board.Join(g_never)) std::this_thread::yield();
      }
    });
  }
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    Field field(RandomSizes(seed), true, seed);
    AddressSpace addresses;
    BatchWork work(field.batch(), addresses, kKernels, true);
    board.Run(work, g_never);
    EXPECT_TRUE(field.CopiedExactly()) << "seed " << seed;
  }
  over = true;
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace batch_work_test
}  // namespace ropeway::cpu
