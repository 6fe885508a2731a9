#include "hccl/transport/rank_connection.h"

#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "hccl/transport/io_thread.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

constexpr size_t kHeaderBytes = 24;  // body u32, type u16, reserved u16, id u64, bulk u64
constexpr uint16_t kBulkType = 0;
// What one connection may read or write before the others get their turn.
constexpr uint64_t kTurnBytes = 1 << 20;
constexpr std::chrono::seconds kLinger(5);

std::string Head(uint16_t type, uint64_t id, std::string_view body, uint64_t bulk) {
  return Writer().Number(static_cast<uint32_t>(body.size())).Number(type).Number(uint16_t{0}).Number(id).Number(bulk).Raw(body).Take();
}

}  // namespace

std::shared_ptr<Connection> Connection::Open(FileDescriptor fd, Events events) {
  std::shared_ptr<Connection> connection(new Connection(std::move(fd), std::move(events)));
  const std::weak_ptr<Connection> weak = connection;
  const bool watched = IoThread::Get().Watch(connection->fd_.get(), EPOLLIN, [weak](uint32_t ready) {
    if (auto self = weak.lock()) self->Ready(ready);
  });
  // The owner does not know the connection yet, so a failure is told a moment later.
  if (!watched) {
    IoThread::Get().Post([connection] { connection->Break(false, "the kernel watches no more descriptors"); });
  }
  return connection;
}

void Connection::Send(const Frame& frame) {
  if (!fd_ || closing_) return;
  outgoing_.push_back({Head(frame.type, frame.id, frame.body, 0), nullptr, 0, 0});
  Flush();
}

void Connection::SendBulk(uint64_t id, std::shared_ptr<Window> window, uint64_t size) {
  if (!fd_ || closing_) return;
  outgoing_.push_back({Head(kBulkType, id, "", size), std::move(window), size, 0});
  Flush();
}

void Connection::Ready(uint32_t events) {
  const std::shared_ptr<Connection> self = shared_from_this();  // an event may let go of the last reference
  if ((events & EPOLLOUT) != 0) Flush();
  if (fd_ && (events & ~uint32_t{EPOLLOUT}) != 0) Receive();
}

// What sendmsg says to the next part of a frame.
long Connection::SendSome(const Outgoing& out, char* bulk) {
  iovec parts[2];
  size_t count = 0;
  const uint64_t head = out.head.size();
  if (out.done < head) parts[count++] = {const_cast<char*>(out.head.data()) + out.done, head - out.done};
  const uint64_t bulk_done = out.done > head ? out.done - head : 0;
  if (bulk_done < out.bulk_size) parts[count++] = {bulk + bulk_done, std::min(out.bulk_size - bulk_done, kTurnBytes)};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  return sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
}

// True when all of it is gone; false when the socket is full, broken or has had its turn.
bool Connection::FlushOne(Outgoing& out) {
  for (uint64_t turn = 0; turn < kTurnBytes && out.done < out.head.size() + out.bulk_size;) {
    ssize_t sent = -1;
    if (!out.window) {
      sent = SendSome(out, nullptr);
    } else if (!out.window->Use([&](char* bulk) { sent = SendSome(out, bulk); })) {
      errno = ECANCELED;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent < 0) {
      // Told a moment later: the caller of Send may be in the middle of something.
      IoThread::Get().Post([self = shared_from_this(), error = errno] { self->Break(false, std::strerror(error)); });
      return false;
    }
    out.done += static_cast<uint64_t>(sent);
    turn += static_cast<uint64_t>(sent);
  }
  return out.done == out.head.size() + out.bulk_size;
}

void Connection::Flush() {
  while (fd_ && !outgoing_.empty() && FlushOne(outgoing_.front())) outgoing_.pop_front();
  if (fd_ && closing_ && outgoing_.empty()) shutdown(fd_.get(), SHUT_WR);
  Watch();
}

void Connection::Watch() {
  if (!fd_ || wants_write_ == !outgoing_.empty()) return;
  wants_write_ = !outgoing_.empty();
  IoThread::Get().Change(fd_.get(), EPOLLIN | (wants_write_ ? uint32_t{EPOLLOUT} : 0u));
}

