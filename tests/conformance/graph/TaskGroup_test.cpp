// Task groups and their update (rules/graphs.md 6). They are made for kernels, which host functions stand in for here; any other work
// breaks the group and its capture.
#include "tests/conformance/graph/graph_test_util.h"

#ifndef ROPEWAY_TEST_VENDOR
#include "ropeway/kernel.h"
#endif

namespace ropeway_test::graph {
namespace task_group_test {

auto* const kOldGroup = reinterpret_cast<aclrtTaskGrp>(uintptr_t{0x10});

using TaskGroup = CaptureTest;

TEST_F(TaskGroup, NullAndStaleStreamsAreRejected) {
  bytes::BadStreams bad;
  aclrtTaskGrp group = kOldGroup;
  ExpectAll({
      {"begin, stream NULL", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRICaptureTaskGrpBegin(nullptr); }},
      {"end, stream NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRICaptureTaskGrpEnd(nullptr, &group); }},
      {"end, handle NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRICaptureTaskGrpEnd(stream_, nullptr); }},
      {"begin, stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRICaptureTaskGrpBegin(bad.destroyed()); }},
      {"end, stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRICaptureTaskGrpEnd(bad.destroyed(), &group); }},
      {"update, stream NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRICaptureTaskUpdateBegin(nullptr, kOldGroup); }},
      {"update, handle NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRICaptureTaskUpdateBegin(stream_, nullptr); }},
      {"update, stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRICaptureTaskUpdateBegin(bad.destroyed(), kOldGroup); }},
      {"update end, stream NULL", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRICaptureTaskUpdateEnd(nullptr); }},
      {"update end, stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRICaptureTaskUpdateEnd(bad.destroyed()); }},
  });
}

TEST_F(TaskGroup, StreamMustBeUnderCapture) {
  aclrtTaskGrp group = kOldGroup;
  ExpectRefused("aclmdlRICaptureTaskGrpBegin", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&] { return aclmdlRICaptureTaskGrpBegin(stream_); });
  ExpectRefused("aclmdlRICaptureTaskGrpEnd", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&] { return aclmdlRICaptureTaskGrpEnd(stream_, &group); });
}

TEST_F(TaskGroup, EmptyGroupsHaveHandlesOfTheirOwn) {
  Tally tally;
  aclrtTaskGrp one = nullptr, two = nullptr;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &one), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS) << "behind the group all work is welcome again";
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &two), ACL_SUCCESS);
  EXPECT_NE(one, nullptr);
  EXPECT_NE(two, nullptr);
  EXPECT_NE(one, two);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(TaskGroup, JoinedStreamHasGroupsToo) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  aclrtTaskGrp group = nullptr;
  Begin(stream_);
  Link(stream_, fork, branch);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(branch), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(branch, &group), ACL_SUCCESS);
  EXPECT_NE(group, nullptr);
  Link(branch, join, stream_);
  Model model = End(stream_);
}

TEST_F(TaskGroup, NestedBeginIsRejected) {
  Begin(stream_);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  ExpectRefused("aclmdlRICaptureTaskGrpBegin", ACL_ERROR_STREAM_TASK_GROUP_STATUS, [&] { return aclmdlRICaptureTaskGrpBegin(stream_); });
}

TEST_F(TaskGroup, UnpairedEndIsRejected) {
  aclrtTaskGrp group = nullptr;
  Begin(stream_);
  ExpectRefused("aclmdlRICaptureTaskGrpEnd", ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                [&] { return aclmdlRICaptureTaskGrpEnd(stream_, &group); });
}

TEST_F(TaskGroup, GroupLeftOpenSpoilsTheEnd) {
  Begin(stream_);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  auto* model = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});
  ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_STREAM_TASK_GROUP_STATUS, [&] { return aclmdlRICaptureEnd(stream_, &model); });
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
}

TEST_F(TaskGroup, OtherWorkThanKernelsBreaksGroupAndCapture) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  int calls = 0;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  struct Work {
    const char* name;
    Callable<aclError()> submit;
  };
  const Work works[] = {
      {"aclrtMemcpyAsync", [&] { return Copy(device.get(), pinned.get(), 64, stream_); }},
      {"aclrtMemsetAsync", [&] { return aclrtMemsetAsync(device.get(), 64, 1, 64, stream_); }},
      {"aclrtMemcpy2dAsync",
       [&] { return aclrtMemcpy2dAsync(device.get(), 8, pinned.get(), 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
      {"aclrtLaunchHostFunc", [&] { return aclrtLaunchHostFunc(stream_, &CountUp, &calls); }},
      {"aclrtRecordNotify", [&] { return aclrtRecordNotify(notify, stream_); }},
      {"aclrtValueWrite", [&] { return aclrtValueWrite(device.get(), 1, 0, stream_); }},
  };
  for (const Work& work : works) {
    SCOPED_TRACE(work.name);
    aclrtTaskGrp group = kOldGroup;
    auto* model = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});
    Begin(stream_);
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    ExpectRefused(work.name, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, work.submit);
    EXPECT_EQ(CaptureStatusOf(stream_), kInvalidated);
    const aclError code = aclmdlRICaptureTaskGrpEnd(stream_, &group);
    EXPECT_TRUE(code == ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT || code == ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED) << code;
    EXPECT_EQ(group, nullptr);
    ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, [&] { return aclmdlRICaptureEnd(stream_, &model); });
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

// A model with one empty group, and a stream to update it from.
class TaskUpdate : public CaptureTest {
 protected:
  Model CaptureWithGroup(aclrtTaskGrp* group) {
    Begin(stream_);
    EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, group), ACL_SUCCESS);
    return End(stream_);
  }
};

