// StreamPoint: passed when the stream has been there or never will be, and streams wait for it; KnownOrder: what a stream was
// told.
#include "stream/stream_point.h"

#include <gtest/gtest.h>

#include "stream/known_order.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace stream_point_test {

TEST(KnownOrderTest, KnowsTheLatestOfTheLastFew) {
  KnownOrder order;
  KnownOrder::wanted = false;
  order.Learn(1, 10);
  EXPECT_FALSE(order.Knows(1, 1)) << "nobody wanted it";
  KnownOrder::wanted = true;
  order.Learn(1, 10);
  order.Learn(1, 5);
  EXPECT_TRUE(order.Knows(1, 10));
  EXPECT_FALSE(order.Knows(1, 11));
  EXPECT_FALSE(order.Knows(2, 1));
  order.Learn(2, 0);
  EXPECT_FALSE(order.Knows(2, 0)) << "a task without a number";
  for (int id = 2; id < 100; ++id) order.Learn(id, static_cast<uint64_t>(id));
  EXPECT_FALSE(order.Knows(1, 10)) << "forgotten";
  EXPECT_TRUE(order.Knows(99, 99));
  order.Clear();
  EXPECT_FALSE(order.Knows(99, 1));
}

class StreamPointTest : public testing::Test {
 protected:
  std::shared_ptr<StreamPoint> Mark(TestStream& stream) {
    auto point = std::make_shared<StreamPoint>();
    EXPECT_TRUE(point->MarkOn(stream.ref(), &scope_, "test").ok());
    return point;
  }
  Status Await(const std::shared_ptr<StreamPoint>& point, StreamRef stream) {
    return point->AwaitOn(stream, &scope_, "test", std::make_unique<StreamPoint::Waiting>(point));
  }
  FailureScope scope_;
  Gate gate_;
  CountingMarker marker_;
};

TEST_F(StreamPointTest, PassedWhenTheStreamHasBeenThere) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  auto point = Mark(stream);
  EXPECT_EQ(point->stream_id(), stream->id());
  EXPECT_EQ(point->sequence(), stream->queue().submitted());
  EXPECT_FALSE(point->passed());
  gate_.Open();
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  EXPECT_TRUE(point->passed());
}

TEST_F(StreamPointTest, PassedWhenTheStreamNeverWillBeThere) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  auto point = Mark(stream);
  ASSERT_TRUE(stream->Abort().ok());
  EXPECT_TRUE(point->passed());
}

TEST_F(StreamPointTest, OtherStreamsWaitForItAndKeepIt) {
  TestStream stream(&scope_), waiter(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  std::weak_ptr<StreamPoint> watched;
  {
    auto point = Mark(stream);
    watched = point;
    ASSERT_TRUE(Await(point, waiter.ref()).ok());
  }
  EXPECT_FALSE(watched.expired()) << "two tasks name it";
  EXPECT_EQ(waiter->queue().Wait(waiter->queue().submitted(), Deadline::AfterMs(1)), WaitOutcome::kTimeout);
  gate_.Open();
  EXPECT_TRUE(waiter->Synchronize(Deadline::Never()).ok());
  EXPECT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  waiter.Destroy(false);
  stream.Destroy(false);
  EXPECT_TRUE(watched.expired());
}

TEST_F(StreamPointTest, AStreamThatIsGoneRefusesIt) {
  TestStream stream(&scope_), gone(&scope_);
  const StreamRef stale = gone.ref();
  gone.Destroy(false);
  EXPECT_FALSE(std::make_shared<StreamPoint>()->MarkOn(stale, &scope_, "test").ok());
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  auto point = Mark(stream);
  EXPECT_FALSE(Await(point, stale).ok());
  gate_.Open();
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
}

}  // namespace stream_point_test
}  // namespace ropeway_unit
