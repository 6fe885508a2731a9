#include "stream/ipc_notify.h"

#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "base/no_destroy.h"
#include "engine/backend.h"
#include "engine/watcher.h"
#include "stream/shared_name.h"

namespace ropeway {
namespace {

constexpr uint64_t kWithdrawn = 1;  // the answer to a take that was withdrawn in time
constexpr const char* kNoMemoryForTake = "the process that exported the notify has no memory for the wait";
constexpr const char* kDied = "a process that shares the notify has died, so the record may never come";

const char* TextOf(int code) { return code == 0 ? "" : code == ACL_ERROR_RT_MEMORY_ALLOCATION ? kNoMemoryForTake : kDied; }

// Exporting and destroying are rare: one lock for all notifies.
constinit Mutex g_offers_mutex{LockRank::kNotifyOffers};

}  // namespace

// --- Notify -------------------------------------------------------------------------------------------------------------

Result<Notify*> Notify::Import(const ipc::Key& key) {
  RW_TRY_SET(std::shared_ptr<NotifyImport> home, NotifyImport::Open(key));
  Notify* notify = Notifies().Take();
  if (notify == nullptr) return Fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "no notify is left; destroy some");
  notify->id_ = home->id();
  notify->device_ = home->device();
  notify->home_ = std::move(home);
  Notifies().Publish(notify);
  return notify;
}

Result<ipc::Key> Notify::Export(bool everybody) {
  if (imported()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "the notify was imported; the process that created it exports it");
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  LockGuard lock(g_offers_mutex);
  if (offer_ != nullptr) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the notify was exported before; use the key of that time");
  auto offer = std::make_shared<NotifyOffer>(*this);
  if (everybody) offer->AdmitEverybody();
  shared_name_.store(NewSharedName(), std::memory_order_relaxed);
  RW_TRY_SET(offer->key, service->Publish(offer));
  offer_ = std::move(offer);
  return offer_->key;
}

Status Notify::AdmitToo(const int32_t* pids, size_t count) {
  LockGuard lock(g_offers_mutex);
  if (offer_ == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "the notify was not exported; call aclrtNotifyGetExportKey first");
  offer_->AdmitToo(pids, count);
  return Ok();
}

// Importers who are there keep the offer, and it keeps the notify.
void Notify::Withdraw() {
  std::shared_ptr<NotifyOffer> offer;
  {
    LockGuard lock(g_offers_mutex);
    offer = std::move(offer_);
  }
  if (offer == nullptr) return;
  if (ipc::Service* service = ipc::Service::GetIfStarted()) service->Withdraw(offer->key);
}

int Notify::ExplainDeath(TaskFailure* failure) { return Explain(failure, ACL_ERROR_RT_IPC_ERROR, "%s", kDied); }

// --- NotifyOffer --------------------------------------------------------------------------------------------------------

struct NotifyOffer::Waiting final : ParkingPlace::Waiter {
  void Opened() override { std::shared_ptr(offer)->Grant(name); }

  std::shared_ptr<NotifyOffer> offer;
  std::shared_ptr<ipc::Connection> connection;
  Name name;
};

NotifyOffer::NotifyOffer(Notify& notify) : Offer(kNotifyOfferType), notify_(notify) { Notifies().Retain(&notify); }

NotifyOffer::~NotifyOffer() { Notifies().Release(&notify_); }

void NotifyOffer::OnJoined(ipc::Connection&, ipc::Message* welcome, int*) {
  welcome->value[0] = static_cast<uint64_t>(notify_.device());
  welcome->value[1] = static_cast<uint64_t>(notify_.id());
  welcome->value[2] = notify_.shared_name_.load(std::memory_order_relaxed);
}

void NotifyOffer::OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) {
  switch (message.kind) {
    case NotifyImport::kSet:
      connection.Receipt(message.ticket);
      notify_.flag_.Open();
      connection.Reply(message.ticket, 0);
      break;
    case NotifyImport::kTake: try { Take(connection, message.ticket);
      } catch (const std::bad_alloc&) {
        connection.Reply(message.ticket, ACL_ERROR_RT_MEMORY_ALLOCATION);
      }
      break;
    case NotifyImport::kClear:
      connection.Receipt(message.ticket);
      notify_.flag_.Close();
      connection.Reply(message.ticket, 0);
      break;
    case NotifyImport::kWithdraw: Withdraw(connection, message.ticket); break;
    case NotifyImport::kPutBack: notify_.flag_.Open(); break;
    default: break;
  }
}

void NotifyOffer::Take(ipc::Connection& connection, uint32_t ticket) {
  const Name name{connection.id(), ticket};
  auto made = std::make_unique<Waiting>();
  made->offer = shared_from_this();
  made->connection = connection.shared_from_this();
  made->name = name;
  Waiting* waiting = made.get();
  {
    LockGuard lock(mutex_);
    if (!waiting_.emplace(name, std::move(made)).second) return;  // a ticket that is in use: a peer that plays tricks
  }
  if (notify_.flag_.PassOrPark(waiting)) Grant(name);
}

