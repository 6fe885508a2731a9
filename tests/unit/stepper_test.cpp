// What the three stepping schedules promise beyond what queue_test.cpp checks for all of them.
#include "base/clock.h"
#include "stream/host_thread.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace stepper_test {

constexpr CrewCase kEarliest = {"Earliest", ScheduleKind::kEarliest, 0, 0};
constexpr CrewCase kLatest = {"Latest", ScheduleKind::kLatest, 0, 0};
constexpr CrewCase RandomCrew(uint64_t seed) { return {"Random", ScheduleKind::kRandom, 0, seed}; }

// After a while without activity a task runs by itself. A test that is held up for so long has seen nothing wrong: it
// tries again.
constexpr int64_t kPatienceNs = 100000000;
constexpr int kTries = 20;
template <typename Attempt>
void WithoutPatience(Attempt attempt) {
  for (int i = 0; i < kTries; ++i) {
    const int64_t start = NowNs();
    const bool held = attempt();
    if (NowNs() - start < kPatienceNs) {
      EXPECT_TRUE(held);
      return;
    }
  }
}

TEST(StepperTest, EarliestHasRunEverythingWhenTheCallReturns) {
  Log log;
  Markers markers;
  Workshop shop(kEarliest);
  Line& line = shop.NewLine();
  std::vector<unsigned char> bytes(1000);
  for (int i = 0; i < 100; ++i) {
    line.Submit(MarkTask(markers.New(&log, i)));
    ASSERT_EQ(log.values().size(), static_cast<size_t>(i + 1));
    line.Submit(SetTask(bytes.data(), bytes.size(), static_cast<uint32_t>(i)));
    ASSERT_EQ(bytes[999], i);
  }
  EXPECT_EQ(line->completed(), line->submitted());
}

TEST(StepperTest, EarliestRunsWhatAGateLetsGo) {
  Markers markers;
  Gate gate;
  class Opener final : public Marker {
   public:
    explicit Opener(Gate* gate) : gate_(gate) {}
    void Reached() override { gate_->Open(); }
    void Dropped() override {}

   private:
    Gate* gate_;
  } opener(&gate);
  Workshop shop(kEarliest);
  Line& held = shop.NewLine();
  Line& other = shop.NewLine();
  held.Submit(AwaitTask(&gate, markers.New()));
  held.Submit(MarkTask(markers.New()));
  EXPECT_EQ(held->completed(), 0u);
  other.Submit(MarkTask(&opener));
  EXPECT_EQ(held->completed(), 2u) << "opened inside the call, so run inside the call";
}

TEST(StepperTest, EarliestGoesOnWhenAHostFunctionReturns) {
  Markers markers;
  ManualSink sink;
  Workshop shop(kEarliest);
  Line& line = shop.NewLine();
  line.Submit(CallTask(
      &sink, [](void*) {}, nullptr));
  line.Submit(MarkTask(markers.New()));
  EXPECT_EQ(line->completed(), 0u);
  sink.RunNext();
  EXPECT_EQ(line->completed(), 2u);
}

TEST(StepperTest, LatestRunsNothingBeforeSomebodyWaits) {
  WithoutPatience([] {
    Markers markers;
    Workshop shop(kLatest);
    Line& line = shop.NewLine();
    for (int i = 0; i < 500; ++i) line.Submit(MarkTask(markers.New()));
    const bool nothing_ran = line->completed() == 0 && markers.reached() == 0;
    EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_EQ(markers.reached(), 500);
    return nothing_ran;
  });
}

TEST(StepperTest, LatestRunsNoMoreThanTheWaiterNeeds) {
  WithoutPatience([] {
    Markers markers;
    Workshop shop(kLatest);
    Line& line = shop.NewLine();
    for (int i = 0; i < 10; ++i) line.Submit(MarkTask(markers.New()));
    EXPECT_EQ(line->Wait(4, Deadline::Never()), WaitOutcome::kDone);
    return line->completed() == 4;
  });
}

