// A context: streams of one device that a thread works with, their failure mode, and the thread that runs their host
// functions. Explicit contexts come and go; each device has one default context for the life of the process, which is
// alive while the device is set.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "base/slab.h"
#include "base/status.h"
#include "stream/host_thread.h"
#include "stream/stream.h"

namespace ropeway {

class Context;
using ContextSlab = Slab<Context, 0x31>;
ContextSlab& Contexts();

class Context final : public SlabObject {
 public:
  // Readies a context that is not alive: its default stream is made. 207008 when there is no stream left.
  Status Open(int device, bool is_default);
  // No call finds it any more, and its streams become stale; they are handed over to be finished (FinishStreams), linked by
  // next_in_context, each with a reference. Neither takes memory: nothing could be said of a context that is half closed.
  [[nodiscard]] Stream* Close();
  // Waits for the streams of a closed context, drops what cannot make progress, and ends the host-function thread.
  void FinishStreams(Stream* first);

  // The process ends, or is a forked child: calls no longer find this context, and nothing is torn down.
  void MarkDead() { alive_.store(false, std::memory_order_release); }
  bool alive() const { return alive_.load(std::memory_order_acquire); }
  int device() const { return device_.load(std::memory_order_relaxed); }
  bool is_default() const { return is_default_.load(std::memory_order_relaxed); }
  FailureScope& scope() { return scope_; }
  HostThread& host_thread() { return host_thread_; }
  HostThread& kernel_thread() { return kernel_thread_; }
  // A stale reference is harmless: the generation is checked when it is used.
  StreamRef default_stream() const {
    return {default_stream_.load(std::memory_order_acquire), default_generation_.load(std::memory_order_acquire)};
  }
  void* handle() const { return Contexts().HandleOf(this); }

  Status CreateStream(int priority, uint32_t flags, Stream** stream);
  // Takes a stream out of the context's list; it must have been made stale by BeginDestroy.
  void Forget(Stream* stream);
  // The streams of this moment, each with a reference.
  std::vector<StreamHold> HoldStreams();

  // Options of the context scope (rules/init.md 6).
  Mutex option_mutex{LockRank::kContextOptions};
  std::map<int, int64_t> options RW_GUARDED_BY(option_mutex);

  void Recycle();

 private:
  // Puts a new stream on the list; false when the context is gone.
  bool Adopt(Stream* stream, bool is_default);
  Status MakeStream(int priority, uint32_t flags, bool is_default, Stream** stream);

  std::atomic<bool> alive_{false};
  // Atomic because a default context is opened again under threads that are still bound to it.
  std::atomic<int> device_{0};
  std::atomic<bool> is_default_{false};
  FailureScope scope_;
  HostThread host_thread_;
  HostThread kernel_thread_{"rw-kernel"};  // its own: a host function that waits holds up no kernel
  std::atomic<Stream*> default_stream_{nullptr};
  std::atomic<uint32_t> default_generation_{0};
  Mutex mutex_{LockRank::kContext};
  Stream* streams_ RW_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace ropeway
