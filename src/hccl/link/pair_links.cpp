#include "hccl/link/pair_links.h"

#include <chrono>
#include <future>
#include <utility>

#include "base/settings.h"
#include "hccl/base/told.h"
#include "hccl/membership/parts.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

enum LinkMessage : uint16_t {
  kLinkHello = kLinkMessages + 0,
  kLinkGivenUp = kLinkMessages + 1,
};

constexpr std::chrono::milliseconds kRetryPause(10);
constexpr size_t kMostEarly = 4;

const Service kLinks = {
    kLinkMessages,
    [](Communicator& communicator, Request& request) { PairLinks::Of(communicator)->Received(request); },
    [](Communicator& communicator, uint32_t peer, HcclResult why) { PairLinks::Of(communicator)->PeerEnded(peer, why); },
    nullptr,
    [](Communicator& communicator) { PairLinks::Of(communicator)->Destroyed(); },
};
[[maybe_unused]] const bool kLinksAdded = (AddService(&kLinks), true);

}  // namespace

LinkKind ChosenLink() { return SettingText("ROPEWAY_HCCL_LINK") == "ucx" ? LinkKind::kUcx : LinkKind::kTcp; }

const char* NameOf(LinkKind kind) { return kind == LinkKind::kUcx ? "ucx" : "tcp"; }

bool NetworkInsideHost() { return SettingText("HCCL_INTRA_ROCE_ENABLE") == "1"; }

std::shared_ptr<PairLinks> PairLinks::Of(Communicator& communicator) {
  return std::static_pointer_cast<PairLinks>(
      communicator.State(kLinks, [&] { return std::static_pointer_cast<void>(std::make_shared<PairLinks>(communicator)); }));
}

std::shared_ptr<Peer> PairLinks::OwnEnd(uint32_t peer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  {
    LockGuard lock(mutex_);
    const Pair& pair = pairs_[peer];
    if (pair.tried || pair.outcome) return pair.end;
  }
  std::string why = "the communicator was destroyed";
  std::shared_ptr<Peer> end;
  if (communicator && kind_ == LinkKind::kTcp) end = NewTcpPeer(peer);
  if (communicator && kind_ == LinkKind::kUcx) {
    if (TlsWanted())
      why = "UCX does not encrypt what it moves: set ROPEWAY_HCCL_LINK to tcp, or ROPEWAY_HCCL_TLS to 0";
    else
      end = NewUcxPeer(communicator->self().address, &why);
  }
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  if (pair.tried || pair.outcome) {
    if (end) end->Close({HCCL_E_INTERNAL, "another thread was faster"});
    return pair.end;
  }
  pair.tried = true;
  pair.why = why;
  pair.end = std::move(end);
  return pair.end;
}

void PairLinks::Open(uint32_t peer, Opened opened) {
  IoThread::Get().Post([self = shared_from_this(), peer, opened = std::move(opened)] {
    LockGuard lock(self->mutex_);
    Pair& pair = self->pairs_[peer];
    if (pair.outcome) {
      const OpenedLink outcome = *pair.outcome;
      lock.unlock();
      return opened(outcome);
    }
    pair.waiting.push_back(opened);
    lock.unlock();
    self->Begin(peer);
  });
}

OpenedLink PairLinks::Open(uint32_t peer, Deadline deadline) {
  auto promise = std::make_shared<std::promise<OpenedLink>>();
  std::future<OpenedLink> future = promise->get_future();
  Open(peer, [promise](const OpenedLink& outcome) { promise->set_value(outcome); });
  const RankWait wait(peer);
  if (!deadline.never() && future.wait_until(deadline.at()) == std::future_status::timeout)
    return {nullptr, HCCL_E_TIMEOUT, "it did not answer in time"};
  return future.get();
}

void PairLinks::Begin(uint32_t peer) {
  OwnEnd(peer);
  Advance(peer);
}

std::string PairLinks::HelloOf(const Pair& pair) const {
  if (pair.end == nullptr) return Writer().Number(uint8_t{0}).Raw(pair.why).Take();
  return Writer().Number(static_cast<uint8_t>(kind_)).Raw(pair.end->Introduction()).Take();
}

// Says hello, and meets the peer once its hello is here.
void PairLinks::Advance(uint32_t peer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  AdmitConnections();
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  if (pair.outcome) return;
  if (!std::exchange(pair.said_hello, true)) communicator->Send(peer, kLinkHello, HelloOf(pair));
  if (!pair.hello) return;
  const OpenedLink outcome = Meet(peer, pair);
  lock.unlock();
  Settle(peer, outcome);
}