TEST_F(TaskUpdate, EmptyGroupIsUpdatedAgainAndAgain) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureWithGroup(&group);
  aclrtStream updating = NewStream();
  for (aclrtStream stream : {updating, stream_}) {
    EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_SUCCESS);
    EXPECT_EQ(CaptureStatusOf(stream), kIdle) << "an update is no capture";
    EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(Replay(model, stream), ACL_SUCCESS);
  }
}

TEST_F(TaskUpdate, StreamUnderCaptureIsRejected) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureWithGroup(&group);
  Begin(stream_);
  ExpectRefused("aclmdlRICaptureTaskUpdateBegin", ACL_ERROR_RT_STREAM_CAPTURED,
                [&] { return aclmdlRICaptureTaskUpdateBegin(stream_, group); });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model other = End(stream_);
}

TEST_F(TaskUpdate, EndWithoutBeginIsRejected) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureWithGroup(&group);
  auto end = [&] { return aclmdlRICaptureTaskUpdateEnd(stream_); };
  ExpectRefused("aclmdlRICaptureTaskUpdateEnd", ACL_ERROR_STREAM_TASK_GROUP_STATUS, end);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, group), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_SUCCESS);
  ExpectRefused("aclmdlRICaptureTaskUpdateEnd", ACL_ERROR_STREAM_TASK_GROUP_STATUS, end);
}

TEST_F(TaskUpdate, OneStreamUpdatesAGroupAtATime) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureWithGroup(&group);
  aclrtStream other = NewStream();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, group), ACL_SUCCESS);
  for (aclrtStream stream : {other, stream_}) {
    ExpectRefused("aclmdlRICaptureTaskUpdateBegin", ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  [&] { return aclmdlRICaptureTaskUpdateBegin(stream, group); });
  }
  ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(other, group), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other), ACL_SUCCESS);
}

TEST_F(TaskGroup, WorkOnAnotherStreamBreaksGroupAndCapture) {
  TestEvent fork(EventKind::kEx), inside(EventKind::kEx);
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  aclrtStream branch = NewStream();
  const std::pair<const char*, Callable<aclError()>> works[] = {
      {"aclrtMemcpyAsync", [&] { return Copy(device.get(), pinned.get(), 64, branch); }},
      {"aclrtRecordEvent", [&] { return aclrtRecordEvent(inside.get(), branch); }},
      {"aclrtStreamWaitEvent", [&] { return aclrtStreamWaitEvent(branch, fork.get()); }},
  };
  for (const auto& [name, submit] : works) {
    SCOPED_TRACE(name);
    Begin(stream_);
    Link(stream_, fork, branch);
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    ExpectRefused(name, ACL_ERROR_STREAM_TASK_GROUP_INTR, submit);
    EXPECT_EQ(CaptureStatusOf(stream_), kInvalidated);
    aclmdlRI model = nullptr;
    ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, [&] { return aclmdlRICaptureEnd(stream_, &model); });
  }
}

#ifndef ROPEWAY_TEST_VENDOR

// Puts `value` into the word, and adds `more` to it.
void Put(const ropewayKernelLaunch* launch, uint64_t* word, uint64_t value, uint64_t more) {
  uint64_t* const at = ropeway::View(launch, word, 1);
  if (at != nullptr) *at = value + more;
}
ROPEWAY_KERNEL(rw_test_group_put, Put);

// Two words that a group of two kernels writes.
class KernelGroup : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    cells_ = std::make_unique<Cell[]>(2);
  }
  void TearDown() override {
    cells_.reset();
    CaptureTest::TearDown();
  }
  aclError Launch(const Cell& cell, uint64_t value, aclrtStream stream) {
    struct {
      void* word;
      uint64_t value, more;
    } const arguments = {cell.get(), value, 1000};
    return ropewayLaunchKernel("rw_test_group_put", 1, &arguments, sizeof(arguments), stream);
  }
  Model CaptureTwo(aclrtTaskGrp* group) {
    Begin(stream_);
    EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
    EXPECT_EQ(Launch(one(), 1, stream_), ACL_SUCCESS);
    EXPECT_EQ(Launch(two(), 2, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, group), ACL_SUCCESS);
    return End(stream_);
  }
  void Update(aclrtTaskGrp group, uint64_t first, uint64_t second, aclrtStream stream) {
    ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream, group), ACL_SUCCESS);
    EXPECT_EQ(Launch(one(), first, stream), ACL_SUCCESS);
    EXPECT_EQ(Launch(two(), second, stream), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(stream), ACL_SUCCESS);
  }
  void ExpectWords(uint64_t first, uint64_t second) {
    EXPECT_EQ(one().Get(), first + 1000);
    EXPECT_EQ(two().Get(), second + 1000);
  }
  Cell& one() { return cells_[0]; }
  Cell& two() { return cells_[1]; }

 private:
  std::unique_ptr<Cell[]> cells_;
};

