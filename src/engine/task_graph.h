// Captured work as an engine replays it: branches that run side by side, each a list of tasks in order. Branch 0 is the one
// that the capture began on. A branch holds others back by edges: kSignal opens an edge, kAwaitSignal waits for it.
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/task.h"

namespace ropeway {

// Who has the tasks of a graph, and keeps them for every replay that is queued.
class GraphKeeper {
 public:
  // A replay ran to its end, or never will.
  virtual void ReplayGone() = 0;

 protected:
  ~GraphKeeper() = default;
};

// What replays have found out about tasks of a graph, so that the next need not look again: how many of a branch, from an index on, touch
// nothing of each other, with all their memory there when the free clock showed `as_of`. Belongs to the replay that has the graph's turn.
class TasksApart {
 public:
  // Nothing: nobody has looked. 0: too few.
  std::optional<size_t> From(uint32_t branch, size_t first, uint64_t as_of) const {
    const auto found = as_of == as_of_ ? counts_.find({branch, first}) : counts_.end();
    return found == counts_.end() ? std::nullopt : std::optional(found->second);
  }
  void Learn(uint32_t branch, size_t first, size_t count, uint64_t as_of) try {
    if (std::exchange(as_of_, as_of) != as_of) counts_.clear();
    counts_[{branch, first}] = count;
  } catch (const std::bad_alloc&) {  // then somebody looks again
  }
  // The tasks are others now.
  void Forget() { counts_.clear(); }

 private:
  uint64_t as_of_ = 0;
  std::map<std::pair<uint32_t, size_t>, size_t> counts_;
};

struct TaskGraph {
  TaskGraph() { turn.Open(); }
  TaskGraph(const TaskGraph&) = delete;
  TaskGraph& operator=(const TaskGraph&) = delete;
  ~TaskGraph() {
    for (const auto& branch : branches) {
      for (const Task& task : branch) DropTask(task);
    }
  }

  std::vector<std::vector<Task>> branches;
  uint32_t edges = 0;
  uint32_t bindings = 0;
  mutable TasksApart apart;
  // Replays of one graph run one after the other, on whatever streams: this lets one through at a time.
  mutable Gate turn{Gate::Mode::kAutoReset};
  GraphKeeper* keeper = nullptr;  // null: the graph outlives its replays anyway
};

}  // namespace ropeway
