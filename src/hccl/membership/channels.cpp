#include "hccl/membership/channels.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "hccl/membership/services.h"
#include "hccl/transport/door.h"

namespace ropeway::comm {
namespace {

// Below the services' numbers.
constexpr uint16_t kReply = 1;
constexpr uint16_t kGoodBye = 2;
constexpr std::chrono::milliseconds kCallAgainAfter(10);
constexpr std::chrono::milliseconds kRefusalPatience(500);

// Ranks of this process, by communicator and rank: they need no connection.
using Neighbours = std::map<std::pair<std::string, uint32_t>, Channels*>;
Neighbours& AllNeighbours() {
  static auto* const all = new Neighbours;
  return *all;
}

std::string PeerName(uint32_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

Channels::Channels(std::string communicator, std::string secret, uint32_t rank, uint32_t size)
    : communicator_(std::move(communicator)), secret_(std::move(secret)), rank_(rank), size_(size) {}

Channels::~Channels() { Leave(); }

void Channels::Begin(const std::shared_ptr<Communicator>& owner) {
  owner_ = owner;
  const std::weak_ptr<Channels> weak = weak_from_this();
  AllNeighbours()[{communicator_, rank_}] = this;
  Door::Get().Admit(communicator_, rank_,
                    {secret_,
                     [weak](const Hello& hello) {
                       auto self = weak.lock();
                       return self ? self->Decide(hello) : Verdict::kRefused;
                     },
                     [weak](const Hello& hello, SecureSocket fd) {
                       if (auto self = weak.lock()) self->Enter(hello, std::move(fd));
                     }});
}

Verdict Channels::Decide(const Hello& hello) {
  if (hello.from >= size_ || hello.from == rank_ || hello.purpose == Purpose::kJoin) return Verdict::kRefused;
  const Slot& slot = slots_[hello.from];
  if (slot.ended) return Verdict::kRefused;
  if (hello.purpose == Purpose::kLink) return link_entered ? Verdict::kWelcome : Verdict::kRefused;
  if (slot.up) return Verdict::kRefused;
  return slot.caller && rank_ > hello.from ? Verdict::kBusy : Verdict::kWelcome;
}

void Channels::Enter(const Hello& hello, SecureSocket fd) {
  if (hello.purpose == Purpose::kLink) return link_entered(hello.from, std::move(fd));
  Rise(hello.from, Open(hello.from, std::move(fd)));
}

std::shared_ptr<Connection> Channels::Open(uint32_t peer, SecureSocket fd) {
  const std::weak_ptr<Channels> weak = weak_from_this();
  Connection::Events events;
  events.received = [weak, peer](Frame frame) {
    if (auto self = weak.lock()) self->Deliver(peer, std::move(frame));
  };
  events.closed = [weak, peer](bool clean, const std::string& why) {
    if (auto self = weak.lock()) self->End(peer, LossOf(clean), why);
  };
  events.bulk_begins = [weak, peer](const Frame& frame, uint64_t size) -> std::optional<Bulk> {
    const auto self = weak.lock();
    const std::shared_ptr<Communicator> owner = self ? self->owner_.lock() : nullptr;
    const Service* const service = ServiceOf(frame.type);
    return owner && service != nullptr && service->bulk_begins ? service->bulk_begins(*owner, peer, frame, size) : std::nullopt;
  };
  events.bulk_ended = [weak, peer](const Frame& frame, uint64_t, bool taken) {
    const auto self = weak.lock();
    if (const std::shared_ptr<Communicator> owner = self ? self->owner_.lock() : nullptr)
      ServiceOf(frame.type)->bulk_ended(*owner, peer, frame, taken);
  };
  events.by_visitors = true;
  events.read_bytes = 10 << 10;  // a message with small bytes inside
  return Connection::Open(std::move(fd), std::move(events));
}

void Channels::Connect(uint32_t peer) {
  Slot& slot = slots_[peer];
  if (slot.up || slot.ended || slot.caller || slot.retry) return;
  const std::shared_ptr<Communicator> owner = owner_.lock();
  if (!owner) return;
  if (owner->SameProcess(peer)) return Rise(peer, nullptr);
  const std::weak_ptr<Channels> weak = weak_from_this();
  slot.give_up = IoThread::Get().At(owner->ConnectDeadline(), [weak, peer] {
    auto self = weak.lock();
    if (self) self->End(peer, HCCL_E_TCP_CONNECT, "not reached in time: " + self->slots_[peer].last_failure);
  });
  StartCall(peer);
}

void Channels::StartCall(uint32_t peer) {
  const std::shared_ptr<Communicator> owner = owner_.lock();
  Slot& slot = slots_[peer];
  slot.retry = {};
  if (!owner || slot.up || slot.ended) return;
  const std::weak_ptr<Channels> weak = weak_from_this();
  slot.caller = Caller::Start(owner->peer(peer).address, {communicator_, rank_, peer, Purpose::kControl}, secret_,
                              [weak, peer](SecureSocket fd, Verdict verdict, const std::string& why) {
                                if (auto self = weak.lock()) self->Answered(peer, std::move(fd), verdict, why);
                              });
}

void Channels::Answered(uint32_t peer, SecureSocket fd, Verdict verdict, const std::string& why) {
  Slot& slot = slots_[peer];
  slot.caller.reset();
  if (slot.up || slot.ended) return;
  slot.called = static_cast<bool>(fd);
  if (fd) return Rise(peer, Open(peer, std::move(fd)));
  slot.last_failure = !why.empty() ? why : verdict == Verdict::kBusy ? "it calls us at the same moment" : "it refused";
  // The door of a rank is open as long as its process lives.
  if (no_more_news_ && why == std::strerror(ECONNREFUSED)) {
    if (!slot.patience) slot.patience = Deadline::After(kRefusalPatience);
    if (slot.patience->Passed()) return End(peer, HCCL_E_REMOTE, "it refuses connections, and the root is gone that could tell more");
  }
  const std::weak_ptr<Channels> weak = weak_from_this();
  slot.retry = IoThread::Get().At(Deadline::After(kCallAgainAfter), [weak, peer] {
    if (auto self = weak.lock()) self->StartCall(peer);
  });
}

void Channels::Rise(uint32_t peer, std::shared_ptr<Connection> connection) {
  Slot& slot = slots_[peer];
  slot.up = true;
  slot.connection = std::move(connection);
  slot.caller.reset();
  IoThread::Get().Cancel(std::exchange(slot.retry, {}));
  IoThread::Get().Cancel(std::exchange(slot.give_up, {}));
  for (Frame& frame : std::exchange(slot.waiting, {})) Send(peer, std::move(frame));
  for (const Up& up : std::exchange(slot.waiters, {})) up(HCCL_SUCCESS);
}

void Channels::Send(uint32_t peer, Frame frame, std::string_view rest, Leaves leaves) {
  Slot& slot = slots_[peer];
  if (slot.ended || left_) return;
  if (slot.up && slot.connection) return slot.connection->Send(frame, rest, leaves);
  frame.body.append(rest);
  if (!slot.up) {
    slot.waiting.push_back(std::move(frame));
    return Connect(peer);
  }
  // Handled in a moment and not now: the sender may be in the middle of something.
  IoThread::Get().Post([communicator = communicator_, from = rank_, peer, frame = std::move(frame)]() mutable {
    const auto found = AllNeighbours().find({communicator, peer});
    if (found != AllNeighbours().end()) found->second->Deliver(from, std::move(frame));
  });
}

bool Channels::SendWithBulk(uint32_t peer, const Frame& frame, Bulk bulk, std::function<void()> gone) {
  const Slot& slot = slots_[peer];
  return !slot.ended && !left_ && slot.connection && slot.connection->SendWithBulk(frame, std::move(bulk), std::move(gone));
}

HcclResult Channels::Ended(uint32_t peer) const {
  const auto found = slots_.find(peer);
  return found != slots_.end() && found->second.ended ? HCCL_E_REMOTE : HCCL_SUCCESS;
}

// Two ranks of one process have no channel that either has made.
bool Channels::Calls(uint32_t peer) const {
  const auto found = slots_.find(peer);
  if (found == slots_.end() || !found->second.connection) return rank_ > peer;
  return found->second.called;
}

void Channels::Call(uint32_t peer, Frame frame, Answer answer) {
  if (slots_[peer].ended || left_) return answer(HCCL_E_REMOTE, "");
  frame.id = ++last_call_;
  slots_[peer].calls.emplace(frame.id, std::move(answer));
  Send(peer, std::move(frame));
}

void Channels::Reply(uint32_t peer, uint64_t id, std::string body) { Send(peer, {kReply, id, std::move(body)}); }

void Channels::WhenUp(uint32_t peer, Up up) {
  Slot& slot = slots_[peer];
  if (slot.ended || left_) return up(HCCL_E_REMOTE);
  if (slot.up) return up(HCCL_SUCCESS);
  slot.waiters.push_back(std::move(up));
  Connect(peer);
}

bool Channels::IsForAnyone(uint32_t peer, const Frame& frame) const {
  const std::shared_ptr<Communicator> owner = owner_.lock();
  const Service* const service = ServiceOf(frame.type);
  return owner && service != nullptr && service->anywhere != nullptr && service->anywhere(*owner, peer, frame.type, frame.body);
}

void Channels::Deliver(uint32_t peer, Frame frame) {
  Slot& slot = slots_[peer];
  if (slot.ended || left_) return;
  if (IoThread::Get().IsVisited() && !IsForAnyone(peer, frame))
    return IoThread::Get().LeaveToThread([self = shared_from_this(), peer, frame = std::move(frame)] { self->Deliver(peer, frame); });
  // A neighbour's first word opens the way back, too.
  if (!slot.up) Rise(peer, nullptr);
  if (frame.type == kGoodBye) return End(peer, HCCL_SUCCESS, "");
  if (frame.type == kReply) {
    if (auto call = slot.calls.extract(frame.id)) call.mapped()(HCCL_SUCCESS, std::move(frame.body));
    return;
  }
  const std::shared_ptr<Communicator> owner = owner_.lock();
  const Service* const service = ServiceOf(frame.type);
  if (!owner || service == nullptr || service->received == nullptr) return;
  Request request(owner, peer, frame.type, frame.id, std::move(frame.body));
  service->received(*owner, request);
}

void Channels::Drop(Slot& slot) {
  slot.ended = true;
  slot.caller.reset();
  IoThread::Get().Cancel(std::exchange(slot.retry, {}));
  IoThread::Get().Cancel(std::exchange(slot.give_up, {}));
  if (slot.connection) slot.connection->Close();
  slot.connection.reset();
  slot.waiting.clear();
  for (auto& [id, answer] : std::exchange(slot.calls, {})) answer(HCCL_E_REMOTE, "");
}

void Channels::End(uint32_t peer, HcclResult why, const std::string& text) {
  const std::shared_ptr<Channels> self = shared_from_this();
  Slot& slot = slots_[peer];
  if (slot.ended || left_) return;
  Drop(slot);
  for (const Up& up : std::exchange(slot.waiters, {})) up(why == HCCL_SUCCESS ? HCCL_E_REMOTE : why);
  const std::shared_ptr<Communicator> owner = owner_.lock();
  if (!owner) return;
  if (why != HCCL_SUCCESS) owner->SetAsyncError(why, PeerName(peer) + ": " + text);
  for (const Service* service : AllServices()) {
    if (service->peer_ended != nullptr) service->peer_ended(*owner, peer, why);
  }
}

void Channels::Heard(uint32_t peer, HcclResult why) {
  if (peer < size_ && !slots_[peer].up) End(peer, why, LossText(why));
}

void Channels::Leave() {
  if (std::exchange(left_, true)) return;
  AllNeighbours().erase({communicator_, rank_});
  Door::Get().Revoke(communicator_, rank_);
  for (const auto& [key, neighbour] : AllNeighbours()) {
    if (key.first != communicator_) continue;
    IoThread::Get().Post([to = key, from = rank_] {
      const auto found = AllNeighbours().find(to);
      if (found != AllNeighbours().end()) found->second->Deliver(from, {kGoodBye, 0, ""});
    });
  }
  for (auto& [peer, slot] : slots_) {
    if (slot.connection) slot.connection->Send({kGoodBye, 0, ""});
    Drop(slot);
    for (const Up& up : std::exchange(slot.waiters, {})) up(HCCL_E_REMOTE);
  }
}

}  // namespace ropeway::comm
