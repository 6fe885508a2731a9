// Which tasks may run side by side, that they move the right bytes when they do, and that nobody looks meanwhile.
#include "engine/volley.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "engine/copy_descriptor.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/sched/value_watch.h"
#include "engine/task_graph.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace volley_test {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr size_t kDevice = 64 * kMiB;
constexpr size_t kBlock = 4 * kKiB;

// Tasks that are all there; says when some are complete.
class FixedFeed : public VolleyFeed {
 public:
  explicit FixedFeed(const TaskRun& run) : VolleyFeed(run) {}
  size_t Count() override { return run().count(); }
  void Completed(size_t count) override {
    EXPECT_GT(count, completed);
    completed = count;
  }
  size_t completed = 0;
};

class VolleyTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = static_cast<char*>(backend_.ReserveDevices(kDevice, kDevice, 0));
    pinned_ = static_cast<char*>(backend_.ReserveHost(8 * kMiB));
    ASSERT_NE(device_, nullptr);
    ASSERT_NE(pinned_, nullptr);
  }
  // How many of the tasks are a volley.
  size_t Choose(const std::vector<Task>& tasks) {
    FixedFeed feed(TaskRun(tasks.data(), 0, 0, tasks.size()));
    const size_t count = backend_.RunVolley(feed);
    EXPECT_EQ(count, feed.completed);
    return count;
  }
  // As many copies as it takes that touch nothing else here, behind `tasks`.
  size_t ChooseAmongOthers(std::vector<Task> tasks) {
    for (size_t i = 0; i < 128; ++i) tasks.push_back(CopyTask(device_ + 40 * kMiB + i * kBlock, pinned_ + i * kBlock, kBlock));
    return Choose(tasks);
  }
  static constexpr size_t kAll = 130;  // two tasks and the others

  WorkSharer sharer_;
  cpu::CpuBackend backend_{sharer_, false};
  char* device_ = nullptr;
  char* pinned_ = nullptr;
};

TEST_F(VolleyTest, TasksThatDoNotTouch) {
  char* const at = device_;
  EXPECT_EQ(ChooseAmongOthers({CopyTask(at, pinned_, kBlock), CopyTask(at + kBlock, pinned_, kBlock)}), kAll) << "neighbours";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(at + kBlock, pinned_, kBlock), CopyTask(at, pinned_, kBlock)}), kAll) << "the other way round";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(at, at + kMiB, kBlock), CopyTask(at + kBlock, at + kMiB + 1, kBlock)}), kAll) << "one source";
  EXPECT_EQ(ChooseAmongOthers({SetTask(at, kBlock, 1), CopyTask(at + kBlock, at + kMiB, kBlock)}), kAll) << "a set";
}

TEST_F(VolleyTest, TasksThatNeedEachOther) {
  char *const a = device_, *const b = device_ + kMiB, *const c = device_ + 2 * kMiB;
  const Task copy = CopyTask(b, a, kBlock);
  EXPECT_EQ(ChooseAmongOthers({copy, CopyTask(c, b + kBlock - 1, kBlock)}), 0u) << "reads the last byte that was written";
  EXPECT_EQ(ChooseAmongOthers({copy, CopyTask(c, b - kBlock + 1, kBlock)}), 0u) << "reads the first";
  EXPECT_EQ(ChooseAmongOthers({copy, CopyTask(a + kBlock - 1, c, kBlock)}), 0u) << "writes the last byte that is read";
  EXPECT_EQ(ChooseAmongOthers({copy, CopyTask(a - kBlock + 1 + kBlock, c, kBlock)}), 0u) << "writes into what is read";
  EXPECT_EQ(ChooseAmongOthers({copy, CopyTask(b + kBlock - 1, c, kBlock)}), 0u) << "writes the same byte";
  EXPECT_EQ(ChooseAmongOthers({copy, SetTask(b - kBlock + 1, kBlock, 1)}), 0u) << "sets the same byte";
  EXPECT_EQ(ChooseAmongOthers({copy, copy}), 0u) << "twice the same";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(a, a + 100, kBlock), copy}), 0u) << "overlaps itself";
}

