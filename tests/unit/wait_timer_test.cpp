// Time limits of stream-side waits. Limits are tiny, and the test waits on the queue, not on a clock.
#include "engine/sched/wait_timer.h"

#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace wait_timer_test {

constexpr CrewCase kFast = {"Fast", ScheduleKind::kFast, 2, 0};
constexpr int64_t kHour = int64_t{3600} * 1000000000;

TEST(WaitTimerTest, ManyLimitsEndTheirWaits) {
  constexpr int kQueues = 20;
  std::deque<Gate>& gates = KeptGates(kQueues);
  Markers markers;
  FakeOwner owner;
  Workshop shop(kFast);
  std::vector<Line*> lines;
  for (size_t i = 0; i < kQueues; ++i) {
    lines.push_back(&shop.NewLine(&owner));
    lines.back()->Submit(AwaitTask(&gates[i], markers.New(), static_cast<int64_t>(kQueues - i) * 100000));
    lines.back()->Submit(MarkTask(markers.New()));
  }
  for (Line* line : lines) ASSERT_EQ(line->Drain(), WaitOutcome::kDone);
  EXPECT_EQ(owner.codes(), std::vector<int>(kQueues, 107020));
  EXPECT_TRUE(markers.EachOnce());
}

TEST(WaitTimerTest, AShortLimitIsNotHeldUpByALongOne) {
  Gate long_gate, short_gate;
  Markers markers;
  Workshop shop(kFast);
  Line& patient = shop.NewLine();
  Line& hasty = shop.NewLine();
  patient.Submit(AwaitTask(&long_gate, markers.New(), kHour));
  while (!patient->HeldUp()) sched_yield();
  hasty.Submit(AwaitTask(&short_gate, markers.New(), 100000));
  ASSERT_EQ(hasty.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(hasty.own_owner.codes(), std::vector<int>{107020});
  EXPECT_TRUE(patient.own_owner.codes().empty());
  EXPECT_TRUE(patient->HeldUp());
  long_gate.Open();
  ASSERT_EQ(patient.Drain(), WaitOutcome::kDone);
}

TEST(WaitTimerTest, AQueueWaitsTwiceWithLimits) {
  Gate first, second;
  Markers markers;
  Workshop shop(kFast);
  Line& line = shop.NewLine();
  line.Submit(AwaitTask(&first, markers.New(), 100000));
  line.Submit(AwaitTask(&second, markers.New(), 100000));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line.own_owner.codes(), (std::vector<int>{107020, 107020}));
}

TEST(WaitTimerTest, AnAbortedWaitIsNotTimedOut) {
  Gate gate, clock_gate;
  Markers markers;
  Workshop shop(kFast);
  Line& line = shop.NewLine();
  Line& clock = shop.NewLine();
  line.Submit(AwaitTask(&gate, markers.New(), 5000000));
  ASSERT_TRUE(line->Abort());
  // The next wait of the queue has no limit, and the old one passes meanwhile.
  line.Submit(AwaitTask(&gate, markers.New()));
  clock.Submit(AwaitTask(&clock_gate, markers.New(), 10000000));
  ASSERT_EQ(clock.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(line->Wait(2, Deadline::AfterMs(0)), WaitOutcome::kTimeout);
  gate.Open();
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST(WaitTimerTest, LimitsThatHaveNotPassedDoNotKeepTheEngineFromStopping) {
  Gate gate;
  Markers markers;
  Workshop shop(kFast);
  Line& line = shop.NewLine();
  line.Submit(AwaitTask(&gate, markers.New(), kHour));
  while (!line->HeldUp()) sched_yield();
  shop.engine().Stop();
  EXPECT_EQ(markers.reached() + markers.dropped(), 0);
}

}  // namespace wait_timer_test
}  // namespace ropeway_unit
