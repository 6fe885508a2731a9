// Tasks whose addresses are judged when they run: those of graphs, and those that find their addresses in memory. A
// task that fails moves no byte and says why.
#include "engine/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/copy_descriptor.h"
#include "engine/sched/recheck.h"

namespace ropeway::cpu {
namespace cpu_backend_test {

constexpr int kCopyFailed = 507013;
constexpr size_t kBlock = 4096;

class Blocks final : public AddressJudge {
 public:
  struct Block {
    const char* begin;
    size_t size;
    int device;
  };
  Verdict Judge(const void* address, size_t size, uint64_t) const override {
    const char* at = static_cast<const char*>(address);
    for (const Block& block : all) {
      if (at >= block.begin && at < block.begin + block.size)
        return {size <= block.size - static_cast<size_t>(at - block.begin), block.device};
    }
    return {false, -1};
  }
  void Forget(const char* begin) {
    std::erase_if(all, [&](const Block& block) { return block.begin == begin; });
  }
  std::vector<Block> all;
};

// Three blocks of device 0 that touch, one of device 1, and one of pinned memory.
class CpuBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    base_ = static_cast<char*>(backend_.ReserveDevices(size_t{2} << 20, size_t{2} << 20, 0));
    ASSERT_NE(base_, nullptr);
    view_ = static_cast<char*>(backend_.HostView(base_, size_t{2} << 20));
    for (size_t i = 0; i < 3; ++i) blocks_.all.push_back({At(i), kBlock, 0});
    blocks_.all.push_back({At(5), kBlock, 1});
    blocks_.all.push_back({pinned_.data(), pinned_.size(), -1});
    UseJudge(&blocks_);
    for (size_t i = 0; i < 6; ++i) std::memset(View(At(i)), static_cast<int>(i + 1), kBlock);
  }
  char* At(size_t block) const { return base_ + block * kBlock; }
  char* View(const void* address) const { return view_ + (static_cast<const char*>(address) - base_); }
  // Not compared by EXPECT_EQ, which would print them all.
  bool Filled(const char* address, size_t size, char with) const {
    return std::all_of(View(address), View(address) + size, [&](char byte) { return byte == with; });
  }

  // Fails with this text, and block 0, which all tasks here write, stays as it is.
  void ExpectFailure(const Task& task, const char* part_of_text) {
    TaskFailure failure;
    EXPECT_EQ(RunAgain(task, &failure), kCopyFailed) << TaskKindName(task.kind);
    EXPECT_EQ(failure.code, kCopyFailed);
    EXPECT_NE(std::string(failure.text).find(part_of_text), std::string::npos) << failure.text;
    EXPECT_TRUE(Filled(At(0), kBlock, 1)) << TaskKindName(task.kind);
  }
  void ExpectRuns(const Task& task) {
    TaskFailure failure;
    failure.text[0] = '\0';
    EXPECT_EQ(RunAgain(task, &failure), 0) << TaskKindName(task.kind) << ": " << failure.text;
  }

  // As a task of a graph.
  int RunAgain(const Task& task, TaskFailure* failure) {
    const int code = sched::Recheck(task, judge_, FreeClock::kNever, failure);
    return code != 0 ? code : backend_.Start(task, {}, nullptr, failure);
  }
  void UseJudge(const AddressJudge* judge) {
    judge_ = judge;
    backend_.SetJudge(judge);
  }

  Blocks blocks_;
  const AddressJudge* judge_ = nullptr;
  WorkSharer sharer_;
  std::vector<char> pinned_ = std::vector<char>(kBlock, 9);
  char* base_ = nullptr;
  char* view_ = nullptr;
  CpuBackend backend_{sharer_, false};
};

Task Of(TaskKind kind) {
  Task task{};
  task.kind = kind;
  task.method = CopyMethod::kCached;
  task.call = "test";
  return task;
}

Task Copy(void* dst, const void* src, size_t size) {
  Task task = Of(TaskKind::kCopy);
  task.copy = {dst, src, size};
  return task;
}

Task ByDescriptor(const void* descriptor, uint32_t size) {
  Task task = Of(TaskKind::kCopyByDesc);
  task.by_desc = {descriptor, size};
  return task;
}

// --- Tasks of a graph ---------------------------------------------------------------------------------------------------

