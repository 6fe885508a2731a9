// The trace: every line is JSON, and a task's lines find each other by stream and number.
#include "watch/trace.h"

#include <nlohmann/json.hpp>

#include "engine/watcher.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace trace_test {

using nlohmann::json;

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "ropeway_trace_" + std::to_string(getpid()) + ".json";
    StartTrace(path_);
    ASSERT_NE(ActiveWatcher(), nullptr);
    static auto* kept = new std::vector<Watcher*>;  // a trace lasts as long as the process
    kept->push_back(ActiveWatcher());
  }
  void TearDown() override {
    g_watcher = nullptr;
    unlink(path_.c_str());
  }
  std::vector<json> Lines() {
    ActiveWatcher()->Flush();
    std::ifstream file(path_);
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }
  // The lines of one event, by stream and number.
  std::vector<json> Of(const std::vector<json>& lines, const char* event, unsigned stream, unsigned sequence) {
    std::vector<json> found;
    for (const json& line : lines) {
      if (line.value("ev", "") == event && line.value("stream", 0u) == stream && line.value("seq", 0u) == sequence) found.push_back(line);
    }
    return found;
  }
  std::string path_;
};

TEST_F(TraceTest, StartsWithAHeader) {
  const std::vector<json> lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["trace"], "ropeway");
  EXPECT_EQ(lines[0]["version"], 1);
  EXPECT_EQ(lines[0]["pid"], getpid());
}

TEST_F(TraceTest, ATaskIsSubmittedStartedAndFinishedInThatOrder) {
  FailureScope scope;
  Markers markers;
  std::vector<unsigned char> a(100), b(100);
  TestStream first(&scope), second(&scope);
  struct Expected {
    unsigned stream, sequence;
    const char* kind;
  };
  std::vector<Expected> expected;
  for (TestStream* stream : {&first, &second}) {
    const auto id = static_cast<unsigned>(stream->get()->id());
    const auto before = static_cast<unsigned>(stream->get()->queue().submitted());
    ASSERT_TRUE(stream->Submit(SetTask(a.data(), 100, 1)).ok());
    ASSERT_TRUE(stream->Submit(CopyTask(b.data(), a.data(), 100)).ok());
    ASSERT_TRUE(stream->Submit(MarkTask(markers.New())).ok());
    ASSERT_TRUE(stream->get()->Synchronize(Deadline::Never()).ok());
    expected.insert(expected.end(), {{id, before + 1, "set"}, {id, before + 2, "copy"}, {id, before + 3, "record"}});
  }
  const std::vector<json> lines = Lines();
  for (const Expected& task : expected) {
    const auto submits = Of(lines, "submit", task.stream, task.sequence);
    const auto starts = Of(lines, "start", task.stream, task.sequence);
    const auto finishes = Of(lines, "finish", task.stream, task.sequence);
    ASSERT_EQ(submits.size(), 1u);
    ASSERT_EQ(starts.size(), 1u);
    ASSERT_EQ(finishes.size(), 1u);
    EXPECT_LE(submits[0]["t"], starts[0]["t"]);
    EXPECT_LE(starts[0]["t"], finishes[0]["t"]);
    EXPECT_EQ(submits[0]["kind"], task.kind);
    EXPECT_EQ(finishes[0]["kind"], task.kind);
    EXPECT_EQ(finishes[0]["code"], 0);
  }
  const json copy = Of(lines, "submit", expected[1].stream, expected[1].sequence)[0];
  EXPECT_EQ(copy["call"], "copy");
  EXPECT_EQ(copy["bytes"], 100);
  EXPECT_EQ(copy["dst"], reinterpret_cast<uintptr_t>(b.data()));
  EXPECT_EQ(copy["src"], reinterpret_cast<uintptr_t>(a.data()));
  EXPECT_EQ(copy["thread"], gettid());
}

