// aclprof: marks and steps of the program (docs/profiling.md). Marks say no by -1, and file nothing.
#include <cstring>
#include <memory>
#include <string>

#include "acl/acl_prof.h"
#include "api/entry.h"
#include "base/error_log.h"
#include "profile/aclprof.h"
#include "profile/markers.h"
#include "profile/stamps.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclprofStepInfo {
  uint64_t number;
  uint64_t mark_id;
  std::atomic<bool> started{false}, ended{false};
};

namespace ropeway::api {
namespace {

// Marks answer by a number, and what goes wrong inside is a no.
template <typename Body>
aclError MarkEntry(const char* call, Body&& body) noexcept {
  if (InForkedChild()) return stamps::kNo;
  NoteCall(call);
  const race_detector::OurCode ours;
  WatchedCall watched(call);
  try {
    const int code = body();
    return code == 0 ? 0 : watched.Failed(code);
  } catch (...) {
    return watched.Failed(stamps::kNo);
  }
}

int SetMarkEx(const char* text, size_t length, aclrtStream handle) {
  if (!Aclprof::Get().marking() || text == nullptr || handle == nullptr || length == 0 || length > stamps::kLongestText ||
      strnlen(text, length + 1) != length)
    return stamps::kNo;
  Stream* const stream = Streams().Acquire(handle);
  if (stream == nullptr) return stamps::kNo;
  const StreamHold hold(Streams(), stream);
  const char* const lasting = LastingText(text);
  if (lasting == nullptr) return stamps::kNo;
  const Mark mark{MarkKind::kInstant, NewMarkId(), lasting};
  return SetMark(mark, *stream, StreamSlab::GenerationOf(handle), "aclprofMarkEx").ok() ? 0 : stamps::kNo;
}

Status StreamFails(const Status& why) { return Reject(ACL_ERROR_GE_FAILURE, "the step cannot be marked: %s", why.text()); }

// The step is a range of the stream; null means the default stream.
Status MarkStep(const aclprofStepInfo& step, MarkKind kind, aclrtStream handle) {
  Result<Context*> context = CurrentContext();
  if (handle == nullptr && !context.ok()) return StreamFails(context.status());
  Result<StreamHold> stream = HoldStream(handle, context.ok() ? context.value() : nullptr);
  if (!stream.ok()) return StreamFails(stream.status());
  const char* const text = LastingText("step " + std::to_string(step.number));
  if (text == nullptr) return Fail(ACL_ERROR_BAD_ALLOC, "host memory is exhausted");
  Stream& target = *stream.value();
  const Status marked = SetStreamMark({kind, step.mark_id, text, kStepDomain}, target, target.generation(), "aclprofGetStepTimestamp");
  return marked.ok() ? Ok() : StreamFails(marked);
}

}  // namespace
}  // namespace ropeway::api

aclprofStepInfo* aclprofCreateStepInfo() {
  static std::atomic<uint64_t> next{1};
  aclprofStepInfo* made = nullptr;
  Entry(__func__, [&]() -> Status {
    made = new aclprofStepInfo{next.fetch_add(1), NewMarkId()};
    return Ok();
  });
  return made;
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stepinfo", stepinfo));
    delete stepinfo;
    return Ok();
  });
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stepInfo", stepInfo));
    const bool start = tag == ACL_STEP_START;
    std::atomic<bool>& told = start ? stepInfo->started : stepInfo->ended;
    if (told.exchange(true))
      return Reject(ACL_ERROR_INVALID_PARAM, "step %llu has had this tag (%s); make another for the next step",
                    static_cast<unsigned long long>(stepInfo->number), start ? "ACL_STEP_START" : "ACL_STEP_END");
    Status status = MarkStep(*stepInfo, start ? MarkKind::kBegin : MarkKind::kEnd, stream);
    if (!status.ok()) told = false;
    return status;
  });
}

void* aclprofCreateStamp() { return stamps::Create(); }
void aclprofDestroyStamp(void* stamp) { stamps::Destroy(stamp); }

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return MarkEntry(__func__, [&] { return stamps::SetText(stamp, msg, msgLen); });
}

aclError aclprofMark(void* stamp) {
  return MarkEntry(__func__, [&] { return stamps::Set(stamp); });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return MarkEntry(__func__, [&] { return SetMarkEx(msg, msgLen, stream); });
}

aclError aclprofPush(void* stamp) {
  return MarkEntry(__func__, [&] { return stamp == nullptr ? ACL_ERROR_INVALID_PARAM : stamps::Push(stamp); });
}

aclError aclprofPop() {
  return MarkEntry(__func__, [] { return stamps::Pop(); });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return MarkEntry(__func__,
                   [&] { return stamp == nullptr || rangeId == nullptr ? ACL_ERROR_INVALID_PARAM : stamps::Start(stamp, rangeId); });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return MarkEntry(__func__, [&] { return stamps::Stop(rangeId); });
}

// A number for a text, the same for as long as the process: where its one copy lies. All ones: no.
uint64_t aclprofStr2Id(const char* message) {
  const char* const lasting = message == nullptr ? nullptr : LastingText(message);
  return lasting == nullptr ? UINT64_MAX : reinterpret_cast<uintptr_t>(lasting);
}

// Shapes of kernels' tensors, of which there are none.
aclError aclprofRangePushEx(aclprofEventAttributes*) { return ACL_SUCCESS; }
aclError aclprofRangePop() { return ACL_SUCCESS; }
