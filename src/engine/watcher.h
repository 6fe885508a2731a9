// The one seam through which tracing, checking and fault injection see the runtime. It is told of every task (submitted,
// started, finished, dropped), every allocation and free, and every edge of the order between streams and host threads.
// With no watcher installed it costs one predictable branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/task.h"

namespace ropeway {

struct TaskSight {
  uint32_t stream_id;
  int device;
  uint64_t sequence;  // 1 is the first task of a stream
  const Task* task;   // good during the call only
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
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Submitted(const TaskSight& sight) = 0;
  virtual void Started(const TaskSight& sight) = 0;
  virtual void Finished(const TaskSight& sight, int code) = 0;
  virtual void Dropped(const TaskSight& sight) = 0;
  virtual void Allocated(const BlockSight& sight) = 0;
  virtual void Freed(const BlockSight& sight) = 0;
  virtual void Ordered(const OrderSight& sight) = 0;
  // The process ends: write what is buffered.
  virtual void Flush() = 0;
};

// Installed once, before the first device is brought up, and never removed.
inline std::atomic<Watcher*> g_watcher{nullptr};

inline Watcher* ActiveWatcher() { return g_watcher.load(std::memory_order_acquire); }

}  // namespace ropeway