TEST_F(TraceTest, ATaskThatWaitsForRoomIsSubmittedOnce) {
  FailureScope scope;
  Gate gate;
  Markers markers;
  TestStream stream(&scope);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate, markers.New())).ok());
  for (int i = 1; i < 2013; ++i) ASSERT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  std::atomic<pid_t> tid{0};
  std::thread submitter([&] {
    tid = gettid();
    EXPECT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  });
  while (tid == 0) sched_yield();
  AwaitAsleep(tid);
  gate.Open();
  submitter.join();
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  size_t submits = 0;
  for (const json& line : Lines()) submits += line.value("ev", "") == "submit";
  EXPECT_EQ(submits, 2014u);
}

TEST_F(TraceTest, DroppedTasksSaySo) {
  Gate gate;
  Markers markers;
  Workshop shop({"Fast", ScheduleKind::kFast, 1, 0});
  Line& line = shop.NewLine();
  line.Submit(AwaitTask(&gate, markers.New()));
  line.Submit(MarkTask(markers.New()));
  while (!line->HeldUp()) sched_yield();
  ASSERT_TRUE(line->Abort());
  const std::vector<json> lines = Lines();
  EXPECT_EQ(Of(lines, "drop", 1, 1).size(), 1u);
  EXPECT_EQ(Of(lines, "drop", 1, 2).size(), 1u);
  EXPECT_EQ(Of(lines, "finish", 1, 1).size(), 0u);
  EXPECT_EQ(Of(lines, "start", 1, 2).size(), 0u);
}

TEST_F(TraceTest, FailuresCarryTheirCode) {
  Gate gate;
  Markers markers;
  Workshop shop({"Fast", ScheduleKind::kFast, 1, 0});
  Line& line = shop.NewLine();
  line.Submit(FailTask(507013));
  line.Submit(AwaitTask(&gate, markers.New(), 100000));
  ASSERT_EQ(line.Drain(), WaitOutcome::kDone);
  const std::vector<json> lines = Lines();
  EXPECT_EQ(Of(lines, "finish", 1, 1).at(0)["code"], 507013);
  EXPECT_EQ(Of(lines, "finish", 1, 2).at(0)["code"], 107020) << "a wait that ran into its limit";
}

TEST_F(TraceTest, BlocksAndEdges) {
  int block = 0;
  ActiveWatcher()->Allocated({&block, 64, 3, "aclrtMalloc"});
  ActiveWatcher()->Freed({&block, 64, -1, "aclrtFree"});
  ActiveWatcher()->Ordered({1, 2, 3, 4, "aclrtStreamWaitEvent"});
  const std::vector<json> lines = Lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1]["ev"], "alloc");
  EXPECT_EQ(lines[1]["address"], reinterpret_cast<uintptr_t>(&block));
  EXPECT_EQ(lines[1]["bytes"], 64);
  EXPECT_EQ(lines[1]["device"], 3);
  EXPECT_EQ(lines[2]["ev"], "free");
  EXPECT_EQ(lines[2]["device"], -1);
  EXPECT_EQ(lines[3]["ev"], "order");
  EXPECT_EQ(lines[3]["from"], 1);
  EXPECT_EQ(lines[3]["to_seq"], 4);
}

TEST_F(TraceTest, LinesOfManyThreadsDoNotMix) {
  constexpr size_t kThreads = 4, kTasks = 300;
  FailureScope scope;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Markers markers;
      TestStream stream(&scope);
      for (size_t task = 0; task < kTasks; ++task) EXPECT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
      EXPECT_TRUE(stream->AwaitWork(Deadline::Never()).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t tasks = 0;
  for (const json& line : Lines()) tasks += line.contains("seq");
  EXPECT_EQ(tasks, kThreads * kTasks * 3) << "submit, start and finish of each";
}

TEST(TraceFileTest, AFileThatCannotBeWrittenIsNoTrace) {
  testing::internal::CaptureStderr();
  StartTrace("/nonexistent/folder/trace.json");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/nonexistent/folder/trace.json"), std::string::npos);
  EXPECT_EQ(ActiveWatcher(), nullptr);
}

}  // namespace trace_test
}  // namespace ropeway_unit
