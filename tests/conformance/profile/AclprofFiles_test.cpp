// What aclprof leaves in its folder: calls, tasks, memory and marks, with true times.
#include <unistd.h>

#include <regex>

#include "tests/conformance/graph/graph_test_util.h"
#include "tests/conformance/profile/profile_test_util.h"

namespace ropeway_test::profile {
namespace aclprof_files_test {

class AclprofFolder : public AclprofTest {
 protected:
  void Start(const Config& config) {
    ASSERT_EQ(Init(), ACL_SUCCESS);
    ASSERT_EQ(aclprofStart(config.get()), ACL_SUCCESS);
  }
  // Stops, and the rows of a table.
  std::vector<Row> Rows(const char* name) {
    EXPECT_EQ(aclprofStop(nullptr), ACL_SUCCESS);
    return ReadTable(folder_.Profile() + "/" + name);
  }
  static std::vector<Row> Only(const std::vector<Row>& rows, const char* column, const std::string& value) {
    std::vector<Row> only;
    for (const Row& row : rows) {
      if (row.at(column) == value) only.push_back(row);
    }
    return only;
  }
};

TEST_F(AclprofFolder, EachOfTenThousandCopiesIsThereWithTrueTimes) {
  constexpr int kCopies = 10000;
  const Config config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
  Start(config);
  const uint64_t before = RealNow();
  const uint64_t after = MakeCopies(stream_, kCopies);
  const std::vector<Row> copies = Only(Rows("device_0/task.csv"), "task", "copy");
  std::map<std::string, Row> calls;
  for (const Row& call : Only(Rows("host/api.csv"), "call", "aclrtMemcpyAsync"))
    ASSERT_TRUE(calls.emplace(call.at("correlation"), call).second);
  ASSERT_EQ(copies.size(), static_cast<size_t>(kCopies));
  ASSERT_EQ(calls.size(), static_cast<size_t>(kCopies));
  std::map<uint64_t, uint64_t> bytes;
  for (const Row& copy : copies) {
    ASSERT_EQ(calls.count(copy.at("correlation")), 1u);
    const Row& call = calls[copy.at("correlation")];
    ASSERT_LE(before, NumberIn(call, "start_ns"));
    ASSERT_LE(NumberIn(call, "start_ns"), NumberIn(copy, "submit_ns"));
    ASSERT_LE(NumberIn(copy, "submit_ns"), NumberIn(copy, "start_ns"));
    ASSERT_LE(NumberIn(copy, "start_ns"), NumberIn(copy, "end_ns"));
    ASSERT_LE(NumberIn(copy, "end_ns"), after);
    ASSERT_EQ(copy.at("call"), "aclrtMemcpyAsync");
    ASSERT_EQ(copy.at("direction"), "H2D");
    ASSERT_EQ(copy.at("code"), "0");
    ASSERT_EQ(call.at("thread"), std::to_string(gettid()));
    ASSERT_TRUE(bytes.emplace(NumberIn(copy, "correlation"), NumberIn(copy, "bytes")).second);
  }
  uint64_t i = 0;
  for (const auto& [number, size] : bytes) ASSERT_EQ(size, 1 + i++ % 1024);
}

TEST_F(AclprofFolder, HasTheNameThatToolsLookFor) {
  const Config config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_TASK_MEMORY | ACL_PROF_MSPROFTX, {0, 1});
  Start(config);
  const std::string folder = folder_.Profile();
  const std::string name = folder.substr(folder.rfind('/') + 1);
  EXPECT_TRUE(std::regex_match(name, std::regex("PROF_[0-9]{6}_[0-9]+_[0-9A-Za-z]+"))) << name;
  ASSERT_EQ(aclprofStop(config.get()), ACL_SUCCESS);
  for (const char* file : {"host/api.csv", "host/mark.csv", "host/info.json", "device_0/task.csv", "device_0/memory.csv",
                           "device_0/mark.csv", "device_1/task.csv"})
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + file)) << file;
  std::stringstream info;
  info << std::ifstream(folder + "/host/info.json").rdbuf();
  EXPECT_NE(info.str().find("\"state\":\"complete\""), std::string::npos) << info.str();
  EXPECT_NE(info.str().find("\"lost\":0"), std::string::npos) << info.str();
}

