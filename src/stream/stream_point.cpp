#include "stream/stream_point.h"

namespace ropeway {

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

Result<std::shared_ptr<StreamPoint>> StreamPoint::MarkOn(StreamRef stream, const FailureScope* current, const char* call) {
  auto point = std::make_shared<StreamPoint>();
  point->stream_id_ = stream.stream->id();
  point->held_by_tasks_ = point;
  Task task{};
  task.kind = TaskKind::kMark;
  task.call = call;
  task.mark.marker = point.get();
  uint64_t sequence = 0;
  if (Status status = stream.stream->EnqueueNumbered(stream.generation, current, task, &sequence); !status.ok()) {
    point->held_by_tasks_.reset();
    return status;
  }
  point->sequence_ = sequence;
  return point;
}

Status StreamPoint::AwaitOn(StreamRef stream, const FailureScope* current, const char* call) {
  if (passed()) return Ok();
  auto waiting = std::make_unique<Waiting>(shared_from_this());
  Task task{};
  task.kind = TaskKind::kAwait;
  task.call = call;
  task.await = {gate_.get(), waiting.get(), 0};
  RW_TRY(stream.stream->Enqueue(stream.generation, current, task));
  waiting.release();  // the task's
  return Ok();
}

void StreamPoint::Reached() {
  passed_.store(true, std::memory_order_release);
  gate_->Open();
  if (tasks_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::shared_ptr<StreamPoint> last = std::move(held_by_tasks_);
}

}  // namespace ropeway
