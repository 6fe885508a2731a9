// What a captured model consists of: aclmdlRIGetStreams, aclmdlRIGetTasksByStream, and the type and number of a task.
#include <algorithm>
#include <set>

#include "tests/conformance/graph/model_tasks.h"

namespace ropeway_test::graph {
namespace model_tasks_test {

using ModelStreams = CaptureTest;

TEST_F(ModelStreams, BadArgumentsAreRejected) {
  Begin(stream_);
  Model model = End(stream_);
  aclmdlRI stale = StaleModel(stream_);
  uint32_t count = 77;
  ExpectRefused("aclmdlRIGetStreams", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIGetStreams(nullptr, nullptr, &count); });
  ExpectRefused("aclmdlRIGetStreams", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIGetStreams(model.get(), nullptr, nullptr); });
  ExpectRefused("aclmdlRIGetStreams", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIGetStreams(stale, nullptr, &count); });
  EXPECT_EQ(count, 77u);
}

TEST_F(ModelStreams, AreAsManyAsTookPart) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Begin(stream_);
  Model empty = End(stream_);
  EXPECT_EQ(StreamsOf(empty).size(), 1u);
  Begin(stream_);
  Link(stream_, fork, branch);
  Link(branch, join, stream_);
  Model model = End(stream_);
  const auto streams = StreamsOf(model);
  EXPECT_EQ(streams.size(), 2u);
  const std::set<aclrtStream> different(streams.begin(), streams.end());
  EXPECT_EQ(different.size(), streams.size());
  EXPECT_EQ(different.count(nullptr), 0u);
}

