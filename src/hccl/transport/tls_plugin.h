// What libropeway_tls.so offers to libhccl.so, and nothing else: a library that encrypts is loaded into a process that asks for it only.
// All sockets are of the kind that does not block; a session belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::comm {

struct TlsPlugin {
  static constexpr const char* kSymbol = "ropeway_tls_plugin";
  static constexpr uint32_t kVersion = 1;

  uint32_t version;
  // TLS 1.3 over a connected socket, which stays the caller's, with a key that both ends have. Null with the reason.
  void* (*open)(int fd, bool server, const char* key, size_t size, const char** why);
  // 1: done; 0: wants to be called again when bytes have come; -1 with the reason.
  int (*handshake)(void* session, const char** why);
  // As send and recv. After EAGAIN the bytes are no longer needed: the next call of send goes on with them, whatever it is given, and tells
  // how many they were.
  long (*send)(void* session, const void* data, size_t size);
  long (*receive)(void* session, void* data, size_t size);
  // Bytes have left the socket that nobody has received.
  bool (*holds)(const void* session);
  void (*close)(void* session);
};

}  // namespace ropeway::comm
