// Every detector on a trace that has its pattern, and on a twin that has not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/report_analysis.h"
#include "tests/report/trace_script.h"

namespace ropeway::cli {
namespace analysis_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;

std::string First(const TraceScript& script) {
  const Answer answer = Analyse(script.trace, TraceScript::kRate);
  return answer.findings.empty() ? "" : answer.findings[0].pattern;
}

std::string FirstLine(const TraceScript& script) { return Words(script.trace, Analyse(script.trace, TraceScript::kRate))[0]; }

bool Found(const TraceScript& script, const std::string& pattern) {
  for (const Finding& finding : Analyse(script.trace, TraceScript::kRate).findings) {
    if (finding.pattern == pattern) return true;
  }
  return false;
}

TEST(AnalysisTest, PageableCopies) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 20000; ++i) {
    script.Pageable(stream, 4 * kKiB, 8);
    script.Wait(stream, 9);
  }
  EXPECT_EQ(First(script), "pageable");
  EXPECT_THAT(FirstLine(script), StartsWith("host waiting "));
  EXPECT_THAT(FirstLine(script), HasSubstr("; 20,000 pageable copies of 4 KiB, each followed by a wait, slow.cpp:8: pin the buffer"));
  EXPECT_THAT(FirstLine(script), HasSubstr("aclrtMemcpyBatchAsync"));
  EXPECT_FALSE(Found(script, "wait-behind-each")) << "the same time told twice";
}

TEST(AnalysisTest, PageableCopiesThatAreLargeNeedNoBatch) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 20; ++i) script.Pageable(stream, 8 * kMiB, 8);
  EXPECT_EQ(First(script), "pageable");
  EXPECT_THAT(FirstLine(script), Not(HasSubstr("Batch")));
  EXPECT_THAT(FirstLine(script), Not(HasSubstr("followed by a wait")));
}

TEST(AnalysisTest, SynchronousCopies) {
  TraceScript script;
  for (int i = 0; i < 20; ++i) script.Synchronous(8 * kMiB, 12);
  EXPECT_EQ(First(script), "synchronous");
  EXPECT_THAT(FirstLine(script), HasSubstr("20 synchronous copies of 8 MiB (aclrtMemcpy), slow.cpp:12: use aclrtMemcpyAsync"));
}

TEST(AnalysisTest, AWaitBehindEachCopy) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 1000; ++i) {
    script.Copy(stream, 256 * kKiB, 20);
    script.Wait(stream, 21);
  }
  EXPECT_EQ(First(script), "wait-behind-each");
  EXPECT_THAT(FirstLine(script), HasSubstr("aclrtSynchronizeStream behind each of 1,000 copies of 256 KiB, slow.cpp:21: queue all"));
}

// A wait that found the copy done is not in a trace.
TEST(AnalysisTest, AWaitBehindEachCopyOfWhichAFewDidNotWait) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 1000; ++i) {
    script.Copy(stream, 256 * kKiB, 20);
    if (i % 4 != 0) script.Wait(stream, 21);
  }
  EXPECT_THAT(FirstLine(script), HasSubstr("aclrtSynchronizeStream behind each of 1,000 copies of 256 KiB"));
}

TEST(AnalysisTest, AWaitBehindEveryOtherTask) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 1000; ++i) {
    script.Copy(stream, 256 * kKiB, 20);
    if (i % 2 != 0) script.Wait(stream, 21);
  }
  EXPECT_THAT(FirstLine(script), HasSubstr("aclrtSynchronizeStream behind every 2 tasks of 1,000 copies of 256 KiB"));
}

TEST(AnalysisTest, OneWaitBehindManyIsFine) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 50; ++j) script.Copy(stream, 256 * kKiB, 20);
    script.Wait(stream, 21);
  }
  EXPECT_EQ(First(script), "");
  EXPECT_THAT(FirstLine(script), HasSubstr("no slow pattern found; 1,000 tasks, 250 MiB"));
}

TEST(AnalysisTest, SmallCopiesOneByOne) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 5000; ++i) {
    script.Copy(stream, 4 * kKiB, 30);
    script.Copy(stream, 2 * kKiB, 31);
  }
  script.Wait(stream, 33);
  EXPECT_EQ(First(script), "small-copies");
  EXPECT_THAT(FirstLine(script), HasSubstr("10,000 copies of 2 KiB to 4 KiB, one by one, slow.cpp:30: use one aclrtMemcpyBatchAsync"));
}

