// A thread that runs user functions one after the other (rules/callbacks.md 2: one per context). It is started by whoever is about to
// submit the first function, and has no current context of its own.
#pragma once

#include <list>
#include <thread>

#include "base/mutex.h"
#include "engine/host_call.h"

namespace ropeway {

class HostThread final : public HostCallSink {
 public:
  explicit HostThread(const char* name = "rw-host-func") : name_(name) {}

  // Throws std::system_error when there is no thread to be had. Afterwards a Post always finds one, until Join.
  void Prepare();
  bool Post(const HostCall& call) override;
  bool Retract(HostCall::Return* on_return) override;

  // Ends the thread behind what was posted; it can be used again afterwards. Not from inside a function that it runs.
  void Join();
  // The process ends: functions that have not begun never will. Does not wait for one that runs.
  void Abandon();

 private:
  void Run();
  void StartIfNeeded() RW_REQUIRES(mutex_);
  void RunPosted() RW_REQUIRES(mutex_);

  const char* const name_;
  Mutex mutex_{LockRank::kHostThread};
  Condition changed_;
  std::list<HostCall> calls_ RW_GUARDED_BY(mutex_);
  std::thread thread_ RW_GUARDED_BY(mutex_);
  bool joining_ RW_GUARDED_BY(mutex_) = false;
  bool abandoned_ RW_GUARDED_BY(mutex_) = false;
};

}  // namespace ropeway
