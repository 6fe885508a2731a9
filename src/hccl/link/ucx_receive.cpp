// What arrives from a peer. Whoever sends it has shown the key, yet nothing in it is trusted: regions, bounds and numbers are
// checked before a byte moves.
#include <cstring>

#include "hccl/link/ucx_peer.h"

namespace ropeway::comm {

ucs_status_t UcxPeer::Received(void* peer, const void* header, size_t header_length, void* data, size_t length,
                               const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<UcxPeer*>(peer);
  WireHeader message;
  // Ours are of one size and come with their bytes. Anything else is a stranger's.
  if (header_length != sizeof message || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
  memcpy(&message, header, sizeof message);
  if (message.key == self.incoming_key_) self.Handle(message, data, length);
  return UCS_OK;
}

void UcxPeer::Handle(const WireHeader& header, const void* data, size_t size) {
  if (failed_) return;
  last_sign_of_life_ns_ = NowNs();
  switch (header.kind) {
    case WireKind::kPutData: return PutArrived(header, data, size);
    case WireKind::kGetData: return GetArrived(header, data, size);
    case WireKind::kGetRequest: return Serve(header, data, size);
    case WireKind::kPutDone:
    case WireKind::kGetFailed: return Answered(header);
    case WireKind::kPutGivenUp: arrivals_.erase(header.transfer); return;
    case WireKind::kGoodbye: return Fail({HCCL_E_REMOTE, "the peer closed the link"});
  }
}

void UcxPeer::PutArrived(const WireHeader& header, const void* data, size_t size) {
  Arrival& arrival = arrivals_[header.transfer];
  Exposed region{};
  RangeStatus status = regions_.Locate(header.region, header.offset, size, &region);
  const auto take = [&] { memcpy(static_cast<char*>(region.address) + header.offset, data, size); };
  if (status == RangeStatus::kGood && !region.lease->Use(take)) status = RangeStatus::kNoRegion;
  if (arrival.status == RangeStatus::kGood) arrival.status = status;
  arrival.received += size;
  if (arrival.received < header.total) return;
  const bool good = arrival.status == RangeStatus::kGood;
  SendControl(WireKind::kPutDone, header.transfer, arrival.status);
  arrivals_.erase(header.transfer);
  if (good && region.filled) region.filled(header.total);
}

void UcxPeer::GetArrived(const WireHeader& header, const void* data, size_t size) {
  const auto found = transfers_.find(header.transfer);
  if (found == transfers_.end() || found->second.put || header.region >= found->second.items.size()) return;
  Transfer& transfer = found->second;
  const TransferItem& item = transfer.items[header.region];
  if (header.offset > item.size || size > item.size - header.offset) return;
  const auto take = [&] { memcpy(static_cast<char*>(item.local) + header.offset, data, size); };
  if (!transfer.lease->Use(take)) return End(header.transfer, GivenUp());
  transfer.received += size;
  if (transfer.received == transfer.total) End(header.transfer, {});
}

void UcxPeer::Serve(const WireHeader& header, const void* data, size_t size) {
  Job job{MakeHeader(WireKind::kGetData, header.transfer, header.total), {}, nullptr};
  for (size_t at = 0; at + sizeof(WireItem) <= size; at += sizeof(WireItem)) {
    WireItem item;
    memcpy(&item, static_cast<const char*>(data) + at, sizeof item);
    Exposed region{};
    const RangeStatus status = regions_.Locate(item.region, item.offset, item.size, &region);
    if (status != RangeStatus::kGood) return SendControl(WireKind::kGetFailed, header.transfer, status);
    // Looked up again for every chunk: the region may be withdrawn meanwhile.
    if (item.size != 0) job.items.push_back({nullptr, item.region, item.offset, item.size});
  }
  if (!job.items.empty()) jobs_.push_back(std::move(job));
}

void UcxPeer::Answered(const WireHeader& header) {
  const auto found = transfers_.find(header.transfer);
  // A put is over with its answer; only a get can fail early.
  if (found == transfers_.end() || found->second.put != (header.kind == WireKind::kPutDone)) return;
  End(header.transfer, EndOf(header.status));
}

}  // namespace ropeway::comm
