// LaneQueue through the Queue interface, under every crew: order, depth, waits, gates, host calls; queue_end_test.cpp has abort and halt.
// One test body must hold whatever the schedule; what a schedule adds is in stepper_test.cpp.
#include <algorithm>
#include <numeric>

#include "engine/watcher.h"
#include "stream/host_thread.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace queue_test {

constexpr uint64_t kDepth = 2013;  // rules/streams.md 2
constexpr int kTaskTimedOut = 107020;

class QueueTest : public testing::TestWithParam<CrewCase> {
 protected:
  // Declared in front of the workshop: its threads may still look at them.
  Log log_;
  Markers markers_;
  ManualSink sink_;
  Gate gate_;
  Gate other_gate_;
  Workshop shop_{GetParam()};
};

std::vector<int> UpTo(int count) {
  std::vector<int> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_P(QueueTest, SequenceNumbersStartAtOneAndGrowByOne) {
  Line& line = shop_.NewLine();
  EXPECT_EQ(line->submitted(), 0u);
  EXPECT_EQ(line->completed(), 0u);
  EXPECT_EQ(line.Submit(MarkTask(markers_.New())), 1u);
  EXPECT_EQ(line.Submit(MarkTask(markers_.New())), 2u);
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line->completed(), 2u);
}

TEST_P(QueueTest, TasksOfAQueueRunInOrder) {
  constexpr int kQueues = 3, kTasks = 500;
  std::deque<Log> logs(kQueues);
  std::vector<Line*> lines;
  for (int i = 0; i < kQueues; ++i) lines.push_back(&shop_.NewLine(nullptr, i * 3));
  for (int task = 0; task < kTasks; ++task) {
    for (int i = 0; i < kQueues; ++i) lines[static_cast<size_t>(i)]->Submit(MarkTask(markers_.New(&logs[static_cast<size_t>(i)], task)));
  }
  for (Line* line : lines) ASSERT_EQ(line->Drain(), WaitOutcome::kDone);
  for (Log& log : logs) EXPECT_EQ(log.values(), UpTo(kTasks));
  EXPECT_TRUE(markers_.EachOnce());
}

// A thread keeps in mind which queues it went to, to ask for their lines before the next time (turnout.h): also when they are gone.
TEST_P(QueueTest, AThreadGoesRoundQueuesThatComeAndGo) {
  for (int generation = 0; generation < 3; ++generation) {
    Log log;
    Workshop shop(GetParam());
    Line* const lines[] = {&shop.NewLine(), &shop.NewLine(), &shop.NewLine()};
    for (int task = 0; task < 30; ++task) {
      lines[task % 3]->Submit(MarkTask(markers_.New(&log, task)));
      if (task % 3 == 2) {
        for (Line* line : lines) ASSERT_EQ(line->Drain(), WaitOutcome::kDone);
      }
    }
    EXPECT_EQ(log.values().size(), 30u);
  }
  EXPECT_TRUE(markers_.EachOnce());
}

// Several small copies are told of at once. What is no copy finds them complete, and so does who waits for one of them while others stand
// still behind it.
TEST_P(QueueTest, SmallCopiesAreCompleteBeforeWhatStandsBehindThem) {
  struct Look final : CountingMarker {
    void Reached() override {
      seen = line->completed();
      CountingMarker::Reached();
    }
    Queue* line = nullptr;
    uint64_t seen = 0;
  };
  Line& line = shop_.NewLine();
  std::vector<unsigned char> from(256), to(256);
  for (uint64_t copies = 1; copies <= 20; ++copies) {
    Gate start, end;
    Look look;
    look.line = &line.queue();
    line.Submit(AwaitTask(&start, markers_.New()));
    const uint64_t first = line->submitted() + 1;
    for (uint64_t i = 0; i < copies; ++i) line.Submit(CopyTask(to.data(), from.data(), to.size()));
    line.Submit(MarkTask(&look));
    line.Submit(CopyTask(to.data(), from.data(), to.size()));
    line.Submit(AwaitTask(&end, markers_.New()));
    start.Open();
    EXPECT_EQ(line->Wait(first + copies / 2, Deadline::Never()), WaitOutcome::kDone);
    EXPECT_EQ(line->Wait(first + copies + 1, Deadline::Never()), WaitOutcome::kDone);
    EXPECT_EQ(look.seen, first + copies - 1);
    end.Open();
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  }
}

