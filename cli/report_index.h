// What every detector asks of a trace: which tasks are work and which only order it, which of them a thread waited behind, how long a
// stream was busy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report_analysis.h"

namespace ropeway::cli {

using Span = std::pair<int64_t, int64_t>;  // begin, end
// Sorted, apart from one another.
using Spans = std::vector<Span>;

Spans Union(Spans spans);
int64_t Length(const Spans& united);
Spans Intersection(const Spans& united, const Spans& others);
int64_t Overlap(const Spans& united, const Spans& others);

using GroupKey = std::pair<uint32_t, uint16_t>;  // site, call

enum class TaskClass : uint8_t { kCopy, kRows, kBatch, kSet, kCall, kValueWait, kOrder };

// One host thread in its order: a task submitted, or a call whose purpose is to wait.
struct HostStep {
  int64_t at_ns;
  bool wait;
  uint32_t index;
};

class TraceIndex {
 public:
  // `limit`: bytes per second that the machine copies at best; 0: nobody measured it, and the trace's own best stands for it.
  explicit TraceIndex(const TraceData& trace, double limit = 0);

  const TraceData& trace() const { return trace_; }
  // What carries bytes to another rank is work of its stream, whatever it is for the runtime.
  TaskClass ClassOf(const TraceTask& task) const {
    return task.link != 0 && classes_[task.kind] == TaskClass::kOrder ? TaskClass::kSet : classes_[task.kind];
  }
  bool IsCopy(const TraceTask& task) const { return ClassOf(task) <= TaskClass::kBatch; }
  bool IsWork(const TraceTask& task) const { return ClassOf(task) < TaskClass::kValueWait; }
  std::string_view Name(uint16_t name) const { return trace_.names[name]; }
  // Async in the name of its call, and yet the caller waited for it.
  bool IsPageable(const TraceTask& task) const;
  bool IsSynchronous(const TraceTask& task) const;

  // Indices of tasks, in their order.
  const std::vector<uint32_t>& OfStream(uint32_t stream) const { return by_stream_[stream]; }
  const std::vector<uint32_t>& OfThread(uint32_t thread) const { return by_thread_[thread]; }
  const std::vector<HostStep>& StepsOf(uint32_t thread) const { return steps_[thread]; }
  // The wait that its thread did next, before any other task; kNone: it went on.
  uint32_t WaitBehind(uint32_t task) const { return wait_behind_[task]; }
  const Spans& Busy(uint32_t stream) const { return busy_[stream]; }

  int64_t EndOf(const TraceWait& wait) const { return wait.end_ns < 0 ? trace_.end_ns : wait.end_ns; }
  int64_t TimeOf(const TraceWait& wait) const { return EndOf(wait) - wait.begin_ns; }
  int64_t TimeOf(const TraceTask& task) const { return task.start_ns < 0 || task.end_ns < 0 ? 0 : task.end_ns - task.start_ns; }
  // How long threads were kept inside a call that is not a wait by its purpose: a copy, or memory that is made or given back.
  int64_t TimeInside(const GroupKey& call) const;
  // The time that these bytes would take at best; 0 when nobody knows.
  int64_t Ideal(uint64_t bytes) const { return best_rate_ <= 0 ? 0 : static_cast<int64_t>(static_cast<double>(bytes) / best_rate_ * 1e9); }
  // In `stream`, the first work behind a place, and the last up to it; kNone: there is none.
  uint32_t WorkBehind(uint32_t stream, uint64_t sequence) const;
  uint32_t WorkUpTo(uint32_t stream, uint64_t sequence) const;
  // The work at both ends of an edge; kNone: there is none.
  uint32_t WorkBefore(const TraceEdge& edge) const;
  uint32_t WorkAfter(const TraceEdge& edge) const;
  // From when on work could have run, to the end of the other stream's work that it stood behind; empty, too, when it did not.
  Span HeldBy(const TraceEdge& edge) const;

 private:
  // Of a graph's tasks in their order, the nearest work of the branch of `task`, that itself included, one way or the other.
  uint32_t WorkInBranch(uint32_t task, bool before) const;
  void IndexTasks();
  void IndexSteps();

  const TraceData& trace_;
  std::vector<TaskClass> classes_;
  std::vector<std::vector<uint32_t>> by_stream_, by_thread_;
  std::vector<std::vector<HostStep>> steps_;
  std::vector<uint32_t> wait_behind_;
  std::map<GroupKey, std::map<uint32_t, Spans>> inside_;  // by thread
  std::vector<Spans> busy_;
  double best_rate_ = 0;
};

// Tasks of one pattern that one line of the program asked for.
struct Group {
  uint32_t site = kNone;
  uint16_t call = 0;
  uint64_t count = 0;
  uint64_t items = 0;
  uint64_t bytes = 0;
  uint64_t smallest = UINT64_MAX;
  uint64_t largest = 0;
  int64_t cost_ns = 0;
  uint64_t waited = 0;  // how many of them had a wait behind them
  uint32_t stream = kNone;
  int64_t begin_ns = INT64_MAX;
  int64_t end_ns = 0;

  void Add(const TraceTask& task, int64_t cost);
  bool Small() const;  // so small that what a call costs is more than the copy
};

using Groups = std::map<GroupKey, Group>;

Finding MakeFinding(const char* pattern, const Group& group, std::string what, std::string fix);

std::string FormatCount(uint64_t count);                          // "20,000"
std::string Plural(uint64_t count, const char* one);              // "1 copy", "20,000 copies"
std::string SizeWords(const Group& group);                        // "of 4 KiB", "of 512 B to 4 KiB"
std::string StreamName(const TraceData& trace, uint32_t stream);  // "2", or "2 of rank 0" where there are several

constexpr uint64_t kSmallBytes = 64 << 10;
constexpr uint64_t kMany = 16;  // what comes more often is a loop

}  // namespace ropeway::cli
