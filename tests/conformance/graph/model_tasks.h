// The streams and tasks of a captured model, asked for in the two steps that the API wants: the number, then the array.
#pragma once

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {

// The handles belong to the model and are good for asking for tasks only.
inline std::vector<aclrtStream> StreamsOf(const Model& model) {
  uint32_t count = 0;
  EXPECT_EQ(aclmdlRIGetStreams(model.get(), nullptr, &count), ACL_SUCCESS);
  std::vector<aclrtStream> streams(count);
  EXPECT_EQ(aclmdlRIGetStreams(model.get(), streams.data(), &count), ACL_SUCCESS);
  EXPECT_EQ(count, streams.size());
  return streams;
}

inline std::vector<aclmdlRITask> TasksOf(aclrtStream stream) {
  uint32_t count = 0;
  EXPECT_EQ(aclmdlRIGetTasksByStream(stream, nullptr, &count), ACL_SUCCESS);
  std::vector<aclmdlRITask> tasks(count);
  if (tasks.empty()) return tasks;
  EXPECT_EQ(aclmdlRIGetTasksByStream(stream, tasks.data(), &count), ACL_SUCCESS);
  EXPECT_EQ(count, tasks.size());
  return tasks;
}

// Of a model that was captured on one stream.
inline std::vector<aclmdlRITask> TasksOf(const Model& model) {
  const std::vector<aclrtStream> streams = StreamsOf(model);
  EXPECT_EQ(streams.size(), 1u);
  return streams.size() == 1 ? TasksOf(streams[0]) : std::vector<aclmdlRITask>();
}

inline aclmdlRITaskType TypeOf(aclmdlRITask task) {
  auto type = static_cast<aclmdlRITaskType>(-1);
  EXPECT_EQ(aclmdlRITaskGetType(task, &type), ACL_SUCCESS);
  return type;
}

}  // namespace ropeway_test::graph
