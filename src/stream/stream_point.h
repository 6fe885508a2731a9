// A point of a stream that others may wait for: passed when everything submitted in front of it has run, or never will. Lives
// as long as somebody looks at it or a queued task names it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "engine/lasting_gate.h"
#include "engine/task.h"
#include "stream/stream.h"

namespace ropeway {

class StreamPoint final : public Marker, public std::enable_shared_from_this<StreamPoint> {
 public:
  // Queues a new point behind what the stream has now, once. Takes no memory.
  Status MarkOn(StreamRef stream, const FailureScope* current, const char* call);
  // What is queued on `stream` from now on runs behind the point. Takes no memory but that of the wait.
  class Waiting;
  Status AwaitOn(StreamRef stream, const FailureScope* current, const char* call, std::unique_ptr<Waiting> waiting);

  bool passed() const { return passed_.load(std::memory_order_acquire); }
  int stream_id() const { return stream_id_; }
  uint64_t sequence() const { return sequence_; }  // in its stream

  void Reached() override;
  void Dropped() override { Reached(); }
  void Repeat() override { tasks_.fetch_add(1, std::memory_order_relaxed); }

 private:
  LastingGate gate_;
  std::atomic<bool> passed_{false};
  std::atomic<int> tasks_{1};
  std::shared_ptr<StreamPoint> held_by_tasks_;
  int stream_id_ = 0;
  uint64_t sequence_ = 0;
};

// The task of a wait, which keeps the gate in place until the stream has passed it.
class StreamPoint::Waiting final : public Marker {
 public:
  explicit Waiting(std::shared_ptr<StreamPoint> point) : point_(std::move(point)) {}
  void Reached() override {
    if (tasks_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void Dropped() override { Reached(); }
  void Repeat() override { tasks_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<StreamPoint> point_;
  std::atomic<int> tasks_{1};
};

}  // namespace ropeway
