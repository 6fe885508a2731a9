// What tests of queues, crews and streams share: an engine per schedule, queues whose submitters behave as a stream's do,
// and the small fakes (owner, markers, host calls that run when the test says so).
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <list>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/config.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/engine.h"
#include "engine/sched/lane_engine.h"
#include "unit/late_backend.h"
#include "unit/point_backend.h"

namespace ropeway_unit {

// Gates that outlive every test: a time limit that comes late still looks at its gate, and in the library gates are never
// freed.
inline std::deque<ropeway::Gate>& KeptGates(size_t count) {
  static std::list<std::deque<ropeway::Gate>> kept;
  return kept.emplace_back(count);
}

using namespace ropeway;

struct CrewCase {
  const char* name;
  ScheduleKind schedule;
  int lanes;
  uint64_t seed;
  bool late = false;    // on a backend that works on behind Start
  bool points = false;  // and whose lines can follow each other
};
inline constexpr CrewCase kAllCrews[] = {{"Fast1", ScheduleKind::kFast, 1, 0},
                                         {"Fast2", ScheduleKind::kFast, 2, 0},
                                         {"Fast8", ScheduleKind::kFast, 8, 0},
                                         {"Earliest", ScheduleKind::kEarliest, 0, 0},
                                         {"Latest", ScheduleKind::kLatest, 0, 0},
                                         {"Random", ScheduleKind::kRandom, 0, 7},
                                         {"Random2", ScheduleKind::kRandom, 0, 4711},
                                         {"FastLate", ScheduleKind::kFast, 2, 0, true},
                                         {"RandomLate", ScheduleKind::kRandom, 0, 99, true},
                                         {"FastPoints", ScheduleKind::kFast, 2, 0, true, true}};
inline void PrintTo(const CrewCase& crew, std::ostream* out) { *out << crew.name; }
inline std::string CrewName(const testing::TestParamInfo<CrewCase>& info) { return info.param.name; }

inline Config SmallConfig(const CrewCase& crew) {
  Config config;
  config.lanes = crew.lanes;
  config.schedule = crew.schedule;
  config.schedule_seed = crew.seed;
  return config;
}

// The engine behind tests that use streams: a stream keeps its queue for the next stream, so they all need the same one.
inline Engine& SharedEngine() {
  static Engine* engine = cpu::CreateCpuEngine(SmallConfig({"Shared", ScheduleKind::kFast, 2, 0})).release();
  return *engine;
}

class FakeOwner : public QueueOwner {
 public:
  bool TaskFailed(const Task&, uint64_t, int code, const char* text) override {
    std::lock_guard lock(mutex_);
    codes_.push_back(code);
    texts_.push_back(text);
    return stop_on_failure;
  }
  std::vector<int> codes() {
    std::lock_guard lock(mutex_);
    return codes_;
  }
  std::vector<std::string> texts() {
    std::lock_guard lock(mutex_);
    return texts_;
  }
  std::atomic<bool> stop_on_failure{false};

 private:
  std::mutex mutex_;
  std::vector<int> codes_;
  std::vector<std::string> texts_;
};

// The order in which markers of several queues were reached or dropped.
class Log {
 public:
  void Add(int value) {
    std::lock_guard lock(mutex_);
    values_.push_back(value);
  }
  std::vector<int> values() const {
    std::lock_guard lock(mutex_);
    return values_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> values_;
};

class CountingMarker : public Marker {
 public:
  explicit CountingMarker(Log* log = nullptr, int value = 0) : log_(log), value_(value) {}
  virtual ~CountingMarker() = default;
  void Reached() override {
    reached.fetch_add(1);
    if (log_ != nullptr) log_->Add(value_);
  }
  void Dropped() override { dropped.fetch_add(1); }
  std::atomic<int> reached{0};
  std::atomic<int> dropped{0};

 private:
  Log* log_;
  int value_;
};

// Markers that stay where they are.
class Markers {
 public:
  CountingMarker* New(Log* log = nullptr, int value = 0) { return &all_.emplace_back(log, value); }
  int reached() const { return Sum(&CountingMarker::reached); }
  int dropped() const { return Sum(&CountingMarker::dropped); }
  // Every marker was told exactly once.
  bool EachOnce() const {
    for (const CountingMarker& marker : all_) {
      if (marker.reached + marker.dropped != 1) return false;
    }
    return true;
  }

