#include "stream/ipc_event_home.h"

#include <algorithm>

#include "acl/error_codes/rt_error_codes.h"

namespace ropeway {

// Speaks to those who opened the event. It keeps the home alive; the home does not keep it longer than its handle lives.
class EventOffer final : public ipc::Offer {
 public:
  explicit EventOffer(std::shared_ptr<EventHome> home) : Offer(kEventOfferType), home_(std::move(home)) { AdmitEverybody(); }

  void OnJoined(ipc::Connection&, ipc::Message* welcome, int*) override {
    welcome->value[0] = static_cast<uint64_t>(home_->device());
    welcome->value[1] = home_->shared_name();
  }
  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor fd) override;
  void OnGone(ipc::Connection& connection, bool said_goodbye) override {
    home_->Forget(connection.id(), said_goodbye ? EventHome::End::kDropped : EventHome::End::kFailed);
  }

 private:
  static void Answer(ipc::Connection& connection, uint32_t ticket, EventHome::Latest latest) {
    connection.Reply(ticket, static_cast<uint64_t>(latest.state), latest.record);
  }
  class FarEar final : public EventHome::Ear {
   public:
    FarEar(std::shared_ptr<ipc::Connection> to, uint64_t watch) : to_(std::move(to)), watch_(watch) {}
    void Tell(int code) override { to_->Post({kEventTold, 0, {watch_, static_cast<uint64_t>(code)}}); }

   private:
    const std::shared_ptr<ipc::Connection> to_;
    const uint64_t watch_;
  };
  void Register(ipc::Connection& connection, uint32_t ticket);
  void Watch(ipc::Connection& connection, const ipc::Message& message);

  const std::shared_ptr<EventHome> home_;
};

void EventOffer::OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor) {
  switch (message.kind) {
    case kEventRegister: return Register(connection, message.ticket);
    case kEventFinish: {
      const bool done = message.value[1] == static_cast<uint64_t>(EventHome::End::kDone);
      connection.Receipt(message.ticket);
      home_->FinishFor(connection.id(), message.value[0], done ? EventHome::End::kDone : EventHome::End::kDropped);
      connection.Reply(message.ticket, 0);
      break;
    }
    case kEventLook: return Answer(connection, message.ticket, home_->Look().value());
    case kEventWatch: return Watch(connection, message);
    case kEventUnwatch: home_->UnwatchFor({connection.id(), message.value[0]}); break;
    default: break;
  }
}

void EventOffer::Register(ipc::Connection& connection, uint32_t ticket) {
  Result<uint64_t> record = home_->RegisterFor(connection.id());
  connection.Post({ipc::kReply, ticket, {static_cast<uint64_t>(record.status().code()), record.value(), kEventRegister}});
}

// The answer may come behind the news of the end: the importer keeps its watch from before it asked.
void EventOffer::Watch(ipc::Connection& connection, const ipc::Message& message) {
  auto told = std::make_shared<FarEar>(connection.shared_from_this(), message.value[0]);
  Answer(connection, message.ticket, home_->WatchFor({connection.id(), message.value[0]}, std::move(told)));
}

// --- EventHome ----------------------------------------------------------------------------------------------------------

Result<ipc::Key> EventHome::Export() {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  LockGuard lock(mutex_);
  if (offer_ != nullptr) return key_;
  auto offer = std::make_shared<EventOffer>(std::static_pointer_cast<EventHome>(shared_from_this()));
  RW_TRY_SET(key_, service->Publish(offer));
  offer_ = std::move(offer);
  return key_;
}

void EventHome::Withdraw() {
  std::shared_ptr<ipc::Offer> offer;
  ipc::Key key;
  {
    LockGuard lock(mutex_);
    offer = std::move(offer_);
    key = key_;
  }
  if (offer == nullptr) return;
  if (ipc::Service* service = ipc::Service::GetIfStarted()) service->Withdraw(key);
}

Result<uint64_t> EventHome::RegisterFor(uint64_t recorder) {
  LockGuard lock(mutex_);
  if (outstanding_.size() >= kMostOutstanding)
    return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "%zu records of this event are outstanding, and no more can be", kMostOutstanding);
  outstanding_[++last_record_] = {recorder, {}};
  latest_ = {State::kPending, last_record_};
  return last_record_;
}

void EventHome::Finish(uint64_t record, End end, Told heard) {
  FinishFor(kThisProcess, record, end);
  if (heard != nullptr) heard->Tell(0);
}

bool EventHome::FinishFor(uint64_t recorder, uint64_t record, End end) {
  const int code = end == End::kDone ? 0 : ACL_ERROR_RT_IPC_ERROR;
  Record ended;
  {
    LockGuard lock(mutex_);
    auto found = outstanding_.find(record);
    if (found == outstanding_.end() || found->second.recorder != recorder) return false;
    ended = std::move(found->second);
    outstanding_.erase(found);
    // Other processes first, before anybody here can see it: a thread that waited for this may end the process.
    for (auto& [watcher, told] : ended.watchers) {
      if (watcher.first != kThisProcess) told->Tell(code);
    }
    // A dropped record is forgotten, as that of any event whose stream was aborted.
    if (latest_.record == record) latest_.state = end == End::kFailed ? State::kFailed : State::kNothing;
  }
  for (auto& [watcher, told] : ended.watchers) {
    if (watcher.first == kThisProcess) told->Tell(code);
  }
  return true;
}

Result<IpcEvent::Latest> EventHome::Look() {
  LockGuard lock(mutex_);
  return latest_;
}

IpcEvent::Latest EventHome::WatchFor(Watcher watcher, Told told) {
  LockGuard lock(mutex_);
  if (latest_.state == State::kPending) outstanding_[latest_.record].watchers.emplace_back(watcher, std::move(told));
  return latest_;
}

void EventHome::UnwatchFor(Watcher watcher) {
  Told released;  // without the lock: it may hold the last reference to an operation
  LockGuard lock(mutex_);
  for (auto& [number, record] : outstanding_) {
    auto found = std::find_if(record.watchers.begin(), record.watchers.end(), [&](const auto& one) { return one.first == watcher; });
    if (found == record.watchers.end()) continue;
    released = std::move(found->second);
    record.watchers.erase(found);
    return;
  }
}

// The latest first. No more come: whoever is gone registers nothing.
void EventHome::Forget(uint64_t connection, End end) {
  std::vector<uint64_t> recorded;
  {
    LockGuard lock(mutex_);
    for (auto& [number, record] : outstanding_) {
      if (record.recorder == connection) recorded.push_back(number);
      std::erase_if(record.watchers, [&](const auto& one) { return one.first.first == connection; });
    }
  }
  for (auto number = recorded.rbegin(); number != recorded.rend(); ++number) FinishFor(connection, *number, end);
}

}  // namespace ropeway
