#include "stream/operation.h"

#include "engine/backend.h"

namespace ropeway {
namespace {

constexpr int kNotSupported = 207000;  // ACL_ERROR_RT_FEATURE_NOT_SUPPORT

}  // namespace

Status Operation::LaunchOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  if (stream.stream->capturing())
    return Decline(kNotSupported, "the stream is being captured, and this operation cannot be repeated by a graph");
  Task task{};
  task.kind = TaskKind::kAwait;
  task.call = call;
  task.await = {&gate_, &waited_, timeout_ns};
  held_by_stream_ = shared_from_this();
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) held_by_stream_.reset();
  return status;
}

void Operation::Begin() {
  if (!started_.exchange(true, std::memory_order_acq_rel)) Start();
}

void Operation::Finish(int code, const std::string& text) {
  // The stream's reference may go while the gate opens.
  const std::shared_ptr<Operation> self = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    code_ = code;
    text_ = text;
  }
  gate_.Open();
}

int Operation::Explain(TaskFailure* failure) const {
  std::lock_guard lock(mutex_);
  return code_ == 0 ? 0 : ropeway::Explain(failure, code_, "%s", text_.c_str());
}

void Operation::Leave() {
  const std::shared_ptr<Operation> self = std::move(held_by_stream_);
  bool finished;
  {
    std::lock_guard lock(mutex_);
    finished = finished_;
  }
  if (!finished) Abandoned(started_.load(std::memory_order_acquire));
}

}  // namespace ropeway