TEST_F(VolleyTest, AVolleyEndsInFrontOfWhatNeedsIt) {
  std::vector<Task> tasks;
  for (size_t i = 0; i < 100; ++i) tasks.push_back(CopyTask(device_ + i * kBlock, pinned_ + i * kBlock, kBlock));
  tasks.push_back(CopyTask(device_ + 8 * kMiB, device_ + 50 * kBlock, kBlock));
  EXPECT_EQ(Choose(tasks), 100u);
}

TEST_F(VolleyTest, WhatKeepsItsPlace) {
  std::vector<char> heap(kBlock);
  Task staged = CopyTask(device_, pinned_, kBlock);
  staged.flags = Task::kOwnsPayload;
  CountingMarker marker;
  const Task last = CopyTask(device_ + kMiB, pinned_, kBlock);
  EXPECT_EQ(ChooseAmongOthers({CopyTask(device_, pinned_, kBlock - 1), last}), 0u) << "small";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(pinned_, device_, kBlock), last}), 0u) << "to the host";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(heap.data(), device_, kBlock), last}), 0u) << "to memory of the program";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(device_, heap.data(), kBlock), last}), 0u) << "may fault";
  EXPECT_EQ(ChooseAmongOthers({staged, last}), 0u);
  EXPECT_EQ(ChooseAmongOthers({MarkTask(&marker), last}), 0u);
  EXPECT_EQ(ChooseAmongOthers({FailTask(507013), last}), 0u);
  EXPECT_EQ(ChooseAmongOthers({CopyTask(device_, pinned_, kBlock), last}), kAll);
}

TEST_F(VolleyTest, MemoryThatOthersSee) {
  char* const seen = device_ + 4 * kMiB;
  const Task last = CopyTask(device_, pinned_, kBlock);
  const auto writes = [&] { return ChooseAmongOthers({CopyTask(seen, pinned_, kBlock), last}) == kAll; };
  const auto reads = [&] { return ChooseAmongOthers({CopyTask(device_ + kMiB, seen, kBlock), last}) == kAll; };
  ASSERT_TRUE(backend_.Commit(seen, 2 * kMiB, false));
  EXPECT_TRUE(writes() && reads());

  ASSERT_NE(backend_.HostView(seen + kMiB, 1), nullptr);
  EXPECT_FALSE(writes() || reads()) << "by the program";
  backend_.Decommit(seen, 2 * kMiB);
  EXPECT_TRUE(writes() && reads()) << "another block";

  ASSERT_NE(backend_.SharePages(seen, 2 * kMiB), nullptr);
  EXPECT_FALSE(writes() || reads()) << "by another process";
  backend_.Decommit(seen, 2 * kMiB);

  const auto pages = backend_.CreatePages(2 * kMiB, {});
  ASSERT_TRUE(backend_.MapPages(*pages, {seen, 2 * kMiB, 0, false}));
  EXPECT_FALSE(writes() || reads()) << "by another address";
}

// The same tasks again and again: what is found out about them, and what becomes of it.
TEST_F(VolleyTest, WhatIsKnownOfTasksThatComeAgain) {
  struct Again : FixedFeed {
    using FixedFeed::FixedFeed;
    size_t KnownApart() const override { return known; }
    void FoundApart(size_t count) override { found = count; }
    size_t known = kAsk;
    size_t found = 0;
  };
  std::vector<Task> tasks;
  for (size_t i = 0; i < 600; ++i) tasks.push_back(CopyTask(device_ + i * kBlock, pinned_ + i * kBlock, kBlock));
  tasks.push_back(CopyTask(device_ + 8 * kMiB, device_, kBlock));  // needs the first, which is complete long before
  Again asks(TaskRun(tasks.data(), 0, 0, tasks.size())), knows(asks.run()), knows_few(asks.run());
  EXPECT_EQ(backend_.RunVolley(asks), 600u);
  EXPECT_EQ(asks.found, 600u);

  knows.known = asks.found;
  knows_few.known = 200;
  EXPECT_EQ(backend_.RunVolley(knows), 600u);
  EXPECT_EQ(backend_.RunVolley(knows_few), 200u) << "of what comes behind them nothing is known";
  EXPECT_EQ(knows.found + knows_few.found, 0u) << "nobody asked";

  ASSERT_NE(backend_.HostView(device_ + 512 * kBlock, 1), nullptr);  // the chunk that begins there
  Again looks(asks.run());
  looks.known = asks.found;
  EXPECT_EQ(backend_.RunVolley(looks), 512u);
}

