// Events and their records below the API: who holds what, and what a stream that is gone does to them.
#include "stream/event.h"

#include <set>

#include "acl/acl_rt.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace event_test {

class EventTest : public testing::Test {
 protected:
  void SetUp() override {
    event_ = Event::Create(Event::Kind::kDefault, 0, 0, &scope_);
    ASSERT_NE(event_, nullptr);
  }
  void TearDown() override { EXPECT_TRUE(Event::Destroy(Events().HandleOf(event_))); }
  FailureScope scope_;
  Gate gate_;
  CountingMarker marker_;
  Event* event_ = nullptr;
};

TEST_F(EventTest, ARecordIsPendingUntilTheStreamReachesIt) {
  TestStream stream(&scope_);
  EXPECT_FALSE(event_->latest());
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  ASSERT_TRUE(event_->RecordOn(stream.ref(), &scope_, "test").ok());
  EXPECT_EQ(event_->latest()->state(), Record::State::kPending);
  EXPECT_EQ(event_->latest()->sequence(), stream->queue().submitted());
  gate_.Open();
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  EXPECT_EQ(event_->latest()->state(), Record::State::kDone);
  EXPECT_GT(event_->latest()->time_ns(), 0);
}

TEST_F(EventTest, AnAbortedRecordIsForgotten) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  ASSERT_TRUE(event_->RecordOn(stream.ref(), &scope_, "test").ok());
  RecordHold record = event_->latest();
  ASSERT_TRUE(stream->Abort().ok());
  EXPECT_EQ(record->state(), Record::State::kDropped);
  EXPECT_FALSE(event_->latest());
}

TEST_F(EventTest, WaitsHoldTheirRecordBeyondTheEvent) {
  TestStream recorder(&scope_), waiter(&scope_);
  Event* event = Event::Create(Event::Kind::kDefault, 0, 0, &scope_);
  ASSERT_TRUE(recorder.Submit(AwaitTask(&gate_, &marker_)).ok());
  ASSERT_TRUE(event->RecordOn(recorder.ref(), &scope_, "test").ok());
  ASSERT_TRUE(event->AwaitOn(waiter.ref(), &scope_, 0, "test").ok());
  EXPECT_TRUE(event->HasOutstandingWaits());
  void* handle = Events().HandleOf(event);
  EXPECT_TRUE(Event::Destroy(handle));
  EXPECT_FALSE(Event::Destroy(handle));
  EXPECT_EQ(waiter->queue().Wait(waiter->queue().submitted(), Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  gate_.Open();
  EXPECT_TRUE(waiter->Synchronize(Deadline::Never()).ok());
}

// A call finds its stream, another thread destroys it, and the call goes on: the stream object must stay whole.
TEST_F(EventTest, ARecordOnAStreamThatIsGoneIsRefusedAndHarmless) {
  StreamRef stale;
  {
    TestStream stream(&scope_);
    stale = stream.ref();
  }
  const Status status = event_->RecordOn(stale, &scope_, "test");
  EXPECT_EQ(status.code(), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_FALSE(event_->latest());
  // Nobody may be handed the same object twice.
  std::deque<TestStream> streams;
  std::set<Stream*> objects;
  for (int i = 0; i < 8; ++i) objects.insert(streams.emplace_back(&scope_).get());
  EXPECT_EQ(objects.size(), 8u) << "a stream object was given to two streams";
}

TEST_F(EventTest, AWaitOnAStreamThatIsGoneIsRefusedAndHarmless) {
  TestStream recorder(&scope_);
  StreamRef stale;
  {
    TestStream stream(&scope_);
    stale = stream.ref();
  }
  ASSERT_TRUE(recorder.Submit(AwaitTask(&gate_, &marker_)).ok());
  ASSERT_TRUE(event_->RecordOn(recorder.ref(), &scope_, "test").ok());
  EXPECT_EQ(event_->AwaitOn(stale, &scope_, 0, "test").code(), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_FALSE(event_->HasOutstandingWaits());
  gate_.Open();
}

}  // namespace event_test
}  // namespace ropeway_unit
