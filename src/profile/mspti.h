// mspti as a whole: who subscribed, which records are wanted, and the way of an activity into a buffer of the program.
#pragma once

#include <atomic>
#include <cstdint>

#include "mspti/mspti.h"
#include "profile/activity_source.h"
#include "profile/mspti_buffers.h"

namespace ropeway {

class Mspti final : public ActivityListener {
 public:
  static Mspti& Get();

  // --- Callbacks around calls (mspti_subscriber.cpp) ------------------------------------------------------------------------
  msptiResult Subscribe(msptiSubscriberHandle* handle, msptiCallbackFunc function, void* userdata);
  msptiResult Unsubscribe(msptiSubscriberHandle handle);
  msptiResult EnableCallback(bool on, msptiSubscriberHandle handle, uint32_t domain, uint32_t id);
  msptiResult EnableDomain(bool on, msptiSubscriberHandle handle, uint32_t domain);

  // --- Records ----------------------------------------------------------------------------------------------------------------
  msptiResult Register(const MsptiBufferCalls& calls);
  msptiResult Enable(uint32_t kind, bool on);
  bool IsEnabled(uint32_t kind) const { return kinds_.Has(kind); }
  void FlushAll();
  void FlushEvery(uint32_t milliseconds);
  static msptiResult NextRecord(uint8_t* buffer, size_t valid, msptiActivity** record);

  void CallBegins(const CallFrame& frame) override { TellSubscriber(frame, MSPTI_API_ENTER); }
  void CallEnds(const CallFrame& frame, const Activity& call) override;
  void Happened(const Activity& activity) override;
  bool WantsMarks() const override { return kinds_.Has(MSPTI_ACTIVITY_KIND_MARKER); }

 private:
  Mspti();
  void TellSubscriber(const CallFrame& frame, msptiApiCallbackSite site);
  // Listens for as long as a kind is enabled or a callback is.
  void ListenIfWanted() RW_REQUIRES(mutex_);

  static constexpr uint32_t kDomains = MSPTI_CB_DOMAIN_SIZE;

  Mutex mutex_{LockRank::kMspti};
  // Who subscribed is never destroyed: a call on another thread may be on its way to it.
  struct Subscriber {
    msptiCallbackFunc function;
    void* userdata;
    std::atomic<uint64_t> enabled[kDomains]{};  // bits, by id
  };
  std::atomic<Subscriber*> subscriber_{nullptr};
  std::vector<Subscriber*> retired_ RW_GUARDED_BY(mutex_);  // so that they are still somebody's
  MsptiKinds kinds_;
  ActivityQueue queue_;
  MsptiBuffers buffers_;
  std::atomic<bool> flushes_{false};  // every so often
};

// Numbers of the program for the calls of this thread: one stack for each kind.
msptiResult PushExternalId(uint32_t kind, uint64_t id);
msptiResult PopExternalId(uint32_t kind, uint64_t* last);
// Calls visit(kind, id) for the number on top of each stack.
void ForEachExternalId(void (*visit)(uint32_t kind, uint64_t id, void* into), void* into);

}  // namespace ropeway
