// The trace as the command reads it: what a task, a wait, a block and an edge leave in the file.
#include "watch/trace.h"

#include <algorithm>
#include <filesystem>

#include "base/call_site.h"
#include "cli/trace_data.h"
#include "cli/trace_parts.h"
#include "engine/watcher.h"
#include "unit/stream_fixture.h"
#include "watch/trace_chunks.h"

namespace ropeway_unit {
namespace trace_test {

using cli::kNone;
using cli::TraceData;
using cli::TraceTask;

// A trace lasts as long as the process: all tests write into one, and each looks at its own streams.
class TraceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = new std::string(testing::TempDir() + "ropeway_trace_" + std::to_string(getpid()) + ".rwt");
    early_place_ = NamePlace("/some/early.py:3");
    StartTrace({*path_, "3", "cpu"});
    watcher_ = ActiveWatcher();
    g_watcher = nullptr;
  }
  static void TearDownTestSuite() {
    watcher_->Flush();
    unlink(path_->c_str());
  }
  void SetUp() override {
    ASSERT_NE(watcher_, nullptr);
    g_watcher = watcher_;
  }
  void TearDown() override { g_watcher = nullptr; }

  static TraceData Read() {
    TraceData trace;
    std::string why;
    EXPECT_TRUE(cli::ReadTraces({*path_}, &trace, &why)) << why;
    return trace;
  }
  static const TraceTask* Find(const TraceData& trace, const Stream* stream, uint64_t sequence) {
    const TraceTask* found = nullptr;
    for (const TraceTask& task : trace.tasks) {
      if (task.stream == kNone || trace.streams[task.stream].id != static_cast<uint32_t>(stream->id()) || task.sequence != sequence)
        continue;
      EXPECT_EQ(found, nullptr) << "a task is there once";
      found = &task;
    }
    EXPECT_NE(found, nullptr) << "stream " << stream->id() << " task " << sequence;
    return found;
  }
  static inline std::string* path_ = nullptr;
  static inline Watcher* watcher_ = nullptr;
  static inline const void* early_place_ = nullptr;
};

TEST_F(TraceTest, SaysWhoseItIs) {
  const TraceData trace = Read();
  ASSERT_EQ(trace.processes.size(), 1u);
  EXPECT_EQ(trace.processes[0].pid, getpid());
  EXPECT_EQ(trace.processes[0].rank, 3);
  EXPECT_EQ(trace.processes[0].engine, "cpu");
  EXPECT_NE(trace.processes[0].program.find("unit_tests"), std::string::npos);
  EXPECT_EQ(trace.processes[0].dropped, 0u);
}

TEST_F(TraceTest, ATaskIsSubmittedStartedAndFinishedInThatOrder) {
  FailureScope scope;
  Markers markers;
  std::vector<unsigned char> a(100), b(100);
  TestStream first(&scope), second(&scope, SharedEngine(), 2);
  struct Expected {
    const Stream* stream;
    uint64_t sequence;
    const char* kind;
  };
  std::vector<Expected> expected;
  for (TestStream* stream : {&first, &second}) {
    const uint64_t before = stream->get()->queue().submitted();
    ASSERT_TRUE(stream->Submit(SetTask(a.data(), 100, 1)).ok());
    ASSERT_TRUE(stream->Submit(CopyTask(b.data(), a.data(), 100)).ok());
    ASSERT_TRUE(stream->Submit(MarkTask(markers.New())).ok());
    ASSERT_TRUE(stream->get()->Synchronize(Deadline::Never()).ok());
    expected.insert(expected.end(),
                    {{stream->get(), before + 1, "set"}, {stream->get(), before + 2, "copy"}, {stream->get(), before + 3, "record"}});
  }
  const TraceData trace = Read();
  for (const Expected& task : expected) {
    const TraceTask* const found = Find(trace, task.stream, task.sequence);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(trace.names[found->kind], task.kind);
    EXPECT_LE(0, found->submit_ns);
    EXPECT_LE(found->submit_ns, found->start_ns);
    EXPECT_LE(found->start_ns, found->end_ns);
    EXPECT_LE(found->end_ns, trace.end_ns);
    EXPECT_EQ(found->code, 0);
    EXPECT_FALSE(found->dropped);
    EXPECT_EQ(trace.threads[found->thread].tid, gettid());
    EXPECT_NE(found->lane, kNone);
  }
  const TraceTask& copy = *Find(trace, second.get(), expected[4].sequence);
  EXPECT_EQ(trace.names[copy.call], "copy");
  EXPECT_EQ(copy.bytes, 100u);
  EXPECT_EQ(copy.items, 1u);
  EXPECT_EQ(trace.names[copy.method], "cached");
  EXPECT_EQ(trace.names[copy.reason], CopyMethodReason(CopyMethod::kCached));
  EXPECT_EQ(trace.streams[copy.stream].device, 2);
}

