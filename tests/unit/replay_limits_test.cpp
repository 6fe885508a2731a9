// Replays of captured graphs: time limits inside, what each replay brings along, and graphs that several queues replay.
#include "unit/replay_harness.h"

namespace ropeway_unit {
namespace replay_limits_test {

constexpr int kTaskTimedOut = 107020;
constexpr int64_t kHour = int64_t{3600} * 1000000000;

class ReplayLimitsTest : public ReplayFixture {};
INSTANTIATE_TEST_SUITE_P(Crews, ReplayLimitsTest, testing::ValuesIn(kAllCrews), CrewName);

TEST_P(ReplayLimitsTest, APassedLimitIsReportedOnceAndTheGraphGoesOn) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(3);
  RepeatMarker* waited = graph.Await(1, &gate_, 1000000);
  RepeatMarker* behind = graph.Mark(1);
  RepeatMarker* beside = graph.Mark(2);
  graph.Join();
  for (int round = 1; round <= 2; ++round) {
    line.Submit(graph.Replay());
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(line.own_owner.codes(), std::vector<int>(static_cast<size_t>(round), kTaskTimedOut));
    EXPECT_EQ(waited->reached, round);
    EXPECT_EQ(behind->reached, round);
    EXPECT_EQ(beside->reached, round);
  }
  EXPECT_NE(line.own_owner.texts().at(0).find("1 ms"), std::string::npos) << line.own_owner.texts().at(0);
  gate_.Open();  // nobody is parked there any more
  EXPECT_TRUE(graph.Settled());
}

TEST_P(ReplayLimitsTest, EachBranchHasItsOwnLimit) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(4);
  graph.Await(0, &gate_, 1000000);
  graph.Await(1, &gate_, kHour);
  graph.Await(2, &gate_, 2000000);
  graph.Await(3, &gate_);
  RepeatMarker* hasty = graph.Mark(0);
  RepeatMarker* patient = graph.Mark(1);
  RepeatMarker* slower = graph.Mark(2);
  RepeatMarker* endless = graph.Mark(3);
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return hasty->reached == 1 && slower->reached == 1; });
  EXPECT_EQ(line.own_owner.codes(), (std::vector<int>{kTaskTimedOut, kTaskTimedOut}));
  EXPECT_EQ(patient->repeats + endless->repeats, 0);
  gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes().size(), 2u);
  EXPECT_EQ(patient->reached + endless->reached, 2);
}

TEST_P(ReplayLimitsTest, AGateThatOpensInTimeIsNoFailure) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.Await(0, &gate_, kHour);
  graph.Await(0, &other_gate_, kHour);
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return line->HeldUp(); });
  gate_.Open();
  other_gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_TRUE(line.own_owner.codes().empty());
}

TEST_P(ReplayLimitsTest, LimitsThatPassWhileTheGateOpensEndEachWaitOnce) {
  constexpr int kRounds = 100;
  Line& line = shop_.NewLine();
  std::deque<Gate>& gates = KeptGates(2 * kRounds);
  int64_t limit_ns = 1;
  for (size_t round = 0; round < kRounds; ++round) {
    TestGraph& graph = NewGraph(2);
    for (size_t branch : {0u, 1u}) {
      graph.Await(branch, &gates[2 * round + branch], limit_ns);
      graph.Mark(branch);
    }
    line.Submit(graph.Replay());
    limit_ns = (limit_ns + 50000) % 200000 + 1;
  }
  std::thread opener([&] {
    for (Gate& gate : gates) gate.Open();
  });
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  opener.join();
  for (TestGraph& graph : graphs_) EXPECT_TRUE(graph.Settled());
  for (int code : line.own_owner.codes()) EXPECT_EQ(code, kTaskTimedOut);
}

