// How the bytes of an offer come over the network: over the link that the pair shares with the one-sided service.
#include "hccl/link/connected_peer.h"
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

// What the link's thread finds in one go is told in one go: the I/O thread is woken once.
void PostFromLink(std::function<void()> function) {
  LinkThread().Last([function = std::move(function)]() mutable { IoThread::Get().Post(std::move(function)); });
}

}  // namespace

void Exchange::AskForBytes(const TransferRef& transfer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  transfer->state = Transfer::State::kStreaming;
  transfer->way = WayOf(Method::kLink);
  if (transfer->combination) transfer->window = nullptr;  // the bytes are not the result
  if (!transfer->window) Stage(transfer, nullptr);
  if (!transfer->window || !communicator) return;
  PairLinks::Of(*communicator)->Open(transfer->peer, [weak = weak_from_this(), transfer](const OpenedLink& opened) {
    const auto self = weak.lock();
    if (!self || transfer->state != Transfer::State::kStreaming) return;
    if (opened.peer == nullptr) return self->RefuseWithoutLink(transfer, opened);
    self->Expose(transfer, opened.peer);
    self->Tell(transfer->peer, kAccept, Writer().Number(transfer->number).Number(RegionOf(transfer->number)).Take());
  });
}

void Exchange::Expose(const TransferRef& transfer, const std::shared_ptr<Peer>& link) {
  transfer->link = link;
  // A put of another size is not what was offered.
  const auto filled = [weak = weak_from_this(), peer = transfer->peer, number = transfer->number,
                       expected = transfer->bytes](uint64_t bytes) {
    if (bytes != expected) return;
    PostFromLink([weak, peer, number] {
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
  PairLinks::Of(*communicator)->Open(transfer->peer, [weak = weak_from_this(), transfer, region](const OpenedLink& opened) {
    const auto self = weak.lock();
    if (!self || transfer->state != Transfer::State::kStreaming) return;
    if (opened.peer == nullptr) return self->RefuseWithoutLink(transfer, opened);
    self->PutBytes(transfer, region, opened.peer);
  });
}

void Exchange::RefuseWithoutLink(const TransferRef& transfer, const OpenedLink& opened) {
  Refuse(transfer, opened.result, "no link to rank " + std::to_string(transfer->peer) + ": " + opened.why);
}

// Its success is told by kTaken, when the receiver has made use of it. That may be here before the link knows, and a put whose memory is
// given back earlier than that looks as if it had been given up, and holds up those behind it.
void Exchange::PutBytes(const TransferRef& transfer, RegionId region, const std::shared_ptr<Peer>& link) {
  const auto done = [weak = weak_from_this(), transfer](const TransferEnd& end) {
    const bool taken = (transfer->told.fetch_or(Transfer::kPutIsOver) & Transfer::kPartnerHasIt) != 0;
    if (end.code == HCCL_SUCCESS && !taken) return;
    PostFromLink([weak, transfer, end] {
      const auto self = weak.lock();
      if (!self || transfer->state != Transfer::State::kStreaming) return;
      if (end.code == HCCL_SUCCESS) return self->Over(transfer, HCCL_SUCCESS, "");
      self->Refuse(transfer, end.code, "the bytes did not reach rank " + std::to_string(transfer->peer) + ": " + end.text);
    });
  };
  link->Move(true, {{transfer->window->data(), region, 0, transfer->bytes}}, transfer->window, done);
}

}  // namespace ropeway::comm