TEST_F(TraceTest, ATaskThatWaitsForRoomIsSubmittedOnceAndItsThreadWaited) {
  FailureScope scope;
  Gate gate;
  Markers markers;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
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
  const TraceData trace = Read();
  for (uint64_t i = 1; i <= 2014; ++i) ASSERT_NE(Find(trace, stream.get(), before + i), nullptr);
  const TraceTask& last = *Find(trace, stream.get(), before + 2014);
  size_t waits = 0;
  for (const cli::TraceWait& wait : trace.waits) {
    if (trace.threads[wait.thread].tid != tid) continue;
    ++waits;
    EXPECT_EQ(trace.names[wait.reason], "room");
    EXPECT_EQ(trace.streams[wait.stream].id, static_cast<uint32_t>(stream->id()));
    EXPECT_LE(wait.begin_ns, wait.end_ns);
    EXPECT_LE(wait.end_ns, last.submit_ns);
  }
  EXPECT_GE(waits, 1u);
}

// A queue that is full most of the time, and is being emptied all the while.
TEST_F(TraceTest, ATaskThatComesInAsRoomIsMadeIsToldAsWell) {
  constexpr uint64_t kTasks = 100'000;
  FailureScope scope;
  char bytes[64] = {};
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  for (uint64_t i = 0; i < kTasks; ++i) ASSERT_TRUE(stream.Submit(CopyTask(bytes, bytes + 32, 32)).ok());
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  const TraceData trace = Read();
  uint64_t told = 0;
  for (const TraceTask& task : trace.tasks) {
    const bool mine = task.stream != cli::kNone && trace.streams[task.stream].id == static_cast<uint32_t>(stream->id());
    if (!mine || task.sequence <= before) continue;
    ++told;
    ASSERT_GE(task.submit_ns, 0) << task.sequence;
  }
  EXPECT_EQ(told, kTasks);
}

TEST_F(TraceTest, DroppedTasksSaySo) {
  FailureScope scope;
  Gate gate;
  Markers markers;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate, markers.New())).ok());
  ASSERT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  while (!stream->queue().HeldUp()) sched_yield();
  ASSERT_TRUE(stream->Abort().ok());
  const TraceData trace = Read();
  const TraceTask &wait = *Find(trace, stream.get(), before + 1), &mark = *Find(trace, stream.get(), before + 2);
  EXPECT_TRUE(wait.dropped);
  EXPECT_GE(wait.start_ns, 0) << "the stream had come to it";
  EXPECT_EQ(wait.end_ns, -1);
  EXPECT_TRUE(mark.dropped);
  EXPECT_EQ(mark.start_ns, -1);
}

TEST_F(TraceTest, FailuresCarryTheirCode) {
  FailureScope scope;
  Gate gate;
  Markers markers;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  ASSERT_TRUE(stream.Submit(FailTask(507013)).ok());
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate, markers.New(), 100000)).ok());
  EXPECT_FALSE(stream->Synchronize(Deadline::Never()).ok());
  const TraceData trace = Read();
  EXPECT_EQ(Find(trace, stream.get(), before + 1)->code, 507013);
  EXPECT_EQ(Find(trace, stream.get(), before + 2)->code, 107020) << "a wait that ran into its limit";
}

