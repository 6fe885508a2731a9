// A program's own profiler (docs/profiling.md). Results are mspti's own.
#include "profile/mspti.h"

#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

template <typename Body>
msptiResult MsptiEntry(Body&& body) noexcept {
  if (InForkedChild()) return MSPTI_ERROR_INNER;
  const race_detector::OurCode ours;
  try {
    return body(Mspti::Get());
  } catch (...) {
    return MSPTI_ERROR_INNER;
  }
}

}  // namespace
}  // namespace ropeway::api

msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback, void* userdata) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.Subscribe(subscriber, callback, userdata); });
}

msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.Unsubscribe(subscriber); });
}

msptiResult msptiEnableCallback(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain, msptiCallbackId cbid) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.EnableCallback(enable != 0, subscriber, domain, cbid); });
}

msptiResult msptiEnableDomain(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.EnableDomain(enable != 0, subscriber, domain); });
}

msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                           msptiBuffersCallbackCompleteFunc funcBufferCompleted) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.Register({funcBufferRequested, funcBufferCompleted}); });
}

msptiResult msptiActivityEnable(msptiActivityKind kind) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.Enable(kind, true); });
}

msptiResult msptiActivityDisable(msptiActivityKind kind) {
  return MsptiEntry([&](Mspti& mspti) { return mspti.Enable(kind, false); });
}

int msptiActivityIsEnabled(msptiActivityKind kind) { return Mspti::Get().IsEnabled(kind) ? 1 : 0; }

msptiResult msptiActivityFlushAll(uint32_t) {
  return MsptiEntry([&](Mspti& mspti) {
    mspti.FlushAll();
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityFlushPeriod(uint32_t time) {
  return MsptiEntry([&](Mspti& mspti) {
    mspti.FlushEvery(time);
    return MSPTI_SUCCESS;
  });
}

msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes, msptiActivity** record) {
  return Mspti::NextRecord(buffer, validBufferSizeBytes, record);
}

msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id) { return PushExternalId(kind, id); }

msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t* lastId) {
  return PopExternalId(kind, lastId);
}
