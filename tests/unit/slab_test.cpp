// Slab: handles that tell stale from live, objects that stay while somebody holds them.
#include "base/slab.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

namespace ropeway {
namespace slab_test {

struct Thing : SlabObject {
  void Recycle() { ++recycled; }
  std::atomic<int> recycled{0};
  std::atomic<int> value{0};
};
using ThingSlab = Slab<Thing, 0x5A>;
using OtherSlab = Slab<Thing, 0x5B>;
using ThingRef = SlabRef<ThingSlab, Thing>;

// Slabs live as long as the process.
template <typename SlabType>
SlabType& NewSlab() {
  static auto* kept = new std::vector<SlabType*>;
  return *kept->emplace_back(new SlabType);
}

void* MakeThing(ThingSlab& slab) { return slab.Publish(slab.Take()); }

void DestroyThing(ThingSlab& slab, void* handle) {
  Thing* thing = slab.Find(handle);
  ASSERT_NE(thing, nullptr);
  ASSERT_TRUE(slab.Retire(thing, thing->generation()));
  slab.Release(thing);
}

TEST(SlabTest, AHandleFindsItsObject) {
  auto& slab = NewSlab<ThingSlab>();
  Thing* thing = slab.Take();
  void* handle = slab.Publish(thing);
  EXPECT_NE(handle, nullptr);
  EXPECT_EQ(slab.Find(handle), thing);
  EXPECT_EQ(slab.HandleOf(thing), handle);
  EXPECT_EQ(slab.live(), 1u);
}

TEST(SlabTest, WhatIsUsedIsNotRetired) {
  auto& slab = NewSlab<ThingSlab>();
  void* handle = MakeThing(slab);
  Thing* const thing = slab.Acquire(handle);
  ASSERT_NE(thing, nullptr);
  EXPECT_FALSE(slab.RetireUnused(thing));
  EXPECT_EQ(slab.Find(handle), thing) << "as good as before";
  slab.Release(thing);
  EXPECT_TRUE(slab.RetireUnused(thing));
  EXPECT_EQ(slab.Find(handle), nullptr);
  EXPECT_EQ(slab.Acquire(handle), nullptr);
  EXPECT_EQ(slab.live(), 0u);
  slab.Discard(thing);
  EXPECT_EQ(thing->recycled, 1);
  void* const again = MakeThing(slab);
  EXPECT_EQ(slab.Find(again), thing);
  EXPECT_NE(again, handle);
}

// Either the call is in it, or it is gone.
TEST(SlabTest, ACallAndTheEndExcludeEachOther) {
  auto& slab = NewSlab<ThingSlab>();
  for (int round = 0; round < 2000; ++round) {
    void* const handle = MakeThing(slab);
    Thing* const thing = slab.Find(handle);
    thing->value = 1;
    std::thread caller([&] {
      for (Thing* held; (held = slab.Acquire(handle)) != nullptr; slab.Release(held)) EXPECT_EQ(held->value, 1);
    });
    while (!slab.RetireUnused(thing)) std::this_thread::yield();
    thing->value = 0;
    caller.join();
    slab.Discard(thing);
  }
}

TEST(SlabTest, AnUnpublishedObjectHasNoGoodHandle) {
  auto& slab = NewSlab<ThingSlab>();
  Thing* thing = slab.Take();
  EXPECT_EQ(slab.Find(slab.HandleOf(thing)), nullptr);
  EXPECT_EQ(slab.live(), 0u);
}

TEST(SlabTest, NumbersThatWereNeverHandlesFindNothing) {
  auto& slab = NewSlab<ThingSlab>();
  const auto good = reinterpret_cast<uint64_t>(MakeThing(slab));
  EXPECT_EQ(slab.Find(nullptr), nullptr);
  int local = 0;
  EXPECT_EQ(slab.Find(&local), nullptr);
  EXPECT_EQ(slab.Find(reinterpret_cast<void*>(good + 1)), nullptr) << "an index that was never used";
  EXPECT_EQ(slab.Find(reinterpret_cast<void*>(good | 0xFFFFFF)), nullptr) << "an index beyond the slab";
  EXPECT_EQ(slab.Find(reinterpret_cast<void*>(good + (uint64_t{2} << 24))), nullptr) << "a generation to come";
  EXPECT_EQ(slab.Find(reinterpret_cast<void*>(good - (uint64_t{1} << 24))), nullptr) << "an even generation";
  EXPECT_EQ(slab.Acquire(reinterpret_cast<void*>(good + 1)), nullptr);
}

TEST(SlabTest, AHandleOfAnotherTypeFindsNothing) {
  auto& slab = NewSlab<ThingSlab>();
  auto& other = NewSlab<OtherSlab>();
  void* handle = MakeThing(slab);
  other.Publish(other.Take());
  EXPECT_EQ(other.Find(handle), nullptr);
}

TEST(SlabTest, ADestroyedHandleIsStaleAndStaysStaleWhenTheObjectIsReused) {
  auto& slab = NewSlab<ThingSlab>();
  void* first = MakeThing(slab);
  Thing* thing = slab.Find(first);
  DestroyThing(slab, first);
  EXPECT_EQ(slab.Find(first), nullptr);
  EXPECT_EQ(slab.Acquire(first), nullptr);
  EXPECT_EQ(thing->recycled, 1);
  EXPECT_EQ(slab.live(), 0u);
  void* second = MakeThing(slab);
  EXPECT_EQ(slab.Find(second), thing) << "a free object is reused";
  EXPECT_NE(second, first);
  EXPECT_EQ(slab.Find(first), nullptr);
  EXPECT_EQ(slab.Acquire(thing, static_cast<uint32_t>(reinterpret_cast<uint64_t>(first) >> 24)), nullptr);
}

TEST(SlabTest, RetireSucceedsOnce) {
  auto& slab = NewSlab<ThingSlab>();
  void* handle = MakeThing(slab);
  Thing* thing = slab.Find(handle);
  const uint32_t generation = thing->generation();
  EXPECT_TRUE(slab.Retire(thing, generation));
  EXPECT_FALSE(slab.Retire(thing, generation));
  EXPECT_FALSE(slab.Retire(thing, thing->generation())) << "an even generation is nobody's handle";
  slab.Release(thing);
}

TEST(SlabTest, AReferenceKeepsARetiredObjectFromBeingReused) {
  auto& slab = NewSlab<ThingSlab>();
  void* handle = MakeThing(slab);
  ThingRef held(slab, slab.Acquire(handle));
  ASSERT_TRUE(held);
  DestroyThing(slab, handle);
  EXPECT_EQ(held->recycled, 0);
  EXPECT_NE(slab.Find(MakeThing(slab)), held.get());
  Thing* thing = held.get();
  held = ThingRef();
  EXPECT_EQ(thing->recycled, 1);
  EXPECT_EQ(slab.Find(MakeThing(slab)), thing);
}

TEST(SlabTest, MovingAReferenceDoesNotCountItTwice) {
  auto& slab = NewSlab<ThingSlab>();
  void* handle = MakeThing(slab);
  Thing* thing = slab.Find(handle);
  {
    ThingRef first(slab, slab.Acquire(handle));
    ThingRef second(std::move(first));
    EXPECT_FALSE(first);
    first = std::move(second);
    EXPECT_EQ(first.get(), thing);
    DestroyThing(slab, handle);
    EXPECT_EQ(thing->recycled, 0);
  }
  EXPECT_EQ(thing->recycled, 1);
}

TEST(SlabTest, ForEachInUseSeesLiveAndHeldObjectsOnly) {
  auto& slab = NewSlab<ThingSlab>();
  void* live = MakeThing(slab);
  void* held = MakeThing(slab);
  void* gone = MakeThing(slab);
  Thing* live_thing = slab.Find(live);
  Thing* held_thing = slab.Acquire(held);
  DestroyThing(slab, held);
  DestroyThing(slab, gone);
  std::set<Thing*> seen;
  slab.ForEachInUse([&](Thing* thing) { seen.insert(thing); });
  EXPECT_EQ(seen, (std::set<Thing*>{live_thing, held_thing}));
  slab.Release(held_thing);
  EXPECT_EQ(held_thing->recycled, 1) << "the visit gave its reference back";
}

TEST(SlabTest, ForEachInUseMayBeTheLastToHoldAnObject) {
  auto& slab = NewSlab<ThingSlab>();
  void* handle = MakeThing(slab);
  Thing* thing = slab.Find(handle);
  slab.ForEachInUse([&](Thing*) {
    if (slab.Find(handle) != nullptr) DestroyThing(slab, handle);
    EXPECT_EQ(thing->recycled, 0);
  });
  EXPECT_EQ(thing->recycled, 1);
}

TEST(SlabTest, ManyObjectsHaveDifferentHandles) {
  auto& slab = NewSlab<ThingSlab>();
  std::set<void*> handles;
  for (uint32_t i = 0; i < 3 * ThingSlab::kChunk + 1; ++i) handles.insert(MakeThing(slab));
  EXPECT_EQ(handles.size(), 3 * ThingSlab::kChunk + 1);
  EXPECT_EQ(slab.live(), handles.size());
  for (void* handle : handles) EXPECT_NE(slab.Find(handle), nullptr);
}

TEST(SlabTest, ThreadsThatDestroyAndHoldAgree) {
  auto& slab = NewSlab<ThingSlab>();
  constexpr int kSlots = 4, kRounds = 20000;
  std::atomic<void*> handles[kSlots];
  for (auto& handle : handles) handle = MakeThing(slab);
  std::atomic<int> errors{0};
  auto work = [&](uint32_t seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < kRounds; ++round) {
      auto& slot = handles[random() % kSlots];
      void* handle = slot;
      ThingRef held(slab, slab.Acquire(handle));
      if (!held) continue;
      // While it is held nobody else may be given it.
      const int recycled = held->recycled;
      if (random() % 4 == 0 && slab.Retire(held.get(), static_cast<uint32_t>(reinterpret_cast<uint64_t>(handle) >> 24))) {
        slab.Release(held.get());
        slot = MakeThing(slab);
      }
      errors += held->recycled != recycled;
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  threads.emplace_back([&] {
    for (int round = 0; round < 200; ++round) slab.ForEachInUse([](Thing* thing) { ++thing->value; });
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(slab.live(), static_cast<uint64_t>(kSlots));
  int in_use = 0;
  slab.ForEachInUse([&](Thing*) { ++in_use; });
  EXPECT_EQ(in_use, kSlots);
}

}  // namespace slab_test
}  // namespace ropeway
