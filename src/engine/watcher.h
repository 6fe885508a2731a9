// The one seam through which tracing, checking and fault injection see the runtime. It is told of every task (submitted,
// started, finished, dropped), every wait of a host thread, every allocation and free, and every edge of the order between streams and
// host threads. With no watcher installed it costs one predictable branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/hot_tls.h"
#include "engine/task.h"

namespace ropeway {

struct TaskSight {
  uint32_t stream_id;  // 0: the calling thread does it by itself, in no stream's order
  int device;
  uint64_t sequence;          // 1 is the first task of a stream
  const Task* task;           // good during the call only
  bool inside_graph = false;  // nobody submitted it, and the sequence is that of the replay
};

// How a task came to its end.
struct RunSight {
  uint64_t started;  // what Started answered
  int code = 0;
  bool side_by_side = false;  // with others of a volley: start and end are the volley's
};

struct BlockSight {
  const void* address;
  size_t size;
  int device;  // -1: host memory
  const char* call;
};

// Work up to `from_sequence` of stream `from_stream` happened before what comes next at the other end: the calling host
// thread, or (to_stream != 0) tasks behind `to_sequence` of that stream.
struct OrderSight {
  uint32_t from_stream;
  uint64_t from_sequence;
  uint32_t to_stream;
  uint64_t to_sequence;
  const char* call;
  uint32_t event = 0;  // its number; 0: none
};

enum class WaitReason : uint8_t {
  kWork,
  kEvent,
  kRoom,
  kReport,   // a callback that is to be called, or that was and has not returned
  kProcess,  // another process's answer
  kRank,     // another rank
};

// What a host thread waits for: task `sequence` of a stream, as far as it is known, or the rank of that number.
struct WaitSight {
  WaitReason reason;
  uint32_t stream_id;
  uint64_t sequence;
};

enum class Link : uint8_t { kNone, kLocal, kSharedMemory, kTcp, kUcx, kSeveral };

// What a library on top of the runtime says of work that it put into a stream.
struct TransferSight {
  Link link;      // by which the bytes go
  uint32_t rank;  // at the other end; UINT32_MAX: several
  uint64_t bytes;
  uint32_t items;
};
// Of whatever this thread submits; null: nothing is known.
inline constinit thread_local const TransferSight* t_transfer RW_HOT_TLS = nullptr;

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Submitted(const TaskSight& sight) = 0;
  // Answers what Finished wants to be told.
  virtual uint64_t Started(const TaskSight& sight) = 0;
  virtual void Finished(const TaskSight& sight, const RunSight& run) = 0;
  virtual void Dropped(const TaskSight& sight) = 0;
  // The same for both ends of a wait, and what the first answered for the second.
  virtual uint64_t WaitBegins(const WaitSight& sight) = 0;
  virtual void WaitEnds(const WaitSight& sight, uint64_t begun) = 0;
  virtual void Allocated(const BlockSight& sight) = 0;
  virtual void Freed(const BlockSight& sight) = 0;
  virtual void Ordered(const OrderSight& sight) = 0;
  // From the start of the task on, perhaps more than once: the last word counts.
  virtual void Transferred(uint32_t /*stream_id*/, uint64_t /*sequence*/, const TransferSight&) {}
  // The process ends: write what is buffered.
  virtual void Flush() = 0;
};

// Installed once, before the first device is brought up, and never removed.
inline std::atomic<Watcher*> g_watcher{nullptr};

inline Watcher* ActiveWatcher() { return g_watcher.load(std::memory_order_acquire); }

// A call of the program that stands still for a while.
class HostWait {
 public:
  HostWait(WaitReason reason, uint32_t stream_id, uint64_t sequence)
      : watcher_(ActiveWatcher()), sight_{reason, stream_id, sequence}, begun_(watcher_ != nullptr ? watcher_->WaitBegins(sight_) : 0) {}
  ~HostWait() {
    if (watcher_ != nullptr) watcher_->WaitEnds(sight_, begun_);
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

 private:
  Watcher* const watcher_;
  const WaitSight sight_;
  const uint64_t begun_;
};

}  // namespace ropeway
