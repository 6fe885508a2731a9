// The process's UCX context and the one thread that drives its workers, of which every peer has one: UCX joins the n-th endpoint from one
// worker to another with the n-th in the other direction, and endpoints that end half open would put that count out for good. Everything
// that touches UCX happens on that thread: others post to it. It sleeps on the workers' event descriptors, so an idle link uses no CPU.
// Once open it lives as long as the process: UCX cannot be unloaded.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/event_loop.h"
#include "hccl/link/chunk_pool.h"
#include "hccl/link/peer_link.h"
#include "hccl/link/ucx_api.h"
#include "hccl/link/ucx_settings.h"

namespace ropeway::comm {

class UcxPeer;

class UcxLink final {
 public:
  explicit UcxLink(const UcxApi& api) : api_(api) {}
  // Only of a link that could not be opened.
  ~UcxLink();
  // False with the reason when UCX refuses. Once, before anything else.
  bool Open(const std::string& local_ip, std::string* why);

  // Null with the reason when UCX refuses. Waits for the link's thread.
  std::shared_ptr<Peer> NewPeer(std::string* why);

  // Runs `work` on the link's thread, soon; in the order of the calls.
  void Post(std::function<void()> work) { loop_.Post(std::move(work)); }
  // The process exits: ends the thread, whatever is pending. What is posted later never runs.
  void Stop();

  // For UcxPeer, on the link's thread.
  const UcxApi& api() const { return api_; }
  ucp_context_h context() const { return context_; }
  ChunkPool& chunks() { return chunks_; }
  EventLoop& loop() { return loop_; }
  void Remove(const UcxPeer& peer);

 private:
  bool CreateContext(const std::vector<UcxSetting>& settings, std::string* why);
  void Run();
  // Sleeps until UCX, a post or the nearest time limit wants attention.
  void Sleep();
  bool Arm();

  // Constant once open.
  const UcxApi& api_;
  ucp_context_h context_ = nullptr;
  std::thread thread_;

  // The thread's own.
  ChunkPool chunks_;
  std::vector<std::shared_ptr<UcxPeer>> peers_;

  EventLoop loop_;
  std::atomic<bool> stop_{false};
};

// Whether a call of UCX failed; `why` gets its words.
bool UcxFailed(const UcxApi& api, const char* call, ucs_status_t status, std::string* why);

}  // namespace ropeway::comm