TEST_F(KernelGroup, ReplaysRunTheLatestKernels) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureTwo(&group);
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(1, 2);
  for (uint64_t round = 10; round < 40; round += 10) {
    Update(group, round, round + 1, stream_);
    for (int again = 0; again < 2; ++again) {
      ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
      ExpectWords(round, round + 1);
    }
  }
}

TEST_F(KernelGroup, ReplaysSubmittedBeforeKeepWhatTheyHad) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureTwo(&group);
  aclrtStream updating = NewStream();
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  Update(group, 5, 6, updating);
  ASSERT_EQ(aclrtSynchronizeStream(updating), ACL_SUCCESS);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ExpectWords(1, 2);
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(5, 6);
}

TEST_F(KernelGroup, UpdateTakesEffectInTheOrderOfItsStream) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureTwo(&group);
  aclrtStream updating = NewStream();
  TestEvent updated(EventKind::kEx);
  StreamGate gate;
  ASSERT_EQ(gate.Close(updating), ACL_SUCCESS);
  Update(group, 5, 6, updating);
  ASSERT_EQ(aclrtRecordEvent(updated.get(), updating), ACL_SUCCESS);
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(1, 2);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, updated.get()), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ExpectWords(5, 6);
}

TEST_F(KernelGroup, UpdateHasAsManyKernelsAsTheGroup) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureTwo(&group);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, group), ACL_SUCCESS);
  EXPECT_EQ(Launch(one(), 7, stream_), ACL_SUCCESS);
  ExpectRefused("aclmdlRICaptureTaskUpdateEnd", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclmdlRICaptureTaskUpdateEnd(stream_); });
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(1, 2);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, group), ACL_SUCCESS) << "the one before is over";
  EXPECT_EQ(Launch(one(), 8, stream_), ACL_SUCCESS);
  EXPECT_EQ(Launch(two(), 9, stream_), ACL_SUCCESS);
  ExpectRefused("ropewayLaunchKernel", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return Launch(two(), 10, stream_); });
  ExpectRefused("aclrtMemsetAsync", ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, [&] { return aclrtMemsetAsync(one().get(), 8, 0, 8, stream_); });
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_SUCCESS);
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(8, 9);
}

// A stream that is captured while it updates: the end of the update is a task of that graph, and its first replay counts.
TEST_F(KernelGroup, EndOfAnUpdateInACapture) {
  aclrtTaskGrp group = nullptr;
  Model model = CaptureTwo(&group);
  aclrtStream updating = NewStream();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(updating, group), ACL_SUCCESS);
  EXPECT_EQ(Launch(one(), 5, updating), ACL_SUCCESS);
  EXPECT_EQ(Launch(two(), 6, updating), ACL_SUCCESS);
  Begin(updating);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(updating), ACL_SUCCESS);
  {
    Model update = End(updating);
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    ExpectWords(1, 2);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(Replay(update, updating), ACL_SUCCESS);
      ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
      ExpectWords(5, 6);
    }
  }
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectWords(5, 6);
}

TEST_F(KernelGroup, UpdateOfAModelThatIsGone) {
  aclrtTaskGrp group = nullptr;
  aclrtStream updating = NewStream();
  {
    Model model = CaptureTwo(&group);
    ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(updating, group), ACL_SUCCESS);
    EXPECT_EQ(Launch(one(), 7, updating), ACL_SUCCESS);
  }
  ExpectRefused("aclmdlRICaptureTaskUpdateEnd", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRICaptureTaskUpdateEnd(updating); });
  StreamGate gate;
  {
    Model model = CaptureTwo(&group);
    ASSERT_EQ(gate.Close(updating), ACL_SUCCESS);
    Update(group, 5, 6, updating);
  }
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(updating), ACL_SUCCESS) << "the update comes too late, and touches nothing";
}

// The memory outlives what was queued before it was freed (rules/memory.md), also for kernels of a replay.
TEST_F(KernelGroup, MemoryFreedBehindAReplayIsThereForItsKernels) {
  void* word = nullptr;
  ASSERT_EQ(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  PinnedBuffer out(64);
  struct {
    void* word;
    uint64_t value, more;
  } const arguments = {word, 7, 0};
  Begin(stream_);
  EXPECT_EQ(ropewayLaunchKernel("rw_test_group_put", 1, &arguments, sizeof(arguments), stream_), ACL_SUCCESS);
  EXPECT_EQ(Copy(out.get(), word, 8, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(word), ACL_SUCCESS);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(out.get()), 7u);
  EXPECT_NE(Replay(model, stream_), ACL_SUCCESS) << "now it is gone";
}

#endif

}  // namespace task_group_test
}  // namespace ropeway_test::graph
