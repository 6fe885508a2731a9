// Carries out one task that moves bytes, by the method that its plan chose. Knows nothing of queues and order.
#pragma once

#include <atomic>

#include "engine/address_judge.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/shared_work.h"
#include "engine/cpu/value_watch.h"
#include "engine/engine.h"
#include "engine/task.h"

namespace ropeway::cpu {

// Why a task could not be carried out; no byte of it moved.
struct TaskFailure {
  int code = 0;
  char text[240];
};

class TaskRunner {
 public:
  TaskRunner(const AddressSpace& addresses, const Traits& traits) : addresses_(addresses), traits_(traits) {}

  // The code of the failure, or 0. What the task owns is released.
  int Run(const Task& task, TaskFailure* failure) {
    const int code = Execute(task, failure);
    if (task.flags != 0) ReleasePayload(task);
    return code;
  }
  // A task of a graph: what it names may have been freed since it was captured, and what it owns is needed again.
  int RunAgain(const Task& task, TaskFailure* failure);

  void set_judge(const AddressJudge* judge) { judge_ = judge; }
  const void* View(const void* address) const { return addresses_.View(address); }
  WorkBoard& board() { return board_; }
  ValueWatch& values() { return values_; }
  // Somebody who can wake sleeping lanes when work worth sharing comes up; optional.
  void set_call_for_help(void (*call)(void*), void* context) {
    call_for_help_ = call;
    help_context_ = context;
  }
  // Cuts shared work short; see Engine::Stop.
  std::atomic<bool>& stop() { return stop_; }

 private:
  int Execute(const Task& task, TaskFailure* failure);
  void Copy(void* dst, const void* src, size_t size, CopyMethod method);
  void CopyRows(const Task& task);
  void CopyBatch(const Task& task);
  int CopyByDescriptor(const Task& task, TaskFailure* failure);
  int CopyByCells(const Task& task, TaskFailure* failure);
  int CopyOnDevice(void* dst, const void* src, size_t size, const char* whence, TaskFailure* failure);
  void Set(const Task& task);
  void Store(const Task& task);
  void Share(SharedWork& work, size_t bytes);
  bool Usable(const void* address, size_t size) const { return judge_ == nullptr || judge_->Judge(address, size).usable; }
  int CheckAgain(const Task& task, TaskFailure* failure) const;

  const AddressSpace& addresses_;
  const Traits& traits_;
  const AddressJudge* judge_ = nullptr;
  WorkBoard board_;
  ValueWatch values_;
  void (*call_for_help_)(void*) = nullptr;
  void* help_context_ = nullptr;
  std::atomic<bool> stop_{false};
};

}  // namespace ropeway::cpu