TEST_F(TraceTest, BlocksAndEdges) {
  int block = 0;
  ActiveWatcher()->Allocated({&block, 64, 3, "aclrtMalloc"});
  ActiveWatcher()->Freed({&block, 64, 3, "aclrtFree"});
  ActiveWatcher()->Allocated({&block, 65, -1, "aclrtMallocHost"});
  ActiveWatcher()->Ordered({1001, 2, 1003, 4, "aclrtStreamWaitEvent", 0x123456});
  const TraceData trace = Read();
  std::vector<cli::TraceBlock> blocks;
  for (const cli::TraceBlock& one : trace.blocks) {
    if (one.address == reinterpret_cast<uintptr_t>(&block)) blocks.push_back(one);
  }
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].bytes, 64u);
  EXPECT_EQ(blocks[0].device, 3);
  EXPECT_EQ(trace.names[blocks[0].call], "aclrtMalloc");
  EXPECT_LE(blocks[0].allocated_ns, blocks[0].freed_ns);
  EXPECT_EQ(blocks[1].device, -1);
  EXPECT_EQ(blocks[1].freed_ns, -1);
  const auto edge =
      std::find_if(trace.edges.begin(), trace.edges.end(), [&](const cli::TraceEdge& one) { return trace.streams[one.from].id == 1001u; });
  ASSERT_NE(edge, trace.edges.end());
  EXPECT_EQ(edge->from_sequence, 2u);
  EXPECT_EQ(trace.streams[edge->to].id, 1003u);
  EXPECT_EQ(edge->to_sequence, 4u);
  EXPECT_EQ(edge->event, 0x123456u);
}

TEST_F(TraceTest, AWaitInsideOfAWaitIsOneOfItsOwn) {
  {
    const HostWait outer(WaitReason::kRank, 0, 7);
    const HostWait inner(WaitReason::kProcess, 0, 0);
  }
  const HostWait open(WaitReason::kRank, 0, UINT32_MAX);
  const TraceData trace = Read();
  std::vector<cli::TraceWait> waits;
  for (const cli::TraceWait& wait : trace.waits) {
    const std::string& reason = trace.names[wait.reason];
    if (reason == "rank" || reason == "process") waits.push_back(wait);
  }
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].rank, 7);
  EXPECT_EQ(trace.names[waits[1].reason], "process");
  EXPECT_EQ(waits[1].rank, -1);
  EXPECT_LE(waits[0].begin_ns, waits[1].begin_ns);
  EXPECT_LE(waits[1].begin_ns, waits[1].end_ns);
  EXPECT_LE(waits[1].end_ns, waits[0].end_ns);
  EXPECT_EQ(waits[2].rank, -1);
  EXPECT_EQ(waits[2].end_ns, -1) << "it is not over";
}

TEST_F(TraceTest, ALibraryOnTopSaysWhoseWorkItIs) {
  FailureScope scope;
  Markers markers;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  const void* const place = TellTracePlace("/some/step.py:12");
  const TransferSight sent{Link::kTcp, 5, 1000, 2}, first_word{Link::kNone, 9, 0, 1};
  t_outer_call = {place, "HcclSend"};
  t_transfer = &sent;
  ASSERT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  t_transfer = nullptr;
  t_outer_call = {place, nullptr};
  ASSERT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  t_outer_call = {};
  ASSERT_TRUE(stream->AwaitWork(Deadline::Never()).ok());
  ActiveWatcher()->Transferred(static_cast<uint32_t>(stream->id()), before + 2, first_word);
  ActiveWatcher()->Transferred(static_cast<uint32_t>(stream->id()), before + 2, {Link::kUcx, UINT32_MAX, 7, 3});
  const TraceData trace = Read();
  const TraceTask &send = *Find(trace, stream.get(), before + 1), &other = *Find(trace, stream.get(), before + 2);
  EXPECT_EQ(trace.names[send.call], "HcclSend");
  EXPECT_EQ(trace.sites[send.site].file, "/some/step.py");
  EXPECT_EQ(trace.sites[send.site].line, 12);
  EXPECT_EQ(trace.names[send.link], "tcp");
  EXPECT_EQ(send.rank, 5);
  EXPECT_EQ(send.bytes, 1000u);
  EXPECT_EQ(send.items, 2u);
  EXPECT_EQ(trace.names[other.call], "mark");
  EXPECT_EQ(other.site, send.site);
  EXPECT_EQ(trace.names[other.link], "ucx");
  EXPECT_EQ(other.rank, -1) << "several";
  EXPECT_EQ(other.bytes, 7u);
}

