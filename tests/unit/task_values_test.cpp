// What tasks mean outside any queue: the tests of value waits, how many bytes a task moves, what becomes of one that is
// dropped or released.
#include <malloc.h>

#include <cstdlib>
#include <cstring>

#include "engine/batch.h"
#include "engine/task_graph.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace task_values_test {

constexpr uint64_t kMax = UINT64_MAX;
constexpr uint64_t kTop = uint64_t{1} << 63;

struct ValueCase {
  uint64_t m, value;
  bool at_least, equal, any_bit, not_all_bits;
};
constexpr ValueCase kValueCases[] = {
    {0, 0, true, true, false, true},
    {1, 0, true, false, false, true},
    {0, 1, false, false, false, true},
    {5, 5, true, true, true, true},
    {6, 5, true, false, true, true},  // 110 and 101 share a bit
    {4, 5, false, false, true, true},
    {2, 5, false, false, false, true},
    {kMax, kMax, true, true, true, false},
    {kMax, 0, false, false, false, false},  // as a difference, -1
    {0, kMax, true, false, false, false},   // and 1: counters may wrap
    {kMax - 1, kMax, false, false, true, false},
    {kTop, 0, false, false, false, true},     // the largest distance counts as behind
    {kTop - 1, 0, true, false, false, true},  // and this is the farthest ahead
    {0, kTop, false, false, false, true},
    {0, kTop + 1, true, false, false, true},
    {kTop, kTop, true, true, true, true},
    {~uint64_t{0xF0}, 0xF0, false, false, false, false},  // together all bits
    {~uint64_t{0xF0}, 0x70, false, false, false, true},   // all but one
    {uint64_t{1} << 32, 1, true, false, false, true},     // all 64 bits count
};

TEST(TaskValuesTest, WhatAWaitForAValueComparesWith) {
  for (const ValueCase& entry : kValueCases) {
    EXPECT_EQ(Holds(ValueTest::kAtLeast, entry.m, entry.value), entry.at_least) << entry.m << " >= " << entry.value;
    EXPECT_EQ(Holds(ValueTest::kEqual, entry.m, entry.value), entry.equal) << entry.m << " == " << entry.value;
    EXPECT_EQ(Holds(ValueTest::kAnyBit, entry.m, entry.value), entry.any_bit) << entry.m << " & " << entry.value;
    EXPECT_EQ(Holds(ValueTest::kNotAllBits, entry.m, entry.value), entry.not_all_bits) << entry.m << " nor " << entry.value;
  }
}

TEST(TaskValuesTest, TheNumbersAreThoseOfTheApi) {
  EXPECT_EQ(static_cast<int>(ValueTest::kAtLeast), 0);
  EXPECT_EQ(static_cast<int>(ValueTest::kEqual), 1);
  EXPECT_EQ(static_cast<int>(ValueTest::kAnyBit), 2);
  EXPECT_EQ(static_cast<int>(ValueTest::kNotAllBits), 3);
}

// --- Bytes --------------------------------------------------------------------------------------------------------------

Task Of(TaskKind kind) {
  Task task{};
  task.kind = kind;
  return task;
}

TEST(TaskValuesTest, BytesOfTheTasksThatMoveSome) {
  Task task = Of(TaskKind::kCopy);
  task.copy.size = 100;
  EXPECT_EQ(TaskBytes(task), 100u);
  task = Of(TaskKind::kCopy2d);
  task.copy_2d.width = 30;
  task.copy_2d.height = 7;
  task.copy_2d.dst_pitch = task.copy_2d.src_pitch = 1000;
  EXPECT_EQ(TaskBytes(task), 210u);
  Batch batch(2);
  batch.Add(&batch, &task, 11);
  batch.Add(&task, &batch, 12);
  task = Of(TaskKind::kBatch);
  task.batch = {&batch, batch.bytes()};
  EXPECT_EQ(TaskBytes(task), 23u);
  task.batch.list = nullptr;  // a lane has run the task and freed the list: who submitted it may still ask
  EXPECT_EQ(TaskBytes(task), 23u);
  task = Of(TaskKind::kCopyByCells);
  task.by_cells.size = 55;
  EXPECT_EQ(TaskBytes(task), 55u);
  task = Of(TaskKind::kSet);
  task.set.count = 9;
  EXPECT_EQ(TaskBytes(task), 9u);
  task = Of(TaskKind::kSetWords);
  task.set.count = 9;
  EXPECT_EQ(TaskBytes(task), 36u);
  task = Of(TaskKind::kReduce);
  task.reduce.size = 64;
  EXPECT_EQ(TaskBytes(task), 64u);
  EXPECT_EQ(TaskBytes(Of(TaskKind::kStore)), 8u);
}

TEST(TaskValuesTest, TheOthersMoveNone) {
  for (TaskKind kind :
       {TaskKind::kCopyByDesc, TaskKind::kMark, TaskKind::kAwait, TaskKind::kAwaitValue, TaskKind::kCall, TaskKind::kKernel,
        TaskKind::kReplay, TaskKind::kFail, TaskKind::kNothing, TaskKind::kSignal, TaskKind::kAwaitSignal, TaskKind::kMarkBound,
        TaskKind::kAwaitBound, TaskKind::kFinish, TaskKind::kActivate, TaskKind::kSwitch, TaskKind::kJump, TaskKind::kBody}) {
    Task task;
    std::memset(static_cast<void*>(&task), 0x11, sizeof(task));
    task.kind = kind;
    EXPECT_EQ(TaskBytes(task), 0u) << TaskKindName(kind);
  }
}

