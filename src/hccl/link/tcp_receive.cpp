// What arrives from a peer. Whoever sends it knows the communicator's secret, yet nothing in it is trusted: regions, bounds and numbers are
// checked before a byte moves, and who does not keep to the protocol is hung up on.
#include <algorithm>

#include "hccl/link/link_wire.h"
#include "hccl/link/tcp_peer.h"

namespace ropeway::comm {
namespace {

// Far more than a peer has under way: it sends one put after the other.
constexpr size_t kMostArrivals = 4096;
constexpr size_t kMostJobs = 64 << 10;

std::string StatusBody(RangeStatus status) { return Writer().Number(static_cast<uint32_t>(status)).Take(); }

}  // namespace

void TcpPeer::Received(const Frame& frame) {
  switch (frame.type) {
    case kPutDone:
    case kGetFailed: return Answered(frame);
    case kPutGivenUp: return PutGivenUp(frame);
    case kGetRequest:
      if (!Serve(frame)) BreakProtocol();
      return;
    case kGetGivenUp: return Forget(frame.id);
    default: return BreakProtocol();
  }
}

std::optional<Bulk> TcpPeer::BulkBegins(const Frame& frame, uint64_t size) {
  if (size > kTcpFrameBytes) return std::nullopt;
  if (frame.type == kPutData) return PutBegins(frame, size);
  if (frame.type == kGetData) return GetBegins(frame, size);
  return std::nullopt;
}

void TcpPeer::BulkEnded(const Frame& frame, uint64_t size, bool taken) {
  if (frame.type == kPutData) return PutEnded(frame, size, taken);
  GetEnded(frame, size, taken);
}

// Bytes that have no place are read and forgotten, and the put is answered with the reason.
std::optional<Bulk> TcpPeer::PutBegins(const Frame& frame, uint64_t size) {
  Reader reader(frame.body);
  const std::shared_ptr<const Exposed> region = regions_.Find(reader.Number<RegionId>());
  const auto total = reader.Number<uint64_t>();
  LockGuard lock(mutex_);
  if (!reader.ok() || arrivals_.size() >= kMostArrivals) return std::nullopt;
  Arrival& arrival = arrivals_[frame.id];
  if (arrival.received > total || size > total - arrival.received) return std::nullopt;
  if (!arrival.given_up) arrival.expected = total;
  Bulk bulk;
  FrameOfDevice of_device;
  RangeStatus status = RangeStatus::kGood;
  while (!reader.rest().empty()) {
    const auto offset = reader.Number<uint64_t>(), range = reader.Number<uint64_t>();
    if (!reader.ok() || range == 0 || range > size - bulk.size() || !bulk.HasRoom()) return std::nullopt;
    if (status == RangeStatus::kGood) status = Judge(region.get(), offset, range);
    bulk.Add(status == RangeStatus::kGood ? of_device.Place(region->context, static_cast<char*>(region->address) + offset, range) : nullptr,
             range);
  }
  if (bulk.size() != size) return std::nullopt;
  if (arrival.status == RangeStatus::kGood) arrival.status = status;
  if (status == RangeStatus::kGood) bulk.lease = region->lease;
  if (status == RangeStatus::kGood) of_device.StoreBehind(&bulk);
  return bulk;
}

void TcpPeer::PutEnded(const Frame& frame, uint64_t size, bool taken) {
  LockGuard lock(mutex_);
  const auto found = arrivals_.find(frame.id);
  if (found == arrivals_.end()) return;
  Arrival& arrival = found->second;
  if (!taken && arrival.status == RangeStatus::kGood) arrival.status = RangeStatus::kNoRegion;
  arrival.received += size;
  if (arrival.received < arrival.expected) return;
  const Arrival ended = arrival;
  arrivals_.erase(found);
  lock.unlock();
  BrieflyOnLink([self = shared_from_this(), this, number = frame.id, region = Reader(frame.body).Number<RegionId>(), ended] {
    if (!failed_) PutIsHere(number, region, ended);
  });
}

void TcpPeer::PutIsHere(uint64_t number, RegionId region, const Arrival& arrival) {
  const bool good = !arrival.given_up && arrival.status == RangeStatus::kGood;
  // The owner of the memory knows before the peer does.
  if (const std::shared_ptr<const Exposed> memory = good ? regions_.Find(region) : nullptr; memory && memory->filled)
    memory->filled(arrival.received);
  SendControl(kPutDone, number, StatusBody(arrival.status));
}

// Some of what was sent may be on its way over another connection. The answer says that no more of it is.
void TcpPeer::PutGivenUp(const Frame& frame) {
  Reader reader(frame.body);
  const auto sent = reader.Number<uint64_t>();
  LockGuard lock(mutex_);
  const bool good = reader.AtEnd() && arrivals_.size() < kMostArrivals;
  if (good) {
    Arrival& arrival = arrivals_[frame.id];
    arrival.given_up = true;
    arrival.expected = sent;
    if (arrival.received < sent) return;
    arrivals_.erase(frame.id);
  }
  lock.unlock();
  if (!good) return BreakProtocol();
  SendControl(kPutDone, frame.id, StatusBody(RangeStatus::kNoRegion));
}

std::optional<Bulk> TcpPeer::GetBegins(const Frame& frame, uint64_t size) {
  Reader reader(frame.body);
  auto number = reader.Number<uint64_t>(), offset = reader.Number<uint64_t>();
  LockGuard lock(mutex_);
  const auto found = transfers_.find(frame.id);
  if (!reader.AtEnd()) return std::nullopt;
  if (found == transfers_.end() || found->second.put) return Bulk();  // given up meanwhile
  Transfer& transfer = found->second;
  const std::vector<TransferItem>& items = transfer.items;
  if (size > transfer.total - transfer.coming) return std::nullopt;  // so nothing is on its way any more when all are here
  transfer.coming += size;
  Bulk bulk(transfer.lease);
  FrameOfDevice of_device;
  for (; bulk.size() < size; ++number, offset = 0) {
    if (number >= items.size() || offset >= items[number].size || !bulk.HasRoom()) return std::nullopt;
    const uint64_t part = std::min(items[number].size - offset, size - bulk.size());
    bulk.Add(of_device.Place(items[number].context, static_cast<char*>(items[number].local) + offset, part), part);
  }
  of_device.StoreBehind(&bulk);
  return bulk;
}

void TcpPeer::GetEnded(const Frame& frame, uint64_t size, bool taken) {
  {
    LockGuard lock(mutex_);
    const auto found = transfers_.find(frame.id);
    if (found == transfers_.end() || found->second.put) return;
    found->second.received += size;
    if (taken && found->second.received < found->second.total) return;
  }
  BrieflyOnLink([self = shared_from_this(), this, number = frame.id, taken] {
    if (!taken) SendControl(kGetGivenUp, number);
    End(number, taken ? TransferEnd() : GivenUp());
  });
}

// What is on its way still comes.
void TcpPeer::Forget(uint64_t get) {
  LockGuard lock(mutex_);
  for (const Job& job : jobs_)
    if (!job.put && job.transfer == get) unsent_ -= job.total - job.queued;
  std::erase_if(jobs_, [&](const Job& job) { return !job.put && job.transfer == get; });
}

bool TcpPeer::Serve(const Frame& frame) {
  Reader reader(frame.body);
  Job job{false, frame.id, {}, nullptr, 0};
  job.first_item = reader.Number<uint64_t>();
  while (!reader.rest().empty()) {
    TransferItem item{nullptr, reader.Number<RegionId>(), reader.Number<uint64_t>(), reader.Number<uint64_t>()};
    if (!reader.ok() || item.size == 0) return false;
    const RangeStatus status = Judge(regions_.Find(item.region).get(), item.offset, item.size);
    if (status != RangeStatus::kGood) {
      SendControl(kGetFailed, frame.id, StatusBody(status));
      return true;
    }
    job.total += item.size;
    job.items.push_back(item);
  }
  if (!reader.ok() || job.items.empty()) return false;
  {
    LockGuard lock(mutex_);
    if (jobs_.size() >= kMostJobs) return false;
    Queue(std::move(job));
  }
  Pump();
  return true;
}

void TcpPeer::Answered(const Frame& frame) {
  Reader reader(frame.body);
  const auto status = static_cast<RangeStatus>(reader.Number<uint32_t>());
  if (!reader.AtEnd()) return BreakProtocol();
  LockGuard lock(mutex_);
  const bool of_put = frame.type == kPutDone;
  const auto found = transfers_.find(frame.id);
  // A put is over with its answer; only a get can fail early.
  const bool ends = found != transfers_.end() && found->second.put == of_put;
  const bool early = ends && of_put && !found->second.sent;
  lock.unlock();
  if (early) return BreakProtocol();
  if (ends) End(frame.id, EndOf(status));
  if (of_put && Release(frame.id)) Pump();
}

}  // namespace ropeway::comm
