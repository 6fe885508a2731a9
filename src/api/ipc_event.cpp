// Events shared with other processes (rules/events.md 8). A handle is the key's 64 characters, without an end behind them.
#include "stream/ipc_event.h"

#include <cstring>

#include "api/event_handles.h"
#include "api/ipc_common.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

static_assert(sizeof(aclrtIpcEventHandle) == ipc::Key::kLength);

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(EventHold target, FindEvent("event", event));
    if (target->ipc() == nullptr)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "event %p has flags 0x%x; only one made with ACL_EVENT_IPC alone has a handle", event,
                  target->flags());
    RW_TRY_SET(const ipc::Key key, target->ipc()->Export());
    char text[ipc::Key::kRoom];
    key.Write(text);
    std::memcpy(handle, text, sizeof(*handle));
    return Ok();
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("event", event));
    RW_TRY_SET(Context * context, CurrentContext());
    if (!ThisProduct().shares_events)
      return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no IPC events; use notifies", GetConfig().soc_name.c_str());
    RW_TRY_SET(const ipc::Key key, ipc::Key::Parse(reinterpret_cast<const char*>(&handle)));
    RW_TRY_SET(std::shared_ptr<IpcEvent> opened, IpcEvent::Open(key));
    Event* made = Event::Adopt(std::move(opened), context->device(), &context->scope());
    if (made == nullptr) return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "no event is left; destroy some");
    EnablePeers(context->device(), made->ipc()->device());
    *event = Events().HandleOf(made);
    return Ok();
  });
}
