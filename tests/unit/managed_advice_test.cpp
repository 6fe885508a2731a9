// ManagedAdvice against a reference that keeps every byte by itself.
#include "memory/managed_advice.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ropeway {
namespace managed_advice_test {

constexpr uintptr_t kBase = 1000;
constexpr size_t kBytes = 40;

Advice Together(const std::vector<Advice>& bytes, size_t at, size_t size) {
  Advice all = bytes[at];
  for (size_t i = at; i < at + size; ++i) {
    const Advice& one = bytes[i];
    all.read_mostly = all.read_mostly && one.read_mostly;
    if (one.preferred != all.preferred) all.preferred = ManagedPlace();
    if (one.prefetched != all.prefetched) all.prefetched = ManagedPlace();
    std::erase_if(all.accessed_by, [&](int32_t id) { return !one.accessed_by.contains(id); });
  }
  return all;
}

void ChangeAtRandom(std::mt19937& random, Advice& advice, uint32_t what) {
  const auto id = static_cast<int32_t>(random() % 3);
  switch (what) {
    case 0: advice.read_mostly = !advice.read_mostly; return;
    case 1: advice.preferred = id == 0 ? ManagedPlace() : ManagedPlace{ACL_MEM_LOCATIONTYPE_DEVICE, id}; return;
    case 2: advice.prefetched = {ACL_MEM_LOCATIONTYPE_HOST_NUMA, id}; return;
    case 3: advice.accessed_by.insert(id); return;
    default: advice.accessed_by.clear(); return;
  }
}

TEST(ManagedAdviceTest, AgreesWithEveryByteByItself) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ManagedAdvice advice;
    std::vector<Advice> bytes(kBytes);
    for (int step = 0; step < 40; ++step) {
      const size_t at = random() % kBytes, size = 1 + random() % (kBytes - at);
      const uint32_t what = random() % 6, seed_of_change = static_cast<uint32_t>(random());
      const auto change = [&](Advice& part) {
        std::mt19937 same(seed_of_change);  // every part is told the same
        ChangeAtRandom(same, part, what);
      };
      if (what == 5) {
        advice.Forget(kBase + at, size);
      } else {
        advice.Change(kBase + at, size, change);
      }
      for (size_t i = at; i < at + size; ++i) {
        if (what == 5) {
          bytes[i] = Advice();
        } else {
          change(bytes[i]);
        }
      }
      const size_t from = random() % kBytes, count = 1 + random() % (kBytes - from);
      ASSERT_EQ(advice.Read(kBase + from, count), Together(bytes, from, count)) << "step " << step;
    }
  }
}

TEST(ManagedAdviceTest, NothingIsSaidAtFirst) {
  ManagedAdvice advice;
  EXPECT_EQ(advice.Read(kBase, kBytes), Advice());
  advice.Forget(kBase, kBytes);
  EXPECT_EQ(advice.Read(kBase, 1), Advice());
}

}  // namespace managed_advice_test
}  // namespace ropeway
