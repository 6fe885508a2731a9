#include "profile/mspti.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ropeway {

Mspti& Mspti::Get() {
  static auto* const mspti = new Mspti;  // what ends at exit may still tell
  return *mspti;
}

Mspti::Mspti()
    : queue_([] {
        Mspti& mspti = Get();
        mspti.buffers_.Write();
        if (mspti.flushes_.load(std::memory_order_relaxed)) mspti.buffers_.GiveBackAll();
      }),
      buffers_(queue_) {}

void Mspti::ListenIfWanted() {
  const Subscriber* const subscriber = subscriber_.load(std::memory_order_acquire);
  const bool calls = subscriber != nullptr && subscriber->function != nullptr &&
                     std::any_of(std::begin(subscriber->enabled), std::end(subscriber->enabled), [](const auto& ids) { return ids != 0; });
  const bool records = kinds_.Any();
  if (records) queue_.Prepare();
  Listen(Listening::kMspti, records || calls ? this : nullptr);
}

msptiResult Mspti::Register(const MsptiBufferCalls& calls) {
  if (calls.request == nullptr || calls.complete == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  buffers_.Register(calls);
  return MSPTI_SUCCESS;
}

msptiResult Mspti::Enable(uint32_t kind, bool on) {
  if (!MsptiKinds::Known(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  LockGuard lock(mutex_);
  kinds_.Set(kind, on);
  ListenIfWanted();
  return MSPTI_SUCCESS;
}

void Mspti::Happened(const Activity& activity) {
  if (kinds_.Has(MsptiKindOf(activity))) queue_.Put({&activity, 1});
}

// One record for each kind of call, behind the program's numbers of it.
void Mspti::CallEnds(const CallFrame& frame, const Activity& call) {
  struct Records {
    std::array<Activity, MSPTI_EXTERNAL_CORRELATION_KIND_SIZE + 3> all;
    size_t count = 0;
    const Activity& call;
  } records{{}, 0, call};
  if (kinds_.Has(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    const auto add = [](uint32_t kind, uint64_t id, void* into) {
      auto& out = *static_cast<Records*>(into);
      Activity external = out.call;
      external.kind = Activity::Kind::kExternal;
      external.value = kind;
      external.id = id;
      out.all[out.count++] = external;
    };
    ForEachExternalId(add, &records);
  }
  for (const msptiActivityKind kind : {MSPTI_ACTIVITY_KIND_API, MSPTI_ACTIVITY_KIND_ACL_API, MSPTI_ACTIVITY_KIND_RUNTIME_API}) {
    if (!kinds_.Has(kind)) continue;
    Activity& one = records.all[records.count++] = call;
    one.value = kind;
  }
  if (records.count > 0) queue_.Put({records.all.data(), records.count});
  TellSubscriber(frame, MSPTI_API_EXIT);
}

void Mspti::FlushAll() {
  buffers_.Write();
  buffers_.GiveBackAll();
}

void Mspti::FlushEvery(uint32_t milliseconds) {
  flushes_.store(milliseconds != 0, std::memory_order_relaxed);
  queue_.Prepare();
  queue_.WorkEvery(milliseconds);
}

msptiResult Mspti::NextRecord(uint8_t* buffer, size_t valid, msptiActivity** record) {
  if (buffer == nullptr || record == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  const auto size_at = [](const uint8_t* at) {
    uint32_t kind;
    std::memcpy(&kind, at, sizeof(kind));
    return MsptiRecordSize(kind);
  };
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record);
    if (next < buffer || next + sizeof(uint32_t) > buffer + valid) return MSPTI_ERROR_INVALID_PARAMETER;
    const size_t size = size_at(next);
    if (size == 0) return MSPTI_ERROR_INNER;
    next += size;
  }
  if (next + sizeof(uint32_t) > buffer + valid) return MSPTI_ERROR_MAX_LIMIT_REACHED;
  const size_t size = size_at(next);
  if (size == 0) return MSPTI_ERROR_INNER;
  if (next + size > buffer + valid) return MSPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<msptiActivity*>(next);
  return MSPTI_SUCCESS;
}

}  // namespace ropeway
