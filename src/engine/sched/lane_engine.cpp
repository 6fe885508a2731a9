#include "engine/sched/lane_engine.h"

#include <algorithm>
#include <vector>

#include "base/cores.h"
#include "base/mutex.h"
#include "engine/sched/lanes.h"
#include "engine/sched/queue.h"
#include "engine/sched/stepper.h"
#include "engine/sched/workshop.h"
#include "engine/watcher.h"

namespace ropeway::sched {
namespace {

constexpr int kMostLanes = 8;

int LaneCount(const Config& config) {
  if (config.lanes > 0) return config.lanes;
  return std::clamp(UsableCores(), 1, kMostLanes);
}

class LaneEngine final : public Engine {
 public:
  LaneEngine(const Config& config, const MakeBackend& make_backend) : shop_(make_backend) {
    if (config.schedule == ScheduleKind::kFast) {
      crew_ = std::make_unique<Lanes>(shop_, LaneCount(config));
    } else {
      crew_ = std::make_unique<Stepper>(config.schedule, config.schedule_seed);
    }
  }

  const Traits& traits() const override { return shop_.backend->traits(); }
  EngineMemory& memory() override { return *shop_.backend; }
  void SetJudge(const AddressJudge* judge) override {
    shop_.judge = judge;
    shop_.backend->SetJudge(judge);
  }

  std::unique_ptr<Queue> CreateQueue() override { return std::make_unique<LaneQueue>(*crew_, shop_); }
  void ExpectCopy(void* dst, const void* src, size_t size) override { shop_.backend->ExpectCopy(dst, src, size); }
  int RunNow(const Task& task, TaskFailure* failure) override;

  void Stop() override {
    shop_.sharer.stop().store(true, std::memory_order_seq_cst);
    crew_->Stop();
    shop_.values.Stop();
  }

 private:
  int RunOnLine(const Task& task, TaskFailure* failure);
  std::unique_ptr<Backend::Line> TakeLine();
  void ReturnLine(std::unique_ptr<Backend::Line> line);

  Workshop shop_;
  const bool at_once_{shop_.backend->finishes_at_once()};  // nothing goes on behind Start
  std::unique_ptr<Crew> crew_;
  Mutex mutex_{LockRank::kIdleLines};
  std::vector<std::unique_ptr<Backend::Line>> lines_ RW_GUARDED_BY(mutex_);  // idle ones, for work outside of queues
  size_t lines_made_ RW_GUARDED_BY(mutex_) = 0;
};

std::unique_ptr<Backend::Line> LaneEngine::TakeLine() {
  if (at_once_) return nullptr;
  LockGuard lock(mutex_);
  if (lines_.empty()) {
    lines_.reserve(++lines_made_);  // all of them may come back
    return shop_.backend->NewLine();
  }
  std::unique_ptr<Backend::Line> line = std::move(lines_.back());
  lines_.pop_back();
  return line;
}

void LaneEngine::ReturnLine(std::unique_ptr<Backend::Line> line) {
  if (line == nullptr) return;
  LockGuard lock(mutex_);
  lines_.push_back(std::move(line));
}

int LaneEngine::RunNow(const Task& task, TaskFailure* failure) {
  if (!at_once_ || ActiveWatcher() != nullptr) [[unlikely]]
    return RunOnLine(task, failure);
  const int code = shop_.backend->Start(task, {}, nullptr, failure);
  shop_.values.MemoryChangedNow(&task);
  if (task.flags != 0) ReleasePayload(task);
  return code;
}

// Where work goes on behind Start, or somebody watches.
int LaneEngine::RunOnLine(const Task& task, TaskFailure* failure) {
  std::unique_ptr<Backend::Line> line = TakeLine();
  TaskFailure late;
  const TaskSight sight{0, -1, 0, &task};
  Watcher* const watcher = ActiveWatcher();
  if (watcher != nullptr) watcher->Submitted(sight);
  const Moment started = watcher != nullptr ? watcher->Started(sight) : Moment();
  int code = shop_.backend->Start(task, {}, line.get(), failure);
  const int late_code = shop_.backend->Finish(line.get(), &late);
  if (code == 0 && late_code != 0) {
    code = late_code;
    *failure = late;
  }
  if (watcher != nullptr) watcher->Finished(sight, {.started = started, .code = code});
  shop_.values.MemoryChangedNow(&task);
  ReleasePayload(task);
  ReturnLine(std::move(line));
  return code;
}

}  // namespace

std::unique_ptr<Engine> CreateLaneEngine(const Config& config, const MakeBackend& make_backend) {
  return std::make_unique<LaneEngine>(config, make_backend);
}

}  // namespace ropeway::sched
