// Mailboxes of threads that serve callbacks (rules/callbacks.md 1), below the API.
#include "stream/report_mailbox.h"

#include <pthread.h>

#include "acl/acl_rt.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace report_mailbox_test {

uint64_t Self() { return static_cast<uint64_t>(pthread_self()); }
void AddOne(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

class ReportMailboxTest : public testing::Test {
 protected:
  void TearDown() override {
    ReportMailbox::Forget(*stream_.get());
    ReportMailbox::Forget(*other_.get());
  }
  Status Launch(TestStream& stream, std::atomic<int>* counter, bool blocks) {
    return stream.Submit(CallTask(stream->mailbox, &AddOne, counter, blocks));
  }
  FailureScope scope_;
  TestStream stream_{&scope_}, other_{&scope_};
  std::atomic<int> calls_{0};
};

TEST_F(ReportMailboxTest, WithoutASubscriptionThereIsNothingToProcess) {
  std::thread([] { EXPECT_EQ(ReportMailbox::Process(1).code(), ACL_ERROR_RT_THREAD_SUBSCRIBE); }).join();
}

TEST_F(ReportMailboxTest, CallsRunOnTheThreadThatProcesses) {
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  ASSERT_TRUE(Launch(stream_, &calls_, true).ok());
  while (calls_ == 0) {
    const Status status = ReportMailbox::Process(100);
    ASSERT_TRUE(status.ok() || status.code() == ACL_ERROR_RT_REPORT_TIMEOUT);
  }
  EXPECT_TRUE(stream_->Synchronize(Deadline::Never()).ok());
  EXPECT_EQ(calls_, 1);
  ASSERT_TRUE(ReportMailbox::Unsubscribe(Self(), *stream_.get()).ok());
  EXPECT_EQ(ReportMailbox::Process(1).code(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(ReportMailboxTest, NothingComesWithinTheTime) {
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  EXPECT_EQ(ReportMailbox::Process(1).code(), ACL_ERROR_RT_REPORT_TIMEOUT);
}

TEST_F(ReportMailboxTest, AStreamIsSubscribedOnce) {
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  EXPECT_EQ(ReportMailbox::Subscribe(Self(), *stream_.get()).code(), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(ReportMailbox::Subscribe(Self() + 1, *stream_.get()).code(), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_TRUE(ReportMailbox::Subscribe(Self(), *other_.get()).ok()) << "a thread serves several streams";
}

TEST_F(ReportMailboxTest, OneFamilyOfCallbacksPerStream) {
  stream_->family = Stream::Family::kHostFunction;
  EXPECT_EQ(ReportMailbox::Subscribe(Self(), *stream_.get()).code(), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  stream_->family = Stream::Family::kNone;
  EXPECT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
}

TEST_F(ReportMailboxTest, AThreadServesOneDevice) {
  TestStream far(&scope_, SharedEngine(), 3);
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  EXPECT_EQ(ReportMailbox::Subscribe(Self(), *far.get()).code(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  ReportMailbox::Forget(*stream_.get());
  EXPECT_TRUE(ReportMailbox::Subscribe(Self(), *far.get()).ok()) << "it serves no stream any more, so any device will do";
  ReportMailbox::Forget(*far.get());
}

TEST_F(ReportMailboxTest, UnsubscribeWantsTheRightStreamAndThread) {
  EXPECT_EQ(ReportMailbox::Unsubscribe(Self(), *stream_.get()).code(), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  EXPECT_EQ(ReportMailbox::Unsubscribe(Self() + 1, *stream_.get()).code(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_TRUE(ReportMailbox::Unsubscribe(Self(), *stream_.get()).ok());
}

TEST_F(ReportMailboxTest, UnsubscribeWaitsForTheStream) {
  Latch subscribed, unsubscribed;
  std::atomic<uint64_t> server{0};
  std::thread serving([&] {
    server = Self();
    subscribed.Await();
    while (ReportMailbox::Process(50).code() != ACL_ERROR_RT_THREAD_SUBSCRIBE) {
    }
  });
  while (server == 0) sched_yield();
  ASSERT_TRUE(ReportMailbox::Subscribe(server, *stream_.get()).ok());
  subscribed.Release();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Launch(stream_, &calls_, true).ok());
  ASSERT_TRUE(ReportMailbox::Unsubscribe(server, *stream_.get()).ok());
  EXPECT_EQ(calls_, 20);
  serving.join();
}

TEST_F(ReportMailboxTest, ForgettingTheLastStreamWakesTheServer) {
  std::atomic<uint64_t> server{0};
  std::atomic<bool> subscribed{false};
  Status status;
  std::thread serving([&] {
    server = Self();
    while (!subscribed) sched_yield();
    status = ReportMailbox::Process(-1);
  });
  while (server == 0) sched_yield();
  ASSERT_TRUE(ReportMailbox::Subscribe(server, *stream_.get()).ok());
  subscribed = true;
  ReportMailbox::Forget(*stream_.get());
  ReportMailbox::Forget(*stream_.get());  // harmless
  serving.join();
  EXPECT_EQ(status.code(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(ReportMailboxTest, AnAbortTakesBackACallThatHasNotBegun) {
  ASSERT_TRUE(ReportMailbox::Subscribe(Self(), *stream_.get()).ok());
  ASSERT_TRUE(Launch(stream_, &calls_, true).ok());
  ASSERT_TRUE(stream_->Abort().ok());
  EXPECT_EQ(ReportMailbox::Process(1).code(), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(calls_, 0);
}

TEST_F(ReportMailboxTest, MailboxesAreKept) {
  ReportMailbox* mine = ReportMailbox::Of(4711, true);
  EXPECT_EQ(ReportMailbox::Of(4711, false), mine);
  EXPECT_EQ(ReportMailbox::Of(4712, false), nullptr);
}

}  // namespace report_mailbox_test
}  // namespace ropeway_unit