// Whatever is chosen, all ways are tried, by whole volleys only.
TEST_F(VolleyTest, TasksThatComeAgainTryBothWaysOfCopying) {
  struct Again : FixedFeed {
    Again(const TaskRun& run, FasterWay* kept) : FixedFeed(run), ways(kept) {}
    size_t KnownApart() const override { return run().count(); }
    FasterWay* Ways() override { return ways; }
    FasterWay* ways;
  };
  std::vector<Task> tasks;
  for (size_t i = 0; i < 200; ++i) tasks.push_back(CopyTask(device_ + i * kBlock, pinned_ + i * kBlock, kBlock));
  FasterWay ways;
  int through = 0;
  TaskFailure failure;
  std::vector<char> got(tasks.size() * kBlock);
  for (int round = 0; round < 16; ++round) {
    std::memset(pinned_, round + 1, got.size());
    through += ways.Choose() == VolleyFeed::kThroughCache ? 1 : 0;
    Again feed(TaskRun(tasks.data(), 0, 0, tasks.size()), &ways);
    ASSERT_EQ(backend_.RunVolley(feed), tasks.size());
    ASSERT_EQ(backend_.Start(CopyTask(got.data(), device_, got.size()), {}, nullptr, &failure), 0);
    ASSERT_EQ(std::count(got.begin(), got.end(), static_cast<char>(round + 1)), static_cast<ptrdiff_t>(got.size()));
  }
  EXPECT_EQ(through, 8);

  ASSERT_NE(backend_.HostView(device_ + 150 * kBlock, 1), nullptr);  // somebody looks at the chunk: no volley any more
  Again none(TaskRun(tasks.data(), 0, 0, tasks.size()), &ways);
  const FasterWay::Way before = ways.Choose();
  EXPECT_EQ(backend_.RunVolley(none), 0u);
  EXPECT_EQ(ways.Choose(), before);
}

TEST(TasksApartTest, IsKnownOfTheTasksAsTheyWereLookedAt) {
  TasksApart apart;
  apart.Learn(1, 10, 600, 7);
  apart.Learn(1, 700, 0, 7);
  EXPECT_EQ(apart.From(1, 10, 7), 600u);
  EXPECT_EQ(apart.From(1, 700, 7), 0u);
  EXPECT_EQ(apart.From(0, 10, 7), std::nullopt) << "another branch";
  EXPECT_EQ(apart.From(1, 11, 7), std::nullopt) << "another task";
  EXPECT_EQ(apart.From(1, 10, 8), std::nullopt) << "something was freed";
  apart.Learn(0, 3, 5, 8);
  EXPECT_EQ(apart.From(1, 10, 8), std::nullopt) << "what was there before";
  EXPECT_EQ(apart.From(0, 3, 8), 5u);
  FasterWay* const ways = apart.Ways(0, 3);
  apart.Learn(0, 3, 6, 9);
  EXPECT_EQ(apart.Ways(0, 3), ways) << "where memory is looked at anew, too";
  for (int i = 0; i < 16; ++i) ways->Took(ways->Choose(), ways->Choose() == FasterWay::kOne ? 5 : 10);
  apart.Forget();
  EXPECT_EQ(apart.From(0, 3, 9), std::nullopt);
  EXPECT_EQ(apart.Ways(0, 3)->Choose(), FasterWay::kOther) << "begins with the other way again";
}

// --- Copies that are told by device memory where to -------------------------------------------------------------------------

class VolleyLateTest : public VolleyTest, private AddressJudge {
 protected:
  static constexpr size_t kDescriptor = 32;

  void SetUp() override {
    VolleyTest::SetUp();
    backend_.SetJudge(this);
    descriptors_ = device_ + 60 * kMiB;
  }
  void Run(const Task& task) {
    TaskFailure failure;
    ASSERT_EQ(backend_.Start(task, {}, nullptr, &failure), 0);
  }
  // A launch of descriptor `place`, which says this by now.
  Task Described(size_t place, const void* dst, const void* src, size_t size) {
    WriteDescriptor(pinned_, kDescriptor, {const_cast<void*>(dst), src, size});
    Task task{};
    task.kind = TaskKind::kCopyByDesc;
    task.by_desc = {descriptors_ + place * kDescriptor, kDescriptor};
    Run(CopyTask(descriptors_ + place * kDescriptor, pinned_, kDescriptor));
    return task;
  }
  Task ThroughCells(const void* dst, const void* src) {
    const void* const addresses[] = {dst, src};
    std::memcpy(pinned_, addresses, sizeof(addresses));
    char* const cells = descriptors_ + kMiB;
    Run(CopyTask(cells, pinned_, sizeof(addresses)));
    Task task{};
    task.kind = TaskKind::kCopyByCells;
    task.by_cells.dst_cell = cells;
    task.by_cells.src_cell = cells + sizeof(void*);
    task.by_cells.size = kBlock;
    return task;
  }

