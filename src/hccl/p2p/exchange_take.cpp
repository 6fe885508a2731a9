// How the bytes of an offer get into the receive's buffer inside a host: out of the message, or by the engine; and how an
// engine whose memory the host cannot reach is helped through pinned memory. exchange_network.cpp has the other way.
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

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
  transfer->way = WayOf(offer.method);
  switch (offer.method) {
    case Method::kInline: return TakeInline(transfer, offer);
    case Method::kAddress: return TakeAddress(transfer, offer);
    case Method::kKey: return TakeKey(transfer, offer);
    default: return AskForBytes(transfer);
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
  CopyIn(transfer, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)), device == transfer->device ? -1 : device, "");
}

void Exchange::TakeKey(const TransferRef& transfer, const Offer& offer) {
  void* mapped = nullptr;
  if (offer.content.size() != 64 || aclrtSetCurrentContext(transfer->context) != ACL_SUCCESS ||
      aclrtIpcMemImportByKey(&mapped, offer.content.c_str(), 0) != ACL_SUCCESS) {
    aclGetRecentErrMsg();
    return AskForBytes(transfer);
  }
  CopyIn(transfer, mapped, -1, offer.content);
}

void Exchange::CopyIn(const TransferRef& transfer, const void* from, int32_t peer_device, const std::string& imported_key) {
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

}  // namespace ropeway::comm
