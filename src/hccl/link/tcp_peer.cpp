// What is asked of a peer and sent to it, and how it ends. tcp_receive.cpp has what arrives.
#include "hccl/link/tcp_peer.h"

#include <algorithm>

#include "hccl/link/tcp_wire.h"

namespace ropeway::comm {
namespace {

// Transfers beyond this are worth connections of their own, and do not share the first one.
constexpr uint64_t kLargeBytes = 1 << 20;
// So many items fit one frame of a request.
constexpr size_t kItemsOfRequest = 64 << 10;
// When one connection has ended in order the others do so in the same moment: how long they have.
constexpr std::chrono::seconds kEndTogether(1);

// The thread of the process that moves the bytes: whatever ranks say to each other does not wait behind them.
IoThread& LinkThread() {
  static IoThread* const thread = new IoThread("rw-hccl-link");
  return *thread;
}

}  // namespace

std::shared_ptr<Peer> NewTcpPeer() { return std::make_shared<TcpPeer>(LinkThread()); }

TcpPeer::~TcpPeer() {
  thread_.Post([connections = Connections(), timer = stall_timer_, &thread = thread_] {
    thread.Cancel(timer);
    for (const ConnectionRef& connection : connections) connection->Abort();
  });
}

std::vector<TcpPeer::ConnectionRef> TcpPeer::Connections() const {
  std::vector<ConnectionRef> all(others_);
  all.insert(all.end(), silent_.begin(), silent_.end());
  if (first_) all.push_back(first_);
  return all;
}

void TcpPeer::Meet(const std::string&, std::function<void()> call) {
  thread_.Post([self = shared_from_this(), call = std::move(call)]() mutable {
    self->call_ = std::move(call);
    self->CallMore();
  });
}

void TcpPeer::Enter(FileDescriptor fd) {
  auto held = std::make_shared<FileDescriptor>(std::move(fd));
  thread_.Post([self = shared_from_this(), held] { self->Entered(std::move(*held)); });
}

// Whoever made it says first which one it is.
void TcpPeer::Entered(FileDescriptor fd) {
  if (failed_) return;
  const ConnectionRef connection = Open(std::move(fd));
  if (!call_) {
    silent_.push_back(connection);
    return DropOldSilentOnes();
  }
  const bool first = !first_;
  connection->Send({kOpening, 0, Writer().Number(uint8_t{first}).Take()});
  Use(connection, first);
}

// A peer that called in vain calls again: what counts are its last calls. All that it may have can be silent for a moment.
void TcpPeer::DropOldSilentOnes() {
  if (silent_.size() <= 1 + kTcpBulkConnections) return;
  silent_.front()->Abort();
  silent_.erase(silent_.begin());
}

TcpPeer::ConnectionRef TcpPeer::Open(FileDescriptor fd) {
  Connection::Events events;
  const auto made = std::make_shared<std::weak_ptr<Connection>>();
  const std::weak_ptr<TcpPeer> weak = weak_from_this();
  events.received = [weak, made](const Frame& frame) {
    if (const auto self = weak.lock()) self->Received(made->lock(), frame);
  };
  events.bulk_begins = [weak](const Frame& frame, uint64_t size) {
    const auto self = weak.lock();
    return self ? self->BulkBegins(frame, size) : std::nullopt;
  };
  events.bulk_ended = [weak](const Frame& frame, uint64_t size, bool taken) {
    if (const auto self = weak.lock()) self->BulkEnded(frame, size, taken);
  };
  events.idle = [weak, made] {
    if (const auto self = weak.lock()) self->SendNext(made->lock());
  };
  events.closed = [weak, made](bool clean, const std::string& why) {
    if (const auto self = weak.lock()) self->ConnectionEnded(made->lock(), clean, why);
  };
  ConnectionRef connection = Connection::Open(std::move(fd), std::move(events), thread_);
  *made = connection;
  return connection;
}

void TcpPeer::Use(const ConnectionRef& connection, bool first) {
  if (first) {
    first_ = connection;
    for (const Frame& frame : std::exchange(control_, {})) first_->Send(frame);
    CallMore();
  } else {
    others_.push_back(connection);
  }
  Pump();
}

void TcpPeer::ConnectionEnded(const ConnectionRef& connection, bool clean, const std::string& why) {
  const bool unused = std::erase(silent_, connection) != 0;
  if (failed_ || unused) return;
  const TransferEnd end{LossOf(clean), "the link to the peer broke: " + why};
  if (connection == first_ || !clean) return Fail(end);
  // The last answers come over the first one.
  std::erase(others_, connection);
  thread_.At(Deadline::After(kEndTogether), [weak = weak_from_this(), end] {
    if (const auto self = weak.lock()) self->Fail(end);
  });
}

void TcpPeer::Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  Transfer transfer{true, std::move(items), std::move(lease), std::move(done)};
  thread_.Post([self = shared_from_this(), transfer = std::move(transfer)]() mutable { self->Start(std::move(transfer)); });
}

