#include "hccl/transport/rank_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

constexpr size_t kHeaderBytes = 24;  // body u32, type u16, reserved u16, id u64, bulk u64
// What one connection may read or write before the others get their turn.
constexpr uint64_t kTurnBytes = 2 << 20;
constexpr size_t kReadBytes = 64 << 10;  // at most
constexpr size_t kReadBytesBehindBulk = 512;
constexpr uint64_t kWakeBytes = 128 << 10;
constexpr size_t kSpareBytes = 20 << 10;
constexpr std::chrono::seconds kLinger(5);
constexpr char kBadFrame[] = "the other end does not keep to the protocol";

// What goes in front of the bulk of a frame, behind what goes with it.
std::string Head(std::string before, const Frame& frame, std::string_view rest, uint64_t bulk) {
  const size_t body = frame.body.size() + rest.size();
  return Writer(std::move(before), kHeaderBytes + body)
      .Number(static_cast<uint32_t>(body))
      .Number(frame.type)
      .Number(uint16_t{0})
      .Number(frame.id)
      .Number(bulk)
      .Raw(frame.body)
      .Raw(rest)
      .Take();
}

// Copies the first `size` bytes of the parts; and the other way round.
void CopyParts(const iovec* parts, char* bytes, uint64_t size) {
  for (; size > 0; ++parts) {
    const size_t some = std::min<uint64_t>(parts->iov_len, size);
    std::memcpy(bytes, parts->iov_base, some);
    bytes += some;
    size -= some;
  }
}
void CopyIntoParts(std::string_view bytes, const iovec* parts) {
  for (; !bytes.empty(); ++parts) {
    const size_t some = std::min(parts->iov_len, bytes.size());
    std::memcpy(parts->iov_base, bytes.data(), some);
    bytes.remove_prefix(some);
  }
}

}  // namespace

void Bulk::Add(void* data, uint64_t bytes) {
  parts_.push_back({data, bytes});
  size_ += bytes;
}

size_t Bulk::Behind(uint64_t done, uint64_t limit, iovec* parts) const {
  size_t count = 0;
  for (const iovec& part : parts_) {
    if (done >= part.iov_len) {
      done -= part.iov_len;
      continue;
    }
    if (limit == 0) break;
    const uint64_t some = std::min(part.iov_len - done, limit);
    parts[count++] = {static_cast<char*>(part.iov_base) + std::exchange(done, 0), some};
    limit -= some;
  }
  return count;
}

Connection::Outgoing::~Outgoing() {
  if (bulk.lease) bulk.lease->Remove(this);
}

void Connection::Outgoing::Rescue() {
  iovec parts[Bulk::kMostParts];
  rest.resize(bulk.size() - bulk_done());
  bulk.Behind(bulk_done(), rest.size(), parts);
  CopyParts(parts, rest.data(), rest.size());
}

std::shared_ptr<Connection> Connection::Open(SecureSocket fd, Events events, IoThread& thread) {
  std::shared_ptr<Connection> connection = Make(std::move(fd), std::move(events), thread);
  connection->Start();
  return connection;
}

std::shared_ptr<Connection> Connection::Make(SecureSocket fd, Events events, IoThread& thread) {
  return std::shared_ptr<Connection>(new Connection(thread, std::move(fd), std::move(events)));
}

void Connection::Start() {
  if (Leave(&Connection::Start)) return;
  const std::weak_ptr<Connection> weak = weak_from_this();
  const auto ready = [weak](uint32_t events) {
    if (auto self = weak.lock()) self->Ready(events);
  };
  const auto look = [weak] {
    const auto self = weak.lock();
    return self && self->Look();
  };
  const bool watched = thread_.Watch(fd_.get(), EPOLLIN, ready, events_.by_visitors ? look : std::function<bool()>());
  // The owner does not know the connection yet, so a failure is told a moment later.
  if (!watched) {
    thread_.Post([self = shared_from_this()] { self->Break(false, "the kernel watches no more descriptors"); });
  }
  // What came with the end of the greeting.
  if (fd_.Holds()) ReadLater();
}

bool Connection::Leave(void (Connection::*what)()) {
  if (thread_.IsCurrent()) return false;
  thread_.Post([self = shared_from_this(), what] { (self.get()->*what)(); });
  return true;
}

void Connection::Wake() {
  if (!thread_.IsCurrent() && woken_.exchange(true)) return;
  if (Leave(&Connection::Wake)) return;
  woken_ = false;
  Flush();
}

void Connection::ReadLater() {
  thread_.Post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Ready(EPOLLIN);
  });
}

