// How replays end before their end: aborts and halts at every stage. Whatever happens, each marker is told as often as
// it was repeated, and what a replay brought along is told once.
#include "stream/host_thread.h"
#include "unit/replay_harness.h"

namespace ropeway_unit {
namespace replay_end_test {

class ReplayEndTest : public ReplayFixture {};
INSTANTIATE_TEST_SUITE_P(Crews, ReplayEndTest, testing::ValuesIn(kAllCrews), CrewName);

TEST_P(ReplayEndTest, AnAbortBeforeItBeginsTellsOnlyWhatItBrought) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  RepeatMarker* inside = graph.Mark(0);
  graph.MarkBound(0);
  graph.AwaitBound(1);
  CountingMarker *mark = markers_.New(), *wait = markers_.New();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  line.Submit(graph.Replay({{nullptr, mark}, {&other_gate_, wait}}));
  RunUntil(line, [&] { return line->HeldUp(); });
  ASSERT_TRUE(line->Abort());
  EXPECT_EQ(line->completed(), line->submitted());
  EXPECT_EQ(inside->repeats + inside->dropped, 0);
  EXPECT_EQ(mark->dropped, 1);
  EXPECT_EQ(wait->dropped, 1);
  EXPECT_TRUE(markers_.EachOnce());
  EXPECT_TRUE(graph.free());
}

TEST_P(ReplayEndTest, AnAbortTakesBackWhatWaitsOutside) {
  std::atomic<int> calls{0};
  std::vector<unsigned char> canary(64, 1);
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(5);
  RepeatMarker* at_gate = graph.Await(0, &gate_);
  graph.AwaitBound(1);
  graph.Add(2, AwaitValueTask(&word_, 1, ValueTest::kEqual));
  graph.Add(3, CallTask(
                   &sink_, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls));
  RepeatMarker* done = graph.Mark(4);
  RepeatMarker* never = nullptr;
  for (size_t branch = 0; branch < 4; ++branch) {
    graph.Add(branch, SetTask(canary.data(), canary.size(), 2));
    never = graph.Mark(branch);
  }
  graph.MarkBound(0);
  CountingMarker *wait = markers_.New(), *mark = markers_.New();
  line.Submit(graph.Replay({{&other_gate_, wait}, {nullptr, mark}}));
  RunUntil(line, [&] { return done->reached == 1 && sink_.waiting() == 1; });
  ASSERT_TRUE(line->Abort());
  EXPECT_EQ(line->completed(), 1u);
  EXPECT_EQ(at_gate->dropped, 1);
  EXPECT_EQ(never->repeats, 0);
  EXPECT_EQ(sink_.waiting(), 0u);
  EXPECT_EQ(wait->dropped, 1);
  EXPECT_EQ(mark->dropped, 1);
  EXPECT_FALSE(line->HeldUp());
  // Nobody is left anywhere: what they waited for comes, and nothing runs.
  gate_.Open();
  other_gate_.Open();
  line.Submit(StoreTask(&word_, 1));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(canary, std::vector<unsigned char>(64, 1));
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(graph.Settled());
  EXPECT_TRUE(markers_.EachOnce());
}

TEST_P(ReplayEndTest, AnAbortWaitsForAHostCallThatRuns) {
  struct Call {
    Latch begun, may_end;
    std::atomic<bool> ended{false};
  } call;
  HostThread thread;
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  RepeatMarker* parked = graph.Await(0, &gate_);  // the first branch runs first: it is parked when the call begins
  graph.Add(1, CallTask(
                   &thread,
                   [](void* argument) {
                     auto* here = static_cast<Call*>(argument);
                     here->begun.Release();
                     here->may_end.Await();
                     here->ended = true;
                   },
                   &call));
  RepeatMarker* behind = graph.Mark(1);
  line.Submit(graph.Replay());
  std::thread helper([&] { line->Wait(1, Deadline::Never()); });  // late schedules need somebody who waits
  call.begun.Await();
  bool ended_before = false;
  std::thread aborter([&] {
    EXPECT_TRUE(line->Abort());
    ended_before = call.ended;
  });
  while (parked->dropped == 0) sched_yield();  // the abort has taken back what it could, and waits for the call
  EXPECT_EQ(line->completed(), 0u);
  call.may_end.Release();
  aborter.join();
  helper.join();
  EXPECT_TRUE(ended_before);
  EXPECT_EQ(behind->repeats, 0);
  EXPECT_TRUE(graph.Settled());
  EXPECT_TRUE(graph.free());
  thread.Join();
}

TEST_P(ReplayEndTest, AnAbortFromInsideItsOwnCallIsRefused) {
  struct Probe {
    Line *own, *other;
    bool inside_own = false, inside_other = true, aborted = true;
  };
  Probe probe{&shop_.NewLine(), &shop_.NewLine()};
  TestGraph& graph = NewGraph(3);
  graph.Add(2, CallTask(
                   &sink_,
                   [](void* argument) {
                     auto* here = static_cast<Probe*>(argument);
                     here->inside_own = here->own->queue().InsideOwnCall();
                     here->inside_other = here->other->queue().InsideOwnCall();
                     here->aborted = here->own->queue().Abort();
                   },
                   &probe));
  probe.own->Submit(graph.Replay());
  RunUntil(*probe.own, [&] { return sink_.waiting() == 1; });
  sink_.RunNext();
  EXPECT_TRUE(probe.inside_own);
  EXPECT_FALSE(probe.inside_other);
  EXPECT_FALSE(probe.aborted);
  EXPECT_EQ(probe.own->Drain(), WaitOutcome::kDone);
}

TEST_P(ReplayEndTest, AnAbortGivesTheTurnBackOrItsPlaceInTheLine) {
  TestGraph& graph = NewGraph(1);
  RepeatMarker* begun = graph.Mark(0);
  graph.Await(0, &gate_);
  RepeatMarker* end = graph.Mark(0);
  Line& first = shop_.NewLine();
  Line& second = shop_.NewLine();
  Line& third = shop_.NewLine();
  for (Line* line : {&first, &second, &third}) {
    line->Submit(graph.Replay());
    RunUntil(*line, [&] { return line->queue().HeldUp(); });
  }
  ASSERT_TRUE(second->Abort());  // waits for its turn
  ASSERT_EQ(third->Wait(1, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  EXPECT_EQ(begun->repeats, 1) << "the turn was given away by one who did not have it";
  ASSERT_TRUE(first->Abort());  // has it
  gate_.Open();
  ASSERT_EQ(third.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(end->reached, 1);
  EXPECT_TRUE(graph.free());
  for (Line* line : {&first, &second}) {
    line->Submit(graph.Replay());
    ASSERT_EQ(line->Drain(), WaitOutcome::kDone);
  }
  EXPECT_EQ(end->reached, 3);
  EXPECT_TRUE(graph.Settled());
}

TEST_P(ReplayEndTest, AbortsAgainstAllThatComesBack) {
  constexpr int kRounds = 60;
  std::atomic<int> calls{0};
  HostThread thread;
  Line& line = shop_.NewLine();
  std::deque<Gate>& gates = KeptGates(2 * kRounds);
  for (size_t round = 0; round < kRounds; ++round) {
    TestGraph& graph = NewGraph(4);
    graph.Await(0, &gates[2 * round]);
    graph.Await(1, &gates[2 * round + 1], 20000);
    graph.Add(2, CallTask(
                     &thread, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls));
    graph.Add(3, AwaitValueTask(&word_, round + 1, ValueTest::kAtLeast));
    for (size_t branch = 0; branch < 4; ++branch) graph.Mark(branch);
    graph.AwaitBound(0);
    graph.MarkBound(3);
    line.Submit(graph.Replay({{&gates[2 * round + 1], markers_.New()}, {nullptr, markers_.New()}}));
    std::thread opener([&] {
      gates[2 * round].Open();
      gates[2 * round + 1].Open();
      __atomic_store_n(&word_, round + 1, __ATOMIC_SEQ_CST);
    });
    if (round % 3 == 0) line->Wait(line->submitted(), Deadline::AfterMs(0));
    EXPECT_TRUE(line->Abort());
    opener.join();
    ASSERT_EQ(line->completed(), line->submitted());
    ASSERT_TRUE(graph.Settled());
    ASSERT_TRUE(graph.free());
  }
  EXPECT_TRUE(markers_.EachOnce());
  thread.Join();
}

// --- Halt ---------------------------------------------------------------------------------------------------------------

TEST_P(ReplayEndTest, AHaltInTheMiddleStartsNothingMore) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  graph.Await(0, &gate_);
  RepeatMarker* next = graph.Mark(0);
  RepeatMarker* parked = graph.Await(1, &other_gate_);
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return line->HeldUp(); });
  line->Halt();
  gate_.Open();
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  EXPECT_EQ(next->repeats, 0);
  other_gate_.Open();  // comes back into a queue that stands still
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_TRUE(line->HeldUp());
  ASSERT_TRUE(line->Abort());
  EXPECT_EQ(next->repeats, 0);
  EXPECT_EQ(parked->reached, 1) << "it had come through before the abort";
  EXPECT_TRUE(graph.Settled());
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(next->reached, 1);
}

TEST_P(ReplayEndTest, AHaltFromInsideEndsBehindTheRunningTask) {
  struct Halter : Marker {
    void Reached() override { line->queue().Halt(); }
    void Dropped() override {}
    Line* line = nullptr;
  } halter;
  std::vector<unsigned char> canary(64, 1);
  Line& line = shop_.NewLine();
  halter.line = &line;
  TestGraph graph(2);
  graph.Add(0, MarkTask(&halter));
  graph.Add(0, SetTask(canary.data(), canary.size(), 2));
  RepeatMarker* beside = graph.Mark(1);
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return line->HeldUp(); });
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  ASSERT_TRUE(line->Abort());
  EXPECT_EQ(canary, std::vector<unsigned char>(64, 1));
  EXPECT_EQ(beside->repeats, 0);
  EXPECT_TRUE(graph.free());
}

// The turn comes to a queue that stands still, and an abort finds it there.
TEST_P(ReplayEndTest, ATurnThatAHaltedQueueGotIsGivenBack) {
  TestGraph& graph = NewGraph(1);
  RepeatMarker* begun = graph.Mark(0);
  graph.Await(0, &gate_);
  Line& first = shop_.NewLine();
  Line& second = shop_.NewLine();
  for (Line* line : {&first, &second}) {
    line->Submit(graph.Replay());
    RunUntil(*line, [&] { return line->queue().HeldUp(); });
  }
  second->Halt();
  gate_.Open();
  ASSERT_EQ(first.Drain(), WaitOutcome::kDone);
  ASSERT_EQ(second->Wait(1, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  EXPECT_FALSE(graph.free());
  ASSERT_TRUE(second->Abort());
  EXPECT_TRUE(graph.free());
  EXPECT_EQ(begun->repeats, 1);
}

}  // namespace replay_end_test
}  // namespace ropeway_unit
