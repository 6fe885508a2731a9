// How every TCP connection begins: both ends prove that they know the communicator's secret, and neither sends the
// secret. The side that accepts speaks first, so a stranger who connects gets 32 random bytes and nothing else, and a
// recorded greeting fits no later nonce.
//
//   acceptor -> nonce (32)
//   caller   -> magic, whom it calls, its own nonce, HMAC(secret, "caller" + everything so far)
//   acceptor -> verdict, HMAC(secret, "acceptor" + everything so far)
//
// If both want it, TLS follows, with HMAC(secret, "tls" + everything so far) as the key that both have; if only one does, that is the
// verdict.
//
// Everything here belongs to the I/O thread. A greeting that is not finished within kPatience ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hccl/transport/io_thread.h"
#include "hccl/transport/secure_socket.h"
#include "hccl/transport/socket.h"

namespace ropeway::comm {

enum class Purpose : uint8_t { kJoin = 1, kControl = 2, kLink = 3 };

// Whom a connection is for.
struct Hello {
  std::string communicator;  // 16 bytes
  uint32_t from = 0;
  uint32_t to = 0;  // kRoot for the root's service
  Purpose purpose = Purpose::kControl;
  bool encrypted = TlsWanted();  // whether it will be
};
constexpr uint32_t kRoot = 0xffffffff;
constexpr size_t kCommunicatorBytes = 16;

// What an acceptor says to a caller that has proved itself.
enum class Verdict : uint8_t { kWelcome = 1, kBusy = 2, kRefused = 3, kEncryptionDiffers = 4 };

// The exact sizes are all that a stranger can make us read.
constexpr size_t kNonceBytes = 32;
constexpr size_t kHelloBytes = 8 + kCommunicatorBytes + 4 + 4 + 4 + kNonceBytes + 32;
constexpr size_t kVerdictBytes = 1 + 32;
constexpr std::chrono::seconds kPatience(5);

// The messages themselves, apart from sockets so that tests can look at them.
std::string MakeHello(const Hello& hello, const std::string& secret, const std::string& acceptor_nonce, const std::string& own_nonce);
// False when the bytes are no greeting of this protocol. Proves nothing.
bool ParseHello(const std::string& bytes, Hello* hello);
bool ProvesSecret(const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce);
std::string MakeVerdict(Verdict verdict, const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce);
// False when the acceptor does not know the secret.
bool ParseVerdict(const std::string& bytes, const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce,
                  Verdict* verdict);
// What TLS begins with.
std::string EncryptionKey(const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce);

// One end's greeting in progress; it ends by calling `done` once, or silently when its last reference goes.
class Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  virtual ~Greeting();

 protected:
  explicit Greeting(SecureSocket fd) : fd_(std::move(fd)) {}
  void Begin(uint32_t events);
  // Reads exactly this many bytes, then calls Arrived. Never one byte more: what follows is the connection's.
  void Expect(size_t size);
  // Greetings fit into any socket buffer, so a short write is a failure.
  bool Write(const std::string& bytes);
  // All that is left to do is the handshake of TLS: ends with Secured, or with Failed.
  void Secure(const std::string& key, bool server);
  SecureSocket Release();  // stops watching
  virtual void Writable() {}
  virtual void Arrived(std::string bytes) = 0;
  virtual void Secured() = 0;
  virtual void Failed(const std::string& why) = 0;
  int fd() const { return fd_.get(); }

 private:
  void Ready(uint32_t events);
  void Shake();
  SecureSocket fd_;
  std::string bytes_;
  size_t wanted_ = 0;
  IoThread::Timer timer_;
};

// Calls an acceptor. done: a socket and kWelcome; kBusy or kRefused without one; or no socket, kRefused or kEncryptionDiffers, and why.
class Caller final : public Greeting {
 public:
  using Done = std::function<void(SecureSocket fd, Verdict verdict, const std::string& why)>;
  static std::shared_ptr<Caller> Start(const Address& address, const Hello& hello, const std::string& secret, Done done);

 private:
  Caller(SecureSocket fd, const Hello& hello, const std::string& secret, Done done)
      : Greeting(std::move(fd)), hello_(hello), secret_(secret), done_(std::move(done)) {}
  void Writable() override;
  void Arrived(std::string bytes) override;
  void Secured() override;
  void Failed(const std::string& why) override;
  void Finish(SecureSocket fd, Verdict verdict, const std::string& why);

  const Hello hello_;
  const std::string secret_;
  Done done_;
  std::string nonce_;
  std::string sent_;
};

// Answers one caller. `judge` looks the communicator up: its secret and a verdict, or false for a communicator that
// nobody knows. done: the socket of a caller that was welcomed, or an invalid one.
class Acceptor final : public Greeting {
 public:
  using Judge = std::function<bool(const Hello& hello, std::string* secret)>;
  using Decide = std::function<Verdict(const Hello& hello)>;
  using Done = std::function<void(Acceptor* self, const Hello& hello, SecureSocket fd)>;
  static std::shared_ptr<Acceptor> Start(FileDescriptor fd, Judge judge, Decide decide, Done done);

 private:
  Acceptor(FileDescriptor fd, Judge judge, Decide decide, Done done);
  void Arrived(std::string bytes) override;
  void Secured() override;
  void Failed(const std::string& why) override;
  void Finish(const Hello& hello, SecureSocket fd);

  Judge judge_;
  Decide decide_;
  Done done_;
  const std::string nonce_;
  Hello hello_;
};

}  // namespace ropeway::comm
