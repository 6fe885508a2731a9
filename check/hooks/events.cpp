// Events of the three kinds, and notifies.
#include "check/coming.h"
#include "check/host_wait.h"

using namespace ropeway::check;

namespace {

constexpr uint32_t kIpcFlag = 0x40;
constexpr uint32_t kExternal = 1;  // of records and waits in a capture

void KeepEvent(Books& books, uint32_t operation, aclrtEvent event, bool is_flag, uint32_t flags = 0) {
  EventState state;
  if ((flags & kIpcFlag) != 0) state.TakeOutside();
  state.is_flag = is_flag;
  state.operation = operation;
  books.events.insert_or_assign(event, std::move(state));
}

std::string NameOf(const aclrtIpcEventHandle& handle) { return {handle.reserved, sizeof handle.reserved}; }

// One that this process exported itself is the same event.
void KeepOpened(Books& books, uint32_t operation, aclrtEvent event, const aclrtIpcEventHandle& handle) {
  KeepEvent(books, operation, event, false, kIpcFlag);
  const auto own = books.exported_events.find(NameOf(handle));
  if (own != books.exported_events.end()) books.events[event].flag = own->second;
}

// The record of every replay, and waits that look at the latest record when they are reached.
void KeepOutside(Books& books, uint32_t operation, EventState& event, StreamIndex index, Step::Effect effect) {
  Step step;
  step.effect = effect;
  step.operation = operation;
  step.flag = event.flag;
  if (effect == Step::Effect::kPass) step.point = std::make_shared<Point>();
  const Place place = books.model.Submit(index, std::move(step));
  if (effect == Step::Effect::kWaitFlag) event.waits[index] = place;
}

// What others see of a record at once; a wait that is tied to a record comes behind the call.
std::shared_ptr<Signal> FlagOf(const Books& books, aclrtEvent handle) {
  const auto known = books.events.find(handle);
  return known != books.events.end() && (known->second.is_flag || known->second.outside) ? known->second.flag : nullptr;
}

void KeepRecord(Books& books, uint32_t operation, aclrtEvent handle, StreamIndex index, uint32_t flag = 0) {
  EventState& event = books.events[handle];
  if (flag == kExternal) event.TakeOutside();
  if (event.outside && books.model.CaptureOf(index)) return KeepOutside(books, operation, event, index, Step::Effect::kPass);
  const auto point = std::make_shared<Point>();
  point->operation = operation;
  const bool unseen = event.latest && !event.latest->waited_for && event.latest->place && event.latest->place.stream != index;
  event.lost = unseen && !books.model.Finished(event.latest->place) ? event.latest : nullptr;
  event.latest = point;
  event.capture = books.model.CaptureOf(index);
  if (event.capture != nullptr && event.capture->kept) event.capture = nullptr;  // nobody joins a model that is built by hand
  Step step;
  step.effect = Step::Effect::kPass;
  step.operation = operation;
  step.point = point;
  if (event.is_flag || event.outside) step.flag = event.flag;
  books.model.Submit(index, std::move(step));
}

// A stream that waits for a captured event joins the capture.
void JoinCapture(Books& books, const EventState& event, StreamIndex index) {
  if (event.capture && !books.model.CaptureOf(index)) books.model.Capture(index, event.capture);
}

void KeepWait(Books& books, uint32_t operation, aclrtEvent handle, StreamIndex index, uint32_t flag = 0) {
  EventState& event = books.events[handle];
  if (flag == kExternal) event.TakeOutside();
  if (event.outside && (event.flag->set || books.model.CaptureOf(index)))
    return KeepOutside(books, operation, event, index, Step::Effect::kWaitFlag);
  if (event.outside && event.latest == nullptr) return;
  if (event.latest == nullptr && !event.is_flag)
    return books.Tell(Rule::kEventUnrecorded, operation, "waits for an event that was never recorded: it orders nothing");
  if (event.lost) {
    const Use lost{event.lost->place, event.lost->operation};
    books.Tell(Rule::kEventRerecorded, operation, "waits for the latest record of its event", lost,
               "had recorded it before, for nobody: the wait does not order what is in front of that");
    event.lost = nullptr;
  }
  JoinCapture(books, event, index);
  Step step;
  step.operation = operation;
  step.effect = event.is_flag ? Step::Effect::kWaitFlag : Step::Effect::kWaitPoint;
  step.flag = event.flag;
  step.point = event.latest;
  if (event.latest) event.latest->waited_for = true;
  event.waits[index] = books.model.Submit(index, std::move(step));
}

void KeepReset(Books& books, uint32_t operation, aclrtEvent handle, StreamIndex index) {
  const EventState& event = books.events[handle];
  if (!event.is_flag) return;
  Step step;
  step.effect = Step::Effect::kClearFlag;
  step.operation = operation;
  step.flag = event.flag;
  books.model.Submit(index, std::move(step));
}

void KeepReached(Books& books, aclrtEvent handle) {
  EventState& event = books.events[handle];
  if (event.outside && event.flag->set) books.model.Finish(event.flag->clock);
  if (event.latest == nullptr) return;
  event.latest->waited_for = true;
  event.lost = nullptr;
  books.model.Finish(*event.latest);
}

template <typename Wait>
aclError WaitForEvent(Call& call, aclrtEvent handle, Wait wait) {
  const HostWait waited(call, [&](Books& books) {
    const std::shared_ptr<Point>& latest = books.events[handle].latest;
    return latest == nullptr ? std::vector<Place>{} : std::vector{latest->place};
  });
  const aclError code = wait();
  if (code == ACL_SUCCESS) call.Keep([&](Books& books, uint32_t) { KeepReached(books, handle); });
  return code;
}

void JudgeDestroy(Books& books, uint32_t operation, const EventState& event) {
  for (const auto& [stream, wait] : event.waits)
    if (wait && !books.model.Finished(wait))
      return books.Tell(Rule::kLifeDestroy, operation, "destroys an event that " + books.NameOf(wait) + " waits for");
}

void KeepDestroy(Books& books, uint32_t operation, aclrtEvent handle) {
  const auto known = books.events.find(handle);
  if (known == books.events.end()) return;
  JudgeDestroy(books, operation, known->second);
  books.WhenDone([handle, flag = known->second.flag](Books& settled) {
    const auto at = settled.events.find(handle);
    if (at != settled.events.end() && at->second.flag == flag) settled.events.erase(at);  // else another event has the handle by now
  });
}

}  // namespace

