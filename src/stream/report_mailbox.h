// Callbacks that a thread of the program serves (runtime.md 7.1). A mailbox belongs to a thread number; streams are
// subscribed to it, and the thread empties it by aclrtProcessReport.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/clock.h"
#include "base/status.h"
#include "engine/host_call.h"

namespace ropeway {

class Stream;

class ReportMailbox final : public HostCallSink {
 public:
  // The mailbox of a thread; made on first use, never destroyed. Null when there is none and `make` is false.
  static ReportMailbox* Of(uint64_t thread_number, bool make);

  // Binds and unbinds streams. 107011 and 107012 as runtime.md 7.1 says.
  static Status Subscribe(uint64_t thread_number, Stream& stream);
  static Status Unsubscribe(uint64_t thread_number, Stream& stream);
  // A stream that goes away is unsubscribed on its way.
  static void Forget(Stream& stream);

  // Runs what is due on the calling thread. 107012 not subscribed, 507012 nothing came.
  static Status Process(int32_t timeout_ms);

  void Post(const HostCall& call) override;
  bool Retract(HostCall::Return* on_return) override;

 private:
  uint64_t thread_number_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostCall> calls_;
  int streams_ = 0;
  int device_ = -1;  // of the streams that are subscribed
};

}  // namespace ropeway
