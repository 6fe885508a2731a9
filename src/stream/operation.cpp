#include "stream/operation.h"

#include <new>

#include "engine/backend.h"

namespace ropeway {
namespace {

constexpr int kNotSupported = 207000;  // ACL_ERROR_RT_FEATURE_NOT_SUPPORT
constexpr int kNoMemory = 207001;      // ACL_ERROR_RT_MEMORY_ALLOCATION

}  // namespace

Status Operation::LaunchOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call, uint64_t* sequence) {
  if (stream.stream->capturing())
    return Decline(kNotSupported, "the stream is being captured, and this operation cannot be repeated by a graph");
  Task task = AwaitTask(gate_.get(), &waited_, timeout_ns, signal_, call);
  if (brief_) task.flags |= Task::kBrief;
  held_by_stream_ = shared_from_this();
  uint64_t number = 0;
  Status status = stream.stream->EnqueueNumbered(stream.generation, current, task, &number);
  if (sequence != nullptr) *sequence = number;
  if (!status.ok()) held_by_stream_.reset();
  return status;
}

ReplayBinding Operation::BindToReplay() {
  held_by_stream_ = shared_from_this();
  return {gate_.get(), &waited_};
}

void Operation::Begin(uint64_t sequence) {
  if (started_.exchange(true, std::memory_order_acq_rel)) return;
  sequence_ = sequence;
  try {
    Start();
  } catch (const std::bad_alloc&) {
    Finish(kNoMemory, "host memory is exhausted");
  }
}

bool Operation::Finish(int code, const char* text) {
  // The stream's reference may go while the gate opens.
  const std::shared_ptr<Operation> self = shared_from_this();
  {
    LockGuard lock(mutex_);
    if (finished_ || left_) return false;
    finished_ = true;
    code_ = code;
    try {
      text_ = text;
    } catch (const std::bad_alloc&) {
      text_.clear();  // the code says it, too
    }
  }
  gate_->Open();
  return true;
}

int Operation::Explain(TaskFailure* failure) const {
  LockGuard lock(mutex_);
  return code_ == 0 ? 0 : ropeway::Explain(failure, code_, "%s", text_.c_str());
}

void Operation::Leave(bool through_gate) {
  const std::shared_ptr<Operation> self = std::move(held_by_stream_);
  bool finished;
  int code;
  {
    LockGuard lock(mutex_);
    finished = finished_;
    code = code_;
    left_ = true;
  }
  if (!finished) {
    Abandoned(started_.load(std::memory_order_acquire));
  } else if (!through_gate) {
    Wasted(code);
  }
}

}  // namespace ropeway
