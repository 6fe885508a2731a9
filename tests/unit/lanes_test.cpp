// The lanes as a crew: who comes for a queue, whichever lane has it in its list. Nobody waits in these tests where a lane has to come: a
// waiter would help.
#include <random>

#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace lanes_test {

constexpr CrewCase Lanes(int count) { return {"Lanes", ScheduleKind::kFast, count, 0}; }

void AwaitWithoutHelp(Line& line) {
  while (line->completed() < line->submitted()) sched_yield();
}

// Keeps the lane that reaches it until the test lets it go. Made before the workshop, whose end awaits that lane.
class Holdup final : public Marker {
 public:
  void Reached() override {
    reached_.Release();
    may_go_.Await();
  }
  void Dropped() override {}
  void AwaitReached() { reached_.Await(); }
  void LetGo() { may_go_.Release(); }

 private:
  Latch reached_, may_go_;
};

TEST(LanesTest, OneFreeLaneIsEnoughForEveryQueue) {
  constexpr int kLanes = 8;
  std::deque<Holdup> holdups(kLanes - 1);
  Workshop shop(Lanes(kLanes));
  for (Holdup& holdup : holdups) {
    shop.NewLine().Submit(MarkTask(&holdup));
    holdup.AwaitReached();
  }
  Markers markers;
  for (int round = 0; round < 50; ++round) {
    std::vector<Line*> lines;
    for (int i = 0; i < 20; ++i) {
      lines.push_back(&shop.NewLine(nullptr, i % 8));
      lines.back()->Submit(MarkTask(markers.New()));
    }
    for (Line* line : lines) AwaitWithoutHelp(*line);
  }
  EXPECT_EQ(markers.reached(), 50 * 20);
  for (Holdup& holdup : holdups) holdup.LetGo();
}

// Opens a gate on the lane that runs it, and keeps that lane until what was behind the gate is done.
class OpenAndAwait : public Marker {
 public:
  OpenAndAwait(Gate& gate, Line& other) : gate_(gate), other_(other) {}
  void Reached() override {
    gate_.Open();
    AwaitWithoutHelp(other_);
  }
  void Dropped() override {}

 private:
  Gate& gate_;
  Line& other_;
};

TEST(LanesTest, WhatABusyLaneMakesReadyIsTakenByAnother) {
  for (int lanes : {2, 8}) {
    Workshop shop(Lanes(lanes));
    Line& maker = shop.NewLine();
    Line& other = shop.NewLine();
    Markers markers;
    for (int round = 0; round < 200; ++round) {
      Gate& gate = KeptGates(1).front();
      other.Submit(AwaitTask(&gate, markers.New()));
      other.Submit(MarkTask(markers.New()));
      OpenAndAwait opener(gate, other);
      maker.Submit(MarkTask(&opener));
      AwaitWithoutHelp(maker);
    }
    EXPECT_TRUE(markers.EachOnce());
  }
}

TEST(LanesTest, AQueueGoesToLanesOfItsOwnEngine) {
  Workshop here(Lanes(2)), there(Lanes(2));
  Line& opener = here.NewLine();
  Line& other = there.NewLine();
  Markers markers;
  for (int round = 0; round < 100; ++round) {
    Gate& gate = KeptGates(1).front();
    other.Submit(AwaitTask(&gate, markers.New()));
    OpenAndAwait open(gate, other);
    opener.Submit(MarkTask(&open));
    AwaitWithoutHelp(opener);
  }
  EXPECT_TRUE(markers.EachOnce());
}

TEST(LanesTest, OneLaneTakesQueuesByPriorityAndInTheirOrder) {
  Holdup holdup;
  Workshop shop(Lanes(1));
  shop.NewLine().Submit(MarkTask(&holdup));
  holdup.AwaitReached();
  Log log;
  Markers markers;
  std::vector<Line*> lines;
  for (int priority : {5, 1, 5, 0, 1}) {
    lines.push_back(&shop.NewLine(nullptr, priority));
    lines.back()->Submit(MarkTask(markers.New(&log, static_cast<int>(lines.size()))));
  }
  holdup.LetGo();
  for (Line* line : lines) AwaitWithoutHelp(*line);
  EXPECT_EQ(log.values(), (std::vector<int>{4, 2, 5, 1, 3}));
}

// Copy, wait, copy, wait stays on one core; what other queues get is the lanes'.
TEST(LanesTest, TheQueueThatWasWaitedForLastIsAtHand) {
  Holdup holdup;
  Workshop shop(Lanes(1));
  shop.NewLine().Submit(MarkTask(&holdup));
  holdup.AwaitReached();  // no lane runs anything
  Line& last = shop.NewLine();
  Line& before = shop.NewLine();
  uint64_t from = 1, to = 0;
  for (Line* line : {&before, &last}) {
    line->Submit(CopyTask(&to, &from, sizeof(from)));
    EXPECT_LT((*line)->completed(), (*line)->submitted());
    EXPECT_EQ(line->Drain(), WaitOutcome::kDone);
  }
  last.Submit(CopyTask(&to, &from, sizeof(from)));
  EXPECT_EQ(last->completed(), last->submitted()) << "carried by who submits";
  EXPECT_EQ(last.Drain(), WaitOutcome::kDone);
  before.Submit(CopyTask(&to, &from, sizeof(from)));
  EXPECT_LT(before->completed(), before->submitted()) << "was waited for, but not last";
  last.Submit(CopyTask(&to, &from, sizeof(from)));
  EXPECT_LT(last->completed(), last->submitted()) << "another came in between";
  for (Line* line : {&before, &last}) EXPECT_EQ(line->Drain(), WaitOutcome::kDone);
  holdup.LetGo();
}