TEST(TaskValuesTest, EveryKindHasItsName) {
  constexpr std::pair<TaskKind, const char*> kNames[] = {
      {TaskKind::kCopy, "copy"},
      {TaskKind::kCopy2d, "copy2d"},
      {TaskKind::kBatch, "batch"},
      {TaskKind::kCopyByDesc, "copy_by_desc"},
      {TaskKind::kCopyByCells, "copy_by_cells"},
      {TaskKind::kSet, "set"},
      {TaskKind::kSetWords, "set32"},
      {TaskKind::kReduce, "reduce"},
      {TaskKind::kStore, "store"},
      {TaskKind::kMark, "record"},
      {TaskKind::kAwait, "wait"},
      {TaskKind::kAwaitValue, "wait_value"},
      {TaskKind::kCall, "call"},
      {TaskKind::kKernel, "kernel"},
      {TaskKind::kReplay, "replay"},
      {TaskKind::kFail, "fail"},
      {TaskKind::kNothing, "nothing"},
      {TaskKind::kSignal, "signal"},
      {TaskKind::kAwaitSignal, "wait_signal"},
      {TaskKind::kMarkBound, "record_external"},
      {TaskKind::kAwaitBound, "wait_external"},
      {TaskKind::kFinish, "finish"},
      {TaskKind::kActivate, "activate"},
      {TaskKind::kSwitch, "switch"},
      {TaskKind::kJump, "jump"},
      {TaskKind::kBody, "body"},
  };
  for (auto [kind, name] : kNames) EXPECT_STREQ(TaskKindName(kind), name);
}

// --- What a task owns ---------------------------------------------------------------------------------------------------

// So large that malloc maps it by itself: then the heap tells whether it was freed. A sanitizer's heap does not tell, but
// reports what is leaked or freed twice.
constexpr size_t kLarge = size_t{64} << 20;
#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
constexpr bool kHeapTells = false;
#else
constexpr bool kHeapTells = true;
#endif
int MappedBlocks() { return kHeapTells ? static_cast<int>(mallinfo2().hblks) : 0; }
constexpr int kOneBlock = kHeapTells ? 1 : 0;

Task StagedCopy() {
  Task task = Of(TaskKind::kCopy);
  task.flags = Task::kOwnsPayload;
  task.copy = {nullptr, std::malloc(kLarge), kLarge};
  return task;
}

Task OwnedBatch() {
  Task task = Of(TaskKind::kBatch);
  task.flags = Task::kOwnsPayload;
  task.batch = {new Batch(kLarge / sizeof(Piece)), 0};
  return task;
}

TEST(TaskValuesTest, ReleasingFreesWhatTheTaskOwns) {
  const int before = MappedBlocks();
  for (auto make : {&StagedCopy, &OwnedBatch}) {
    for (auto end : {&ReleasePayload, &DropTask}) {
      const Task task = make();
      ASSERT_EQ(MappedBlocks(), before + kOneBlock);
      end(task);
      EXPECT_EQ(MappedBlocks(), before) << TaskKindName(task.kind);
    }
  }
}

TEST(TaskValuesTest, WhatTheTaskDoesNotOwnStays) {
  Task copy = StagedCopy(), batch = OwnedBatch();
  copy.flags = batch.flags = Task::kOfEvent;
  const int before = MappedBlocks();
  for (const Task& task : {copy, batch}) {
    ReleasePayload(task);
    DropTask(task);
  }
  EXPECT_EQ(MappedBlocks(), before);
  copy.flags = batch.flags = Task::kOwnsPayload;
  ReleasePayload(copy);
  ReleasePayload(batch);
}

// --- Dropping -----------------------------------------------------------------------------------------------------------

TEST(TaskValuesTest, DroppingTellsTheMarker) {
  CountingMarker mark, await;
  Gate gate;
  DropTask(MarkTask(&mark));
  DropTask(AwaitTask(&gate, &await));
  EXPECT_EQ(mark.dropped, 1);
  EXPECT_EQ(await.dropped, 1);
  EXPECT_EQ(mark.reached + await.reached, 0);
  EXPECT_FALSE(gate.open());
}

TEST(TaskValuesTest, DroppingAReplayTellsThoseWhoAreBound) {
  TaskGraph graph;
  graph.bindings = 3;
  CountingMarker first, third;
  Gate gate;
  Task task = Of(TaskKind::kReplay);
  task.replay = {&graph, new ReplayBinding[3]{{nullptr, &first}, {nullptr, nullptr}, {&gate, &third}}, 0, 0};
  DropTask(task);
  EXPECT_EQ(first.dropped, 1);
  EXPECT_EQ(third.dropped, 1);
  EXPECT_FALSE(gate.open());
}

TEST(TaskValuesTest, DroppingAReplayLeavesTheGraphAlone) {
  CountingMarker inside;
  TaskGraph graph;
  graph.branches.push_back({MarkTask(&inside)});
  Task task = Of(TaskKind::kReplay);
  task.replay = {&graph, nullptr, 0, 0};
  DropTask(task);
  EXPECT_EQ(inside.dropped, 0);
  EXPECT_TRUE(graph.turn.open());
}

TEST(TaskValuesTest, AGraphDropsItsTasksWhenItEnds) {
  CountingMarker mark, await;
  Gate gate;
  const int before = MappedBlocks();
  {
    TaskGraph graph;
    graph.branches.push_back({MarkTask(&mark), StagedCopy()});
    graph.branches.push_back({AwaitTask(&gate, &await), OwnedBatch()});
    EXPECT_EQ(MappedBlocks(), before + 2 * kOneBlock);
  }
  EXPECT_EQ(mark.dropped, 1);
  EXPECT_EQ(await.dropped, 1);
  EXPECT_EQ(MappedBlocks(), before);
}

}  // namespace task_values_test
}  // namespace ropeway_unit
