// Getters and setters of a stream: id, priority, flags, attributes, overflow switch, resource limits, last task id.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace stream_properties_test {

using StreamProperties = StreamTest;

TEST_F(StreamProperties, NullOutputWinsOverStaleStreamAndMissingContext) {
  aclrtStream stale = StaleStream();
  OnFreshThread([&] {
    ExpectAll({
        {"id", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamGetId(stale, nullptr); }},
        {"priority", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamGetPriority(stale, nullptr); }},
        {"flags", ACL_ERROR_INVALID_PARAM, [&] { return aclrtStreamGetFlags(stale, nullptr); }},
        {"get attribute", ACL_ERROR_INVALID_PARAM, [&] { return aclrtGetStreamAttribute(stale, ACL_STREAM_ATTR_FAILURE_MODE, nullptr); }},
        {"set attribute", ACL_ERROR_INVALID_PARAM, [&] { return aclrtSetStreamAttribute(stale, ACL_STREAM_ATTR_FAILURE_MODE, nullptr); }},
        {"overflow", ACL_ERROR_INVALID_PARAM, [&] { return aclrtGetStreamOverflowSwitch(stale, nullptr); }},
        {"last task", ACL_ERROR_INVALID_PARAM, [] { return aclrtGetThreadLastTaskId(nullptr); }},
    });
  });
}

TEST_F(StreamProperties, NullStreamIsTheDefaultOneAndNeedsAContext) {
  int32_t id = -7;
  uint32_t value = 77;
  EXPECT_EQ(aclrtStreamGetId(nullptr, &id), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetPriority(nullptr, &value), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(nullptr, &value), ACL_SUCCESS);
  id = -7;
  value = 77;
  EXPECT_EQ(WithoutContext([&] { return aclrtStreamGetId(nullptr, &id); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtStreamGetPriority(nullptr, &value); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtStreamGetFlags(nullptr, &value); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(id, -7);
  EXPECT_EQ(value, 77u);
}

TEST_F(StreamProperties, IdOfARealHandleNeedsNoContext) {
  int32_t id = -7, other = -8;
  EXPECT_EQ(WithoutContext([&] { return aclrtStreamGetId(stream_, &id); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetId(stream_, &other), ACL_SUCCESS);
  EXPECT_EQ(id, other);
}

TEST_F(StreamProperties, ForeignContextIsAccepted) {
  ForeignContext foreign;
  int32_t id = -7;
  uint32_t value = 77;
  EXPECT_EQ(aclrtStreamGetId(foreign.stream(), &id), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetPriority(foreign.stream(), &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(aclrtStreamGetFlags(foreign.stream(), &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0u);
}

using StreamAttribute = StreamTest;

TEST_F(StreamAttribute, UnknownOneIsRejected) {
  aclrtStreamAttrValue value{};
  for (int attr : {0, 6, 100}) {
    EXPECT_EQ(aclrtSetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(attr), &value), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtGetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(attr), &value), ACL_ERROR_RT_PARAM_INVALID);
  }
}

TEST_F(StreamAttribute, FailureModeIsTheOneOfTheOtherCall) {
  aclrtStreamAttrValue value{};
  value.failureMode = 77;
  EXPECT_EQ(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_SUCCESS);
  EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_SUCCESS);
  value.failureMode = 77;
  EXPECT_EQ(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_SUCCESS);
  EXPECT_EQ(value.failureMode, ACL_STOP_ON_FAILURE);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(StreamAttribute, PriorityIsClampedAndReadBack) {
  const std::pair<uint32_t, uint32_t> priorities[] = {{5, 5}, {7, 7}, {100, 7}, {0, 0}};
  for (auto [asked, given] : priorities) {
    aclrtStreamAttrValue value{};
    value.streamPriority = asked;
    EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value), ACL_SUCCESS) << asked;
    value.streamPriority = 77;
    EXPECT_EQ(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value), ACL_SUCCESS) << asked;
    EXPECT_EQ(value.streamPriority, given) << asked;
    uint32_t priority = 77;
    EXPECT_EQ(aclrtStreamGetPriority(stream_, &priority), ACL_SUCCESS);
    EXPECT_EQ(priority, given) << asked;
  }
}

TEST_F(StreamAttribute, PriorityWantsAHandleAndTheDefaultStreamsIsOne) {
  aclrtStreamAttrValue value{};
  EXPECT_EQ(aclrtSetStreamAttribute(nullptr, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetStreamAttribute(nullptr, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamAttribute(DefaultStream(), ACL_STREAM_ATTR_PRIORITY, &value), ACL_SUCCESS);
  TestStream scheduled(0, ACL_STREAM_CPU_SCHEDULE);
  EXPECT_EQ(aclrtSetStreamAttribute(scheduled.get(), ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(StreamAttribute, OthersAreAcceptedAlsoForTheDefaultStream) {
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    for (auto attr : {ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, ACL_STREAM_ATTR_USER_CUSTOM_TAG, ACL_STREAM_ATTR_CACHE_OP_INFO}) {
      aclrtStreamAttrValue value{};
      EXPECT_EQ(aclrtSetStreamAttribute(stream, attr, &value), ACL_SUCCESS) << attr;
      EXPECT_EQ(aclrtGetStreamAttribute(stream, attr, &value), ACL_SUCCESS) << attr;
    }
  }
}

using StreamOverflowSwitch = StreamTest;

TEST_F(StreamOverflowSwitch, TakesZeroAndOne) {
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 2), ACL_ERROR_INVALID_PARAM);
  uint32_t flag = 77;
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream_, &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 0u);
}

TEST_F(StreamProperties, LastTaskIdStartsWithAllOnesAndFollowsSubmissions) {
  DeviceBuffer block(64);
  OnFreshThread([&] {
    uint32_t none = 0, first = 0, second = 0;
    EXPECT_EQ(aclrtGetThreadLastTaskId(&none), ACL_SUCCESS);
    EXPECT_EQ(none, 0xFFFFFFFFu);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetThreadLastTaskId(&first), ACL_SUCCESS);
    EXPECT_NE(first, 0xFFFFFFFFu);
    ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 2, 64, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetThreadLastTaskId(&second), ACL_SUCCESS);
    EXPECT_NE(second, first);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  });
}

using ResourceLimit = StreamTest;

TEST_F(ResourceLimit, NullOutputsAreRejected) {
  EXPECT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamResLimit(stream_, ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetOpTimeOutInterval(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetOpExecuteTimeout(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1000, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ResourceLimit, DeviceLimitIsSetReadAndReset) {
  uint32_t hardware = 0, value = 0;
  ASSERT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &hardware), ACL_SUCCESS);
  ASSERT_GT(hardware, 2u);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 2), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 2u);
  EXPECT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, hardware);
}