  char* descriptors_ = nullptr;

 private:
  Verdict Judge(const void* address, size_t size, uint64_t) const override {
    const auto* const at = static_cast<const char*>(address);
    return {at >= device_ && at + size <= device_ + kDevice, 0};
  }
};

TEST_F(VolleyLateTest, TheyRunBesideOthers) {
  EXPECT_EQ(ChooseAmongOthers({Described(0, device_, device_ + kMiB, kBlock), Described(1, device_ + kBlock, device_ + kMiB, kBlock)}),
            kAll);
  EXPECT_EQ(ChooseAmongOthers({CopyTask(device_, pinned_, kBlock), ThroughCells(device_ + kBlock, device_ + kMiB)}), kAll);
  EXPECT_EQ(ChooseAmongOthers({ThroughCells(device_ + kBlock, device_ + kMiB), CopyTask(device_, pinned_, kBlock)}), kAll);
}

TEST_F(VolleyLateTest, WhatIsNotSettledYetIsNotRead) {
  const Task launch = Described(0, device_ + kMiB, device_ + 2 * kMiB, kBlock), cells = ThroughCells(device_ + kMiB, device_ + 2 * kMiB);
  EXPECT_EQ(ChooseAmongOthers({CopyTask(descriptors_, pinned_, kBlock), launch}), 0u) << "its descriptor is written in front of it";
  EXPECT_EQ(ChooseAmongOthers({SetTask(descriptors_ + kMiB + sizeof(void*) - kBlock, kBlock, 0), cells}), 0u) << "so is a cell";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(descriptors_ + kMiB + kBlock, pinned_, kBlock), launch}), kAll) << "another page is";
  EXPECT_EQ(ChooseAmongOthers({CopyTask(device_ + kMiB, pinned_, kBlock), launch}), 0u) << "what it names is written";
  EXPECT_EQ(ChooseAmongOthers({launch, CopyTask(device_ + 2 * kMiB, pinned_, kBlock)}), 0u) << "what it reads is written behind it";
}

TEST_F(VolleyLateTest, WhatKeepsItsPlace) {
  const Task last = CopyTask(device_ + 4 * kMiB, pinned_, kBlock);
  EXPECT_EQ(ChooseAmongOthers({Described(0, device_, device_ + kMiB, kBlock - 1), last}), 0u) << "small";
  EXPECT_EQ(ChooseAmongOthers({Described(1, device_ + kDevice, device_ + kMiB, kBlock), last}), 0u) << "fails";
  ASSERT_NE(backend_.HostView(descriptors_ + 2 * kMiB, 1), nullptr);
  Task seen = Described(2, device_, device_ + kMiB, kBlock);
  Run(CopyTask(descriptors_ + 2 * kMiB, seen.by_desc.descriptor, kDescriptor));
  seen.by_desc.descriptor = descriptors_ + 2 * kMiB;
  EXPECT_EQ(ChooseAmongOthers({seen, last}), 0u) << "the program may write its descriptor";
}

// A graph's descriptors may say something else the next time.
TEST_F(VolleyLateTest, NothingIsKnownOfThoseThatComeAgain) {
  struct Again : FixedFeed {
    using FixedFeed::FixedFeed;
    size_t KnownApart() const override { return kAsk; }
  };
  std::vector<Task> tasks;
  for (size_t i = 0; i < 128; ++i) tasks.push_back(CopyTask(device_ + i * kBlock, pinned_ + i * kBlock, kBlock));
  tasks.push_back(Described(0, device_ + kMiB, device_ + 2 * kMiB, kBlock));
  Again feed(TaskRun(tasks.data(), 0, 0, tasks.size()));
  EXPECT_EQ(backend_.RunVolley(feed), 128u);
}

