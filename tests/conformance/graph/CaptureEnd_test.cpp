// aclmdlRICaptureEnd: its checks in their order, which failures discard the capture, and what becomes of the output.
#include <memory>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_end_test {

auto* const kOldModel = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});

void OnDeviceThread(const Callable<void()>& body) {
  OnFreshThread([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
  });
}

class CaptureEnd : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    tally_ = std::make_unique<Tally>();
  }
  void TearDown() override {
    DiscardCaptures();
    tally_.reset();
    CaptureTest::TearDown();
  }

  // The end of stream_'s capture must fail with `code`.
  void ExpectEndFails(aclError code) {
    aclmdlRI model = kOldModel;
    ExpectRefused("aclmdlRICaptureEnd", code, [&] { return aclmdlRICaptureEnd(stream_, &model); });
    EXPECT_EQ(model, nullptr);
  }

  // stream_ is an ordinary stream again, `model` is gone, and nothing that was captured has run or will run.
  void ExpectDiscarded(aclmdlRI model) {
    EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
    EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(tally_->Get(), 0u);
    EXPECT_EQ(tally_->Add(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally_->Get(), 1u);
  }

  std::unique_ptr<Tally> tally_;
};

struct Args : CallArgs {
  aclrtStream stream = nullptr;
  aclmdlRI* model = nullptr;
};

TEST_F(CaptureEnd, EarlierCheckWins) {
  bytes::BadStreams bad;
  ForeignContext foreign;
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream idle = NewStream(), joined = NewStream();
  Begin(stream_);
  Link(stream_, fork, joined);
  Link(joined, join, stream_);
  foreign.Run([&] { Begin(foreign.stream()); });

  aclmdlRI model = nullptr;
  Args valid;
  valid.stream = stream_;
  valid.model = &model;
  const std::vector<Check<Args>> checks = {
      {"stream NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.stream = nullptr; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"stream not under capture", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&](Args& a) { a.stream = idle; }},
      {"output NULL", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.model = nullptr; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.stream(); }},
      {"stream that joined", ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, [&](Args& a) { a.stream = joined; }},
  };
  auto call = [](const Args& a) { return aclmdlRICaptureEnd(a.stream, a.model); };
  ExpectCheckOrder("aclmdlRICaptureEnd", valid, checks, call, [&] {
    EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
    EXPECT_EQ(CaptureStatusOf(joined), kCapturing);
    EXPECT_EQ(CaptureStatusOf(foreign.stream()), kCapturing);
  });
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  EXPECT_EQ(CaptureStatusOf(joined), kIdle);
  Model done(model);
  foreign.Run([&] { Model elsewhere = End(foreign.stream()); });
}

