// What is asked of a peer and sent to it, and how it ends. tcp_receive.cpp has what arrives.
#include "hccl/link/tcp_peer.h"

#include <algorithm>

#include "base/faults.h"
#include "hccl/link/link_wire.h"

namespace ropeway::comm {
namespace {

// One transfer beyond this is worth connections of its own, and does not share the first one; so are many that are pending together.
constexpr uint64_t kLargeBytes = 1 << 20;
// Up to here a transfer is sent by whoever asks for it; beyond, he has better things to do. (What is large he leaves to others, whom he
// wakes.)
constexpr uint64_t kSmallBytes = 16 << 10;
// So many items fit one frame of a request.
constexpr size_t kItemsOfRequest = 64 << 10;

}  // namespace

std::shared_ptr<Peer> NewTcpPeer(uint32_t rank) { return std::make_shared<TcpPeer>(LinkThread(), rank); }

void TcpPeer::Move(bool put, std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  const auto transfer = std::make_shared<Transfer>(Transfer{put, std::move(items), std::move(lease), std::move(done)});
  // Those of one region share frames, and nobody minds the order.
  const auto by_region = [](const TransferItem& a, const TransferItem& b) { return a.region < b.region; };
  if (!std::is_sorted(transfer->items.begin(), transfer->items.end(), by_region))
    std::stable_sort(transfer->items.begin(), transfer->items.end(), by_region);
  for (const TransferItem& item : transfer->items) transfer->total += item.size;
  const auto self = shared_from_this();
  const bool of_host = std::all_of(transfer->items.begin(), transfer->items.end(), [](const TransferItem& item) { return !item.context; });
  const bool by_others = transfer->total > kLargeBytes;
  if ((transfer->total > kSmallBytes && !by_others) || !of_host)
    return thread_.Post([self, this, transfer] {
      Start(std::move(*transfer));
      PumpSoon();
    });
  thread_.Run([self, this, transfer] {
    Start(std::move(*transfer));
    Pump();
    // The peer may have had this core meanwhile, and be done.
    const std::shared_ptr<Connection> first = first_;  // it may end
    if (thread_.IsVisited() && first && !failed_) first->Look();
  });
}

// As if the network broke: neither side takes its leave of the other.
void TcpPeer::CutByRule(const Transfer& transfer) {
  const auto fault = FaultOf(FaultKind::kCut, {.function = transfer.put ? "put" : "get", .size = transfer.total, .peer = rank_});
  if (!fault || failed_) return;
  for (const ConnectionRef& connection : Connections()) connection->Reset();
  Fail({LossOf(false), std::string("the link to the peer broke: the rule '") + fault->rule + "' of ROPEWAY_FAULTS cuts it"});
}

void TcpPeer::Start(Transfer transfer) {
  if (FaultsAreOn()) CutByRule(transfer);
  if (failed_ || peer_left_) return Tell(transfer, failure_);
  const uint64_t number = ++last_transfer_;
  pending_bytes_ += transfer.total;
  if (pending_bytes_ > kLargeBytes) WantMoreConnections();
  if (!transfer.put) Ask(number, transfer);  // which leaves later than this returns
  {
    LockGuard lock(mutex_);
    if (transfer.put) {
      Job job{true, number, transfer.items, transfer.lease, transfer.total};
      transfer.watch = std::make_unique<GivenUpPuts::Watch>(given_up_, number, transfer.lease);
      given_up_.First() < number ? held_.push_back(std::move(job)) : Queue(std::move(job));
    }
    transfers_.emplace(number, std::move(transfer));
  }
  WatchForStall();
}

bool TcpPeer::Pending() const {
  LockGuard lock(mutex_);
  return !transfers_.empty();
}

void TcpPeer::Queue(Job job) {
  unsent_ += job.total;
  jobs_.push_back(std::move(job));
}

// Nothing of this put comes any more: what waited for it alone may go. Whether there was something.
bool TcpPeer::Release(uint64_t put) {
  given_up_.Over(put);
  LockGuard lock(mutex_);
  const size_t held = held_.size();
  for (const uint64_t first = given_up_.First(); !held_.empty() && held_.front().transfer < first; held_.pop_front(), ++looks_)
    Queue(std::move(held_.front()));
  return held_.size() < held;
}

void TcpPeer::Ask(uint64_t number, const Transfer& transfer) {
  for (size_t first = 0; first < transfer.items.size(); first += kItemsOfRequest) {
    Writer body;
    body.Number(uint64_t{first});
    const size_t end = std::min(first + kItemsOfRequest, transfer.items.size());
    for (size_t i = first; i < end; ++i)
      body.Number(transfer.items[i].region).Number(transfer.items[i].offset).Number(transfer.items[i].size);
    SendControl(kGetRequest, number, body.Take());
  }
}

// Little is sent by this thread, if the first connection takes it; more of it by the others, too, which are called first.
void TcpPeer::Pump() {
  const auto more_than = [this](uint64_t bytes) {
    LockGuard lock(mutex_);
    return unsent_ > bytes;
  };
  const std::vector<ConnectionRef> others = others_;
  const bool much = more_than(kLargeBytes);
  if (much)
    for (const ConnectionRef& connection : others) connection->Wake();
  if (const ConnectionRef first = first_; first && more_than(0)) first->Wake();
  if (!much && more_than(0))
    for (const ConnectionRef& connection : others) connection->Wake();
}

// Once for all that is asked for in one moment.
void TcpPeer::PumpSoon() {
  if (std::exchange(pumps_soon_, true)) return;
  thread_.Last([self = shared_from_this(), this] {
    pumps_soon_ = false;
    Pump();
  });
}

// Large transfers leave the first connection to the others, if there are any.
bool TcpPeer::MaySend(const ConnectionRef& connection, const Job& job) const {
  return connection != first_ || others_.empty() || job.total <= kLargeBytes;
}

// One frame of the first job that may go over this connection.
void TcpPeer::SendNext(const ConnectionRef& connection) {
  if (!connection) return;
  LockGuard lock(mutex_);
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    ++looks_;
    if (!MaySend(connection, *job)) {
      ++job;
      continue;
    }
    const bool sent = SendFrame(*connection, &*job);
    if (sent && job->item < job->items.size()) return;
    Job ended = std::move(*job);
    job = jobs_.erase(job);
    const auto asked = ended.put ? transfers_.find(ended.transfer) : transfers_.end();
    if (asked != transfers_.end()) asked->second.sent = true;
    if (sent) return;
    unsent_ -= ended.total - ended.queued;
    thread_.Post([self = shared_from_this(), this, ended = std::move(ended)] { GiveUp(ended); });
  }
}

