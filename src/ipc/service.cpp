#include "ipc/service.h"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>

#include "acl/error_codes/rt_error_codes.h"
#include "base/fork.h"
#include "ipc/number.h"

namespace ropeway::ipc {
namespace {

std::atomic<Service*> g_service{nullptr};

// An abstract name: it goes with its last descriptor.
socklen_t NameOf(uint64_t service, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  const int length =
      snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "ropeway-%016llx", static_cast<unsigned long long>(service));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

Descriptor NewSocket(int flags) {
  return Descriptor::Make([&] { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0); });
}

// The program's signals are not for a thread that is started meanwhile.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

Status NoRoom(const char* what) { return Fail(ACL_ERROR_RT_IPC_ERROR, "%s: %s", what, strerror(errno)); }

Status NoSuchKey() {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "key opens nothing: it was withdrawn, its exporter is gone, or it is not of this kind");
}

Status NoAnswer() { return Fail(ACL_ERROR_RT_IPC_ERROR, "the process that exported the key does not answer"); }

}  // namespace

Service* Service::GetIfStarted() {
  Service* service = g_service.load(std::memory_order_acquire);
  return service != nullptr && service->OfThisProcess() ? service : nullptr;
}

Result<Service*> Service::Get() {
  if (Service* service = GetIfStarted()) return service;
  const HeldAcrossFork lock(ForkLock::kStart);
  if (Service* service = GetIfStarted()) return service;
  std::unique_ptr<Service> made(new Service);
  RW_TRY(made->Start());
  g_service.store(made.get(), std::memory_order_release);  // the parent's, if there was one, is left alone
  return made.release();
}

Status Service::Start() {
  pid_ = getpid();
  RW_TRY(FillRandom(&name_, sizeof(name_)));
  poll_ = Descriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); });
  doors_ = Descriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); });
  if (!poll_ || !doors_) return NoRoom("no descriptor for talking to other processes");
  RW_TRY(OpenDoor(name_));
  epoll_event event{EPOLLIN, {.u64 = kDoors}};
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, doors_.get(), &event) != 0) return NoRoom("no socket can be watched");
  const SignalsHeldBack held_back;
  try {
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error& error) {
    errno = error.code().value();
    return NoRoom("no thread for talking to other processes");
  }
  return Ok();
}

