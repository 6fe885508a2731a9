// Counting notifies (rules/signals.md 2): the 950 class has them, the others answer 207000.
#include "stream/count_notify.h"

#include <array>
#include <atomic>

#include "api/entry.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr int kMaxCounters = 65535;                      // per device
std::array<std::atomic<int>, kMaxDevices> g_counters{};  // by physical id

std::atomic<int>& CountersOf(int device) { return g_counters[static_cast<size_t>(device)]; }

Status RequireGiven(const char* name, const void* pointer) {
  if (pointer != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL", name);
}

Status RequireCounters() {
  if (ThisProduct().counts_notifies) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no counting notifies; use aclrtCreateNotify, or events",
              GetConfig().soc_name.c_str());
}

// Null where the product has no counters: that is said behind the other checks.
Result<CountNotifyHold> HoldCounter(aclrtCntNotify handle) {
  if (!ThisProduct().counts_notifies) return CountNotifyHold();
  CountNotifyHold hold(CountNotifies(), CountNotifies().Acquire(handle));
  if (hold) return hold;
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "cntNotify %p is not a live counting notify (destroyed, or none at all)", handle);
}

Status RequireMode(unsigned mode, unsigned most, bool three_too) {
  if (mode <= most && (mode != 3 || three_too)) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "info->mode %u is not one of 0 to %u%s", mode, most, three_too ? "" : " without 3");
}

// What the calls on a stream have in common behind their own checks.
Status FindTarget(StreamRef found, Context** context, StreamRef* target) {
  RW_TRY(RequireCounters());
  RW_TRY_SET(*context, CurrentContext());
  *target = OrDefault(found, **context);
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    if (flag != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%llx, but it must be 0", static_cast<unsigned long long>(flag));
    RW_TRY(RequireCounters());
    RW_TRY_SET(Context * context, CurrentContext());
    std::atomic<int>& count = CountersOf(context->device());
    CountNotify* made = count.fetch_add(1) < kMaxCounters ? CountNotify::Create(context->device()) : nullptr;
    if (made == nullptr) {
      count.fetch_sub(1);
      return Fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "device %d has no counting notify left (%d at most); destroy some",
                  Runtime::UserIdOf(context->device()), kMaxCounters);
    }
    *cntNotify = CountNotifies().HandleOf(made);
    return Ok();
  });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    RW_TRY(RequireCounters());
    RW_TRY_SET(CountNotifyHold hold, HoldCounter(cntNotify));
    RW_TRY(CurrentContext().status());
    if (!CountNotify::Destroy(cntNotify))
      return Fail(ACL_ERROR_RT_INVALID_HANDLE, "cntNotify %p was destroyed by another thread", cntNotify);
    CountersOf(hold->device()).fetch_sub(1);
    return Ok();
  });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo* info) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    RW_TRY_SET(CountNotifyHold hold, HoldCounter(cntNotify));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    const aclrtCntNotifyRecordInfo record = *info;
    RW_TRY(RequireMode(record.mode, ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, false));
    Context* context = nullptr;
    StreamRef target;
    RW_TRY(FindTarget(found, &context, &target));
    return hold->counter().ChangeOn(target, &context->scope(), static_cast<CountChange>(record.mode), record.value, call);
  });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo* info) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    RW_TRY_SET(CountNotifyHold hold, HoldCounter(cntNotify));
    const aclrtCntNotifyWaitInfo wait = *info;
    RW_TRY(RequireMode(wait.mode, ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, true));
    Context* context = nullptr;
    StreamRef target;
    RW_TRY(FindTarget(found, &context, &target));
    return hold->counter().AwaitOn(target, &context->scope(), {static_cast<CountTest>(wait.mode), wait.value, wait.isClear == 1},
                                   int64_t{wait.timeout} * 1000000000, call);
  });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  const char* call = __func__;
  return Entry(call, [&]() -> Status {
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    RW_TRY_SET(CountNotifyHold hold, HoldCounter(cntNotify));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    Context* context = nullptr;
    StreamRef target;
    RW_TRY(FindTarget(found, &context, &target));
    return hold->counter().ChangeOn(target, &context->scope(), CountChange::kSet, 0, call);
  });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notifyId", notifyId));
    RW_TRY(RequireGiven("cntNotify", cntNotify));
    RW_TRY(RequireCounters());
    RW_TRY_SET(CountNotifyHold hold, HoldCounter(cntNotify));
    RW_TRY(CurrentContext().status());
    *notifyId = static_cast<uint32_t>(hold->id());
    return Ok();
  });
}
