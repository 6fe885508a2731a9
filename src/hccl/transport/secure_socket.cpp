#include "hccl/transport/secure_socket.h"

#include <dlfcn.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "base/settings.h"
#include "hccl/transport/tls_plugin.h"

namespace ropeway::comm {
namespace {

// Head and bytes of a small frame go as one record.
constexpr size_t kRecordBytes = 16 << 10;

// Beside this library.
const TlsPlugin* FindTls(std::string* why) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&TlsWanted), &here) == 0) return nullptr;
  const std::string self(here.dli_fname);
  void* const library = dlopen((self.substr(0, self.rfind('/') + 1) + "libropeway_tls.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = library == nullptr ? nullptr : static_cast<const TlsPlugin*>(dlsym(library, TlsPlugin::kSymbol));
  if (plugin != nullptr && plugin->version == TlsPlugin::kVersion) return plugin;
  *why = library != nullptr ? "libropeway_tls.so belongs to another build" : dlerror();
  return nullptr;
}

// Null, with the reason.
const TlsPlugin* Tls(std::string* why) {
  static std::string reason;
  static const TlsPlugin* const plugin = FindTls(&reason);
  *why = reason;
  return plugin;
}

const TlsPlugin& LoadedTls() {
  std::string ignored;
  return *Tls(&ignored);
}

msghdr MessageOf(iovec* parts, size_t count) {
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  return message;
}

}  // namespace

bool TlsWanted() { return SettingText("ROPEWAY_HCCL_TLS") == "1"; }

bool TlsThere(std::string* why) {
  std::string reason;
  if (Tls(&reason) != nullptr) return true;
  *why = "ROPEWAY_HCCL_TLS=1 needs libropeway_tls.so (built where libgnutls28-dev is): " + reason;
  return false;
}

void SecureSocket::CloseSession::operator()(void* session) const { LoadedTls().close(session); }

bool SecureSocket::Encrypt(const std::string& key, bool server, std::string* why) {
  if (!TlsThere(why)) return false;
  const char* reason = "";
  session_.reset(LoadedTls().open(fd_.get(), server, key.data(), key.size(), &reason));
  if (!session_) *why = std::string("no TLS: ") + reason;
  return session_ != nullptr;
}

SecureSocket::Hands SecureSocket::Shake(std::string* why) {
  const char* reason = "";
  const int outcome = LoadedTls().handshake(session_.get(), &reason);
  if (outcome < 0) *why = std::string("TLS: ") + reason;
  return outcome > 0 ? Hands::kShaken : outcome == 0 ? Hands::kWaiting : Hands::kFailed;
}

long SecureSocket::Send(iovec* parts, size_t count) {
  if (!session_ && count == 1) return send(fd_.get(), parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL);
  if (!session_) {
    const msghdr message = MessageOf(parts, count);
    return sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
  }
  if (count == 1 || parts[0].iov_len >= kRecordBytes) return LoadedTls().send(session_.get(), parts[0].iov_base, parts[0].iov_len);
  char record[kRecordBytes];
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t taken = std::min(parts[i].iov_len, kRecordBytes - size);
    std::memcpy(record + size, parts[i].iov_base, taken);
    size += taken;
  }
  return LoadedTls().send(session_.get(), record, size);
}

long SecureSocket::Receive(iovec* parts, size_t count) {
  if (session_) return LoadedTls().receive(session_.get(), parts[0].iov_base, parts[0].iov_len);
  msghdr message = MessageOf(parts, count);
  return recvmsg(fd_.get(), &message, 0);
}

long SecureSocket::Receive(void* data, size_t size) {
  return session_ ? LoadedTls().receive(session_.get(), data, size) : recv(fd_.get(), data, size, 0);
}

bool SecureSocket::Holds() const { return session_ && LoadedTls().holds(session_.get()); }

}  // namespace ropeway::comm