// Every kind that writes block 0, with a source in block 1 where it has one.
std::vector<Task> TasksThatWrite(char* dst, const char* src, Batch* batch) {
  std::vector<Task> tasks(7);
  tasks[0] = Copy(dst, src, kBlock);
  tasks[1] = Of(TaskKind::kCopy2d);
  tasks[1].copy_2d = {dst, src, 64, 64, 32, kBlock / 64};
  tasks[2] = Of(TaskKind::kBatch);
  tasks[2].batch = {batch, batch->bytes()};
  tasks[3] = Of(TaskKind::kReduce);
  tasks[3].reduce = {dst, src, kBlock, ReduceOp::kSum, ReduceType::kInt8};
  tasks[4] = Of(TaskKind::kSet);
  tasks[4].set = {dst, kBlock, 7};
  tasks[5] = Of(TaskKind::kSetWords);
  tasks[5].set = {dst, kBlock / 4, 7};
  tasks[6] = Of(TaskKind::kStore);
  tasks[6].store = {dst, 7};
  return tasks;
}
constexpr size_t kWithSource = 4;  // the first of them

TEST_F(CpuBackendTest, TasksOfAGraphRunWhileTheirMemoryIsThere) {
  Batch batch(2);
  batch.Add(At(0), At(1), 100);
  batch.Add(At(0) + 200, At(1) + 200, 100);
  for (const Task& task : TasksThatWrite(At(0), At(1), &batch)) {
    std::memset(View(At(0)), 1, kBlock);
    ExpectRuns(task);
    EXPECT_NE(*View(At(0)), 1) << TaskKindName(task.kind);
    ExpectRuns(task);  // and once more: nothing was used up
  }
}

TEST_F(CpuBackendTest, TasksOfAGraphFailWhenTheirDestinationIsGone) {
  Batch batch(2);
  batch.Add(At(2), At(1), 100);
  batch.Add(At(0) + 200, At(1) + 200, 100);  // the second piece decides, too
  blocks_.Forget(At(0));
  const std::vector<Task> tasks = TasksThatWrite(At(0), At(1), &batch);
  for (const Task& task : tasks) ExpectFailure(task, task.kind == TaskKind::kStore ? "address [" : "dst [");
  EXPECT_TRUE(Filled(At(2), kBlock, 3)) << "a batch fails as a whole";
}

TEST_F(CpuBackendTest, TasksOfAGraphFailWhenTheirSourceIsGone) {
  Batch batch(1);
  batch.Add(At(0), At(1), 100);
  blocks_.Forget(At(1));
  const std::vector<Task> tasks = TasksThatWrite(At(0), At(1), &batch);
  for (size_t i = 0; i < kWithSource; ++i) ExpectFailure(tasks[i], "src [");
  for (size_t i = kWithSource; i < tasks.size(); ++i) ExpectRuns(tasks[i]);
}

TEST_F(CpuBackendTest, TheWholeRangeIsJudged) {
  ExpectFailure(Copy(At(0), At(2) + 1, kBlock), "src [");  // block 2 is the last of the three
  Task rows = Of(TaskKind::kCopy2d);
  rows.copy_2d = {At(0), At(2), 64, 128, 32, 32};
  ExpectRuns(rows);
  std::memset(View(At(0)), 1, kBlock);
  rows.copy_2d.height = 33;
  ExpectFailure(rows, "src [");
}

TEST_F(CpuBackendTest, PinnedMemoryIsUsable) {
  ExpectRuns(Copy(At(0), pinned_.data(), kBlock));
  EXPECT_TRUE(Filled(At(0), kBlock, 9));
}

TEST_F(CpuBackendTest, AValueWaitIsJudgedToo) {
  Task wait = Of(TaskKind::kAwaitValue);
  wait.await_value = {At(2), 1, ValueTest::kEqual};
  ExpectRuns(wait);
  blocks_.Forget(At(2));
  ExpectFailure(wait, "address [");
}

TEST_F(CpuBackendTest, WithoutAJudgeEverythingIsUsable) {
  UseJudge(nullptr);
  blocks_.all.clear();
  ExpectRuns(Copy(At(0), At(1), kBlock));
  EXPECT_TRUE(Filled(At(0), kBlock, 2));
}