void TcpPeer::Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  Transfer transfer{false, std::move(items), std::move(lease), std::move(done)};
  thread_.Post([self = shared_from_this(), transfer = std::move(transfer)]() mutable { self->Start(std::move(transfer)); });
}

void TcpPeer::Start(Transfer transfer) {
  if (failed_) return transfer.done(failure_);
  for (const TransferItem& item : transfer.items) transfer.total += item.size;
  if (transfers_.empty()) last_sign_of_life_ns_ = NowNs();
  const uint64_t number = ++last_transfer_;
  if (transfer.total > kLargeBytes) WantMoreConnections();
  if (transfer.put)
    jobs_.push_back({.put = true,
                     .transfer = number,
                     .items = transfer.items,
                     .lease = transfer.lease,
                     .total = transfer.total,
                     .behind = GivenUpPuts()});
  else
    Ask(number, transfer);
  transfers_.emplace(number, std::move(transfer));
  WatchForStall();
  Pump();
}

std::vector<uint64_t> TcpPeer::GivenUpPuts() const {
  std::vector<uint64_t> puts(draining_.begin(), draining_.end());
  for (const auto& [number, transfer] : transfers_)
    if (transfer.put && !transfer.lease->Use([] {})) puts.push_back(number);
  return puts;
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

// Whichever side makes the connections does so.
void TcpPeer::WantMoreConnections() {
  if (std::exchange(wants_more_, true)) return;
  SendControl(kMoreWanted, 0);
  CallMore();
}

// Once, behind the first one.
void TcpPeer::CallMore() {
  if (failed_ || !first_ || !wants_more_ || !call_ || std::exchange(called_more_, true)) return;
  for (size_t i = 0; i < kTcpBulkConnections; ++i) call_();
}

void TcpPeer::SendControl(uint16_t type, uint64_t transfer, std::string body) {
  Frame frame{type, transfer, std::move(body)};
  if (failed_) return;
  if (first_)
    first_->Send(frame);
  else
    control_.push_back(std::move(frame));
}

void TcpPeer::Pump() {
  for (const ConnectionRef& connection : Connections()) {
    if (jobs_.empty()) return;
    connection->Wake();
  }
}

// Large transfers leave the first connection to the others, if there are any.
bool TcpPeer::MaySend(const ConnectionRef& connection, const Job& job) const {
  for (const uint64_t put : job.behind)
    if (transfers_.count(put) + draining_.count(put) != 0) return false;
  return connection != first_ || others_.empty() || job.total <= kLargeBytes;
}

// One frame of the first job that may go over this connection.
void TcpPeer::SendNext(const ConnectionRef& connection) {
  if (!connection || std::count(silent_.begin(), silent_.end(), connection) != 0) return;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    if (!MaySend(connection, *job)) {
      ++job;
      continue;
    }
    const bool sent = SendFrame(*connection, &*job);
    const bool over = !sent || job->item == job->items.size();
    const Job ended = over ? std::move(*job) : Job();
    if (over) job = jobs_.erase(job);
    if (sent) return;
    GiveUp(ended);
    if (failed_) return;
    job = jobs_.begin();
  }
}

