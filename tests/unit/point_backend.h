// A backend that works on behind Start and whose lines can follow points of each other, as a GPU's can. What was started is done when
// somebody finishes it, or something behind it on any line; nothing is finished while a test holds the device.
#pragma once

#include <sched.h>

#include <mutex>

#include "unit/late_backend.h"

namespace ropeway_unit {

class PointBackend final : public LateBackend {
 public:
  explicit PointBackend(ropeway::WorkSharer& sharer) : LateBackend(sharer) {}

  // While it is set, FinishUpTo does not return.
  inline static std::atomic<bool> held{false};
  // Copies, sets and stores that were started, and points that were followed, since the test set them to 0.
  inline static std::atomic<int> started{0}, followed{0};

  std::unique_ptr<Line> NewLine() override { return std::make_unique<PointLine>(); }
  int Start(const ropeway::Task& task, const Behind& behind, Line* line, ropeway::TaskFailure* failure) override {
    std::lock_guard lock(mutex_);
    auto& kept = static_cast<PointLine*>(line)->kept->steps;
    ++started;
    if (CanWait(task)) {
      kept.push_back({task, nullptr});
      return 0;
    }
    RunUpTo(*static_cast<PointLine*>(line)->kept, kept.size());
    return inner_.Start(task, behind, nullptr, failure);
  }
  int Finish(Line* line, ropeway::TaskFailure* failure) override {
    std::lock_guard lock(mutex_);
    Kept& kept = *static_cast<PointLine*>(line)->kept;
    RunUpTo(kept, kept.steps.size());
    const int code = fail_next.exchange(0);
    return code == 0 ? 0 : ropeway::Explain(failure, code, "the device is lost");
  }
  bool has_points() const override { return true; }
  std::shared_ptr<ropeway::DevicePoint> MarkPoint(Line* line) override {
    std::lock_guard lock(mutex_);
    const std::shared_ptr<Kept>& kept = static_cast<PointLine*>(line)->kept;
    return std::make_shared<Point>(kept, kept->steps.size());
  }
  bool Follow(Line* line, const ropeway::DevicePoint& point) override {
    std::lock_guard lock(mutex_);
    ++followed;
    static_cast<PointLine*>(line)->kept->steps.push_back({{}, std::make_shared<Point>(static_cast<const Point&>(point))});
    return true;
  }
  int FinishUpTo(const ropeway::DevicePoint& point, const std::function<void()>& meanwhile, ropeway::TaskFailure*) override {
    do {
      meanwhile();
      sched_yield();
    } while (held);
    std::lock_guard lock(mutex_);
    RunUpTo(*static_cast<const Point&>(point).line, static_cast<const Point&>(point).end);
    return 0;
  }

 private:
  struct Point;
  struct Step {
    ropeway::Task task;
    std::shared_ptr<Point> follows;  // instead of the task
  };
  struct Kept {
    std::vector<Step> steps;
    size_t done = 0;
  };
  struct Point : ropeway::DevicePoint {
    Point(std::shared_ptr<Kept> on, size_t steps) : line(std::move(on)), end(steps) {}
    const std::shared_ptr<Kept> line;
    const size_t end;
  };
  struct PointLine : Line {
    const std::shared_ptr<Kept> kept = std::make_shared<Kept>();
  };
  void RunUpTo(Kept& kept, size_t end) {
    ropeway::TaskFailure none;
    while (kept.done < end) {
      const Step step = std::exchange(kept.steps[kept.done++], {});
      if (step.follows != nullptr) {
        RunUpTo(*step.follows->line, step.follows->end);
      } else {
        inner_.Start(step.task, {}, nullptr, &none);
      }
    }
  }

  std::mutex mutex_;
};

}  // namespace ropeway_unit
