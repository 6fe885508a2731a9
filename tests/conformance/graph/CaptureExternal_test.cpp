// Events that a graph shares with the outside: Ex events recorded or waited for with the EXTERNAL flag
// (rules/events.md 2), and classic events made with ACL_EVENT_EXTERNAL.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_external_test {

constexpr size_t kSize = 64;

aclError RecordForOutside(const TestEvent& event, aclrtStream stream) {
  return aclrtRecordEventWithFlag(event.get(), stream, ACL_EVENT_RECORD_EXTERNAL);
}
aclError WaitForOutside(const TestEvent& event, aclrtStream stream) {
  return aclrtStreamWaitEventWithFlag(stream, event.get(), 0, ACL_EVENT_WAIT_EXTERNAL);
}
// The stream cannot go on by itself.
void ExpectBlocked(aclrtStream stream) { EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT); }

using CaptureExternal = CaptureTest;

TEST_F(CaptureExternal, ReplayIsARecordForTheOutside) {
  TestEvent event(EventKind::kEx);
  aclrtStream outside = NewStream();
  PinnedBuffer source(kSize), target(kSize);
  DeviceBuffer device(kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(device.get(), source.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(RecordForOutside(event, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclrtStreamWaitEvent(outside, event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS) << "nothing is recorded before the first replay";
  for (uint32_t seed : {1, 2}) {
    Fill(source, Pattern(kSize, seed));
    Hold hold(stream_);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(outside, event.get()), ACL_SUCCESS);
    ASSERT_EQ(Copy(target.get(), device.get(), kSize, outside), ACL_SUCCESS);
    EXPECT_EQ(CaptureStatusOf(outside), kIdle);
    ExpectBlocked(outside);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(target.get(), kSize), Pattern(kSize, seed));
  }
}

TEST_F(CaptureExternal, HostSeesTheRecordOfTheReplay) {
  TestEvent event(EventKind::kEx);
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  ASSERT_EQ(RecordForOutside(event, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  Hold hold(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_F(CaptureExternal, ReplayWaitsForTheRecordThatWasLatestWhenItWasSubmitted) {
  TestEvent event(EventKind::kEx);
  aclrtStream outside = NewStream();
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(WaitForOutside(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS) << "no record: nothing to wait for";
  EXPECT_EQ(tally.Get(), 1u);
  for (uint64_t replays : {2, 3}) {
    Hold hold(outside);
    ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ExpectBlocked(stream_);
    EXPECT_EQ(tally.Get(), replays - 1);
    hold.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), replays);
  }
}

TEST_F(CaptureExternal, LaterRecordDoesNotMoveTheWaitOfAReplay) {
  TestEvent event(EventKind::kEx);
  NeverRecorded forever;
  aclrtStream outside = NewStream(), stuck = NewStream();
  Begin(stream_);
  ASSERT_EQ(WaitForOutside(event, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
  Hold hold(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stuck), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stuck), ACL_SUCCESS);
  hold.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

TEST_F(CaptureExternal, EventHasOneExternalUseInAGraph) {
  enum Use { kRecord, kWait };
  for (auto [first, second] : {std::pair{kRecord, kRecord}, {kRecord, kWait}, {kWait, kRecord}, {kWait, kWait}}) {
    SCOPED_TRACE(std::to_string(first) + " then " + std::to_string(second));
    TestEvent event(EventKind::kEx);
    auto use = [&](Use what) { return what == kRecord ? RecordForOutside(event, stream_) : WaitForOutside(event, stream_); };
    Begin(stream_);
    EXPECT_EQ(use(first), ACL_SUCCESS);
    EXPECT_EQ(use(second), ACL_ERROR_RT_PARAM_INVALID);
    DiscardCaptures();
  }
}

TEST_F(CaptureExternal, EventIsUsedByOneGraphAfterTheOther) {
  TestEvent event(EventKind::kEx);
  Begin(stream_);
  EXPECT_EQ(RecordForOutside(event, stream_), ACL_SUCCESS);
  Model one = End(stream_);
  Begin(stream_);
  EXPECT_EQ(RecordForOutside(event, stream_), ACL_SUCCESS);
  Model two = End(stream_);
  for (const Model* model : {&one, &two}) EXPECT_EQ(Replay(*model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
}

TEST_F(CaptureExternal, EventRecordedBeforeIsRefused) {
  TestEvent for_record(EventKind::kEx), for_wait(EventKind::kEx);
  aclrtStream outside = NewStream();
  ASSERT_EQ(aclrtRecordEvent(for_record.get(), outside), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(for_wait.get(), outside), ACL_SUCCESS);
  Begin(stream_);
  ExpectRefused("aclrtRecordEventWithFlag", ACL_ERROR_RT_PARAM_INVALID, [&] { return RecordForOutside(for_record, stream_); });
  ExpectRefused("aclrtStreamWaitEventWithFlag", ACL_ERROR_RT_PARAM_INVALID, [&] { return WaitForOutside(for_wait, stream_); });
}

TEST_F(CaptureExternal, OnlyExEventsWithExactlySyncTakeTheFlag) {
  TestEvent by_default(EventKind::kDefault), classic(EventKind::kClassic), timed(EventKind::kEx, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE),
      named(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  Begin(stream_);
  for (const TestEvent* event : {&by_default, &classic, &timed, &named}) {
    ExpectRefused("aclrtRecordEventWithFlag", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return RecordForOutside(*event, stream_); });
    ExpectRefused("aclrtStreamWaitEventWithFlag", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return WaitForOutside(*event, stream_); });
  }
}

TEST_F(CaptureExternal, StreamsOutsideACaptureDoNotTakeTheFlag) {
  TestEvent for_record(EventKind::kEx), for_wait(EventKind::kEx);
  aclrtStream outside = NewStream();
  Begin(stream_);
  EXPECT_EQ(RecordForOutside(for_record, outside), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(WaitForOutside(for_wait, outside), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
}

TEST_F(CaptureExternal, ClassicEventIsRecordedForTheOutside) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  aclrtStream outside = NewStream();
  Begin(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (int replay = 0; replay < 2; ++replay) {
    ASSERT_EQ(aclrtStreamWaitEvent(outside, event.get()), ACL_SUCCESS);
    EXPECT_EQ(CaptureStatusOf(outside), kIdle);
    ExpectBlocked(outside);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetEvent(event.get(), outside), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS);
  }
}

TEST_F(CaptureExternal, ClassicEventIsWaitedForFromTheInside) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  aclrtStream outside = NewStream();
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint64_t replay = 0; replay < 2; ++replay) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ExpectBlocked(stream_);
    EXPECT_EQ(tally.Get(), replay);
    ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), replay + 1);
    ASSERT_EQ(aclrtResetEvent(event.get(), outside), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS);
  }
}

// Wait and reset are replayed together: every replay takes one record, and nobody outside has to take it back.
TEST_F(CaptureExternal, ClassicEventIsResetByTheReplayThatWaitedForIt) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  aclrtStream outside = NewStream();
  Tally tally;
  ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(outside), ACL_SUCCESS);
  Begin(stream_);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS) << "the reset was stored and not carried out: the record is still there";
  for (uint64_t replay = 1; replay < 4; ++replay) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ExpectBlocked(stream_);
    EXPECT_EQ(tally.Get(), replay);
    ASSERT_EQ(aclrtRecordEvent(event.get(), outside), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), replay + 1);
  }
}

TEST_F(CaptureExternal, EventWhoseResetIsCapturedMayBeDestroyedBeforeTheModel) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  Begin(stream_);
  ASSERT_EQ(aclrtResetEvent(event.get(), stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclrtDestroyEvent(event.Release()), ACL_SUCCESS);
  for (int replay = 0; replay < 3; ++replay) EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
}

TEST_F(CaptureExternal, OneGraphWaitsForAnother) {
  TestEvent event(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  aclrtStream other = NewStream();
  Cell from{7}, between, to;
  Begin(stream_);
  ASSERT_EQ(Copy(between.get(), from.get(), 8, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  Model first = End(stream_);
  Begin(stream_);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event.get()), ACL_SUCCESS);
  ASSERT_EQ(Copy(to.get(), between.get(), 8, stream_), ACL_SUCCESS);
  Model second = End(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(second.get(), other), ACL_SUCCESS);
  ExpectBlocked(other);
  EXPECT_EQ(Replay(first, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(to.Get(), 7u);
}

}  // namespace capture_external_test
}  // namespace ropeway_test::graph