TEST_F(ResourceLimit, StreamLimitCountsForThreadsThatOptIn) {
  uint32_t hardware = 0, value = 0;
  ASSERT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &hardware), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetStreamResLimit(stream_, ACL_RT_DEV_RES_VECTOR_CORE, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetStreamResLimit(stream_, ACL_RT_DEV_RES_VECTOR_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, hardware);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1u);
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, hardware);
  EXPECT_EQ(aclrtResetStreamResLimit(stream_), ACL_SUCCESS);
}

TEST_F(ResourceLimit, OperatorTimeLimitIsRoundedUpToItsInterval) {
  uint64_t interval = 0, actual = 0;
  ASSERT_EQ(aclrtGetOpTimeOutInterval(&interval), ACL_SUCCESS);
  ASSERT_GT(interval, 0u);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(interval + 1, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, 2 * interval);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, interval);
}

TEST_F(StreamProperties, StreamSwitchingWantsItsArguments) {
  int64_t left = 0, right = 0;
  ExpectAll({
      {"active: first", ACL_ERROR_INVALID_PARAM, [&] { return aclrtActiveStream(nullptr, stream_); }},
      {"active: second", ACL_ERROR_INVALID_PARAM, [&] { return aclrtActiveStream(stream_, nullptr); }},
      {"switch: left", ACL_ERROR_INVALID_PARAM,
       [&] { return aclrtSwitchStream(nullptr, ACL_RT_EQUAL, &right, ACL_RT_SWITCH_INT64, stream_, nullptr, stream_); }},
      {"switch: true stream", ACL_ERROR_INVALID_PARAM,
       [&] { return aclrtSwitchStream(&left, ACL_RT_EQUAL, &right, ACL_RT_SWITCH_INT64, nullptr, nullptr, stream_); }},
      {"switch: false stream must be null", ACL_ERROR_INVALID_PARAM,
       [&] { return aclrtSwitchStream(&left, ACL_RT_EQUAL, &right, ACL_RT_SWITCH_INT64, stream_, stream_, stream_); }},
  });
}

}  // namespace stream_properties_test
}  // namespace ropeway_test
