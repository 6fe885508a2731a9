// aclprof: what each call answers in each state, and in which order it checks.
#include "tests/conformance/profile/profile_test_util.h"

extern "C" {
aclError aclprofWarmup(const aclprofConfig* profilerConfig);
int32_t aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
int32_t aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);
int aclprofRegisterDeviceCallback(void);
}

namespace ropeway_test::profile {
namespace aclprof_states_test {

constexpr uint64_t kMask = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME;

enum State { kOff, kReady, kStarted, kStates };

class AclprofStates : public AclprofTest {
 protected:
  // A profile in this state, and none before it.
  void Enter(State state) {
    ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
    ASSERT_EQ(aclprofSetConfig(ACL_PROF_PATH, folder_.path().c_str(), folder_.path().size()), ACL_SUCCESS);
    if (state != kOff) ASSERT_EQ(Init(), ACL_SUCCESS);
    if (state == kStarted) ASSERT_EQ(aclprofStart(config_.get()), ACL_SUCCESS);
  }
  Config config_{kMask};
  Config other_{ACL_PROF_ACL_API};
  Config next_device_{kMask, {1}};
};

TEST_F(AclprofStates, AnswerByTheTable) {
  const struct {
    const char* call;
    Callable<aclError()> make;
    aclError answers[kStates];
  } table[] = {
      {"Init", [&] { return Init(); }, {ACL_SUCCESS, ACL_ERROR_REPEAT_INITIALIZE, ACL_ERROR_REPEAT_INITIALIZE}},
      {"SetConfig", [&] { return aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "10", 2); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Start", [&] { return aclprofStart(config_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Start, another device", [&] { return aclprofStart(next_device_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Start, other switches", [&] { return aclprofStart(other_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_ERROR_INVALID_PROFILING_CONFIG}},
      {"Stop", [&] { return aclprofStop(config_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Stop, everything", [&] { return aclprofStop(nullptr); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Stop, other switches", [&] { return aclprofStop(other_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_ERROR_INVALID_PROFILING_CONFIG}},
      {"Stop, a device that was never started", [&] { return aclprofStop(next_device_.get()); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Finalize", [&] { return aclprofFinalize(); }, {ACL_SUCCESS, ACL_SUCCESS, ACL_SUCCESS}},
      {"Warmup",
       [&] { return aclprofWarmup(config_.get()); },
       {ACL_ERROR_PROF_NOT_RUN, ACL_ERROR_PROF_MODULES_UNSUPPORTED, ACL_ERROR_PROF_API_CONFLICT}},
      {"ModelSubscribe",
       [&] { return aclprofModelSubscribe(1, nullptr); },
       {ACL_ERROR_INVALID_MODEL_ID, ACL_ERROR_INVALID_MODEL_ID, ACL_ERROR_INVALID_MODEL_ID}},
      {"Mark", [&] { return aclprofMark(nullptr); }, {-1, -1, -1}},
  };
  for (const auto& row : table) {
    for (int state = 0; state < kStates; ++state) {
      Enter(static_cast<State>(state));
      EXPECT_EQ(row.make(), row.answers[state]) << row.call << " in state " << state;
    }
  }
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "none of this is the runtime's";
}

TEST_F(AclprofStates, AProfileCanBeMadeAgain) {
  for (int i = 0; i < 2; ++i) {
    Enter(kStarted);
    ASSERT_EQ(aclprofStop(config_.get()), ACL_SUCCESS);
    ASSERT_EQ(aclprofStart(other_.get()), ACL_SUCCESS) << "with other switches, when it was stopped";
    ASSERT_EQ(aclprofStop(nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(folder_.Profiles().size(), 4u) << "one for each start";
}

TEST_F(AclprofStates, InitChecksInThisOrder) {
  const std::string too_long(4096, 'x');
  const struct {
    const char* what;
    const char* path;
    size_t length;
    aclError answer;
  } table[] = {
      {"no path", nullptr, 0, ACL_ERROR_INVALID_PARAM},
      {"no length", "a|b", 0, ACL_ERROR_INVALID_PARAM},
      {"too long", too_long.c_str(), 4096, ACL_ERROR_INVALID_PARAM},
      {"shorter than it says", "a|b", 4, ACL_ERROR_INVALID_PARAM},
      {"longer than it says", "a|b", 2, ACL_ERROR_INVALID_PARAM},
      {"initialised already", "a|b", 3, ACL_ERROR_REPEAT_INITIALIZE},
  };
  Enter(kReady);
  for (const auto& row : table) EXPECT_EQ(aclprofInit(row.path, row.length), row.answer) << row.what;
  Enter(kOff);
  for (const char* path : {"a|b", "a\nb", "a;b", "$a"}) EXPECT_EQ(aclprofInit(path, std::strlen(path)), ACL_ERROR_INVALID_FILE) << path;
  EXPECT_EQ(Init(), ACL_SUCCESS);
}

TEST_F(AclprofStates, ListsOfDevicesAreChecked) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  std::vector<uint32_t> ids(100);
  for (uint32_t i = 0; i < ids.size(); ++i) ids[i] = i;
  uint32_t twice[] = {0, 0}, outside[] = {count};
  const auto make = [](uint32_t* list, uint32_t number, uint64_t mask, const void* events = nullptr) {
    return aclprofCreateConfig(list, number, ACL_AICORE_NONE, static_cast<const aclprofAicoreEvents*>(events), mask);
  };
  EXPECT_EQ(make(nullptr, 1, kMask), nullptr);
  EXPECT_EQ(make(ids.data(), 1, kMask, &count), nullptr);
  EXPECT_EQ(make(ids.data(), count + 1, kMask), nullptr);
  EXPECT_EQ(make(ids.data(), 65, kMask), nullptr);
  EXPECT_EQ(make(twice, 2, kMask), nullptr);
  EXPECT_EQ(make(outside, 1, kMask), nullptr);
  EXPECT_EQ(make(nullptr, 0, kMask), nullptr);
  aclprofConfig* const marks = make(nullptr, 0, ACL_PROF_MSPROFTX);
  EXPECT_NE(marks, nullptr);
  EXPECT_EQ(aclprofDestroyConfig(marks), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroyConfig(marks), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(marks), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofDestroyConfig(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(AclprofStates, StartChecksInThisOrder) {
  const Config unknown_and_bad(uint64_t{1} << 40, {0}, 99), bad(kMask, {0}, 99), nothing(0);
  Enter(kStarted);
  EXPECT_EQ(aclprofStart(unknown_and_bad.get()), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  EXPECT_EQ(aclprofStop(unknown_and_bad.get()), ACL_ERROR_PROF_MODULES_UNSUPPORTED);
  EXPECT_EQ(aclprofStart(bad.get()), ACL_ERROR_INVALID_PARAM) << "before its switches are compared";
  Enter(kReady);
  EXPECT_EQ(aclprofStart(nothing.get()), ACL_SUCCESS);
  Enter(kOff);
  ASSERT_EQ(aclprofInit("/proc/no/such", 13), ACL_SUCCESS) << "the folder is made at the start";
  EXPECT_EQ(aclprofStart(config_.get()), ACL_ERROR_INVALID_FILE);
}

TEST_F(AclprofStates, OptionsAreChecked) {
  const struct {
    int type;
    const char* text;
    size_t length;
    aclError answer;
  } table[] = {
      {0, nullptr, 300, ACL_ERROR_INVALID_PARAM},
      {17, "10", 2, ACL_ERROR_INVALID_PARAM},
      {ACL_PROF_SYS_IO_FREQ, nullptr, 300, ACL_ERROR_INVALID_PARAM},
      {ACL_PROF_SYS_IO_FREQ, nullptr, 2, ACL_ERROR_INVALID_PARAM},
      {ACL_PROF_SYS_IO_FREQ, "101", 2, ACL_ERROR_INVALID_PARAM},
      {ACL_PROF_SYS_IO_FREQ, "101", 3, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_SYS_IO_FREQ, "0", 1, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_SYS_IO_FREQ, "ten", 3, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_SYS_IO_FREQ, "100", 3, ACL_SUCCESS},
      {ACL_PROF_SYS_INTERCONNECTION_FREQ, "51", 2, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_SYS_INTERCONNECTION_FREQ, "50", 2, ACL_SUCCESS},
      {ACL_PROF_STORAGE_LIMIT, "200MB", 5, ACL_SUCCESS},
      {ACL_PROF_STORAGE_LIMIT, "199MB", 5, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_STORAGE_LIMIT, "200", 3, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_HOST_SYS, "cpu,mem", 7, ACL_SUCCESS},
      {ACL_PROF_HOST_SYS, "cpu,moon", 8, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_HOST_SYS, "cpu,", 4, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_NTS_METRICS, "x", 1, ACL_ERROR_INVALID_PARAM},
      {2, "x", 1, ACL_ERROR_INVALID_PROFILING_CONFIG},
      {ACL_PROF_LLC_MODE, "read", 4, ACL_SUCCESS},
  };
  for (const auto& row : table)
    EXPECT_EQ(aclprofSetConfig(static_cast<aclprofConfigType>(row.type), row.text, row.length), row.answer)
        << row.type << " " << (row.text == nullptr ? "NULL" : row.text);
}

TEST_F(AclprofStates, WhatHasNoMeaningHereIsConstant) {
  EXPECT_EQ(aclprofRegisterDeviceCallback(), 0);
  for (const auto features : {&aclprofGetSupportedFeatures, &aclprofGetSupportedFeaturesV2}) {
    size_t size = 7;
    void* data = nullptr;
    EXPECT_EQ(features(nullptr, &data), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(features(&size, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(features(&size, &data), ACL_SUCCESS);
    EXPECT_EQ(size, 0u);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(features(&size, &data), ACL_ERROR_INVALID_PARAM) << "*data is not null";
  }
  EXPECT_EQ(aclprofWarmup(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofRangePushEx(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclprofRangePop(), ACL_SUCCESS);

  int pipe_end = 1;
  EXPECT_EQ(aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, nullptr), nullptr);
  EXPECT_EQ(aclprofCreateSubscribeConfig(2, ACL_AICORE_NONE, &pipe_end), nullptr);
  const aclprofSubscribeConfig* const subscription = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &pipe_end);
  ASSERT_NE(subscription, nullptr);
  EXPECT_EQ(aclprofModelSubscribe(0, subscription), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclprofModelUnSubscribe(0), ACL_ERROR_INVALID_MODEL_ID);
  EXPECT_EQ(aclprofDestroySubscribeConfig(subscription), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroySubscribeConfig(nullptr), ACL_ERROR_INVALID_PARAM);

  size_t size = 0;
  EXPECT_EQ(aclprofGetOpDescSize(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpDescSize(&size), ACL_SUCCESS);
  EXPECT_EQ(size, 80u);
  uint8_t record[80] = {};
  char text[80];
  uint32_t number = 0;
  EXPECT_EQ(aclprofGetOpNum(nullptr, 80, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNum(record, 80, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNum(record, 79, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNum(record, 80, &number), ACL_ERROR_INVALID_PARAM) << "it is not a record";
  EXPECT_EQ(aclprofGetOpTypeLen(record, 80, 0, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpType(record, 80, 0, text, sizeof(text)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpNameLen(record, 80, 0, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpName(record, 80, 0, text, sizeof(text)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofGetOpStart(record, 80, 0), 0u);
  EXPECT_EQ(aclprofGetOpEnd(record, 80, 0), 0u);
  EXPECT_EQ(aclprofGetOpDuration(record, 80, 0), 0u);
  EXPECT_EQ(aclprofGetModelId(record, 80, 0), static_cast<size_t>(ACL_ERROR_INVALID_PARAM));
  EXPECT_EQ(aclprofGetOpFlag(nullptr, 0, 0), ACL_SUBSCRIBE_NONE);
  EXPECT_EQ(aclprofGetOpAttriValue(nullptr, 0, 0, ACL_SUBSCRIBE_ATTRI_THREADID), nullptr);
}

}  // namespace aclprof_states_test
}  // namespace ropeway_test::profile