// The thread that ends a wait may run what comes next, and that may be a graph with more branches than any before it.
TEST_P(ReplayLimitsTest, AGraphBehindAWaitThatTimedOutMayHaveMoreBranches) {
  Line& line = shop_.NewLine();
  TestGraph& small = NewGraph(1);
  small.Await(0, &gate_, 1000000);
  TestGraph& large = NewGraph(12);
  RepeatMarker* behind = large.Mark(11);
  line.Submit(small.Replay());
  line.Submit(large.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(behind->reached, 1);
  EXPECT_EQ(line.own_owner.codes(), std::vector<int>{kTaskTimedOut});
}

TEST_P(ReplayLimitsTest, ALimitOfAnAbortedReplayDoesNotEndAWaitOfTheNext) {
  Line& line = shop_.NewLine();
  Line& clock = shop_.NewLine();
  TestGraph& limited = NewGraph(1);
  limited.Await(0, &gate_, 5000000);
  TestGraph& endless = NewGraph(1);
  RepeatMarker* waited = endless.Await(0, &gate_);
  line.Submit(limited.Replay());
  RunUntil(line, [&] { return line->HeldUp(); });
  ASSERT_TRUE(line->Abort());
  const size_t failures = line.own_owner.codes().size();  // one, if the limit was faster than the abort
  line.Submit(endless.Replay());
  RunUntil(line, [&] { return line->HeldUp(); });
  clock.Submit(AwaitTask(&other_gate_, markers_.New(), 10000000));
  ASSERT_EQ(clock.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(waited->reached, 0);
  EXPECT_EQ(line.own_owner.codes().size(), failures);
  gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
}

// A limit that passes just as the gate lets the branch through, which parks at the same gate again, without a limit.
// Strangers at the gate and a thread that keeps its lock busy make the timer late.
TEST(ReplayLimitsRaceTest, ALimitThatComesLateDoesNotEndTheNextWaitAtTheSameGate) {
  struct Stranger final : ParkingPlace::Waiter {
    void Opened() override {}
  };
  struct LimitOwner : QueueOwner {
    bool TaskFailed(const Task& task, uint64_t, int, const char*) override {
      without_limit += task.await.timeout_ns == 0;
      return false;
    }
    std::atomic<int> without_limit{0};
  } owner;
  constexpr int64_t kLimit = 200000;
  Gate turnstile(Gate::Mode::kAutoReset);
  std::deque<Stranger> strangers(400);
  TestGraph graph(1);
  graph.Await(0, &turnstile, kLimit);
  graph.Await(0, &turnstile);
  Workshop shop(kAllCrews[1]);
  Line& line = shop.NewLine(&owner);
  std::atomic<bool> over{false};
  std::thread busy([&] {
    Stranger nobody;
    while (!over) turnstile.Unpark(&nobody);
  });
  for (int round = 0; round < 40; ++round) {
    line.Submit(graph.Replay());
    while (!line->HeldUp()) sched_yield();
    const int64_t about_then = NowNs() + kLimit + (round % 10 - 5) * 10000;
    for (Stranger& stranger : strangers) turnstile.PassOrPark(&stranger);
    while (NowNs() < about_then) CpuRelax();
    turnstile.Open();
    for (Stranger& stranger : strangers) turnstile.Unpark(&stranger);
    while (line->Wait(line->submitted(), Deadline::AfterMs(1)) == WaitOutcome::kTimeout) turnstile.Open();
    turnstile.Close();
  }
  over = true;
  busy.join();
  EXPECT_EQ(owner.without_limit, 0) << "a wait without a limit was ended by the limit of the wait before it";
  EXPECT_TRUE(graph.Settled());
}

// Whoever leaves a blocked queue behind may still be looking when the next one has begun another graph.
TEST_P(ReplayLimitsTest, GraphsThatGrowWhileTheirGatesOpen) {
  constexpr size_t kGraphs = 150;
  std::deque<Gate>& gates = KeptGates(kGraphs);
  Line& line = shop_.NewLine();
  for (size_t i = 0; i < kGraphs; ++i) {
    TestGraph& graph = NewGraph(1 + i / 3);
    graph.Await(0, &gates[i]);
    graph.Mark(0);
    line.Submit(graph.Replay());
  }
  std::thread opener([&] {
    for (size_t i = 0; i < kGraphs; ++i) {
      while (line->completed() < i) sched_yield();  // just as it parks
      gates[i].Open();
    }
  });
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  opener.join();
  for (TestGraph& graph : graphs_) EXPECT_TRUE(graph.Settled());
}

// --- Bindings -----------------------------------------------------------------------------------------------------------

TEST_P(ReplayLimitsTest, EachReplayBringsItsOwnMarkersAndGates) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  graph.AwaitBound(0);
  graph.MarkBound(1);
  RepeatMarker* behind = graph.Mark(0);
  std::deque<Gate>& gates = KeptGates(3);
  Markers waits, marks;
  CountingMarker* mark[3];
  for (size_t round = 0; round < 3; ++round) {
    mark[round] = marks.New();
    line.Submit(graph.Replay({{&gates[round], waits.New()}, {nullptr, mark[round]}}));
  }
  for (size_t round = 0; round < 3; ++round) {
    RunUntil(line, [&] { return mark[round]->reached == 1 && line->HeldUp(); });
    EXPECT_EQ(marks.reached(), static_cast<int>(round + 1));
    EXPECT_EQ(waits.reached(), static_cast<int>(round));
    gates[round].Open();
  }
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_TRUE(waits.EachOnce());
  EXPECT_TRUE(marks.EachOnce());
  EXPECT_EQ(waits.reached() + marks.reached(), 6);
  EXPECT_EQ(behind->reached, 3);
}

TEST_P(ReplayLimitsTest, BindingsMayBeEmpty) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.AwaitBound(0);
  graph.MarkBound(0);
  RepeatMarker* behind = graph.Mark(0);
  line.Submit(graph.Replay({{nullptr, nullptr}, {nullptr, nullptr}}));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(behind->reached, 1);
}

