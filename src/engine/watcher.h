// The one seam through which tracing and profiling see the runtime. It is told of every call of the API, every task (submitted,
// started, finished, dropped), every wait of a host thread, every allocation and free, every edge of the order between streams and
// host threads, and every mark that the program sets. With no watcher installed it costs one predictable branch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/hot_tls.h"
#include "engine/task.h"

namespace ropeway {

// A point in time, on the clock of each watcher that was asked.
struct Moment {
  uint64_t ticks = 0;   // of traces
  int64_t real_ns = 0;  // of profiles
};

struct TaskSight {
  uint32_t stream_id;  // 0: the calling thread does it by itself, in no stream's order
  int device;
  uint64_t sequence;          // 1 is the first task of a stream
  const Task* task;           // good during the call only
  bool inside_graph = false;  // nobody submitted it, and the sequence is that of the replay
  uint32_t branch = 0;        // of the graph
};

// How a task came to its end.
struct RunSight {
  Moment started;  // what Started answered
  int code = 0;
  bool side_by_side = false;  // with others of a volley; it began when that took it up
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

// From kNamed on the program has said what the link is, and its numbers follow.
enum class Link : uint8_t { kNone, kLocal, kSharedMemory, kTcp, kUcx, kSeveral, kNamed };

// What a library on top of the runtime says of work that it put into a stream.
struct TransferSight {
  Link link;      // by which the bytes go
  uint32_t rank;  // at the other end; UINT32_MAX: several
  uint64_t bytes;
  uint32_t items;
};
// Of whatever this thread submits; null: nothing is known.
inline constinit thread_local const TransferSight* t_transfer RW_HOT_TLS = nullptr;

// What a call of a communicator asks for, in elements of its type.
struct CommunicationSight {
  const char* group;  // its name; stays for as long as the process
  int32_t data_type;
  uint64_t count;
};
// The same for what this thread submits.
inline constinit thread_local const CommunicationSight* t_communication RW_HOT_TLS = nullptr;

// A call of the API while it lasts; lies on the stack of the calling thread.
struct CallFrame {
  const char* call;
  uint64_t number;   // of this call in the process, from 1; 0: nobody counts
  int64_t begun_ns;  // real time
  int code;          // how it ended
  CallFrame* outer;
};
inline constinit thread_local CallFrame* t_call_frame RW_HOT_TLS = nullptr;

enum class MarkKind : uint8_t { kInstant, kBegin, kEnd };  // the last two belong to a range

// A mark of the program. One that names a stream is told of twice: by the call, and when the stream has come to it.
struct MarkSight {
  MarkKind kind;
  bool in_stream;      // the stream has come to it
  uint32_t stream_id;  // 0: of the calling thread only
  int device;
  uint64_t id;         // both ends of a range have the same
  const char* text;    // stays for as long as the process, as does the next
  const char* domain;  // "": none
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual bool HearsCalls() const { return false; }  // else it need not be told of these two
  virtual void CallBegins(CallFrame&) {}
  virtual void CallEnds(CallFrame&) {}
  virtual bool WantsMarks() const { return false; }
  virtual void Marked(const MarkSight&) {}
  virtual void Submitted(const TaskSight& sight) = 0;
  // Answers what Finished wants to be told.
  virtual Moment Started(const TaskSight& sight) = 0;
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
  // The task carries a message to another rank, or takes it; both ends know it by the same number.
  virtual void Messaged(uint32_t /*stream_id*/, uint64_t /*sequence*/, uint64_t /*message*/, bool /*sends*/) {}
  // The process ends: write what is buffered.
  virtual void Flush() = 0;
};

// Set by watch/audience.h alone. A watcher may be left at any time and is never destroyed: who has it may go on telling it.
inline std::atomic<Watcher*> g_watcher{nullptr};

// Who has made a stream passes before it looks for a watcher, and who has set one before it looks for streams: the later of the two sees
// what the earlier did, so no stream stays unwatched.
inline std::atomic<uint32_t> g_watch_turnstile{0};
inline void PassWatchTurnstile() { g_watch_turnstile.fetch_add(1, std::memory_order_acq_rel); }

inline Watcher* ActiveWatcher() { return g_watcher.load(std::memory_order_acquire); }

// Around the body of every call of the API.
class WatchedCall {
 public:
  [[gnu::always_inline]] explicit WatchedCall(const char* call) : watcher_(ActiveWatcher()) {
    if (watcher_ != nullptr) [[unlikely]]
      Begin(call);
  }
  [[gnu::always_inline]] ~WatchedCall() {
    if (watcher_ != nullptr) [[unlikely]]
      End();
  }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
  int Failed(int code) { return frame_.code = code; }

 private:
  [[gnu::noinline, gnu::cold]] void Begin(const char* call) {
    frame_ = {call, 0, 0, 0, t_call_frame};
    t_call_frame = &frame_;
    watcher_->CallBegins(frame_);
  }
  [[gnu::noinline, gnu::cold]] void End() {
    watcher_->CallEnds(frame_);
    t_call_frame = frame_.outer;
  }
  Watcher* const watcher_;
  CallFrame frame_;  // nothing before Begin: a call that nobody watches pays nothing for it
};

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
