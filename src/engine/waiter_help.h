// What a thread that waits for a stream does besides: a function of a library on top, which looks for what no lane can see. One for the
// process, set once (ropewayHelpWaiters).
#pragma once

#include <atomic>

namespace ropeway {

// 0: looks, and answers whether there is anything to look for: 1, or 2 when those who bring it need the core, with 4 when some has just
// come; 1: the caller stops looking.
using WaiterHelp = int (*)(int leaving);

inline std::atomic<WaiterHelp> g_waiter_help{nullptr};

inline void SetWaiterHelp(WaiterHelp help) { g_waiter_help.store(help, std::memory_order_release); }

// One thread's help, for as long as it waits.
class Helping {
 public:
  Helping() = default;
  ~Helping() { Stop(); }
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

  // Whether there is something to look for.
  bool Look() {
    const int answer = help_ == nullptr ? 0 : help_(0);
    yields_ = (answer & 2) != 0;
    found_ = (answer & 4) != 0;
    return looked_ = answer != 0;
  }
  // Whether something came: more may.
  bool found() const { return found_; }
  // Whether those who are looked for need the core.
  bool yields() const { return yields_; }
  void Stop() {
    if (looked_) help_(1);
    looked_ = false;
  }

 private:
  const WaiterHelp help_ = g_waiter_help.load(std::memory_order_acquire);
  bool looked_ = false;
  bool yields_ = false;
  bool found_ = false;
};

}  // namespace ropeway
