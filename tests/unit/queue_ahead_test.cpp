// Queues on a device that keeps the order of records and waits by itself: what is started ahead, and that nothing is told before its turn.
#include <array>
#include <optional>

#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace queue_ahead_test {

constexpr CrewCase kPoints = {"FastPoints", ScheduleKind::kFast, 2, 0, true, true};
constexpr CrewCase kOneLane = {"OneLane", ScheduleKind::kFast, 1, 0, true, true};

// As the record of an event: opens a gate.
class GateMarker final : public CountingMarker {
 public:
  explicit GateMarker(Gate* gate) : gate_(gate) {}
  void Reached() override {
    CountingMarker::Reached();
    gate_->Open();
  }
  Gate* Opens() override { return gate_; }

 private:
  Gate* gate_;
};

Task EventWaitTask(Gate* gate, Marker* marker, int64_t timeout_ns = 0) {
  Task task = AwaitTask(gate, marker, timeout_ns);
  task.flags = Task::kOfEvent;
  return task;
}

// The device is held while one lives.
class Held {
 public:
  Held() {
    PointBackend::started = PointBackend::followed = 0;
    PointBackend::held = true;
  }
  ~Held() { PointBackend::held = false; }
};

void AwaitStarted(int count) {
  while (PointBackend::started < count) sched_yield();
}

// A line whose next tasks begin together, when all of them are there: a copy without its record behind it would be finished at once.
class Together {
 public:
  explicit Together(Line& line) { line.Submit(AwaitTask(&start_, &begun_)); }
  ~Together() { start_.Open(); }

 private:
  Gate& start_ = KeptGates(1)[0];
  CountingMarker& begun_ = KeptMarker();
  static CountingMarker& KeptMarker() {
    static std::deque<CountingMarker> kept;
    return kept.emplace_back();
  }
};

// Hand-overs in a row, by turns: each line adds to what the other has written.
struct Chain {
  static constexpr size_t kLength = 16;
  Chain(Line& first, Line& second) {
    for (size_t i = 0; i < kLength; ++i) {
      Line& from = i % 2 == 0 ? first : second;
      Line& to = i % 2 == 0 ? second : first;
      GateMarker& record = records.emplace_back(&gates[i]);
      from.Submit(CopyTask(&words[i + 1], &words[i], sizeof(words[i])));
      from.Submit(MarkTask(&record));
      to.Submit(EventWaitTask(&gates[i], waits.New()));
    }
    first.Submit(CopyTask(&words[kLength + 1], &words[kLength], sizeof(words[0])));
  }
  std::deque<Gate>& gates = KeptGates(kLength);
  std::deque<GateMarker> records;
  Markers waits;
  std::array<uint64_t, kLength + 2> words{4711};
};

TEST(QueueAhead, HandOversFromLineToLineAreStartedBeforeTheFirstCopyIsDone) {
  constexpr size_t kLines = 4;
  Workshop shop(kPoints);
  std::deque<Gate>& gates = KeptGates(kLines);
  std::deque<GateMarker> records;
  Markers waits;
  std::vector<Line*> lines;
  std::array<uint64_t, kLines + 1> words{4711};
  auto held = std::make_unique<Held>();
  std::optional<Together> start;
  for (size_t i = 0; i < kLines; ++i) {
    Line& line = *lines.emplace_back(&shop.NewLine());
    if (i == 0) start.emplace(line);
    if (i > 0) line.Submit(EventWaitTask(&gates[i - 1], waits.New()));
    line.Submit(CopyTask(&words[i + 1], &words[i], sizeof(words[i])));
    line.Submit(MarkTask(&records.emplace_back(&gates[i])));
  }
  start.reset();
  AwaitStarted(kLines);
  EXPECT_EQ(PointBackend::followed, static_cast<int>(kLines) - 1);
  for (Line* line : lines) EXPECT_EQ((*line)->completed(), line == lines[0] ? 1u : 0u);
  EXPECT_FALSE(gates[0].open());
  held.reset();
  for (Line* line : lines) EXPECT_EQ(line->Drain(), WaitOutcome::kDone);
  for (uint64_t word : words) EXPECT_EQ(word, 4711u);
  for (const GateMarker& record : records) EXPECT_EQ(record.reached, 1);
  EXPECT_TRUE(waits.EachOnce());
}

