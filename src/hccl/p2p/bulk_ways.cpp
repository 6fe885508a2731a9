#include "hccl/p2p/bulk_ways.h"

#include "hccl/membership/parts.h"

namespace ropeway::comm {

BulkWays::~BulkWays() {
  for (auto& [peer, out] : out_) {
    if (out.connection) out.connection->Close();
  }
  for (auto& [peer, connection] : in_) connection->Close();
}

void BulkWays::Send(uint32_t peer, uint64_t number, std::shared_ptr<Window> window, uint64_t bytes) {
  Out& out = out_[peer];
  if (out.connection) return out.connection->SendBulk(number, std::move(window), bytes);
  out.waiting.push_back({number, std::move(window), bytes});
  if (!out.caller) Call(peer);
}

void BulkWays::Call(uint32_t peer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  if (channels == nullptr) return;
  const std::weak_ptr<BulkWays> weak = weak_from_this();
  const Hello hello{channels->communicator(), communicator->rank(), peer, Purpose::kBulk};
  out_[peer].caller = Caller::Start(communicator->peer(peer).address, hello, channels->secret(),
                                    [weak, peer](FileDescriptor fd, Verdict, const std::string& why) {
                                      if (auto self = weak.lock()) self->Answered(peer, std::move(fd), why);
                                    });
}

void BulkWays::Answered(uint32_t peer, FileDescriptor fd, const std::string& why) {
  if (!fd) {
    out_.erase(peer);
    return events_.broke(peer, true, why.empty() ? "it refused" : why);
  }
  const std::weak_ptr<BulkWays> weak = weak_from_this();
  Connection::Events events;
  events.received = [](const Frame&) {};
  events.closed = [weak, peer](bool, const std::string& reason) {
    const auto self = weak.lock();
    if (!self) return;
    self->out_.erase(peer);
    self->events_.broke(peer, true, reason);
  };
  Out& out = out_[peer];
  out.caller.reset();
  out.connection = Connection::Open(std::move(fd), std::move(events));
  for (Message& message : std::exchange(out.waiting, {}))
    out.connection->SendBulk(message.number, std::move(message.window), message.bytes);
}

void BulkWays::Enter(uint32_t peer, FileDescriptor fd) {
  const std::weak_ptr<BulkWays> weak = weak_from_this();
  Connection::Events events;
  events.received = [](const Frame&) {};
  events.bulk_begins = [weak, peer](uint64_t number, uint64_t bytes) {
    const auto self = weak.lock();
    return self ? self->events_.begins(peer, number, bytes) : nullptr;
  };
  events.bulk_ended = [weak, peer](uint64_t number) {
    if (auto self = weak.lock()) self->events_.ended(peer, number);
  };
  events.closed = [weak, peer](bool, const std::string& why) {
    const auto self = weak.lock();
    if (!self) return;
    self->in_.erase(peer);
    self->events_.broke(peer, false, why);
  };
  if (const auto earlier = in_.find(peer); earlier != in_.end()) earlier->second->Close();
  in_[peer] = Connection::Open(std::move(fd), std::move(events));
}

}  // namespace ropeway::comm
