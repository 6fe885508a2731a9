// Those who wait for a value in memory: who passes, who is parked, who lets them go, and that each goes once.
#include "engine/sched/value_watch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>

#include "engine/batch.h"
#include "engine/cpu/cpu_backend.h"

namespace ropeway::sched {
namespace value_watch_test {

class Visitor final : public ValueWaiter {
 public:
  void Opened() override {
    if (then) then();
    std::lock_guard lock(mutex_);
    ++opened_;
    changed_.notify_all();
  }
  void AwaitOpened(int times = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return opened_ >= times; });
  }
  int opened() {
    std::lock_guard lock(mutex_);
    return opened_;
  }
  std::function<void()> then;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int opened_ = 0;
};

// To this one the words of the test are what they are.
Backend& OwnMemory() {
  static WorkSharer sharer;
  static cpu::CpuBackend backend(sharer, false);
  return backend;
}

Volleys& NoVolleys() {
  static Volleys none;
  return none;
}

// A word that several threads look at.
struct Word {
  void Store(uint64_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }
  alignas(8) uint64_t word = 0;
};

TEST(ValueWatchTest, WhatIsAlreadyThereLetsPass) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  at.Store(5);
  EXPECT_TRUE(watch.PassOrPark(&visitor, &at.word, 5, ValueTest::kEqual));
  EXPECT_TRUE(watch.PassOrPark(&visitor, &at.word, 4, ValueTest::kAtLeast));
  EXPECT_TRUE(watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kAnyBit));
  EXPECT_TRUE(watch.PassOrPark(&visitor, &at.word, 0, ValueTest::kNotAllBits));
  EXPECT_FALSE(watch.Unpark(&visitor)) << "who passed is not parked";
  watch.MemoryChanged();
  EXPECT_EQ(visitor.opened(), 0) << "passing is not being opened";
}

TEST(ValueWatchTest, AnAnnouncedChangeReleasesAtOnce) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kEqual));
  at.Store(2);
  watch.MemoryChanged();
  EXPECT_EQ(visitor.opened(), 0) << "not the value that it waits for";
  // Without the thread that looks by itself, it is the announcement that releases.
  watch.Stop();
  at.Store(1);
  watch.MemoryChanged();
  EXPECT_EQ(visitor.opened(), 1);
  watch.MemoryChanged();
  EXPECT_EQ(visitor.opened(), 1) << "nobody is released twice";
  EXPECT_FALSE(watch.Unpark(&visitor));
}

TEST(ValueWatchTest, AChangeThatIsAnnouncedWithoutAStoreBehindItReleasesAtOnce) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  watch.Stop();
  Visitor visitor;
  Word at;
  for (int round = 1; round <= 3; ++round) {  // the first waiter of all, and those behind it
    watch.MemoryChangedNow();
    ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, static_cast<uint64_t>(round), ValueTest::kEqual));
    at.Store(static_cast<uint64_t>(round));
    watch.MemoryChangedNow();
    EXPECT_EQ(visitor.opened(), round);
  }
}

TEST(ValueWatchTest, AChangeThatNobodyAnnouncesIsFound) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  for (int round = 1; round <= 20; ++round) {
    ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, static_cast<uint64_t>(round), ValueTest::kEqual));
    at.Store(static_cast<uint64_t>(round));
    visitor.AwaitOpened(round);
    EXPECT_FALSE(watch.Unpark(&visitor));
  }
  EXPECT_EQ(visitor.opened(), 20);
}

TEST(ValueWatchTest, AMisalignedWordWorks) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  alignas(8) char bytes[24] = {};
  watch.Stop();  // nobody else looks at the bytes
  const uint64_t value = 0x1122334455667788;
  for (size_t offset = 1; offset < 8; ++offset) {
    std::memset(bytes, 0, sizeof(bytes));
    ASSERT_FALSE(watch.PassOrPark(&visitor, bytes + offset, value, ValueTest::kEqual));
    std::memcpy(bytes + offset, &value, sizeof(value));
    watch.MemoryChanged();
    EXPECT_EQ(visitor.opened(), static_cast<int>(offset));
  }
}

TEST(ValueWatchTest, UnparkTakesOneOut) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor stays, leaves;
  Word at;
  ASSERT_FALSE(watch.PassOrPark(&stays, &at.word, 1, ValueTest::kEqual));
  ASSERT_FALSE(watch.PassOrPark(&leaves, &at.word, 1, ValueTest::kEqual));
  EXPECT_TRUE(watch.Unpark(&leaves));
  EXPECT_FALSE(watch.Unpark(&leaves));
  at.Store(1);
  watch.MemoryChanged();
  stays.AwaitOpened();
  EXPECT_EQ(leaves.opened(), 0);
}

