// One device of the machine: its set/reset count, its default context, and what belongs to the device rather than to a
// context (peer access, stream budget, abort state). rules/devices.md.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/context.h"

namespace ropeway {

class Device {
 public:
  static constexpr int kMaxStreams = 1984;  // A2 and A3, default streams included

  explicit Device(int id) : id_(id) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int id() const { return id_; }

  // One more user; brings the default context up with the first. The context is current on the calling thread afterwards.
  Status Set();
  // One user less, or all of them with `force`. The last one takes the default context down.
  Status Reset(bool force);
  bool active() const { return users_.load(std::memory_order_acquire) > 0; }

  Status CreateContext(Context** context);
  // 107002 unknown or default, 507007 being destroyed.
  static Status DestroyContext(void* handle);

  Context* default_context() const { return default_context_.load(std::memory_order_acquire); }

  // Adds to the number of streams; false when there would be too many.
  bool CountStream(int change);
  int streams() const { return streams_.load(std::memory_order_relaxed); }

  // Peer access from this device to another: one direction, for the whole process.
  bool CanReach(int peer) const { return peer == id_ || (peers_.load(std::memory_order_relaxed) >> peer & 1) != 0; }
  void SetPeer(int peer, bool on);

  // Kills what runs and what is queued on every stream of the device, and clears failures.
  Status AbortTasks(uint32_t timeout_ms);
  // The device is gone, by a rule: work that is queued is dropped, and its contexts answer `code` until it is reset, or closed.
  void Lose(int code, const char* rule);
  // That code, when it is gone.
  Status RequireThere() const;
  bool aborting() const { return aborting_.load(std::memory_order_acquire); }

 private:
  friend struct StateShape;  // api/state_table.cpp
  void CloseIfUnused();
  Status DropAllWork();

  const int id_;
  std::atomic<int> users_{0};
  std::atomic<Context*> default_context_{nullptr};
  std::atomic<int> streams_{0};
  std::atomic<uint64_t> peers_{0};
  std::atomic<bool> aborting_{false};
  std::atomic<int> lost_{0};        // the code; written with mutex_ held
  Mutex mutex_{LockRank::kDevice};  // set, reset and contexts; never held while work is waited for
  int explicit_contexts_ RW_GUARDED_BY(mutex_) = 0;
};

}  // namespace ropeway
