// Failure mode and failure of a context, as far as its streams need it (rules/errors.md 3). In continue mode, the default,
// an error stays with its stream. In stop mode the first error fails the whole scope until the device is reset.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "base/mutex.h"
#include "base/status.h"
#include "stream/exception_report.h"

namespace ropeway {

class FailureScope {
 public:
  bool stops_on_failure() const { return stop_mode_.load(std::memory_order_acquire); }
  void StopOnFailure() { stop_mode_.store(true, std::memory_order_release); }

  static constexpr size_t kTextSize = 480;

  void SetFailed(int code, const char* text) {
    LockGuard lock(mutex_);
    if (code_.load(std::memory_order_relaxed) != 0) return;
    snprintf(text_, sizeof(text_), "%s", text);
    code_.store(code, std::memory_order_release);
  }
  bool failed() const { return code_.load(std::memory_order_acquire) != 0; }

  // OK, or the original error again. Never waits: for submits and queries.
  Status Check() {
    if (!failed()) [[likely]]
      return Ok();
    LockGuard lock(mutex_);
    return Fail(code_.load(std::memory_order_relaxed), "%s; the context has failed, reset the device", text_);
  }

  // The same for what synchronises: the program's exception callbacks know of the error before the caller does.
  Status Deliver() {
    if (failed()) [[unlikely]]
      AwaitExceptionReports();
    return Check();
  }

  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  void ClearFailure() {
    LockGuard lock(mutex_);
    code_.store(0, std::memory_order_release);
    text_[0] = '\0';
  }
  // The context ends; what remembers it by its epoch forgets it.
  void Reset() {
    epoch_.fetch_add(1, std::memory_order_acq_rel);
    ClearFailure();
    stop_mode_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<uint32_t> epoch_{0};
  std::atomic<bool> stop_mode_{false};
  std::atomic<int> code_{0};
  Mutex mutex_{LockRank::kFailureScope};
  char text_[kTextSize] RW_GUARDED_BY(mutex_) = {};
};

}  // namespace ropeway
