// Hosts inside one process: every one has a thread that moves its bytes, over TCP on the loopback interface, with either link. UCX is
// left out under TSan: it orders its threads unseen by it.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <future>
#include <random>
#include <stdexcept>

#include "hccl/link/tcp_peer.h"
#include "hccl/transport/socket.h"

#if __has_include(<ucp/api/ucp.h>) && !defined(ROPEWAY_TSAN)
#define RW_UCX_HOSTS 1
#include "hccl/link/ucx_peer.h"
#endif

namespace link_hosts {

using namespace ropeway::comm;
using ropeway::FileDescriptor;

// Threads and links live as long as the process, so the tests share them.
inline IoThread& ThreadOf(size_t host) {
  static auto* const threads = new std::vector<IoThread*>;
  while (threads->size() <= host) threads->push_back(new IoThread("rw-test-link"));
  return *(*threads)[host];
}

constexpr LinkKind kTls{3};  // TCP, encrypted

constexpr LinkKind kKinds[] = {
    LinkKind::kTcp,
#if __has_include(<gnutls/gnutls.h>)  // else there is no plugin
    kTls,
#endif
#ifdef RW_UCX_HOSTS
    LinkKind::kUcx,
#endif
};

#ifdef RW_UCX_HOSTS
inline std::shared_ptr<Peer> NewUcxEnd(size_t host) {
  static auto* const contexts = new std::vector<UcxContext*>;
  std::string why;
  while (contexts->size() <= host) {
    contexts->push_back(new UcxContext(ThreadOf(contexts->size())));
    if (!contexts->back()->Open(*Address::Parse("127.0.0.1", 0), &why)) throw std::runtime_error(why);
  }
  auto peer = UcxPeer::Create(*(*contexts)[host], &why);
  if (peer == nullptr) throw std::runtime_error(why);
  return peer;
}
#else
inline std::shared_ptr<Peer> NewUcxEnd(size_t) { throw std::runtime_error("no UCX"); }
#endif

inline std::shared_ptr<Peer> NewEnd(LinkKind kind, size_t host) {
  if (kind != LinkKind::kUcx) return std::make_shared<TcpPeer>(ThreadOf(host), 1);
  return NewUcxEnd(host);
}

// Both ends of a new connection, as the door would hand them over.
inline std::pair<FileDescriptor, FileDescriptor> NewConnection() {
  Address address = *Address::Parse("127.0.0.1", 0), from;
  std::string why;
  const FileDescriptor listener = Listen(&address, &why);
  FileDescriptor calling = BeginConnect(address);
  pollfd waiting{listener.get(), POLLIN, 0};
  if (poll(&waiting, 1, -1) != 1) throw std::runtime_error("no connection");
  return {std::move(calling), Accept(listener.get(), &from)};
}

// The same, encrypted.
inline std::pair<SecureSocket, SecureSocket> NewEncryptedConnection() {
  using Hands = SecureSocket::Hands;
  std::pair<SecureSocket, SecureSocket> ends = NewConnection();
  std::string why;
  if (!ends.first.Encrypt("the key", false, &why) || !ends.second.Encrypt("the key", true, &why)) throw std::runtime_error(why);
  Hands first = Hands::kWaiting, second = Hands::kWaiting;
  while (first == Hands::kWaiting || second == Hands::kWaiting) {
    if (first == Hands::kWaiting) first = ends.first.Shake(&why);
    if (second == Hands::kWaiting) second = ends.second.Shake(&why);
  }
  if (first != Hands::kShaken || second != Hands::kShaken) throw std::runtime_error(why);
  return ends;
}

// `here` makes the connections.
inline void Introduce(LinkKind kind, const std::shared_ptr<Peer>& here, const std::shared_ptr<Peer>& there) {
  const auto call = [kind, a = std::weak_ptr<Peer>(here), b = std::weak_ptr<Peer>(there)] {
    std::pair<SecureSocket, SecureSocket> ends = kind == kTls ? NewEncryptedConnection() : NewConnection();
    const auto caller = a.lock(), door = b.lock();
    if (!caller || !door) return;
    door->Enter(std::move(ends.second));
    caller->Enter(std::move(ends.first));
  };
  there->Meet(here->Introduction(), nullptr);
  here->Meet(there->Introduction(), call);
  call();
}

// Two peers that know each other.
struct Pair {
  Pair(LinkKind kind, size_t a, size_t b) : here(NewEnd(kind, a)), there(NewEnd(kind, b)) { Introduce(kind, here, there); }
  ~Pair() {
    here->Close({HCCL_E_REMOTE, "the test is over"});
    there->Close({HCCL_E_REMOTE, "the test is over"});
  }
  std::shared_ptr<Peer> here;
  std::shared_ptr<Peer> there;
};

inline std::future<TransferEnd> Begin(Peer& peer, bool put, std::vector<TransferItem> items,
                                      const std::shared_ptr<Lease>& lease = std::make_shared<Lease>()) {
  auto promise = std::make_shared<std::promise<TransferEnd>>();
  std::future<TransferEnd> future = promise->get_future();
  const auto done = [promise](const TransferEnd& end) { promise->set_value(end); };
  peer.Move(put, std::move(items), lease, done);
  return future;
}

inline TransferEnd Move(Peer& peer, bool put, std::vector<TransferItem> items) { return Begin(peer, put, std::move(items)).get(); }

inline std::vector<char> Pattern(size_t size, int seed) {
  std::vector<char> bytes(size);
  std::mt19937 random(seed);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

inline std::string KindName(const ::testing::TestParamInfo<LinkKind>& kind) { return kind.param == kTls ? "tls" : NameOf(kind.param); }

}  // namespace link_hosts
