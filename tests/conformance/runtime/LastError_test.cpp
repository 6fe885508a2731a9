// The last error and the error texts of a thread: what reaches them, what does not, and how they are taken.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace last_error_test {

aclError Take() { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); }

using LastError = StreamTest;

TEST_F(LastError, OnlyTheThreadLevelExists) {
  for (int level : {-1, 1}) {
    EXPECT_EQ(aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(level)), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetLastError(static_cast<aclrtLastErrLevel>(level)), ACL_ERROR_INVALID_PARAM);
  }
}

TEST_F(LastError, PeekKeepsAndGetResets) {
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Take(), ACL_SUCCESS);
}

TEST_F(LastError, NewerErrorReplacesAndSuccessKeeps) {
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  ASSERT_EQ(aclrtSynchronizeStream(StaleStream()), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LastError, BelongsToTheThread) {
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  OnFreshThread([] {
    EXPECT_EQ(Take(), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(Take(), ACL_ERROR_RT_CONTEXT_NULL);
  });
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LastError, RuntimeLayerCodesAreRecorded) {
  ForeignContext foreign;
  TestEvent by_default(EventKind::kDefault);
  aclrtStream stale = StaleStream();
  const std::vector<Case> calls = {
      {"stale handle", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtSynchronizeStream(stale); }},
      {"bad device", ACL_ERROR_RT_INVALID_DEVICEID, [] { return aclrtSetDevice(-1); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtRecordEvent(by_default.get(), foreign.stream()); }},
      {"argument", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtStreamWaitEvent(stream_, by_default.get()); }},
      {"event flag", ACL_ERROR_RT_PARAM_INVALID,
       [] {
         aclrtEvent event = nullptr;
         return aclrtCreateEventWithFlag(&event, 0);
       }},
      {"release", ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, [] { return aclrtResetDevice(1); }},
  };
  for (const Case& c : calls) {
    Take();
    EXPECT_EQ(c.call(), c.expected) << c.what;
    EXPECT_EQ(Take(), c.expected) << c.what;
  }
}

TEST_F(LastError, SynchroniseErrorsAreRecorded) {
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(Take(), ACL_ERROR_RT_SYS_DMA);
  Hold hold(stream_);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(Take(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
}

TEST_F(LastError, OuterLayerCodesAreNotRecorded) {
  const std::vector<Case> calls = {
      {"null output", ACL_ERROR_INVALID_PARAM, [] { return aclrtCreateStream(nullptr); }},
      {"null event", ACL_ERROR_INVALID_PARAM, [&] { return aclrtRecordEvent(nullptr, stream_); }},
      {"null context", ACL_ERROR_INVALID_PARAM, [] { return aclrtSetCurrentContext(nullptr); }},
      {"event timeout", ACL_ERROR_RT_PARAM_INVALID, [] { return aclrtSynchronizeEventWithTimeout(nullptr, -2); }},
      {"level", ACL_ERROR_INVALID_PARAM, [] { return aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)); }},
  };
  for (const Case& c : calls) {
    EXPECT_EQ(c.call(), c.expected) << c.what;
    EXPECT_EQ(Take(), ACL_SUCCESS) << c.what;
  }
}

TEST_F(LastError, NamedExceptionsAreNotRecorded) {
  TestEvent ex(EventKind::kEx);
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(Take(), ACL_SUCCESS) << "ResetDeviceForce";
  EXPECT_EQ(aclrtResetEvent(ex.get(), stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(Take(), ACL_SUCCESS) << "207000 of an event call";
  OnFreshThread([] {
    int32_t device = -1;
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(Take(), ACL_SUCCESS) << "GetDevice";
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(Take(), ACL_SUCCESS) << "GetCurrentContext";
  });
}

using RecentErrMsg = StreamTest;

// The letters of a family, then four digits.
bool NamesCodeOf(const char* family, const std::string& text) {
  for (size_t at = text.find(family); at != std::string::npos; at = text.find(family, at + 1)) {
    const std::string digits = text.substr(at + 2, 4);
    if (digits.size() == 4 && digits.find_first_not_of("0123456789") == std::string::npos) return true;
  }
  return false;
}

TEST_F(RecentErrMsg, IsNullWithoutAnErrorAndAfterTaking) {
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "success adds nothing";
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(TakeErrorText(), "");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(RecentErrMsg, NamesTheCallTheValueAndACode) {
  ASSERT_EQ(aclrtSetDevice(-17), ACL_ERROR_RT_INVALID_DEVICEID);
  std::string text = TakeErrorText();
  EXPECT_NE(text.find("aclrtSetDevice"), std::string::npos) << text;
  EXPECT_NE(text.find("-17"), std::string::npos) << text;
  EXPECT_TRUE(NamesCodeOf("EE", text) || NamesCodeOf("EH", text)) << text;
  ASSERT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  text = TakeErrorText();
  EXPECT_NE(text.find("aclrtCreateStream"), std::string::npos) << text;
  EXPECT_TRUE(NamesCodeOf("EH", text)) << "the API layer's family: " << text;
}

TEST_F(RecentErrMsg, AsynchronousFailureNamesTheSubmittingCall) {
  FailingCopy copy;
  ASSERT_EQ(copy.Submit(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  std::string text = TakeErrorText();
  EXPECT_NE(text.find("aclrtMemcpyAsync"), std::string::npos) << text;
}

TEST_F(RecentErrMsg, NewestComesFirst) {
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_PARAM_INVALID);
  std::string text = TakeErrorText();
  size_t newer = text.find("aclrtSynchronizeStreamWithTimeout"), older = text.find("aclrtSetDevice");
  ASSERT_NE(newer, std::string::npos) << text;
  ASSERT_NE(older, std::string::npos) << text;
  EXPECT_LT(newer, older) << text;
}

TEST_F(RecentErrMsg, BelongsToTheThread) {
  ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  OnFreshThread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); });
  EXPECT_NE(TakeErrorText(), "");
}

TEST_F(RecentErrMsg, WithoutContextItIsEmptiedTooAndTouchesNothingElse) {
  OnFreshThread([] {
    ASSERT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_NE(TakeErrorText(), "");
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(Take(), ACL_SUCCESS);
  });
}

TEST_F(RecentErrMsg, PilesUpUntilTaken) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclrtSetDevice(-1 - i), ACL_ERROR_RT_INVALID_DEVICEID);
  std::string text = TakeErrorText();
  for (const char* value : {"-1", "-2", "-3"}) EXPECT_NE(text.find(value), std::string::npos) << text;
}

}  // namespace last_error_test
}  // namespace ropeway_test
