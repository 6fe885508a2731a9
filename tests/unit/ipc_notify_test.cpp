// Shared notifies below the API, where limits can be shorter than a second: a wait that ends early never takes a record with it.
#include "stream/ipc_notify.h"

#include "acl/error_codes/rt_error_codes.h"
#include "unit/ipc_fixture.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace ipc_notify_test {

class IpcNotifyTest : public testing::Test {
 protected:
  void SetUp() override {
    notify_ = Notify::Create(0);
    Result<ipc::Key> key = notify_->Export(true);
    ASSERT_TRUE(key.ok());
    key_ = key.value();
    Result<Notify*> imported = Notify::Import(key_);
    ASSERT_TRUE(imported.ok());
    imported_ = imported.value();
  }
  void TearDown() override {
    EXPECT_TRUE(Notify::Destroy(Notifies().HandleOf(imported_)));
    EXPECT_TRUE(Notify::Destroy(Notifies().HandleOf(notify_)));
  }
  Status Wait(TestStream& stream, Notify* notify, int64_t timeout_ns) { return notify->AwaitOn(stream.ref(), &scope_, timeout_ns, "test"); }
  Status Record(TestStream& stream, Notify* notify) { return notify->RecordOn(stream.ref(), &scope_, "test"); }
  // How a wait without a limit ends.
  int WaitNow(TestStream& stream, Notify* notify) {
    EXPECT_TRUE(Wait(stream, notify, 0).ok());
    return stream->Synchronize(Deadline::Never()).code();
  }

  FailureScope scope_;
  ipc::Key key_;
  Notify* notify_ = nullptr;
  Notify* imported_ = nullptr;
};

TEST_F(IpcNotifyTest, AWaitThatTimesOutIsWithdrawn) {
  TestStream waiter(&scope_), recorder(&scope_);
  ASSERT_TRUE(Wait(waiter, imported_, 1000000).ok());
  EXPECT_EQ(waiter->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_TASK_TIMEOUT);
  ASSERT_TRUE(Record(recorder, imported_).ok());
  ASSERT_TRUE(recorder->Synchronize(Deadline::Never()).ok());
  EXPECT_EQ(WaitNow(waiter, notify_), 0);
}

// The record and the limit come together, in every order that there is.
TEST_F(IpcNotifyTest, ARecordIsNeverLostToAWaitThatTimesOut) {
  TestStream waiter(&scope_), recorder(&scope_);
  int late = 0;
  for (int round = 0; round < 400; ++round) {
    ASSERT_TRUE(Wait(waiter, imported_, 20000 + 500 * (round % 200)).ok());
    ASSERT_TRUE(Record(recorder, notify_).ok());
    const int code = waiter->Synchronize(Deadline::Never()).code();
    ASSERT_TRUE(recorder->Synchronize(Deadline::Never()).ok());
    if (code == 0) continue;
    ASSERT_EQ(code, ACL_ERROR_RT_TASK_TIMEOUT);
    ++late;
    ASSERT_EQ(WaitNow(waiter, notify_), 0) << round;
  }
  RecordProperty("late", late);
}