// How many bytes of the head are this frame's: what waited before it goes with it.
size_t Connection::Queue(const Frame& frame, std::string_view rest, Bulk bulk) {
  const bool joins = !outgoing_.empty() && outgoing_.back()->bulk.size() == 0 && outgoing_.back()->head.size() < kReadBytes && !flushing_;
  std::unique_ptr<Outgoing> last = joins ? std::move(outgoing_.back()) : spare_ ? std::move(spare_) : std::make_unique<Outgoing>();
  last->head = Head(std::move(last->head), frame, rest, bulk.size());
  last->bulk = std::move(bulk);
  if (joins) outgoing_.pop_back();
  outgoing_.push_back(std::move(last));
  return kHeaderBytes + frame.body.size() + rest.size();
}

// Heads of a KiB and more come from the slow half of the allocator, so one is kept.
void Connection::Spare(std::unique_ptr<Outgoing> gone) {
  if (gone->bulk.size() != 0 || gone->head.capacity() > kSpareBytes) return;
  gone->head.clear();
  gone->done = 0;
  spare_ = std::move(gone);
}

void Connection::Send(const Frame& frame, std::string_view rest, Leaves leaves) {
  if (!thread_.IsCurrent()) {
    Frame whole{frame.type, frame.id, frame.body + std::string(rest)};
    return thread_.Post([self = shared_from_this(), whole = std::move(whole), leaves] { self->Send(whole, {}, leaves); });
  }
  if (!fd_ || closing_) return;
  Queue(frame, rest, {});
  leaves == Leaves::kNow ? Flush() : FlushSoon();
}

void Connection::FlushSoon() {
  if (std::exchange(flushes_soon_, true)) return;
  thread_.Last([self = shared_from_this()] {
    self->flushes_soon_ = false;
    self->Flush();
  });
}

bool Connection::SendBulk(const Frame& frame, Bulk bulk) {
  const std::shared_ptr<Lease> lease = bulk.lease;
  const size_t own = Queue(frame, {}, std::move(bulk));
  if (lease->Add(outgoing_.back().get())) return true;
  const std::unique_ptr<Outgoing> refused = std::move(outgoing_.back());
  outgoing_.pop_back();
  if (refused->head.size() == own) return false;
  outgoing_.push_back(std::make_unique<Outgoing>());
  outgoing_.back()->head = refused->head.substr(0, refused->head.size() - own);
  outgoing_.back()->done = refused->done;
  return false;
}

bool Connection::SendWithBulk(const Frame& frame, Bulk bulk, std::function<void()> gone) {
  if (!fd_ || closing_ || !SendBulk(frame, std::move(bulk))) return false;
  outgoing_.back()->gone = std::move(gone);
  Flush();
  return true;
}

void Connection::Ready(uint32_t events) {
  const std::shared_ptr<Connection> self = shared_from_this();  // an event may let go of the last reference
  Serve(events);
}

void Connection::Serve(uint32_t events) {
  if ((events & EPOLLOUT) != 0) Flush();
  if (fd_ && (events & ~uint32_t{EPOLLOUT}) != 0) Receive();
}

bool Connection::Look() {
  const uint64_t before = moved_;
  if (thread_.IsCurrent() && fd_ && !closing_) Serve(EPOLLIN | (outgoing_.empty() ? 0u : uint32_t{EPOLLOUT}));
  return moved_ != before;
}

// What sendmsg says to the next part of a frame, whose bulk is where it was, or has been rescued.
long Connection::SendFrom(const Outgoing& out, bool rescued) {
  iovec parts[1 + Bulk::kMostParts];
  size_t count = 0;
  if (out.done < out.head.size()) parts[count++] = {const_cast<char*>(out.head.data()) + out.done, out.head.size() - out.done};
  const uint64_t left = out.bulk.size() - out.bulk_done();
  if (left > 0 && rescued)
    parts[count++] = {const_cast<char*>(out.rest.data()) + (out.rest.size() - left), left};
  else
    count += out.bulk.Behind(out.bulk_done(), kTurnBytes, parts + count);
  return fd_.Send(parts, count);
}

// How many bytes went, or the error as a negative number.
long Connection::SendSome(Outgoing& out) {
  long sent = 0;
  const auto send = [&](bool rescued) {
    sent = SendFrom(out, rescued);
    if (sent < 0) sent = -errno;
    if (sent > 0) out.done += static_cast<uint64_t>(sent);
  };
  const bool open = out.bulk.lease && out.bulk.lease->Use([&] { send(false); });
  if (!open) send(true);
  return sent;
}

// True when all of it is gone; false when the socket is full, broken or has had its turn.
bool Connection::FlushOne(Outgoing& out, uint64_t* turn) {
  while (*turn < kTurnBytes && out.done < out.size()) {
    const long sent = SendSome(out);
    if (sent == -EINTR) continue;
    if (sent == -EAGAIN) return false;
    if (sent < 0) {
      send_error_ = static_cast<int>(-sent);
      // Told a moment later: the caller of Send may be in the middle of something.
      thread_.Post([self = shared_from_this()] { self->Break(false, std::strerror(self->send_error_)); });
      return false;
    }
    *turn += static_cast<uint64_t>(sent);
    moved_ += static_cast<uint64_t>(sent);
  }
  return out.done == out.size();
}

