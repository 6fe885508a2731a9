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
  // Queues a new point behind what the stream has now.
  static Result<std::shared_ptr<StreamPoint>> MarkOn(StreamRef stream, const FailureScope* current, const char* call);
  // What is queued on `stream` from now on runs behind the point.
  Status AwaitOn(StreamRef stream, const FailureScope* current, const char* call);

  bool passed() const { return passed_.load(std::memory_order_acquire); }
  int stream_id() const { return stream_id_; }
  uint64_t sequence() const { return sequence_; }  // in its stream

  void Reached() override;
  void Dropped() override { Reached(); }
  void Repeat() override { tasks_.fetch_add(1, std::memory_order_relaxed); }

 private:
  class Waiting;

  LastingGate gate_;
  std::atomic<bool> passed_{false};
  std::atomic<int> tasks_{1};
  std::shared_ptr<StreamPoint> held_by_tasks_;
  int stream_id_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace ropeway