TEST_F(TraceTest, APlaceThatWasNamedBeforeTheTraceIsInIt) {
  ASSERT_NE(early_place_, nullptr);
  EXPECT_EQ(CallSiteText(early_place_), "called at early.py:3");
  FailureScope scope;
  Markers markers;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  t_outer_call = {early_place_, nullptr};
  ASSERT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
  t_outer_call = {};
  ASSERT_TRUE(stream->AwaitWork(Deadline::Never()).ok());
  const TraceData trace = Read();
  const TraceTask& task = *Find(trace, stream.get(), before + 1);
  ASSERT_NE(task.site, kNone);
  EXPECT_EQ(trace.sites[task.site].file, "/some/early.py");
  EXPECT_EQ(trace.sites[task.site].line, 3);
}

// Of two processes' parts, the ends of one message, whichever is read first.
TEST_F(TraceTest, AMessageIsAnEdgeFromSenderToReceiver) {
  FailureScope scope;
  Markers markers;
  TestStream sender(&scope), receiver(&scope);
  constexpr uint64_t kMessage = 0xABCDEF0123456789;
  const uint64_t sent = sender->queue().submitted() + 1, received = receiver->queue().submitted() + 1;
  for (TestStream* stream : {&sender, &receiver}) {
    ASSERT_TRUE(stream->Submit(MarkTask(markers.New())).ok());
    ASSERT_TRUE(stream->get()->AwaitWork(Deadline::Never()).ok());
  }
  watcher_->Messaged(static_cast<uint32_t>(receiver->id()), received, kMessage, false);
  watcher_->Messaged(static_cast<uint32_t>(sender->id()), sent, kMessage, true);
  watcher_->Messaged(static_cast<uint32_t>(sender->id()), sent, kMessage + 1, true);  // nobody takes it
  const TraceData trace = Read();
  size_t edges = 0;
  for (const cli::TraceEdge& edge : trace.edges) {
    if (edge.from_task == kNone || &trace.tasks[edge.from_task] != Find(trace, sender.get(), sent)) continue;
    ++edges;
    EXPECT_EQ(&trace.tasks[edge.to_task], Find(trace, receiver.get(), received));
  }
  EXPECT_EQ(edges, 1u);
}

TEST_F(TraceTest, AMergedFileHasTheSameInFewerChunks) {
  FailureScope scope;
  Markers markers;
  TestStream stream(&scope);
  std::vector<std::thread> threads;
  std::atomic<int> there{0};
  constexpr int kThreads = 5;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const HostWait wait(WaitReason::kReport, 0, 0);
      ++there;
      while (there < kThreads) sched_yield();  // each has a chunk
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string merged = *path_ + ".merged";
  std::string why;
  ASSERT_TRUE(cli::MergeTraces({*path_}, merged, &why)) << why;
  const TraceData one = Read();
  TraceData other;
  ASSERT_TRUE(cli::ReadTraces({merged}, &other, &why)) << why;
  EXPECT_EQ(other.tasks.size(), one.tasks.size());
  EXPECT_EQ(other.waits.size(), one.waits.size());
  EXPECT_EQ(other.edges.size(), one.edges.size());
  EXPECT_EQ(other.blocks.size(), one.blocks.size());
  EXPECT_EQ(other.threads.size(), one.threads.size());
  const auto size = std::filesystem::file_size(merged);
  EXPECT_LT(size, std::filesystem::file_size(*path_));
  ASSERT_TRUE(cli::MergeTraces({merged}, merged, &why)) << why;
  EXPECT_LE(std::filesystem::file_size(merged), size);
  unlink(merged.c_str());
}

// Everything that the tasks leave, whose they are and the waits between them included.
TEST_F(TraceTest, ACopyTakesLessThan64BytesOnDisk) {
  constexpr uint64_t kStretches = 100, kStretch = 1000;
  FailureScope scope;
  char bytes[64] = {};
  TestStream stream(&scope);
  const std::string merged = *path_ + ".size";
  const auto size = [&] {
    std::string why;
    EXPECT_TRUE(cli::MergeTraces({*path_}, merged, &why)) << why;
    return std::filesystem::file_size(merged);
  };
  const uint64_t before = size();
  for (uint64_t i = 0; i < kStretches; ++i) {
    for (uint64_t j = 0; j < kStretch; ++j) ASSERT_TRUE(stream.Submit(CopyTask(bytes, bytes + 32, 32)).ok());
    ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  }
  EXPECT_LT(size() - before, kStretches * kStretch * 60);
  unlink(merged.c_str());
}

