// Hosts inside one process: every one is a link of its own, over TCP on the loopback interface.
// Not under TSan: UCX orders its threads unseen by it, and two hosts in one process share memory that no two hosts share.
#pragma once

#if __has_include(<ucp/api/ucp.h>) && !defined(__SANITIZE_THREAD__)
#define RW_UCX_HOSTS 1

#include <cstdlib>
#include <future>
#include <random>
#include <stdexcept>

#include "hccl/link/ucx_link.h"

namespace ucx_hosts {

using namespace ropeway::comm;

constexpr size_t kStranger = 4;

// Links live as long as the process, so the tests share them.
inline UcxLink& LinkOf(size_t host) {
  static std::vector<UcxLink*>* const links = new std::vector<UcxLink*>;
  while (links->size() <= host) {
    std::string why;
    // The stranger gives up after 4.096 us * 2^14 * 2 without an answer; the others wait long enough for any machine.
    setenv("HCCL_RDMA_TIMEOUT", links->size() == kStranger ? "14" : "20", 1);
    setenv("HCCL_RDMA_RETRY_CNT", links->size() == kStranger ? "1" : "7", 1);
    const UcxApi* api = LoadUcx(&why);
    if (api == nullptr) throw std::runtime_error(why);
    auto* link = new UcxLink(*api);
    if (!link->Open("127.0.0.1", &why)) throw std::runtime_error(why);
    for (const char* limit : {"HCCL_RDMA_TIMEOUT", "HCCL_RDMA_RETRY_CNT"}) unsetenv(limit);  // the process has a link of its own
    links->push_back(link);
  }
  return *(*links)[host];
}

// Two peers that know each other. A test moves something between them before they part: links whose peers part unseen are uneven.
struct Pair {
  Pair(size_t a, size_t b) : here(LinkOf(a).NewPeer()), there(LinkOf(b).NewPeer()) {
    // Each holds the other until they have met.
    here->Meet(LinkOf(b).address(), there->incoming_key(), [to = there](const std::string& note) { to->Hear(note); });
    there->Meet(LinkOf(a).address(), here->incoming_key(), [to = here](const std::string& note) { to->Hear(note); });
  }
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
  if (put)
    peer.Put(std::move(items), lease, done);
  else
    peer.Get(std::move(items), lease, done);
  return future;
}

inline TransferEnd Move(Peer& peer, bool put, std::vector<TransferItem> items) { return Begin(peer, put, std::move(items)).get(); }

inline std::vector<char> Pattern(size_t size, int seed) {
  std::vector<char> bytes(size);
  std::mt19937 random(seed);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace ucx_hosts

#endif
