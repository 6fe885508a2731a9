// A backend that goes on working behind Start, as a GPU's does, on a machine without one: copies, sets and stores are kept on their line
// and carried out by Finish. Nobody sees a byte that was not finished.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "engine/cpu/cpu_backend.h"

namespace ropeway_unit {

class LateBackend : public ropeway::Backend {
 public:
  explicit LateBackend(ropeway::WorkSharer& sharer) : inner_(sharer, false) {}

  // What the next Finish answers, once; 0: nothing fails.
  inline static std::atomic<int> fail_next{0};

  const ropeway::Traits& traits() const override { return inner_.traits(); }
  void* ReserveDevices(size_t window, size_t size, uintptr_t wanted) override { return inner_.ReserveDevices(window, size, wanted); }
  void* ReserveHost(size_t size) override { return inner_.ReserveHost(size); }
  bool Commit(void* address, size_t size, bool huge_pages) override { return inner_.Commit(address, size, huge_pages); }
  void Decommit(void* address, size_t size) override { inner_.Decommit(address, size); }
  bool Register(void*, size_t) override { return true; }
  void Unregister(void*) override {}
  void* HostView(const void* address, size_t size) override { return inner_.HostView(address, size); }
  void SetJudge(const ropeway::AddressJudge* judge) override { inner_.SetJudge(judge); }

  std::unique_ptr<Line> NewLine() override { return std::make_unique<KeptLine>(); }
  int Start(const ropeway::Task& task, const Behind& behind, Line* line, ropeway::TaskFailure* failure) override {
    auto& kept = static_cast<KeptLine*>(line)->tasks;
    if (CanWait(task)) {
      kept.push_back(task);
      return 0;
    }
    RunKept(kept);
    return inner_.Start(task, behind, nullptr, failure);
  }
  int Finish(Line* line, ropeway::TaskFailure* failure) override {
    RunKept(static_cast<KeptLine*>(line)->tasks);
    const int code = fail_next.exchange(0);
    return code == 0 ? 0 : ropeway::Explain(failure, code, "the device is lost");
  }
  bool finishes_at_once() const override { return false; }
  bool StartsSoon(const ropeway::Task& task) const override { return CanWait(task) || task.kind == ropeway::TaskKind::kBatch; }
  uint64_t LoadWord(const void* address) override { return inner_.LoadWord(address); }

 protected:
  struct KeptLine : Line {
    std::vector<ropeway::Task> tasks;
  };
  static bool CanWait(const ropeway::Task& task) {
    using enum ropeway::TaskKind;
    return task.flags == 0 && (task.kind == kCopy || task.kind == kSet || task.kind == kSetWords || task.kind == kStore);
  }
  void RunKept(std::vector<ropeway::Task>& kept) {
    ropeway::TaskFailure none;
    for (const ropeway::Task& task : kept) inner_.Start(task, {}, nullptr, &none);
    kept.clear();
  }

  ropeway::cpu::CpuBackend inner_;
};

}  // namespace ropeway_unit
