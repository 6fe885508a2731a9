// The protocol: offers, answers, withdrawals and ends. How bytes get into a receive's buffer is in exchange_take.cpp and
// exchange_network.cpp.
#include "hccl/p2p/exchange.h"

#include <cstring>

#include "base/cores.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

std::shared_ptr<Exchange> Existing(Communicator& communicator) { return Exchange::Of(communicator); }

const Service kSendReceive = {
    kSendRecvMessages,
    [](Communicator& communicator, Request& request) { Existing(communicator)->Received(request); },
    [](Communicator& communicator, uint32_t peer, HcclResult why) { Existing(communicator)->PeerEnded(peer, why); },
    nullptr,
    [](Communicator& communicator) { Existing(communicator)->Destroyed(); },
    [](Communicator& communicator, uint32_t peer, uint16_t type, std::string_view body) {
      return Existing(communicator)->IsSimple(peer, type, body);
    },
    [](Communicator& communicator, uint32_t peer, const Frame& frame, uint64_t size) {
      return Existing(communicator)->BulkBegins(peer, frame, size);
    },
    [](Communicator& communicator, uint32_t peer, const Frame& frame, bool taken) {
      Existing(communicator)->BulkEnded(peer, frame, taken);
    },
};
const bool kSendReceiveAdded = (AddService(&kSendReceive), true);

// Whether its bytes go inside of the offer.
bool IsInside(const Transfer& transfer) { return transfer.bytes <= kInlineBytes && transfer.window; }

std::string RankName(uint32_t rank) { return "rank " + std::to_string(rank); }

uint64_t MostCarriedBy(const Communicator* communicator) {
  if (communicator == nullptr) return 0;
  uint32_t here = 0;
  for (uint32_t rank = 0; rank < communicator->size(); ++rank) here += communicator->SameHost(rank) ? 1 : 0;
  const bool goes_out = here < communicator->size() || NetworkInsideHost();
  return goes_out && static_cast<uint32_t>(UsableCores()) < kCoresOfLink * here ? kCarriedBytes : kCarriedBesideLink;
}

}  // namespace

std::shared_ptr<Exchange> Exchange::Of(Communicator& communicator) { return Here(communicator).shared_from_this(); }

Exchange& Exchange::Here(Communicator& communicator) {
  void* const exchange = communicator.StateHere(kSendReceive, [&] { return std::make_shared<Exchange>(communicator.weak_from_this()); });
  return *static_cast<Exchange*>(exchange);
}

Exchange::Exchange(std::weak_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), most_carried_(MostCarriedBy(communicator_.lock().get())) {}

void Exchange::FollowLife(const Communicator& communicator) {
  if (communicator.life() == life_) return;
  life_ = communicator.life();
  next_number_.clear();
  next_collective_ = FirstCollective(life_);
}

uint64_t& Exchange::NextNumber(const Communicator& communicator, uint32_t peer, bool sending) {
  FollowLife(communicator);
  return next_number_.try_emplace({peer, sending}, FirstNumber(life_)).first->second;
}

uint64_t& Exchange::NextCollective(const Communicator& communicator) {
  FollowLife(communicator);
  return next_collective_;
}

void Exchange::Tell(uint32_t peer, uint16_t type, std::string body, std::string_view rest, Leaves leaves) {
  if (auto communicator = communicator_.lock()) communicator->Send(peer, type, std::move(body), rest, leaves);
}

