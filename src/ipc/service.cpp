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
#include "base/random.h"
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

FileDescriptor NewSocket(int flags) {
  return FileDescriptor::Make([&] { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0); });
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
  const LockGuard lock(fork_lock::start);
  if (Service* service = GetIfStarted()) return service;
  std::unique_ptr<Service> made(new Service);
  RW_TRY(made->Start());
  g_service.store(made.get(), std::memory_order_release);  // the parent's, if there was one, is left alone
  return made.release();
}

Status Service::Start() {
  pid_ = getpid();
  FillRandom(&name_, sizeof(name_));
  doors_ = FileDescriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); });
  if (!doors_) return NoRoom("no descriptor for talking to other processes");
  RW_TRY(OpenDoor(name_));
  const SignalsHeldBack held_back;
  try {
    loop_.emplace();
    if (!loop_->Watch(doors_.get(), EPOLLIN, kDoors)) return NoRoom("no socket can be watched");
    std::thread([this] { Run(); }).detach();
  } catch (const std::system_error& error) {
    errno = error.code().value();
    return NoRoom("no descriptor or no thread for talking to other processes");
  }
  return Ok();
}

Status Service::OpenDoor(uint64_t name) {
  auto door = std::make_shared<FileDescriptor>(NewSocket(SOCK_NONBLOCK));
  if (!*door) return NoRoom("no descriptor for talking to other processes");
  sockaddr_un address;
  const socklen_t size = NameOf(name, &address);
  if (bind(door->get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(door->get(), SOMAXCONN) != 0)
    return NoRoom("no socket for talking to other processes");
  LockGuard lock(mutex_);
  epoll_event event{EPOLLIN, {.u64 = name}};
  if (epoll_ctl(doors_.get(), EPOLL_CTL_ADD, door->get(), &event) != 0) return NoRoom("no socket can be watched");
  open_doors_[name] = std::move(door);
  return Ok();
}

bool Service::OfThisProcess() const { return pid_ == getpid(); }

Result<Key> Service::Publish(std::shared_ptr<Offer> offer) {
  Key key;
  key.service = name_;
  FillRandom(&key.secret, sizeof(key.secret));
  LockGuard lock(mutex_);
  offers_[key.secret[0]] = {key.secret, std::move(offer), 0};
  return key;
}

Result<uint64_t> Service::PublishNumber(std::shared_ptr<Offer> offer) {
  uint64_t number = 0;
  while (number == 0) {
    FillRandom(&number, sizeof(number));
    number >>= 1;  // programs keep it in an int64_t
  }
  const Key key = KeyOfNumber(number);
  {
    LockGuard lock(mutex_);
    offers_[key.secret[0]] = {key.secret, std::move(offer), key.service};
  }
  try {
    Status status = OpenDoor(key.service);
    if (!status.ok()) Withdraw(key);
    RW_TRY(std::move(status));
  } catch (...) {
    Withdraw(key);
    throw;
  }
  return number;
}

std::shared_ptr<Offer> Service::Find(const Key& key, uint32_t type) {
  LockGuard lock(mutex_);
  auto found = offers_.find(key.secret[0]);
  if (found == offers_.end() || !Same(found->second.secret, key.secret)) return nullptr;
  return found->second.offer->type() == type ? found->second.offer : nullptr;
}

void Service::Withdraw(const Key& key) {
  if (!OfThisProcess()) return;
  Published withdrawn;  // released without the lock: it may be the last reference
  LockGuard lock(mutex_);
  auto found = offers_.find(key.secret[0]);
  if (found == offers_.end() || !Same(found->second.secret, key.secret)) return;
  withdrawn = std::move(found->second);
  offers_.erase(found);
  open_doors_.erase(withdrawn.door);
}

size_t Service::connections() {
  LockGuard lock(mutex_);
  return connections_.size();
}

// connect() itself waits while the listener's backlog is full, for as long as a send may take.
Status Service::Dial(uint64_t service, Deadline deadline, Channel* channel, Peer* peer) {
  FileDescriptor dialled = NewSocket(0);
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
  // All that can fail here for want of memory comes before the other side hears of this.
  Joined joined;
  joined.connection = Adopt(std::move(channel), peer, std::move(listener));
  Status status = Join(key, type, deadline, &joined);
  if (status.ok()) return joined;
  Forget(*joined.connection);
  return status;
}

Status Service::Join(const Key& key, uint32_t type, Deadline deadline, Joined* joined) {
  Channel& channel = joined->connection->channel_;
  if (channel.Send({kHello, type, {kProtocol, key.secret[0], key.secret[1], key.secret[2]}}) != Channel::Outcome::kDone) return NoSuchKey();
  Channel::Outcome outcome;
  do {
    if (!channel.AwaitInput(deadline)) return NoAnswer();
    outcome = channel.Receive(&joined->welcome, &joined->fd);
  } while (outcome == Channel::Outcome::kLater);
  if (outcome == Channel::Outcome::kDone && joined->welcome.kind == kRefused && joined->welcome.value[0] == kNotListed)
    return Fail(ACL_ERROR_RT_NO_PERMISSION, "process %d is not on the exporter's list; the exporter sets it by SetImportPid", getpid());
  if (outcome != Channel::Outcome::kDone || joined->welcome.kind != kWelcome) return NoSuchKey();
  return Listen(*joined->connection) ? Ok() : NoRoom("the connection to another process cannot be watched");
}

std::shared_ptr<Connection> Service::Adopt(Channel channel, Peer peer, std::weak_ptr<Listener> listener) {
  LockGuard lock(mutex_);
  auto connection = std::make_shared<Connection>(*this, ++last_id_, std::move(channel), peer);
  connection->listener_ = std::move(listener);
  connections_[connection->id()] = connection;
  return connection;
}

bool Service::Listen(const Connection& connection) { return loop_->Watch(connection.channel_.fd(), EPOLLIN, connection.id()); }

void Service::WantsToSend(const Connection& connection, bool wants) {
  loop_->Change(connection.channel_.fd(), wants ? EPOLLIN | EPOLLOUT : EPOLLIN, connection.id());
}

void Service::Forget(const Connection& connection) {
  std::shared_ptr<Connection> last;  // released without the lock
  LockGuard lock(mutex_);
  auto found = connections_.find(connection.id());
  if (found == connections_.end()) return;
  loop_->Forget(connection.channel_.fd());
  last = std::move(found->second);
  connections_.erase(found);
}

std::shared_ptr<Connection> Service::Find(uint64_t id) {
  LockGuard lock(mutex_);
  auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second;
}

}  // namespace ropeway::ipc