TEST_P(QueueTest, BytesOfATaskAreThereWhenItIsComplete) {
  Line& line = shop_.NewLine();
  std::vector<unsigned char> a(4096), b(4096), c(4096);
  for (uint32_t round = 1; round <= 200; ++round) {
    line.Submit(SetTask(a.data(), a.size(), round));
    line.Submit(CopyTask(b.data(), a.data(), a.size()));
    line.Submit(CopyTask(c.data(), b.data(), b.size()));
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    ASSERT_EQ(c, std::vector<unsigned char>(4096, static_cast<unsigned char>(round)));
  }
}

TEST_P(QueueTest, TheRingGoesRoundManyTimes) {
  constexpr int kTasks = 3 * 2048 + 100;
  Line& line = shop_.NewLine();
  for (int task = 0; task < kTasks; ++task) line.Submit(MarkTask(markers_.New(&log_, task)));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), UpTo(kTasks));
}

TEST_P(QueueTest, WorkEndsWithoutAWaiter) {
  Line& line = shop_.NewLine();
  CountingMarker* marker = markers_.New();
  line.Submit(MarkTask(marker));
  while (line->completed() < 1) sched_yield();
  EXPECT_EQ(marker->reached, 1);
}

// --- Depth --------------------------------------------------------------------------------------------------------------

TEST_P(QueueTest, TakesAsManyTasksAsTheDepthAndThenRefuses) {
  Line& line = shop_.NewLine();
  ASSERT_TRUE(line.TrySubmit(AwaitTask(&gate_, markers_.New())));
  for (uint64_t i = 1; i < kDepth; ++i) ASSERT_TRUE(line.TrySubmit(MarkTask(markers_.New(&log_, static_cast<int>(i - 1))))) << i;
  EXPECT_FALSE(line.TrySubmit(MarkTask(markers_.New())));
  EXPECT_EQ(line->submitted(), kDepth);
  gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), UpTo(static_cast<int>(kDepth - 1)));
  EXPECT_TRUE(line.TrySubmit(MarkTask(markers_.New())));
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST_P(QueueTest, AwaitRoomReturnsAtOnceWhenThereIsRoom) {
  Line& line = shop_.NewLine();
  line->AwaitRoom();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  line->AwaitRoom();
  EXPECT_FALSE(gate_.open());
  gate_.Open();
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST_P(QueueTest, AwaitRoomReturnsWithRoomForATask) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  while (line.TrySubmit(MarkTask(markers_.New()))) {
  }
  std::atomic<pid_t> tid{0};
  bool had_room = false;
  std::thread submitter([&] {
    tid = gettid();
    line->AwaitRoom();
    had_room = line.TrySubmit(MarkTask(markers_.New()));
  });
  while (tid == 0) sched_yield();
  gate_.Open();
  submitter.join();
  EXPECT_TRUE(had_room);
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST_P(QueueTest, AnAbortReleasesASubmitterThatWaitsForRoom) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  while (line.TrySubmit(MarkTask(markers_.New()))) {
  }
  std::atomic<pid_t> tid{0};
  std::thread submitter([&] {
    tid = gettid();
    line->AwaitRoom();
  });
  while (tid == 0) sched_yield();
  AwaitAsleep(tid);
  EXPECT_TRUE(line->Abort());
  submitter.join();
}

// --- Waiting ------------------------------------------------------------------------------------------------------------

TEST_P(QueueTest, WaitForWhatIsDoneIsDoneEvenWithAPassedDeadline) {
  Line& line = shop_.NewLine();
  EXPECT_EQ(line->Wait(0, Deadline::AfterMs(0)), WaitOutcome::kDone);
  line.Submit(MarkTask(markers_.New()));
  line.Drain();
  EXPECT_EQ(line->Wait(1, Deadline::AfterMs(0)), WaitOutcome::kDone);
}

