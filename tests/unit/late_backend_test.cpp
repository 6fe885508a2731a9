// Queues whose backend works on behind Start. All tests of queues and replays run on one, too (the crews named Late); here is what only
// such a backend can show.
#include "unit/late_backend.h"

#include "engine/batch.h"
#include "unit/replay_harness.h"

namespace ropeway_unit {
namespace late_backend_test {

constexpr int kLost = 507899;
constexpr CrewCase kLate = {"FastLate", ScheduleKind::kFast, 2, 0, true};

// Notes who is blamed, and insists that it is a task.
class BlamedOwner : public QueueOwner {
 public:
  bool TaskFailed(const Task& task, uint64_t sequence, int code, const char* text) override {
    blamed.push_back(task.call);
    sequences.push_back(sequence);
    EXPECT_EQ(code, kLost);
    EXPECT_NE(std::string(text).find("lost"), std::string::npos);
    return false;
  }
  std::vector<std::string> blamed;
  std::vector<uint64_t> sequences;
};

TEST(LateBackend, AFailureIsBlamedOnATaskThatWasStarted) {
  Workshop shop(kLate);
  BlamedOwner owner;
  Line& line = shop.NewLine(&owner);
  char from[64] = "bytes", to[64] = "";
  LateBackend::fail_next = kLost;
  line.Submit(CopyTask(to, from, sizeof(to)));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(owner.blamed, std::vector<std::string>{"copy"});
  EXPECT_EQ(owner.sequences, std::vector<uint64_t>{1});
  line.Submit(SetTask(to, sizeof(to), 7));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(owner.blamed.size(), 1u) << "told once";
  EXPECT_EQ(to[5], 7);
}

TEST(LateBackend, AFailureInsideAGraphIsBlamedOnItsReplay) {
  Workshop shop(kLate);
  BlamedOwner owner;
  Line& line = shop.NewLine(&owner);
  char from[8] = "bytes", to[8] = "";
  TestGraph graph(1);
  graph.Add(0, CopyTask(to, from, sizeof(to)));
  LateBackend::fail_next = kLost;
  line.Submit(graph.Replay());
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(owner.blamed.size(), 1u);
}

// A mark behind a copy is reached when the bytes are there, however many copies were started in one go.
TEST(LateBackend, MarksComeBehindTheBytesInFrontOfThem) {
  Workshop shop(kLate);
  Line& line = shop.NewLine();
  std::vector<uint64_t> words(1000, 0);
  Log log;
  Markers markers;
  for (size_t i = 0; i < words.size(); ++i) line.Submit(StoreTask(&words[i], i + 1));
  line.Submit(MarkTask(markers.New(&log, 1)));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  for (size_t i = 0; i < words.size(); ++i) ASSERT_EQ(words[i], i + 1);
  EXPECT_EQ(log.values(), std::vector<int>{1});
}

// The submitter of a batch only starts it. Whoever has the queue next finishes it, waited for or not, and what follows comes behind it.
TEST(LateBackend, ABatchThatItsSubmitterStartedIsFinishedByOthers) {
  Workshop shop(kLate);
  for (int round = 0; round < 200; ++round) {
    Line& line = shop.NewLine();
    char from[64] = "bytes", to[64] = "";
    auto batch = std::make_unique<Batch>(1);
    batch->Add(to, from, sizeof(to));
    Task task{};
    task.kind = TaskKind::kBatch;
    task.flags = Task::kOwnsPayload;
    task.call = "batch";
    const size_t bytes = batch->bytes();
    task.batch = {batch.release(), bytes};
    line.Submit(task);
    if (round % 2 == 0) line.Submit(SetTask(to, 1, 'B'));
    ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
    EXPECT_STREQ(to, round % 2 == 0 ? "Bytes" : "bytes");
  }
}

// One branch stores a word and is done, the other waits for an answer to it: the store may not be kept while the graph is idle.
TEST(LateBackend, AGraphThatWaitsHasGivenAwayWhatItStarted) {
  Workshop shop(kLate);
  Line& graph_line = shop.NewLine();
  Line& partner = shop.NewLine();
  alignas(8) uint64_t question = 0, answer = 0;
  TestGraph graph(2);
  graph.Add(0, AwaitValueTask(&answer, 1, ValueTest::kEqual));
  graph.Add(1, StoreTask(&question, 1));
  partner.Submit(AwaitValueTask(&question, 1, ValueTest::kEqual));
  partner.Submit(StoreTask(&answer, 1));
  graph_line.Submit(graph.Replay());
  EXPECT_EQ(graph_line.Drain(), WaitOutcome::kDone);
  EXPECT_EQ(partner.Drain(), WaitOutcome::kDone);
}

}  // namespace late_backend_test
}  // namespace ropeway_unit
