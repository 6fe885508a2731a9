// Streams and devices: how they come and go, and what the host learns when it waits for them.
#include "check/call.h"
#include "check/hang_watch.h"

using namespace ropeway::check;

namespace {

// A wait that tells the error of some task has waited all the same. These have not.
bool HasWaited(aclError code) {
  switch (code) {
    case ACL_ERROR_RT_PARAM_INVALID:
    case ACL_ERROR_RT_CONTEXT_NULL:
    case ACL_ERROR_INVALID_PARAM:
    case 107017:  // a handle that is none
    case 107023:  // aborted
    case 107027:  // captured
    case 507046:  // took longer than the limit
      return false;
    default: return true;
  }
}

// What was submitted before the call is over when it has waited.
template <typename Wait>
aclError WaitForStream(Call& call, aclrtStream stream, Wait wait) {
  const aclrtStream named = Named(stream);
  Place last;
  call.Keep([&](Books& books, uint32_t operation) {
    last = books.model.LastOf(books.StreamOf(named));
    HangWatch::Begin(last, operation);
  });
  const aclError code = wait();
  call.Keep([&](Books& books, uint32_t) {
    HangWatch::End(last);
    if (HasWaited(code)) books.model.Finish(last);
  });
  return code;
}

void KeepForcedDestroy(Books& books, uint32_t operation, aclrtStream stream) {
  const StreamIndex index = books.StreamOf(stream);
  if (books.model.Pending(index)) books.Tell(Rule::kLifeDestroy, operation, "destroys " + books.NameOf(index) + ", whose work is dropped");
  books.model.Finish(books.model.LastOf(index));
  books.RemoveStream(stream);
}

void KeepReset(Books& books, uint32_t operation, int32_t device) {
  if (books.AnyPending(device))
    books.Tell(Rule::kLifeClose, operation, "resets device " + std::to_string(device) + ", whose streams still have work");
  books.FinishAll(device);
}

}  // namespace

RW_KEPT(aclrtCreateStream, (aclrtStream * stream), (stream), books.AddStream(*stream, CurrentDevice(), operation))
RW_KEPT(aclrtCreateStreamWithConfig, (aclrtStream * stream, uint32_t priority, uint32_t flag), (stream, priority, flag),
        books.AddStream(*stream, CurrentDevice(), operation))
RW_KEPT(aclrtCreateStreamV2, (aclrtStream * stream, const aclrtStreamConfigHandle* handle), (stream, handle),
        books.AddStream(*stream, CurrentDevice(), operation))

// It waits for the stream's work itself.
RW_KEPT(aclrtDestroyStream, (aclrtStream stream), (stream), (void)operation; books.model.Finish(books.model.LastOf(books.StreamOf(stream)));
        books.RemoveStream(stream))
RW_AT_ONCE(aclrtDestroyStreamForce, (aclrtStream stream), (stream), KeepForcedDestroy(books, operation, stream))
RW_KEPT(aclrtStreamAbort, (aclrtStream stream), (stream), (void)operation; books.model.Finish(books.model.LastOf(books.StreamOf(stream))))

RW_HOOK(aclrtSynchronizeStream);
aclError aclrtSynchronizeStream(aclrtStream stream) {
  RW_CALL(aclrtSynchronizeStream);
  return WaitForStream(call, stream, [&] { return NEXT(aclrtSynchronizeStream)(stream); });
}

RW_HOOK(aclrtSynchronizeStreamWithTimeout);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  RW_CALL(aclrtSynchronizeStreamWithTimeout);
  return WaitForStream(call, stream, [&] { return NEXT(aclrtSynchronizeStreamWithTimeout)(stream, timeout); });
}

RW_HOOK(aclrtStreamQuery);
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  RW_CALL(aclrtStreamQuery);
  const aclrtStream named = Named(stream);
  Place last;
  call.Keep([&](Books& books, uint32_t) { last = books.model.LastOf(books.StreamOf(named)); });
  const aclError code = NEXT(aclrtStreamQuery)(stream, status);
  if (code == ACL_SUCCESS && *status == ACL_STREAM_STATUS_COMPLETE) call.Keep([&](Books& books, uint32_t) { books.model.Finish(last); });
  return code;
}

RW_KEPT(aclrtSynchronizeDevice, (void), (), (void)operation; books.FinishAll(CurrentDevice()))
RW_KEPT(aclrtSynchronizeDeviceWithTimeout, (int32_t timeout), (timeout), (void)operation; books.FinishAll(CurrentDevice()))
RW_AT_ONCE(aclrtResetDevice, (int32_t deviceId), (deviceId), KeepReset(books, operation, deviceId))
RW_AT_ONCE(aclrtResetDeviceForce, (int32_t deviceId), (deviceId), KeepReset(books, operation, deviceId))
RW_KEPT(aclFinalize, (void), (), (void)operation; books.FinishAll(-1))
