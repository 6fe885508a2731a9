// A thread that runs user functions one after the other (runtime.md 7.2: one per context). It is started by whoever is about to
// submit the first function, and has no current context of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/host_call.h"

namespace ropeway {

class HostThread final : public HostCallSink {
 public:
  explicit HostThread(const char* name = "rw-host-func") : name_(name) {}

  // Throws std::system_error when there is no thread to be had. Afterwards a Post always finds one, until Join.
  void Prepare();
  void Post(const HostCall& call) override;
  bool Retract(HostCall::Return* on_return) override;

  // Ends the thread behind what was posted; it can be used again afterwards. Not from inside a function that it runs.
  void Join();
  // The process ends: functions that have not begun never will. Does not wait for one that runs.
  void Abandon();

 private:
  void Run();
  void StartIfNeeded();  // wants mutex_ held
  void RunPosted(std::unique_lock<std::mutex>& lock);

  const char* const name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostCall> calls_;
  std::thread thread_;
  bool joining_ = false;
  bool abandoned_ = false;
};

}  // namespace ropeway
