// libropeway_tls.so: TLS 1.3 by GnuTLS, with a pre-shared key and a fresh exchange for each connection.
#include "hccl/transport/tls_plugin.h"

#include <gnutls/gnutls.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace ropeway::comm {
namespace {

// AES first: every machine that moves much has instructions for it.
constexpr const char* kPriority =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-CIPHER-ALL:+AES-128-GCM:+CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519";
constexpr const char* kUser = "rank";  // both ends have proved before who they are
// What is read from the socket at a time: a record alone would be two calls for 16 KiB.
constexpr size_t kReadBytes = 128 << 10;

struct Session {
  ~Session() {
    if (tls != nullptr) gnutls_deinit(tls);
    if (server_credentials != nullptr) gnutls_psk_free_server_credentials(server_credentials);
    if (client_credentials != nullptr) gnutls_psk_free_client_credentials(client_credentials);
    gnutls_memset(key.data(), 0, key.size());
  }
  std::string key;
  int fd = -1;
  gnutls_session_t tls = nullptr;
  gnutls_psk_server_credentials_t server_credentials = nullptr;
  gnutls_psk_client_credentials_t client_credentials = nullptr;
  bool unfinished = false;  // a record waits for room in the socket
  std::unique_ptr<char[]> read = std::make_unique_for_overwrite<char[]>(kReadBytes);
  size_t read_begin = 0;
  size_t read_end = 0;
};

Session& Of(void* session) { return *static_cast<Session*>(session); }

int KeyFor(gnutls_session_t tls, const char*, gnutls_datum_t* key) {
  const std::string& bytes = Of(gnutls_session_get_ptr(tls)).key;
  key->data = static_cast<unsigned char*>(gnutls_malloc(bytes.size()));
  if (key->data == nullptr) return -1;
  memcpy(key->data, bytes.data(), bytes.size());
  key->size = static_cast<unsigned>(bytes.size());
  return 0;
}

ssize_t Pull(gnutls_transport_ptr_t session, void* data, size_t size) {
  Session& self = Of(session);
  if (self.read_begin == self.read_end) {
    const ssize_t got = recv(self.fd, self.read.get(), kReadBytes, 0);
    if (got < 0) gnutls_transport_set_errno(self.tls, errno);
    if (got <= 0) return got;
    self.read_begin = 0;
    self.read_end = static_cast<size_t>(got);
  }
  const size_t taken = std::min(size, self.read_end - self.read_begin);
  memcpy(data, self.read.get() + self.read_begin, taken);
  self.read_begin += taken;
  return static_cast<ssize_t>(taken);
}

int SetKey(Session* self, bool server) {
  if (server) {
    if (const int code = gnutls_psk_allocate_server_credentials(&self->server_credentials); code != 0) return code;
    gnutls_psk_set_server_credentials_function(self->server_credentials, KeyFor);
    return gnutls_credentials_set(self->tls, GNUTLS_CRD_PSK, self->server_credentials);
  }
  if (const int code = gnutls_psk_allocate_client_credentials(&self->client_credentials); code != 0) return code;
  const gnutls_datum_t key = {reinterpret_cast<unsigned char*>(self->key.data()), static_cast<unsigned>(self->key.size())};
  if (const int code = gnutls_psk_set_client_credentials(self->client_credentials, kUser, &key, GNUTLS_PSK_KEY_RAW); code != 0) return code;
  return gnutls_credentials_set(self->tls, GNUTLS_CRD_PSK, self->client_credentials);
}

void* Open(int fd, bool server, const char* key, size_t size, const char** why) {
  auto self = std::make_unique<Session>();
  self->fd = fd;
  self->key.assign(key, size);
  const unsigned flags = (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
  int code = gnutls_init(&self->tls, flags);
  if (code == 0) code = gnutls_priority_set_direct(self->tls, kPriority, nullptr);
  if (code == 0) code = SetKey(self.get(), server);
  if (code != 0) {
    *why = gnutls_strerror(code);
    return nullptr;
  }
  gnutls_session_set_ptr(self->tls, self.get());
  gnutls_transport_set_ptr2(self->tls, self.get(), reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  gnutls_transport_set_pull_function(self->tls, Pull);
  gnutls_handshake_set_timeout(self->tls, 0);  // the greeting has a limit of its own
  return self.release();
}

int Handshake(void* session, const char** why) {
  for (;;) {
    const int code = gnutls_handshake(Of(session).tls);
    if (code == 0) return 1;
    if (code == GNUTLS_E_AGAIN) return 0;
    if (gnutls_error_is_fatal(code) == 0) continue;
    *why = gnutls_strerror(code);
    return -1;
  }
}

// What GnuTLS says, as a socket would.
long AsSocket(long code) {
  if (code >= 0 || code == GNUTLS_E_PREMATURE_TERMINATION) return std::max(code, 0L);
  errno = code == GNUTLS_E_AGAIN ? EAGAIN : code == GNUTLS_E_INTERRUPTED ? EINTR : code == GNUTLS_E_PUSH_ERROR ? EPIPE : EBADMSG;
  return -1;
}

long Send(void* session, const void* data, size_t size) {
  Session& self = Of(session);
  const long code = self.unfinished ? gnutls_record_send(self.tls, nullptr, 0) : gnutls_record_send(self.tls, data, size);
  self.unfinished = code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED;
  return AsSocket(code);
}

long Receive(void* session, void* data, size_t size) { return AsSocket(gnutls_record_recv(Of(session).tls, data, size)); }

bool Holds(const void* session) {
  const auto& self = *static_cast<const Session*>(session);
  return self.read_begin != self.read_end || gnutls_record_check_pending(self.tls) != 0;
}

void Close(void* session) { delete &Of(session); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const TlsPlugin ropeway_tls_plugin;
const TlsPlugin ropeway_tls_plugin = {TlsPlugin::kVersion, &Open, &Handshake, &Send, &Receive, &Holds, &Close};

}  // namespace ropeway::comm
