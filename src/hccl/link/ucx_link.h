// The process's UCX worker and the one thread that drives it. Everything that touches UCX happens on that thread: others post
// to it. It sleeps on the worker's event descriptor, so an idle link uses no CPU. Once open it lives as long as the process: UCX
// cannot be unloaded, and a worker that nobody uses costs a sleeping thread.
//
// UCX joins the n-th endpoint from one worker to another with the n-th in the other direction. When a pair ends before both sides are
// known to have opened theirs, that count may be off for good, and later endpoints would be joined with dead ones. Such a link is
// uneven: it goes on for the peers that it has, and new ones get a new link.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/event_loop.h"
#include "hccl/link/chunk_pool.h"
#include "hccl/link/peer_link.h"
#include "hccl/link/tcp_guard.h"
#include "hccl/link/ucx_api.h"
#include "hccl/link/ucx_settings.h"
#include "hccl/link/ucx_wire.h"

namespace ropeway::comm {

class UcxPeer;

// What Link::address() says.
struct LinkAddress {
  std::vector<uint16_t> ports;  // where the TCP transport listens
  std::vector<Ip> ips;          // of the host
  std::string worker;           // UCX's own

  std::string Pack() const;
  static LinkAddress Unpack(const std::string& bytes);
};

class UcxLink final : public Link {
 public:
  explicit UcxLink(const UcxApi& api) : api_(api) {}
  // Only of a link that could not be opened.
  ~UcxLink() override;
  // False with the reason when UCX refuses. Once, before anything else.
  bool Open(const std::string& local_ip, std::string* why);

  const std::string& address() const override { return address_; }
  std::shared_ptr<Peer> NewPeer() override;

  // Runs `work` on the link's thread, soon; in the order of the calls.
  void Post(std::function<void()> work) { loop_.Post(std::move(work)); }
  // The process exits: ends the thread, whatever is pending. What is posted later never runs.
  void Stop();

  // For UcxPeer.
  const UcxApi& api() const { return api_; }
  ucp_worker_h worker() const { return worker_; }
  std::chrono::nanoseconds stall_limit() const { return stall_limit_; }
  TcpGuard& guard() { return guard_; }
  ChunkPool& chunks() { return chunks_; }

  // Any thread.
  void SetUneven() { uneven_.store(true); }
  bool uneven() const { return uneven_.load(); }

  // On the link's thread.
  void Add(const std::shared_ptr<UcxPeer>& peer);
  void Remove(const UcxPeer& peer);

 private:
  // One try with a port of our choice, which somebody else may take meanwhile.
  bool Create(const std::string& local_ip, std::string* why);
  bool CreateContext(const std::vector<UcxSetting>& settings, std::string* why);
  void Destroy();
  bool CreateWorker(std::string* why);
  static ucs_status_t Received(void* argument, const void* header, size_t header_length, void* data, size_t length,
                               const ucp_am_recv_param_t* param);
  void Run();
  // Sleeps until UCX, a post or the nearest time limit wants attention.
  void Sleep();
  bool AnyoneWaits() const;
  void TendPeers();

  // Constant once open.
  const UcxApi& api_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int worker_fd_ = -1;
  std::string address_;
  std::chrono::nanoseconds stall_limit_{0};
  std::thread thread_;

  std::atomic<bool> uneven_{false};

  // The thread's own.
  TcpGuard guard_;
  ChunkPool chunks_;
  std::map<LinkKey, std::shared_ptr<UcxPeer>> peers_;

  EventLoop loop_;
  std::atomic<bool> stop_{false};
};

}  // namespace ropeway::comm