TEST_F(TraceTest, ALongRunEndsWhenItEnds) {
  constexpr uint32_t kStream = 1005;
  const Task copy = CopyTask(nullptr, nullptr, 8);
  const TaskSight sight{kStream, 0, 1, &copy};
  const uint64_t now = watcher_->Started(sight).ticks;
  const uint64_t took = std::min(uint64_t{1} << 38, now - 1);  // more than a minute, or since the machine was started, where ticks are few
  watcher_->Finished(sight, {.started = {.ticks = now - took}});
  const TraceData trace = Read();
  const auto task = std::find_if(trace.tasks.begin(), trace.tasks.end(),
                                 [&](const TraceTask& one) { return one.stream != kNone && trace.streams[one.stream].id == kStream; });
  ASSERT_NE(task, trace.tasks.end());
  EXPECT_EQ(task->start_ns, 0) << "before the trace";
  EXPECT_GT(task->end_ns, 0) << "and not a few ticks later";
  EXPECT_EQ(task->sequence, 1u);
}

TEST_F(TraceTest, ManyThreadsShareWhatTheyLeave) {
  constexpr int kThreads = 40;
  FailureScope scope;
  TestStream stream(&scope);
  const uint64_t before = stream->queue().submitted();
  Markers markers;
  std::vector<pid_t> tids;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      tids.push_back(gettid());
      EXPECT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
    }).join();
  }
  ASSERT_TRUE(stream->AwaitWork(Deadline::Never()).ok());
  const TraceData trace = Read();
  for (int i = 0; i < kThreads; ++i) {
    const TraceTask* const task = Find(trace, stream.get(), before + static_cast<uint64_t>(i) + 1);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(trace.threads[task->thread].tid, tids[static_cast<size_t>(i)]);
  }
}

