// An IPC event that another process created: every question goes to its home.
#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "base/mutex.h"
#include "engine/watcher.h"
#include "stream/ipc_event_home.h"

namespace ropeway {
namespace {

class EventImport final : public IpcEvent, public ipc::Listener {
 public:
  ~EventImport() override {
    if (connection_ != nullptr) connection_->Close();
  }
  Status Join(const ipc::Key& key);

  Result<ipc::Key> Export() override {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the event was opened from a handle; the process that created it hands it on");
  }
  int device() const override { return device_; }
  uint64_t shared_name() const override { return shared_name_; }
  void Withdraw() override {}

  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor fd) override;
  void OnGone(ipc::Connection& connection, bool said_goodbye) override;

 private:
  Result<uint64_t> Register() override;
  void Finish(uint64_t record, End end, Told heard) override;
  Result<Latest> Look() override { return AskLatest({kEventLook, 0, {}}); }
  Result<Latest> Watch(uint64_t watch, Told told) override;
  void Unwatch(uint64_t watch) override;

  Result<ipc::Message> Ask(const ipc::Message& message) {
    const HostWait wait(WaitReason::kProcess, 0, 0);
    return connection_->Call(message, Deadline::AfterMs(ipc::kPatienceMs));
  }
  Result<Latest> AskLatest(const ipc::Message& message);
  static Told Take(std::map<uint64_t, Told>* from, uint64_t name);

  std::shared_ptr<ipc::Connection> connection_;
  int device_ = 0;
  uint64_t shared_name_ = 0;
  Mutex mutex_{LockRank::kEventImport};
  bool gone_ RW_GUARDED_BY(mutex_) = false;
  std::map<uint64_t, Told> watches_ RW_GUARDED_BY(mutex_);
  std::map<uint64_t, Told> unheard_ RW_GUARDED_BY(mutex_);   // ends of records of which the home has said nothing, by ticket
  std::map<uint64_t, Told> received_ RW_GUARDED_BY(mutex_);  // those that it has a receipt for, and no answer
};

Status EventImport::Join(const ipc::Key& key) {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  const auto listener = std::shared_ptr<ipc::Listener>(shared_from_this(), this);
  const HostWait wait(WaitReason::kProcess, 0, 0);
  RW_TRY_SET(ipc::Joined joined, service->Connect(key, kEventOfferType, listener, Deadline::AfterMs(ipc::kPatienceMs)));
  connection_ = std::move(joined.connection);
  device_ = static_cast<int>(joined.welcome.value[0]);
  shared_name_ = joined.welcome.value[1];
  return Ok();
}

// The entry, or nothing when it is gone.
IpcEvent::Told EventImport::Take(std::map<uint64_t, Told>* from, uint64_t name) {
  auto found = from->extract(name);
  return found.empty() ? nullptr : std::move(found.mapped());
}

void EventImport::OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) {
  Told told;
  {
    LockGuard lock(mutex_);
    if (message.kind == kEventTold) told = Take(&watches_, message.value[0]);
    if (message.kind == ipc::kReceipt) received_.insert(unheard_.extract(message.ticket));
    if (message.kind == ipc::kReply) told = Take(&received_, message.ticket);
  }
  if (told) told->Tell(static_cast<int>(message.kind == kEventTold ? message.value[1] : message.value[0]));
  // A registration whose caller gave up: nobody will ever come to that record.
  if (!told && message.kind == ipc::kReply && message.value[2] == kEventRegister && message.value[0] == 0)
    connection.Post({kEventFinish, connection.NewTicket(), {message.value[1], static_cast<uint64_t>(End::kDropped)}});
}

void EventImport::OnGone(ipc::Connection&, bool) {
  std::map<uint64_t, Told> watches, unheard, received;
  {
    LockGuard lock(mutex_);
    gone_ = true;
    watches.swap(watches_);
    unheard.swap(unheard_);
    received.swap(received_);
  }
  for (auto& [watch, told] : watches) told->Tell(ACL_ERROR_RT_IPC_ERROR);
  for (auto& [ticket, told] : unheard) told->Tell(ACL_ERROR_RT_IPC_ERROR);
  for (auto& [ticket, told] : received) told->Tell(0);
}

Result<uint64_t> EventImport::Register() {
  RW_TRY_SET(const ipc::Message reply, Ask({kEventRegister, 0, {}}));
  if (reply.value[0] != 0)
    return Fail(static_cast<int>(reply.value[0]), "%zu records of this event are outstanding, and no more can be",
                EventHome::kMostOutstanding);
  return reply.value[1];
}

void EventImport::Finish(uint64_t record, End end, Told heard) {
  const uint32_t ticket = connection_->NewTicket();
  int code = 0;
  if (heard != nullptr) try {
      LockGuard lock(mutex_);
      if (gone_) {
        code = ACL_ERROR_RT_IPC_ERROR;
      } else {
        unheard_[ticket] = heard;
      }
    } catch (const std::bad_alloc&) {
      code = ACL_ERROR_RT_MEMORY_ALLOCATION;  // the answer will find nobody
    }
  connection_->Post({kEventFinish, ticket, {record, static_cast<uint64_t>(end)}});  // where it cannot be sent, OnGone follows
  if (code != 0) heard->Tell(code);
}

Result<IpcEvent::Latest> EventImport::AskLatest(const ipc::Message& message) {
  RW_TRY_SET(const ipc::Message reply, Ask(message));
  return Latest{static_cast<State>(reply.value[0]), reply.value[1]};
}

Result<IpcEvent::Latest> EventImport::Watch(uint64_t watch, Told told) {
  {
    LockGuard lock(mutex_);
    watches_[watch] = std::move(told);
  }
  const auto forget = [&] {
    Told released;  // without the lock
    LockGuard lock(mutex_);
    released = Take(&watches_, watch);
  };
  try {
    Result<Latest> latest = AskLatest({kEventWatch, 0, {watch}});
    if (!latest.ok() || latest.value().state != State::kPending) forget();
    return latest;
  } catch (...) {
    forget();
    throw;
  }
}

void EventImport::Unwatch(uint64_t watch) {
  Told released;
  {
    LockGuard lock(mutex_);
    released = Take(&watches_, watch);
  }
  connection_->Post({kEventUnwatch, 0, {watch}});
}

}  // namespace

Result<std::shared_ptr<IpcEvent>> IpcEvent::Open(const ipc::Key& key) {
  auto import = std::make_shared<EventImport>();
  RW_TRY(import->Join(key));
  return std::shared_ptr<IpcEvent>(std::move(import));
}

}  // namespace ropeway