void Connection::Flush() {
  if (std::exchange(flushing_, true)) return;  // whoever flushes finds what was queued
  const std::shared_ptr<Connection> self = shared_from_this();
  for (uint64_t turn = 0; fd_;) {
    if (outgoing_.empty() && events_.idle && !closing_) events_.idle();
    if (outgoing_.empty() || !FlushOne(*outgoing_.front(), &turn)) break;
    std::unique_ptr<Outgoing> sent = std::move(outgoing_.front());
    outgoing_.pop_front();
    const auto gone = std::exchange(sent->gone, nullptr);
    Spare(std::move(sent));
    if (gone) gone();
  }
  flushing_ = false;
  if (fd_ && closing_ && outgoing_.empty()) shutdown(fd_.get(), SHUT_WR);
  Watch();
}

void Connection::Watch() {
  if (!fd_ || wants_write_ == !outgoing_.empty()) return;
  wants_write_ = !outgoing_.empty();
  thread_.Change(fd_.get(), EPOLLIN | (wants_write_ ? uint32_t{EPOLLOUT} : 0u));
}

// A socket closed with bytes unread resets the connection, and the peer could lose our last words: read them until it
// closes, too.
void Connection::ReceiveNothing() {
  const long got = ReceiveIgnored(kReadBytes);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) Abort();
}

