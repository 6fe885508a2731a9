// LaneQueue through the Queue interface, under every crew: how work ends before it is done.
#include "stream/host_thread.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace queue_end_test {

class QueueEndTest : public testing::TestWithParam<CrewCase> {
 protected:
  // Declared in front of the workshop: its threads may still look at them.
  Markers markers_;
  ManualSink sink_;
  Gate gate_;
  Workshop shop_{GetParam()};
};

// --- Abort --------------------------------------------------------------------------------------------------------------

TEST_P(QueueEndTest, AbortOfAnIdleQueueChangesNothing) {
  Line& line = shop_.NewLine();
  EXPECT_TRUE(line->Abort());
  line.Submit(MarkTask(markers_.New()));
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_TRUE(line->Abort());
  EXPECT_EQ(markers_.reached(), 1);
}

TEST_P(QueueEndTest, AbortAtAGateDropsTheWaitAndWhatIsBehindIt) {
  Line& line = shop_.NewLine();
  std::vector<unsigned char> canary(64, 1);
  line.Submit(AwaitTask(&gate_, markers_.New()));
  for (int i = 0; i < 100; ++i) line.Submit(MarkTask(markers_.New()));
  line.Submit(SetTask(canary.data(), canary.size(), 2));
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_TRUE(line->Abort());
  EXPECT_EQ(line->completed(), line->submitted());
  EXPECT_EQ(markers_.dropped(), 101);
  EXPECT_FALSE(line->HeldUp());
  gate_.Open();
  EXPECT_TRUE(markers_.EachOnce());
  EXPECT_EQ(canary, std::vector<unsigned char>(64, 1));
}

TEST_P(QueueEndTest, AfterAnAbortTheQueueWorksAgain) {
  Line& line = shop_.NewLine();
  for (int round = 0; round < 20; ++round) {
    CountingMarker* dropped = markers_.New();
    CountingMarker* reached = markers_.New();
    line.Submit(AwaitTask(&gate_, markers_.New()));
    line.Submit(MarkTask(dropped));
    ASSERT_TRUE(line->Abort());
    line.Submit(MarkTask(reached));
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(dropped->dropped, 1);
    EXPECT_EQ(reached->reached, 1);
  }
}

TEST_P(QueueEndTest, AbortTakesBackAHostCallThatHasNotBegun) {
  Line& line = shop_.NewLine();
  std::atomic<int> calls{0};
  CountingMarker* behind = markers_.New();
  line.Submit(CallTask(&sink_, &AddOne, &calls));
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_TRUE(line->Abort());
  EXPECT_EQ(sink_.waiting(), 0u);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(behind->dropped, 1);
}

TEST_P(QueueEndTest, AbortWaitsForAHostCallThatRuns) {
  struct Call {
    Latch begun, may_end;
    std::atomic<bool> ended{false};
  } call;
  HostThread thread;
  Line& line = shop_.NewLine();
  line.Submit(CallTask(
      &thread,
      [](void* argument) {
        auto* here = static_cast<Call*>(argument);
        here->begun.Release();
        here->may_end.Await();
        here->ended = true;
      },
      &call));
  CountingMarker* behind = markers_.New();
  line.Submit(MarkTask(behind));
  std::thread helper([&] { line->Wait(1, Deadline::Never()); });  // late schedules need somebody who waits
  call.begun.Await();
  bool ended_before = false;
  std::thread aborter([&] {
    EXPECT_TRUE(line->Abort());
    ended_before = call.ended;
  });
  call.may_end.Release();
  aborter.join();
  helper.join();
  EXPECT_TRUE(ended_before);
  EXPECT_EQ(behind->dropped + behind->reached, 1);
  EXPECT_EQ(line->completed(), line->submitted());
  thread.Join();
}