 private:
  int Sum(std::atomic<int> CountingMarker::*count) const {
    int sum = 0;
    for (const CountingMarker& marker : all_) sum += (marker.*count).load();
    return sum;
  }
  std::deque<CountingMarker> all_;
};

// Host calls that run when the test says so, on its thread.
class ManualSink : public HostCallSink {
 public:
  bool Post(const HostCall& call) override {
    std::lock_guard lock(mutex_);
    if (refuses_) return false;
    calls_.push_back(call);
    changed_.notify_all();
    return true;
  }
  // As a sink that has no memory for a call.
  void Refuse() {
    std::lock_guard lock(mutex_);
    refuses_ = true;
  }
  bool Retract(HostCall::Return* on_return) override {
    std::lock_guard lock(mutex_);
    for (auto it = calls_.begin(); it != calls_.end(); ++it) {
      if (it->on_return != on_return) continue;
      calls_.erase(it);
      return true;
    }
    return false;
  }
  size_t waiting() {
    std::lock_guard lock(mutex_);
    return calls_.size();
  }
  // Waits for a call and runs it.
  void RunNext() {
    HostCall call;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !calls_.empty(); });
      call = calls_.front();
      calls_.pop_front();
    }
    call.Run();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostCall> calls_;
  bool refuses_ = false;
};

// One thread waits, another lets it go.
class Latch {
 public:
  void Release() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// Blocks until thread `tid` of this process sleeps in the kernel: it is inside the wait that the test needs it in.
inline void AwaitAsleep(pid_t tid) {
  for (;;) {
    std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
    const size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'S') return;
    sched_yield();
  }
}

inline Task MarkTask(Marker* marker) {
  Task task{};
  task.kind = TaskKind::kMark;
  task.call = "mark";
  task.mark.marker = marker;
  return task;
}

inline Task AwaitTask(Gate* gate, Marker* marker, int64_t timeout_ns = 0) {
  Task task{};
  task.kind = TaskKind::kAwait;
  task.call = "await";
  task.await = {gate, marker, timeout_ns, {}};
  return task;
}

inline Task CopyTask(void* dst, const void* src, size_t size) {
  Task task{};
  task.kind = TaskKind::kCopy;
  task.method = CopyMethod::kCached;
  task.call = "copy";
  task.copy = {dst, src, size};
  return task;
}

inline Task SetTask(void* dst, size_t size, uint32_t value) {
  Task task{};
  task.kind = TaskKind::kSet;
  task.method = CopyMethod::kCached;
  task.call = "set";
  task.set = {dst, size, value};
  return task;
}

inline Task CallTask(HostCallSink* sink, void (*function)(void*), void* argument, bool blocks = true) {
  Task task{};
  task.kind = TaskKind::kCall;
  task.call = "call";
  task.call_host = {sink, function, argument, blocks};
  return task;
}

// A host function for tests: counts.
inline void AddOne(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

inline Task FailTask(int code) {
  Task task{};
  task.kind = TaskKind::kFail;
  task.call = "fail";
  task.fail = {nullptr, code};
  return task;
}

// A queue with the lock that a stream brings, and the way a stream submits.
class Line {
 public:
  explicit Line(Engine& engine, QueueOwner* owner = nullptr, uint32_t id = 1, int priority = 0) : queue_(engine.CreateQueue()) {
    queue_->Open({owner != nullptr ? owner : &own_owner, id, 0, priority});
  }
  uint64_t Submit(Task task) {
    for (;;) {
      if (const uint64_t sequence = SubmitOnce(task); sequence != 0) return sequence;
      queue_->AwaitRoom();
    }
  }
  // As above, but does not wait for room.
  bool TrySubmit(Task task) { return SubmitOnce(task) != 0; }
  WaitOutcome Drain() { return queue_->Wait(queue_->submitted(), Deadline::Never()); }
  Queue* operator->() { return queue_.get(); }
  Queue& queue() { return *queue_; }
  FakeOwner own_owner;

 private:
  uint64_t SubmitOnce(Task& task) {
    Queue::Submission submission;
    {
      std::lock_guard lock(mutex_);
      submission = queue_->Submit(task);
    }
    if (submission.sequence != 0 && submission.needs_kick) queue_->Kick(task);
    return submission.sequence;
  }

  std::mutex mutex_;
  std::unique_ptr<Queue> queue_;
};

// An engine and its queues. The engine's threads end before a queue does: to the engine, queues live for ever.
class Workshop {
 public:
  explicit Workshop(const CrewCase& crew) : engine_(sched::CreateLaneEngine(SmallConfig(crew), BackendFor(crew))) {}
  ~Workshop() { engine_->Stop(); }
  Line& NewLine(QueueOwner* owner = nullptr, int priority = 0) {
    return lines_.emplace_back(*engine_, owner, static_cast<uint32_t>(lines_.size() + 1), priority);
  }
  Engine& engine() { return *engine_; }

 private:
  // Not cpu::CreateCpuEngine, which has as many lanes as the machine wants.
  static sched::MakeBackend BackendFor(const CrewCase& crew) {
    if (crew.points) return [](WorkSharer& sharer) { return std::make_unique<PointBackend>(sharer); };
    if (crew.late) return [](WorkSharer& sharer) { return std::make_unique<LateBackend>(sharer); };
    return [](WorkSharer& sharer) { return std::make_unique<cpu::CpuBackend>(sharer, false); };
  }
  std::unique_ptr<Engine> engine_;
  std::deque<Line> lines_;
};

}  // namespace ropeway_unit
