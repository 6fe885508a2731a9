// Failures inside replays: memory that is gone when a graph is replayed. The task fails without moving a byte; the rest
// runs, or is dropped in stop mode.
#include "unit/replay_harness.h"

namespace ropeway_unit {
namespace replay_failure_test {

constexpr int kCopyFailed = 507013;

// Everything is usable but one address.
class OneGone final : public AddressJudge {
 public:
  Verdict Judge(const void* address, size_t, uint64_t) const override { return {address != gone, 0}; }
  const void* gone = nullptr;
};

class ReplayFailureTest : public ReplayFixture {
 protected:
  ReplayFailureTest() { shop_.engine().SetJudge(&judge_); }
  ~ReplayFailureTest() override { shop_.engine().Stop(); }  // before the judge goes
  OneGone judge_;
  std::vector<unsigned char> lost_ = std::vector<unsigned char>(64, 1), kept_ = std::vector<unsigned char>(64, 1);
};
INSTANTIATE_TEST_SUITE_P(Crews, ReplayFailureTest, testing::ValuesIn(kAllCrews), CrewName);

TEST_P(ReplayFailureTest, MemoryThatIsGoneFailsItsTaskAndTheRestRuns) {
  judge_.gone = lost_.data();
  Line& line = shop_.NewLine();
  TestGraph& graph = NewGraph(2);
  graph.Add(0, SetTask(lost_.data(), lost_.size(), 2));
  graph.Add(0, SetTask(kept_.data(), kept_.size(), 2));
  RepeatMarker* behind = graph.Mark(0);
  graph.Add(1, AwaitValueTask(lost_.data(), 1, ValueTest::kEqual));
  RepeatMarker* beside = graph.Mark(1);
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), (std::vector<int>{kCopyFailed, kCopyFailed}));
  EXPECT_EQ(lost_, std::vector<unsigned char>(64, 1)) << "no byte may move";
  EXPECT_EQ(kept_, std::vector<unsigned char>(64, 2));
  EXPECT_EQ(behind->reached + beside->reached, 2);
  judge_.gone = nullptr;
}

TEST_P(ReplayFailureTest, InStopModeTheRestIsDropped) {
  judge_.gone = lost_.data();
  Line& line = shop_.NewLine();
  line.own_owner.stop_on_failure = true;
  TestGraph& graph = NewGraph(2);
  graph.Await(0, &other_gate_);
  RepeatMarker* parked = graph.Await(1, &gate_);
  graph.Add(0, SetTask(lost_.data(), lost_.size(), 2));
  graph.Add(0, SetTask(kept_.data(), kept_.size(), 2));
  RepeatMarker* behind = graph.Mark(0);
  graph.MarkBound(0);
  line.Submit(graph.Replay({{nullptr, markers_.New()}}));
  CountingMarker* next = markers_.New();
  line.Submit(MarkTask(next));
  RunUntil(line, [&] { return line->HeldUp(); });
  other_gate_.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), std::vector<int>{kCopyFailed});
  EXPECT_EQ(kept_, std::vector<unsigned char>(64, 1));
  EXPECT_EQ(behind->repeats, 0);
  EXPECT_EQ(parked->dropped, 1);
  EXPECT_EQ(next->dropped, 1);
  EXPECT_TRUE(markers_.EachOnce());
  EXPECT_TRUE(graph.free());
}

}  // namespace replay_failure_test
}  // namespace ropeway_unit