TEST_F(TraceTest, RecordsOfManyThreadsDoNotMix) {
  constexpr size_t kThreads = 4, kTasks = 3000;  // more than a chunk each
  FailureScope scope;
  std::vector<std::thread> threads;
  std::atomic<size_t> ids[kThreads];
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Markers markers;
      TestStream stream(&scope);
      ids[i] = static_cast<size_t>(stream->id());
      for (size_t task = 0; task < kTasks; ++task) EXPECT_TRUE(stream.Submit(MarkTask(markers.New())).ok());
      EXPECT_TRUE(stream->AwaitWork(Deadline::Never()).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const TraceData trace = Read();
  size_t whole = 0;
  for (const TraceTask& task : trace.tasks) {
    if (task.stream == kNone) continue;
    const size_t id = trace.streams[task.stream].id;
    if (std::find(std::begin(ids), std::end(ids), id) != std::end(ids)) whole += task.submit_ns >= 0 && task.end_ns >= task.start_ns;
  }
  EXPECT_EQ(whole, kThreads * kTasks);
}

// --- The file -----------------------------------------------------------------------------------------------------------

TEST(TraceFileTest, AFileThatCannotBeWrittenIsNoTrace) {
  testing::internal::CaptureStderr();
  StartTrace({"/nonexistent/folder/trace.rwt", "", "cpu"});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/nonexistent/folder/trace.rwt"), std::string::npos);
  EXPECT_EQ(ActiveWatcher(), nullptr);
}

TEST(TraceFileTest, WhatIsNoTraceIsRefusedWithAReason) {
  const std::string path = testing::TempDir() + "ropeway_no_trace_" + std::to_string(getpid());
  const auto reason = [&](const std::string& content) {
    std::ofstream(path) << content;
    TraceData trace;
    std::string why;
    EXPECT_FALSE(cli::ReadTraces({path}, &trace, &why));
    return why;
  };
  EXPECT_NE(reason("").find("empty"), std::string::npos);
  EXPECT_NE(reason("{\"trace\":\"ropeway\"}").find("too short"), std::string::npos);
  EXPECT_NE(reason(std::string(5000, 'x')).find("no trace"), std::string::npos);
  std::string other(5000, '\0');
  std::memcpy(other.data(), trace::kMagic, sizeof(trace::kMagic));
  other[8] = 99;
  EXPECT_NE(reason(other).find("version 99"), std::string::npos);
  unlink(path.c_str());
  EXPECT_NE(reason("x").find(path), std::string::npos);
  unlink(path.c_str());
}

// Nobody prepares chunks here, so that those at the start are all there are: a full ring gives none and waits for nobody.
TEST(TraceFileTest, AFullRingHasNoChunkAndTakesItBackWhenOneIsGivenBack) {
  std::string path = testing::TempDir() + "ropeway_ring_" + std::to_string(getpid());
  const std::unique_ptr<TraceChunks> chunks(TraceChunks::Open(&path));
  ASSERT_NE(chunks, nullptr);
  std::vector<TraceChunk*> taken;
  while (TraceChunk* chunk = chunks->Take()) taken.push_back(chunk);
  EXPECT_GT(taken.size(), 0u);
  EXPECT_EQ(chunks->Take(), nullptr);
  chunks->GiveBack(taken.back(), 96);
  TraceChunk* const again = chunks->Take();
  ASSERT_EQ(again, taken.back());
  EXPECT_EQ(again->used, 96u) << "who takes it goes on behind what is there";
  chunks->GiveBack(again, trace::kChunkSize - trace::kMostRecordSize);
  EXPECT_EQ(chunks->Take(), nullptr) << "a record might be longer than what is left";
  chunks->CountDropped();
  EXPECT_EQ(chunks->header().dropped, 1u);
  chunks->End();
  unlink(path.c_str());
}

TEST(TraceFileTest, AFileThatIsBeingWrittenIsLeftAlone) {
  const std::string name = testing::TempDir() + "ropeway_busy_" + std::to_string(getpid());
  std::string first = name + ".rwt", second = name + ".rwt";
  const std::unique_ptr<TraceChunks> one(TraceChunks::Open(&first)), other(TraceChunks::Open(&second));
  ASSERT_NE(one, nullptr);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(first, name + ".rwt");
  EXPECT_EQ(second, name + "." + std::to_string(getpid()) + ".rwt");
  for (TraceChunks* chunks : {one.get(), other.get()}) chunks->End();
  for (const std::string& path : {first, second}) EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST_F(TraceTest, MarksAndRangesAreThereOfThreadsAndOfStreams) {
  FailureScope scope;
  TestStream stream(&scope);
  const auto id = static_cast<uint32_t>(stream.get()->id());
  ASSERT_TRUE(watcher_->WantsMarks());
  watcher_->Marked({MarkKind::kInstant, false, 0, -1, 1001, "a mark", ""});
  watcher_->Marked({MarkKind::kBegin, false, id, 0, 1002, "a range", "domain"});
  for (int replay = 0; replay < 2; ++replay) {
    watcher_->Marked({MarkKind::kBegin, true, id, 0, 1002, "a range", "domain"});
    watcher_->Marked({MarkKind::kEnd, true, id, 0, 1002, "", "domain"});
  }
  watcher_->Marked({MarkKind::kEnd, false, id, 0, 1002, "", "domain"});
  watcher_->Marked({MarkKind::kBegin, false, 0, -1, 1003, "not ended", ""});
  const TraceData trace = Read();
  ASSERT_EQ(trace.marks.size(), 5u);
  const struct {
    const char* name;
    bool in_stream;
    bool moment;
    bool ended;
  } wanted[] = {{"a mark", false, true, true},
                {"domain: a range", false, false, true},
                {"domain: a range", true, false, true},
                {"domain: a range", true, false, true},
                {"not ended", false, false, false}};
  for (size_t i = 0; i < std::size(wanted); ++i) {
    const cli::TraceMark& mark = trace.marks[i];
    EXPECT_EQ(trace.names[mark.name], wanted[i].name) << i;
    EXPECT_EQ(mark.thread == kNone, wanted[i].in_stream) << i;
    ASSERT_EQ(mark.stream != kNone, wanted[i].in_stream) << i;
    if (wanted[i].in_stream) {
      EXPECT_EQ(trace.streams[mark.stream].id, id) << i;
    }
    EXPECT_EQ(mark.end_ns >= mark.begin_ns, wanted[i].ended) << i;
    EXPECT_EQ(mark.end_ns == mark.begin_ns, wanted[i].moment) << i;
  }
  EXPECT_GE(trace.marks[1].end_ns, trace.marks[3].end_ns);
}

}  // namespace trace_test
}  // namespace ropeway_unit
