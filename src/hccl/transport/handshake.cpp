#include "hccl/transport/handshake.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "hccl/transport/sha256.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

constexpr std::string_view kGreetingMagic = "RWhccl\x03\n";  // the number is the version of everything that goes over a connection
constexpr size_t kProofBytes = 32;
constexpr uint32_t kEncrypted = 0x100;  // beside the purpose

std::string Proof(const std::string& secret, std::string_view role, std::string_view nonce, std::string_view hello, std::string_view rest) {
  return std::string(BytesOf(HmacSha256(secret, Writer().Raw(role).Raw(nonce).Raw(hello).Raw(rest).Take())));
}

}  // namespace

std::string MakeHello(const Hello& hello, const std::string& secret, const std::string& acceptor_nonce, const std::string& own_nonce) {
  std::string bytes = Writer()
                          .Raw(kGreetingMagic)
                          .Raw(hello.communicator)
                          .Number(hello.from)
                          .Number(hello.to)
                          .Number(static_cast<uint32_t>(hello.purpose) | (hello.encrypted ? kEncrypted : 0))
                          .Raw(own_nonce)
                          .Take();
  return bytes + Proof(secret, "caller", acceptor_nonce, bytes, "");
}

bool ParseHello(const std::string& bytes, Hello* hello) {
  Reader reader(bytes);
  const bool magic = reader.Raw(kGreetingMagic.size()) == kGreetingMagic;
  hello->communicator = reader.Raw(kCommunicatorBytes);
  hello->from = reader.Number<uint32_t>();
  hello->to = reader.Number<uint32_t>();
  const auto said = reader.Number<uint32_t>();
  const uint32_t purpose = said & ~kEncrypted;
  hello->encrypted = said != purpose;
  hello->purpose = static_cast<Purpose>(purpose);
  return magic && bytes.size() == kHelloBytes && purpose >= 1 && purpose <= 3;
}

bool ProvesSecret(const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce) {
  if (hello_bytes.size() != kHelloBytes) return false;
  const std::string_view said = std::string_view(hello_bytes).substr(0, kHelloBytes - kProofBytes);
  return EqualInConstantTime(Proof(secret, "caller", acceptor_nonce, said, ""), std::string_view(hello_bytes).substr(said.size()));
}

std::string MakeVerdict(Verdict verdict, const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce) {
  const std::string byte(1, static_cast<char>(verdict));
  return byte + Proof(secret, "acceptor", acceptor_nonce, hello_bytes, byte);
}

bool ParseVerdict(const std::string& bytes, const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce,
                  Verdict* verdict) {
  if (bytes.size() != kVerdictBytes) return false;
  *verdict = static_cast<Verdict>(bytes[0]);
  return EqualInConstantTime(MakeVerdict(*verdict, hello_bytes, secret, acceptor_nonce), bytes);
}

std::string EncryptionKey(const std::string& hello_bytes, const std::string& secret, const std::string& acceptor_nonce) {
  return Proof(secret, "tls", acceptor_nonce, hello_bytes, "");
}

Greeting::~Greeting() {
  IoThread::Get().Cancel(timer_);
  if (fd_) IoThread::Get().Forget(fd_.get());
}

void Greeting::Begin(uint32_t events) {
  const std::weak_ptr<Greeting> weak = weak_from_this();
  timer_ = IoThread::Get().At(Deadline::After(kPatience), [weak] {
    std::string text = "no complete greeting within ";
    text.append(std::to_string(kPatience.count())).append(" s");
    if (auto self = weak.lock()) self->Failed(text);
  });
  const bool watched = IoThread::Get().Watch(fd_.get(), events, [weak](uint32_t ready) {
    if (auto self = weak.lock()) self->Ready(ready);
  });
  if (watched) return;
  IoThread::Get().Post([weak] {
    if (auto self = weak.lock()) self->Failed("the kernel watches no more descriptors");
  });
}

void Greeting::Expect(size_t size) {
  wanted_ = size;
  bytes_.clear();
  IoThread::Get().Change(fd_.get(), EPOLLIN);
}

