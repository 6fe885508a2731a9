// The order of locks: what a build with assertions says of a thread that leaves it, and that a release build pays nothing for it.
#include <gtest/gtest.h>

#include "base/spin_lock.h"

namespace ropeway {
namespace lock_rank_test {

#ifdef NDEBUG

static_assert(sizeof(Mutex) == sizeof(std::mutex));
static_assert(sizeof(SpinLock) == 1);

#else

struct LockRanks : testing::Test {
  void SetUp() override { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  Mutex heap{LockRank::kHeap};
  Mutex other_heap{LockRank::kHeap};
  SpinLock stream{LockRank::kStream};
};
using LockRanksDeathTest = LockRanks;

TEST_F(LockRanks, DownwardsIsFineInWhateverOrderTheyAreGivenBack) {
  LockGuard first(heap);
  LockGuard second(stream);
  first.unlock();
  second.unlock();
  first.lock();
  const LockGap gap(heap);
  const LockGuard other(other_heap);
}

TEST_F(LockRanks, ARecursiveOneMayBeTakenAgainUnderOthers) {
  RecursiveMutex stepper{LockRank::kStepper};
  const LockGuard outer(stepper);
  Mutex slab{LockRank::kSlab};
  const LockGuard inner(slab);
  [&] { const LockGuard again(stepper); }();
}

TEST_F(LockRanksDeathTest, UpwardsEndsTheProcessWithBothNames) {
  EXPECT_DEATH(
      {
        const LockGuard first(stream);
        const LockGuard second(heap);
      },
      "holds the lock Stream takes Heap");
}

TEST_F(LockRanksDeathTest, SoDoTwoOfOneName) {
  EXPECT_DEATH(
      {
        const LockGuard first(heap);
        const LockGuard second(other_heap);
      },
      "holds the lock Heap takes Heap");
}

#endif

}  // namespace lock_rank_test
}  // namespace ropeway
