#include "hccl/membership/communicator.h"

#include <optional>

#include "hccl/base/told.h"
#include "hccl/membership/channels.h"
#include "hccl/membership/parts.h"
#include "hccl/membership/services.h"
#include "hccl/transport/door.h"
#include "hccl/transport/io_thread.h"

namespace ropeway::comm {
namespace {

// Where a thread waits for the I/O thread. Outlives whichever of the two is done first.
template <typename T>
class Mailbox {
 public:
  void Put(T value) {
    LockGuard lock(mutex_);
    if (!value_) value_ = std::move(value);
    changed_.notify_all();
  }
  std::optional<T> Take(Deadline deadline) {
    LockGuard lock(mutex_);
    changed_.wait_until(mutex_, deadline.at(), [this]() RW_REQUIRES(mutex_) { return value_.has_value(); });
    return std::move(value_);
  }

 private:
  Mutex mutex_{LockRank::kHcclReply};
  Condition changed_;
  std::optional<T> value_ RW_GUARDED_BY(mutex_);
};

using Reply = std::pair<HcclResult, std::string>;

}  // namespace

void Request::Reply(std::string body) const {
  if (id_ == 0) return;
  IoThread::Get().Post([to = to_, peer = peer_, id = id_, body = std::move(body)]() mutable {
    const std::shared_ptr<Communicator> communicator = to.lock();
    Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
    if (channels != nullptr) channels->Reply(peer, id, std::move(body));
  });
}

void Communicator::Send(uint32_t peer, uint16_t type, std::string body, std::string_view rest, Leaves leaves) {
  if (!IoThread::Get().IsCurrent()) {
    body.append(rest);
    return IoThread::Get().Post([self = shared_from_this(), peer, type, body = std::move(body), leaves]() mutable {
      self->Send(peer, type, std::move(body), {}, leaves);
    });
  }
  if (channels_) channels_->Send(peer, {type, 0, std::move(body)}, rest, leaves);
}

bool Communicator::SendWithBulk(uint32_t peer, uint16_t type, std::string body, Bulk bulk, std::function<void()> gone) {
  return channels_ && channels_->SendWithBulk(peer, {type, 0, std::move(body)}, std::move(bulk), std::move(gone));
}

void Communicator::Call(uint32_t peer, uint16_t type, std::string body, std::function<void(HcclResult, std::string)> done) {
  IoThread::Get().Post([self = shared_from_this(), peer, type, body = std::move(body), done = std::move(done)]() mutable {
    if (!self->channels_) return done(HCCL_E_REMOTE, "");
    self->channels_->Call(peer, {type, 0, std::move(body)}, std::move(done));
  });
}

HcclResult Communicator::Call(uint32_t peer, uint16_t type, std::string body, Deadline deadline, std::string* reply) {
  auto mailbox = std::make_shared<Mailbox<Reply>>();
  Call(peer, type, std::move(body), [mailbox](HcclResult result, std::string bytes) { mailbox->Put({result, std::move(bytes)}); });
  const RankWait wait(peer);
  std::optional<Reply> answer = mailbox->Take(deadline);
  if (!answer) return HCCL_E_TIMEOUT;
  if (answer->first == HCCL_SUCCESS && reply != nullptr) *reply = std::move(answer->second);
  return answer->first;
}

HcclResult Communicator::Connect(uint32_t peer, Deadline deadline) {
  auto mailbox = std::make_shared<Mailbox<HcclResult>>();
  IoThread::Get().Post([self = shared_from_this(), peer, mailbox] {
    if (!self->channels_) return mailbox->Put(HCCL_E_REMOTE);
    self->channels_->WhenUp(peer, [mailbox](HcclResult result) { mailbox->Put(result); });
  });
  const RankWait wait(peer);
  return mailbox->Take(deadline).value_or(HCCL_E_TIMEOUT);
}

HcclResult Communicator::Ended(uint32_t peer) const { return channels_ ? channels_->Ended(peer) : HCCL_E_REMOTE; }

void Communicator::SetAsyncError(HcclResult error, const std::string& text) {
  LockGuard lock(mutex_);
  if (async_error_.load(std::memory_order_relaxed) != HCCL_SUCCESS) return;
  async_error_text_ = text;
  async_error_.store(error, std::memory_order_release);
}

void Communicator::BeginLife() {
  LockGuard lock(mutex_);
  async_error_text_.clear();
  async_error_.store(HCCL_SUCCESS, std::memory_order_release);
  life_.fetch_add(1, std::memory_order_acq_rel);
  suspended_.store(false, std::memory_order_release);
}

HcclResult Communicator::async_error() const { return async_error_.load(std::memory_order_acquire); }

std::string Communicator::async_error_text() const {
  LockGuard lock(mutex_);
  return async_error_text_;
}

std::shared_ptr<void> Communicator::State(const Service& service, const std::function<std::shared_ptr<void>()>& make) {
  LockGuard lock(mutex_);
  for (const auto& [owner, state] : states_) {
    if (owner == &service) return state;
  }
  const std::shared_ptr<void> state = states_.emplace_back(&service, make()).second;
  if (states_.size() <= made_.size()) {
    MadeEntry& made = made_[states_.size() - 1];
    made.state = state.get();
    made.owner.store(&service, std::memory_order_release);
  }
  return state;
}

Deadline Communicator::ExecDeadline() const { return exec_timeout_.count() == 0 ? Deadline::Never() : Deadline::After(exec_timeout_); }

void Parts::Dissolve(Communicator& communicator, std::function<void()> done) {
  const std::shared_ptr<Communicator> self = communicator.shared_from_this();
  if (!self->channels_) return done();
  for (const Service* service : AllServices()) {
    if (service->destroyed != nullptr) service->destroyed(*self);
  }
  self->channels_->Leave();
  self->channels_.reset();
  self->listener_.reset();
  const std::shared_ptr<Membership> membership = std::move(self->membership_);
  membership->Leave([membership, done = std::move(done)] { done(); });
}

}  // namespace ropeway::comm
