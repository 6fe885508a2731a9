// Failure mode and failure of a context, as far as its streams need it (runtime.md 9.1). In continue mode, the default,
// an error stays with its stream. In stop mode the first error fails the whole scope until the device is reset.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/status.h"

namespace ropeway {

class FailureScope {
 public:
  bool stops_on_failure() const { return stop_mode_.load(std::memory_order_acquire); }
  void StopOnFailure() { stop_mode_.store(true, std::memory_order_release); }

  void SetFailed(int code, const std::string& text) {
    std::lock_guard lock(mutex_);
    if (code_.load(std::memory_order_relaxed) != 0) return;
    text_ = text;
    code_.store(code, std::memory_order_release);
  }
  bool failed() const { return code_.load(std::memory_order_acquire) != 0; }

  // OK, or the original error again.
  Status Check() {
    if (!failed()) [[likely]]
      return Ok();
    std::lock_guard lock(mutex_);
    return Fail(code_.load(std::memory_order_relaxed), "%s; the context is in stop-on-failure mode, reset the device", text_.c_str());
  }

  uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  void ClearFailure() {
    std::lock_guard lock(mutex_);
    code_.store(0, std::memory_order_release);
    text_.clear();
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
  std::mutex mutex_;
  std::string text_;
};

}  // namespace ropeway
