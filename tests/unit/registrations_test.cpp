// Registrations: overlap rules, and lookups without a lock while another thread changes the set.
#include "memory/registrations.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace ropeway {
namespace registrations_test {

const void* At(uintptr_t bits) { return reinterpret_cast<const void*>(bits); }

TEST(RegistrationsTest, FindsFromTheFirstToTheLastByte) {
  Registrations registrations;
  EXPECT_FALSE(registrations.Find(At(1000)).found());
  ASSERT_TRUE(registrations.Add({1000, 100, 7}));
  EXPECT_FALSE(registrations.Find(At(999)).found());
  EXPECT_EQ(registrations.Find(At(1000)).base, 1000u);
  EXPECT_EQ(registrations.Find(At(1099)).size, 100u);
  EXPECT_EQ(registrations.Find(At(1050)).alias, 7u);
  EXPECT_FALSE(registrations.Find(At(1100)).found());
  EXPECT_EQ(registrations.count(), 1u);
}

TEST(RegistrationsTest, RangesMayTouchButNotOverlap) {
  Registrations registrations;
  ASSERT_TRUE(registrations.Add({1000, 100, 0}));
  const Registration kOverlaps[] = {{1000, 100, 0}, {1000, 1, 0}, {1099, 1, 0}, {999, 2, 0}, {950, 200, 0}, {1099, 50, 0}, {1010, 10, 0}};
  for (const Registration& overlap : kOverlaps) EXPECT_FALSE(registrations.Add(overlap)) << overlap.base << "+" << overlap.size;
  EXPECT_TRUE(registrations.Add({900, 100, 0}));
  EXPECT_TRUE(registrations.Add({1100, 100, 0}));
  EXPECT_EQ(registrations.count(), 3u);
  EXPECT_EQ(registrations.Find(At(999)).base, 900u);
  EXPECT_EQ(registrations.Find(At(1100)).base, 1100u);
}

TEST(RegistrationsTest, RemoveWantsTheExactStart) {
  Registrations registrations;
  registrations.Add({1000, 100, 5});
  EXPECT_FALSE(registrations.Remove(1001).found());
  EXPECT_FALSE(registrations.Remove(999).found());
  const Registration removed = registrations.Remove(1000);
  EXPECT_EQ(removed.size, 100u);
  EXPECT_EQ(removed.alias, 5u);
  EXPECT_FALSE(registrations.Find(At(1000)).found());
  EXPECT_FALSE(registrations.Remove(1000).found());
  EXPECT_TRUE(registrations.Add({950, 100, 0}));
}

TEST(RegistrationsTest, RemoveOneInsideTakesWhatLiesInside) {
  Registrations registrations;
  for (uintptr_t base : {1000, 1100, 1200, 1300}) registrations.Add({base, 100, 0});
  EXPECT_EQ(registrations.RemoveOneInside(1050, 250).base, 1100u);
  EXPECT_EQ(registrations.RemoveOneInside(1050, 250).base, 1200u);
  EXPECT_FALSE(registrations.RemoveOneInside(1050, 250).found());
  EXPECT_TRUE(registrations.Find(At(1000)).found());
  EXPECT_FALSE(registrations.Find(At(1150)).found());
  EXPECT_FALSE(registrations.Find(At(1250)).found());
  EXPECT_TRUE(registrations.Find(At(1300)).found());
  EXPECT_FALSE(registrations.RemoveOneInside(5000, 100).found());
}

TEST(RegistrationsTest, AgreesWithAMapOverRandomOperations) {
  std::mt19937 random(11);
  Registrations registrations;
  std::map<uintptr_t, size_t> reference;
  auto overlaps = [&](uintptr_t base, size_t size) {
    for (auto [b, s] : reference) {
      if (b < base + size && base < b + s) return true;
    }
    return false;
  };
  for (int step = 0; step < 10000; ++step) {
    const uintptr_t base = 1 + random() % 10000;
    const size_t size = 1 + random() % 20;
    if (random() % 2 == 0) {
      const bool fits = !overlaps(base, size);
      ASSERT_EQ(registrations.Add({base, size, 0}), fits) << step;
      if (fits) reference[base] = size;
    } else {
      ASSERT_EQ(registrations.Remove(base).found(), reference.erase(base) == 1) << step;
    }
    const uintptr_t probe = 1 + random() % 10000;
    ASSERT_EQ(registrations.Find(At(probe)).found(), overlaps(probe, 1)) << step;
    ASSERT_EQ(registrations.count(), reference.size());
  }
}

// What is registered all the time is found all the time, also while the array grows.
TEST(RegistrationsTest, ALookupNeverMissesWhatStaysRegistered) {
  constexpr int kRounds = 3;
  constexpr uintptr_t kFirst = 100000, kMost = 1200;
  for (int round = 0; round < kRounds; ++round) {
    Registrations registrations;
    registrations.Add({500, 10, 1});
    std::atomic<bool> stop{false};
    std::atomic<int> missed{0}, wrong{0};
    std::atomic<int> looks{0};
    std::thread reader([&] {
      while (!stop) {
        const Registration found = registrations.Find(At(505));
        missed += !found.found();
        wrong += found.found() && (found.base != 500 || found.size != 10 || found.alias != 1);
        ++looks;
      }
    });
    while (looks == 0) std::this_thread::yield();
    for (uintptr_t i = 0; i < kMost; ++i) registrations.Add({kFirst + 100 * i, 50, i});
    stop = true;
    reader.join();
    ASSERT_EQ(missed, 0) << "round " << round;
    ASSERT_EQ(wrong, 0) << "round " << round;
  }
}

TEST(RegistrationsTest, LookupsWhileEntriesComeAndGoSeeWholeEntries) {
  Registrations registrations;
  registrations.Add({500, 10, 1});
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  auto look = [&] {
    while (!stop) {
      const Registration found = registrations.Find(At(1005));
      wrong += found.found() && (found.base != 1000 || found.size != 10 || found.alias != 77);
      wrong += !registrations.Find(At(505)).found();
    }
  };
  std::thread first(look), second(look);
  for (int round = 0; round < 5000; ++round) {
    registrations.Add({1000, 10, 77});
    registrations.Add({200, 10, 3});
    registrations.Remove(1000);
    registrations.Remove(200);
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace registrations_test
}  // namespace ropeway
