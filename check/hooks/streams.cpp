// Streams and devices: how they come and go, and what the host learns when it waits for them.
#include <algorithm>

#include "check/call.h"
#include "check/host_wait.h"

using namespace ropeway::check;

namespace {

// What was submitted before the call is over when it has waited.
template <typename Wait>
aclError WaitForStream(Call& call, aclrtStream stream, Wait wait) {
  const aclrtStream named = Named(stream);
  const HostWait waited(call, [&](Books& books) { return books.LastOf(named); });
  call.Keep([&](Books& books, uint32_t operation) {
    const std::vector<Place> last = books.LastOf(named);
    const auto finished = [&](const Place& place) { return books.model.Finished(place); };
    books.tips.Waited(operation, std::all_of(last.begin(), last.end(), finished));
  });
  const aclError code = wait();
  if (HasWaited(code)) waited.Finish(call);
  return code;
}

template <typename Wait>
aclError WaitForDevice(Call& call, Wait wait) {
  const HostWait waited(call, [device = CurrentDevice()](Books& books) {
    std::vector<Place> places;
    for (const auto& [handle, stream] : books.streams())
      if (device < 0 || stream.device < 0 || stream.device == device) places.push_back(books.model.LastOf(stream.index));
    return places;
  });
  const aclError code = wait();
  if (HasWaited(code)) waited.Finish(call);
  return code;
}

// Nothing that is put into a persistent stream runs there: it is kept for a model that the stream is bound to.
void KeepConfigured(Books& books, uint32_t operation, aclrtStream stream, uint32_t flag) {
  books.AddStream(stream, operation);
  if ((flag & ACL_STREAM_PERSISTENT) == 0) return;
  const auto tasks = std::make_shared<Graph>();
  tasks->kept = true;
  books.model.Capture(books.StreamOf(stream), tasks);
}

uint32_t FlagsOf(aclrtStream stream) {
  const auto ask = reinterpret_cast<decltype(&aclrtStreamGetFlags)>(FindInTarget("aclrtStreamGetFlags"));
  uint32_t flags = 0;
  return ask != nullptr && ask(stream, &flags) == ACL_SUCCESS ? flags : 0;
}

void KeepDestroy(Books& books, aclrtStream stream, StreamIndex index) {
  books.model.Finish(books.model.LastOf(index));
  books.RemoveStream(stream, index);
}

void KeepForcedDestroy(Books& books, uint32_t operation, aclrtStream stream) {
  for (const auto& [index, number] : books.LastOf(stream)) {
    if (books.model.Pending(index))
      books.Tell(Rule::kLifeDestroy, operation, "destroys " + books.NameOf(index) + ", whose work is dropped");
    books.WhenDone([stream, one = index](Books& settled) { KeepDestroy(settled, stream, one); });
  }
}

void KeepReset(Books& books, uint32_t operation, int32_t device) {
  if (books.AnyPending([&](const StreamState& stream) { return stream.device >= 0 && stream.device == device; }))
    books.Tell(Rule::kLifeClose, operation, "resets device " + std::to_string(device) + ", whose streams still have work");
  books.WhenDone([=](Books& settled) { settled.FinishAll(device); });
}

// Its streams go with it.
void KeepContextDestroy(Books& books, uint32_t operation, aclrtContext context) {
  const auto of_context = [=](const StreamState& stream) { return stream.context == context; };
  if (books.AnyPending(of_context)) books.Tell(Rule::kLifeDestroy, operation, "destroys a context whose streams still have work");
  books.WhenDone([=](Books& settled) { settled.FinishStreams(of_context); });
}

}  // namespace

RW_KEPT(aclrtCreateStream, (aclrtStream * stream), (stream), books.AddStream(*stream, operation))
RW_KEPT(aclrtCreateStreamWithConfig, (aclrtStream * stream, uint32_t priority, uint32_t flag), (stream, priority, flag),
        KeepConfigured(books, operation, *stream, flag))
RW_KEPT(aclrtCreateStreamV2, (aclrtStream * stream, const aclrtStreamConfigHandle* handle), (stream, handle),
        KeepConfigured(books, operation, *stream, FlagsOf(*stream)))

// It waits for the stream's work itself.
RW_HOOK(aclrtDestroyStream);
aclError aclrtDestroyStream(aclrtStream stream) {
  RW_CALL(aclrtDestroyStream);
  std::vector<Place> last;
  const HostWait wait(call, [&](Books& books) { return last = books.LastOf(stream); });
  const aclError code = NEXT(aclrtDestroyStream)(stream);
  if (code == ACL_SUCCESS && !last.empty()) call.Keep([&](Books& books, uint32_t) { KeepDestroy(books, stream, last.front().stream); });
  return code;
}
RW_AT_ONCE(aclrtDestroyStreamForce, (aclrtStream stream), (stream), KeepForcedDestroy(books, operation, stream))
RW_KEPT(aclrtStreamAbort, (aclrtStream stream), (stream), (void)operation; for (const Place& last
                                                                                : books.LastOf(stream)) books.model.Finish(last))

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

RW_HOOK(aclrtSynchronizeDevice);
aclError aclrtSynchronizeDevice() {
  RW_CALL(aclrtSynchronizeDevice);
  return WaitForDevice(call, [&] { return NEXT(aclrtSynchronizeDevice)(); });
}

RW_HOOK(aclrtSynchronizeDeviceWithTimeout);
aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  RW_CALL(aclrtSynchronizeDeviceWithTimeout);
  return WaitForDevice(call, [&] { return NEXT(aclrtSynchronizeDeviceWithTimeout)(timeout); });
}

RW_HOOK(aclrtStreamQuery);
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  RW_CALL(aclrtStreamQuery);
  const aclrtStream named = Named(stream);
  std::vector<Place> last;
  call.Keep([&](Books& books, uint32_t) { last = books.LastOf(named); });
  const aclError code = NEXT(aclrtStreamQuery)(stream, status);
  if (code != ACL_SUCCESS || *status != ACL_STREAM_STATUS_COMPLETE) return code;
  call.Keep([&](Books& books, uint32_t) {
    for (const Place& place : last) books.model.Finish(place);
  });
  return code;
}

// Threads that set the device keep it: only the last reset is one.
RW_HOOK(aclrtResetDevice);
aclError aclrtResetDevice(int32_t deviceId) {
  RW_CALL(aclrtResetDevice);
  call.Judge([&](Books& books, uint32_t operation) { KeepReset(books, operation, deviceId); });
  const aclError code = NEXT(aclrtResetDevice)(deviceId);
  if (code == ACL_SUCCESS && !InUse(deviceId)) call.Settle();
  return code;
}

RW_AT_ONCE(aclrtResetDeviceForce, (int32_t deviceId), (deviceId), KeepReset(books, operation, deviceId))
RW_AT_ONCE(aclrtDestroyContext, (aclrtContext context), (context), KeepContextDestroy(books, operation, context))
RW_KEPT(aclFinalize, (void), (), (void)operation; books.FinishAll(-1))