OpenedLink PairLinks::Meet(uint32_t peer, const Pair& pair) {
  Reader hello(*pair.hello);
  const auto kind = static_cast<LinkKind>(hello.Number<uint8_t>());
  if (pair.end == nullptr) return {nullptr, HCCL_E_NOT_SUPPORT, "this rank has no link: " + pair.why};
  if (kind == LinkKind{0}) return {nullptr, HCCL_E_NOT_SUPPORT, "that rank has no link: " + std::string(hello.rest())};
  if (!hello.ok() || kind != kind_) {
    std::string why = "this rank uses ";
    why.append(NameOf(kind_)).append(" and that one ").append(NameOf(kind)).append(": set ROPEWAY_HCCL_LINK to the same on both");
    return {nullptr, HCCL_E_NOT_SUPPORT, why};
  }
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  std::function<void()> call;
  if (channels != nullptr && channels->Calls(peer)) {
    call = [self = weak_from_this(), peer] {
      IoThread::Get().Post([self, peer] {
        if (const auto links = self.lock()) links->Call(peer, [](const std::string&) {});
      });
    };
    const Deadline deadline = communicator->ConnectDeadline();
    IoThread::Get().Post([self = shared_from_this(), peer, deadline] { self->CallFirst(peer, deadline); });
  }
  pair.end->Meet(std::string(hello.rest()), std::move(call));
  return {pair.end, HCCL_SUCCESS, ""};
}

void PairLinks::AdmitConnections() {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  if (channels == nullptr || channels->link_entered) return;
  channels->link_entered = [weak = weak_from_this()](uint32_t peer, SecureSocket fd) {
    if (const auto self = weak.lock()) self->Entered(peer, std::move(fd));
  };
}

std::shared_ptr<Peer> PairLinks::OpenEnd(uint32_t peer) {
  LockGuard lock(mutex_);
  const std::optional<OpenedLink>& outcome = pairs_[peer].outcome;
  return outcome ? outcome->peer : nullptr;
}

void PairLinks::Entered(uint32_t peer, SecureSocket fd) {
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  if (!pair.outcome) {
    if (pair.early.size() == kMostEarly) pair.early.erase(pair.early.begin());
    return pair.early.push_back(std::move(fd));
  }
  if (pair.outcome->peer) pair.outcome->peer->Enter(std::move(fd));
}

// Tries until the deadline: a flood of strangers may push a rank out of the door, and then it comes again.
void PairLinks::CallFirst(uint32_t peer, Deadline deadline) {
  Call(peer, [weak = weak_from_this(), peer, deadline](const std::string& why) {
    const auto self = weak.lock();
    if (!self || !self->OpenEnd(peer)) return;
    if (deadline.Passed()) return self->GiveUp(peer, why);
    IoThread::Get().At(Deadline::After(kRetryPause), [weak, peer, deadline] {
      if (const auto links = weak.lock()) links->CallFirst(peer, deadline);
    });
  });
}

void PairLinks::Call(uint32_t peer, std::function<void(const std::string& why)> failed) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  if (channels == nullptr || !OpenEnd(peer)) return;
  const uint64_t number = ++last_caller_;
  const Hello hello{channels->communicator(), communicator->rank(), peer, Purpose::kLink};
  const auto answered = [weak = weak_from_this(), peer, number, failed](SecureSocket fd, Verdict, const std::string& why) {
    const auto self = weak.lock();
    if (!self) return;
    self->callers_.erase(number);
    if (fd) return self->Entered(peer, std::move(fd));
    failed(why.empty() ? "it refused" : why);
  };
  callers_[number] = Caller::Start(communicator->peer(peer).address, hello, channels->secret(), answered);
}

void PairLinks::GiveUp(uint32_t peer, const std::string& why) {
  if (const auto communicator = communicator_.lock()) communicator->Send(peer, kLinkGivenUp, why);
  if (const std::shared_ptr<Peer> end = OpenEnd(peer)) end->Close({HCCL_E_TCP_CONNECT, "not reached in time: " + why});
}

void PairLinks::Settle(uint32_t peer, const OpenedLink& outcome, bool peer_left) {
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  pair.outcome = outcome;
  const std::shared_ptr<Peer> unused = outcome.peer == nullptr ? pair.end : nullptr;
  for (SecureSocket& fd : std::exchange(pair.early, {}))
    if (outcome.peer != nullptr) outcome.peer->Enter(std::move(fd));
  const std::vector<Opened> waiting = std::exchange(pair.waiting, {});
  lock.unlock();
  if (unused && peer_left) unused->PeerLeft({outcome.result, outcome.why});
  if (unused && !peer_left) unused->Close({outcome.result, outcome.why});
  for (const Opened& opened : waiting) opened(outcome);
}

void PairLinks::Received(const Request& request) {
  if (request.type() == kLinkGivenUp) {
    const std::shared_ptr<Peer> end = OpenEnd(request.peer());
    if (end) end->Close({HCCL_E_REMOTE, "the peer could not connect: " + request.body()});
  }
  if (request.type() != kLinkHello) return;
  {
    LockGuard lock(mutex_);
    Pair& pair = pairs_[request.peer()];
    if (pair.hello) return;
    pair.hello = request.body();
  }
  Begin(request.peer());
}

void PairLinks::PeerEnded(uint32_t peer, HcclResult why) {
  Settle(peer, {nullptr, why == HCCL_SUCCESS ? HCCL_E_REMOTE : why, LossText(why)}, EndedInOrder(why));
}

void PairLinks::Destroyed() {
  std::vector<uint32_t> peers;
  {
    LockGuard lock(mutex_);
    for (const auto& [peer, pair] : pairs_) peers.push_back(peer);
  }
  for (const uint32_t peer : peers) Settle(peer, {nullptr, HCCL_E_REMOTE, "the communicator was destroyed"});
  callers_.clear();
}

}  // namespace ropeway::comm