RW_KEPT(aclrtCreateEvent, (aclrtEvent * event), (event), KeepEvent(books, operation, *event, false))
RW_KEPT(aclrtCreateEventWithFlag, (aclrtEvent * event, uint32_t flag), (event, flag), KeepEvent(books, operation, *event, true))
RW_KEPT(aclrtCreateEventExWithFlag, (aclrtEvent * event, uint32_t flag), (event, flag), KeepEvent(books, operation, *event, false, flag))
RW_KEPT(aclrtIpcGetEventHandle, (aclrtEvent event, aclrtIpcEventHandle* handle), (event, handle), (void)operation;
        books.exported_events[NameOf(*handle)] = books.events[event].flag)
RW_KEPT(aclrtIpcOpenEventHandle, (aclrtIpcEventHandle handle, aclrtEvent* event), (handle, event),
        KeepOpened(books, operation, *event, handle))
RW_AT_ONCE(aclrtDestroyEvent, (aclrtEvent event), (event), KeepDestroy(books, operation, event))

RW_RELEASES(aclrtRecordEvent, (aclrtEvent event, aclrtStream stream), (event, stream), FlagOf(books, event),
            KeepRecord(books, operation, event, index))
RW_RELEASES(aclrtRecordEventWithFlag, (aclrtEvent event, aclrtStream stream, uint32_t flag), (event, stream, flag), FlagOf(books, event),
            KeepRecord(books, operation, event, index, flag))
RW_QUEUED(aclrtResetEvent, (aclrtEvent event, aclrtStream stream), (event, stream), KeepReset(books, operation, event, index))
RW_QUEUED(aclrtStreamWaitEvent, (aclrtStream stream, aclrtEvent event), (stream, event), KeepWait(books, operation, event, index))
RW_QUEUED(aclrtStreamWaitEventWithFlag, (aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag),
          (stream, event, timeout, flag), KeepWait(books, operation, event, index, flag))
RW_QUEUED(aclrtStreamWaitEventWithTimeout, (aclrtStream stream, aclrtEvent event, int32_t timeout), (stream, event, timeout),
          KeepWait(books, operation, event, index))

RW_HOOK(aclrtSynchronizeEvent);
aclError aclrtSynchronizeEvent(aclrtEvent event) {
  RW_CALL(aclrtSynchronizeEvent);
  return WaitForEvent(call, event, [&] { return NEXT(aclrtSynchronizeEvent)(event); });
}

RW_HOOK(aclrtSynchronizeEventWithTimeout);
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  RW_CALL(aclrtSynchronizeEventWithTimeout);
  return WaitForEvent(call, event, [&] { return NEXT(aclrtSynchronizeEventWithTimeout)(event, timeout); });
}

RW_KEPT(aclrtQueryEventStatus, (aclrtEvent event, aclrtEventRecordedStatus* status), (event, status), (void)operation;
        if (*status == ACL_EVENT_RECORDED_STATUS_COMPLETE) KeepReached(books, event))
RW_KEPT(aclrtQueryEvent, (aclrtEvent event, aclrtEventStatus* status), (event, status), (void)operation;
        if (*status == ACL_EVENT_STATUS_COMPLETE) KeepReached(books, event))
RW_KEPT(aclrtEventElapsedTime, (float* ms, aclrtEvent startEvent, aclrtEvent endEvent), (ms, startEvent, endEvent), (void)operation;
        KeepReached(books, startEvent); KeepReached(books, endEvent))