// A socket closed with bytes unread resets the connection, and the peer could lose our last words: read them until it
// closes, too.
void Connection::ReceiveNothing() {
  char ignored[4096];
  const ssize_t got = recv(fd_.get(), ignored, sizeof ignored, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) Abort();
}

void Connection::Receive() {
  if (closing_) return ReceiveNothing();
  char buffer[64 << 10];
  ssize_t got;
  if (bulk_left_ > 0) {
    got = ReceiveBulk();
  } else {
    got = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (got > 0) incoming_.append(buffer, static_cast<size_t>(got));
  }
  if (got == 0) return Break(true, "the other end closed the connection");
  if (got < 0 && errno != EAGAIN && errno != EINTR) return Break(false, std::strerror(errno));
  if (got > 0 && !TakeFrames()) Break(false, "the other end does not keep to the protocol");
}

long Connection::ReceiveBulk() {
  ssize_t got = -1;
  errno = ECANCELED;
  bulk_->Use([&](char* bulk) { got = recv(fd_.get(), bulk + bulk_done_, std::min(bulk_left_, kTurnBytes), 0); });
  if (got <= 0) return got;
  bulk_done_ += static_cast<uint64_t>(got);
  bulk_left_ -= static_cast<uint64_t>(got);
  if (bulk_left_ == 0) EndBulk();
  return got;
}

void Connection::EndBulk() {
  bulk_.reset();
  events_.bulk_ended(bulk_id_);
}

bool Connection::BeginBulk(uint64_t id, uint64_t size) {
  bulk_ = events_.bulk_begins ? events_.bulk_begins(id, size) : nullptr;
  // Some of it may have come with the header.
  const uint64_t here = std::min<uint64_t>(incoming_.size(), size);
  if (!bulk_ || !bulk_->Use([&](char* bulk) { std::memcpy(bulk, incoming_.data(), here); })) return false;
  incoming_.erase(0, here);
  bulk_id_ = id;
  bulk_done_ = here;
  bulk_left_ = size - here;
  if (bulk_left_ == 0) EndBulk();
  return true;
}

// False on a frame that nobody who keeps to the protocol sends.
bool Connection::TakeFrames() {
  size_t at = 0;
  bool good = true;
  while (good && fd_ && !closing_ && bulk_left_ == 0 && incoming_.size() - at >= kHeaderBytes) {
    Reader reader(std::string_view(incoming_).substr(at, kHeaderBytes));
    const auto body_size = reader.Number<uint32_t>();
    Frame frame;
    frame.type = reader.Number<uint16_t>();
    reader.Number<uint16_t>();
    frame.id = reader.Number<uint64_t>();
    const auto bulk = reader.Number<uint64_t>();
    if (body_size > kLargestBody) return false;
    if (incoming_.size() - at - kHeaderBytes < body_size) break;
    frame.body = incoming_.substr(at + kHeaderBytes, body_size);
    at += kHeaderBytes + body_size;
    if (bulk > 0) {
      incoming_.erase(0, std::exchange(at, 0));
      good = frame.type == kBulkType && BeginBulk(frame.id, bulk);
    } else {
      good = frame.type != kBulkType;
      if (good) events_.received(std::move(frame));
    }
  }
  incoming_.erase(0, at);
  return good;
}

void Connection::Break(bool clean, const std::string& why) {
  if (!fd_ || closing_) return;
  const auto closed = std::move(events_.closed);
  Abort();
  if (closed) closed(clean, why);
}

void Connection::Close() {
  if (!fd_ || closing_) return;
  closing_ = true;
  lingering_ = shared_from_this();
  Flush();
  IoThread::Get().At(Deadline::After(kLinger), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Abort();
  });
}

void Connection::Abort() {
  if (!fd_) return;
  IoThread::Get().Forget(fd_.get());
  fd_ = FileDescriptor();
  outgoing_.clear();
  closing_ = true;
  // Its functions may hold the owner, and one of them may be running: they go a moment later.
  IoThread::Get().Post([self = shared_from_this()] {
    self->events_ = {};
    self->lingering_.reset();
  });
}

}  // namespace ropeway::comm