TEST_F(AclprofFolder, HasWhatTheMaskAsksFor) {
  const struct {
    uint64_t mask;
    const char* file;
  } table[] = {{ACL_PROF_ACL_API, "host/api.csv"},
               {ACL_PROF_RUNTIME_API, "host/api.csv"},
               {ACL_PROF_TASK_TIME, "device_0/task.csv"},
               {ACL_PROF_TASK_TIME_L0, "device_0/task.csv"},
               {ACL_PROF_TASK_TIME_L2, "device_0/task.csv"},
               {ACL_PROF_TASK_TIME_L3, "device_0/task.csv"},
               {ACL_PROF_TASK_MEMORY, "device_0/memory.csv"},
               {ACL_PROF_MSPROFTX, "device_0/mark.csv"},
               {ACL_PROF_TRAINING_TRACE, "device_0/mark.csv"}};
  for (const auto& row : table) {
    Folder folder;
    ASSERT_EQ(aclprofInit(folder.path().c_str(), folder.path().size()), ACL_SUCCESS);
    const Config with(row.mask), without(ACL_PROF_L2CACHE);
    ASSERT_EQ(aclprofStart(without.get()), ACL_SUCCESS);
    EXPECT_FALSE(std::filesystem::exists(folder.Profile() + "/" + row.file)) << row.file;
    ASSERT_EQ(aclprofStop(nullptr), ACL_SUCCESS);
    std::filesystem::remove_all(folder.Profile());
    ASSERT_EQ(aclprofStart(with.get()), ACL_SUCCESS);
    EXPECT_TRUE(std::filesystem::exists(folder.Profile() + "/" + row.file)) << row.file;
    ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  }
  const Config statistics(ACL_PROF_API_STATS | ACL_PROF_TASK_TIME);
  Start(statistics);
  EXPECT_TRUE(std::filesystem::exists(folder_.Profile() + "/host/api.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder_.Profile() + "/device_0/task.csv")) << "statistics of calls go alone";
}

TEST_F(AclprofFolder, TellsOfMemoryAndFailures) {
  const Config config(ACL_PROF_ACL_API | ACL_PROF_TASK_MEMORY);
  Start(config);
  { DeviceBuffer device(4096); }
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  const std::vector<Row> blocks = Rows("device_0/memory.csv");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].at("operation"), "malloc");
  EXPECT_EQ(blocks[0].at("call"), "aclrtMalloc");
  EXPECT_EQ(blocks[1].at("operation"), "free");
  EXPECT_EQ(blocks[1].at("call"), "aclrtFree");
  EXPECT_EQ(blocks[0].at("address"), blocks[1].at("address"));
  EXPECT_GE(NumberIn(blocks[0], "bytes"), 4096u);
  EXPECT_LE(NumberIn(blocks[0], "end_ns"), NumberIn(blocks[1], "start_ns"));
  const std::vector<Row> frees = Only(ReadTable(folder_.Profile() + "/host/api.csv"), "call", "aclrtFree");
  ASSERT_EQ(frees.size(), 2u);
  EXPECT_EQ(frees[0].at("code"), "0");
  EXPECT_EQ(frees[0].at("correlation"), blocks[1].at("correlation"));
  EXPECT_EQ(frees[1].at("code"), std::to_string(ACL_ERROR_INVALID_PARAM));
}

TEST_F(AclprofFolder, ADeviceCanBeStoppedByItself) {
  const Config both(ACL_PROF_TASK_TIME, {0, 1}), first(ACL_PROF_TASK_TIME, {0}), second(ACL_PROF_TASK_TIME, {1});
  Start(both);
  MakeCopies(stream_, 2);
  ASSERT_EQ(aclprofStop(first.get()), ACL_SUCCESS);
  MakeCopies(stream_, 3);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  MakeCopies(nullptr, 4);
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclprofStop(second.get()), ACL_SUCCESS);
  EXPECT_EQ(Only(ReadTable(folder_.Profile() + "/device_0/task.csv"), "task", "copy").size(), 2u);
  EXPECT_EQ(Only(ReadTable(folder_.Profile() + "/device_1/task.csv"), "task", "copy").size(), 4u);
}

TEST_F(AclprofFolder, WithoutAConfigurationTakesDevicesThatAreUp) {
  ASSERT_EQ(aclprofSetConfig(ACL_PROF_PATH, folder_.path().c_str(), folder_.path().size()), ACL_SUCCESS);
  ASSERT_EQ(aclprofStart(nullptr), ACL_SUCCESS) << "it initialises itself";
  MakeCopies(stream_, 2);
  EXPECT_EQ(Only(Rows("device_0/task.csv"), "task", "copy").size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(folder_.Profile() + "/device_1"));
}

