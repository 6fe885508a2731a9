// User functions in streams (rules/callbacks.md): with a thread that the program provides, or on the context's own thread.
#include "api/entry.h"
#include "base/mutex.h"
#include "stream/report_mailbox.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Task CallTask(HostCallSink* sink, void (*function)(void*), void* argument, bool blocks, const char* call) {
  Task task{};
  task.kind = TaskKind::kCall;
  task.call = call;
  task.call_host = {sink, function, argument, blocks};
  return task;
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    return ReportMailbox::Subscribe(threadId, *target);
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    return ReportMailbox::Unsubscribe(threadId, *target);
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    if (timeout == 0 || timeout < -1)
      return Reject(ACL_ERROR_INVALID_PARAM, "timeout %d is neither -1 (for ever) nor a positive number of milliseconds", timeout);
    RW_TRY(Runtime::RequireUsable());
    return ReportMailbox::Process(timeout);
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
      return Reject(ACL_ERROR_INVALID_PARAM, "blockType %d is neither 0 (no block) nor 1 (block)", static_cast<int>(blockType));
    RW_TRY_SET(StreamRef found, FindStream(stream));
    if (fn == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL");
    RW_TRY_SET(Context * context, CurrentContext());
    const StreamRef on = OrDefault(found, *context);
    ReportMailbox* mailbox;
    {
      LockGuard lock(on.stream->lock());
      if (on.stream->family == Stream::Family::kHostFunction)
        return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "the stream is used with aclrtLaunchHostFunc; a stream has one callback family");
      mailbox = on.stream->mailbox;
    }
    if (mailbox == nullptr)
      return Fail(ACL_ERROR_RT_STREAM_NO_CB_REG, "no thread is subscribed to the stream; call aclrtSubscribeReport first");
    Task task = CallTask(mailbox, fn, userData, blockType == ACL_CALLBACK_BLOCK, "aclrtLaunchCallback");
    return Submit(on, *context, task);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(StreamRef found, FindStream(stream));
    if (fn == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "fn is NULL");
    RW_TRY_SET(Context * context, CurrentContext());
    const StreamRef on = OrDefault(found, *context);
    context->host_thread().Prepare();
    {
      LockGuard lock(on.stream->lock());
      if (on.stream->family == Stream::Family::kReport)
        return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "the stream is subscribed by aclrtSubscribeReport; a stream has one callback family");
      const bool ours = on.stream->generation() == on.generation && on.stream->RequireContext(&context->scope()).ok();
      if (ours) on.stream->family = Stream::Family::kHostFunction;
    }
    Task task = CallTask(&context->host_thread(), fn, args, true, "aclrtLaunchHostFunc");
    return Submit(on, *context, task);
  });
}
