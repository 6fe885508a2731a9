#include "hixl/engine/secrets.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "base/settings.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/sha256.h"
#include "hccl/transport/socket.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {
namespace {

constexpr size_t kSecretBytes = 32;

struct LocalAddress {
  sockaddr_un bytes{};
  socklen_t size;
};

// Abstract: it goes with the process, and belongs to the network namespace, as the address does.
LocalAddress MeetingPoint(const EngineName& name) {
  LocalAddress point;
  point.bytes.sun_family = AF_UNIX;
  const std::string path = "ropeway-hixl-" + name.address.Text();
  const size_t length = std::min(path.size(), sizeof point.bytes.sun_path - 1);
  std::memcpy(point.bytes.sun_path + 1, path.data(), length);
  point.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return point;
}

FileDescriptor NewLocalSocket() {
  return FileDescriptor::Make([] { return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); });
}

bool IsOwnUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

std::string SharedSecret() { return SettingText("ROPEWAY_HIXL_SECRET"); }
std::string DerivedSecret(const EngineName& name) { return std::string(comm::BytesOf(comm::HmacSha256(SharedSecret(), name.text))); }

// Empty when nobody of this user is there.
std::string AskForSecret(const EngineName& remote, Deadline deadline) {
  const LocalAddress point = MeetingPoint(remote);
  const FileDescriptor fd = NewLocalSocket();
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&point.bytes), point.size) != 0 || !IsOwnUser(fd.get())) return "";
  std::string secret(kSecretBytes, '\0');
  while (!deadline.Passed()) {
    pollfd waiting{fd.get(), POLLIN, 0};
    const int64_t left_ms = std::clamp<int64_t>((deadline.at_ns() - NowNs()) / 1000000 + 1, 1, 1000);
    if (poll(&waiting, 1, static_cast<int>(left_ms)) <= 0) continue;
    // As many bytes as this go through a local socket in one.
    return recv(fd.get(), secret.data(), secret.size(), 0) == static_cast<ssize_t>(kSecretBytes) ? secret : "";
  }
  return "";
}

}  // namespace

std::string NewSecret(const EngineName& own) { return SharedSecret().empty() ? RandomBytes(kSecretBytes) : DerivedSecret(own); }

Result<std::string> SecretOf(const EngineName& remote, Deadline deadline) {
  const bool local = comm::IsLocal(remote.address);
  std::string secret = local ? AskForSecret(remote, deadline) : "";
  if (secret.empty() && !SharedSecret().empty()) secret = DerivedSecret(remote);
  if (!secret.empty()) return secret;
  if (local) return Fail(kFailed, "no engine %s of this user listens on this host", remote.text.c_str());
  return Fail(kFailed, "engine %s is on another host, which wants a proof: set ROPEWAY_HIXL_SECRET to the same text on both",
              remote.text.c_str());
}

std::unique_ptr<SecretTeller> SecretTeller::Open(const EngineName& own, const std::string& secret, std::string* why) {
  const LocalAddress point = MeetingPoint(own);
  FileDescriptor fd = NewLocalSocket();
  if (!fd || bind(fd.get(), reinterpret_cast<const sockaddr*>(&point.bytes), point.size) != 0 || listen(fd.get(), SOMAXCONN) != 0) {
    *why = "cannot meet other processes for " + own.text + ": " + comm::SystemError(errno);
    return nullptr;
  }
  std::unique_ptr<SecretTeller> teller(new SecretTeller(std::move(fd), secret));
  comm::IoThread::Get().Watch(teller->fd_.get(), EPOLLIN, [raw = teller.get()](uint32_t) { raw->Ready(); });
  return teller;
}

SecretTeller::~SecretTeller() { comm::IoThread::Get().Forget(fd_.get()); }

void SecretTeller::Ready() {
  const FileDescriptor caller = FileDescriptor::Make([this] { return accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); });
  if (!caller || !IsOwnUser(caller.get())) return;
  [[maybe_unused]] const ssize_t sent = send(caller.get(), secret_.data(), secret_.size(), MSG_NOSIGNAL);
}

}  // namespace ropeway::transfer
