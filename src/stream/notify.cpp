#include "stream/notify.h"

#include "base/no_destroy.h"
#include "stream/ipc_notify.h"

namespace ropeway {
namespace {

std::atomic<int> g_next_notify_id{1};

}  // namespace

NotifySlab& Notifies() {
  static constinit NoDestroy<NotifySlab> slab;
  return slab.get();
}

Notify* Notify::Create(int device) {
  Notify* notify = Notifies().Take();
  if (notify == nullptr) return nullptr;
  notify->id_ = g_next_notify_id.fetch_add(1, std::memory_order_relaxed) & 0x1FFF;
  notify->device_ = device;
  Notifies().Publish(notify);
  return notify;
}

bool Notify::Destroy(void* handle) {
  NotifyHold notify(Notifies(), Notifies().Acquire(handle));
  if (!notify || !Notifies().Retire(notify.get(), notify->generation())) return false;
  notify->Withdraw();
  Notifies().Release(notify.get());
  return true;
}

void Notify::Recycle() {
  flag_.Renew();
  shared_name_.store(0, std::memory_order_relaxed);
  home_.reset();
}

Status Notify::Submit(StreamRef stream, const FailureScope* current, Task& task) {
  Notifies().Retain(this);
  Status status = stream.stream->Enqueue(stream.generation, current, task);
  if (!status.ok()) Notifies().Release(this);
  return status;
}

Status Notify::RecordOn(StreamRef stream, const FailureScope* current, const char* call) {
  if (imported()) [[unlikely]]
    return home_->LaunchOn(stream, current, 0, NotifyImport::kSet, call);
  Task task = MarkTask(&recorded_, SignalOf(Signal::Role::kSets), call);
  return Submit(stream, current, task);
}

Status Notify::AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call) {
  if (imported()) [[unlikely]]
    return home_->LaunchOn(stream, current, timeout_ns, NotifyImport::kTake, call);
  Task task = AwaitTask(&flag_, &passed_, timeout_ns, SignalOf(Signal::Role::kAwaits), call);
  return Submit(stream, current, task);
}

Status Notify::ResetOn(StreamRef stream, const FailureScope* current, const char* call) {
  if (imported()) [[unlikely]]
    return home_->LaunchOn(stream, current, 0, NotifyImport::kClear, call);
  Task task = MarkTask(&was_reset_, SignalOf(Signal::Role::kTakesBack), call);
  return Submit(stream, current, task);
}

}  // namespace ropeway