TEST(AnalysisTest, SmallBatches) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 5000; ++i) script.Batch(stream, 4 * kKiB, 2, 30);
  EXPECT_EQ(First(script), "small-copies");
  EXPECT_THAT(FirstLine(script), HasSubstr("put more items into each"));
}

TEST(AnalysisTest, LargeBatchesAreFine) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 100; ++i) script.Batch(stream, kMiB, 256, 30);
  EXPECT_EQ(First(script), "");
}

TEST(AnalysisTest, StreamsThatNeverOverlap) {
  TraceScript script;
  const uint32_t one = script.NewStream(), two = script.NewStream();
  for (int i = 0; i < 100; ++i) {
    script.Copy(one, kMiB, 50);
    script.Order(one, two, 55);
    script.Copy(two, kMiB, 56, "D2H");
    script.Order(two, one, 57);
  }
  script.Wait(two, 60);
  EXPECT_EQ(First(script), "serial-streams");
  EXPECT_THAT(FirstLine(script), HasSubstr("streams 1 and 2 never overlapped: "));
  EXPECT_THAT(FirstLine(script), HasSubstr("slow.cpp:5"));
}

TEST(AnalysisTest, StreamsThatWaitOneWayAndOverlapAreFine) {
  TraceScript script;
  const uint32_t one = script.NewStream(), two = script.NewStream();
  for (int i = 0; i < 100; ++i) {
    script.Copy(one, kMiB, 50);
    script.Order(one, two, 55);
    script.Copy(two, kMiB, 56, "D2H");
  }
  script.Wait(two, 60);
  EXPECT_FALSE(Found(script, "serial-streams"));
}

// Two streams at both ends of a third that is never idle: there is nothing to be gained from them.
TEST(AnalysisTest, StreamsBesideABusyOneAreFine) {
  TraceScript script;
  const uint32_t in = script.NewStream(), work = script.NewStream(), out = script.NewStream();
  for (int i = 0; i < 100; ++i) {
    if (i > 2) script.Order(out, in, 50, 2);
    script.Copy(in, kMiB, 51);
    script.Order(in, work, 52);
    script.HostFunction(work, 500'000, 53);
    script.Order(work, out, 54);
    script.Copy(out, kMiB, 55, "D2H");
  }
  script.Wait(out, 60);
  EXPECT_FALSE(Found(script, "host-function")) << "they have a stream of their own";
  EXPECT_FALSE(Found(script, "serial-streams"));
}

TEST(AnalysisTest, OneStreamForBothDirections) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 50; ++i) {
    script.Copy(stream, 4 * kMiB, 70, "H2D");
    script.Copy(stream, 4 * kMiB, 71, "D2H");
  }
  script.Wait(stream, 73);
  EXPECT_EQ(First(script), "one-stream");
  EXPECT_THAT(FirstLine(script), HasSubstr("stream 1 alone carries both directions"));
}

TEST(AnalysisTest, RanksAreNamed) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  script.trace.processes.push_back({4720, 1, "here", "planted", "cpu", 0});
  script.trace.streams[stream].process = 1;
  script.HostFunction(stream, 500'000, 91);
  script.Copy(stream, kMiB, 90);
  EXPECT_THAT(FirstLine(script), HasSubstr("held up stream 1 of rank 1 for"));
}

TEST(AnalysisTest, AStreamForEachDirectionIsFine) {
  TraceScript script;
  const uint32_t in = script.NewStream(), out = script.NewStream();
  for (int i = 0; i < 50; ++i) {
    script.Copy(in, 4 * kMiB, 70, "H2D");
    script.Copy(out, 4 * kMiB, 71, "D2H");
  }
  EXPECT_EQ(First(script), "");
}

TEST(AnalysisTest, MemoryInTheLoop) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 200; ++i) {
    script.Allocate(kMiB, 30'000, 80);
    script.Copy(stream, kMiB, 81);
    script.Wait(stream, 82);
    script.Free(20'000);
  }
  EXPECT_EQ(First(script), "memory-in-loop");
  EXPECT_THAT(FirstLine(script),
              HasSubstr("200 blocks of 1 MiB made by aclrtMalloc and given back in a loop, each behind a wait, slow.cpp:80"));
}

TEST(AnalysisTest, APoolThatGrowsIsFine) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 200; ++i) {
    script.Allocate(kMiB, 30'000, 80);
    script.Copy(stream, kMiB, 81);
  }
  script.Wait(stream, 82);
  for (TraceBlock& block : script.trace.blocks) block.freed_ns = script.now();
  EXPECT_FALSE(Found(script, "memory-in-loop"));
}