TEST_F(VolleyLateTest, EveryByteIsMoved) {
  constexpr size_t kTasks = 300, kStep = 3 * kBlock;
  char* const source = device_ + 30 * kMiB;
  std::vector<Task> tasks;
  std::vector<char> expected(kTasks * kStep, 0);
  Run(SetTask(device_, expected.size(), 0));
  for (size_t i = 0; i < kTasks; ++i) {
    const size_t size = kBlock + i % 5 * 1004;
    Run(SetTask(source + i * kStep, kStep, static_cast<char>(i)));
    std::memset(&expected[i * kStep], static_cast<char>(i), size);
    tasks.push_back(i % 3 == 0 ? CopyTask(device_ + i * kStep, source + i * kStep, size)
                               : Described(i, device_ + i * kStep, source + i * kStep, size));
  }
  EXPECT_EQ(Choose(tasks), kTasks);
  std::vector<char> got(expected.size());
  Run(CopyTask(got.data(), device_, got.size()));
  EXPECT_TRUE(got == expected);
}

TEST_F(VolleyTest, ALongRangeIsLookedAtToItsEnd) {
  ASSERT_NE(backend_.HostView(device_ + 7 * kMiB, 1), nullptr);
  const Task last = CopyTask(device_ + 20 * kMiB, pinned_, kBlock);
  EXPECT_EQ(ChooseAmongOthers({SetTask(device_ + kMiB, 5 * kMiB + 1, 1), last}), 0u);
  EXPECT_EQ(ChooseAmongOthers({SetTask(device_ + kMiB, 5 * kMiB, 1), last}), kAll);
}

TEST(VolleyHostAccessTest, WithHostAccessThereIsNone) {
  WorkSharer sharer;
  cpu::CpuBackend backend(sharer, true);
  char* const device = static_cast<char*>(backend.ReserveDevices(kDevice, kDevice, 0));
  char* const pinned = static_cast<char*>(backend.ReserveHost(kMiB));
  std::vector<Task> tasks;
  for (size_t i = 0; i < 128; ++i) tasks.push_back(CopyTask(device + i * kBlock, pinned + i * kBlock, kBlock));
  FixedFeed feed(TaskRun(tasks.data(), 0, 0, tasks.size()));
  EXPECT_EQ(backend.RunVolley(feed), 0u);
}

// Neighbours, gaps, odd sizes, large ones that are cut, sets of both sorts, and a ring that goes round.
TEST_F(VolleyTest, EveryByteIsMoved) {
  constexpr size_t kRing = 64, kFirst = 40;
  std::vector<Task> ring(kRing);
  std::vector<char> expected(6 * kMiB, 7);
  TaskFailure failure;
  ASSERT_EQ(backend_.Start(SetTask(device_, expected.size(), 7), {}, nullptr, &failure), 0);
  std::mt19937_64 random(7);
  for (size_t i = 0; i < 6 * kMiB; i += sizeof(uint64_t)) *reinterpret_cast<uint64_t*>(pinned_ + i) = random();
  size_t at = 0, count = 0;
  for (; count < 48; ++count) {
    const size_t size = count == 20 ? kMiB + 12 : kBlock + (count % 5) * 1004;
    Task& task = ring[(kFirst + count) % kRing];
    if (count % 7 == 3) {
      task = SetTask(device_ + at, size, 0x55);
      std::memset(&expected[at], 0x55, size);
    } else if (count % 7 == 5) {
      task = SetTask(device_ + at, 77777, 0x04030201);
      task.kind = TaskKind::kSetWords;
      const uint32_t word = 0x04030201;
      for (size_t k = 0; k < 77777 * 4; k += 4) std::memcpy(&expected[at + k], &word, 4);
      at += 77777 * 4 - size;
    } else {
      task = CopyTask(device_ + at, pinned_ + at, size);
      std::memcpy(&expected[at], pinned_ + at, size);
    }
    at += size + (count % 3 == 0 ? 100 : 0);
  }
  FixedFeed feed(TaskRun(ring.data(), kRing, kFirst, count));
  std::atomic<bool> never{false}, over{false};
  std::thread guest([&] {
    while (!over) sharer_.board().Join(never);
  });
  EXPECT_EQ(backend_.RunVolley(feed), count);
  over = true;
  guest.join();
  std::vector<char> got(expected.size());
  ASSERT_EQ(backend_.Start(CopyTask(got.data(), device_, got.size()), {}, nullptr, &failure), 0);
  EXPECT_TRUE(got == expected);
}

