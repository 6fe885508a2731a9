// aclmdlRIExecuteAsync: its checks, and replays in the order of the stream. aclmdlRIExecute and aclmdlRIAbort, which
// are not for captured models.
#include <algorithm>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace execute_test {

constexpr size_t kSize = 256;

using Execute = CaptureTest;

struct Args : CallArgs {
  aclmdlRI model = nullptr;
  aclrtStream stream = nullptr;
};

TEST_F(Execute, EarlierCheckWins) {
  bytes::BadStreams bad;
  ForeignContext foreign;
  aclrtStream busy = NewStream(), persistent = NewStream(ACL_STREAM_PERSISTENT);
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  aclmdlRI elsewhere = nullptr;
  foreign.Run([&] {
    Begin(foreign.stream());
    elsewhere = End(foreign.stream()).Release();
  });
  Begin(busy);
  aclmdlRI stale = StaleModel(stream_);

  Args valid;
  valid.model = model.get();
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"model NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.model = nullptr; }},
      {"destroyed model", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.model = stale; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"stream under capture", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = busy; }},
      {"PERSISTENT stream", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.stream = persistent; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"model of another context", ACL_ERROR_RT_MODEL_CONTEXT, [&](Args& a) { a.model = elsewhere; }},
      {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.stream(); }},
  };
  auto call = [](const Args& a) { return aclmdlRIExecuteAsync(a.model, a.stream); };
  ExpectCheckOrder("aclmdlRIExecuteAsync", valid, checks, call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), 0u);
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
  foreign.Run([&] { EXPECT_EQ(aclmdlRIDestroy(elsewhere), ACL_SUCCESS); });
}

TEST_F(Execute, HandleThatIsNoModelIsRejected) {
  TestEvent event(EventKind::kEx);
  uint64_t zeros[64] = {};
  void* const handles[] = {stream_, event.get(), zeros, reinterpret_cast<void*>(uintptr_t{0x10})};
  for (void* handle : handles) EXPECT_EQ(aclmdlRIExecuteAsync(handle, stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Execute, StreamsThatDoNotRunHereAreRejected) {
  Begin(stream_);
  Model model = End(stream_);
  for (uint32_t flag : {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    aclrtStream stream = NewStream(flag);
    ExpectRefused("aclmdlRIExecuteAsync", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIExecuteAsync(model.get(), stream); });
  }
}

TEST_F(Execute, NullIsTheDefaultStreamAndItsHandleIsOrdinary) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  Hold hold(nullptr);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), DefaultStream()), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(DefaultStream()), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(tally.Get(), 0u) << "asynchronous";
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(Execute, StreamOfTheCaptureOrAnyOtherWillDo) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, NewStream()), ACL_SUCCESS);
  bytes::OnDeviceThreads(1, [&](int) { EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS); });
  EXPECT_EQ(tally.Get(), 3u);
}