void Exchange::Begin(const TransferRef& transfer) {
  using State = Transfer::State;
  if (transfer->state != State::kIdle) return;
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Partner& partner = partners_[transfer->peer];
  // What a rank has left behind before it went is taken all the same.
  const auto offer = transfer->sending ? partner.offers.end() : partner.offers.find(transfer->number);
  const bool bytes_are_here = offer != partner.offers.end() && offer->second.eager();
  if (!communicator || (communicator->Ended(transfer->peer) != HCCL_SUCCESS && !bytes_are_here))
    return Over(transfer, HCCL_E_REMOTE, RankName(transfer->peer) + " is gone");
  auto& withdrawn = transfer->sending ? partner.withdrawn_sends : partner.withdrawn_receives;
  if (auto node = withdrawn.extract(transfer->number)) return Over(transfer, HCCL_E_REMOTE, node.mapped());
  if (IsOfCollective(transfer->number)) {
    const auto given_up = partner.withdrawn_collectives.find(CollectiveOf(transfer->number));
    if (given_up != partner.withdrawn_collectives.end()) return Over(transfer, HCCL_E_REMOTE, given_up->second);
  }
  transfer->state = State::kWaiting;
  transfer->window = transfer->view;
  if (transfer->sending && transfer->eager && IsInside(*transfer)) return MakeOffer(transfer);  // it is over with that
  (transfer->sending ? partner.sends : partner.receives)[transfer->number] = transfer;
  if (transfer->sending) return MakeOffer(transfer);
  if (auto node = partner.offers.extract(transfer->number)) return Meet(transfer, std::move(node.mapped()));
  if (transfer->window && CarriageOf(*transfer) == Carriage::kOnDemand) SayReady(transfer);
}

// A moment later, on the I/O thread, if the transfer is still there.
void Exchange::Post(const TransferRef& transfer, std::function<void()> function) {
  IoThread::Get().Post([self = shared_from_this(), transfer, function = std::move(function), state = transfer->state] {
    if (transfer->state == state) function();
  });
}

// What the engine has to copy is left to the I/O thread, for which somebody may stand in.
void Exchange::Meet(const TransferRef& transfer, Offer offer) {
  if ((offer.has_bytes() || offer.method == Method::kOnDemand) && transfer->window) return Match(transfer, offer);
  Post(transfer, [this, transfer, offer = std::move(offer)] { Match(transfer, offer); });
}

void Exchange::MakeOffer(const TransferRef& transfer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator || CarryOrOffer(transfer)) return;
  if (IsInside(*transfer)) {
    // The lease is not held while others are told. A stream that gave it up is going to withdraw it.
    char bytes[kInlineBytes];
    if (!transfer->window->Use([&](const char* data) { std::memcpy(bytes, data, transfer->bytes); })) return;
    SendOffer(transfer, transfer->eager ? Method::kEager : Method::kInline, {bytes, transfer->bytes});
    return transfer->eager ? Over(transfer, HCCL_SUCCESS, "") : void();
  }
  const bool network = NetworkInsideHost();
  if (transfer->window && (network || !communicator->SameHost(transfer->peer))) return SendOffer(transfer, Method::kLink, "");
  if (IoThread::Get().IsVisited()) return Post(transfer, [this, transfer] { MakeOffer(transfer); });
  if (communicator->SameProcess(transfer->peer) && !network) {
    const auto address = reinterpret_cast<uintptr_t>(transfer->buffer);
    return SendOffer(transfer, Method::kAddress, Writer().Number(uint64_t{address}).Number(transfer->device).Take());
  }
  if (communicator->SameHost(transfer->peer) && !network && !transfer->on_host && OfferKey(transfer)) return;
  if (transfer->window || TakeBare(*transfer)) return SendOffer(transfer, Method::kLink, "");
  Stage(transfer, [this, transfer] { SendOffer(transfer, Method::kLink, ""); });
}

bool Exchange::OfferKey(const TransferRef& transfer) {
  const int32_t pid = communicator_.lock()->peer(transfer->peer).pid;
  SharedBuffers::Place place;
  if (!shared_->Export(transfer->context, transfer->peer, pid, transfer->buffer, transfer->bytes, &place)) return false;
  transfer->key = place.key;
  SendOffer(transfer, Method::kKey, Writer().Number(place.offset).Raw(place.key).Take());
  return true;
}

// Bytes inside a message go over the control channel.
ropewayLink Exchange::WayOf(Method method) {
  if (method == Method::kAddress) return ROPEWAY_LINK_LOCAL;
  if (method == Method::kKey) return ROPEWAY_LINK_SHARED_MEMORY;
  return method == Method::kLink ? WayOver(ChosenLink()) : ROPEWAY_LINK_TCP;
}