// --- Marks --------------------------------------------------------------------------------------------------------------

TEST_F(AclprofFolder, MarksOfStamps) {
  const Config config(ACL_PROF_MSPROFTX);
  EXPECT_EQ(aclprofCreateStamp(), nullptr) << "nobody collects";
  EXPECT_EQ(aclprofPop(), -1);
  EXPECT_EQ(aclprofRangeStop(1), -1);
  EXPECT_EQ(aclprofPush(nullptr), ACL_ERROR_INVALID_PARAM);
  Start(config);
  void* const stamp = aclprofCreateStamp();
  ASSERT_NE(stamp, nullptr);
  EXPECT_EQ(aclprofSetStampTraceMessage(nullptr, "a", 1), -1);
  EXPECT_EQ(aclprofSetStampTraceMessage(stamp, std::string(128, 'x').c_str(), 128), -1);
  EXPECT_EQ(aclprofSetStampTraceMessage(stamp, "say \"a, b\"", 10), ACL_SUCCESS);
  EXPECT_EQ(aclprofMark(stamp), ACL_SUCCESS);
  EXPECT_EQ(aclprofMark(nullptr), -1);
  EXPECT_EQ(aclprofPush(stamp), ACL_SUCCESS);
  OnFreshThread([] { EXPECT_EQ(aclprofPop(), -1) << "a stack is a thread's"; });
  EXPECT_EQ(aclprofPop(), ACL_SUCCESS);
  EXPECT_EQ(aclprofPop(), -1);
  uint32_t range = 0;
  EXPECT_EQ(aclprofRangeStart(nullptr, &range), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangeStart(stamp, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangeStart(stamp, &range), ACL_SUCCESS);
  OnFreshThread([&] { EXPECT_EQ(aclprofRangeStop(range), ACL_SUCCESS); });
  EXPECT_EQ(aclprofRangeStop(range), -1) << "once";
  aclprofDestroyStamp(stamp);
  EXPECT_EQ(aclprofMark(stamp), -1);
  const std::vector<Row> marks = Rows("host/mark.csv");
  ASSERT_EQ(marks.size(), 5u);
  const char* const kinds[] = {"mark", "begin", "end", "begin", "end"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(marks[i].at("kind"), kinds[i]) << i;
    EXPECT_EQ(marks[i].at("text"), kinds[i] == std::string("end") ? "" : "say \"a, b\"") << i;
    if (i > 0) {
      EXPECT_LE(NumberIn(marks[i - 1], "time_ns"), NumberIn(marks[i], "time_ns"));
    }
  }
  EXPECT_EQ(marks[1].at("id"), marks[2].at("id"));
  EXPECT_EQ(marks[3].at("id"), marks[4].at("id"));
  EXPECT_NE(marks[1].at("id"), marks[3].at("id"));
}

TEST_F(AclprofFolder, AHundredStampsAreAlive) {
  const Config config(ACL_PROF_MSPROFTX);
  Start(config);
  std::vector<void*> stamps;
  for (int i = 0; i < 100; ++i) stamps.push_back(aclprofCreateStamp());
  EXPECT_EQ(std::count(stamps.begin(), stamps.end(), nullptr), 0);
  EXPECT_EQ(aclprofCreateStamp(), nullptr);
  aclprofDestroyStamp(stamps.back());
  EXPECT_EQ(aclprofCreateStamp(), stamps.back());
  for (void* stamp : stamps) aclprofDestroyStamp(stamp);
}

TEST_F(AclprofFolder, MarksInStreams) {
  EXPECT_EQ(aclprofMarkEx("a", 1, stream_), -1);
  const Config config(ACL_PROF_MSPROFTX);
  Start(config);
  EXPECT_EQ(aclprofMarkEx(nullptr, 1, stream_), -1);
  EXPECT_EQ(aclprofMarkEx("a", 1, nullptr), -1);
  EXPECT_EQ(aclprofMarkEx("a", 2, stream_), -1);
  EXPECT_EQ(aclprofMarkEx("", 0, stream_), -1);
  EXPECT_EQ(aclprofMarkEx(std::string(128, 'x').c_str(), 128, stream_), -1);
  EXPECT_EQ(aclprofMarkEx("plain", 5, stream_), ACL_SUCCESS);
  mstxMarkA("of mstx", stream_);
  graph::Begin(stream_);
  EXPECT_EQ(aclprofMarkEx("captured", 8, stream_), ACL_SUCCESS);
  {
    const graph::Model model = graph::End(stream_);
    ASSERT_EQ(graph::Replay(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(graph::Replay(model, stream_), ACL_SUCCESS);
  }
  const std::vector<Row> marks = Rows("device_0/mark.csv");
  ASSERT_EQ(marks.size(), 4u);
  const char* const texts[] = {"plain", "of mstx", "captured", "captured"};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(marks[i].at("text"), texts[i]) << i;
  EXPECT_EQ(ReadTable(folder_.Profile() + "/host/mark.csv").size(), 3u);
}

TEST_F(AclprofFolder, StepsAreRangesOfAStream) {
  aclprofStepInfo* const early = aclprofCreateStepInfo();
  ASSERT_NE(early, nullptr);
  EXPECT_EQ(aclprofGetStepTimestamp(early, ACL_STEP_START, stream_), ACL_SUCCESS) << "also without a profile";
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const Config config(ACL_PROF_TASK_TIME);
  Start(config);
  aclprofStepInfo* const step = aclprofCreateStepInfo();
  EXPECT_EQ(aclprofGetStepTimestamp(nullptr, ACL_STEP_START, stream_), ACL_ERROR_INVALID_PARAM);
  aclrtStream destroyed = nullptr;
  ASSERT_EQ(aclrtCreateStream(&destroyed), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(destroyed), ACL_SUCCESS);
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, destroyed), ACL_ERROR_GE_FAILURE);
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_START, stream_), ACL_ERROR_INVALID_PARAM) << "twice";
  MakeCopies(stream_, 1);
  EXPECT_EQ(aclprofGetStepTimestamp(step, static_cast<aclprofStepTag>(7), stream_), ACL_SUCCESS) << "counts as the end";
  EXPECT_EQ(aclprofGetStepTimestamp(step, ACL_STEP_END, stream_), ACL_ERROR_INVALID_PARAM) << "twice";
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  aclprofDestroyStepInfo(step);
  aclprofDestroyStepInfo(early);
  aclprofDestroyStepInfo(nullptr);
  const std::vector<Row> marks = Rows("device_0/mark.csv");
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].at("kind"), "begin");
  EXPECT_EQ(marks[1].at("kind"), "end");
  EXPECT_EQ(marks[0].at("id"), marks[1].at("id"));
  EXPECT_EQ(marks[0].at("domain"), "step");
  const std::vector<Row> copies = Only(ReadTable(folder_.Profile() + "/device_0/task.csv"), "task", "copy");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_LE(NumberIn(marks[0], "time_ns"), NumberIn(copies[0], "start_ns"));
  EXPECT_LE(NumberIn(copies[0], "end_ns"), NumberIn(marks[1], "time_ns"));
}