// Goes on while the socket gives all that it is asked for: else it was empty, and asking again would only tell that. (One that is encrypted
// gives a record at a time.)
void Connection::ReceiveTurn() {
  size_t wanted = 0;
  long got = 0;
  for (uint64_t turn = 0; fd_ && !closing_ && turn < kTurnBytes; turn += static_cast<uint64_t>(got)) {
    got = ReceiveSome(&wanted);
    // The kernel tells an error once: after a send that had it, a receive finds nothing but the end.
    if (got == 0 && send_error_ != 0) return Break(false, std::strerror(send_error_));
    if (got == 0) return Break(true, "the other end closed the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return Break(false, std::strerror(errno));
    if (got < 0) return;
    moved_ += static_cast<uint64_t>(got);
    if (!TakeFrames()) return Break(false, kBadFrame);
    if (thread_.left_to_thread()) return;
    if (static_cast<size_t>(got) < wanted && !fd_.encrypted()) return;
  }
  if (fd_.Holds()) ReadLater();
}

void Connection::Receive() {
  if (closing_) return ReceiveNothing();
  if (thread_.left_to_thread()) return;  // what a visitor has read and left comes before whatever is there now, such as the end
  ReceiveTurn();
  if (fd_ && !closing_ && !fd_.encrypted()) WakeWithEnough();
}

// In the middle of bulk bytes the kernel tells of a part of them that is worth a call, or of the rest; everywhere else of any byte. (An end
// is told in any case.)
void Connection::WakeWithEnough() {
  const int enough = bulk_coming_ ? static_cast<int>(std::min(bulk_size_ - bulk_done_, kWakeBytes)) : 1;
  if (enough == wakes_with_ || setsockopt(fd_.get(), SOL_SOCKET, SO_RCVLOWAT, &enough, sizeof enough) != 0) return;
  wakes_with_ = enough;
}

long Connection::ReceiveSome(size_t* wanted) { return bulk_coming_ ? ReceiveBulk(wanted) : ReceiveFrames(wanted); }

long Connection::ReceiveFrames(size_t* wanted) {
  *wanted = had_bulk_ ? kReadBytesBehindBulk : std::min(events_.read_bytes, kReadBytes);
  const long got = fd_.Receive(incoming_.Room(*wanted), *wanted);
  if (got > 0) incoming_.Came(static_cast<size_t>(got));
  return got;
}

long Connection::ReceiveBulk(size_t* wanted) {
  const uint64_t left = bulk_size_ - bulk_done_;
  long got = -1;
  *wanted = std::min(left, kTurnBytes);
  const bool open = bulk_.lease && bulk_.lease->Use([&] { got = ReceiveInto(wanted); });
  if (!open) {
    bulk_.lease.reset();
    *wanted = std::min(left, kReadBytes);
    got = ReceiveIgnored(*wanted);
  }
  if (got <= 0) return got;
  bulk_done_ += std::min(static_cast<uint64_t>(got), left);
  if (bulk_done_ == bulk_size_) EndBulk();
  return got;
}

// With the end of the bulk comes the head of the next frame, which saves a call.
long Connection::ReceiveInto(size_t* wanted) {
  const size_t size = *wanted;
  char behind[kReadBytesBehindBulk];
  iovec parts[Bulk::kMostParts + 1];
  size_t count = bulk_.Behind(bulk_done_, size, parts);
  if (bulk_done_ + size == bulk_size_) {
    parts[count++] = {behind, sizeof behind};
    *wanted += sizeof behind;
  }
  const long got = fd_.Receive(parts, count);
  if (got > static_cast<long>(size)) incoming_.Append(behind, static_cast<size_t>(got) - size);
  if (got > 0 && bulk_.came) bulk_.came(bulk_done_ + std::min(static_cast<uint64_t>(got), size));
  return got;
}

long Connection::ReceiveIgnored(size_t size) {
  char ignored[kReadBytes];
  return fd_.Receive(ignored, size);
}

void Connection::EndBulk() {
  bulk_coming_ = false;
  bool taken = bulk_.lease != nullptr;
  if (taken && bulk_.settle) taken = bulk_.lease->Use([&] { taken = bulk_.settle(); }) && taken;
  bulk_ = {};
  events_.bulk_ended(bulk_frame_, bulk_size_, taken);
}

bool Connection::BeginBulk(Frame frame, uint64_t size) {
  std::optional<Bulk> bulk = events_.bulk_begins ? events_.bulk_begins(frame, size) : std::nullopt;
  if (!bulk) return false;
  bulk_ = std::move(*bulk);
  bulk_size_ = size;
  bulk_frame_ = std::move(frame);
  bulk_coming_ = true;
  // Some of it may have come with the header.
  bulk_done_ = std::min<uint64_t>(incoming_.size(), size);
  const auto copy = [&] {
    iovec parts[Bulk::kMostParts];
    bulk_.Behind(0, bulk_done_, parts);
    CopyIntoParts(incoming_.bytes().substr(0, bulk_done_), parts);
    if (bulk_.came) bulk_.came(bulk_done_);
  };
  if (bulk_.lease && !bulk_.lease->Use(copy)) bulk_.lease.reset();
  incoming_.Drop(bulk_done_);
  if (bulk_done_ == size) EndBulk();
  return true;
}

// False on a frame that nobody who keeps to the protocol sends.
bool Connection::TakeFrames() {
  bool good = true;
  while (good && fd_ && !closing_ && !bulk_coming_ && !thread_.left_to_thread() && incoming_.size() >= kHeaderBytes) {
    Reader reader(incoming_.bytes());
    const auto body_size = reader.Number<uint32_t>();
    Frame frame;
    frame.type = reader.Number<uint16_t>();
    reader.Number<uint16_t>();
    frame.id = reader.Number<uint64_t>();
    const auto bulk = reader.Number<uint64_t>();
    if (body_size > kLargestBody) return false;
    if (reader.rest().size() < body_size) break;
    frame.body = reader.Raw(body_size);
    incoming_.Drop(kHeaderBytes + body_size);
    had_bulk_ = bulk > 0;
    if (bulk > 0) {
      good = BeginBulk(std::move(frame), bulk);
    } else {
      good = frame.type != 0;
      if (good) events_.received(std::move(frame));
    }
  }
  if (thread_.left_to_thread()) thread_.Post([self = shared_from_this()] { self->TakeRest(); });
  return good;
}

// What a visitor has read and left.
void Connection::TakeRest() {
  if (fd_ && !closing_ && !TakeFrames()) Break(false, kBadFrame);
}

// The owner may have much to do then, and not on any thread.
void Connection::Break(bool clean, const std::string& why) {
  if (!fd_ || closing_) return;
  if (thread_.IsVisited()) return thread_.LeaveToThread([self = shared_from_this(), clean, why] { self->Break(clean, why); });
  const auto closed = std::move(events_.closed);
  Abort();
  if (closed) closed(clean, why);
}

void Connection::Close() {
  if (Leave(&Connection::Close) || !fd_ || closing_) return;
  closing_ = true;
  lingering_ = shared_from_this();
  Flush();
  thread_.At(Deadline::After(kLinger), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Abort();
  });
}

void Connection::Abort() {
  if (Leave(&Connection::Abort) || !fd_) return;
  thread_.Forget(fd_.get());
  fd_ = {};
  closing_ = true;
  // Its functions may hold the owner, and one of them may be running: they go a moment later, and so does what may be in use.
  thread_.Post([self = shared_from_this()] {
    self->outgoing_.clear();
    self->events_ = {};
    self->lingering_.reset();
  });
}

void Connection::Reset() {
  if (Leave(&Connection::Reset) || !fd_) return;
  const linger at_once{1, 0};
  static_cast<void>(setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  Abort();
}

}  // namespace ropeway::comm
