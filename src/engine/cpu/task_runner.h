// Carries out one task that moves bytes, by the method that its plan chose. Knows nothing of queues and order.
#pragma once

#include <atomic>

#include "engine/cpu/address_space.h"
#include "engine/cpu/shared_work.h"
#include "engine/task.h"

namespace ropeway::cpu {

class TaskRunner {
 public:
  explicit TaskRunner(const AddressSpace& addresses) : addresses_(addresses) {}

  void Run(const Task& task);
  // Gives back what a task owns, without running it.
  void Release(const Task& task);

  WorkBoard& board() { return board_; }
  // Somebody who can wake sleeping lanes when work worth sharing comes up; optional.
  void set_call_for_help(void (*call)(void*), void* context) {
    call_for_help_ = call;
    help_context_ = context;
  }
  // Cuts shared work short; see Engine::Stop.
  std::atomic<bool>& stop() { return stop_; }

 private:
  void Copy(void* dst, const void* src, size_t size, CopyMethod method);
  void CopyRows(const Task& task);
  void Set(const Task& task);

  const AddressSpace& addresses_;
  WorkBoard board_;
  void (*call_for_help_)(void*) = nullptr;
  void* help_context_ = nullptr;
  std::atomic<bool> stop_{false};
};

}  // namespace ropeway::cpu
