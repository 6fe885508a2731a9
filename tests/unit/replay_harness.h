// Captured graphs for tests: built by hand, with markers that know how often they were repeated.
#pragma once

#include <initializer_list>

#include "engine/task_graph.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {

class RepeatMarker final : public CountingMarker {
 public:
  using CountingMarker::CountingMarker;
  void Repeat() override { repeats.fetch_add(1); }
  // Told exactly once for each time that it was repeated.
  bool Settled() const { return reached + dropped == repeats; }
  std::atomic<int> repeats{0};
};

inline Task EdgeTask(TaskKind kind, uint32_t index) {
  Task task{};
  task.kind = kind;
  task.call = "edge";
  task.edge = {index};
  return task;
}

inline Task StoreTask(void* address, uint64_t value) {
  Task task{};
  task.kind = TaskKind::kStore;
  task.call = "store";
  task.store = {address, value};
  return task;
}

inline Task AwaitValueTask(const void* address, uint64_t value, ValueTest test) {
  Task task{};
  task.kind = TaskKind::kAwaitValue;
  task.call = "await value";
  task.await_value = {address, value, test};
  return task;
}

// A graph whose branches but the first begin when the first says so, as those of a capture do.
class TestGraph {
 public:
  explicit TestGraph(size_t branches) {
    graph_.branches.resize(branches);
    for (size_t branch = 1; branch < branches; ++branch) Edge(0, branch);
  }

  void Add(size_t branch, const Task& task) { graph_.branches[branch].push_back(task); }
  RepeatMarker* Mark(size_t branch, Log* log = nullptr, int value = 0) {
    RepeatMarker* marker = &markers_.emplace_back(log, value);
    Add(branch, MarkTask(marker));
    return marker;
  }
  RepeatMarker* Await(size_t branch, Gate* gate, int64_t timeout_ns = 0) {
    RepeatMarker* marker = &markers_.emplace_back();
    Add(branch, AwaitTask(gate, marker, timeout_ns));
    return marker;
  }
  // What comes next on `to` runs behind what is on `from` now.
  void Edge(size_t from, size_t to) {
    Add(from, EdgeTask(TaskKind::kSignal, graph_.edges));
    Add(to, EdgeTask(TaskKind::kAwaitSignal, graph_.edges));
    ++graph_.edges;
  }
  void Join() {
    for (size_t branch = 1; branch < graph_.branches.size(); ++branch) Edge(branch, 0);
  }
  void MarkBound(size_t branch) { Add(branch, EdgeTask(TaskKind::kMarkBound, graph_.bindings++)); }
  void AwaitBound(size_t branch) { Add(branch, EdgeTask(TaskKind::kAwaitBound, graph_.bindings++)); }

  Task Replay(std::initializer_list<ReplayBinding> bindings = {}) const {
    EXPECT_EQ(bindings.size(), graph_.bindings);
    Task task{};
    task.kind = TaskKind::kReplay;
    task.call = "replay";
    task.replay = {&graph_, bindings.size() == 0 ? nullptr : new ReplayBinding[bindings.size()], FreeClock::Now(), 0};
    size_t next = 0;
    for (const ReplayBinding& binding : bindings) task.replay.bindings[next++] = binding;
    return task;
  }
  // Every marker was told as often as it was repeated.
  bool Settled() const {
    for (const RepeatMarker& marker : markers_) {
      if (!marker.Settled()) return false;
    }
    return true;
  }
  bool free() const { return graph_.turn.open(); }

 private:
  std::deque<RepeatMarker> markers_;  // in front of the graph, which tells them when it ends
  TaskGraph graph_;
};

// Lets the queue run, helping, until the condition holds or the queue is empty.
template <typename Condition>
void RunUntil(Line& line, Condition condition) {
  while (!condition() && line->Wait(line->submitted(), Deadline::AfterMs(1)) == WaitOutcome::kTimeout) {
  }
}

class ReplayFixture : public testing::TestWithParam<CrewCase> {
 protected:
  TestGraph& NewGraph(size_t branches) { return graphs_.emplace_back(branches); }

  // Declared in front of the workshop: its threads may still look at them.
  Log log_;
  Markers markers_;
  ManualSink sink_;
  Gate gate_, other_gate_;
  alignas(8) uint64_t word_ = 0;
  std::deque<TestGraph> graphs_;
  Workshop shop_{GetParam()};
};

}  // namespace ropeway_unit