// A loop that goes on while its first copies are complete already, round and round in the ring, each of them into memory that another one
// of the same volley wrote before. The claims must go with the portions, and not before them.
TEST_F(VolleyTest, AVolleyGoesOnAsLongAsTasksCome) {
  constexpr size_t kRing = 256, kTasks = 20000, kBlocks = 1024;
  std::vector<Task> ring(kRing);
  struct Loop : VolleyFeed {
    Loop(std::vector<Task>& slots, char* to, char* from)
        : VolleyFeed({slots.data(), kRing, 0, kRing}), ring(slots), device(to), pinned(from) {
      Fill();
    }
    // Block i of the device gets what its last task has.
    void Fill() {
      for (; filled < kTasks && filled - completed < kRing; ++filled) {
        const size_t size = filled % 37 == 5 ? 3 * kBlock : kBlock;
        ring[filled % kRing] = CopyTask(device + Block(filled) * 3 * kBlock, pinned + filled * 64, size);
      }
    }
    static size_t Block(size_t task) { return task * 7919 % kBlocks; }
    size_t Count() override { return filled; }
    void Completed(size_t count) override {
      completed = count;
      Fill();
    }
    std::vector<Task>& ring;
    char *device, *pinned;
    size_t filled = 0, completed = 0;
  };
  std::mt19937_64 random(11);
  for (size_t i = 0; i < 2 * kMiB; i += sizeof(uint64_t)) *reinterpret_cast<uint64_t*>(pinned_ + i) = random();
  Loop loop(ring, device_, pinned_);
  std::atomic<bool> never{false}, over{false};
  std::vector<std::thread> guests;
  for (int i = 0; i < 3; ++i) {
    guests.emplace_back([&] {
      while (!over) sharer_.board().Join(never);
    });
  }
  EXPECT_EQ(backend_.RunVolley(loop), kTasks);
  over = true;
  for (std::thread& guest : guests) guest.join();

  std::vector<char> expected(kBlocks * 3 * kBlock), got(expected.size());
  for (size_t i = 0; i < kTasks; ++i)
    std::memcpy(&expected[Loop::Block(i) * 3 * kBlock], pinned_ + i * 64, i % 37 == 5 ? 3 * kBlock : kBlock);
  TaskFailure failure;
  ASSERT_EQ(backend_.Start(CopyTask(got.data(), device_, got.size()), {}, nullptr, &failure), 0);
  EXPECT_TRUE(got == expected);
}

// A loop that begins with few copies and gets long while the volley runs: a lane that slept in the beginning is called then, once.
TEST_F(VolleyTest, HelpIsCalledWhenThereIsEnoughToDo) {
  constexpr size_t kFew = 100, kMany = 4000;
  std::vector<Task> tasks;
  for (size_t i = 0; i < kMany; ++i) tasks.push_back(CopyTask(device_ + i * kBlock, pinned_ + i % 1024 * kBlock, kBlock));
  struct Loop : FixedFeed {
    using FixedFeed::FixedFeed;
    size_t Count() override { return there; }
    void Completed(size_t count) override {
      FixedFeed::Completed(count);
      if (goes_on) there = run().count();
    }
    size_t there = kFew;
    bool goes_on = true;
  };
  std::vector<size_t> called;
  sharer_.set_call_for_help_from(2 * kMiB);
  sharer_.set_call_for_help([](void* list, size_t hands) { static_cast<std::vector<size_t>*>(list)->push_back(hands); }, &called);
  Loop brief(TaskRun(tasks.data(), 0, 0, tasks.size()));
  brief.goes_on = false;
  EXPECT_EQ(backend_.RunVolley(brief), kFew);
  EXPECT_TRUE(called.empty()) << "it costs more than it brings";
  Loop loop(TaskRun(tasks.data(), 0, 0, tasks.size()));
  EXPECT_EQ(backend_.RunVolley(loop), kMany);
  ASSERT_EQ(called.size(), 1u);
  EXPECT_GE(called[0], 4u);
  FixedFeed whole(TaskRun(tasks.data(), 0, 0, tasks.size()));
  EXPECT_EQ(backend_.RunVolley(whole), kMany);
  EXPECT_EQ(called.size(), 2u) << "and where they are all there, at once";
  const std::vector<Task> few_large = {CopyTask(device_, pinned_, 4 * kMiB), CopyTask(device_ + 8 * kMiB, pinned_, 4 * kMiB)};
  EXPECT_EQ(Choose(few_large), 2u);
  EXPECT_EQ(called.size(), 3u) << "also where they have been claimed before it begins";
}