TEST(ValueWatchTest, UnparkOfAStrangerIsFalse) {
  ValueWatch watch(OwnMemory(), NoVolleys()), other(OwnMemory(), NoVolleys());
  Visitor here, elsewhere;
  Word at;
  ASSERT_FALSE(watch.PassOrPark(&here, &at.word, 1, ValueTest::kEqual));
  ASSERT_FALSE(other.PassOrPark(&elsewhere, &at.word, 1, ValueTest::kEqual));
  EXPECT_FALSE(watch.Unpark(&elsewhere));
  EXPECT_TRUE(other.Unpark(&elsewhere));
  EXPECT_TRUE(watch.Unpark(&here));
}

TEST(ValueWatchTest, OnlyThoseWhoseValueHasComeGoInTheOrderTheyCame) {
  constexpr int kVisitors = 40;
  ValueWatch watch(OwnMemory(), NoVolleys());
  std::deque<Visitor> visitors(kVisitors);
  std::vector<int> order;
  Word at;
  // Each third waits for 1, 2 and 3.
  const auto wanted = [](int i) { return static_cast<uint64_t>(1 + i % 3); };
  for (int i = 0; i < kVisitors; ++i) {
    visitors[static_cast<size_t>(i)].then = [&order, i] { order.push_back(i); };
    ASSERT_FALSE(watch.PassOrPark(&visitors[static_cast<size_t>(i)], &at.word, wanted(i), ValueTest::kEqual));
  }
  watch.Stop();  // one thread only looks, so that the order is one
  for (uint64_t value : {3u, 1u}) {
    order.clear();
    at.Store(value);
    watch.MemoryChanged();
    std::vector<int> expected;
    for (int i = 0; i < kVisitors; ++i) {
      if (wanted(i) == value) expected.push_back(i);
    }
    EXPECT_EQ(order, expected);
  }
  for (int i = 0; i < kVisitors; ++i) EXPECT_EQ(watch.Unpark(&visitors[static_cast<size_t>(i)]), wanted(i) == 2) << i;
}

TEST(ValueWatchTest, SeveralWordsAtOnce) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  std::deque<Visitor> visitors(8);
  std::deque<Word> words(8);
  for (size_t i = 0; i < 8; ++i) ASSERT_FALSE(watch.PassOrPark(&visitors[i], &words[i].word, 1, ValueTest::kAtLeast));
  for (size_t i = 0; i < 8; i += 2) words[i].Store(7);
  for (size_t i = 0; i < 8; i += 2) visitors[i].AwaitOpened();
  for (size_t i = 1; i < 8; i += 2) {
    EXPECT_EQ(visitors[i].opened(), 0);
    EXPECT_TRUE(watch.Unpark(&visitors[i]));
  }
}

// A task wakes those whose word it may have changed: at its edges, across the border of two buckets, and in every piece of a batch.
TEST(ValueWatchTest, ATaskWakesThoseInItsRange) {
  alignas(512) static uint64_t words[512];
  auto bytes = reinterpret_cast<char*>(words);
  const auto wakes = [&](size_t at, const Task& task) {
    std::memset(words, 0, sizeof(words));
    ValueWatch watch(OwnMemory(), NoVolleys());
    Visitor visitor, others[64];
    EXPECT_FALSE(watch.PassOrPark(&visitor, bytes + at, 1, ValueTest::kEqual));
    for (auto& other : others) EXPECT_FALSE(watch.PassOrPark(&other, bytes + 4088, 9, ValueTest::kEqual));
    watch.Stop();  // nobody else looks
    const uint64_t one = 1;
    std::memcpy(bytes + at, &one, sizeof(one));
    watch.MemoryChanged(&task);
    const bool woken = visitor.opened() == 1;
    EXPECT_EQ(watch.Unpark(&visitor), !woken);
    for (auto& other : others) EXPECT_TRUE(watch.Unpark(&other));
    return woken;
  };
  const auto set = [&](size_t at, size_t size) {
    Task task{};
    task.kind = TaskKind::kSet;
    task.set = {bytes + at, size, 0};
    return task;
  };
  EXPECT_TRUE(wakes(1024, set(1024, 1)));
  EXPECT_TRUE(wakes(1024, set(1031, 1)));
  EXPECT_TRUE(wakes(1020, set(1026, 2))) << "a word across two buckets";
  EXPECT_TRUE(wakes(2000, set(0, 4096)));
  EXPECT_FALSE(wakes(1024, set(2048, 512)));
  EXPECT_FALSE(wakes(1024, set(0, 512)));
  Task rows{};
  rows.kind = TaskKind::kCopy2d;
  rows.copy_2d = {bytes, bytes, 1024, 1024, 16, 3};
  EXPECT_TRUE(wakes(2048, rows));
  auto batch = std::make_unique<Batch>(3);
  for (size_t at : {size_t{512}, size_t{3072}, size_t{1024}}) batch->Add(bytes + at, bytes, 8);
  Task pieces{};
  pieces.kind = TaskKind::kBatch;
  pieces.batch = {batch.get(), 24};
  EXPECT_TRUE(wakes(3072, pieces));
  EXPECT_FALSE(wakes(2048, pieces));
  Task late{};
  late.kind = TaskKind::kCopyByDesc;
  EXPECT_TRUE(wakes(2048, late)) << "nobody knows where it went";
}