TEST_F(CaptureEnd, OutputIsLeftAloneBeforeTheContextChecksAndNullBehindThem) {
  ForeignContext foreign;
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream idle = NewStream(), joined = NewStream();
  Begin(stream_);
  Link(stream_, fork, joined);
  Link(joined, join, stream_);
  aclmdlRI model = kOldModel;
  EXPECT_EQ(aclmdlRICaptureEnd(nullptr, &model), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(model, kOldModel);
  EXPECT_EQ(aclmdlRICaptureEnd(idle, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(model, kOldModel);
  EXPECT_EQ(WithoutContext([&] { return aclmdlRICaptureEnd(stream_, &model); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(model, kOldModel);
  foreign.Run([&] { EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_CONTEXT); });
  EXPECT_EQ(model, kOldModel);
  EXPECT_EQ(aclmdlRICaptureEnd(joined, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(model, nullptr);
  Model done = End(stream_);
}

TEST_F(CaptureEnd, StreamThatWasNeverCapturedIsLeftAlone) {
  ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&] { return aclmdlRICaptureEnd(stream_, nullptr); });
  EXPECT_EQ(tally_->Add(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally_->Get(), 1u);
}

TEST_F(CaptureEnd, SecondEndFindsNoCapture) {
  Begin(stream_);
  Model model = End(stream_);
  aclmdlRI none = kOldModel;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &none), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(none, kOldModel);
}

TEST_F(CaptureEnd, RefusedOutputKeepsTheCapture) {
  Begin(stream_);
  ASSERT_EQ(tally_->Add(stream_), ACL_SUCCESS);
  ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRICaptureEnd(stream_, nullptr); });
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally_->Get(), 1u);
}

TEST_F(CaptureEnd, OtherThreadThanTheBeginningOneDiscards) {
  for (auto mode : {kGlobal, kThreadLocal}) {
    SCOPED_TRACE(Name(mode));
    tally_ = std::make_unique<Tally>();
    Begin(stream_, mode);
    ASSERT_EQ(tally_->Add(stream_), ACL_SUCCESS);
    aclmdlRI open = OpenModelOf(stream_);
    OnDeviceThread([&] { ExpectEndFails(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD); });
    ExpectDiscarded(open);
  }
}

TEST_F(CaptureEnd, RelaxedCaptureEndsOnAnyThread) {
  Begin(stream_, kRelaxed);
  ASSERT_EQ(tally_->Add(stream_), ACL_SUCCESS);
  aclmdlRI model = nullptr;
  OnDeviceThread([&] { EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS); });
  Model done(model);
  EXPECT_EQ(Replay(done, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally_->Get(), 1u);
}

TEST_F(CaptureEnd, InvalidatedCaptureIsDiscarded) {
  Begin(stream_);
  ASSERT_EQ(tally_->Add(stream_), ACL_SUCCESS);
  aclmdlRI open = OpenModelOf(stream_);
  Invalidate(stream_);
  ExpectEndFails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  ExpectDiscarded(open);
}

TEST_F(CaptureEnd, StreamThatDidNotComeBackDiscards) {
  TestEvent fork(EventKind::kEx);
  aclrtStream joined = NewStream();
  Begin(stream_);
  Link(stream_, fork, joined);
  ASSERT_EQ(tally_->Add(joined), ACL_SUCCESS);
  aclmdlRI open = OpenModelOf(stream_);
  ExpectEndFails(ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_EQ(CaptureStatusOf(joined), kIdle) << "all its streams return";
  EXPECT_EQ(aclrtSynchronizeStream(joined), ACL_SUCCESS);
  ExpectDiscarded(open);
}

TEST_F(CaptureEnd, OpenTaskGroupDiscards) {
  Begin(stream_);
  ASSERT_EQ(tally_->Add(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  aclmdlRI open = OpenModelOf(stream_);
  ExpectEndFails(ACL_ERROR_STREAM_TASK_GROUP_STATUS);
  ExpectDiscarded(open);
}

// The failures that discard are looked for in the order of the list.
TEST_F(CaptureEnd, JoinedStreamIsNoticedBeforeTheThread) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream joined = NewStream();
  Begin(stream_, kThreadLocal);
  Link(stream_, fork, joined);
  Link(joined, join, stream_);
  aclmdlRI model = kOldModel;
  OnDeviceThread([&] { EXPECT_EQ(aclmdlRICaptureEnd(joined, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED); });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing) << "the capture goes on";
  Model done = End(stream_);
}

TEST_F(CaptureEnd, ThreadIsNoticedBeforeTheInvalidCapture) {
  Begin(stream_, kGlobal);
  Invalidate(stream_);
  OnDeviceThread([&] { ExpectEndFails(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD); });
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
}

TEST_F(CaptureEnd, InvalidCaptureIsNoticedBeforeTheMissingStream) {
  TestEvent fork(EventKind::kEx);
  Begin(stream_);
  Link(stream_, fork, NewStream());
  Invalidate(stream_);
  ExpectEndFails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
}

TEST_F(CaptureEnd, MissingStreamIsNoticedBeforeTheOpenGroup) {
  TestEvent fork(EventKind::kEx);
  Begin(stream_);
  Link(stream_, fork, NewStream());
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  ExpectEndFails(ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
}

TEST_F(CaptureEnd, EmptyCaptureIsLegal) {
  Begin(stream_);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
}

}  // namespace capture_end_test
}  // namespace ropeway_test::graph
