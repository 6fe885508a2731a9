// aclmdlRICaptureBegin: its checks, which streams it takes, and that work is stored from then on and not before.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_begin_test {

using CaptureBegin = CaptureTest;

struct Args : CallArgs {
  aclrtStream stream = nullptr;
  int mode = kGlobal;
};

TEST_F(CaptureBegin, EarlierCheckWins) {
  bytes::BadStreams bad;
  ForeignContext foreign;
  aclrtStream scheduled = NewStream(ACL_STREAM_CPU_SCHEDULE);
  aclrtStream busy = NewStream();
  Begin(busy);

  Args valid;
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"stream NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.stream = nullptr; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"mode 3", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.mode = 3; }},
      {"CPU_SCHEDULE stream", ACL_ERROR_RT_INTERNAL_ERROR, [&](Args& a) { a.stream = scheduled; }},
      {"default stream", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [default_stream = DefaultStream()](Args& a) { a.stream = default_stream; }},
      {"stream under capture", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = busy; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.stream(); }},
  };
  auto call = [](const Args& a) { return aclmdlRICaptureBegin(a.stream, static_cast<aclmdlRICaptureMode>(a.mode)); };
  ExpectCheckOrder("aclmdlRICaptureBegin", valid, checks, call, [&] {
    EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
    EXPECT_EQ(CaptureStatusOf(scheduled), kIdle);
    EXPECT_EQ(CaptureStatusOf(DefaultStream()), kIdle);
    EXPECT_EQ(CaptureStatusOf(foreign.stream()), kIdle);
    EXPECT_EQ(CaptureStatusOf(busy), kCapturing);
  });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_), other = End(busy);
}

TEST_F(CaptureBegin, HandleThatIsNoStreamIsRejected) {
  bytes::BadStreams bad;
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(aclmdlRICaptureBegin(stream.handle, kGlobal), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
}

TEST_F(CaptureBegin, ModeOutsideZeroToTwoIsRejected) {
  for (int mode : {-1, 3, 1000}) {
    EXPECT_EQ(aclmdlRICaptureBegin(stream_, static_cast<aclmdlRICaptureMode>(mode)), ACL_ERROR_RT_PARAM_INVALID) << mode;
    EXPECT_EQ(CaptureStatusOf(stream_), kIdle) << mode;
  }
}

TEST_F(CaptureBegin, EveryModeIsTaken) {
  for (auto mode : kAllModes) {
    Begin(stream_, mode);
    EXPECT_EQ(CaptureStatusOf(stream_), kCapturing) << Name(mode);
    Model model = End(stream_);
  }
}

TEST_F(CaptureBegin, StreamsThatRunElsewhereCannotBeCaptured) {
  for (uint32_t flag : {ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    aclrtStream stream = NewStream(flag);
    ExpectRefused("aclmdlRICaptureBegin", ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclmdlRICaptureBegin(stream, kGlobal); });
    EXPECT_EQ(CaptureStatusOf(stream), kIdle) << flag;
  }
}

TEST_F(CaptureBegin, OrdinaryStreamsOfEveryFlagAreCaptured) {
  for (uint32_t flag : {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_PERSISTENT, ACL_STREAM_HUGE}) {
    SCOPED_TRACE(flag);
    Tally tally;
    aclrtStream stream = NewStream(flag);
    Begin(stream);
    EXPECT_EQ(tally.Add(stream), ACL_SUCCESS);
    Model model = End(stream);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), 1u);
  }
}

TEST_F(CaptureBegin, WorkSubmittedBeforeKeepsRunning) {
  DeviceBuffer block(64);
  block.Write(std::vector<uint8_t>(64, 1));
  TestEvent done(EventKind::kDefault);
  Hold hold(stream_);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(done.get(), stream_), ACL_SUCCESS);
  Begin(stream_);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(done.get()), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 9));
  Model model = End(stream_);
}

TEST_F(CaptureBegin, WorkSubmittedFromThenOnIsStoredAndNotRun) {
  DeviceBuffer block(64);
  PinnedBuffer host(64);
  block.Write(std::vector<uint8_t>(64, 1));
  std::memset(host.get(), 2, 64);
  int calls = 0;
  Begin(stream_);
  ASSERT_EQ(Copy(host.get(), block.get(), 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 9, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &calls), ACL_SUCCESS);
  Model model = End(stream_);
  // Behind whatever the stream might have been given by mistake.
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 1));
  EXPECT_EQ(BytesAt(host.get(), 64), std::vector<uint8_t>(64, 2));
  EXPECT_EQ(calls, 0);
}

// Any thread may submit to a stream under capture; what counts is the stream.
TEST_F(CaptureBegin, WorkOfOtherThreadsOnTheStreamIsStoredToo) {
  Tally tally;
  for (auto mode : kAllModes) {
    const uint64_t before = tally.Get();
    Begin(stream_, mode);
    OnFreshThread([&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(tally.Add(stream_), ACL_SUCCESS) << Name(mode);
    });
    Model model = End(stream_);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), before) << Name(mode);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), before + 1) << Name(mode);
  }
}

TEST_F(CaptureBegin, SeveralStreamsAreCapturedAtTheSameTime) {
  Tally first, second;
  aclrtStream other = NewStream();
  Begin(stream_);
  Begin(other);
  ASSERT_EQ(first.Add(stream_), ACL_SUCCESS);
  ASSERT_EQ(second.Add(other), ACL_SUCCESS);
  ASSERT_EQ(second.Add(other), ACL_SUCCESS);
  EXPECT_NE(OpenModelOf(stream_), OpenModelOf(other));
  Model one = End(stream_);
  EXPECT_EQ(CaptureStatusOf(other), kCapturing) << "an end concerns its own capture only";
  Model two = End(other);
  EXPECT_EQ(Replay(one, stream_), ACL_SUCCESS);
  EXPECT_EQ(first.Get(), 1u);
  EXPECT_EQ(second.Get(), 0u);
  EXPECT_EQ(Replay(two, stream_), ACL_SUCCESS);
  EXPECT_EQ(first.Get(), 1u);
  EXPECT_EQ(second.Get(), 2u);
}

TEST_F(CaptureBegin, StreamIsCapturedAgainAndAgain) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model one = End(stream_);
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model two = End(stream_);
  EXPECT_NE(one.get(), two.get());
  EXPECT_EQ(Replay(two, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
  EXPECT_EQ(Replay(one, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 3u);
}

}  // namespace capture_begin_test
}  // namespace ropeway_test::graph
