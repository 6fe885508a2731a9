// Holds a stream back until it is opened: how the demo shows that a call returned before its copy ran, and how the
// bench times a submit alone.
#pragma once

#include <atomic>

#include "cli/acl_objects.h"

namespace ropeway::cli {

// For one stream. Destroying it opens it and waits until the stream is past it.
class Gate {
 public:
  Gate() = default;
  ~Gate() {
    Open();
    // Also when a refused call ends the scope: the stream must not look at a gate that is gone.
    if (stream_ != nullptr) aclrtSynchronizeStream(stream_);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // What is submitted to `stream` from now on waits.
  void Close(const Stream& stream) {
    RW_ACL(aclrtLaunchHostFunc(stream.get(), &Gate::Wait, this));
    stream_ = stream.get();
  }

  void Open() {
    open_.store(true);
    open_.notify_all();
  }

 private:
  static void Wait(void* gate) { static_cast<Gate*>(gate)->open_.wait(false); }

  std::atomic<bool> open_{false};
  aclrtStream stream_ = nullptr;
};

}  // namespace ropeway::cli