std::string Exchange::OfferOf(const Transfer& transfer, Method method) {
  return Writer(2 * sizeof(uint64_t) + sizeof(uint8_t))
      .Number(transfer.number)
      .Number(transfer.bytes)
      .Number(static_cast<uint8_t>(method))
      .Take();
}

Exchange::Offer Exchange::OfferIn(Reader& reader) {
  Offer offer;
  offer.bytes = reader.Number<uint64_t>();
  offer.method = static_cast<Method>(reader.Number<uint8_t>());
  return offer;
}

void Exchange::SendOffer(const TransferRef& transfer, Method method, std::string_view content) {
  transfer->way = WayOf(method);
  Tell(transfer->peer, kOffer, OfferOf(*transfer, method), content, method == Method::kEager ? Leaves::kNow : Leaves::kTogether);
}

void Exchange::Received(Request& request) {
  Reader reader(request.body());
  if (request.type() == kWithdraw) {
    const bool by_sender = reader.Number<uint8_t>() != 0;
    const auto number = reader.Number<uint64_t>();
    const std::string why = reader.String();
    if (reader.AtEnd()) OnWithdraw(request.peer(), by_sender, number, why);
    return;
  }
  const auto number = reader.Number<uint64_t>();
  if (request.type() == kOffer) {
    Offer offer = OfferIn(reader);
    if (!reader.ok() || IsCarried(offer.method)) return;
    offer.begin = request.body().size() - reader.rest().size();
    offer.message = request.TakeBody();
    OnOffer(request.peer(), number, std::move(offer));
  } else if (request.type() == kAccept) {
    const auto region = reader.Number<RegionId>();
    const bool answered = reader.Number<uint8_t>() != 0;
    if (reader.AtEnd()) OnAccept(request.peer(), number, region, answered);
  } else if (request.type() == kTaken) {
    if (!reader.ok() || reader.rest().size() % sizeof number != 0) return;
    OnTaken(request.peer(), number);
    while (!reader.rest().empty()) OnTaken(request.peer(), reader.Number<uint64_t>());
  } else if (request.type() == kCredit) {
    if (reader.AtEnd()) OnCredit(request.peer(), number);
  } else if (request.type() == kReceiverReady) {
    if (reader.AtEnd()) OnReady(request.peer(), number);
  }
}

bool Exchange::IsSimple(uint32_t peer, uint16_t type, std::string_view body) const {
  const auto partner = partners_.find(peer);
  if (type == kCredit || type == kReceiverReady) return true;
  if (partner == partners_.end() || (type != kOffer && type != kTaken)) return false;
  Reader reader(body);
  const auto& waiting = type == kOffer ? partner->second.receives : partner->second.sends;
  const auto is_simple = [&](uint64_t number) {
    const auto found = waiting.find(number);
    return found == waiting.end() || (found->second->window && found->second->staging == nullptr && found->second->key.empty());
  };
  if (!is_simple(reader.Number<uint64_t>())) return false;
  if (type == kOffer) {
    reader.Number<uint64_t>();  // its bytes
    const auto method = static_cast<Method>(reader.Number<uint8_t>());
    return IsInline(method) || IsCarried(method) || method == Method::kOnDemand;
  }
  while (!reader.rest().empty())
    if (!is_simple(reader.Number<uint64_t>())) return false;
  return true;
}

void Exchange::OnOffer(uint32_t peer, uint64_t number, Offer offer) {
  Partner& partner = partners_[peer];
  const auto found = partner.receives.find(number);
  // A receive that was withdrawn said so, and the offer was on its way by then.
  if (partner.refused.erase(number) != 0) return Release(peer, offer);
  if (found == partner.receives.end()) {
    partner.offers[number] = std::move(offer);
    if (IsOfCollective(number) && unexpected) unexpected(peer, CollectiveOf(number));
  } else if (found->second->state == Transfer::State::kWaiting) {
    IoThread::Get().IsVisited() ? Meet(TransferRef(found->second), std::move(offer)) : Match(TransferRef(found->second), offer);
  }
}

