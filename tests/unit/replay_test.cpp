// Replays of captured graphs through the Queue interface, under every crew: order, edges, waits inside, turns. What an
// abort, a halt or a failure does is in replay_end_test.cpp.
#include <algorithm>
#include <numeric>
#include <random>

#include "stream/host_thread.h"
#include "unit/replay_harness.h"

namespace ropeway_unit {
namespace replay_test {

class ReplayTest : public ReplayFixture {};
INSTANTIATE_TEST_SUITE_P(Crews, ReplayTest, testing::ValuesIn(kAllCrews), CrewName);

TEST_P(ReplayTest, OneBranchRunsInOrderEachTime) {
  std::vector<unsigned char> a(4096), b(4096), c(4096);
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.Add(0, CopyTask(b.data(), a.data(), a.size()));
  RepeatMarker* first = graph.Mark(0, &log_, 1);
  graph.Add(0, CopyTask(c.data(), b.data(), b.size()));
  RepeatMarker* second = graph.Mark(0, &log_, 2);
  for (uint32_t round = 1; round <= 3; ++round) {
    line.Submit(SetTask(a.data(), a.size(), round));
    line.Submit(graph.Replay());
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(c, std::vector<unsigned char>(4096, static_cast<unsigned char>(round)));
  }
  EXPECT_EQ(log_.values(), (std::vector<int>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(first->repeats + second->repeats, 6);
  EXPECT_EQ(first->reached + second->reached, 6);
}

TEST_P(ReplayTest, AReplayIsOneTaskInTheOrderOfItsQueue) {
  Line& line = shop_.NewLine();
  TestGraph& empty = NewGraph(1);
  TestGraph& graph = NewGraph(2);
  graph.Mark(0, &log_, 1);
  graph.Mark(1, &log_, 1);
  graph.Join();
  line.Submit(MarkTask(markers_.New(&log_, 0)));
  line.Submit(graph.Replay());
  line.Submit(empty.Replay());
  EXPECT_EQ(line.Submit(MarkTask(markers_.New(&log_, 2))), 4u);
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), (std::vector<int>{0, 1, 1, 2}));
  EXPECT_TRUE(graph.free());
  EXPECT_TRUE(empty.free());
}

TEST_P(ReplayTest, ThreeBranchesHandOverInEveryOrder) {
  Line& line = shop_.NewLine();
  std::vector<size_t> order{0, 1, 2};
  std::vector<int> expected;
  do {
    TestGraph& graph = NewGraph(3);
    for (size_t i = 0; i < 3; ++i) {
      if (i > 0) graph.Edge(order[i - 1], order[i]);
      graph.Mark(order[i], &log_, static_cast<int>(order[i]));
      expected.push_back(static_cast<int>(order[i]));
    }
    graph.Join();
    line.Submit(graph.Replay());
  } while (std::next_permutation(order.begin(), order.end()));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), expected);
}

TEST_P(ReplayTest, OneSignalReleasesAllWhoWaitForIt) {
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(4);
  graph.Mark(0, &log_, 0);
  graph.Edge(0, 1);
  for (size_t branch : {2u, 3u}) graph.Add(branch, EdgeTask(TaskKind::kAwaitSignal, 3));  // the edge to branch 1
  for (size_t branch : {1u, 2u, 3u}) graph.Mark(branch, &log_, 1);
  graph.Join();
  graph.Mark(0, &log_, 2);
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(log_.values(), (std::vector<int>{0, 1, 1, 1, 2}));
}

