// aclmdlRICaptureGetInfo: asks any stream, from any thread, without a context.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_get_info_test {

auto* const kOldModel = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});

using CaptureGetInfo = CaptureTest;

struct Args : CallArgs {
  aclrtStream stream = nullptr;
  aclmdlRICaptureStatus* status = nullptr;
  aclmdlRI* model = nullptr;
};

TEST_F(CaptureGetInfo, EarlierCheckWins) {
  bytes::BadStreams bad;
  auto status = kInvalidated;
  aclmdlRI model = kOldModel;
  Args valid;
  valid.stream = stream_;
  valid.status = &status;
  valid.model = &model;
  const std::vector<Check<Args>> checks = {
      {"stream NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.stream = nullptr; }},
      {"both outputs NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.status = nullptr, a.model = nullptr; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
  };
  auto call = [](const Args& a) { return aclmdlRICaptureGetInfo(a.stream, a.status, a.model); };
  ExpectCheckOrder("aclmdlRICaptureGetInfo", valid, checks, call, [&] {
    EXPECT_EQ(status, kInvalidated);
    EXPECT_EQ(model, kOldModel);
  });
  EXPECT_EQ(status, kIdle);
  EXPECT_EQ(model, nullptr);
}

TEST_F(CaptureGetInfo, HandleThatIsNoStreamIsRejected) {
  bytes::BadStreams bad;
  auto status = kInvalidated;
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream.handle, &status, nullptr), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
  EXPECT_EQ(status, kInvalidated);
}

TEST_F(CaptureGetInfo, TellsTheStatusAndTheModelTogetherOrAlone) {
  Begin(stream_);
  auto status = kIdle;
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &model), ACL_SUCCESS);
  EXPECT_EQ(status, kCapturing);
  EXPECT_NE(model, nullptr);
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  EXPECT_EQ(OpenModelOf(stream_), model);
  Model done = End(stream_);
  EXPECT_EQ(done.get(), model) << "the handle of the end is the one reported before";
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  EXPECT_EQ(OpenModelOf(stream_), nullptr);
}

TEST_F(CaptureGetInfo, NeedsNoContextAndComparesNone) {
  ForeignContext foreign;
  Begin(stream_);
  EXPECT_EQ(WithoutContext([&] { return CaptureStatusOf(stream_) == kCapturing ? ACL_SUCCESS : kNotCalled; }), ACL_SUCCESS);
  foreign.Run([&] { EXPECT_EQ(CaptureStatusOf(stream_), kCapturing); });
  EXPECT_EQ(CaptureStatusOf(foreign.stream()), kIdle);
  Model model = End(stream_);
}

TEST_F(CaptureGetInfo, DefaultStreamIsNeverUnderCapture) {
  Begin(stream_);
  EXPECT_EQ(CaptureStatusOf(DefaultStream()), kIdle);
  EXPECT_EQ(OpenModelOf(DefaultStream()), nullptr);
  Model model = End(stream_);
}

TEST_F(CaptureGetInfo, InvalidatedCaptureIsToldUntilItsEnd) {
  Begin(stream_);
  Invalidate(stream_);
  EXPECT_EQ(CaptureStatusOf(stream_), kInvalidated);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  EXPECT_EQ(OpenModelOf(stream_), nullptr);
}

TEST_F(CaptureGetInfo, ModelOfACaptureStaysTheSame) {
  Tally tally;
  Begin(stream_);
  aclmdlRI model = OpenModelOf(stream_);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
    ASSERT_EQ(OpenModelOf(stream_), model);
  }
  Model done = End(stream_);
  EXPECT_EQ(done.get(), model);
}

}  // namespace capture_get_info_test
}  // namespace ropeway_test::graph
