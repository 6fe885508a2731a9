#include "runtime/context.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "base/no_destroy.h"
#include "engine/watcher.h"
#include "runtime/runtime.h"
#include "runtime/state_callbacks.h"
#include "stream/exception_report.h"
#include "stream/fence.h"
#include "stream/model.h"
#include "stream/report_mailbox.h"

namespace ropeway {
namespace {

// How long a stream that is held up at a gate may see no progress anywhere before its work is given up.
constexpr int kHopelessRounds = 50;
constexpr int kRoundMs = 2;

// Finishes what can run. A stream whose head waits at a gate gets its chance as long as anything else moves.
void FinishOrDrop(Stream& stream) {
  Queue& queue = stream.queue();
  if (queue.completed() >= queue.submitted()) return static_cast<void>(queue.Wait(queue.submitted(), Deadline::Never()));
  const HostWait wait(WaitReason::kWork, static_cast<uint32_t>(stream.id()), queue.submitted());
  uint64_t progress = TotalProgress();
  for (int quiet_rounds = 0; quiet_rounds < kHopelessRounds;) {
    if (queue.Wait(queue.submitted(), Deadline::AfterMs(kRoundMs)) == WaitOutcome::kDone) return;
    const uint64_t now = TotalProgress();
    quiet_rounds = queue.HeldUp() && now == progress ? quiet_rounds + 1 : 0;
    progress = now;
  }
  queue.Abort();
}

}  // namespace

ContextSlab& Contexts() {
  static constinit NoDestroy<ContextSlab> slab;
  return slab.get();
}

Status Context::Open(int device, bool is_default) {
  device_.store(device, std::memory_order_relaxed);
  is_default_.store(is_default, std::memory_order_relaxed);
  Stream* stream = nullptr;
  RW_TRY(MakeStream(0, 0, true, &stream));
  default_generation_.store(stream->generation(), std::memory_order_release);
  default_stream_.store(stream, std::memory_order_release);
  alive_.store(true, std::memory_order_release);
  return Ok();
}

Stream* Context::Close() {
  // A stream in the list has not been given back yet (whoever destroys it holds it until Forget), so its generation is its own.
  Stream* first;
  {
    LockGuard lock(mutex_);
    alive_.store(false, std::memory_order_release);
    first = std::exchange(streams_, nullptr);
    for (Stream* stream = first; stream != nullptr; stream = stream->next_in_context) {
      Streams().Retain(stream);
      stream->generation_at_close = stream->generation();
    }
  }
  // Captures that are still open end here, unheard: their streams are about to go.
  Models().ForEachInUse([&](Model* model) {
    if (model->scope() == &scope_) model->AbandonCapture();
  });
  scope_.Reset();
  for (Stream* stream = first; stream != nullptr; stream = stream->next_in_context) {
    const uint32_t generation = stream->generation_at_close;
    if ((generation & 1) != 0) NotifyStreamState(stream->handle(), ACL_RT_STREAM_STATE_DESTROY_PRE);
    stream->ours_to_destroy = stream->BeginDestroy(generation);  // or another thread is at it
  }
  return first;
}

void Context::FinishStreams(Stream* first) {
  while (first != nullptr) {
    const StreamHold stream(Streams(), std::exchange(first, first->next_in_context));
    FinishOrDrop(*stream);
    if (!stream->ours_to_destroy) continue;
    stream->FinishDestroy(true);
    Runtime::Get().device(stream->device()).CountStream(-1);
  }
  AwaitExceptionReports();  // also for a stream that somebody else is destroying
  host_thread_.Join();
  kernel_thread_.Join();
  Models().ForEachInUse([&](Model* model) {
    if (model->scope() == &scope_ && !model->scope_is_alive()) model->DestroyWithContext();
  });
}

void Context::Recycle() {
  LockGuard lock(option_mutex);
  options.clear();
}

Status Context::MakeStream(int priority, uint32_t flags, bool is_default, Stream** stream) {
  Runtime& runtime = Runtime::Get();
  if (!runtime.device(device()).CountStream(1))
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "device %d has no stream left (%d at most); destroy some", device(), Device::kMaxStreams);
  try {
    *stream = Stream::Create({&runtime.engine(), &scope_, device(), priority, flags, is_default, Runtime::UserIdOf(device())});
  } catch (...) {
    runtime.device(device()).CountStream(-1);
    throw;
  }
  if (*stream == nullptr) {
    runtime.device(device()).CountStream(-1);
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "the process has no stream left");
  }
  if (!Adopt(*stream, is_default)) {
    if ((*stream)->BeginDestroy((*stream)->generation())) (*stream)->FinishDestroy(true);
    runtime.device(device()).CountStream(-1);
    return Fail(ACL_ERROR_RT_CONTEXT_NULL, "the context was destroyed by another thread meanwhile");
  }
  NotifyStreamState((*stream)->handle(), ACL_RT_STREAM_STATE_CREATE_POST);
  return Ok();
}

bool Context::Adopt(Stream* stream, bool is_default) {
  LockGuard lock(mutex_);
  if (!is_default && !alive()) return false;
  stream->next_in_context = streams_;
  streams_ = stream;
  return true;
}

Status Context::CreateStream(int priority, uint32_t flags, Stream** stream) { return MakeStream(priority, flags, false, stream); }

void Context::Forget(Stream* stream) {
  LockGuard lock(mutex_);
  for (Stream** link = &streams_; *link != nullptr; link = &(*link)->next_in_context) {
    if (*link != stream) continue;
    *link = stream->next_in_context;
    return;
  }
}

std::vector<StreamHold> Context::HoldStreams() {
  LockGuard lock(mutex_);
  std::vector<StreamHold> holds;
  for (Stream* stream = streams_; stream != nullptr; stream = stream->next_in_context) {
    Streams().Retain(stream);
    holds.push_back(StreamHold(Streams(), stream));
  }
  return holds;
}

}  // namespace ropeway
