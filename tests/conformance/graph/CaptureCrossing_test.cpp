// Several streams in one capture (rules/graphs.md 3): how a stream joins and comes back, what is refused, and what the
// events are afterwards. Events that a graph shares with the outside are tested in CaptureExternal_test.cpp.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_crossing_test {

constexpr size_t kSize = 64;

using CaptureCrossing = CaptureTest;

TEST_F(CaptureCrossing, WaitingStreamJoinsAndComesBack) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  PinnedBuffer source(kSize), target(kSize);
  DeviceBuffer one(kSize), two(kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(one.get(), source.get(), kSize, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(fork.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(CaptureStatusOf(branch), kIdle) << "a record alone makes nobody join";
  EXPECT_EQ(aclrtStreamWaitEvent(branch, fork.get()), ACL_SUCCESS);
  EXPECT_EQ(CaptureStatusOf(branch), kCapturing);
  EXPECT_EQ(OpenModelOf(branch), OpenModelOf(stream_));
  ASSERT_EQ(Copy(two.get(), one.get(), kSize, branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  ASSERT_EQ(Copy(target.get(), two.get(), kSize, stream_), ACL_SUCCESS);
  aclmdlRI open = OpenModelOf(branch);
  Model model = End(stream_);
  EXPECT_EQ(model.get(), open);
  EXPECT_EQ(CaptureStatusOf(branch), kIdle);
  for (uint32_t seed : {1, 2}) {
    Fill(source, Pattern(kSize, seed));
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target.get(), kSize), Pattern(kSize, seed));
  }
}

// stream_ splits in two branches that meet again; each half of the result has gone another way.
TEST_F(CaptureCrossing, DiamondOfThreeStreams) {
  TestEvent fork(EventKind::kEx), left_done(EventKind::kEx), right_done(EventKind::kEx);
  aclrtStream left = NewStream(), right = NewStream();
  PinnedBuffer source(2 * kSize), target(2 * kSize);
  DeviceBuffer top(2 * kSize), middle(2 * kSize), bottom(2 * kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(top.get(), source.get(), 2 * kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(left, fork.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(right, fork.get()), ACL_SUCCESS);
  ASSERT_EQ(Copy(middle.at(kSize), top.at(0), kSize, left), ACL_SUCCESS);
  ASSERT_EQ(Copy(middle.at(0), top.at(kSize), kSize, right), ACL_SUCCESS);
  Link(left, left_done, stream_);
  Link(right, right_done, stream_);
  ASSERT_EQ(Copy(bottom.get(), middle.get(), 2 * kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(Copy(target.get(), bottom.get(), 2 * kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint32_t seed : {3, 4, 5}) {
    const auto bytes = Pattern(2 * kSize, seed);
    Fill(source, bytes);
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target.get(), kSize), BytesAt(bytes.data() + kSize, kSize));
    EXPECT_EQ(BytesAt(target.get() + kSize, kSize), BytesAt(bytes.data(), kSize));
  }
}

TEST_F(CaptureCrossing, StreamsComeBackThroughOtherStreams) {
  TestEvent out(EventKind::kEx), further(EventKind::kEx), back(EventKind::kEx), home(EventKind::kEx);
  aclrtStream near = NewStream(), far = NewStream();
  Tally tally;
  Begin(stream_);
  Link(stream_, out, near);
  Link(near, further, far);
  EXPECT_EQ(OpenModelOf(far), OpenModelOf(stream_));
  ASSERT_EQ(tally.Add(far), ACL_SUCCESS);
  Link(far, back, near);
  Link(near, home, stream_);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(CaptureCrossing, OneEventServesManyCrossings) {
  TestEvent event(EventKind::kEx);
  aclrtStream branches[] = {NewStream(), NewStream(), NewStream()};
  DeviceBuffer strip(5 * kSize);
  PinnedBuffer source(kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(strip.at(0), source.get(), kSize, stream_), ACL_SUCCESS);
  size_t step = 0;
  for (aclrtStream branch : branches) {
    Link(stream_, event, branch);
    ASSERT_EQ(Copy(strip.at((step + 1) * kSize), strip.at(step * kSize), kSize, branch), ACL_SUCCESS);
    Link(branch, event, stream_);
    ++step;
  }
  Model model = End(stream_);
  for (uint32_t seed : {6, 7}) {
    Fill(source, Pattern(kSize, seed));
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(strip.Read(4 * kSize).data() + 3 * kSize, kSize), Pattern(kSize, seed));
  }
}

class CaptureUnjoined : public CaptureTest {
 protected:
  // Everything between Begin and End; the end must notice a stream that is not back.
  void ExpectUnjoined(const Callable<void()>& body) {
    Begin(stream_);
    body();
    aclmdlRI model = nullptr;
    ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_UNJOINED, [&] { return aclmdlRICaptureEnd(stream_, &model); });
    EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  }
};

TEST_F(CaptureUnjoined, StreamThatOnlyWaited) {
  TestEvent fork(EventKind::kEx);
  ExpectUnjoined([&] { Link(stream_, fork, NewStream()); });
}

TEST_F(CaptureUnjoined, RecordThatNobodyWaitsFor) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  ExpectUnjoined([&] {
    aclrtStream branch = NewStream();
    Link(stream_, fork, branch);
    ASSERT_EQ(aclrtRecordEvent(join.get(), branch), ACL_SUCCESS);
  });
}

TEST_F(CaptureUnjoined, WorkBehindTheLastRecord) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  Tally tally;
  ExpectUnjoined([&] {
    aclrtStream branch = NewStream();
    Link(stream_, fork, branch);
    Link(branch, join, stream_);
    ASSERT_EQ(tally.Add(branch), ACL_SUCCESS);
  });
}

TEST_F(CaptureUnjoined, StreamThatCameBackToAnotherThatDidNot) {
  TestEvent fork(EventKind::kEx), further(EventKind::kEx), back(EventKind::kEx);
  ExpectUnjoined([&] {
    aclrtStream near = NewStream(), far = NewStream();
    Link(stream_, fork, near);
    Link(near, further, far);
    Link(far, back, near);
  });
}

TEST_F(CaptureUnjoined, OneOfTwo) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  ExpectUnjoined([&] {
    aclrtStream one = NewStream(), two = NewStream();
    ASSERT_EQ(aclrtRecordEvent(fork.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(one, fork.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(two, fork.get()), ACL_SUCCESS);
    Link(one, join, stream_);
  });
}

TEST_F(CaptureCrossing, EndOnAJoinedStreamIsRefusedAndTheCaptureGoesOn) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Tally tally;
  Begin(stream_);
  Link(stream_, fork, branch);
  aclmdlRI model = nullptr;
  ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, [&] { return aclmdlRICaptureEnd(branch, &model); });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  EXPECT_EQ(CaptureStatusOf(branch), kCapturing);
  ASSERT_EQ(tally.Add(branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model done = End(stream_);
  EXPECT_EQ(Replay(done, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(CaptureCrossing, BeginOnAJoinedStreamIsRefused) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Begin(stream_);
  Link(stream_, fork, branch);
  EXPECT_EQ(aclmdlRICaptureBegin(branch, kRelaxed), ACL_ERROR_RT_STREAM_CAPTURED);
  Link(branch, join, stream_);
  Model model = End(stream_);
}

TEST_F(CaptureCrossing, SomeStreamsCannotJoin) {
  ForeignContext foreign;
  TestEvent fork(EventKind::kEx);
  aclrtStream scheduled = NewStream(ACL_STREAM_CPU_SCHEDULE);
  Begin(stream_);
  ASSERT_EQ(aclrtRecordEvent(fork.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(scheduled, fork.get()), ACL_ERROR_RT_INTERNAL_ERROR);
  foreign.Run([&] { EXPECT_NE(aclrtStreamWaitEvent(foreign.stream(), fork.get()), ACL_SUCCESS); });
  EXPECT_EQ(CaptureStatusOf(scheduled), kIdle);
  EXPECT_EQ(CaptureStatusOf(foreign.stream()), kIdle);
  DiscardCaptures();
}

TEST_F(CaptureCrossing, EventThatWasNeverRecordedIsNoDependency) {
  TestEvent event(EventKind::kEx);
  Begin(stream_);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
}

TEST_F(CaptureCrossing, RecordOfAnOutsideStreamTakesTheEventOutOfTheCapture) {
  TestEvent event(EventKind::kEx);
  aclrtStream outside = NewStream();
  Begin(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
  EXPECT_EQ(CaptureStatusOf(outside), kIdle);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  Model model = End(stream_);
}

// In flight or complete: the graph could not repeat it.
TEST_F(CaptureCrossing, EventRecordedOutsideCannotBeWaitedForInside) {
  for (bool complete : {false, true}) {
    SCOPED_TRACE(complete);
    TestEvent event(EventKind::kEx);
    aclrtStream outside = NewStream();
    Hold hold(outside);
    ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
    if (complete) {
      hold.Open();
      ASSERT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    }
    Begin(stream_);
    ExpectRefused("aclrtStreamWaitEvent", ACL_ERROR_RT_CAPTURE_DEPENDENCY, [&] { return aclrtStreamWaitEvent(stream_, event.get()); });
    EXPECT_EQ(CaptureStatusOf(stream_), kInvalidated) << "a wait inside the capture failed";
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  }
}

TEST_F(CaptureCrossing, EventOfAnotherCaptureInvalidatesBoth) {
  TestEvent event(EventKind::kEx), fork(EventKind::kEx);
  aclrtStream other = NewStream(), branch = NewStream();
  Tally tally;
  Begin(stream_);
  Begin(other);
  Link(other, fork, branch);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ExpectRefused("aclrtStreamWaitEvent", ACL_ERROR_STREAM_CAPTURE_CONFLICT, [&] { return aclrtStreamWaitEvent(branch, event.get()); });
  for (aclrtStream stream : {stream_, other, branch}) {
    EXPECT_EQ(CaptureStatusOf(stream), kInvalidated);
    EXPECT_EQ(tally.Add(stream), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED) << "no work is taken any more";
  }
  for (aclrtStream stream : {stream_, other}) {
    auto* model = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});
    ExpectRefused("aclmdlRICaptureEnd", ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, [&] { return aclmdlRICaptureEnd(stream, &model); });
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(CaptureStatusOf(stream), kIdle);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 0u);
}

}  // namespace capture_crossing_test
}  // namespace ropeway_test::graph