TEST_P(QueueTest, WaitTimesOutAndCanBeRepeated) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  const uint64_t last = line.Submit(MarkTask(markers_.New()));
  EXPECT_EQ(line->Wait(last, Deadline::AfterMs(0)), WaitOutcome::kTimeout);
  EXPECT_EQ(line->Wait(last, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  EXPECT_EQ(line->completed(), 0u);
  gate_.Open();
  EXPECT_EQ(line->Wait(last, Deadline::Never()), WaitOutcome::kDone);
}

TEST_P(QueueTest, WaitersForDifferentTasksAllLeave) {
  constexpr int kTasks = 64, kWaiters = 8;
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  for (int i = 0; i < kTasks; ++i) line.Submit(MarkTask(markers_.New(&log_, i)));
  std::atomic<int> done{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.emplace_back([&, i] {
      const auto sequence = static_cast<uint64_t>(1 + i * kTasks / kWaiters);
      done += line->Wait(sequence, Deadline::Never()) == WaitOutcome::kDone && line->completed() >= sequence;
    });
  }
  gate_.Open();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(done, kWaiters);
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), UpTo(kTasks));
}

// --- Gates --------------------------------------------------------------------------------------------------------------

TEST_P(QueueTest, AClosedGateHoldsTheQueueAndOnlyThatQueue) {
  Line& held = shop_.NewLine();
  Line& free = shop_.NewLine();
  held.Submit(AwaitTask(&gate_, markers_.New()));
  CountingMarker* behind = markers_.New();
  held.Submit(MarkTask(behind));
  free.Submit(MarkTask(markers_.New()));
  ASSERT_EQ(free.Drain(), WaitOutcome::kDone);
  ASSERT_EQ(held->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_TRUE(held->HeldUp());
  EXPECT_FALSE(free->HeldUp());
  EXPECT_EQ(behind->reached, 0);
  gate_.Open();
  ASSERT_EQ(held.Drain(), WaitOutcome::kDone);
  EXPECT_FALSE(held->HeldUp());
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(QueueTest, QueuesHandOverToEachOther) {
  constexpr int kRounds = 200;
  Line& left = shop_.NewLine();
  Line& right = shop_.NewLine();
  // Each side opens the other's next gate: a ping-pong in which nothing runs in parallel.
  class Opener final : public Marker {
   public:
    explicit Opener(Gate* gate) : gate_(gate) {}
    void Reached() override { gate_->Open(); }
    void Dropped() override {}

   private:
    Gate* gate_;
  };
  std::deque<Gate>& gates = KeptGates(2 * kRounds + 1);
  std::deque<Opener> openers;
  for (Gate& gate : gates) openers.emplace_back(&gate);
  for (size_t round = 0; round < kRounds; ++round) {
    left.Submit(AwaitTask(&gates[2 * round], markers_.New(&log_, static_cast<int>(2 * round))));
    left.Submit(MarkTask(&openers[2 * round + 1]));
    right.Submit(AwaitTask(&gates[2 * round + 1], markers_.New(&log_, static_cast<int>(2 * round + 1))));
    right.Submit(MarkTask(&openers[2 * round + 2]));
  }
  gates[0].Open();
  ASSERT_EQ(left.Drain(), WaitOutcome::kDone);
  ASSERT_EQ(right.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), UpTo(2 * kRounds));
}

TEST_P(QueueTest, AWaitWithALimitFailsTheTaskAndTheQueueGoesOn) {
  Line& line = shop_.NewLine();
  CountingMarker* waited = markers_.New();
  CountingMarker* behind = markers_.New();
  line.Submit(AwaitTask(&gate_, waited, 1000000));
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), std::vector<int>{kTaskTimedOut});
  EXPECT_NE(line.own_owner.texts().at(0).find("1 ms"), std::string::npos) << line.own_owner.texts().at(0);
  EXPECT_EQ(waited->reached, 1);
  EXPECT_EQ(behind->reached, 1);
  gate_.Open();  // nobody is parked there any more
  EXPECT_TRUE(markers_.EachOnce());
}

