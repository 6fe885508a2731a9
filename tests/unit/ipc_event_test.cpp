// IPC events below the API: the limit of outstanding records, and what peers say by hand.
#include <future>

#include "acl/acl_rt.h"
#include "stream/ipc_event_home.h"
#include "unit/ipc_fixture.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace ipc_event_test {

class IpcEventTest : public testing::Test {
 protected:
  void SetUp() override {
    event_ = Event::Create(Event::Kind::kEx, ACL_EVENT_IPC, 0, &scope_);
    Result<ipc::Key> key = event_->ipc()->Export();
    ASSERT_TRUE(key.ok());
    key_ = key.value();
  }
  void TearDown() override { EXPECT_TRUE(Event::Destroy(Events().HandleOf(event_))); }
  void Join(Stranger& stranger) {
    stranger.SayHello(key_, ipc::kProtocol, kEventOfferType);
    ASSERT_EQ(stranger.Hear().kind, uint32_t{ipc::kWelcome});
  }
  // A registration by hand: its reply.
  static ipc::Message Register(Stranger& stranger) {
    const ipc::Message message{kEventRegister, 1, {}};
    stranger.Say(&message, sizeof(message));
    return stranger.Hear();
  }
  // The end of a record, and all that is said about it.
  static void Finish(Stranger& stranger, uint64_t record) {
    const ipc::Message finish{kEventFinish, 2, {record, 0}};
    stranger.Say(&finish, sizeof(finish));
    EXPECT_EQ(stranger.Hear().kind, uint32_t{ipc::kReceipt});
    EXPECT_EQ(stranger.Hear().kind, uint32_t{ipc::kReply});
  }
  FailureScope scope_;
  Event* event_ = nullptr;
  ipc::Key key_;
};

TEST_F(IpcEventTest, OutstandingRecordsAreLimited) {
  Stranger stranger(key_.service);
  Join(stranger);
  for (size_t i = 0; i < EventHome::kMostOutstanding; ++i) ASSERT_EQ(Register(stranger).value[0], 0u) << i;
  EXPECT_EQ(Register(stranger).value[0], uint64_t{ACL_ERROR_RT_NO_EVENT_RESOURCE});
  TestStream stream(&scope_);
  EXPECT_EQ(event_->RecordOn(stream.ref(), &scope_, "test").code(), ACL_ERROR_RT_NO_EVENT_RESOURCE);
  // One that ends makes room for one.
  Finish(stranger, 1);
  EXPECT_TRUE(event_->RecordOn(stream.ref(), &scope_, "test").ok());
}

TEST_F(IpcEventTest, NobodyEndsARecordOfSomebodyElse) {
  TestStream recorder(&scope_);
  Gate gate;
  CountingMarker marker;
  ASSERT_TRUE(recorder.Submit(AwaitTask(&gate, &marker)).ok());
  ASSERT_TRUE(event_->RecordOn(recorder.ref(), &scope_, "test").ok());
  Stranger stranger(key_.service);
  Join(stranger);
  for (uint64_t record = 0; record < 4; ++record) Finish(stranger, record);
  EXPECT_FALSE(event_->ipc()->Query().value());
  gate.Open();
  EXPECT_TRUE(event_->ipc()->Synchronize(Deadline::Never()).ok());
}

// Watches an event from inside this process.
class Probe : public IpcEvent {
 public:
  template <typename Body>
  static bool WatchWith(IpcEvent& event, Body body) {
    struct Watcher final : Ear {
      explicit Watcher(Body what) : tell(std::move(what)) {}
      void Tell(int code) override { tell(code); }
      Body tell;
    };
    return (event.*&Probe::Watch)(NewWatch(), std::make_shared<Watcher>(std::move(body))).value().state == State::kPending;
  }
};

