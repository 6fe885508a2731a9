// A connected socket that does not block, and what encrypts what goes over it, if the user wants that (ROPEWAY_HCCL_TLS).
#pragma once

#include <sys/uio.h>

#include <memory>
#include <string>

#include "base/file_descriptor.h"

namespace ropeway::comm {

// Whether everything between ranks is to be encrypted.
bool TlsWanted();
// Whether it could be: false, with the reason, without libropeway_tls.so.
bool TlsThere(std::string* why);

class SecureSocket {
 public:
  SecureSocket() = default;
  SecureSocket(FileDescriptor fd) : fd_(std::move(fd)) {}  // in clear
  explicit operator bool() const { return static_cast<bool>(fd_); }
  int get() const { return fd_.get(); }

  // From now on everything is encrypted. Both ends have the same key, and one is the server; then both shake hands, until that is done.
  bool Encrypt(const std::string& key, bool server, std::string* why);
  enum class Hands { kShaken, kWaiting, kFailed };  // waiting for bytes
  Hands Shake(std::string* why);
  bool encrypted() const { return session_ != nullptr; }

  // As sendmsg and recvmsg. What an encrypted socket did not take with EAGAIN it takes first of all the next time.
  long Send(iovec* parts, size_t count);
  long Receive(iovec* parts, size_t count);
  long Receive(void* data, size_t size);
  // Bytes have left the kernel that nobody has received: no event tells of them.
  bool Holds() const;

 private:
  struct CloseSession {
    void operator()(void* session) const;
  };
  FileDescriptor fd_;
  std::unique_ptr<void, CloseSession> session_;
};

}  // namespace ropeway::comm