// --- Who looks ----------------------------------------------------------------------------------------------------------

struct WaitingVisitor final : sched::ValueWaiter {
  void Opened() override { opened = true; }
  std::atomic<bool> opened{false};
};

TEST_F(VolleyTest, AWaitForAValueLooksWhenNoneIsOpen) {
  Volleys volleys;
  sched::ValueWatch watch(backend_, volleys);
  uint64_t word = 5;
  WaitingVisitor visitor;
  {
    const Volleys::Opened open(volleys);
    ASSERT_TRUE(open.allowed());
    EXPECT_FALSE(watch.PassOrPark(&visitor, &word, 5, ValueTest::kEqual)) << "the value may be there too early";
    watch.MemoryChanged();
    EXPECT_FALSE(visitor.opened);
  }
  watch.MemoryChanged();
  EXPECT_TRUE(visitor.opened);
  EXPECT_TRUE(watch.PassOrPark(&visitor, &word, 5, ValueTest::kEqual));
  watch.Stop();
}

TEST(VolleysTest, WhoForbidsThemWaitsForThoseThatAreOpen) {
  Volleys volleys;
  std::atomic<bool> forbidden{false};
  std::thread forbids;
  {
    const Volleys::Opened open(volleys);
    ASSERT_TRUE(open.allowed());
    forbids = std::thread([&] {
      const Volleys::Forbid settled(volleys);
      forbidden = true;
    });
    for (;;) {  // until the other has said so
      const Volleys::Opened second(volleys);
      if (!second.allowed()) break;
      sched_yield();
    }
    EXPECT_FALSE(forbidden);
  }
  forbids.join();
  EXPECT_TRUE(forbidden);
  EXPECT_TRUE(Volleys::Opened(volleys).allowed());
}

// Two words in two blocks, written in order: whoever is let go by the second finds the first.
TEST(VolleysTest, AWaiterNeverSeesTheSecondValueWithoutTheFirst) {
  Workshop shop({"Fast2", ScheduleKind::kFast, 2, 0});
  EngineMemory& memory = shop.engine().memory();
  char* const device = static_cast<char*>(memory.ReserveDevices(kDevice, kDevice, 0));
  auto* const words = static_cast<uint64_t*>(memory.ReserveHost(8 * kMiB));
  constexpr size_t kBlocks = 128, kRounds = 60;
  constexpr size_t kWords = kBlock / sizeof(uint64_t);
  auto* const found = words + kBlocks * kWords;
  Line &writer = shop.NewLine(), &waiter = shop.NewLine();
  TaskFailure failure;
  ASSERT_EQ(shop.engine().RunNow(SetTask(device, kBlocks * kBlock, 0), &failure), 0);
  for (uint64_t round = 1; round <= kRounds; ++round) {
    std::fill_n(words, kBlocks * kWords, round);
    Task wait{};
    wait.kind = TaskKind::kAwaitValue;
    wait.call = "wait";
    wait.await_value = {device + (kBlocks - 1) * kBlock, round, ValueTest::kAtLeast};
    const bool waits_first = round % 2 == 0;
    if (waits_first) waiter.Submit(wait);
    for (size_t i = 0; i < kBlocks; ++i) writer.Submit(CopyTask(device + i * kBlock, words + i * kWords, kBlock));
    if (!waits_first) waiter.Submit(wait);
    waiter.Submit(CopyTask(found, device, (kBlocks - 1) * kBlock));
    ASSERT_EQ(waiter.Drain(), WaitOutcome::kDone);
    ASSERT_EQ(std::memcmp(found, words, (kBlocks - 1) * kBlock), 0) << "round " << round;
    ASSERT_EQ(writer.Drain(), WaitOutcome::kDone);
  }
}

}  // namespace volley_test
}  // namespace ropeway_unit
