#include "hccl/link/pair_links.h"

#include <arpa/inet.h>

#include <cstring>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "base/own_thread.h"
#include "base/settings.h"
#include "hccl/transport/io_thread.h"

namespace ropeway::comm {
namespace {

enum LinkMessage : uint16_t {
  kLinkHello = kLinkMessages + 0,
  kLinkNote = kLinkMessages + 1,
};

const Service kLinks = {
    kLinkMessages,
    [](Communicator& communicator, const Request& request) { PairLinks::Of(communicator)->Received(request); },
    [](Communicator& communicator, uint32_t peer, HcclResult why) { PairLinks::Of(communicator)->PeerEnded(peer, why); },
    nullptr,
    [](Communicator& communicator) { PairLinks::Of(communicator)->Destroyed(); },
};
[[maybe_unused]] const bool kLinksAdded = (AddService(&kLinks), true);

std::string IpOf(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.valid()) inet_ntop(address.family == 4 ? AF_INET : AF_INET6, address.bytes, text, sizeof text);
  return text;
}

}  // namespace

bool NetworkInsideHost() { return SettingText("HCCL_INTRA_ROCE_ENABLE") == "1"; }

std::shared_ptr<PairLinks> PairLinks::Of(Communicator& communicator) {
  return std::static_pointer_cast<PairLinks>(
      communicator.State(kLinks, [&] { return std::static_pointer_cast<void>(std::make_shared<PairLinks>(communicator)); }));
}

std::shared_ptr<Peer> PairLinks::OwnEnd(uint32_t peer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  std::string why = "the communicator was destroyed";
  Link* const link = communicator ? OpenUcxLink(IpOf(communicator->self().address), &why) : nullptr;
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  if (pair.tried || pair.outcome) return pair.end;
  pair.tried = true;
  pair.why = why;
  if (link == nullptr) return nullptr;
  pair.end = link->NewPeer();
  pair.address = link->address();
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
  if (!deadline.never() && future.wait_until(deadline.at()) == std::future_status::timeout)
    return {nullptr, HCCL_E_TIMEOUT, "it did not answer in time"};
  return future.get();
}

void PairLinks::Begin(uint32_t peer) {
  {
    LockGuard lock(mutex_);
    Pair& pair = pairs_[peer];
    if (!pair.tried && std::exchange(pair.making, true)) return;
    if (!pair.tried && MakeElsewhere(peer, &pair)) return;
  }
  Advance(peer);
}

// The first end of a process loads UCX, and the I/O thread has others to serve.
bool PairLinks::MakeElsewhere(uint32_t peer, Pair* pair) {
  try {
    std::thread([self = shared_from_this(), peer] {
      const OwnThread thread("rw-hccl-load");
      self->OwnEnd(peer);
      IoThread::Get().Post([self, peer] { self->Advance(peer); });
    }).detach();
    return true;
  } catch (const std::system_error& error) {
    pair->tried = true;
    pair->why = std::string("no thread to load UCX: ") + error.what();
    return false;
  }
}

// Says hello, and meets the peer once its hello is here.
void PairLinks::Advance(uint32_t peer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  if (!communicator || pair.outcome) return;
  if (!std::exchange(pair.said_hello, true)) {
    std::string hello;  // an empty one tells the peer that there is nothing to wait for
    if (pair.end != nullptr) hello.assign(reinterpret_cast<const char*>(pair.end->incoming_key().data()), sizeof(LinkKey));
    communicator->Send(peer, kLinkHello, hello + pair.address);
  }
  if (!pair.hello) return;
  const OpenedLink outcome = Meet(peer, pair);
  lock.unlock();
  Settle(peer, outcome);
}

OpenedLink PairLinks::Meet(uint32_t peer, const Pair& pair) {
  if (pair.end == nullptr) return {nullptr, HCCL_E_NOT_SUPPORT, "this rank has no UCX: " + pair.why};
  if (pair.hello->size() <= sizeof(LinkKey)) return {nullptr, HCCL_E_NOT_SUPPORT, "that rank has no UCX: install libucx0 there"};
  LinkKey key;
  memcpy(key.data(), pair.hello->data(), key.size());
  pair.end->Meet(pair.hello->substr(key.size()), key, [weak = communicator_, peer](const std::string& note) {
    if (const auto communicator = weak.lock()) communicator->Send(peer, kLinkNote, note);
  });
  return {pair.end, HCCL_SUCCESS, ""};
}

void PairLinks::Settle(uint32_t peer, const OpenedLink& outcome) {
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  pair.outcome = outcome;
  if (outcome.peer == nullptr && pair.end != nullptr) pair.end->Close({outcome.result, outcome.why});
  const std::vector<Opened> waiting = std::exchange(pair.waiting, {});
  lock.unlock();
  for (const Opened& opened : waiting) opened(outcome);
}

void PairLinks::Received(const Request& request) {
  LockGuard lock(mutex_);
  Pair& pair = pairs_[request.peer()];
  if (request.type() == kLinkNote) {
    if (pair.end != nullptr) pair.end->Hear(request.body());
  } else if (request.type() == kLinkHello && !pair.hello) {
    pair.hello = request.body();
    lock.unlock();
    Begin(request.peer());
  }
}

void PairLinks::PeerEnded(uint32_t peer, HcclResult why) {
  Settle(peer, {nullptr, why == HCCL_SUCCESS ? HCCL_E_REMOTE : why, LossText(why)});
}

void PairLinks::Destroyed() {
  std::vector<uint32_t> peers;
  {
    LockGuard lock(mutex_);
    for (const auto& [peer, pair] : pairs_) peers.push_back(peer);
  }
  for (const uint32_t peer : peers) Settle(peer, {nullptr, HCCL_E_REMOTE, "the communicator was destroyed"});
}

}  // namespace ropeway::comm
