// Captured work as an engine replays it: branches that run side by side, each a list of tasks in order. Branch 0 is the one
// that the capture began on. A branch holds others back by edges: kSignal opens an edge, kAwaitSignal waits for it.
#pragma once

#include <cstdint>
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
  // Replays of one graph run one after the other, on whatever streams: this lets one through at a time.
  mutable Gate turn{Gate::Mode::kAutoReset};
  GraphKeeper* keeper = nullptr;  // null: the graph outlives its replays anyway
};

}  // namespace ropeway