TEST_F(ModelStreams, ArrayMustHoldThemAll) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Begin(stream_);
  Link(stream_, fork, branch);
  Link(branch, join, stream_);
  Model model = End(stream_);
  aclrtStream few[1] = {};
  uint32_t count = 1;
  ExpectRefused("aclmdlRIGetStreams", ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY, [&] { return aclmdlRIGetStreams(model.get(), few, &count); });
  EXPECT_NE(few[0], nullptr) << "as many as there is room for";
  EXPECT_EQ(count, 1u);
  aclrtStream many[5] = {};
  count = 5;
  EXPECT_EQ(aclmdlRIGetStreams(model.get(), many, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_NE(many[0], nullptr);
  EXPECT_NE(many[1], nullptr);
  EXPECT_EQ(many[2], nullptr);
}

using ModelTasks = CaptureTest;

TEST_F(ModelTasks, BadArgumentsAreRejected) {
  bytes::BadStreams bad;
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclrtStream stream = StreamsOf(model).at(0);
  aclmdlRITask task = TasksOf(model).at(0);
  auto type = static_cast<aclmdlRITaskType>(77);
  uint32_t number = 77;
  aclmdlRITaskParams params = {};
  ExpectAll({
      {"tasks, stream NULL", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIGetTasksByStream(nullptr, nullptr, &number); }},
      {"tasks, number NULL", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIGetTasksByStream(stream, nullptr, nullptr); }},
      {"tasks, stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIGetTasksByStream(bad.destroyed(), nullptr, &number); }},
      {"type, task NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetType(nullptr, &type); }},
      {"type, output NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetType(task, nullptr); }},
      {"id, task NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetSeqId(nullptr, &number); }},
      {"id, output NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetSeqId(task, nullptr); }},
      {"get, task NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetParams(nullptr, &params); }},
      {"get, output NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskGetParams(task, nullptr); }},
      {"set, task NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskSetParams(nullptr, &params); }},
      {"set, input NULL", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRITaskSetParams(task, nullptr); }},
      {"disable, task NULL", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRITaskDisable(nullptr); }},
      {"update, model NULL", ACL_ERROR_RT_PARAM_INVALID, [] { return aclmdlRIUpdate(nullptr); }},
      {"update, stale model", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIUpdate(StaleModel(stream_)); }},
  });
  EXPECT_EQ(type, static_cast<aclmdlRITaskType>(77));
  EXPECT_EQ(number, 77u);
}

TEST_F(ModelTasks, AreAsManyAsWereCaptured) {
  Tally tally;
  for (size_t count : {0, 1, 7}) {
    Begin(stream_);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
    Model model = End(stream_);
    const auto tasks = TasksOf(model);
    EXPECT_EQ(tasks.size(), count);
    EXPECT_EQ(std::set<aclmdlRITask>(tasks.begin(), tasks.end()).size(), count);
  }
}

TEST_F(ModelTasks, ArrayMustHoldThemAll) {
  Tally tally;
  Begin(stream_);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclrtStream stream = StreamsOf(model).at(0);
  aclmdlRITask tasks[4] = {};
  uint32_t count = 2;
  ExpectRefused("aclmdlRIGetTasksByStream", ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
                [&] { return aclmdlRIGetTasksByStream(stream, tasks, &count); });
  EXPECT_NE(tasks[1], nullptr) << "as many as there is room for";
  EXPECT_EQ(tasks[2], nullptr);
  EXPECT_EQ(count, 2u);
  count = 4;
  EXPECT_EQ(aclmdlRIGetTasksByStream(stream, tasks, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 3u);
  EXPECT_NE(tasks[2], nullptr);
  EXPECT_EQ(tasks[3], nullptr);
}

TEST_F(ModelTasks, HaveTheTypesOfTheirWork) {
  TestEvent record(EventKind::kEx), wait(EventKind::kEx), classic_record(EventKind::kClassic, ACL_EVENT_EXTERNAL),
      classic_wait(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  Cell word;
  int calls = 0;
  struct Kind {
    aclmdlRITaskType type;
    Callable<aclError()> submit;
  };
  const std::vector<Kind> kinds = {
      {ACL_MODEL_RI_TASK_DEFAULT, [&] { return Copy(device.get(), pinned.get(), 64, stream_); }},
      {ACL_MODEL_RI_TASK_DEFAULT, [&] { return aclrtMemsetAsync(device.get(), 64, 1, 64, stream_); }},
      {ACL_MODEL_RI_TASK_VALUE_WRITE, [&] { return aclrtValueWrite(word.get(), 1, 0, stream_); }},
      {ACL_MODEL_RI_TASK_VALUE_WAIT, [&] { return aclrtValueWait(word.get(), 1, 0, stream_); }},
      {ACL_MODEL_RI_TASK_EVENT_RECORD, [&] { return aclrtRecordEventWithFlag(record.get(), stream_, ACL_EVENT_RECORD_EXTERNAL); }},
      {ACL_MODEL_RI_TASK_EVENT_WAIT, [&] { return aclrtStreamWaitEventWithFlag(stream_, wait.get(), 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {ACL_MODEL_RI_TASK_EVENT_RECORD, [&] { return aclrtRecordEvent(classic_record.get(), stream_); }},
      {ACL_MODEL_RI_TASK_EVENT_WAIT, [&] { return aclrtStreamWaitEvent(stream_, classic_wait.get()); }},
      {ACL_MODEL_RI_TASK_EVENT_RESET, [&] { return aclrtResetEvent(classic_wait.get(), stream_); }},
      {ACL_MODEL_RI_TASK_DEFAULT, [&] { return aclrtLaunchHostFunc(stream_, &CountUp, &calls); }},
  };
  Begin(stream_);
  for (const Kind& kind : kinds) ASSERT_EQ(kind.submit(), ACL_SUCCESS);
  Model model = End(stream_);
  const auto tasks = TasksOf(model);
  ASSERT_EQ(tasks.size(), kinds.size());
  for (size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(TypeOf(tasks[i]), kinds[i].type) << "task " << i;
}

TEST_F(ModelTasks, NumbersGrowInAStream) {
  Tally tally;
  Begin(stream_);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  std::vector<uint32_t> ids;
  for (aclmdlRITask task : TasksOf(model)) {
    uint32_t id = 0;
    EXPECT_EQ(aclmdlRITaskGetSeqId(task, &id), ACL_SUCCESS);
    ids.push_back(id);
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()), ids.end());
}

// Two streams, each with its own share of the work.
TEST_F(ModelTasks, BelongToTheStreamTheyWereCapturedOn) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Cell word;
  Begin(stream_);
  Link(stream_, fork, branch);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtValueWrite(word.get(), 1, 0, branch), ACL_SUCCESS);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(aclrtValueWait(word.get(), 1, 0, stream_), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  std::multiset<std::pair<int, int>> shares;
  for (aclrtStream stream : StreamsOf(model)) {
    int writes = 0, waits = 0;
    for (aclmdlRITask task : TasksOf(stream)) {
      writes += TypeOf(task) == ACL_MODEL_RI_TASK_VALUE_WRITE;
      waits += TypeOf(task) == ACL_MODEL_RI_TASK_VALUE_WAIT;
    }
    shares.insert({writes, waits});
  }
  EXPECT_EQ(shares, (std::multiset<std::pair<int, int>>{{0, 5}, {3, 0}}));
}

}  // namespace model_tasks_test
}  // namespace ropeway_test::graph
