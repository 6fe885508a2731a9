#include "runtime/thread_state.h"

#include "acl/acl_rt.h"
#include "runtime/runtime.h"

namespace ropeway {

constinit thread_local ThreadState t_state RW_HOT_TLS;

Result<Context*> FindContextSlowly() {
  RW_TRY(Runtime::RequireUsable());
  // A binding to a device's default context outlives a reset: it works again when some thread sets the device.
  if (t_state.context != nullptr && !t_state.context->is_default()) t_state = ThreadState();
  const int default_device = Runtime::default_device();
  if (default_device >= 0) {
    RW_TRY_SET(Device * device, Runtime::BringUp(default_device));
    RW_TRY(device->Set());
    return t_state.context;
  }
  return Fail(ACL_ERROR_RT_CONTEXT_NULL,
              "the calling thread has no current context; call aclrtSetDevice or aclrtSetCurrentContext on this thread first");
}

void SetCurrentContext(Context* context) { t_state = {context, context->generation()}; }

void DetachThreadFrom(const Context* context) {
  if (t_state.context == context) t_state = ThreadState();
}

}  // namespace ropeway
