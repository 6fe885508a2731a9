#include "stream/stream_point.h"

namespace ropeway {

Status StreamPoint::MarkOn(StreamRef stream, const FailureScope* current, const char* call) {
  stream_id_ = stream.stream->id();
  held_by_tasks_ = shared_from_this();
  Task task = MarkTask(this, {}, call);
  uint64_t sequence = 0;
  Status status = stream.stream->EnqueueNumbered(stream.generation, current, task, &sequence);
  if (!status.ok()) held_by_tasks_.reset();
  sequence_ = sequence;
  return status;
}

Status StreamPoint::AwaitOn(StreamRef stream, const FailureScope* current, const char* call, std::unique_ptr<Waiting> waiting) {
  if (passed()) return Ok();
  Task task = AwaitTask(gate_.get(), waiting.get(), 0, {}, call);
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
