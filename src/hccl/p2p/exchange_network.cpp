// How the bytes of an offer come over the network: over the link that the pair shares with the one-sided service or, where
// one side has no UCX, over a TCP connection of their own.
#include "hccl/link/pair_links.h"
#include "hccl/membership/parts.h"
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {

// The one place where the way is chosen; kAccept tells the sender.
void Exchange::AskForBytes(const TransferRef& transfer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  transfer->state = Transfer::State::kStreaming;
  if (!transfer->window) Stage(transfer, nullptr);
  if (!transfer->window || !communicator) return;
  PairLinks::Of(*communicator)->Open(transfer->peer, [weak = weak_from_this(), transfer](const OpenedLink& opened) {
    const auto self = weak.lock();
    if (!self || transfer->state != Transfer::State::kStreaming) return;
    if (opened.peer != nullptr) self->Expose(transfer, opened.peer);
    const RegionId region = opened.peer != nullptr ? RegionOf(transfer->number) : 0;
    self->Tell(transfer->peer, kAccept, Writer().Number(transfer->number).Number(region).Take());
  });
}

void Exchange::Expose(const TransferRef& transfer, const std::shared_ptr<Peer>& link) {
  transfer->link = link;
  // A put of another size is not what was offered.
  const auto filled = [weak = weak_from_this(), peer = transfer->peer, number = transfer->number,
                       expected = transfer->bytes](uint64_t bytes) {
    if (bytes != expected) return;
    IoThread::Get().Post([weak, peer, number] {
      if (const auto self = weak.lock()) self->BytesHere(peer, number);
    });
  };
  link->Expose(RegionOf(transfer->number), {transfer->window->data(), transfer->bytes, transfer->window, filled});
}

void Exchange::BytesHere(uint32_t peer, uint64_t number) {
  const auto found = partners_[peer].receives.find(number);
  if (found == partners_[peer].receives.end() || found->second->state != Transfer::State::kStreaming) return;
  const TransferRef transfer = found->second;
  transfer->state = Transfer::State::kCopying;
  Unstage(transfer);
}

void Exchange::SendBytes(const TransferRef& transfer, RegionId region) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  if (region == 0) return bulk_->Send(transfer->peer, transfer->number, transfer->window, transfer->bytes);
  PairLinks::Of(*communicator)->Open(transfer->peer, [weak = weak_from_this(), transfer, region](const OpenedLink& opened) {
    const auto self = weak.lock();
    if (!self || transfer->state != Transfer::State::kStreaming) return;
    if (opened.peer != nullptr) return self->PutBytes(transfer, region, opened.peer);
    self->Refuse(transfer, opened.result, "no link to rank " + std::to_string(transfer->peer) + ": " + opened.why);
  });
}

// Its success is told by kTaken, when the receiver has made use of it.
void Exchange::PutBytes(const TransferRef& transfer, RegionId region, const std::shared_ptr<Peer>& link) {
  const auto done = [weak = weak_from_this(), transfer](const TransferEnd& end) {
    if (end.code == HCCL_SUCCESS) return;
    IoThread::Get().Post([weak, transfer, end] {
      const auto self = weak.lock();
      if (!self || transfer->state != Transfer::State::kStreaming) return;
      self->Refuse(transfer, end.code, "the bytes did not reach rank " + std::to_string(transfer->peer) + ": " + end.text);
    });
  };
  link->Put({{transfer->window->data(), region, 0, transfer->bytes}}, transfer->window, done);
}

void Exchange::OpenBulk() {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  if (bulk_ || channels == nullptr) return;
  BulkWays::Events events;
  events.begins = [this](uint32_t peer, uint64_t number, uint64_t bytes) -> std::shared_ptr<Window> {
    const auto found = partners_[peer].receives.find(number);
    const bool awaited = found != partners_[peer].receives.end() && found->second->state == Transfer::State::kStreaming;
    return awaited && !found->second->link && found->second->bytes == bytes ? found->second->window : nullptr;
  };
  events.ended = [this](uint32_t peer, uint64_t number) { BytesHere(peer, number); };
  events.broke = [this](uint32_t peer, bool sending, const std::string& why) { BulkBroke(peer, sending, why); };
  bulk_ = std::make_shared<BulkWays>(communicator_, std::move(events));
  channels->bulk_entered = [weak = std::weak_ptr<BulkWays>(bulk_)](uint32_t peer, FileDescriptor fd) {
    if (auto bulk = weak.lock()) bulk->Enter(peer, std::move(fd));
  };
}

// Every message that was on its way there, or from there, is lost; a later one makes a new connection.
void Exchange::BulkBroke(uint32_t peer, bool sending, const std::string& why) {
  auto& transfers = sending ? partners_[peer].sends : partners_[peer].receives;
  std::vector<TransferRef> lost;
  for (const auto& [number, transfer] : transfers) {
    if (transfer->state == Transfer::State::kStreaming) lost.push_back(transfer);
  }
  for (const TransferRef& transfer : lost)
    Refuse(transfer, HCCL_E_TCP_TRANSFER, "the bulk connection with rank " + std::to_string(peer) + " broke: " + why);
}

}  // namespace ropeway::comm
