// Looking at the tasks of a captured model and changing them: what SetParams and Disable say comes into force with
// aclmdlRIUpdate, and only while the model rests.
#include "tests/conformance/graph/model_tasks.h"

namespace ropeway_test::graph {
namespace task_params_test {

class TaskParams : public CaptureTest {
 protected:
  static aclmdlRITaskParams Get(aclmdlRITask task) {
    aclmdlRITaskParams params = {};
    EXPECT_EQ(aclmdlRITaskGetParams(task, &params), ACL_SUCCESS);
    return params;
  }
};

TEST_F(TaskParams, ValueWriteIsReadAndChanged) {
  Cell word;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(word.get(), 11, 0, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = Get(task);
  EXPECT_EQ(params.type, ACL_MODEL_RI_TASK_VALUE_WRITE);
  EXPECT_EQ(params.taskGrp, nullptr);
  EXPECT_EQ(params.valueWriteTaskParams.devAddr, word.get());
  EXPECT_EQ(params.valueWriteTaskParams.value, 11u);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 11u);

  params.valueWriteTaskParams.value = 22;
  EXPECT_EQ(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 11u) << "not before the update";
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 22u);
  EXPECT_EQ(Get(task).valueWriteTaskParams.value, 22u);
}

TEST_F(TaskParams, ValueWriteMovesToAnotherWord) {
  Cell one, two;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(one.get(), 11, 0, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = Get(task);
  params.valueWriteTaskParams.devAddr = two.get();
  EXPECT_EQ(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(one.Get(), 0u);
  EXPECT_EQ(two.Get(), 11u);
}

TEST_F(TaskParams, ValueWaitIsReadAndChanged) {
  Cell word{7};
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWait(word.get(), 7, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = Get(task);
  EXPECT_EQ(params.type, ACL_MODEL_RI_TASK_VALUE_WAIT);
  EXPECT_EQ(params.valueWaitTaskParams.devAddr, word.get());
  EXPECT_EQ(params.valueWaitTaskParams.value, 7u);
  EXPECT_EQ(params.valueWaitTaskParams.flag, ACL_STREAM_WAIT_VALUE_EQ);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);

  params.valueWaitTaskParams.value = 8;
  EXPECT_EQ(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "7 is not 8";
  EXPECT_EQ(tally.Get(), 1u);
  ASSERT_EQ(aclrtValueWrite(word.get(), 8, 0, NewStream()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);

  params.valueWaitTaskParams.value = 3;
  params.valueWaitTaskParams.flag = ACL_STREAM_WAIT_VALUE_GEQ;
  EXPECT_EQ(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS) << "8 is at least 3";
}

TEST_F(TaskParams, CopiesCannotBeReadOrChanged) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  Begin(stream_);
  ASSERT_EQ(Copy(device.get(), pinned.get(), 64, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = {};
  aclrtLaunchKernelAttrValue value = {};
  auto refused = [](aclError code) { return code == ACL_ERROR_RT_PARAM_INVALID || code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT; };
  EXPECT_PRED1(refused, aclmdlRITaskGetParams(task, &params));
  EXPECT_PRED1(refused, aclmdlRITaskSetParams(task, &params));
  EXPECT_PRED1(refused, aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value));
  EXPECT_EQ(aclmdlRIKernelTaskGetAttribute(task, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
}

TEST_F(TaskParams, TaskKeepsItsType) {
  Cell word;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(word.get(), 11, 0, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = Get(task);
  params.type = ACL_MODEL_RI_TASK_VALUE_WAIT;
  params.valueWaitTaskParams = {word.get(), 12, ACL_STREAM_WAIT_VALUE_EQ};
  ExpectRefused("aclmdlRITaskSetParams", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRITaskSetParams(task, &params); });
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Get(), 11u);
}

TEST_F(TaskParams, DisabledTaskIsLeftOut) {
  Cell one, two;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(one.get(), 11, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(two.get(), 12, 0, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRITaskDisable(TasksOf(model).at(0)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(one.Get(), 0u);
  EXPECT_EQ(two.Get(), 12u);
}

TEST_F(TaskParams, UpdateOfNothingIsFine) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(TaskParams, ModelUnderCaptureIsNotUpdated) {
  Begin(stream_);
  ExpectRefused("aclmdlRIUpdate", ACL_ERROR_RT_MODEL_UPDATE_FAILED, [&] { return aclmdlRIUpdate(OpenModelOf(stream_)); });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
}

// The replay marks its start and then waits for the host: it is running for sure.
TEST_F(TaskParams, RunningModelIsNotChanged) {
  Cell started, word;
  aclrtStream outside = NewStream();
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(started.get(), 1, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(word.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRITask task = TasksOf(model).at(0);
  aclmdlRITaskParams params = Get(task);
  params.valueWriteTaskParams.value = 2;
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  AwaitCell(started, 1);
  constexpr aclError kRunning = ACL_ERROR_RT_MODEL_UPDATE_FAILED;
  ExpectRefused("aclmdlRITaskSetParams", kRunning, [&] { return aclmdlRITaskSetParams(task, &params); });
  ExpectRefused("aclmdlRITaskDisable", kRunning, [&] { return aclmdlRITaskDisable(task); });
  ExpectRefused("aclmdlRIUpdate", kRunning, [&] { return aclmdlRIUpdate(model.get()); });
  ASSERT_EQ(aclrtValueWrite(word.get(), 1, 0, outside), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUpdate(model.get()), ACL_SUCCESS);
  started.Set(0);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(started.Get(), 1u) << "none of the refused changes is kept";
}

}  // namespace task_params_test
}  // namespace ropeway_test::graph