TEST_P(QueueEndTest, AWaiterInsideItsWaitIsToldOfTheAbort) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  const uint64_t last = line.Submit(MarkTask(markers_.New()));
  std::atomic<pid_t> tid{0};
  WaitOutcome outcome = WaitOutcome::kTimeout;
  std::thread waiter([&] {
    tid = gettid();
    outcome = line->Wait(last, Deadline::Never());
  });
  while (tid == 0) sched_yield();
  AwaitAsleep(tid);
  EXPECT_TRUE(line->Abort());
  waiter.join();
  EXPECT_EQ(outcome, WaitOutcome::kAborted) << "the work was dropped, so the wait must not say that it is done";
}

TEST_P(QueueEndTest, AbortsAgainstAGateThatOpensEndEachMarkerOnce) {
  constexpr int kRounds = 200;
  Line& line = shop_.NewLine();
  for (int round = 0; round < kRounds; ++round) {
    Gate gate;
    line.Submit(AwaitTask(&gate, markers_.New()));
    line.Submit(MarkTask(markers_.New()));
    std::thread opener([&] { gate.Open(); });
    EXPECT_TRUE(line->Abort());
    opener.join();
    ASSERT_EQ(line->completed(), line->submitted());
  }
  EXPECT_TRUE(markers_.EachOnce());
}

TEST_P(QueueEndTest, SubmittersWaitersAndAbortsTogether) {
  constexpr int kThreads = 3, kTasks = 2000;
  Line& line = shop_.NewLine();
  std::deque<Markers> markers(kThreads);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> submitters;
  for (int thread = 0; thread < kThreads; ++thread) {
    submitters.emplace_back([&, thread] {
      for (int i = 0; i < kTasks; ++i) {
        const uint64_t sequence = line.Submit(MarkTask(markers[static_cast<size_t>(thread)].New()));
        if (i % 97 == 0) line->Wait(sequence, Deadline::Never());
      }
      --running;
    });
  }
  while (running > 0) {
    EXPECT_TRUE(line->Abort());
    sched_yield();
  }
  for (std::thread& submitter : submitters) submitter.join();
  line.Drain();
  EXPECT_EQ(line->completed(), static_cast<uint64_t>(kThreads * kTasks));
  for (Markers& of_thread : markers) EXPECT_TRUE(of_thread.EachOnce());
}

// --- Halt ---------------------------------------------------------------------------------------------------------------

TEST_P(QueueEndTest, AHaltedQueueStartsNothingUntilItIsAborted) {
  Line& line = shop_.NewLine();
  line->Halt();
  for (int i = 0; i < 10; ++i) line.Submit(MarkTask(markers_.New()));
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_TRUE(line->HeldUp());
  EXPECT_TRUE(line->Abort());
  EXPECT_FALSE(line->HeldUp());
  EXPECT_EQ(markers_.dropped(), 10);
  CountingMarker* behind = markers_.New();
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(behind->reached, 1);
}

TEST_P(QueueEndTest, AHaltLetsTheRunningTaskEnd) {
  Line& line = shop_.NewLine();
  line.Submit(AwaitTask(&gate_, markers_.New()));
  CountingMarker* behind = markers_.New();
  line.Submit(MarkTask(behind));
  ASSERT_EQ(line->Wait(1, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  line->Halt();
  gate_.Open();
  ASSERT_EQ(line->Wait(1, Deadline::Never()), WaitOutcome::kDone);
  ASSERT_EQ(line->Wait(2, Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  EXPECT_EQ(behind->reached, 0);
  EXPECT_TRUE(line->Abort());
  EXPECT_EQ(behind->dropped, 1);
}

TEST_P(QueueEndTest, TheNextStreamOfAHaltedQueueIsNotHalted) {
  Line& line = shop_.NewLine();
  line->Halt();
  line->Open({&line.own_owner, 2, 0, 0});
  CountingMarker* marker = markers_.New();
  line.Submit(MarkTask(marker));
  EXPECT_EQ(line->Wait(1, Deadline::AfterMs(250)), WaitOutcome::kDone);
  EXPECT_EQ(marker->reached, 1);
}

INSTANTIATE_TEST_SUITE_P(Crews, QueueEndTest, testing::ValuesIn(kAllCrews), CrewName);

}  // namespace queue_end_test
}  // namespace ropeway_unit