TEST_F(AclprofFolder, TextsHaveNumbers) {
  const std::string again = "text";
  const uint64_t number = aclprofStr2Id("text");
  EXPECT_NE(number, 0u);
  EXPECT_NE(number, UINT64_MAX);
  EXPECT_EQ(aclprofStr2Id(again.c_str()), number);
  EXPECT_NE(aclprofStr2Id("other"), number);
  EXPECT_EQ(aclprofStr2Id(nullptr), UINT64_MAX);
}

// Both profiles of the process at once: each has everything, and the same numbers.
TEST_F(AclprofFolder, AndMsptiAtOnce) {
  Buffers::Get().Reset(64 << 10);
  ASSERT_EQ(msptiActivityRegisterCallbacks(&Buffers::Request, &Buffers::Complete), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
  const Config config(ACL_PROF_TASK_TIME);
  Start(config);
  MakeCopies(stream_, 20);
  const std::vector<Row> copies = Only(Rows("device_0/task.csv"), "task", "copy");
  ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityFlushAll(0), MSPTI_SUCCESS);
  const auto records = Buffers::Get().All<msptiActivityMemcpy>(MSPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_EQ(copies.size(), 20u);
  ASSERT_EQ(records.size(), 20u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(NumberIn(copies[i], "correlation"), records[i].correlationId);
    EXPECT_EQ(NumberIn(copies[i], "start_ns"), records[i].start);
  }
}

}  // namespace aclprof_files_test
}  // namespace ropeway_test::profile
