// How the bytes of an offer come over the network: over the link that the pair shares with the one-sided service.
#include "hccl/link/connected_peer.h"
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

// What the link's thread finds in one go is told in one go: the I/O thread is woken once, or not at all by what anybody may do
// (IoThread::Run).
void TellFromLink(bool anybody, std::function<void()> function) {
  LinkThread().Last([anybody, function = std::move(function)]() mutable {
    anybody ? IoThread::Get().Run(std::move(function)) : IoThread::Get().Post(std::move(function));
  });
}

}  // namespace

// Device memory that the host cannot reach goes over TCP as it is. What is combined needs its bytes where the host can.
bool Exchange::TakeBare(Transfer& transfer) {
  if (!transfer.combination && MovesDeviceMemory(ChosenLink())) transfer.window = transfer.bare;
  return transfer.window != nullptr;
}

void Exchange::AskForBytes(const TransferRef& transfer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  transfer->state = Transfer::State::kStreaming;
  transfer->way = WayOf(Method::kLink);
  if (transfer->combination) transfer->window = nullptr;  // the bytes are not the result
  if (!transfer->window && !TakeBare(*transfer)) Stage(transfer, nullptr);
  if (!transfer->window || !communicator) return;
  PairLinks::Of(*communicator)->Open(transfer->peer, [weak = weak_from_this(), transfer](const OpenedLink& opened) {
    const auto self = weak.lock();
    if (!self || transfer->state != Transfer::State::kStreaming) return;
    if (opened.peer == nullptr) return self->RefuseWithoutLink(transfer, opened);
    // A sender that hears from the link alone may be gone at once. What TCP tells it, this side knows by then.
    const uint8_t answered = transfer->staging != nullptr || ChosenLink() != LinkKind::kTcp;
    transfer->answered = answered != 0;
    self->Expose(transfer, opened.peer);
    self->Tell(transfer->peer, kAccept, Writer().Number(transfer->number).Number(RegionOf(transfer->number)).Number(answered).Take());
  });
}

void Exchange::Expose(const TransferRef& transfer, const std::shared_ptr<Peer>& link) {
  transfer->link = link;
  // A put of another size is not what was offered.
  const auto filled = [weak = weak_from_this(), peer = transfer->peer, number = transfer->number, expected = transfer->bytes,
                       receive = std::weak_ptr(transfer), transfer_staged = transfer->staging != nullptr](uint64_t bytes) {
    if (bytes != expected) return;
    if (const TransferRef here = receive.lock(); here && !here->answered) here->told.fetch_or(Transfer::kBytesAreHere);
    TellFromLink(!transfer_staged, [weak, peer, number] {
      if (const auto self = weak.lock()) self->BytesHere(peer, number);
    });
  };
  link->Expose(RegionOf(transfer->number),
               {transfer->window->data(), transfer->bytes, transfer->window, filled, transfer->window_context()});
}

void Exchange::BytesHere(uint32_t peer, uint64_t number) {
  const auto found = partners_[peer].receives.find(number);
  if (found == partners_[peer].receives.end() || found->second->state != Transfer::State::kStreaming) return;
  const TransferRef transfer = found->second;
  if (!transfer->answered) return Over(transfer, HCCL_SUCCESS, "");
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

// Where the bytes are not in the receive's buffer yet, success is told by kTaken. That may be here before the link knows, and a put whose
// memory is given back earlier than that looks as if it had been given up, and holds up those behind it.
void Exchange::PutBytes(const TransferRef& transfer, RegionId region, const std::shared_ptr<Peer>& link) {
  const auto done = [weak = weak_from_this(), transfer](const TransferEnd& end) {
    const bool good = end.code == HCCL_SUCCESS, there = good && !transfer->answered;
    const uint8_t told = transfer->told.fetch_or(there ? Transfer::kPutIsOver | Transfer::kPartnerHasIt : Transfer::kPutIsOver);
    if (good && !there && (told & Transfer::kPartnerHasIt) == 0) return;
    TellFromLink(good && transfer->staging == nullptr, [weak, transfer, end] {
      const auto self = weak.lock();
      if (!self || transfer->state != Transfer::State::kStreaming) return;
      if (end.code == HCCL_SUCCESS) return self->Over(transfer, HCCL_SUCCESS, "");
      self->Refuse(transfer, end.code, "the bytes did not reach rank " + std::to_string(transfer->peer) + ": " + end.text);
    });
  };
  link->Move(true, {{transfer->window->data(), region, 0, transfer->bytes, transfer->window_context()}}, transfer->window, done);
}

}  // namespace ropeway::comm
