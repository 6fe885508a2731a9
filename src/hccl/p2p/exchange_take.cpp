// How the bytes of an offer get into the receive's buffer: out of the message, by the engine from memory of this host,
// or over a bulk connection; and how an engine whose memory the host cannot reach is helped through pinned memory.
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/rank/parts.h"
#include "hccl/rank/wire.h"

namespace ropeway::comm {

void Exchange::Match(const TransferRef& transfer, const Offer& offer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  if (offer.bytes != transfer->bytes) {
    return Refuse(transfer, HCCL_E_INTERNAL,
                  "rank " + std::to_string(transfer->peer) + " sends " + std::to_string(offer.bytes) + " bytes, rank " +
                      std::to_string(communicator->rank()) + " receives " + std::to_string(transfer->bytes) +
                      ": count and type must be the same on both sides");
  }
  transfer->state = Transfer::State::kCopying;
  switch (offer.method) {
    case Method::kInline:
      return TakeInline(transfer, offer);
    case Method::kAddress:
      return TakeAddress(transfer, offer);
    case Method::kKey:
      return TakeKey(transfer, offer);
    default:
      return AskForBulk(transfer);
  }
}

void Exchange::TakeInline(const TransferRef& transfer, const Offer& offer) {
  if (offer.content.size() != transfer->bytes) return Refuse(transfer, HCCL_E_INTERNAL, "an offer without its bytes");
  if (!transfer->window) Stage(transfer, nullptr);
  if (!transfer->window) return;  // no memory to stage in: the transfer is over
  if (!transfer->window->Use([&](char* data) { offer.content.copy(data, offer.content.size()); }))
    return Refuse(transfer, HCCL_E_REMOTE, "the receiving stream was aborted");
  Unstage(transfer);
}

void Exchange::TakeAddress(const TransferRef& transfer, const Offer& offer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Reader reader(offer.content);
  const auto address = reader.Number<uint64_t>();
  const auto device = reader.Number<int32_t>();
  // An address means something in its own process only.
  if (!reader.AtEnd() || !communicator || !communicator->SameProcess(transfer->peer))
    return Refuse(transfer, HCCL_E_INTERNAL, "an offer by address from another process");
  CopyIn(transfer, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)),
         device == transfer->device ? -1 : device, "");
}

void Exchange::TakeKey(const TransferRef& transfer, const Offer& offer) {
  void* mapped = nullptr;
  if (offer.content.size() != 64 || aclrtSetCurrentContext(transfer->context) != ACL_SUCCESS ||
      aclrtIpcMemImportByKey(&mapped, offer.content.c_str(), 0) != ACL_SUCCESS) {
    aclGetRecentErrMsg();
    return AskForBulk(transfer);
  }
  CopyIn(transfer, mapped, -1, offer.content);
}

void Exchange::CopyIn(const TransferRef& transfer, const void* from, int32_t peer_device,
                      const std::string& imported_key) {
  const std::weak_ptr<Exchange> weak = weak_from_this();
  lane_.Copy(transfer->context, transfer->buffer, from, transfer->bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, peer_device,
             [weak, transfer, imported_key](const std::string& failure) {
               if (!imported_key.empty() && aclrtSetCurrentContext(transfer->context) == ACL_SUCCESS)
                 aclrtIpcMemClose(imported_key.c_str());
               const auto self = weak.lock();
               if (!self || transfer->state == Transfer::State::kOver) return;
               if (failure.empty()) return self->Taken(transfer);
               self->lane_.Discard(transfer->context);
               self->Refuse(transfer, HCCL_E_RUNTIME, failure);
             });
}

void Exchange::AskForBulk(const TransferRef& transfer) {
  transfer->state = Transfer::State::kStreaming;
  if (!transfer->window) Stage(transfer, nullptr);
  if (transfer->window) Tell(transfer->peer, kAccept, Writer().Number(transfer->number).Take());
}

void Exchange::BulkHere(uint32_t peer, uint64_t number) {
  const auto found = partners_[peer].receives.find(number);
  if (found == partners_[peer].receives.end()) return;
  const TransferRef transfer = found->second;
  transfer->state = Transfer::State::kCopying;
  Unstage(transfer);
}

// Pinned memory in place of a buffer that the host cannot reach. A send's bytes are fetched into it before `staged`
// goes on.
void Exchange::Stage(const TransferRef& transfer, const std::function<void()>& staged) {
  void* memory = nullptr;
  aclError code = aclrtSetCurrentContext(transfer->context);
  if (code == ACL_SUCCESS) code = aclrtMallocHost(&memory, transfer->bytes);
  if (code != ACL_SUCCESS) return Refuse(transfer, HCCL_E_MEMORY, RuntimeText("aclrtMallocHost", code));
  transfer->staging = memory;
  if (!transfer->sending) {
    transfer->window = std::make_shared<Window>(memory);
    return;
  }
  const std::weak_ptr<Exchange> weak = weak_from_this();
  lane_.Copy(transfer->context, memory, transfer->buffer, transfer->bytes, ACL_MEMCPY_DEVICE_TO_HOST, -1,
             [weak, transfer, staged](const std::string& failure) {
               const auto self = weak.lock();
               if (!self || transfer->state == Transfer::State::kOver) return;
               if (!failure.empty()) {
                 self->lane_.Discard(transfer->context);
                 return self->Refuse(transfer, HCCL_E_RUNTIME, failure);
               }
               transfer->window = std::make_shared<Window>(transfer->staging);
               staged();
             });
}

// The bytes of a receive are in its view; when that is staging memory, they still have to get into the buffer.
void Exchange::Unstage(const TransferRef& transfer) {
  if (transfer->staging == nullptr) return Taken(transfer);
  const std::weak_ptr<Exchange> weak = weak_from_this();
  lane_.Copy(transfer->context, transfer->buffer, transfer->staging, transfer->bytes, ACL_MEMCPY_HOST_TO_DEVICE, -1,
             [weak, transfer](const std::string& failure) {
               const auto self = weak.lock();
               if (!self || transfer->state == Transfer::State::kOver) return;
               if (failure.empty()) return self->Taken(transfer);
               self->lane_.Discard(transfer->context);
               self->Refuse(transfer, HCCL_E_RUNTIME, failure);
             });
}

void Exchange::OpenBulk() {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Channels* const channels = communicator ? Parts::ChannelsOf(*communicator) : nullptr;
  if (bulk_ || channels == nullptr) return;
  BulkWays::Events events;
  events.begins = [this](uint32_t peer, uint64_t number, uint64_t bytes) -> std::shared_ptr<Window> {
    const auto found = partners_[peer].receives.find(number);
    const bool awaited = found != partners_[peer].receives.end() && found->second->state == Transfer::State::kStreaming;
    return awaited && found->second->bytes == bytes ? found->second->window : nullptr;
  };
  events.ended = [this](uint32_t peer, uint64_t number) { BulkHere(peer, number); };
  events.broke = [this](uint32_t peer, bool sending, const std::string& why) { BulkBroke(peer, sending, why); };
  bulk_ = std::make_shared<BulkWays>(communicator_, std::move(events));
  channels->bulk_entered = [weak = std::weak_ptr<BulkWays>(bulk_)](uint32_t peer, Fd fd) {
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
