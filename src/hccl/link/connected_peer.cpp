#include "hccl/link/connected_peer.h"

#include "base/settings.h"
#include "hccl/link/link_wire.h"
#include "hccl/transport/waiter_looks.h"

namespace ropeway::comm {
namespace {

// What ends in one moment is told by several: how long the one with the best reason has.
constexpr std::chrono::seconds kEndTogether(1);

// How long a peer with work pending may show no sign of life, as a queue pair would count it.
std::chrono::nanoseconds StallLimit() {
  const auto exponent = static_cast<int>(SettingNumber("HCCL_RDMA_TIMEOUT")),
             retries = static_cast<int>(SettingNumber("HCCL_RDMA_RETRY_CNT"));
  return std::chrono::nanoseconds(4096) * (1L << exponent) * (retries + 1);
}

// Those beside the link's.
IoThread& BulkThread(size_t number) {
  static_assert(kBulkConnections == 3);
  static IoThread* const threads[] = {new IoThread("rw-hccl-bulk0"), new IoThread("rw-hccl-bulk1"), new IoThread("rw-hccl-bulk2")};
  return *threads[number % kBulkConnections];
}

}  // namespace

IoThread& LinkThread() {
  static IoThread& thread = []() -> IoThread& {
    auto* const made = new IoThread("rw-hccl-link");
    LookAtDescriptorsOf(*made);
    return *made;
  }();
  return thread;
}

ConnectedPeer::ConnectedPeer(IoThread& thread) : thread_(thread), stall_limit_(StallLimit()) {}

ConnectedPeer::~ConnectedPeer() {
  thread_.Post([connections = Connections(), timer = stall_timer_, &thread = thread_] {
    thread.Cancel(timer);
    for (const ConnectionRef& connection : connections) connection->Abort();
  });
}

void ConnectedPeer::OnLink(std::function<void()> function) { thread_.IsCurrent() ? function() : thread_.Post(std::move(function)); }

void ConnectedPeer::BrieflyOnLink(std::function<void()> function) { thread_.IsCurrent() ? function() : thread_.Run(std::move(function)); }

std::vector<ConnectedPeer::ConnectionRef> ConnectedPeer::Connections() const {
  std::vector<ConnectionRef> all(others_);
  all.insert(all.end(), silent_.begin(), silent_.end());
  if (first_) all.push_back(first_);
  return all;
}

void ConnectedPeer::Meet(const std::string& introduction, std::function<void()> call) {
  thread_.Post([self = shared_from_this(), introduction, call = std::move(call)]() mutable {
    if (self->failed_) return;
    self->call_ = std::move(call);
    self->CallMore();
    self->Met(introduction);
  });
}

void ConnectedPeer::Enter(SecureSocket fd) {
  auto held = std::make_shared<SecureSocket>(std::move(fd));
  thread_.Post([self = shared_from_this(), held] { self->Entered(std::move(*held)); });
}

// Whoever made it says first which one it is.
void ConnectedPeer::Entered(SecureSocket fd) {
  if (failed_) return;
  // The first one is the link's own, as a rule: it is not known yet which one it is where somebody called in vain before.
  const bool own = !first_ && silent_.empty();
  const ConnectionRef connection = Open(std::move(fd), own ? thread_ : BulkThread(beside_++));
  if (!call_) {
    silent_.push_back(connection);
    return DropOldSilentOnes();
  }
  const bool first = !first_;
  connection->Send({kOpening, 0, Writer().Number(uint8_t{first}).Take()});
  Use(connection, first);
}

// A peer that called in vain calls again: what counts are its last calls. All that it may have can be silent for a moment.
void ConnectedPeer::DropOldSilentOnes() {
  if (silent_.size() <= 1 + kBulkConnections) return;
  silent_.front()->Abort();
  silent_.erase(silent_.begin());
}

ConnectedPeer::ConnectionRef ConnectedPeer::Open(SecureSocket fd, IoThread& thread) {
  Connection::Events events;
  const auto made = std::make_shared<std::weak_ptr<Connection>>();
  const std::weak_ptr<ConnectedPeer> weak = weak_from_this();
  events.received = [weak, made](const Frame& frame) {
    if (const auto self = weak.lock()) self->OnLink([self, connection = made->lock(), frame] { self->Heard(connection, frame); });
  };
  events.bulk_begins = [weak](const Frame& frame, uint64_t size) {
    const auto self = weak.lock();
    return self && !self->failed_ ? self->BulkBegins(frame, size) : std::nullopt;
  };
  events.bulk_ended = [weak](const Frame& frame, uint64_t size, bool taken) {
    if (const auto self = weak.lock(); self && !self->failed_) self->BulkEnded(frame, size, taken);
  };
  events.idle = [weak, made] {
    if (const auto self = weak.lock(); self && !self->failed_) self->SendNext(made->lock());
  };
  events.closed = [weak, made](bool clean, const std::string& why) {
    if (const auto self = weak.lock())
      self->OnLink([self, connection = made->lock(), clean, why] { self->ConnectionEnded(connection, clean, why); });
  };
  events.read_bytes = 8 << 10;
  events.by_visitors = &thread == &thread_ && ServesVisitors();
  ConnectionRef connection = Connection::Make(std::move(fd), std::move(events), thread);
  *made = connection;
  connection->Start();
  return connection;
}

void ConnectedPeer::Use(const ConnectionRef& connection, bool first) {
  {
    LockGuard lock(mutex_);
    if (first)
      first_ = connection;
    else
      others_.push_back(connection);
  }
  if (first) {
    for (const Frame& frame : std::exchange(control_, {})) first_->Send(frame);
    CallMore();
  }
  Pump();
}

void ConnectedPeer::Heard(const ConnectionRef& connection, const Frame& frame) {
  if (failed_) return;
  switch (frame.type) {
    case kOpening: return Opened(connection, frame);
    case kGoodbye: return Fail(peer_left_ ? failure_ : TransferEnd{HCCL_E_REMOTE, "the peer closed the link"});
    case kMoreWanted: wants_more_ = true; return CallMore();
    default: return Received(frame);
  }
}

void ConnectedPeer::Opened(const ConnectionRef& connection, const Frame& frame) {
  Reader reader(frame.body);
  const bool first = reader.Number<uint8_t>() != 0;
  const bool too_many = first ? first_ != nullptr : others_.size() == kBulkConnections;
  if (std::erase(silent_, connection) == 0 || !reader.AtEnd() || too_many) return BreakProtocol();
  Use(connection, first);
}

void ConnectedPeer::ConnectionEnded(const ConnectionRef& connection, bool clean, const std::string& why) {
  const bool unused = std::erase(silent_, connection) != 0;
  if (failed_ || unused) return;
  const TransferEnd end = peer_left_ ? failure_ : TransferEnd{LossOf(clean), "the link to the peer broke: " + why};
  if (connection == first_ || !clean) return Fail(end);
  // The last answers come over the first one.
  {
    LockGuard lock(mutex_);
    std::erase(others_, connection);
  }
  FailSoon(end);
}

void ConnectedPeer::FailSoon(const TransferEnd& why) {
  thread_.At(Deadline::After(kEndTogether), [weak = weak_from_this(), why] {
    if (const auto self = weak.lock()) self->Fail(why);
  });
}

void ConnectedPeer::WantMoreConnections() {
  if (std::exchange(wants_more_, true)) return;
  SendControl(kMoreWanted, 0);
  CallMore();
}

// Once, behind the first one.
void ConnectedPeer::CallMore() {
  if (failed_ || !first_ || !wants_more_ || !call_ || std::exchange(called_more_, true)) return;
  for (size_t i = 0; i < kBulkConnections; ++i) call_();
}

void ConnectedPeer::SendControl(uint16_t type, uint64_t id, std::string body) {
  Frame frame{type, id, std::move(body)};
  if (failed_) return;
  if (first_)
    first_->Send(frame);
  else
    control_.push_back(std::move(frame));
}

// Over a link that broke nothing goes out any more. Else what is on its way, such as the answer to the peer's last put, still does.
void ConnectedPeer::Close(const TransferEnd& why) {
  const bool broke = why.code == HCCL_E_TCP_TRANSFER;
  thread_.Post([self = shared_from_this(), why, broke] { self->Stop(why, broke); });
  regions_.Clear();  // the link's thread may still take what arrives before it comes to what is posted here
}

// The good-bye comes behind the last answer; without one, the end of the connection does.
void ConnectedPeer::PeerLeft(const TransferEnd& why) {
  thread_.Post([self = shared_from_this(), this, why] {
    if (failed_) return;
    if (!first_ || !Pending()) return Stop(why, false);
    peer_left_ = true;
    failure_ = why;
  });
}

void ConnectedPeer::Stop(const TransferEnd& why, bool broke) {
  if (failed_.exchange(true)) return;
  failure_ = why;
  if (first_ && !broke) first_->Send({kGoodbye, 0, ""});
  for (const ConnectionRef& connection : Connections()) broke ? connection->Abort() : connection->Close();
  control_.clear();
  silent_.clear();
  {
    LockGuard lock(mutex_);
    first_.reset();
    others_.clear();
  }
  thread_.Cancel(std::exchange(stall_timer_, {}));
  EndAll(why);
}

uint64_t ConnectedPeer::Moved() const {
  uint64_t moved = 0;
  for (const ConnectionRef& connection : Connections()) moved += connection->moved();
  return moved;
}

void ConnectedPeer::WatchForStall() {
  if (stall_timer_) return;
  last_sign_of_life_ns_ = NowNs();
  FailIfStalled();
}

void ConnectedPeer::FailIfStalled() {
  stall_timer_ = {};
  if (!Pending() || failed_) return;
  const uint64_t moved = Moved();
  if (moved != std::exchange(moved_, moved)) last_sign_of_life_ns_ = NowNs();
  if (NowNs() - last_sign_of_life_ns_ >= stall_limit_.count())
    return Fail({HCCL_E_ROCE_TRANSFER, "no sign of life from the peer for " + std::to_string(stall_limit_.count() / 1'000'000) +
                                           " ms with work pending (HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT set this limit)"});
  stall_timer_ = thread_.At(Deadline::After(stall_limit_ / 4), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->FailIfStalled();
  });
}

}  // namespace ropeway::comm