void Exchange::OnAccept(uint32_t peer, uint64_t number, RegionId region, bool answered) {
  const auto found = partners_[peer].sends.find(number);
  if (found == partners_[peer].sends.end()) return;
  const TransferRef transfer = found->second;
  if (transfer->state != Transfer::State::kWaiting) return;
  transfer->state = Transfer::State::kStreaming;
  transfer->way = WayOf(Method::kLink);
  transfer->answered = answered;
  if (transfer->window || TakeBare(*transfer)) return SendBytes(transfer, region);
  Stage(transfer, [this, transfer, region] { SendBytes(transfer, region); });  // it was to go by key
}

void Exchange::OnTaken(uint32_t peer, uint64_t number) {
  const auto found = partners_[peer].sends.find(number);
  if (found == partners_[peer].sends.end()) return;
  const TransferRef transfer = found->second;
  const bool put_is_over = (transfer->told.fetch_or(Transfer::kPartnerHasIt) & Transfer::kPutIsOver) != 0;
  if (put_is_over || transfer->state != Transfer::State::kStreaming) Over(transfer, HCCL_SUCCESS, "");
}

void Exchange::OnWithdraw(uint32_t peer, bool by_sender, uint64_t number, const std::string& why) {
  Partner& partner = partners_[peer];
  auto& mine = by_sender ? partner.receives : partner.sends;
  if (const auto offer = by_sender ? partner.offers.extract(number) : decltype(partner.offers)::node_type()) Release(peer, offer.mapped());
  const auto found = mine.find(number);
  const std::string text = RankName(peer) + " gave up: " + why;
  if (found == mine.end()) {
    (by_sender ? partner.withdrawn_receives : partner.withdrawn_sends)[number] = text;
    if (IsOfCollective(number) && unexpected) unexpected(peer, CollectiveOf(number));
  } else if (found->second->state != Transfer::State::kCopying) {
    Over(TransferRef(found->second), HCCL_E_REMOTE, text);
  }
}

bool Exchange::HasWordOf(uint32_t peer, uint64_t collective) const {
  const auto found = partners_.find(peer);
  if (found == partners_.end()) return false;
  const Partner& partner = found->second;
  const uint64_t first = CollectiveNumber(collective, 0);
  return partner.offers.count(first) != 0 || partner.withdrawn_receives.count(first) != 0 || partner.withdrawn_sends.count(first) != 0;
}

void Exchange::GaveUp(uint32_t peer, uint64_t collective, const std::string& why) {
  Partner& partner = partners_[peer];
  const std::string text = RankName(peer) + " gave up: " + why;
  partner.withdrawn_collectives[collective] = text;
  for (auto it = partner.offers.lower_bound(CollectiveNumber(collective, 0));
       it != partner.offers.end() && it->first < CollectiveNumber(collective + 1, 0); it = partner.offers.erase(it))
    Release(peer, it->second);
  std::vector<TransferRef> ending;
  for (const auto* transfers : {&partner.sends, &partner.receives}) {
    for (auto it = transfers->lower_bound(CollectiveNumber(collective, 0));
         it != transfers->end() && it->first < CollectiveNumber(collective + 1, 0); ++it) {
      if (it->second->state != Transfer::State::kCopying) ending.push_back(it->second);
    }
  }
  for (const TransferRef& transfer : ending) Over(transfer, HCCL_E_REMOTE, text);
}

void Exchange::Withdraw(const TransferRef& transfer, const std::string& why) {
  using State = Transfer::State;
  if (transfer->state != State::kOver && transfer->state != State::kCopying) Refuse(transfer, HCCL_E_REMOTE, why);
}

