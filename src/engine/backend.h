// What differs between moving bytes on a CPU and on a GPU. An engine is a backend and the scheduler in engine/sched, which keeps the
// order of streams for all of them; so order, waits, aborts, graphs and failures are the same on each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/address_judge.h"
#include "engine/engine_memory.h"
#include "engine/task.h"
#include "engine/volley.h"

namespace ropeway {

// Fixed for the life of the engine: what the plan needs to know.
struct Traits {
  const char* name;
  size_t streaming_from;              // single copies of this size and more bypass the cache
  size_t share_from;                  // and of this size and more are shared between lanes
  bool starts_batches_early = false;  // with their first pieces, while the others are still being collected
  bool reads_at_once = false;         // what the calling thread copies is read from the program's memory without a detour

  static constexpr size_t kSmallestStreamed = 4096;  // below it stores around the cache do not win, however many copies there are

  CopyMethod MethodFor(size_t size) const {
    if (size < streaming_from) return CopyMethod::kCached;
    return size < share_from ? CopyMethod::kStreaming : CopyMethod::kShared;
  }
  // With so many tasks behind it, a copy is part of a burst, of which the sum counts, as it does in a batch.
  CopyMethod InBurst(CopyMethod alone, size_t size, uint64_t tasks_behind) const {
    if (alone != CopyMethod::kCached || size < kSmallestStreamed) return alone;
    return tasks_behind >= streaming_from / size ? CopyMethod::kStreaming : alone;
  }
};

// Why a task could not be carried out; no byte of it moved, but for those in front of a fault (507052).
struct TaskFailure {
  int code = 0;
  char text[240];
};
// Fills in a failure and returns its code.
[[gnu::cold, gnu::format(printf, 3, 4)]] int Explain(TaskFailure* failure, int code, const char* format, ...);

// Why a kFail fails, and its code.
[[gnu::cold]] int ExplainImpossible(TaskFailure* failure, const Task& task);

// What a task has touched from its first byte to its last; without a source for those that only write.
struct TouchedRange {
  const void* dst;
  size_t dst_extent;
  const void* src = nullptr;
  size_t src_extent = 0;
};
// Whether the fault, as TouchHost tells it, can be this one's.
[[gnu::cold]] bool MayFaultAt(const TouchedRange& touched, const void* fault);
// 507052: memory of the program is not there, or must not be written.
[[gnu::cold]] int ExplainFault(TaskFailure* failure, const void* fault, const TouchedRange& touched);

// Where backends put work that idle lanes may join; the scheduler's.
class WorkSharer;

class Backend : public EngineMemory {
 public:
  virtual ~Backend() = default;
  virtual const Traits& traits() const = 0;
  virtual void SetJudge(const AddressJudge* judge) = 0;

  // --- Work: kinds from kCopy to kStore, and kFail ----------------------------------------------------------------------
  // Keeps what is started on it in order. Each queue has one, and each thread that works outside of queues.
  class Line {
   public:
    virtual ~Line() = default;
  };
  virtual std::unique_ptr<Line> NewLine() = 0;
  // What waits behind a task in its queue: hints, which change how bytes move and never what arrives.
  struct Behind {
    const Task* next = nullptr;
    uint64_t tasks = 0;
  };
  // The calling thread will start a copy soon, if nothing is wrong with its addresses.
  virtual void ExpectCopy(void* /*dst*/, const void* /*src*/, size_t /*size*/) {}
  // Starts a task; its code when it failed already, else 0. What the task owns may be released when this returns.
  virtual int Start(const Task& task, const Behind& behind, Line* line, TaskFailure* failure) = 0;
  // Runs tasks of the feed side by side, with all hands that are free, while a volley is open: how many. They cannot fail, and are done
  // when this returns. 0: the first ones may not, or there is nothing to win.
  virtual size_t RunVolley(VolleyFeed&) { return 0; }
  // Returns when everything that was started on the line is done and can be seen by everybody; 0, or the code of a failure.
  virtual int Finish(Line* line, TaskFailure* failure) = 0;
  // Whether a task is done when Start returns, so that nobody needs to call Finish.
  virtual bool finishes_at_once() const = 0;
  // Where it is not: whether Start does no more than hand the task to a device, so that a submitter may call it.
  virtual bool StartsSoon(const Task&) const { return false; }
  // And nothing more comes for now: what was started and held back, to go together with others, goes out.
  virtual void Hurry(Line*) {}
  // --- Order between lines without the host -----------------------------------------------------------------------------
  // Whether there are points at all. What follows is called then only.
  virtual bool has_points() const { return false; }
  // The point behind everything that was started on the line; null when the host has to look, since something has failed. May throw
  // where there is no memory.
  virtual std::shared_ptr<DevicePoint> MarkPoint(Line*) { return nullptr; }
  // What is started on the line from here on begins behind the point, too. False where that cannot be.
  virtual bool Follow(Line*, const DevicePoint&) { return false; }
  // As Finish, of what is in front of the point. Calls `meanwhile` between two looks.
  virtual int FinishUpTo(const DevicePoint&, const std::function<void()>& /*meanwhile*/, TaskFailure*) { return 0; }

  // One look at a 64-bit word of device memory.
  virtual uint64_t LoadWord(const void* address) = 0;
};

}  // namespace ropeway
