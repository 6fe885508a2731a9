// What viewers are shown beside the slices: counters, and arrows between tasks.
#include "cli/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/report/trace_script.h"

namespace ropeway::cli {
namespace timeline_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Drawing final : public TimelineSink {
 public:
  explicit Drawing(const TraceData& trace) { DrawTimeline(trace, this); }
  void Track(uint32_t, const TimelineTrack& track) override { tracks_.push_back(track); }
  void Slice(const TimelineSlice& slice) override {
    if (slice.task == kNone) return;
    for (const uint64_t arrow : slice.begins) arrows[arrow].first = slice.task;
    for (const uint64_t arrow : slice.ends) arrows[arrow].second = slice.task;
  }
  void Value(const TimelineValue& value) override {
    const TimelineTrack& track = tracks_[value.track];
    counters[{track.process, track.name}].emplace_back(value.at_ns, value.value);
  }

  using Values = std::vector<std::pair<int64_t, int64_t>>;
  std::map<std::pair<uint32_t, std::string>, Values> counters;
  std::map<uint64_t, std::pair<uint32_t, uint32_t>> arrows;  // from and to, of tasks

 private:
  std::vector<TimelineTrack> tracks_;
};

constexpr int64_t kStep = 100000;  // of the bandwidth, in a short trace

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() {
    script_.NewStream();
    trace_.end_ns = 10 * kStep;
  }
  TraceTask& Copy(uint64_t bytes, int64_t submit, int64_t start, int64_t end) {
    TraceTask task;
    task.stream = 0;
    task.thread = 0;
    task.sequence = trace_.tasks.size() + 1;
    task.kind = script_.Name("copy");
    task.bytes = bytes;
    task.submit_ns = submit;
    task.start_ns = start;
    task.end_ns = end;
    return trace_.tasks.emplace_back(task);
  }
  Drawing::Values Counter(const char* name, uint32_t process = 0) { return Drawing(trace_).counters[{process, name}]; }

  TraceScript script_;
  TraceData& trace_ = script_.trace;
};

TEST_F(TimelineTest, BytesAreInFlightFromSubmitToEnd) {
  Copy(4000, 50, kStep, 3 * kStep);
  Copy(1000, kStep, 3 * kStep, 4 * kStep);
  EXPECT_THAT(Counter("bytes in flight"), ElementsAre(Pair(50, 4000), Pair(kStep, 5000), Pair(3 * kStep, 1000), Pair(4 * kStep, 0)));
}

TEST_F(TimelineTest, WhatComesAndGoesInOneMomentIsOneChange) {
  Copy(4000, 0, 10, 20);
  Copy(500, 20, 20, 30);   // as the first ends
  Copy(7000, 40, 40, 40);  // gone as it comes
  EXPECT_THAT(Counter("bytes in flight"), ElementsAre(Pair(0, 4000), Pair(20, 500), Pair(30, 0), Pair(40, 0)));
}

TEST_F(TimelineTest, WorkInsideAGraphIsInFlightFromItsStart) {
  Copy(300, -1, 100, 200);
  EXPECT_THAT(Counter("bytes in flight"), ElementsAre(Pair(100, 300), Pair(200, 0)));
}

TEST_F(TimelineTest, WhatDidNotEndIsNoBytes) {
  Copy(300, 10, 100, -1);
  Copy(300, 10, -1, -1);
  Copy(0, 10, 100, 200);
  EXPECT_THAT(Counter("bytes in flight"), IsEmpty());
  EXPECT_THAT(Counter("bytes per second"), IsEmpty());
}

TEST_F(TimelineTest, BandwidthIsSpreadOverTheStepsOfACopy) {
  Copy(4000, 0, kStep / 2, kStep + kStep / 2);  // half of it in each of two steps
  EXPECT_THAT(Counter("bytes per second"), ElementsAre(Pair(0, 20000000), Pair(kStep, 20000000), Pair(2 * kStep, 0)));
}

TEST_F(TimelineTest, BandwidthFallsToZeroWhereACopyEndsWithAStep) {
  Copy(1000, 0, 0, kStep);
  Copy(1000, 0, 5 * kStep, 6 * kStep);
  EXPECT_THAT(Counter("bytes per second"), ElementsAre(Pair(0, 10000000), Pair(kStep, 0), Pair(5 * kStep, 10000000), Pair(6 * kStep, 0)));
}

TEST_F(TimelineTest, ACopyWithoutLengthIsInItsStep) {
  Copy(1000, 0, 2 * kStep, 2 * kStep);
  EXPECT_THAT(Counter("bytes per second"), ElementsAre(Pair(2 * kStep, 10000000), Pair(3 * kStep, 0)));
}

TEST_F(TimelineTest, EachProcessHasCountersOfItsOwn) {
  trace_.processes.push_back({4712, 1, "here", "other", "cpu", 0});
  trace_.threads.push_back({1, 4712, "main", false});
  trace_.streams.push_back({1, 1, 0});
  Copy(100, 0, 1, 2);
  Copy(200, 5, 6, 7).stream = 1;
  TraceTask& alone = Copy(300, 8, 8, 9);  // of the calling thread
  alone.stream = kNone;
  alone.thread = static_cast<uint32_t>(trace_.threads.size() - 1);
  EXPECT_THAT(Counter("bytes in flight"), ElementsAre(Pair(0, 100), Pair(2, 0)));
  EXPECT_THAT(Counter("bytes in flight", 1), ElementsAre(Pair(5, 200), Pair(7, 0), Pair(8, 300), Pair(9, 0)));
}

// All tasks of a replay have its number: the arrow is at those that it is about.
TEST_F(TimelineTest, AnArrowInsideAGraphIsBetweenItsTwoTasks) {
  for (const int64_t at : {10, 20, 30, 40}) Copy(1, -1, at, at + 5).sequence = 1;
  TraceEdge edge;
  edge.from = edge.to = 0;
  edge.from_sequence = edge.to_sequence = 1;
  edge.from_task = 1;
  edge.to_task = 2;
  trace_.edges.push_back(edge);
  const Drawing drawing(trace_);
  ASSERT_EQ(drawing.arrows.size(), 1u);
  EXPECT_THAT(drawing.arrows.begin()->second, Pair(1u, 2u));
}

}  // namespace timeline_test
}  // namespace ropeway::cli