TEST(StepperTest, LatestMakesRoomWhenTheQueueIsFull) {
  WithoutPatience([] {
    Markers markers;
    Workshop shop(kLatest);
    Line& line = shop.NewLine();
    for (int i = 0; i < 2013; ++i) line.Submit(MarkTask(markers.New()));
    const bool nothing_ran = line->completed() == 0;
    line.Submit(MarkTask(markers.New()));
    return nothing_ran && line->completed() == 1;
  });
}

TEST(StepperTest, LatestTakesManyPollsAsAHint) {
  Markers markers;
  Workshop shop(kLatest);
  Line& line = shop.NewLine();
  line.Submit(MarkTask(markers.New()));
  int polls = 0;
  while (line->completed() == 0) {
    line->Poll();
    ++polls;
  }
  EXPECT_LE(polls, 1000);
}

TEST(StepperTest, WorkEndsByItselfUnderLatest) {
  Markers markers;
  Workshop shop(kLatest);
  Line& line = shop.NewLine();
  for (int i = 0; i < 3; ++i) line.Submit(MarkTask(markers.New()));
  while (markers.reached() < 3) sched_yield();  // a program that looks at memory only
  EXPECT_TRUE(markers.EachOnce());
}

// Submits to four queues, waits now and then, and tells in which order the tasks ran.
std::vector<int> RunProgram(uint64_t seed) {
  Log log;
  Markers markers;
  Workshop shop(RandomCrew(seed));
  std::vector<Line*> lines;
  for (int i = 0; i < 4; ++i) lines.push_back(&shop.NewLine());
  for (int task = 0; task < 40; ++task) {
    for (size_t i = 0; i < lines.size(); ++i) lines[i]->Submit(MarkTask(markers.New(&log, static_cast<int>(i) * 1000 + task)));
    if (task % 10 == 9) lines[static_cast<size_t>(task / 10)]->Drain();
  }
  for (Line* line : lines) line->Drain();
  return log.values();
}

TEST(StepperTest, TheSameSeedGivesTheSameOrder) {
  for (uint64_t seed : {1u, 2u, 99u}) {
    WithoutPatience([seed] { return RunProgram(seed) == RunProgram(seed); });
  }
}

TEST(StepperTest, DifferentSeedsGiveDifferentOrders) {
  const std::vector<int> first = RunProgram(1);
  EXPECT_EQ(first.size(), 160u);
  int different = 0;
  for (uint64_t seed = 2; seed < 12; ++seed) different += RunProgram(seed) != first;
  EXPECT_GE(different, 9);
}

TEST(StepperTest, RandomRunsSomeEarlyAndSomeLate) {
  Markers markers;
  Workshop shop(RandomCrew(5));
  Line& line = shop.NewLine();
  bool ran_inside_the_call = false, left_for_later = false;
  for (int i = 0; i < 200; ++i) {
    line.Submit(MarkTask(markers.New()));
    ran_inside_the_call |= line->completed() == line->submitted();
    left_for_later |= line->completed() < line->submitted();
  }
  EXPECT_TRUE(ran_inside_the_call);
  EXPECT_TRUE(left_for_later);
  EXPECT_EQ(line.Drain(), WaitOutcome::kDone);
}

TEST(StepperTest, ManyThreadsMaySubmitAndWait) {
  for (const CrewCase& crew : {kEarliest, kLatest, RandomCrew(3)}) {
    HostThread host;
    std::atomic<int> calls{0};
    Workshop shop(crew);
    std::vector<Line*> lines;
    for (int i = 0; i < 4; ++i) lines.push_back(&shop.NewLine());
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        Markers markers;
        for (int i = 0; i < 100; ++i) {
          Line& line = *lines[(thread + static_cast<size_t>(i)) % lines.size()];
          line.Submit(MarkTask(markers.New()));
          line.Submit(CallTask(
              &host, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls));
          if (i % 10 == 0) line.Drain();
        }
        for (Line* line : lines) line->Drain();
        EXPECT_TRUE(markers.EachOnce());
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(calls, 400);
    host.Join();
  }
}

}  // namespace stepper_test
}  // namespace ropeway_unit