// Two items, each inside its blocks: that the blocks touch is chance.
TEST_F(CpuBackendTest, NeighboursInABatchMayLieInDifferentBlocks) {
  std::vector<char> source(2 * kBlock, 5);
  blocks_.all.push_back({source.data(), source.size(), -1});
  Batch batch(2);
  batch.Add(At(0), source.data(), kBlock);
  batch.Add(At(1), source.data() + kBlock, kBlock, false);
  Task task = Of(TaskKind::kBatch);
  task.batch = {&batch, batch.bytes()};
  ExpectRuns(task);
  EXPECT_TRUE(Filled(At(0), 2 * kBlock, 5));
}

TEST_F(CpuBackendTest, AKnownFailureHasItsCodeAndAddress) {
  Task task = Of(TaskKind::kFail);
  task.fail = {reinterpret_cast<void*>(0x1234), 507899};
  TaskFailure failure;
  EXPECT_EQ(backend_.Start(task, {}, nullptr, &failure), 507899);
  EXPECT_NE(std::string(failure.text).find("0x1234"), std::string::npos) << failure.text;
}

// --- Descriptors --------------------------------------------------------------------------------------------------------

TEST_F(CpuBackendTest, ADescriptorIsReadWhenTheTaskRuns) {
  for (uint32_t layout : {32u, 64u}) {
    const Task task = ByDescriptor(At(2), layout);
    for (size_t size : {size_t{1}, kBlock}) {
      std::memset(View(At(0)), 1, kBlock);
      WriteDescriptor(View(At(2)), layout, {At(0), At(1), size});
      ExpectRuns(task);
      EXPECT_TRUE(Filled(At(0), size, 2)) << size;
      EXPECT_TRUE(Filled(At(0) + size, kBlock - size, 1)) << size;
    }
  }
}

TEST_F(CpuBackendTest, WhatADescriptorNamesMustBeMemoryOfOneDevice) {
  const Task task = ByDescriptor(At(2), 32);
  const struct {
    CopyDescriptor copy;
    const char* text;
  } cases[] = {
      {{pinned_.data(), At(1), 8}, "dst ["}, {{At(0), pinned_.data(), 8}, "src ["}, {{At(4), At(1), 8}, "dst ["},
      {{At(0), At(4), 8}, "src ["},          {{At(0), At(5), 8}, "on device 1"},    {{At(0) + 1, At(1), kBlock}, "dst ["},
      {{At(0), At(1) + 1, kBlock}, "src ["}, {{nullptr, nullptr, 8}, "dst ["},      {{At(0), At(1), size_t{1} << 32}, "+4294967296"},
  };
  for (const auto& entry : cases) {
    WriteDescriptor(View(At(2)), 32, entry.copy);
    ExpectFailure(task, entry.text);
  }
}

TEST_F(CpuBackendTest, ADescriptorThatIsGoneIsNotRead) {
  WriteDescriptor(View(At(2)), 32, {At(0), At(1), 8});
  blocks_.Forget(At(2));
  ExpectFailure(ByDescriptor(At(2), 32), "descriptor [");
}

// --- Cells --------------------------------------------------------------------------------------------------------------

TEST_F(CpuBackendTest, CellsAreReadWhenTheTaskRunsAndTheOffsetsAdded) {
  Task task = Of(TaskKind::kCopyByCells);
  task.by_cells = {At(2), At(2) + 8, 10, 20, 100, 0};
  const auto point = [&](const void* dst, const void* src) {
    std::memcpy(View(At(2)), &dst, sizeof(dst));
    std::memcpy(View(At(2) + 8), &src, sizeof(src));
  };
  point(At(0), At(1));
  ExpectRuns(task);
  EXPECT_TRUE(Filled(At(0), 10, 1) && Filled(At(0) + 10, 100, 2) && Filled(At(0) + 110, 100, 1));
  std::memset(View(At(0)), 1, kBlock);
  point(At(0), At(4));
  ExpectFailure(task, "src [");
  point(At(5), At(1));
  ExpectFailure(task, "on device 1");
  task.by_cells.src_offset = kBlock - 99;
  point(At(0), At(1));
  ExpectFailure(task, "src [");
  task.by_cells.dst_cell = pinned_.data();
  ExpectFailure(task, "does not lie in device memory");
}

}  // namespace cpu_backend_test
}  // namespace ropeway::cpu
