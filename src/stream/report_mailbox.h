// Callbacks that a thread of the program serves (rules/callbacks.md 1). A mailbox belongs to a thread number; streams are
// subscribed to it, and the thread empties it by aclrtProcessReport.
#pragma once

#include <cstdint>
#include <list>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "engine/host_call.h"

namespace ropeway {

class Stream;

class ReportMailbox final : public HostCallSink {
 public:
  // The mailbox of a thread; made on first use, never destroyed. Null when there is none and `make` is false.
  static ReportMailbox* Of(uint64_t thread_number, bool make);

  // Binds and unbinds streams. 107011 and 107012 as rules/callbacks.md 1 says.
  static Status Subscribe(uint64_t thread_number, Stream& stream);
  static Status Unsubscribe(uint64_t thread_number, Stream& stream);
  // A stream that goes away is unsubscribed on its way.
  static void Forget(Stream& stream);

  // Runs what is due on the calling thread. 107012 not subscribed, 507012 nothing came.
  static Status Process(int32_t timeout_ms);

  bool Post(const HostCall& call) override;
  bool Retract(HostCall::Return* on_return) override;

 private:
  uint64_t thread_number_ = 0;
  Mutex mutex_{LockRank::kReportMailbox};
  Condition changed_;
  std::list<HostCall> calls_ RW_GUARDED_BY(mutex_);
  int streams_ RW_GUARDED_BY(mutex_) = 0;
  int device_ RW_GUARDED_BY(mutex_) = -1;  // of the streams that are subscribed
};

}  // namespace ropeway
