// The service's thread: who is let in, and what is delivered to whom.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ipc/service.h"

#include "base/own_thread.h"

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
  for (;;) {
    epoll_event events[16];
    const int count = epoll_wait(poll_.get(), events, 16, DropSilentPeers());
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == kDoors) {
        Accept();
      } else {
        Handle(events[i].data.u64, events[i].events);
      }
    }
  }
}

void Service::Accept() {
  epoll_event ready[16];
  const int count = epoll_wait(doors_.get(), ready, 16, 0);
  for (int i = 0; i < count; ++i) AcceptAt(ready[i].data.u64);
}

void Service::AcceptAt(uint64_t name) {
  std::shared_ptr<Descriptor> door;  // held, so that its number stays its own
  {
    std::lock_guard lock(mutex_);
    if (auto found = open_doors_.find(name); found != open_doors_.end()) door = found->second;
  }
  for (int i = 0; door != nullptr && i < kBurst; ++i) {
    Descriptor accepted = Descriptor::Make([&] { return accept4(door->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
    if (!accepted) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) PauseAccepting(true);
      return;
    }
    Channel channel(std::move(accepted));
    Peer peer;
    if (!channel.GetPeer(&peer) || peer.uid != geteuid()) continue;
    if (auto connection = Adopt(std::move(channel), peer, {})) silent_[connection->id()] = NowNs();
    if (silent_.size() <= kMostSilent) continue;
    if (auto oldest = Find(silent_.begin()->first)) Forget(*oldest);
    silent_.erase(silent_.begin());
  }
}

// Without descriptors nobody can be accepted, and the waiting peers would wake this thread again and again.
void Service::PauseAccepting(bool pause) {
  paused_until_ns_ = pause ? NowNs() + kPauseNs : 0;
  epoll_event event{pause ? 0u : EPOLLIN, {.u64 = kDoors}};
  epoll_ctl(poll_.get(), EPOLL_CTL_MOD, doors_.get(), &event);
}

int Service::DropSilentPeers() {
  const int64_t now = NowNs();
  if (paused_until_ns_ != 0 && now >= paused_until_ns_) PauseAccepting(false);
  while (!silent_.empty() && now - silent_.begin()->second >= kSilenceNs) {
    if (auto connection = Find(silent_.begin()->first)) Forget(*connection);
    silent_.erase(silent_.begin());
  }
  int64_t next = silent_.empty() ? INT64_MAX : silent_.begin()->second + kSilenceNs;
  if (paused_until_ns_ != 0) next = std::min(next, paused_until_ns_);
  return next == INT64_MAX ? -1 : static_cast<int>((next - now) / 1000000 + 1);
}

void Service::Handle(uint64_t id, uint32_t events) {
  const std::shared_ptr<Connection> connection = Find(id);
  if (connection == nullptr) return;  // closed meanwhile
  if ((events & EPOLLOUT) != 0 && connection->Flush() && connection->closing()) return Forget(*connection);
  for (int i = 0; i < kBurst; ++i) {
    Message message;
    Descriptor fd;
    const Channel::Outcome outcome = connection->channel_.Receive(&message, &fd);
    if (outcome == Channel::Outcome::kLater) return;
    if (outcome == Channel::Outcome::kGone) return End(*connection, false);
    if (message.kind == kGoodbye) return End(*connection, true);
    if (!Deliver(*connection, message, std::move(fd))) return End(*connection, false);
  }
}

bool Service::Deliver(Connection& connection, const Message& message, Descriptor fd) {
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