// Where the next bytes of a job are; nothing when a get asks for what is there no more.
std::optional<Bulk> TcpPeer::NextBulk(const Job& job) const {
  const TransferItem& item = job.items[job.item];
  const uint64_t size = std::min(item.size - job.sent, kTcpFrameBytes);
  if (job.put) return Bulk{static_cast<char*>(item.local) + job.sent, size, job.lease};
  Exposed region{};
  const uint64_t offset = item.offset + job.sent;
  // Looked up again for every frame: the region may have been withdrawn meanwhile.
  if (regions_.Locate(item.region, offset, size, &region) != RangeStatus::kGood) return std::nullopt;
  return Bulk{static_cast<char*>(region.address) + offset, size, region.lease};
}

// False when the memory was taken away.
bool TcpPeer::SendFrame(Connection& connection, Job* job) {
  const std::optional<Bulk> bulk = NextBulk(*job);
  if (!bulk) return false;
  const TransferItem& item = job->items[job->item];
  Frame frame{job->put ? kPutData : kGetData, job->transfer, {}};
  if (job->put)
    frame.body = Writer().Number(item.region).Number(item.offset + job->sent).Number(job->total).Take();
  else
    frame.body = Writer().Number(job->first_item + job->item).Number(job->sent).Take();
  if (!connection.SendBulk(frame, *bulk)) return false;
  job->sent += bulk->size;
  job->queued += bulk->size;
  if (job->sent < item.size) return true;
  ++job->item;
  job->sent = 0;
  return true;
}

void TcpPeer::GiveUp(const Job& job) {
  if (!job.put) return SendControl(kGetFailed, job.transfer, Writer().Number(static_cast<uint32_t>(RangeStatus::kNoRegion)).Take());
  draining_.insert(job.transfer);
  SendControl(kPutGivenUp, job.transfer, Writer().Number(job.queued).Take());
  End(job.transfer, GivenUp());
}

// A get that fails may be in the middle of frames on several connections, and who hears of its end does as they like with the memory.
void TcpPeer::End(uint64_t number, const TransferEnd& end) {
  const auto node = transfers_.extract(number);
  if (!node) return;
  if (!node.mapped().put)
    for (const ConnectionRef& connection : Connections()) connection->ForgetBulk(kGetData, number);
  node.mapped().done(end);
}

void TcpPeer::EndAll(const TransferEnd& why) {
  jobs_.clear();
  draining_.clear();
  arrivals_.clear();
  control_.clear();
  first_.reset();
  others_.clear();
  silent_.clear();
  thread_.Cancel(std::exchange(stall_timer_, 0));
  for (auto& [number, transfer] : std::exchange(transfers_, {})) transfer.done(why);
}

// Over a link that broke nothing goes out any more. Else what is on its way, such as the answer to the peer's last put, still does.
void TcpPeer::Close(const TransferEnd& why) {
  regions_.Clear();  // the link's thread may still take what arrives before it comes to what is posted here
  const bool broke = why.code == HCCL_E_TCP_TRANSFER;
  thread_.Post([self = shared_from_this(), why, broke] { broke ? self->Fail(why) : self->Drain(why); });
}

void TcpPeer::Drain(const TransferEnd& why) {
  if (failed_) return;
  jobs_.clear();
  SendControl(kGoodbye, 0);
  failed_ = true;
  failure_ = why;
  for (const ConnectionRef& connection : Connections()) connection->Close();
  EndAll(why);
}

void TcpPeer::Fail(const TransferEnd& why) {
  if (failed_) return;
  failed_ = true;
  failure_ = why;
  for (const ConnectionRef& connection : Connections()) connection->Abort();
  EndAll(why);
}

uint64_t TcpPeer::Moved() const {
  uint64_t moved = 0;
  for (const ConnectionRef& connection : Connections()) moved += connection->moved();
  return moved;
}

// While transfers are pending it looks now and then whether anything moves.
void TcpPeer::WatchForStall() {
  if (stall_timer_ == 0) FailIfStalled();
}

void TcpPeer::FailIfStalled() {
  stall_timer_ = 0;
  if (transfers_.empty() || failed_) return;
  const uint64_t moved = Moved();
  if (moved != std::exchange(moved_, moved)) last_sign_of_life_ns_ = NowNs();
  if (NowNs() - last_sign_of_life_ns_ >= stall_limit_.count()) return Fail(Stalled(stall_limit_));
  stall_timer_ = thread_.At(Deadline::After(stall_limit_ / 4), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->FailIfStalled();
  });
}

}  // namespace ropeway::comm
