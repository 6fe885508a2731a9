// How the bytes of an offer get into the receive's buffer inside a host: out of the message, or by the engine; and how an
// engine whose memory the host cannot reach is helped through pinned memory. exchange_network.cpp has the other way.
#include <cstring>

#include "hccl/p2p/exchange.h"
#include "hccl/p2p/messages.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

uint64_t UnitOf(const Transfer& transfer) { return transfer.combination.Unit(transfer.bytes); }

// A part of it, in a lane of the engine. A stream that gives its memory back after this has looked at the lease waits for the lane, as it
// does for a copy.
std::string Combine(const Transfer& transfer, const void* bytes, uint64_t begin, uint64_t end) {
  if (!transfer.view->Use([](char*) {})) return "the receiving stream was aborted";
  const uint64_t unit = UnitOf(transfer);
  transfer.combination.ApplyPart(transfer.view->data(), bytes, begin, (end - begin) / unit);
  return "";
}

// The bytes are device memory of this process: its own, or mapped. Looked up here and not before: what is freed from now on stays until
// this lane is through.
std::string CombineFrom(const Transfer& transfer, const void* from, uint64_t begin, uint64_t end) {
  if (transfer.on_host) return Combine(transfer, from, begin, end);
  void* bytes = nullptr;
  if (ropewayHostView(const_cast<void*>(from), transfer.bytes, &bytes) != ACL_SUCCESS) return "the sender's memory is gone";
  return Combine(transfer, bytes, begin, end);
}

// The same for bytes that are stored, of host memory: the runtime queues no copy between host addresses.
std::string TakeFromHost(const Transfer& transfer, const void* from, uint64_t begin, uint64_t end) {
  if (!transfer.view->Use([](char*) {})) return "the receiving stream was aborted";
  std::memcpy(transfer.view->data() + begin, static_cast<const char*>(from) + begin, end - begin);
  return "";
}

}  // namespace

void Exchange::Match(const TransferRef& transfer, const Offer& offer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  if (offer.bytes != transfer->bytes) {
    return Refuse(transfer, HCCL_E_INTERNAL,
                  "rank " + std::to_string(transfer->peer) + " sends " + std::to_string(offer.bytes) + " bytes, rank " +
                      std::to_string(communicator->rank()) + " receives " + std::to_string(transfer->bytes) +
                      ": count and type must be the same on both sides");
  }
  if (offer.method == Method::kOnDemand && transfer->window) return SayReady(transfer);
  transfer->state = Transfer::State::kCopying;
  transfer->way = WayOf(offer.method);
  switch (offer.method) {
    case Method::kInline:
    case Method::kEager:
    case Method::kCarried:
    case Method::kCarriedEager: return TakeInline(transfer, offer);
    case Method::kAddress: return TakeAddress(transfer, offer);
    case Method::kKey: return TakeKey(transfer, offer);
    default: return AskForBytes(transfer);
  }
}

void Exchange::TakeInline(const TransferRef& transfer, const Offer& offer) {
  const std::string_view bytes = offer.inside();
  Release(transfer->peer, offer);
  if (bytes.size() != transfer->bytes) return Refuse(transfer, HCCL_E_INTERNAL, "an offer without its bytes");
  if (!transfer->window) Stage(transfer, nullptr);
  if (!transfer->window) return;  // no memory to stage in: the transfer is over
  const auto take = [&](char* data) {
    if (transfer->combination) return transfer->combination.Apply(data, bytes.data());
    bytes.copy(data, bytes.size());
  };
  if (!transfer->window->Use(take)) return Refuse(transfer, HCCL_E_REMOTE, "the receiving stream was aborted");
  if (offer.eager() && transfer->staging == nullptr) return Over(transfer, HCCL_SUCCESS, "");
  Unstage(transfer);
}

void Exchange::TakeAddress(const TransferRef& transfer, const Offer& offer) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  Reader reader(offer.inside());
  const auto address = reader.Number<uint64_t>();
  const auto device = reader.Number<int32_t>();
  // An address means something in its own process only.
  if (!reader.AtEnd() || !communicator || !communicator->SameProcess(transfer->peer))
    return Refuse(transfer, HCCL_E_INTERNAL, "an offer by address from another process");
  CopyIn(transfer, reinterpret_cast<const void*>(static_cast<uintptr_t>(address)), device == transfer->device ? -1 : device, "");
}

void Exchange::TakeKey(const TransferRef& transfer, const Offer& offer) {
  Reader reader(offer.inside());
  SharedBuffers::Place place;
  place.offset = reader.Number<uint64_t>();
  place.key = reader.rest();
  const void* const from = shared_->Import(transfer->context, place, transfer->bytes);
  if (from == nullptr) return AskForBytes(transfer);
  CopyIn(transfer, from, -1, place.key);
}

void Exchange::CopyIn(const TransferRef& transfer, const void* from, int32_t peer_device, const std::string& imported_key) {
  const std::weak_ptr<Exchange> weak = weak_from_this();
  const auto done = [weak, transfer, imported_key](const std::string& failure) {
    const auto self = weak.lock();
    if (self && !imported_key.empty()) self->shared_->GiveBack(imported_key);
    if (!self || transfer->state == Transfer::State::kOver) return;
    if (failure.empty()) return self->Taken(transfer);
    self->lane_.Discard(transfer->context);
    self->Refuse(transfer, HCCL_E_RUNTIME, failure);
  };
  if (transfer->combination)
    return lane_.Run(
        transfer->context, transfer->bytes, UnitOf(*transfer),
        [transfer, from](uint64_t begin, uint64_t end) { return CombineFrom(*transfer, from, begin, end); }, done);
  if (transfer->on_host)
    return lane_.Run(
        transfer->context, transfer->bytes, 1,
        [transfer, from](uint64_t begin, uint64_t end) { return TakeFromHost(*transfer, from, begin, end); }, done);
  lane_.Copy(transfer->context, transfer->buffer, from, transfer->bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, peer_device, done);
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
  const auto done = [weak, transfer](const std::string& failure) {
    const auto self = weak.lock();
    if (!self || transfer->state == Transfer::State::kOver) return;
    if (failure.empty()) return self->Taken(transfer);
    self->lane_.Discard(transfer->context);
    self->Refuse(transfer, HCCL_E_RUNTIME, failure);
  };
  if (transfer->combination)
    return lane_.Run(
        transfer->context, transfer->bytes, UnitOf(*transfer),
        [transfer](uint64_t begin, uint64_t end) { return Combine(*transfer, transfer->staging, begin, end); }, done);
  lane_.Copy(transfer->context, transfer->buffer, transfer->staging, transfer->bytes, ACL_MEMCPY_HOST_TO_DEVICE, -1, done);
}

}  // namespace ropeway::comm