Status Service::OpenDoor(uint64_t name) {
  auto door = std::make_shared<Descriptor>(NewSocket(SOCK_NONBLOCK));
  if (!*door) return NoRoom("no descriptor for talking to other processes");
  sockaddr_un address;
  const socklen_t size = NameOf(name, &address);
  if (bind(door->get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(door->get(), SOMAXCONN) != 0)
    return NoRoom("no socket for talking to other processes");
  std::lock_guard lock(mutex_);
  epoll_event event{EPOLLIN, {.u64 = name}};
  if (epoll_ctl(doors_.get(), EPOLL_CTL_ADD, door->get(), &event) != 0) return NoRoom("no socket can be watched");
  open_doors_[name] = std::move(door);
  return Ok();
}

bool Service::OfThisProcess() const { return pid_ == getpid(); }

Result<Key> Service::Publish(std::shared_ptr<Offer> offer) {
  Key key;
  key.service = name_;
  RW_TRY(FillRandom(&key.secret, sizeof(key.secret)));
  std::lock_guard lock(mutex_);
  offers_[key.secret[0]] = {key.secret, std::move(offer), 0};
  return key;
}

Result<uint64_t> Service::PublishNumber(std::shared_ptr<Offer> offer) {
  uint64_t number = 0;
  while (number == 0) {
    RW_TRY(FillRandom(&number, sizeof(number)));
    number >>= 1;  // programs keep it in an int64_t
  }
  const Key key = KeyOfNumber(number);
  RW_TRY(OpenDoor(key.service));
  std::lock_guard lock(mutex_);
  offers_[key.secret[0]] = {key.secret, std::move(offer), key.service};
  return number;
}

std::shared_ptr<Offer> Service::Find(const Key& key, uint32_t type) {
  std::lock_guard lock(mutex_);
  auto found = offers_.find(key.secret[0]);
  if (found == offers_.end() || !Same(found->second.secret, key.secret)) return nullptr;
  return found->second.offer->type() == type ? found->second.offer : nullptr;
}

void Service::Withdraw(const Key& key) {
  if (!OfThisProcess()) return;
  Published withdrawn;  // released without the lock: it may be the last reference
  std::lock_guard lock(mutex_);
  auto found = offers_.find(key.secret[0]);
  if (found == offers_.end() || !Same(found->second.secret, key.secret)) return;
  withdrawn = std::move(found->second);
  offers_.erase(found);
  open_doors_.erase(withdrawn.door);
}

size_t Service::connections() {
  std::lock_guard lock(mutex_);
  return connections_.size();
}

// connect() itself waits while the listener's backlog is full, for as long as a send may take.
Status Service::Dial(uint64_t service, Deadline deadline, Channel* channel, Peer* peer) {
  Descriptor dialled = NewSocket(0);
  if (!dialled) return NoRoom("no descriptor for talking to another process");
  const int64_t left_us = std::max<int64_t>((deadline.at_ns() - NowNs()) / 1000, 1);
  const timeval limit{deadline.never() ? 0 : left_us / 1000000, deadline.never() ? 0 : left_us % 1000000};
  setsockopt(dialled.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  sockaddr_un address;
  const socklen_t size = NameOf(service, &address);
  int failed;
  do {
    failed = connect(dialled.get(), reinterpret_cast<sockaddr*>(&address), size);
  } while (failed != 0 && errno == EINTR && !deadline.Passed());
  if (failed != 0) return errno == ECONNREFUSED ? NoSuchKey() : NoAnswer();
  *channel = Channel(std::move(dialled));
  // Whoever took over the name of a dead exporter is not to be told the secret, unless it is the same user.
  return channel->GetPeer(peer) && peer->uid == geteuid() ? Ok() : NoSuchKey();
}

Result<Joined> Service::Connect(const Key& key, uint32_t type, std::weak_ptr<Listener> listener, Deadline deadline) {
  if (OnOwnThread()) return Fail(ACL_ERROR_RT_IPC_ERROR, "nothing can be imported from inside a notification");
  Channel channel;
  Peer peer;
  RW_TRY(Dial(key.service, deadline, &channel, &peer));
  if (channel.Send({kHello, type, {kProtocol, key.secret[0], key.secret[1], key.secret[2]}}) != Channel::Outcome::kDone)
    return NoSuchKey();
  Joined joined;
  Channel::Outcome outcome;
  do {
    if (!channel.AwaitInput(deadline)) return NoAnswer();
    outcome = channel.Receive(&joined.welcome, &joined.fd);
  } while (outcome == Channel::Outcome::kLater);
  if (outcome == Channel::Outcome::kDone && joined.welcome.kind == kRefused && joined.welcome.value[0] == kNotListed)
    return Fail(ACL_ERROR_RT_NO_PERMISSION, "process %d is not on the exporter's list; the exporter sets it by SetImportPid",
                getpid());
  if (outcome != Channel::Outcome::kDone || joined.welcome.kind != kWelcome) return NoSuchKey();
  joined.connection = Adopt(std::move(channel), peer, std::move(listener));
  if (joined.connection == nullptr) return NoRoom("the connection to another process cannot be watched");
  return joined;
}

std::shared_ptr<Connection> Service::Adopt(Channel channel, Peer peer, std::weak_ptr<Listener> listener) {
  std::lock_guard lock(mutex_);
  auto connection = std::make_shared<Connection>(*this, ++last_id_, std::move(channel), peer);
  connection->listener_ = std::move(listener);
  epoll_event event{EPOLLIN, {.u64 = connection->id()}};
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, connection->channel_.fd(), &event) != 0) return nullptr;
  connections_[connection->id()] = connection;
  return connection;
}

void Service::WantsToSend(const Connection& connection, bool wants) {
  epoll_event event{wants ? EPOLLIN | EPOLLOUT : EPOLLIN, {.u64 = connection.id()}};
  epoll_ctl(poll_.get(), EPOLL_CTL_MOD, connection.channel_.fd(), &event);
}

void Service::Forget(const Connection& connection) {
  std::shared_ptr<Connection> last;  // released without the lock
  std::lock_guard lock(mutex_);
  auto found = connections_.find(connection.id());
  if (found == connections_.end()) return;
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.channel_.fd(), nullptr);
  last = std::move(found->second);
  connections_.erase(found);
}

std::shared_ptr<Connection> Service::Find(uint64_t id) {
  std::lock_guard lock(mutex_);
  auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second;
}

}  // namespace ropeway::ipc