TEST(AnalysisTest, HostFunctionsThatHoldAStreamUp) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 50; ++i) {
    script.Copy(stream, kMiB, 90);
    script.HostFunction(stream, 500'000, 91);
  }
  script.Wait(stream, 93);
  EXPECT_EQ(First(script), "host-function");
  EXPECT_THAT(FirstLine(script), HasSubstr("49 host functions held up stream 1 for 24.5 ms, slow.cpp:91"));
}

TEST(AnalysisTest, AHostFunctionAtTheEndHoldsNothingUp) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  script.Copy(stream, kMiB, 90);
  script.HostFunction(stream, 500'000, 91);
  EXPECT_EQ(First(script), "");
}

TEST(AnalysisTest, RowsThatAreTooShort) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 50; ++i) script.Rows(stream, 64, 4096, 95);
  EXPECT_EQ(First(script), "small-rows");
  EXPECT_THAT(FirstLine(script), HasSubstr("50 2-D copies with rows of 64 B, slow.cpp:95"));
}

TEST(AnalysisTest, LongRowsAreFine) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 50; ++i) script.Rows(stream, 4096, 64, 95);
  EXPECT_EQ(First(script), "");
}

TEST(AnalysisTest, AStreamBehindAValue) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  script.ValueWait(stream, 3'000'000, 97);
  script.Copy(stream, kMiB, 98);
  EXPECT_EQ(First(script), "value-wait");
  EXPECT_THAT(FirstLine(script), HasSubstr("stream 1 stood still for 3.00 ms behind 1 wait for a value, slow.cpp:97"));
}

TEST(AnalysisTest, TheCostliestComesFirst) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 100; ++i) script.Synchronous(8 * kMiB, 12);
  for (int i = 0; i < 100; ++i) script.Pageable(stream, kMiB, 8);
  const std::vector<std::string> words = Words(script.trace, Analyse(script.trace, TraceScript::kRate));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_THAT(words[0], HasSubstr("100 synchronous copies"));
  EXPECT_THAT(words[1], StartsWith("then 11 %: 100 pageable copies of 1 MiB"));
}

TEST(AnalysisTest, WhatTheTraceLacksIsSaid) {
  TraceScript script;
  script.trace.processes[0].dropped = 1200;
  const std::vector<std::string> words = Words(script.trace, Analyse(script.trace, TraceScript::kRate));
  EXPECT_EQ(words.back(), "process 4711: 1,200 records had no room and are missing");
}

TEST(AnalysisTest, AnEmptyTrace) {
  TraceData empty;
  empty.names = {""};
  EXPECT_EQ(Words(empty, Analyse(empty)), std::vector<std::string>{"host waiting 0 % of 0.00 ns; no slow pattern found; 0 tasks, 0 B"});
}

TEST(AnalysisTest, SideBySide) {
  TraceScript script;
  const uint32_t one = script.NewStream(), two = script.NewStream();
  EXPECT_EQ(SideBySide(script.trace), 0);
  script.Copy(one, 30 * kMiB, 10);
  EXPECT_EQ(SideBySide(script.trace), 0);
  script.Copy(two, 10 * kMiB, 10);
  EXPECT_NEAR(SideBySide(script.trace), 1.0 / 3, 0.001);
  // What waits is not busy, unless it is work between ranks.
  for (TraceTask& task : script.trace.tasks) task.kind = script.Name("wait");
  EXPECT_EQ(SideBySide(script.trace), 0);
  for (TraceTask& task : script.trace.tasks) task.link = script.Name("tcp");
  EXPECT_NEAR(SideBySide(script.trace), 1.0 / 3, 0.001);
}

// A program that was killed has tasks without an end, and a wait that nobody came back from.
TEST(AnalysisTest, ATraceWhoseEndIsMissing) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 30; ++i) {
    script.Copy(stream, kMiB, 20);
    script.Wait(stream, 21);
  }
  script.trace.tasks.back().start_ns = script.trace.tasks.back().end_ns = -1;
  script.trace.waits.back().end_ns = -1;
  EXPECT_EQ(First(script), "wait-behind-each");
}

}  // namespace analysis_test
}  // namespace ropeway::cli
