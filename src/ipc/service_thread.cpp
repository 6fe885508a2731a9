// The service's thread: who is let in, and what is delivered to whom.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "ipc/service.h"

namespace ropeway::ipc {
namespace {

constexpr size_t kMostSilent = 64;
constexpr int64_t kSilenceNs = 2000000000;
constexpr int64_t kPauseNs = 100000000;  // when the process has no descriptor left
constexpr int kBurst = 32;               // messages of one connection before others get their turn

thread_local const Service* t_service = nullptr;

}  // namespace

bool Service::OnOwnThread() const { return t_service == this; }

void Service::Run() {
  const OwnThread self("rw-ipc");
  t_service = this;
  const auto ready = [this](uint64_t id, uint32_t events) { id == kDoors ? Accept() : Handle(id, events); };
  for (;;) loop_->Turn(ready, DropSilentPeers());
}

void Service::Accept() {
  epoll_event ready[16];
  const int count = epoll_wait(doors_.get(), ready, 16, 0);
  for (int i = 0; i < count; ++i) AcceptAt(ready[i].data.u64);
}

void Service::AcceptAt(uint64_t name) {
  std::shared_ptr<FileDescriptor> door;  // held, so that its number stays its own
  {
    LockGuard lock(mutex_);
    if (auto found = open_doors_.find(name); found != open_doors_.end()) door = found->second;
  }
  for (int i = 0; door != nullptr && i < kBurst; ++i) try {
      FileDescriptor accepted = FileDescriptor::Make([&] { return accept4(door->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
      if (!accepted) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) PauseAccepting(true);
        return;
      }
      Channel channel(std::move(accepted));
      Peer peer;
      if (channel.GetPeer(&peer) && peer.uid == geteuid()) Welcome(std::move(channel), peer);
    } catch (const std::bad_alloc&) {
      // Whoever was at the door finds it shut.
    }
}

void Service::Welcome(Channel channel, Peer peer) {
  std::map<uint64_t, int64_t> one;
  one.emplace(0, NowNs());
  auto silent = one.extract(one.begin());
  const auto connection = Adopt(std::move(channel), peer, {});
  if (!Listen(*connection)) return Forget(*connection);
  silent.key() = connection->id();
  silent_.insert(std::move(silent));
  if (silent_.size() <= kMostSilent) return;
  if (auto oldest = Find(silent_.begin()->first)) Forget(*oldest);
  silent_.erase(silent_.begin());
}

// Without descriptors nobody can be accepted, and the waiting peers would wake this thread again and again.
void Service::PauseAccepting(bool pause) {
  paused_until_ns_ = pause ? NowNs() + kPauseNs : 0;
  loop_->Change(doors_.get(), pause ? 0u : EPOLLIN, kDoors);
}

Deadline Service::DropSilentPeers() {
  const int64_t now = NowNs();
  if (paused_until_ns_ != 0 && now >= paused_until_ns_) PauseAccepting(false);
  while (!silent_.empty() && now - silent_.begin()->second >= kSilenceNs) {
    if (auto connection = Find(silent_.begin()->first)) Forget(*connection);
    silent_.erase(silent_.begin());
  }
  int64_t next = silent_.empty() ? INT64_MAX : silent_.begin()->second + kSilenceNs;
  if (paused_until_ns_ != 0) next = std::min(next, paused_until_ns_);
  return next == INT64_MAX ? Deadline::Never() : Deadline::AfterNs(next - now);
}

void Service::Handle(uint64_t id, uint32_t events) {
  const std::shared_ptr<Connection> connection = Find(id);
  if (connection == nullptr) return;  // closed meanwhile
  try {
    HandleMessages(*connection, events);
  } catch (const std::bad_alloc&) {
    End(*connection, true);  // nothing wrong with the other side, but it cannot be served
  }
}

void Service::HandleMessages(Connection& connection, uint32_t events) {
  if ((events & EPOLLOUT) != 0 && connection.Flush() && connection.closing()) return Forget(connection);
  for (int i = 0; i < kBurst; ++i) {
    Message message;
    FileDescriptor fd;
    const Channel::Outcome outcome = connection.channel_.Receive(&message, &fd);
    if (outcome == Channel::Outcome::kLater) return;
    if (outcome == Channel::Outcome::kGone) return End(connection, false);
    if (message.kind == kGoodbye) return End(connection, true);
    if (!Deliver(connection, message, std::move(fd))) return End(connection, false);
  }
}

bool Service::Deliver(Connection& connection, const Message& message, FileDescriptor fd) {
  if (silent_.contains(connection.id())) return Greet(connection, message);
  if (connection.TakeReply(message)) return true;
  if (message.kind < kFirstFreeKind && message.kind != kReply && message.kind != kReceipt) return false;
  const std::shared_ptr<Listener> listener = connection.listener();
  if (listener != nullptr && !connection.closing()) listener->OnMessage(connection, message, std::move(fd));
  return true;
}

bool Service::Greet(Connection& connection, const Message& hello) {
  if (hello.kind != kHello || hello.value[0] != kProtocol) return false;
  const std::shared_ptr<Offer> offer = Find({0, {hello.value[1], hello.value[2], hello.value[3]}}, hello.ticket);
  if (offer == nullptr || !offer->Admits(connection.peer().pid)) {
    connection.Post({kRefused, 0, {offer == nullptr ? kUnknown : kNotListed}});
    return false;
  }
  silent_.erase(connection.id());
  connection.offer_ = offer;
  Message welcome{kWelcome, 0, {}};
  int fd = -1;
  offer->OnJoined(connection, &welcome, &fd);
  return connection.Post(welcome, fd);
}

void Service::End(Connection& connection, bool said_goodbye) {
  silent_.erase(connection.id());
  const std::shared_ptr<Listener> listener = connection.listener();
  const bool closing = connection.closing();
  connection.End();
  Forget(connection);
  if (listener != nullptr && !closing) listener->OnGone(connection, said_goodbye);
}

}  // namespace ropeway::ipc
