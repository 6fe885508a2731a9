// Notifies (rules/signals.md 1); ipc_notify.cpp hands them to other processes.
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "api/notify_handles.h"
#include "api/wait_limit.h"
#include "base/error_log.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr int kMaxNotifies = 8192;  // per device, A2 and A3
constexpr uint32_t kProcessLimit = 0xFFFFFFFF;
std::array<std::atomic<int>, kMaxDevices> g_notifies{};  // by physical id

std::atomic<int>& NotifiesOf(int device) { return g_notifies[static_cast<size_t>(device)]; }

Status RequireNotifyFlag(uint64_t flag) {
  if (flag == ACL_NOTIFY_DEFAULT || flag == ACL_NOTIFY_DEVICE_USE_ONLY) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag 0x%llx is neither ACL_NOTIFY_DEFAULT (0) nor ACL_NOTIFY_DEVICE_USE_ONLY (1)",
              static_cast<unsigned long long>(flag));
}

// The flag lies on the notify's device, and only streams of that device can look at it.
Status RequireHome(const Notify& notify, const Context& context) {
  if (notify.device() == context.device()) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "notify %d can be waited for on device %d only, but the current device is %d", notify.id(),
              Runtime::UserIdOf(notify.device()), Runtime::UserIdOf(context.device()));
}

// Queues the resets up to the first one that fails.
Status QueueResets(const aclrtNotify* notifies, size_t num, Context& context, const char* call) {
  for (size_t i = 0; i < num; ++i) {
    RW_TRY_SET(NotifyHold hold, HoldNotify("an entry of notifies,", notifies[i]));
    RW_TRY(hold->ResetOn(context.default_stream(), &context.scope(), call));
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequireNotifyFlag(flag));
    RW_TRY_SET(Context * context, CurrentContext());
    std::atomic<int>& count = NotifiesOf(context->device());
    Notify* made = count.fetch_add(1) < kMaxNotifies ? Notify::Create(context->device()) : nullptr;
    if (made == nullptr) {
      count.fetch_sub(1);
      return Fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "device %d has no notify left (%d at most); destroy some",
                  Runtime::UserIdOf(context->device()), kMaxNotifies);
    }
    *notify = Notifies().HandleOf(made);
    return Ok();
  });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    RW_TRY(CurrentContext().status());
    if (!Notify::Destroy(notify)) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "notify %p was destroyed by another thread", notify);
    if (!hold->imported()) NotifiesOf(hold->device()).fetch_sub(1);
    return Ok();
  });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY_SET(Context * context, CurrentContext());
    return hold->RecordOn(OrDefault(target, *context), &context->scope(), call);
  });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    RW_TRY_SET(Context * context, CurrentContext());
    const StreamRef target = OrDefault(found, *context);
    RW_TRY(target.stream->RequireContext(&context->scope()));
    RW_TRY(RequireHome(*hold, *context));
    const int64_t limit_ns = timeout == kProcessLimit ? OpWaitTimeoutNs() : int64_t{timeout} * 1000000000;
    return hold->AwaitOn(target, &context->scope(), limit_ns, call);
  });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notify", notify));
    RW_TRY(RequirePointer("notifyId", notifyId));
    RW_TRY_SET(NotifyHold hold, HoldNotify("notify", notify));
    RW_TRY(CurrentContext().status());
    *notifyId = static_cast<uint32_t>(hold->id());
    return Ok();
  });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("notifies", notifies));
    if (num == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num is 0");
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold stream, HoldStream(nullptr, context));
    Status queued = QueueResets(notifies, num, *context, call);
    if (queued.ok()) return stream->Synchronize(Deadline::Never());
    // Those in front of the bad one are reset when the call returns; its failure is the one to tell.
    static_cast<void>(stream->AwaitWork(Deadline::Never()));
    return queued;
  });
}
