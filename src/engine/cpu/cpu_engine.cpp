#include "engine/cpu/cpu_engine.h"

#include <sys/mman.h>

#include <algorithm>
#include <thread>

#include "engine/cpu/address_space.h"
#include "engine/cpu/lanes.h"
#include "engine/cpu/queue.h"
#include "engine/cpu/stepper.h"
#include "engine/cpu/task_runner.h"

namespace ropeway::cpu {
namespace {

// docs/performance.md has the measurements: below 256 KiB a destination that is read at once suffers from streaming, and
// below 1 MiB a second lane does not pay for its wake-up.
constexpr Traits kTraits = {"cpu", size_t{256} << 10, size_t{1} << 20};
constexpr int kMostLanes = 8;

int LaneCount(const Config& config) {
  if (config.lanes > 0) return config.lanes;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostLanes);
}

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const Config& config) : host_access_(config.host_access), runner_(addresses_, kTraits) {
    if (config.schedule == ScheduleKind::kFast) {
      crew_ = std::make_unique<Lanes>(runner_, LaneCount(config));
    } else {
      crew_ = std::make_unique<Stepper>(config.schedule, config.schedule_seed);
    }
  }

  const Traits& traits() const override { return kTraits; }
  void* ReserveDevices(size_t count, size_t size_each) override {
    return addresses_.ReserveDevices(count * size_each, host_access_);
  }
  void* ReserveHost(size_t size) override { return addresses_.ReserveHost(size); }

  void Commit(void* address, size_t size, bool huge_pages) override {
    madvise(addresses_.View(address), size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  void Decommit(void* address, size_t size) override { madvise(addresses_.View(address), size, MADV_DONTNEED); }
  void* HostView(const void* device_address) const override { return addresses_.View(device_address); }

  std::unique_ptr<Queue> CreateQueue() override { return std::make_unique<CpuQueue>(*crew_, runner_); }
  void SetJudge(const AddressJudge* judge) override { runner_.set_judge(judge); }
  void RunNow(const Task& task) override {
    TaskFailure none;
    runner_.Run(task, &none);
    runner_.values().MemoryChangedNow();
  }

  void Stop() override {
    runner_.stop().store(true, std::memory_order_seq_cst);
    crew_->Stop();
    runner_.values().Stop();
  }

 private:
  const bool host_access_;
  AddressSpace addresses_;
  TaskRunner runner_;
  std::unique_ptr<Crew> crew_;
};

}  // namespace

std::unique_ptr<Engine> CreateCpuEngine(const Config& config) {
  return std::make_unique<CpuEngine>(config);
}

}  // namespace ropeway::cpu