TEST_F(IpcNotifyTest, ADeadImporterBreaksTheNotify) {
  TestStream early(&scope_), late(&scope_), importing(&scope_);
  ASSERT_TRUE(Wait(early, notify_, 0).ok());
  ASSERT_TRUE(Wait(importing, imported_, 0).ok());
  {
    Stranger dying(key_.service);
    dying.SayHello(key_, ipc::kProtocol, kNotifyOfferType);
    ASSERT_EQ(dying.Hear().kind, uint32_t{ipc::kWelcome});
  }
  EXPECT_EQ(early->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_EQ(importing->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_EQ(WaitNow(late, notify_), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_EQ(WaitNow(late, imported_), ACL_ERROR_RT_IPC_ERROR);
  for (Notify* taker : {notify_, imported_}) {
    ASSERT_TRUE(Record(late, imported_).ok());
    EXPECT_EQ(WaitNow(late, taker), 0) << "a flag that is set counts";
    EXPECT_EQ(WaitNow(late, taker), ACL_ERROR_RT_IPC_ERROR);
  }
}

// Whoever is released by a record may end the exporter at once: the recorder has to have its receipt by then. And it may do so
// itself once it is answered: those whom it released have to have theirs.
TEST_F(IpcNotifyTest, AReceiptGoesInFrontOfTheEffectAndTheAnswerBehind) {
  Stranger stranger(key_.service);
  stranger.SayHello(key_, ipc::kProtocol, kNotifyOfferType);
  ASSERT_EQ(stranger.Hear().kind, uint32_t{ipc::kWelcome});
  constexpr uint32_t kTakeTicket = 1, kSetTicket = 2;
  const ipc::Message take{NotifyImport::kTake, kTakeTicket, {}}, set{NotifyImport::kSet, kSetTicket, {}}, bye{ipc::kGoodbye, 0, {}};
  for (const ipc::Message* message : {&take, &set, &bye}) stranger.Say(message, sizeof(*message));
  const ipc::Message receipt = stranger.Hear(), granted = stranger.Hear(), answer = stranger.Hear();
  EXPECT_EQ(receipt.kind, uint32_t{ipc::kReceipt});
  EXPECT_EQ(receipt.ticket, kSetTicket);
  EXPECT_EQ(granted.kind, uint32_t{ipc::kReply});
  EXPECT_EQ(granted.ticket, kTakeTicket);
  EXPECT_EQ(answer.kind, uint32_t{ipc::kReply});
  EXPECT_EQ(answer.ticket, kSetTicket);
}

// An exporter that ends when it gets a request, before its answer and, if it likes, before its receipt.
class EndingOffer final : public ipc::Offer {
 public:
  explicit EndingOffer(bool receipt) : Offer(kNotifyOfferType), receipt_(receipt) {}
  void OnJoined(ipc::Connection&, ipc::Message*, int*) override {}
  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) override {
    if (receipt_) connection.Receipt(message.ticket);
    shutdown(connection.fd_for_test(), SHUT_RDWR);
  }
  void OnGone(ipc::Connection&, bool) override {}

 private:
  const bool receipt_;
};

TEST_F(IpcNotifyTest, ARecordWithAReceiptIsDoneWhenItsExporterEnds) {
  ipc::Service* service = ipc::Service::Get().value();
  for (const bool receipt : {true, false}) {
    const ipc::Key key = service->Publish(std::make_shared<EndingOffer>(receipt)).value();
    Result<Notify*> ending = Notify::Import(key);
    ASSERT_TRUE(ending.ok());
    TestStream stream(&scope_);
    ASSERT_TRUE(Record(stream, ending.value()).ok());
    EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), receipt ? 0 : ACL_ERROR_RT_IPC_ERROR);
    ASSERT_TRUE(Record(stream, ending.value()).ok());
    EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR) << "a later one is never delivered";
    EXPECT_TRUE(Notify::Destroy(Notifies().HandleOf(ending.value())));
    service->Withdraw(key);
  }
}

// What a peer of the right user with the right key can say at worst.
TEST_F(IpcNotifyTest, APeerThatPlaysTricksHarmsOnlyTheNotify) {
  Stranger trickster(key_.service);
  trickster.SayHello(key_, ipc::kProtocol, kNotifyOfferType);
  ASSERT_EQ(trickster.Hear().kind, uint32_t{ipc::kWelcome});
  for (uint32_t kind = ipc::kFirstFreeKind; kind < ipc::kFirstFreeKind + 20; ++kind) {
    for (uint32_t ticket : {0u, 1u, 1u, 0xFFFFFFFFu}) {
      const ipc::Message message{kind, ticket, {~uint64_t{0}, 1, 2, 3, 4, 5}};
      trickster.Say(&message, sizeof(message));
    }
  }
  const ipc::Message goodbye{ipc::kGoodbye, 0, {}};
  trickster.Say(&goodbye, sizeof(goodbye));
  TestStream stream(&scope_);
  ASSERT_TRUE(Record(stream, imported_).ok());
  EXPECT_EQ(WaitNow(stream, imported_), 0);
}

}  // namespace ipc_notify_test
}  // namespace ropeway_unit