// --- Turns --------------------------------------------------------------------------------------------------------------

TEST_P(ReplayLimitsTest, QueuesThatReplayTheSameGraphTakeTurns) {
  constexpr int kQueues = 3, kReplays = 40;
  TestGraph& graph = NewGraph(2);
  graph.Mark(0, &log_, 0);
  graph.Edge(0, 1);
  graph.Mark(1, &log_, 1);
  graph.Join();
  graph.Mark(0, &log_, 2);
  std::vector<Line*> lines;
  for (int i = 0; i < kQueues; ++i) lines.push_back(&shop_.NewLine());
  for (int replay = 0; replay < kReplays; ++replay) {
    for (Line* line : lines) line->Submit(graph.Replay());
  }
  for (Line* line : lines) ASSERT_EQ(line->Drain(), WaitOutcome::kDone);
  std::vector<int> expected;
  for (int i = 0; i < kQueues * kReplays; ++i) expected.insert(expected.end(), {0, 1, 2});
  EXPECT_EQ(log_.values(), expected);
  EXPECT_TRUE(graph.Settled());
  EXPECT_TRUE(graph.free());
}

TEST_P(ReplayLimitsTest, WhoHasTheTurnKeepsItWhileItWaits) {
  TestGraph& graph = NewGraph(1);
  RepeatMarker* begun = graph.Mark(0);
  graph.Await(0, &gate_);
  Line& first = shop_.NewLine();
  Line& second = shop_.NewLine();
  first.Submit(graph.Replay());
  RunUntil(first, [&] { return begun->reached == 1 && first->HeldUp(); });
  second.Submit(graph.Replay());
  CountingMarker* behind = markers_.New();
  second.Submit(MarkTask(behind));
  RunUntil(second, [&] { return second->HeldUp(); });
  EXPECT_TRUE(second->HeldUp());
  EXPECT_EQ(begun->repeats, 1);
  gate_.Open();
  ASSERT_EQ(first.Drain(), WaitOutcome::kDone);
  ASSERT_EQ(second.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(begun->reached, 2);
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(ReplayLimitsTest, DifferentGraphsDoNotWaitForEachOther) {
  TestGraph& held = NewGraph(1);
  held.Await(0, &gate_);
  TestGraph& free = NewGraph(1);
  free.Mark(0);
  Line& first = shop_.NewLine();
  Line& second = shop_.NewLine();
  first.Submit(held.Replay());
  RunUntil(first, [&] { return first->HeldUp(); });
  second.Submit(free.Replay());
  ASSERT_EQ(second.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(first->completed(), 0u);
  gate_.Open();
  ASSERT_EQ(first.Drain(), WaitOutcome::kDone);
}

}  // namespace replay_limits_test
}  // namespace ropeway_unit
