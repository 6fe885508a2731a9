// Task groups and their update (rules/graphs.md 6). They are made for kernels, of which there are none here: an empty
// group works from end to end, and any other work breaks the group and its capture.
#include "tests/conformance/graph/graph_test_util.h"

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

}  // namespace task_group_test
}  // namespace ropeway_test::graph