void NotifyOffer::Grant(const Name& name) {
  std::unique_ptr<Waiting> waiting;
  {
    LockGuard lock(mutex_);
    waiting = std::move(waiting_.extract(name).mapped());
  }
  const bool served = !waiting->broke_through();
  const bool heard = waiting->connection->Reply(name.second, served ? 0 : ACL_ERROR_RT_IPC_ERROR);
  if (served && !heard) notify_.flag_.Open();  // nobody there any more: for the next one
}

void NotifyOffer::Withdraw(ipc::Connection& connection, uint32_t ticket) {
  LockGuard lock(mutex_);
  auto found = waiting_.find({connection.id(), ticket});
  // One that is just being granted gets that answer, and the importer puts the flag back.
  if (found == waiting_.end() || !notify_.flag_.Unpark(found->second.get())) return;
  waiting_.erase(found);
  connection.Reply(ticket, kWithdrawn);
}

void NotifyOffer::OnGone(ipc::Connection& connection, bool said_goodbye) {
  {
    LockGuard lock(mutex_);
    for (auto next = waiting_.lower_bound({connection.id(), 0}); next != waiting_.end() && next->first.first == connection.id();) {
      next = notify_.flag_.Unpark(next->second.get()) ? waiting_.erase(next) : std::next(next);
    }
  }
  if (!said_goodbye) notify_.flag_.Break();
}

// --- NotifyImport -------------------------------------------------------------------------------------------------------

class NotifyImport::Request final : public Operation {
 public:
  Request(std::shared_ptr<NotifyImport> home, Kind kind)
      : Operation(Signal::Shared(home->shared_name(), static_cast<uint32_t>(home->id()), RoleOf(kind), true)), home_(std::move(home)),
        kind_(kind) {}
  Kind kind() const { return kind_; }
  std::atomic<uint32_t> ticket{0};

 private:
  static Signal::Role RoleOf(Kind kind) {
    return kind == kSet ? Signal::Role::kSets : kind == kTake ? Signal::Role::kAwaits : Signal::Role::kTakesBack;
  }
  void Start() override { home_->Ask(std::static_pointer_cast<Request>(shared_from_this())); }
  void Abandoned(bool started) override {
    if (started) home_->GiveUp(ticket.load(std::memory_order_acquire));
  }
  void Wasted(int code) override {
    if (kind_ == kTake && code == 0) home_->connection_->Post({kPutBack, 0, {}});
  }

  const std::shared_ptr<NotifyImport> home_;
  const Kind kind_;
};

Result<std::shared_ptr<NotifyImport>> NotifyImport::Open(const ipc::Key& key) {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  auto home = std::make_shared<NotifyImport>();
  const HostWait wait(WaitReason::kProcess, 0, 0);
  RW_TRY_SET(ipc::Joined joined, service->Connect(key, kNotifyOfferType, home, Deadline::AfterMs(ipc::kPatienceMs)));
  home->connection_ = std::move(joined.connection);
  home->device_ = static_cast<int>(joined.welcome.value[0]);
  home->id_ = static_cast<int>(joined.welcome.value[1]);
  home->shared_name_ = joined.welcome.value[2];
  return home;
}

NotifyImport::~NotifyImport() {
  if (connection_ != nullptr) connection_->Close();
}

Status NotifyImport::LaunchOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, Kind kind, const char* call) {
  return std::make_shared<Request>(shared_from_this(), kind)->LaunchOn(stream, current, timeout_ns, call);
}

void NotifyImport::Ask(const std::shared_ptr<Request>& request) {
  const uint32_t ticket = connection_->NewTicket();
  request->ticket.store(ticket, std::memory_order_release);
  bool gone;
  {
    LockGuard lock(mutex_);
    gone = gone_;
    if (!gone) asked_[ticket] = {request->kind(), request, false};
  }
  if (gone) {
    request->Finish(ACL_ERROR_RT_IPC_ERROR, kDied);
  } else {
    connection_->Post({request->kind(), ticket, {}});  // where it cannot be sent, OnGone follows
  }
}

void NotifyImport::GiveUp(uint32_t ticket) {
  std::shared_ptr<Request> given_up;
  bool take = false;
  {
    LockGuard lock(mutex_);
    auto found = asked_.find(ticket);
    if (found == asked_.end()) return;
    given_up = std::move(found->second.request);
    take = found->second.kind == kTake;
  }
  if (take) connection_->Post({kWithdraw, ticket, {}});
}

void NotifyImport::OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) {
  Asked asked{};
  {
    LockGuard lock(mutex_);
    auto found = asked_.find(message.ticket);
    if (found == asked_.end()) return;
    if (message.kind == ipc::kReceipt) found->second.received = true;
    if (message.kind != ipc::kReply) return;
    asked = std::move(found->second);
    asked_.erase(found);
  }
  const auto code = static_cast<int>(message.value[0]);
  const bool used = asked.request != nullptr && asked.request->Finish(code, TextOf(code));
  if (!used && asked.kind == kTake && code == 0) connection.Post({kPutBack, 0, {}});
}

void NotifyImport::OnGone(ipc::Connection&, bool) {
  std::map<uint32_t, Asked> asked;
  {
    LockGuard lock(mutex_);
    gone_ = true;
    asked.swap(asked_);
  }
  for (auto& [ticket, one] : asked) {
    if (one.request != nullptr) one.request->Finish(one.received ? 0 : ACL_ERROR_RT_IPC_ERROR, one.received ? "" : kDied);
  }
}

}  // namespace ropeway