// Marks on random branches, each behind some earlier marks.
TEST_P(ReplayTest, RandomGraphsKeepTheirEdges) {
  constexpr int kMarks = 60;
  Line& line = shop_.NewLine();
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    const size_t branches = 1 + random() % 5;
    Log log;
    TestGraph graph(branches);
    std::vector<std::pair<int, int>> before;
    std::vector<int> last(branches, -1);
    for (int mark = 0; mark < kMarks; ++mark) {
      const size_t branch = random() % branches, other = random() % branches;
      if (other != branch && last[other] >= 0) {
        graph.Edge(other, branch);
        before.emplace_back(last[other], mark);
      }
      if (last[branch] >= 0) before.emplace_back(last[branch], mark);
      graph.Mark(branch, &log, mark);
      last[branch] = mark;
    }
    graph.Join();
    line.Submit(graph.Replay());
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    std::vector<int> place(kMarks, -1);
    const std::vector<int> order = log.values();
    ASSERT_EQ(order.size(), static_cast<size_t>(kMarks));
    for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[i])] = static_cast<int>(i);
    for (auto [i, k] : before) EXPECT_LT(place[static_cast<size_t>(i)], place[static_cast<size_t>(k)]) << "seed " << seed;
  }
}

TEST_P(ReplayTest, FiveThousandTasks) {
  constexpr int kTasks = 5000;
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  for (int i = 0; i < kTasks; ++i) {
    graph.Mark(static_cast<size_t>(i % 2), &log_, i);
    graph.Edge(static_cast<size_t>(i % 2), static_cast<size_t>((i + 1) % 2));
  }
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log_.values(), expected);
  EXPECT_TRUE(graph.Settled());
}

// --- Waits inside -------------------------------------------------------------------------------------------------------

TEST_P(ReplayTest, AGateHoldsItsBranchOnly) {
  for (size_t held : {1u, 2u}) {
    Line& line = shop_.NewLine();
    TestGraph& graph = NewGraph(3);
    RepeatMarker* waited = graph.Await(held, &gate_);
    RepeatMarker* behind = graph.Mark(held);
    RepeatMarker* beside = graph.Mark(3 - held);
    graph.Join();
    line.Submit(graph.Replay());
    RunUntil(line, [&] { return beside->reached == 1 && line->HeldUp(); });
    EXPECT_EQ(beside->reached, 1);
    EXPECT_TRUE(line->HeldUp());
    EXPECT_EQ(line->completed(), 0u);
    EXPECT_EQ(waited->reached + behind->repeats, 0);
    gate_.Open();
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(waited->reached + behind->reached, 2);
    EXPECT_FALSE(line->HeldUp());
    EXPECT_TRUE(graph.Settled());
    gate_.Close();
  }
}

TEST_P(ReplayTest, BranchesAtGatesLeaveInAnyOrder) {
  std::deque<Gate>& gates = KeptGates(3);
  std::vector<size_t> order{0, 1, 2};
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(3);
  RepeatMarker* behind[3];
  for (size_t branch = 0; branch < 3; ++branch) {
    graph.Await(branch, &gates[branch]);
    behind[branch] = graph.Mark(branch);
  }
  int round = 0;
  do {
    ++round;
    line.Submit(graph.Replay());
    for (size_t branch : order) {
      RunUntil(line, [&] { return line->HeldUp(); });
      EXPECT_EQ(behind[branch]->reached, round - 1);
      gates[branch].Open();
      RunUntil(line, [&] { return behind[branch]->reached == round; });
    }
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    for (Gate& gate : gates) gate.Close();
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_TRUE(graph.Settled());
}

void AddOne(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST_P(ReplayTest, AHostCallHoldsItsBranchOnly) {
  std::atomic<int> calls{0};
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  graph.Add(0, CallTask(&sink_, &AddOne, &calls));
  RepeatMarker* behind = graph.Mark(0);
  RepeatMarker* beside = graph.Mark(1);
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return beside->reached == 1 && sink_.waiting() == 1; });
  EXPECT_EQ(beside->reached, 1);
  EXPECT_EQ(behind->repeats, 0);
  sink_.RunNext();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(ReplayTest, ARunningHostCallDoesNotHoldTheQueueUp) {
  std::atomic<int> calls{0};
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.Add(0, CallTask(&sink_, &AddOne, &calls));
  line.Submit(graph.Replay());
  RunUntil(line, [&] { return sink_.waiting() == 1; });
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(3)), WaitOutcome::kTimeout);
  EXPECT_FALSE(line->HeldUp()) << "the function returns by itself: this is no wait for somebody else";
  sink_.RunNext();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST_P(ReplayTest, ACallThatDoesNotBlockIsPostedAndPassed) {
  std::atomic<int> calls{0};
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.Add(0, CallTask(&sink_, &AddOne, &calls, false));
  graph.Mark(0);
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(calls, 0);
  sink_.RunNext();
  EXPECT_EQ(calls, 1);
}