// The next items of a job, or parts of them, and where their bytes are; how far it gets with them. False when the memory of a get is there
// no more: it is looked up again for every frame.
bool TcpPeer::FillFrame(Job* job, Frame* frame, Bulk* bulk) const {
  const RegionId region = job->items[job->item].region;
  const std::shared_ptr<const Exposed> source = job->put ? nullptr : regions_.Find(region);
  if (!job->put && !source) return false;
  bulk->lease = job->put ? job->lease : source->lease;
  FrameOfDevice of_device;
  Writer body;
  body.Number(job->put ? region : job->first_item + job->item).Number(job->put ? job->total : job->sent);
  while (job->item < job->items.size() && bulk->HasRoom() && bulk->size() < kTcpFrameBytes) {
    const TransferItem& item = job->items[job->item];
    if (item.region != region) break;
    const uint64_t offset = item.offset + job->sent, size = std::min(item.size - job->sent, kTcpFrameBytes - bulk->size());
    if (!job->put && Judge(source.get(), offset, size) != RangeStatus::kGood) return false;
    if (job->put) body.Number(offset).Number(size);
    char* const place = job->put ? static_cast<char*>(item.local) + job->sent : static_cast<char*>(source->address) + offset;
    bulk->Add(of_device.Place(job->put ? item.context : source->context, place, size), size);
    job->sent += size;
    if (job->sent < item.size) break;
    ++job->item;
    job->sent = 0;
  }
  frame->body = body.Take();
  return of_device.Fetch(bulk);
}

// False when the memory was taken away.
bool TcpPeer::SendFrame(Connection& connection, Job* job) {
  Frame frame{job->put ? kPutData : kGetData, job->transfer, {}};
  Bulk bulk;
  if (!FillFrame(job, &frame, &bulk)) return false;
  const uint64_t size = bulk.size();
  if (!connection.SendBulk(frame, std::move(bulk))) return false;
  job->queued += size;
  unsent_ -= size;
  return true;
}

void TcpPeer::GiveUp(const Job& job) {
  if (failed_) return;
  if (!job.put) return SendControl(kGetFailed, job.transfer, Writer().Number(static_cast<uint32_t>(RangeStatus::kNoRegion)).Take());
  given_up_.Add(job.transfer);
  SendControl(kPutGivenUp, job.transfer, Writer().Number(job.queued).Take());
  End(job.transfer, GivenUp());
}

void TcpPeer::End(uint64_t number, const TransferEnd& end) {
  LockGuard lock(mutex_);
  const auto node = transfers_.extract(number);
  lock.unlock();
  if (!node) return;
  node.mapped().watch.reset();  // a lease that is closed from here on gives up nothing
  pending_bytes_ -= node.mapped().total;
  Tell(node.mapped(), end);
}

// What fails may be in the middle of frames on several connections, and who hears of its end does as they like with the memory. Who asks
// for a transfer does not hear of its failure before the call returns.
void TcpPeer::Tell(const Transfer& transfer, const TransferEnd& end) {
  if (end.code == HCCL_SUCCESS) return transfer.done(end);
  transfer.lease->Close();
  if (!thread_.IsVisited()) return transfer.done(end);
  thread_.Post([done = transfer.done, end] { done(end); });
}

void TcpPeer::EndAll(const TransferEnd& why) {
  std::map<uint64_t, Transfer> ended;
  {
    LockGuard lock(mutex_);
    jobs_.clear();
    unsent_ = 0;
    held_.clear();
    arrivals_.clear();
    ended.swap(transfers_);
  }
  for (auto& [number, transfer] : ended) transfer.watch.reset();
  for (const auto& [number, transfer] : ended) Tell(transfer, why);
}

}  // namespace ropeway::comm