// Plain work in front and behind: each step only gives the right bytes in its place.
TEST_F(Execute, ReplayIsOneUnitInTheOrderOfTheStream) {
  DeviceBuffer a(kSize), b(kSize), c(kSize);
  PinnedBuffer source(kSize), target(kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(b.get(), a.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(a.get(), kSize, 0, kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(Copy(c.get(), b.get(), kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint32_t seed : {1, 2, 3}) {
    Fill(source, Pattern(kSize, seed));
    Hold hold(stream_);
    ASSERT_EQ(Copy(a.get(), source.get(), kSize, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(Copy(target.get(), c.get(), kSize, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(c.get(), kSize, 0, kSize, stream_), ACL_SUCCESS);
    hold.Open();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target.get(), kSize), Pattern(kSize, seed));
    EXPECT_EQ(a.Read(kSize), std::vector<uint8_t>(kSize, 0));
    EXPECT_EQ(c.Read(kSize), std::vector<uint8_t>(kSize, 0));
  }
}

TEST_F(Execute, WorkBehindAReplayWaitsForAllItsBranches) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  DeviceBuffer strip(21 * kSize);
  PinnedBuffer source(kSize), target(kSize);
  Begin(stream_);
  Link(stream_, fork, branch);
  for (size_t i = 0; i < 20; ++i) {
    ASSERT_EQ(Copy(strip.at((i + 1) * kSize), strip.at(i * kSize), kSize, branch), ACL_SUCCESS);
  }
  Link(branch, join, stream_);
  Model model = End(stream_);
  for (uint32_t seed : {4, 5}) {
    Fill(source, Pattern(kSize, seed));
    ASSERT_EQ(Copy(strip.at(0), source.get(), kSize, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(Copy(target.get(), strip.at(20 * kSize), kSize, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target.get(), kSize), Pattern(kSize, seed));
  }
}

TEST_F(Execute, HundredReplaysAreQueuedAtOnce) {
  constexpr uint64_t kReplays = 100;
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Tally tally, in_branch;
  Begin(stream_);
  Link(stream_, fork, branch);
  ASSERT_EQ(in_branch.Add(branch), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  Hold hold(stream_);
  for (uint64_t i = 0; i < kReplays; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 0u);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), kReplays);
  EXPECT_EQ(in_branch.Get(), kReplays);
}

TEST_F(Execute, HostMemoryIsReadWhenTheReplayRuns) {
  PinnedBuffer source(kSize);
  DeviceBuffer device(kSize);
  Fill(source, Pattern(kSize, 6));
  Begin(stream_);
  ASSERT_EQ(Copy(device.get(), source.get(), kSize, stream_), ACL_SUCCESS);
  Fill(source, Pattern(kSize, 7));
  Model model = End(stream_);
  Hold hold(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  Fill(source, Pattern(kSize, 8));
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(kSize), Pattern(kSize, 8));
}

// How many replays are between their first and their last task. Host functions of a context run one at a time.
struct Inside {
  int now = 0, most = 0, total = 0;
  static void Enter(void* self) {
    auto* inside = static_cast<Inside*>(self);
    inside->most = std::max(inside->most, ++inside->now);
    ++inside->total;
  }
  static void Leave(void* self) { --static_cast<Inside*>(self)->now; }
};

TEST_F(Execute, ReplaysOnTwoStreamsRunOneAfterTheOther) {
  aclrtStream other = NewStream();
  Tally tally;
  Inside inside;
  Begin(stream_);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Inside::Enter, &inside), ACL_SUCCESS);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Inside::Leave, &inside), ACL_SUCCESS);
  Model model = End(stream_);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), other), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(inside.most, 1);
  EXPECT_EQ(inside.total, 40);
  EXPECT_EQ(tally.Get(), 400u);
}

TEST_F(Execute, ManyThreadsExecuteOneModel) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  bytes::OnDeviceThreads(8, [&](int thread) {
    TestStream own;
    aclrtStream stream = thread % 2 == 0 ? own.get() : stream_;
    for (int i = 0; i < 25; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 200u);
}

TEST_F(Execute, BlockingFormAndAbortAreNotForCapturedModels) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRIExecute(nullptr, -1), ACL_ERROR_INVALID_PARAM);
  for (int32_t timeout : {-1, 1000, 0, -2}) {
    EXPECT_EQ(aclmdlRIExecute(model.get(), timeout), ACL_ERROR_RT_PARAM_INVALID) << timeout;
  }
  EXPECT_EQ(aclmdlRIExecute(StaleModel(stream_), -1), ACL_ERROR_RT_INVALID_HANDLE);
  ExpectRefused("aclmdlRIAbort", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclmdlRIAbort(model.get()); });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 0u);
}

TEST_F(Execute, CallsForModelsBuiltByHandRejectCapturedOnes) {
  constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID;
  Begin(stream_);
  Model model = End(stream_);
  aclrtStream stream = NewStream(ACL_STREAM_PERSISTENT);
  ExpectRefused("aclmdlRIBindStream", kRefused, [&] { return aclmdlRIBindStream(model.get(), stream, 0); });
  ExpectRefused("aclmdlRIEndTask", kRefused, [&] { return aclmdlRIEndTask(model.get(), stream); });
  ExpectRefused("aclmdlRIUnbindStream", kRefused, [&] { return aclmdlRIUnbindStream(model.get(), stream); });
  ExpectRefused("aclmdlRIBuildEnd", kRefused, [&] { return aclmdlRIBuildEnd(model.get(), nullptr); });
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
}

}  // namespace execute_test
}  // namespace ropeway_test::graph
