// Holds a stream back until it is opened: how the demo shows that a call returned before its copy ran.
#pragma once

#include <atomic>

#include "cli/acl_objects.h"

namespace ropeway::cli {

// Must outlive the work of the streams that it holds; destroying it opens it.
class Gate {
 public:
  Gate() = default;
  ~Gate() { Open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // What is submitted to `stream` from now on waits.
  void Close(const Stream& stream) { RW_ACL(aclrtLaunchHostFunc(stream.get(), &Gate::Wait, this)); }

  void Open() {
    open_.store(true);
    open_.notify_all();
  }

 private:
  static void Wait(void* gate) { static_cast<Gate*>(gate)->open_.wait(false); }

  std::atomic<bool> open_{false};
};

}  // namespace ropeway::cli