// Whoever sees the end of a record may end the process of the event at once.
TEST_F(IpcEventTest, OtherProcessesAreToldFirst) {
  Stranger stranger(key_.service);
  Join(stranger);
  const uint64_t record = Register(stranger).value[1];
  std::promise<std::vector<uint32_t>> said;
  ASSERT_TRUE(Probe::WatchWith(*event_->ipc(), [&](int) {
    std::vector<uint32_t> kinds;
    for (ipc::Message message; recv(stranger.fd(), &message, sizeof(message), MSG_DONTWAIT) > 0;) kinds.push_back(message.kind);
    said.set_value(kinds);
  }));
  const ipc::Message watch{kEventWatch, 2, {77}}, finish{kEventFinish, 3, {record, 0}};
  stranger.Say(&watch, sizeof(watch));
  ASSERT_EQ(stranger.Hear().ticket, 2u);
  stranger.Say(&finish, sizeof(finish));
  EXPECT_EQ(said.get_future().get(), (std::vector<uint32_t>{ipc::kReceipt, kEventTold}));
  const ipc::Message answer = stranger.Hear();
  EXPECT_EQ(answer.kind, uint32_t{ipc::kReply});
  EXPECT_EQ(answer.ticket, 3u);
}

// An event's home that ends when it hears of a record's end, before its answer and, if it likes, before its receipt.
class EndingHome final : public ipc::Offer {
 public:
  explicit EndingHome(bool receipt) : Offer(kEventOfferType), receipt_(receipt) {}
  void OnJoined(ipc::Connection&, ipc::Message*, int*) override {}
  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) override {
    if (message.kind == kEventRegister) {
      connection.Reply(message.ticket, 0, 1);
    } else {
      if (receipt_) connection.Receipt(message.ticket);
      shutdown(connection.fd_for_test(), SHUT_RDWR);
    }
  }
  void OnGone(ipc::Connection&, bool) override {}

 private:
  const bool receipt_;
};

TEST_F(IpcEventTest, ARecordWithAReceiptIsDoneWhenTheHomeEnds) {
  ipc::Service* service = ipc::Service::Get().value();
  for (const bool receipt : {true, false}) {
    const ipc::Key key = service->Publish(std::make_shared<EndingHome>(receipt)).value();
    Result<std::shared_ptr<IpcEvent>> opened = IpcEvent::Open(key);
    ASSERT_TRUE(opened.ok());
    TestStream stream(&scope_);
    ASSERT_TRUE(opened.value()->RecordOn(stream.ref(), &scope_, "test").ok());
    EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), receipt ? 0 : ACL_ERROR_RT_IPC_ERROR);
    service->Withdraw(key);
  }
}

TEST_F(IpcEventTest, RecordsOfADeadProcessFail) {
  TestStream stream(&scope_);
  {
    Stranger dying(key_.service);
    Join(dying);
    ASSERT_EQ(Register(dying).value[0], 0u);
    ASSERT_TRUE(event_->AwaitOn(stream.ref(), &scope_, 0, "test").ok());
    EXPECT_FALSE(event_->ipc()->Query().value());
  }
  EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_EQ(event_->ipc()->Query().status().code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_EQ(event_->ipc()->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR);
}

TEST_F(IpcEventTest, RecordsOfAProcessThatLeftAreForgotten) {
  Stranger leaving(key_.service);
  Join(leaving);
  ASSERT_EQ(Register(leaving).value[0], 0u);
  TestStream stream(&scope_);
  ASSERT_TRUE(event_->AwaitOn(stream.ref(), &scope_, 0, "test").ok());
  const ipc::Message goodbye{ipc::kGoodbye, 0, {}};
  leaving.Say(&goodbye, sizeof(goodbye));
  EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_TRUE(event_->ipc()->Query().value());
}

TEST_F(IpcEventTest, AWaitThatTimesOutIsForgotten) {
  Stranger stranger(key_.service);
  Join(stranger);
  ASSERT_EQ(Register(stranger).value[0], 0u);
  Result<std::shared_ptr<IpcEvent>> opened = IpcEvent::Open(key_);
  ASSERT_TRUE(opened.ok());
  TestStream stream(&scope_);
  for (IpcEvent* event : {event_->ipc(), opened.value().get()}) {
    ASSERT_TRUE(event->AwaitOn(stream.ref(), &scope_, 1000000, "test").ok());
    EXPECT_EQ(stream->Synchronize(Deadline::Never()).code(), ACL_ERROR_RT_TASK_TIMEOUT);
    EXPECT_EQ(event->Synchronize(Deadline::AfterMs(1)).code(), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  }
  const ipc::Message finish{kEventFinish, 2, {1, 0}};
  stranger.Say(&finish, sizeof(finish));
  EXPECT_TRUE(opened.value()->Synchronize(Deadline::Never()).ok());
}

}  // namespace ipc_event_test
}  // namespace ropeway_unit
