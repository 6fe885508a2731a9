#include "hccl/link/tcp_sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace ropeway::comm {
namespace {

std::optional<TcpSocket> Look(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return std::nullopt;
  int type = 0, protocol = 0, listening = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) return std::nullopt;
  length = sizeof protocol;
  if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) != 0 || protocol != IPPROTO_TCP) return std::nullopt;
  length = sizeof listening;
  getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length);
  sockaddr_storage local{}, remote{};
  length = sizeof local;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length) != 0) return std::nullopt;
  length = sizeof remote;
  const bool connected = getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &length) == 0;
  return TcpSocket{fd, status.st_ino, listening != 0, connected, TcpEnd::Of(local), TcpEnd::Of(remote)};
}

}  // namespace

TcpEnd TcpEnd::Of(const sockaddr_storage& storage) {
  TcpEnd end;
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    memcpy(end.ip.bytes.data(), &v4.sin_addr, 4);
    end.port = ntohs(v4.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    end.ip.v6 = true;
    memcpy(end.ip.bytes.data(), &v6.sin6_addr, 16);
    end.port = ntohs(v6.sin6_port);
  }
  return end;
}

std::string TcpEnd::Text() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(ip.v6 ? AF_INET6 : AF_INET, ip.bytes.data(), text, sizeof text);
  return std::string(text) + " " + std::to_string(port);
}

std::vector<TcpSocket> TcpSockets() {
  std::vector<TcpSocket> sockets;
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return sockets;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.')
      if (const auto socket = Look(atoi(entry->d_name))) sockets.push_back(*socket);
  closedir(folder);
  return sockets;
}

std::vector<Ip> LocalIps() {
  std::vector<Ip> ips;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return ips;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    sockaddr_storage storage{};
    memcpy(&storage, one->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    ips.push_back(TcpEnd::Of(storage).ip);
  }
  freeifaddrs(all);
  return ips;
}

uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  sockaddr_in any{};
  any.sin_family = AF_INET;
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  const bool good = bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
                    getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) == 0;
  close(fd);
  return good ? TcpEnd::Of(bound).port : 0;
}

}  // namespace ropeway::comm
