// Bytes that travel behind their offer, over the control channel: from the sender's memory straight into the buffer of a receive that is
// there, or kept until it is. A partner that is late keeps kKeptInAll and no more, since the sender counts what it has sent unasked and
// what was neither answered nor credited; beyond that an offer waits for its receive as any other does.
#include <algorithm>
#include <memory>
#include <utility>

#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

// What is so small is counted, whether it was asked for in the end or not; the rest always is asked for.
uint64_t CountedOf(uint64_t bytes) { return bytes <= kKeptBytes ? bytes : 0; }

// Where the bytes of a receive go. Those that are combined come beside its buffer, and are combined while the rest is on its way.
Bulk BulkInto(const TransferRef& receive) {
  if (!receive->combination) return {receive->window->data(), receive->bytes, receive->window};
  const auto bytes = std::make_shared_for_overwrite<char[]>(receive->bytes);
  Bulk bulk(bytes.get(), receive->bytes, receive->window);
  bulk.holds = bytes;
  bulk.came = [receive, bytes = bytes.get(), combined = uint64_t{0}](uint64_t there) mutable {
    const uint64_t unit = receive->combination.Unit(receive->bytes), whole = there / unit * unit;
    receive->combination.ApplyPart(receive->window->data(), bytes, combined, (whole - combined) / unit);
    combined = whole;
  };
  return bulk;
}

}  // namespace

// Both ends come to the same answer, but for what is not sent unasked since too much is on its way already, and for large parts where one
// of them has more cores; then the sender's counts. What is encrypted, or many messages at once, is work for several threads, so it
// goes over the link, which has them.
Exchange::Carriage Exchange::CarriageOf(const Transfer& transfer) const {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator || transfer.bytes <= kInlineBytes || ChosenLink() != LinkKind::kTcp || TlsWanted()) return Carriage::kNone;
  if (communicator->SameProcess(transfer.peer) || (communicator->SameHost(transfer.peer) && !NetworkInsideHost())) return Carriage::kNone;
  if (transfer.of_many) return Carriage::kNone;
  if (transfer.bytes <= kKeptBytes) return Carriage::kAtOnce;
  return IsOfCollective(transfer.number) && transfer.bytes <= most_carried_ ? Carriage::kOnDemand : Carriage::kNone;
}

// False: it goes another way.
bool Exchange::CarryOrOffer(const TransferRef& transfer) {
  const Carriage carriage = transfer->window ? CarriageOf(*transfer) : Carriage::kNone;
  Partner& partner = partners_[transfer->peer];
  if (carriage == Carriage::kNone) return false;
  if (carriage == Carriage::kAtOnce && partner.carried + transfer->bytes <= kKeptInAll) return Carry(transfer);
  if (partner.ready.erase(transfer->number) != 0) return Carry(transfer);
  transfer->on_demand = true;
  SendOffer(transfer, Method::kOnDemand, "");
  return true;
}

void Exchange::SayReady(const TransferRef& transfer) {
  if (!std::exchange(transfer->said_ready, true)) Tell(transfer->peer, kReceiverReady, Writer().Number(transfer->number).Take());
}

void Exchange::OnReady(uint32_t peer, uint64_t number) {
  Partner& partner = partners_[peer];
  const auto found = partner.sends.find(number);
  if (found == partner.sends.end()) {
    partner.ready.insert(number);
  } else if (const TransferRef transfer = found->second; std::exchange(transfer->on_demand, false)) {
    Carry(transfer);
  }
}

// False: the channel is not up yet, or the stream has taken its memory back.
bool Exchange::Carry(const TransferRef& transfer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  const Method method = transfer->eager ? Method::kCarriedEager : Method::kCarried;
  const auto gone = [weak = weak_from_this(), transfer] {
    const auto self = weak.lock();
    if (self && transfer->eager && transfer->state == Transfer::State::kStreaming) self->Over(transfer, HCCL_SUCCESS, "");
  };
  // It may be over before this returns.
  const Transfer::State before = transfer->state;
  if (transfer->eager) transfer->state = Transfer::State::kStreaming;
  transfer->way = WayOf(method);
  transfer->carried = true;
  partners_[transfer->peer].carried += CountedOf(transfer->bytes);
  if (communicator->SendWithBulk(transfer->peer, kOffer, OfferOf(*transfer, method),
                                 Bulk(transfer->window->data(), transfer->bytes, transfer->window), gone))
    return true;
  OnCredit(transfer->peer, CountedOf(transfer->bytes));
  transfer->carried = false;
  transfer->state = before;
  return false;
}

std::optional<Bulk> Exchange::BulkBegins(uint32_t peer, const Frame& frame, uint64_t size) {
  Partner& partner = partners_[peer];
  Reader reader(frame.body);
  const auto number = reader.Number<uint64_t>();
  Offer offer = OfferIn(reader);
  const bool good = frame.type == kOffer && reader.ok() && IsCarried(offer.method) && offer.bytes == size && size <= kCarriedBytes;
  if (!good || partner.coming.count(number) != 0) return std::nullopt;
  Bulk bulk;
  if (partner.refused.count(number) == 0) {
    const auto found = partner.receives.find(number);
    const TransferRef receive = found == partner.receives.end() ? nullptr : found->second;
    const bool waits = receive != nullptr && receive->state == Transfer::State::kWaiting;
    if (waits && receive->bytes == size && receive->window) {
      receive->state = Transfer::State::kStreaming;
      receive->way = WayOf(offer.method);
      bulk = BulkInto(receive);
    } else {
      // What a receive waits for and cannot take is not what was expected, and refused when it is here.
      if (!waits) offer.kept = size;
      if (partner.kept + offer.kept > kKeptInAll) return std::nullopt;
      partner.kept += offer.kept;
      offer.stored = std::make_shared_for_overwrite<char[]>(size);
      bulk = Bulk(offer.stored.get(), size, std::make_shared<Lease>());
      bulk.holds = offer.stored;
    }
  }
  partner.coming.emplace(number, std::move(offer));
  return bulk;
}

void Exchange::BulkEnded(uint32_t peer, const Frame& frame, bool taken) {
  Partner& partner = partners_[peer];
  const auto number = Reader(frame.body).Number<uint64_t>();
  Offer offer = std::move(partner.coming.extract(number).mapped());
  if (offer.stored) return OnOffer(peer, number, std::move(offer));
  Release(peer, offer);
  const auto found = partner.receives.find(number);
  // A stream that took its memory back meanwhile withdraws the receive, and has said so or is going to.
  if (partner.refused.erase(number) != 0 || found == partner.receives.end() || !taken) return;
  const TransferRef transfer = found->second;
  offer.eager() ? Over(transfer, HCCL_SUCCESS, "") : Taken(transfer);
}

void Exchange::Release(uint32_t peer, const Offer& offer) {
  if (!IsCarried(offer.method)) return;
  Partner& partner = partners_[peer];
  partner.kept -= offer.kept;
  if (!offer.eager()) return;  // its answer tells
  partner.credit += CountedOf(offer.bytes);
  if (partner.credit >= kKeptInAll / 4) Tell(peer, kCredit, Writer().Number(std::exchange(partner.credit, 0)).Take());
}

void Exchange::OnAnswered(const Transfer& transfer) { OnCredit(transfer.peer, CountedOf(transfer.bytes)); }

void Exchange::OnCredit(uint32_t peer, uint64_t bytes) {
  uint64_t& carried = partners_[peer].carried;
  carried -= std::min(carried, bytes);
}

}  // namespace ropeway::comm