TEST_P(QueueTest, AGateThatOpensInTimeIsNoFailure) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New(), int64_t{3600} * 1000000000));
  line.Submit(AwaitTask(&other_gate_, markers_.New()));
  gate_.Open();
  other_gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_TRUE(line.own_owner.codes().empty());
}

TEST_P(QueueTest, LimitsThatPassWhileTheGateOpensEndEachWaitOnce) {
  constexpr int kRounds = 300;
  Line& line = shop_.NewLine();
  std::deque<Gate>& gates = KeptGates(kRounds);
  int64_t limit_ns = 1;
  for (Gate& gate : gates) {
    line.Submit(AwaitTask(&gate, markers_.New(), limit_ns));
    limit_ns = (limit_ns + 50000) % 200000;
  }
  std::thread opener([&] {
    for (Gate& gate : gates) gate.Open();
  });
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  opener.join();
  EXPECT_TRUE(markers_.EachOnce());
  EXPECT_EQ(markers_.reached(), kRounds);
}

TEST_P(QueueTest, ALimitOfAnEarlierWaitDoesNotEndALaterOneAtTheSameGate) {
  Line& line = shop_.NewLine();
  Line& clock = shop_.NewLine();
  Gate turnstile(Gate::Mode::kAutoReset);
  line.Submit(AwaitTask(&turnstile, markers_.New(), 20000000));
  line.Submit(AwaitTask(&turnstile, markers_.New()));
  turnstile.Open();
  // A wait with the same limit, submitted later, tells when the first limit has passed.
  clock.Submit(AwaitTask(&gate_, markers_.New(), 40000000));
  ASSERT_EQ(clock.Drain(), WaitOutcome::kDone);
  if (line.own_owner.codes().empty()) {  // else the first wait was not even reached in time
    EXPECT_EQ(line->Wait(2, Deadline::AfterMs(0)), WaitOutcome::kTimeout);
    EXPECT_EQ(line->completed(), 1u);
  }
  turnstile.Open();
  turnstile.Open();
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
}

// --- Failures -----------------------------------------------------------------------------------------------------------

TEST_P(QueueTest, AFailingTaskIsReportedAndTheNextOnesRun) {
  Line& line = shop_.NewLine();
  CountingMarker* behind = markers_.New();
  line.Submit(FailTask(507013));
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), std::vector<int>{507013});
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(QueueTest, InStopModeTheTasksBehindAFailureAreDroppedUntilTheQueueIsOpenedAgain) {
  Line& line = shop_.NewLine();
  line.own_owner.stop_on_failure = true;
  line.Submit(AwaitTask(&gate_, markers_.New()));
  line.Submit(FailTask(507013));
  Markers dropped;
  for (int i = 0; i < 10; ++i) line.Submit(MarkTask(dropped.New()));
  gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(dropped.dropped(), 10);
  line.Submit(MarkTask(dropped.New()));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(dropped.dropped(), 11);

  line->Open({&line.own_owner, 2, 0, 0});
  CountingMarker* marker = markers_.New();
  line.Submit(MarkTask(marker));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(marker->reached, 1);
  EXPECT_EQ(dropped.reached(), 0);
}

// --- Host calls ---------------------------------------------------------------------------------------------------------