TEST(QueueAhead, ChainsEndOnOneLaneAndAgainAndAgain) {
  for (const CrewCase& crew : {kOneLane, kPoints}) {
    Workshop shop(crew);
    Line &first = shop.NewLine(), &second = shop.NewLine();
    for (int round = 0; round < 200; ++round) {
      Chain chain(first, second);
      ASSERT_EQ(first.Drain(), WaitOutcome::kDone);
      ASSERT_EQ(second.Drain(), WaitOutcome::kDone);
      ASSERT_EQ(chain.words.back(), 4711u);
      ASSERT_TRUE(chain.waits.EachOnce());
    }
  }
}

// One hand-over on a device that is held.
class OneHandOver : public testing::Test {
 protected:
  void Record() {
    const Together start(first_);
    first_.Submit(CopyTask(between_, from_, sizeof(from_)));
    first_.Submit(MarkTask(&record_));
  }
  void Follow(int64_t timeout_ns = 0) {
    second_.Submit(EventWaitTask(&gate_, &passed_, timeout_ns));
    second_.Submit(CopyTask(to_, between_, sizeof(to_)));
  }
  void AwaitParked() const {
    while (!second_->HeldUp()) sched_yield();
  }
  void LetGoAndExpectArrived() {
    held_.reset();
    EXPECT_EQ(second_.Drain(), WaitOutcome::kDone);
    EXPECT_STREQ(to_, "bytes");
    EXPECT_EQ(passed_.reached, 1);
    EXPECT_EQ(first_.Drain(), WaitOutcome::kDone);
  }

  Gate& gate_ = KeptGates(1)[0];
  GateMarker record_{&gate_};
  CountingMarker passed_;
  char from_[8] = "bytes", between_[8] = "", to_[8] = "";
  Workshop shop_{kPoints};
  Line& first_ = shop_.NewLine();
  Line& second_ = shop_.NewLine();
  std::unique_ptr<Held> held_ = std::make_unique<Held>();
};

TEST_F(OneHandOver, AWaitThatIsParkedGoesOnWhenItsRecordIsForetold) {
  Follow();
  AwaitParked();
  Record();
  AwaitStarted(2);
  EXPECT_EQ(passed_.reached, 0);
  EXPECT_EQ(second_->completed(), 0u);
  LetGoAndExpectArrived();
}

TEST_F(OneHandOver, AWaitWithALimitIsTheHosts) {
  Record();
  Follow(int64_t{1} << 40);
  AwaitParked();
  EXPECT_EQ(PointBackend::followed, 0);
  EXPECT_EQ(PointBackend::started, 1);
  LetGoAndExpectArrived();
}

// A record that others have followed is over, whatever becomes of its stream: those behind it may not wait for ever.
TEST(QueueAhead, AnAbortDropsNothingThatWasStarted) {
  Workshop shop(kPoints);
  Line &first = shop.NewLine(), &second = shop.NewLine(), &third = shop.NewLine();
  std::deque<Gate>& gates = KeptGates(2);
  GateMarker record(&gates[0]), second_record(&gates[1]);
  Markers waits;
  CountingMarker behind;
  char words[4][8] = {"bytes"};
  auto held = std::make_unique<Held>();
  {
    const Together start(first);
    first.Submit(CopyTask(words[1], words[0], 8));
    first.Submit(MarkTask(&record));
  }
  second.Submit(EventWaitTask(&gates[0], waits.New()));
  second.Submit(CopyTask(words[2], words[1], 8));
  second.Submit(MarkTask(&second_record));
  third.Submit(EventWaitTask(&gates[1], waits.New()));
  third.Submit(CopyTask(words[3], words[2], 8));
  AwaitStarted(3);
  second.Submit(MarkTask(&behind));
  std::thread abort([&] { second->Abort(); });
  held.reset();
  abort.join();
  EXPECT_EQ(second_record.reached, 1);
  EXPECT_EQ(behind.reached + behind.dropped, 1);
  EXPECT_EQ(third.Drain(), WaitOutcome::kDone);
  EXPECT_STREQ(words[3], "bytes");
  EXPECT_EQ(first.Drain(), WaitOutcome::kDone);
  EXPECT_TRUE(waits.EachOnce());
}

// A copy that fails is reported before its record is told, and in front of what was started behind it.
TEST(QueueAhead, AFailureIsReportedOnce) {
  Workshop shop(kPoints);
  Line &first = shop.NewLine(), &second = shop.NewLine();
  PointBackend::fail_next = 507899;
  Chain chain(first, second);
  EXPECT_EQ(first.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(second.Drain(), WaitOutcome::kDone);
  first.Submit(SetTask(&chain.words[0], 8, 0));
  EXPECT_EQ(first.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(first.own_owner.codes().size() + second.own_owner.codes().size(), 1u);
}

}  // namespace queue_ahead_test
}  // namespace ropeway_unit