bool Greeting::Write(const std::string& bytes) {
  return send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void Greeting::Secure(const std::string& key, bool server) {
  std::string why;
  if (!fd_.Encrypt(key, server, &why)) return Failed(why);
  Shake();
}

void Greeting::Shake() {
  std::string why;
  switch (fd_.Shake(&why)) {
    case SecureSocket::Hands::kShaken: return Secured();
    case SecureSocket::Hands::kFailed: return Failed(why);
    case SecureSocket::Hands::kWaiting: return;
  }
}

SecureSocket Greeting::Release() {
  if (fd_) IoThread::Get().Forget(fd_.get());
  return std::move(fd_);
}

void Greeting::Ready(uint32_t) {
  if (!fd_) return;
  if (fd_.encrypted()) return Shake();
  if (wanted_ == 0) return Writable();
  char buffer[256];
  const ssize_t got = recv(fd_.get(), buffer, std::min(sizeof buffer, wanted_ - bytes_.size()), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Failed(got == 0 ? "the other end hung up" : std::strerror(errno));
  bytes_.append(buffer, static_cast<size_t>(got));
  if (bytes_.size() == wanted_) Arrived(std::move(bytes_));
}

std::shared_ptr<Caller> Caller::Start(const Address& address, const Hello& hello, const std::string& secret, Done done) {
  FileDescriptor fd = BeginConnect(address);
  const int error = errno;
  const bool begun = fd.get() >= 0;
  std::shared_ptr<Caller> caller(new Caller(std::move(fd), hello, secret, std::move(done)));
  if (begun) {
    caller->Begin(EPOLLOUT);
  } else {
    IoThread::Get().Post([weak = std::weak_ptr<Caller>(caller), error] {
      if (auto self = weak.lock()) self->Failed(SystemError(error));
    });
  }
  return caller;
}

void Caller::Writable() {
  const int error = ConnectOutcome(fd());
  if (error != 0) return Failed(std::strerror(error));
  Expect(kNonceBytes);
}

void Caller::Arrived(std::string bytes) {
  if (nonce_.empty()) {
    nonce_ = std::move(bytes);
    sent_ = MakeHello(hello_, secret_, nonce_, RandomBytes(kNonceBytes));
    if (!Write(sent_)) return Failed(std::strerror(errno));
    return Expect(kVerdictBytes);
  }
  Verdict verdict;
  if (!ParseVerdict(bytes, sent_, secret_, nonce_, &verdict)) return Failed("the acceptor does not know the communicator's secret");
  if (verdict == Verdict::kWelcome && hello_.encrypted) return Secure(EncryptionKey(sent_, secret_, nonce_), false);
  if (verdict == Verdict::kWelcome) return Secured();
  const char* const differs = hello_.encrypted ? "ROPEWAY_HCCL_TLS is 1 here and 0 on the other side: set it to the same for all ranks"
                                               : "ROPEWAY_HCCL_TLS is 0 here and 1 on the other side: set it to the same for all ranks";
  Finish({}, verdict, verdict == Verdict::kEncryptionDiffers ? differs : "");
}

void Caller::Secured() { Finish(Release(), Verdict::kWelcome, ""); }

void Caller::Failed(const std::string& why) { Finish({}, Verdict::kRefused, why); }

void Caller::Finish(SecureSocket result, Verdict verdict, const std::string& why) {
  const std::shared_ptr<Greeting> self = shared_from_this();
  Release();
  if (const Done done = std::move(done_)) {
    done_ = nullptr;
    done(std::move(result), verdict, why);
  }
}

std::shared_ptr<Acceptor> Acceptor::Start(FileDescriptor fd, Judge judge, Decide decide, Done done) {
  std::shared_ptr<Acceptor> acceptor(new Acceptor(std::move(fd), std::move(judge), std::move(decide), std::move(done)));
  acceptor->Begin(EPOLLIN);
  acceptor->Expect(kHelloBytes);
  if (!acceptor->Write(acceptor->nonce_)) {
    IoThread::Get().Post([weak = std::weak_ptr<Acceptor>(acceptor)] {
      if (auto self = weak.lock()) self->Failed("");
    });
  }
  return acceptor;
}

Acceptor::Acceptor(FileDescriptor fd, Judge judge, Decide decide, Done done)
    : Greeting(std::move(fd)), judge_(std::move(judge)), decide_(std::move(decide)), done_(std::move(done)),
      nonce_(RandomBytes(kNonceBytes)) {}

void Acceptor::Arrived(std::string bytes) {
  Hello hello;
  std::string secret;
  if (!ParseHello(bytes, &hello) || !judge_(hello, &secret) || !ProvesSecret(bytes, secret, nonce_)) return Failed("");
  Verdict verdict = decide_(hello);
  if (hello.encrypted != TlsWanted()) verdict = Verdict::kEncryptionDiffers;
  const bool told = Write(MakeVerdict(verdict, bytes, secret, nonce_));
  if (!told || verdict != Verdict::kWelcome) return Finish(hello, {});
  hello_ = hello;
  if (hello.encrypted) return Secure(EncryptionKey(bytes, secret, nonce_), true);
  Secured();
}

void Acceptor::Secured() { Finish(hello_, Release()); }

void Acceptor::Failed(const std::string&) { Finish(Hello(), {}); }

void Acceptor::Finish(const Hello& hello, SecureSocket result) {
  const std::shared_ptr<Greeting> self = shared_from_this();
  Release();
  if (const Done done = std::move(done_)) {
    done_ = nullptr;
    done(this, hello, std::move(result));
  }
}

}  // namespace ropeway::comm