TEST_P(QueueTest, ABlockingCallHoldsTheQueueUntilItReturns) {
  Line& line = shop_.NewLine();
  std::atomic<int> calls{0};
  CountingMarker* behind = markers_.New();
  line.Submit(CallTask(&sink_, &AddOne, &calls));
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_EQ(behind->reached, 0);
  EXPECT_FALSE(line->HeldUp());
  sink_.RunNext();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(QueueTest, ACallThatDoesNotBlockIsPostedAndPassed) {
  Line& line = shop_.NewLine();
  std::atomic<int> calls{0};
  line.Submit(CallTask(&sink_, &AddOne, &calls, false));
  line.Submit(MarkTask(markers_.New()));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(sink_.waiting(), 1u);
  sink_.RunNext();
  EXPECT_EQ(calls, 1);
}

// 207001, and the stream gets on.
TEST_P(QueueTest, ACallThatThereIsNoMemoryForFails) {
  sink_.Refuse();
  for (const bool blocks : {true, false}) {
    Line& line = shop_.NewLine();
    std::atomic<int> calls{0};
    CountingMarker* behind = markers_.New();
    line.Submit(CallTask(&sink_, &AddOne, &calls, blocks));
    line.Submit(MarkTask(behind));
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(line.own_owner.codes(), std::vector<int>{207001});
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(behind->reached, 1);
  }
}

TEST_P(QueueTest, HostCallsRunInOrderWithTheOtherTasks) {
  constexpr int kTasks = 200;
  HostThread thread;
  Line& line = shop_.NewLine();
  struct Entry {
    Log* log;
    int value;
  };
  std::deque<Entry> entries;
  for (int i = 0; i < kTasks; i += 2) {
    entries.push_back({&log_, i});
    line.Submit(CallTask(
        &thread, [](void* entry) { static_cast<Entry*>(entry)->log->Add(static_cast<Entry*>(entry)->value); }, &entries.back()));
    line.Submit(MarkTask(markers_.New(&log_, i + 1)));
  }
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  thread.Join();
  EXPECT_EQ(log_.values(), UpTo(kTasks));
}

TEST_P(QueueTest, OnlyTheCallItselfIsInside) {
  struct Probe {
    Line* own;
    Line* other;
    bool inside_own = false, inside_other = true, aborted = true;
  };
  Probe probe{&shop_.NewLine(), &shop_.NewLine()};
  probe.own->Submit(CallTask(
      &sink_,
      [](void* argument) {
        auto* here = static_cast<Probe*>(argument);
        here->inside_own = here->own->queue().InsideOwnCall();
        here->inside_other = here->other->queue().InsideOwnCall();
        here->aborted = here->own->queue().Abort();
      },
      &probe));
  EXPECT_FALSE(probe.own->queue().InsideOwnCall());
  ASSERT_EQ(probe.own->queue().Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  sink_.RunNext();
  EXPECT_TRUE(probe.inside_own);
  EXPECT_FALSE(probe.inside_other);
  EXPECT_FALSE(probe.aborted) << "an abort from inside the call would wait for itself";
  EXPECT_FALSE(probe.own->queue().InsideOwnCall());
  EXPECT_EQ(probe.own->Drain(), WaitOutcome::kDone);
}

// --- Memory -------------------------------------------------------------------------------------------------------------

class SlotWatcher : public Watcher {
 public:
  void Submitted(const TaskSight&) override {}
  Moment Started(const TaskSight& sight) override {
    slots.push_back(sight.task);
    return {};
  }
  void Finished(const TaskSight&, const RunSight&) override {}
  void Dropped(const TaskSight&) override {}
  uint64_t WaitBegins(const WaitSight&) override { return 0; }
  void WaitEnds(const WaitSight&, uint64_t) override {}
  void Allocated(const BlockSight&) override {}
  void Freed(const BlockSight&) override {}
  void Ordered(const OrderSight&) override {}
  void Flush() override {}
  std::vector<const Task*> slots;
};

TEST_P(QueueTest, AnEmptyRingStartsAtTheFirstSlotAgain) {
  SlotWatcher watcher;
  Line& line = shop_.NewLine();
  g_watcher = &watcher;
  for (int i = 0; i < 50; ++i) {
    line.Submit(MarkTask(markers_.New()));
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  }
  g_watcher = nullptr;
  // A lane may hold the empty queue for a moment, and then one submit goes on behind the last: some start again, not all.
  ASSERT_EQ(watcher.slots.size(), 50u);
  EXPECT_GT(std::count(watcher.slots.begin(), watcher.slots.end(), watcher.slots[0]), 1);
}

INSTANTIATE_TEST_SUITE_P(Crews, QueueTest, testing::ValuesIn(kAllCrews), CrewName);

}  // namespace queue_test
}  // namespace ropeway_unit
