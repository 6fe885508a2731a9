#include "runtime/device.h"

#include <cstdio>

#include "acl/acl_rt.h"
#include "engine/host_call.h"
#include "memory/pool.h"
#include "runtime/ipc_memory.h"
#include "runtime/runtime.h"
#include "runtime/state_callbacks.h"
#include "runtime/thread_state.h"

namespace ropeway {

Status Device::Set() {
  const int user_id = Runtime::Get().UserIdOf(id_);
  NotifyDeviceState(user_id, ACL_RT_DEVICE_STATE_SET_PRE);
  {
    LockGuard lock(mutex_);
    RW_TRY(RequireThere());
    if (default_context() == nullptr) {
      Context* context = Contexts().Take();
      if (context == nullptr) return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "no context is left for device %d", user_id);
      Contexts().Publish(context);
      default_context_.store(context, std::memory_order_release);
    }
    if (!default_context()->alive()) RW_TRY(default_context()->Open(id_, true));
    users_.fetch_add(1, std::memory_order_acq_rel);
  }
  SetCurrentContext(default_context());
  NotifyDeviceState(user_id, ACL_RT_DEVICE_STATE_SET_POST);
  return Ok();
}

Status Device::Reset(bool force) {
  const int user_id = Runtime::Get().UserIdOf(id_);
  if (HostCall::inside) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "a device cannot be reset from inside a host function of a stream");
  if (!active()) return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "deviceId %d is not set in this process (or was reset already)", user_id);
  NotifyDeviceState(user_id, ACL_RT_DEVICE_STATE_RESET_PRE);
  Stream* streams = nullptr;
  bool last;
  {
    LockGuard lock(mutex_);
    const int users = users_.load(std::memory_order_relaxed);
    if (users == 0) return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "deviceId %d was reset by another thread meanwhile", user_id);
    last = force || users == 1;
    users_.store(last ? 0 : users - 1, std::memory_order_release);
    if (last) streams = default_context()->Close();
    if (last) lost_.store(0, std::memory_order_release);
  }
  if (last) {
    default_context()->FinishStreams(streams);
    DetachThreadFrom(default_context());
    CloseIfUnused();
  }
  NotifyDeviceState(user_id, ACL_RT_DEVICE_STATE_RESET_POST);
  return Ok();
}

// Without users and explicit contexts the device closes: the process's memory on it is gone.
void Device::CloseIfUnused() {
  LockGuard lock(mutex_);
  if (active() || explicit_contexts_ > 0) return;
  lost_.store(0, std::memory_order_release);
  Pool::CloseAllOf(id_);
  IpcMemory::Get().CloseImportsOf(Runtime::Get().memory(), id_);
  Runtime::Get().memory().FreeAllOf(id_);
}

Status Device::CreateContext(Context** context) {
  LockGuard lock(mutex_);
  RW_TRY(RequireThere());
  SlabDraft<ContextSlab, Context> made(Contexts(), Contexts().Take());
  if (!made) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no context left");
  RW_TRY(made->Open(id_, false));
  *context = made.Keep();
  Contexts().Publish(*context);
  ++explicit_contexts_;
  return Ok();
}

Status Device::DestroyContext(void* handle) {
  Context* context = Contexts().Acquire(handle);
  SlabRef<ContextSlab, Context> hold(Contexts(), context);
  if (context == nullptr) return Fail(ACL_ERROR_RT_CONTEXT_NULL, "context %p is not a live context", handle);
  if (context->is_default())
    return Fail(ACL_ERROR_RT_CONTEXT_NULL, "context %p is the default context of device %d; aclrtResetDevice ends it", handle,
                Runtime::Get().UserIdOf(context->device()));
  if (HostCall::inside) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "a context cannot be destroyed from inside a host function of a stream");
  if (!Contexts().Retire(context, context->generation()))
    return Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "context %p is being destroyed by another thread", handle);
  Device& device = Runtime::Get().device(context->device());
  context->FinishStreams(context->Close());
  DetachThreadFrom(context);
  {
    LockGuard lock(device.mutex_);
    --device.explicit_contexts_;
  }
  device.CloseIfUnused();
  Contexts().Release(context);  // the handle's
  return Ok();
}

bool Device::CountStream(int change) {
  const int before = streams_.fetch_add(change, std::memory_order_relaxed);
  if (change < 0 || before < kMaxStreams) return true;
  streams_.fetch_sub(change, std::memory_order_relaxed);
  return false;
}

void Device::SetPeer(int peer, bool on) {
  const uint64_t bit = uint64_t{1} << peer;
  if (on) {
    peers_.fetch_or(bit, std::memory_order_relaxed);
  } else {
    peers_.fetch_and(~bit, std::memory_order_relaxed);
  }
}

// Also of streams that are being destroyed: whoever does that waits for their work.
Status Device::DropAllWork() {
  Status status = Ok();
  Streams().ForEachInUse([&](Stream* stream) {
    if (stream->device() != id_) return;
    if (Status aborted = stream->Abort(); !aborted.ok()) status = std::move(aborted);
  });
  return status;
}

Status Device::RequireThere() const {
  const int code = lost_.load(std::memory_order_acquire);
  if (code == 0) [[likely]]
    return Ok();
  return Fail(code, "device %d is lost, by a rule of ROPEWAY_FAULTS; reset it, and set it again", Runtime::UserIdOf(id_));
}

// First the contexts, so that nothing is queued behind what is dropped.
void Device::Lose(int code, const char* rule) {
  {
    LockGuard lock(mutex_);
    if (lost_.load(std::memory_order_relaxed) != 0) return;
    lost_.store(code, std::memory_order_release);
    char text[FailureScope::kTextSize];
    snprintf(text, sizeof(text), "device %d is lost, by the rule '%s' of ROPEWAY_FAULTS", Runtime::UserIdOf(id_), rule);
    Contexts().ForEachInUse([&](Context* context) {
      if (context->device() == id_ && context->alive()) context->scope().SetFailed(code, text);
    });
  }
  static_cast<void>(DropAllWork());  // but for the work that this very call is part of
}

Status Device::AbortTasks(uint32_t timeout_ms) {
  RW_TRY(RequireThere());
  const int user_id = Runtime::Get().UserIdOf(id_);
  NotifyTaskAbort(user_id, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout_ms);
  aborting_.store(true, std::memory_order_seq_cst);
  Status status = DropAllWork();
  Contexts().ForEachInUse([&](Context* context) {
    if (context->device() == id_) context->scope().ClearFailure();
  });
  aborting_.store(false, std::memory_order_seq_cst);
  NotifyTaskAbort(user_id, ACL_RT_DEVICE_TASK_ABORT_POST, timeout_ms);
  return status;
}

}  // namespace ropeway