TEST_P(ReplayTest, ACallThatThereIsNoMemoryForFails) {
  std::atomic<int> calls{0};
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  sink_.Refuse();
  graph.Add(0, CallTask(&sink_, &AddOne, &calls));
  graph.Add(1, CallTask(&sink_, &AddOne, &calls, false));
  RepeatMarker* behind = graph.Mark(0);
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), (std::vector<int>{207001, 207001}));
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(ReplayTest, ManyCallsAndGatesOfManyBranches) {
  constexpr size_t kRounds = 40, kBranches = 5;
  struct Opener final : Marker {
    void Reached() override { gate.Open(); }
    void Dropped() override {}
    Gate gate{Gate::Mode::kAutoReset};
  };
  std::deque<Opener> openers(kBranches);
  std::atomic<int> calls{0};
  HostThread thread;
  Line& line = shop_.NewLine();
  Line& other = shop_.NewLine();
  TestGraph& graph = NewGraph(kBranches);
  for (size_t branch = 0; branch < kBranches; ++branch) {
    graph.Add(branch, CallTask(&thread, &AddOne, &calls));
    graph.Await(branch, &openers[branch].gate);
    graph.Add(branch, CallTask(&thread, &AddOne, &calls));
  }
  graph.Join();
  for (size_t round = 0; round < kRounds; ++round) {
    line.Submit(graph.Replay());
    for (size_t i = 0; i < kBranches; ++i) other.Submit(MarkTask(&openers[(i * 3 + round) % kBranches]));
    ASSERT_EQ(other.Drain(), WaitOutcome::kDone);
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  }
  EXPECT_EQ(calls, static_cast<int>(kRounds * kBranches * 2));
  EXPECT_TRUE(graph.Settled());
  thread.Join();
}

TEST_P(ReplayTest, AStoreInOneBranchReleasesAValueWaitInAnother) {
  for (size_t waiting : {1u, 2u}) {
    Line& line = shop_.NewLine();
    TestGraph& graph = NewGraph(3);
    graph.Add(waiting, AwaitValueTask(&word_, waiting, ValueTest::kEqual));
    RepeatMarker* behind = graph.Mark(waiting);
    graph.Await(3 - waiting, &gate_);
    graph.Add(3 - waiting, StoreTask(&word_, waiting));
    graph.Join();
    line.Submit(graph.Replay());
    RunUntil(line, [&] { return line->HeldUp(); });
    EXPECT_EQ(behind->repeats, 0);
    gate_.Open();
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(behind->reached, 1);
    gate_.Close();
  }
}

TEST_P(ReplayTest, AValueIsComparedAgainInEachReplay) {
  Line& line = shop_.NewLine();
  Line& other = shop_.NewLine();
  TestGraph& graph = NewGraph(1);
  graph.Add(0, AwaitValueTask(&word_, 7, ValueTest::kEqual));
  RepeatMarker* behind = graph.Mark(0);
  graph.Add(0, StoreTask(&word_, 0));
  for (int round = 1; round <= 3; ++round) {
    line.Submit(graph.Replay());
    RunUntil(line, [&] { return line->HeldUp(); });
    EXPECT_EQ(behind->reached, round - 1);
    other.Submit(StoreTask(&word_, 7));
    ASSERT_EQ(other.Drain(), WaitOutcome::kDone);
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(behind->reached, round);
  }
}

}  // namespace replay_test
}  // namespace ropeway_unit
