// Contexts (rules/contexts.md).
#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("context", context));
    RW_TRY_SET(Device * device, Runtime::BringUp(deviceId));
    Context* made = nullptr;
    RW_TRY(device->CreateContext(&made));
    SetCurrentContext(made);
    *context = made->handle();
    return Ok();
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("context", context));
    RW_TRY(Runtime::RequireUsable());
    return Device::DestroyContext(context);
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("context", context));
    RW_TRY(Runtime::RequireUsable());
    Context* found = Contexts().Find(context);
    if (found == nullptr || !found->alive())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "context %p is not a live context (destroyed, unknown, or its device was reset)", context);
    SetCurrentContext(found);
    return Ok();
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("context", context));
    if (Context* current = CurrentContextOrNull()) {
      *context = current->handle();
      return Ok();
    }
    // Clients read this output without looking at the code.
    *context = nullptr;
    Result<Context*> brought_up = FindContextSlowly();
    if (!brought_up.ok()) return brought_up.status().Quiet();
    *context = brought_up.value()->handle();
    return Ok();
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(Context * context, CurrentContext());
    *stream = context->default_stream().stream->handle();
    return Ok();
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("active", active));
    if (flags != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "flags must be NULL");
    RW_TRY_SET(int physical_id, FindDevice("deviceId", deviceId));
    Runtime* runtime = Runtime::GetIfStarted();
    *active = runtime != nullptr && runtime->device(physical_id).active() ? 1 : 0;
    return Ok();
  });
}
