// Events behind a capture: once it has ended, well or not, they are ordinary events that were never recorded.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace captured_events_test {

// Ex events that can be timed, so that "never recorded" can be told from "complete".
class CapturedEvents : public CaptureTest {
 protected:
  static constexpr uint32_t kFlag = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;

  void ExpectUnrecorded(const TestEvent& event) {
    uint64_t us = 0;
    EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &us), ACL_ERROR_RT_INTERNAL_ERROR);
    aclrtStream waiter = NewStream();
    EXPECT_EQ(aclrtStreamWaitEvent(waiter, event.get()), ACL_SUCCESS);
    EXPECT_EQ(CaptureStatusOf(waiter), kIdle);
    EXPECT_EQ(aclrtSynchronizeStream(waiter), ACL_SUCCESS);
  }

  // As an event that was made just now: it holds a waiter back until its stream has come there.
  void ExpectOrdinary(const TestEvent& event) {
    ExpectUnrecorded(event);
    aclrtStream waiter = NewStream();
    Hold hold(stream_);
    Link(stream_, event, waiter);
    EXPECT_EQ(StatusOf(waiter), ACL_STREAM_STATUS_NOT_READY);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(waiter), ACL_SUCCESS);
    uint64_t us = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event.get(), &us), ACL_SUCCESS);
  }
};

TEST_F(CapturedEvents, AreOrdinaryAgainBehindTheEnd) {
  TestEvent fork(EventKind::kEx, kFlag), join(EventKind::kEx, kFlag);
  aclrtStream branch = NewStream();
  Begin(stream_);
  Link(stream_, fork, branch);
  Link(branch, join, stream_);
  Model model = End(stream_);
  ExpectOrdinary(fork);
  ExpectOrdinary(join);
}

TEST_F(CapturedEvents, AreOrdinaryAgainBehindADiscardedCapture) {
  TestEvent fork(EventKind::kEx, kFlag);
  Begin(stream_);
  Link(stream_, fork, NewStream());
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_UNJOINED);
  ExpectOrdinary(fork);
}

// The replay has its own copy of the crossing: what the event is used for meanwhile does not concern it.
TEST_F(CapturedEvents, ReplayDoesNotRecordThem) {
  TestEvent fork(EventKind::kEx, kFlag), join(EventKind::kEx, kFlag);
  aclrtStream branch = NewStream();
  Tally tally;
  Begin(stream_);
  Link(stream_, fork, branch);
  ASSERT_EQ(tally.Add(branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  ExpectUnrecorded(fork);
  ExpectUnrecorded(join);
  aclrtStream outside = NewStream();
  Hold hold(outside);
  ASSERT_EQ(aclrtRecordEvent(fork.get(), outside), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS) << "does not wait for the outside";
  EXPECT_EQ(RecordedStatus(fork.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY) << "does not record it either";
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(CapturedEvents, ServeSeveralModels) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Tally first, second;
  auto capture = [&](Tally& tally) {
    Begin(stream_);
    Link(stream_, fork, branch);
    EXPECT_EQ(tally.Add(branch), ACL_SUCCESS);
    Link(branch, join, stream_);
    return End(stream_);
  };
  Model one = capture(first), two = capture(second);
  ASSERT_EQ(aclmdlRIExecuteAsync(one.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(two.get(), branch), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(branch), ACL_SUCCESS);
  EXPECT_EQ(first.Get(), 1u);
  EXPECT_EQ(second.Get(), 1u);
}

// The documentation wants them kept; the model keeps what it needs.
TEST_F(CapturedEvents, MayBeDestroyedBeforeTheModel) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  Tally tally;
  Begin(stream_);
  Link(stream_, fork, branch);
  ASSERT_EQ(tally.Add(branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  EXPECT_EQ(aclrtDestroyEvent(fork.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(join.Release()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

// The streams of the capture have nothing to do with the model any more.
TEST_F(CapturedEvents, StreamsMayBeDestroyedBeforeTheModel) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  TestStream origin, branch;
  Tally tally;
  Begin(origin.get());
  Link(origin.get(), fork, branch.get());
  ASSERT_EQ(tally.Add(branch.get()), ACL_SUCCESS);
  Link(branch.get(), join, origin.get());
  Model model = End(origin.get());
  EXPECT_EQ(aclrtDestroyStream(origin.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(branch.Release()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

}  // namespace captured_events_test
}  // namespace ropeway_test::graph