// Ends a transfer and tells the partner that there will be nothing.
void Exchange::Refuse(const TransferRef& transfer, HcclResult result, const std::string& why) {
  if ((transfer->told.load() & Transfer::kBytesAreHere) != 0) return Over(transfer, result, why);  // for the partner it is over
  if (!transfer->sending) partners_[transfer->peer].refused.insert(transfer->number);
  Tell(transfer->peer, kWithdraw, Writer().Number(static_cast<uint8_t>(transfer->sending)).Number(transfer->number).String(why).Take());
  Over(transfer, result, why);
}

void Exchange::Taken(const TransferRef& transfer) {
  const uint32_t peer = transfer->peer;
  Partner& partner = partners_[peer];
  partner.answers.push_back(transfer->number);
  // Where more is awaited from there, one message tells of several.
  const bool alone = partner.receives.size() <= 1;
  if (alone) Answer(peer);
  if (partner.answers.size() == 1)
    IoThread::Get().Lazily([weak = weak_from_this(), peer] {
      if (const auto self = weak.lock()) self->Answer(peer);
    });
  Over(transfer, HCCL_SUCCESS, "");
}

void Exchange::Answer(uint32_t peer) {
  Writer body;
  for (const uint64_t number : partners_[peer].answers) body.Number(number);
  if (!std::exchange(partners_[peer].answers, {}).empty()) Tell(peer, kTaken, body.Take());
}

void Exchange::Over(const TransferRef& transfer, HcclResult result, const std::string& why) {
  const TransferRef held = transfer;  // the maps may have had the last reference
  if (held->state == Transfer::State::kOver) return;
  held->state = Transfer::State::kOver;
  Partner& partner = partners_[held->peer];
  (held->sending ? partner.sends : partner.receives).erase(held->number);
  if (held->carried && !held->eager) OnAnswered(*held);
  if (held->sending) partner.ready.erase(held->number);
  if (held->window) held->window->Close();
  if (held->link) held->link->Withdraw(RegionOf(held->number));
  if (!held->key.empty()) shared_->GiveBack(held->key);
  if (held->staging != nullptr && aclrtSetCurrentContext(held->context) == ACL_SUCCESS) aclrtFreeHost(held->staging);
  // What the partner has, it has, even if its end was the next thing to be heard; and so it is with what came from there.
  const bool good = result == HCCL_SUCCESS || (held->told.load() & (Transfer::kPartnerHasIt | Transfer::kBytesAreHere)) != 0;
  if (const auto done = std::exchange(held->done, nullptr)) done(good ? HCCL_SUCCESS : result, good ? "" : why);
}

void Exchange::PeerEnded(uint32_t peer, HcclResult why) {
  std::erase_if(partners_[peer].offers, [](const auto& offer) { return !offer.second.eager(); });
  std::vector<TransferRef> ending;
  for (const auto* transfers : {&partners_[peer].sends, &partners_[peer].receives}) {
    for (const auto& [number, transfer] : *transfers) {
      if (transfer->state != Transfer::State::kCopying && !(EndedInOrder(why) && LinkTellsEnd(*transfer))) ending.push_back(transfer);
    }
  }
  for (const TransferRef& transfer : ending)
    Over(transfer, why == HCCL_SUCCESS ? HCCL_E_REMOTE : why, RankName(peer) + ": " + LossText(why));
}

// Of a send whose put alone says how it ended: the answer may be on its way while the good-bye, by another one, is here.
bool Exchange::LinkTellsEnd(const Transfer& transfer) {
  return transfer.sending && transfer.state == Transfer::State::kStreaming && !transfer.answered;
}

void Exchange::Destroyed() {
  for (auto& [peer, partner] : partners_) {
    // The good-bye on the channel tells the partner.
    while (!partner.sends.empty()) Over(TransferRef(partner.sends.begin()->second), HCCL_E_REMOTE, "the communicator is destroyed");
    while (!partner.receives.empty()) Over(TransferRef(partner.receives.begin()->second), HCCL_E_REMOTE, "the communicator is destroyed");
  }
  lane_.Clear();
  shared_->Clear();
}

}  // namespace ropeway::comm
