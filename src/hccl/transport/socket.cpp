#include "hccl/transport/socket.h"

#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/settings.h"

namespace ropeway::comm {
namespace {

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

// Small messages go at once, and the kernel asks an idle peer whether it still lives: that costs this process nothing.
void Prepare(int fd) {
  const int limit = static_cast<int>(SettingNumber("ROPEWAY_HCCL_LINK_TIMEOUT"));  // seconds until a link that fell silent counts as cut
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, limit / 3));
  Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, limit / 5));
  Set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limit * 1000);
}

FileDescriptor NewSocket(const Address& address) {
  const int family = address.family == 6 ? AF_INET6 : AF_INET;
  return FileDescriptor::Make([&] { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); });
}

}  // namespace

FileDescriptor Listen(Address* address, std::string* why) {
  FileDescriptor fd = NewSocket(*address);
  if (fd) {
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
  return FileDescriptor();
}

bool IsLocal(const Address& address) {
  Address any_port = address;
  any_port.port = 0;
  sockaddr_storage storage;
  const socklen_t size = any_port.Fill(&storage);
  const FileDescriptor fd = NewSocket(address);
  return fd && bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) == 0;
}

FileDescriptor BeginConnect(const Address& address) {
  FileDescriptor fd = NewSocket(address);
  if (!fd) return fd;
  Prepare(fd.get());
  sockaddr_storage storage;
  const socklen_t size = address.Fill(&storage);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&storage), size) == 0 || errno == EINPROGRESS) return fd;
  return FileDescriptor();
}

int ConnectOutcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

FileDescriptor Accept(int listener, Address* from) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  FileDescriptor fd =
      FileDescriptor::Make([&] { return accept4(listener, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC); });
  if (!fd) return fd;
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
