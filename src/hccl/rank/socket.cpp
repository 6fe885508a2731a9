#include "hccl/rank/socket.h"

#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ropeway::comm {
namespace {

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

// Seconds until a link that lost its other end without a word counts as cut; a value that is not sound is ignored.
int LinkTimeoutSeconds() {
  const char* text = std::getenv("ROPEWAY_HCCL_LINK_TIMEOUT");
  char* end = nullptr;
  const long value = text == nullptr ? 0 : std::strtol(text, &end, 10);
  return value >= 1 && value <= 3600 && *end == '\0' ? static_cast<int>(value) : 15;
}

// Small messages go at once, and the kernel asks an idle peer whether it still lives: that costs this process nothing.
void Prepare(int fd) {
  const int limit = LinkTimeoutSeconds();
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, limit / 3));
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, limit / 5));
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limit * 1000);
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Fd Listen(Address* address, std::string* why) {
  Fd fd(socket(address->family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.valid()) {
    Set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_storage storage;
    socklen_t size = address->Fill(&storage);
    if (bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) == 0 && listen(fd.get(), SOMAXCONN) == 0 &&
        getsockname(fd.get(), reinterpret_cast<sockaddr*>(&storage), &(size = sizeof storage)) == 0) {
      *address = Address::Of(storage);
      return fd;
    }
  }
  *why = "cannot listen on " + address->Text() + ": " + SystemError(errno);
  return Fd();
}

bool IsLocal(const Address& address) {
  Address any_port = address;
  any_port.port = 0;
  sockaddr_storage storage;
  const socklen_t size = any_port.Fill(&storage);
  const Fd fd(socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() && bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) == 0;
}

Fd BeginConnect(const Address& address) {
  Fd fd(socket(address.family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fd;
  Prepare(fd.get());
  sockaddr_storage storage;
  const socklen_t size = address.Fill(&storage);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) == 0 || errno == EINPROGRESS) return fd;
  return Fd();
}

int ConnectOutcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Fd Accept(int listener, Address* from) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  Fd fd(accept4(listener, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) return fd;
  Prepare(fd.get());
  *from = Address::Of(storage);
  from->port = 0;
  return fd;
}

size_t DescriptorLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

std::string SystemError(int error) {
  const std::string text = std::strerror(error);
  if (error != EMFILE) return text;
  return text + ": the process may have " + std::to_string(DescriptorLimit()) + " (ulimit -n)";
}

}  // namespace ropeway::comm