TEST(ValueWatchTest, AReleasedWaiterMayParkAgainAtOnce) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  visitor.then = [&] {
    if (visitor.opened() == 0) EXPECT_FALSE(watch.PassOrPark(&visitor, &at.word, 2, ValueTest::kEqual));
  };
  ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kEqual));
  at.Store(1);
  watch.MemoryChanged();
  visitor.AwaitOpened(1);
  at.Store(2);
  watch.MemoryChanged();
  visitor.AwaitOpened(2);
  EXPECT_FALSE(watch.Unpark(&visitor));
}

// --- Races --------------------------------------------------------------------------------------------------------------

// Announced and found changes against a waiter that is taken out: exactly one of the two happens.
TEST(ValueWatchTest, AChangeAgainstUnpark) {
  constexpr uint64_t kRounds = 2000;
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  std::atomic<uint64_t> go{0};
  std::thread changer([&] {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      while (go < round) std::this_thread::yield();
      at.Store(round);
      if (round % 2 == 0) watch.MemoryChanged();
    }
  });
  int released = 0, wrong = 0;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    const bool passed = watch.PassOrPark(&visitor, &at.word, round, ValueTest::kEqual);
    wrong += passed;
    go = round;
    if (round % 3 == 0) std::this_thread::yield();
    if (!watch.Unpark(&visitor)) visitor.AwaitOpened(++released);
    wrong += visitor.opened() != released;
  }
  changer.join();
  EXPECT_EQ(wrong, 0);
}

// The word changes while the waiter is on its way in: it passes, or it is released by the announcement.
TEST(ValueWatchTest, AChangeAgainstParking) {
  constexpr uint64_t kRounds = 2000;
  ValueWatch watch(OwnMemory(), NoVolleys());
  watch.Stop();  // so that only the announcement can release
  Visitor visitor;
  Word at;
  std::atomic<uint64_t> go{0}, arrived{0};
  std::thread changer([&] {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      while (go < round) std::this_thread::yield();
      at.Store(round);
      watch.MemoryChanged();
      arrived = round;
    }
  });
  int released = 0;
  for (uint64_t round = 1; round <= kRounds; ++round) {
    go = round;
    if (!watch.PassOrPark(&visitor, &at.word, round, ValueTest::kAtLeast)) visitor.AwaitOpened(++released);
    while (arrived < round) std::this_thread::yield();
  }
  changer.join();
  EXPECT_EQ(visitor.opened(), released);
}

// --- Stop ---------------------------------------------------------------------------------------------------------------

TEST(ValueWatchTest, StopLeavesTheParkedParked) {
  ValueWatch watch(OwnMemory(), NoVolleys());
  Visitor visitor;
  Word at;
  ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kEqual));
  watch.Stop();
  at.Store(1);
  watch.Stop();  // once more does nothing
  EXPECT_EQ(visitor.opened(), 0);
  EXPECT_TRUE(watch.Unpark(&visitor));
}

TEST(ValueWatchTest, MayEndWithSomebodyParked) {
  Visitor visitor;
  Word at;
  {
    ValueWatch watch(OwnMemory(), NoVolleys());
    ASSERT_FALSE(watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kEqual));
  }
  EXPECT_EQ(visitor.opened(), 0);
}

// The process ends while its threads go on: they park and leave as before, and nobody starts a new thread.
TEST(ValueWatchTest, StopAgainstThoseWhoPark) {
  for (int round = 0; round < 20; ++round) {
    ValueWatch watch(OwnMemory(), NoVolleys());
    Word at;
    std::atomic<int> visits{0};
    std::atomic<bool> over{false};
    std::thread parker([&] {
      Visitor visitor;
      // Relaxed: the parker must not learn of the stop by the flags of the test.
      while (!over.load(std::memory_order_relaxed)) {
        if (!watch.PassOrPark(&visitor, &at.word, 1, ValueTest::kEqual)) EXPECT_TRUE(watch.Unpark(&visitor));
        visits.fetch_add(1, std::memory_order_relaxed);
      }
    });
    while (visits.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
    watch.Stop();
    const int before = visits.load(std::memory_order_relaxed);
    while (visits.load(std::memory_order_relaxed) < before + 10) std::this_thread::yield();
    over.store(true, std::memory_order_relaxed);
    parker.join();
  }
}

}  // namespace value_watch_test
}  // namespace ropeway::sched