// Its bytes move the sooner, and it has nothing to bring before there is room.
TEST(LanesTest, ASubmitterWithoutRoomJoinsSharedWork) {
  WorkSharer* sharer = nullptr;
  const auto engine = sched::CreateLaneEngine(SmallConfig(Lanes(1)), [&](WorkSharer& its) {
    sharer = &its;
    return std::make_unique<cpu::CpuBackend>(its, false);
  });
  Holdup holdup;
  Line busy(*engine), full(*engine);
  busy.Submit(MarkTask(&holdup));
  holdup.AwaitReached();  // no lane is left to join
  Gate& gate = KeptGates(1).front();
  Markers markers;
  full.Submit(AwaitTask(&gate, markers.New()));
  while (full.TrySubmit(MarkTask(markers.New()))) {
  }
  // Two portions, of which the one that the submitter has to take makes room.
  struct Portions {
    Gate& gate;
    std::thread::id bringer;
    Latch taken;
  } portions{gate, {}, {}};
  std::thread bringer([&] {
    portions.bringer = std::this_thread::get_id();
    const auto body = [](void* context, size_t, size_t) {
      auto* all = static_cast<Portions*>(context);
      if (std::this_thread::get_id() == all->bringer) return all->taken.Await();
      all->gate.Open();
      all->taken.Release();
    };
    sched::RangeWork work(2, 1, body, &portions);
    sharer->board().Run(work, sharer->stop());
  });
  while (!sharer->board().WantsGuests()) sched_yield();
  full->AwaitRoom();
  EXPECT_TRUE(full.TrySubmit(MarkTask(markers.New())));
  bringer.join();
  full.Drain();
  holdup.LetGo();
  engine->Stop();
}

// Streams with a task or two each, in turn: most submits find their queue idle, and its ring starts anew.
TEST(LanesTest, ManyQueuesInTurnKeepTheirBytes) {
  for (int lanes : {1, 3, 8}) {
    constexpr size_t kLines = 200;
    Workshop shop(Lanes(lanes));
    std::vector<Line*> lines;
    for (size_t i = 0; i < kLines; ++i) lines.push_back(&shop.NewLine());
    std::vector<uint64_t> from(kLines), to(kLines), last(kLines);
    for (uint64_t round = 1; round <= 50; ++round) {
      for (size_t i = 0; i < kLines; ++i) {
        from[i] = round * kLines + i;
        lines[i]->Submit(CopyTask(&to[i], &from[i], sizeof(uint64_t)));
        lines[i]->Submit(CopyTask(&last[i], &to[i], sizeof(uint64_t)));
      }
      for (Line* line : lines) AwaitWithoutHelp(*line);
      ASSERT_EQ(last, from);
    }
  }
}

// Threads that share queues of all priorities: submit, wait, hold up, let go and abort. Some queues become ready on lanes, some on the
// threads; links stay behind where a waiter was faster than a lane.
TEST(LanesTest, AStormOfQueuesLosesNothing) {
  constexpr int kThreads = 6;
  constexpr size_t kLines = 48;
  for (int lanes : {1, 2, 8}) {
    Workshop shop(Lanes(lanes));
    std::vector<Line*> lines;
    for (size_t i = 0; i < kLines; ++i) lines.push_back(&shop.NewLine(nullptr, static_cast<int>(i % 8)));
    std::deque<Markers> markers(kThreads);
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
      std::deque<Gate>& gates = KeptGates(1500);
      threads.emplace_back([&, number] {
        std::mt19937 random(static_cast<uint32_t>(number * 8 + lanes));
        Markers& mine = markers[static_cast<size_t>(number)];
        for (Gate& gate : gates) {
          Line& line = *lines[random() % kLines];
          Line& held = *lines[random() % kLines];
          for (uint32_t i = random() % 4; i > 0; --i) line.Submit(MarkTask(mine.New()));
          held.Submit(AwaitTask(&gate, mine.New()));
          switch (random() % 8) {
            case 0: line->SetPriority(static_cast<int>(random() % 8)); break;
            case 1: held->Abort(); break;
            default: break;
          }
          gate.Open();
          if (random() % 2 == 0) held.Drain();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Line* line : lines) AwaitWithoutHelp(*line);
    for (const Markers& each : markers) EXPECT_TRUE(each.EachOnce()) << "with " << lanes << " lanes";
  }
}

}  // namespace lanes_test
}  // namespace ropeway_unit
