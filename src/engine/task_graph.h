// Stored work as an engine replays it: branches that run side by side, each a list of tasks in order. Of captured work, branch 0 is the one
// that the capture began on. A branch holds others back by edges: kSignal opens an edge, kAwaitSignal waits for it. Branches that do not
// start by themselves are started by tasks: those of a model built by hand one by one, those of a condition's body together.
#pragma once

#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/faster_way.h"
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
  // How those of a branch, from an index on, are copied faster: that stays known when memory is looked at anew. Null: there is no memory.
  FasterWay* Ways(uint32_t branch, size_t first) {
    try {
      return &ways_[{branch, first}];
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  // The tasks are others now.
  void Forget() {
    counts_.clear();
    ways_.clear();
  }

 private:
  uint64_t as_of_ = 0;
  std::map<std::pair<uint32_t, size_t>, FasterWay> ways_;
  std::map<std::pair<uint32_t, size_t>, size_t> counts_;
};

// A task of a graph, by its numbers.
struct GraphPlace {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t branch = kNowhere;
  uint32_t index = 0;
};

// What a condition chooses: branches that start together, with edges of their own.
struct GraphBody {
  uint32_t first_branch = 0;
  uint32_t branches = 0;
  uint32_t first_edge = 0;
  uint32_t edges = 0;
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
  std::vector<bool> dormant;                         // by branch: somebody else starts it; beyond its end: nobody needs to
  std::vector<std::vector<GraphPlace>> jump_tables;  // of kJump
  std::vector<GraphBody> bodies;                     // of kBody
  std::vector<Task> prologue;                        // stores in front of every replay
  bool ends_at_mark = false;                         // a replay is not over before a kFinish was reached, which tells the first binding
  // Replays of one graph run one after the other, on whatever streams: this lets one through at a time.
  mutable Gate turn{Gate::Mode::kAutoReset};
  GraphKeeper* keeper = nullptr;  // null: the graph outlives its replays anyway
};

}  // namespace ropeway
