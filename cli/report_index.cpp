// The trace sorted by stream and by thread; see report_index.h.
#include "cli/report_index.h"

#include <algorithm>

#include "cli/table.h"

namespace ropeway::cli {
namespace {

struct KindClass {
  const char* kind;
  TaskClass task_class;
};
constexpr KindClass kKindClasses[] = {
    {"copy", TaskClass::kCopy},
    {"copy_by_desc", TaskClass::kCopy},
    {"copy_by_cells", TaskClass::kCopy},
    {"copy2d", TaskClass::kRows},
    {"batch", TaskClass::kBatch},
    {"set", TaskClass::kSet},
    {"set32", TaskClass::kSet},
    {"reduce", TaskClass::kSet},
    {"store", TaskClass::kSet},
    {"replay", TaskClass::kSet},
    {"call", TaskClass::kCall},
    {"kernel", TaskClass::kCall},
    {"wait_value", TaskClass::kValueWait},
};

TaskClass ClassOfKind(const std::string& kind) {
  for (const KindClass& row : kKindClasses) {
    if (kind == row.kind) return row.task_class;
  }
  return TaskClass::kOrder;
}

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Calls that do something else may keep their caller waiting, too.
bool WaitsByPurpose(std::string_view call) {
  for (const char* const other : {"Memcpy", "Memset", "Malloc", "Free", "Register", "Destroy", "Reset", "Finalize"}) {
    if (Contains(call, other)) return false;
  }
  return true;
}

// Smaller copies say more of what a call costs than of the machine.
constexpr uint64_t kTellingBytes = 1 << 20;

}  // namespace

Spans Union(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans united;
  for (const auto& [begin, end] : spans) {
    if (end <= begin) continue;
    if (united.empty() || united.back().second < begin) {
      united.emplace_back(begin, end);
    } else {
      united.back().second = std::max(united.back().second, end);
    }
  }
  return united;
}

int64_t Length(const Spans& united) {
  int64_t sum = 0;
  for (const auto& [begin, end] : united) sum += end - begin;
  return sum;
}

Spans Intersection(const Spans& united, const Spans& others) {
  Spans both;
  for (size_t i = 0, j = 0; i < united.size() && j < others.size();) {
    const int64_t begin = std::max(united[i].first, others[j].first);
    const int64_t end = std::min(united[i].second, others[j].second);
    if (begin < end) both.emplace_back(begin, end);
    united[i].second < others[j].second ? ++i : ++j;
  }
  return both;
}

int64_t Overlap(const Spans& united, const Spans& others) { return Length(Intersection(united, others)); }

TraceIndex::TraceIndex(const TraceData& trace, double limit) : trace_(trace), best_rate_(limit) {
  for (const std::string& name : trace.names) classes_.push_back(ClassOfKind(name));
  IndexTasks();
  IndexSteps();
}

void TraceIndex::IndexTasks() {
  by_stream_.resize(trace_.streams.size());
  by_thread_.resize(trace_.threads.size());
  busy_.resize(trace_.streams.size());
  const bool limit_known = best_rate_ > 0;
  for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
    const TraceTask& task = trace_.tasks[i];
    if (task.thread != kNone) by_thread_[task.thread].push_back(i);
    if (task.stream != kNone) {
      by_stream_[task.stream].push_back(i);
      if (IsWork(task) && TimeOf(task) > 0) busy_[task.stream].emplace_back(task.start_ns, task.end_ns);
    }
    if (!limit_known && IsCopy(task) && task.bytes >= kTellingBytes && TimeOf(task) > 0)
      best_rate_ = std::max(best_rate_, static_cast<double>(task.bytes) / static_cast<double>(TimeOf(task)) * 1e9);
  }
  for (auto& list : by_stream_)
    std::stable_sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) { return trace_.tasks[a].sequence < trace_.tasks[b].sequence; });
  for (Spans& spans : busy_) spans = Union(std::move(spans));
}

void TraceIndex::IndexSteps() {
  steps_.resize(trace_.threads.size());
  wait_behind_.resize(trace_.tasks.size(), kNone);
  for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
    if (trace_.tasks[i].thread != kNone) steps_[trace_.tasks[i].thread].push_back({trace_.tasks[i].submit_ns, false, i});
  }
  for (uint32_t i = 0; i < trace_.waits.size(); ++i) {
    const TraceWait& wait = trace_.waits[i];
    if (wait.thread == kNone || trace_.threads[wait.thread].lane) continue;  // what a thread of ours waits for is nobody's time
    if (wait.task != kNone || !WaitsByPurpose(Name(wait.call))) {
      inside_[{wait.site, wait.call}][wait.thread].emplace_back(wait.begin_ns, EndOf(wait));
    } else {
      steps_[wait.thread].push_back({wait.begin_ns, true, i});
    }
  }
  for (auto& steps : steps_) {
    std::stable_sort(steps.begin(), steps.end(), [](const HostStep& a, const HostStep& b) { return a.at_ns < b.at_ns; });
    for (size_t i = 1; i < steps.size(); ++i) {
      if (steps[i].wait && !steps[i - 1].wait) wait_behind_[steps[i - 1].index] = steps[i].index;
    }
  }
}

bool TraceIndex::IsPageable(const TraceTask& task) const {
  return IsCopy(task) && Contains(Name(task.call), "Async") && Contains(Name(task.reason), "pageable");
}

bool TraceIndex::IsSynchronous(const TraceTask& task) const {
  return IsCopy(task) && task.stream == kNone && !Contains(Name(task.call), "Async");
}

int64_t TraceIndex::TimeInside(const GroupKey& call) const {
  const auto found = inside_.find(call);
  if (found == inside_.end()) return 0;
  int64_t sum = 0;
  for (const auto& [thread, spans] : found->second) sum += Length(Union(spans));
  return sum;
}

uint32_t TraceIndex::WorkBehind(uint32_t stream, uint64_t sequence) const {
  const auto& list = by_stream_[stream];
  auto at =
      std::upper_bound(list.begin(), list.end(), sequence, [&](uint64_t value, uint32_t i) { return value < trace_.tasks[i].sequence; });
  while (at != list.end() && !IsWork(trace_.tasks[*at])) ++at;
  return at == list.end() ? kNone : *at;
}

uint32_t TraceIndex::WorkUpTo(uint32_t stream, uint64_t sequence) const {
  const auto& list = by_stream_[stream];
  auto at =
      std::upper_bound(list.begin(), list.end(), sequence, [&](uint64_t value, uint32_t i) { return value < trace_.tasks[i].sequence; });
  while (at != list.begin()) {
    if (IsWork(trace_.tasks[*--at])) return *at;
  }
  return kNone;
}

uint32_t TraceIndex::WorkInBranch(uint32_t task, bool before) const {
  const TraceTask& one = trace_.tasks[task];
  const auto& list = by_stream_[one.stream];
  auto at = std::lower_bound(list.begin(), list.end(), one.sequence,
                             [&](uint32_t i, uint64_t value) { return trace_.tasks[i].sequence < value; });
  uint32_t found = kNone;
  for (; at != list.end() && trace_.tasks[*at].sequence == one.sequence; ++at) {
    const TraceTask& other = trace_.tasks[*at];
    if (other.branch != one.branch || other.submit_ns >= 0 || !IsWork(other)) continue;
    if (before && other.start_ns <= one.start_ns) found = *at;
    if (!before && other.start_ns >= one.start_ns) return *at;
  }
  return found;
}

uint32_t TraceIndex::WorkBefore(const TraceEdge& edge) const {
  if (edge.from_task == kNone) return WorkUpTo(edge.from, edge.from_sequence);
  const TraceTask& task = trace_.tasks[edge.from_task];
  if (IsWork(task)) return edge.from_task;
  const uint32_t found = task.submit_ns < 0 ? WorkInBranch(edge.from_task, true) : kNone;
  return found != kNone ? found : WorkUpTo(edge.from, edge.from_sequence);
}

uint32_t TraceIndex::WorkAfter(const TraceEdge& edge) const {
  if (edge.to_task == kNone) return WorkBehind(edge.to, edge.to_sequence);
  const TraceTask& task = trace_.tasks[edge.to_task];
  if (IsWork(task)) return edge.to_task;
  const uint32_t found = task.submit_ns < 0 ? WorkInBranch(edge.to_task, false) : kNone;
  return found != kNone ? found : WorkBehind(edge.to, edge.to_sequence);
}

Span TraceIndex::HeldBy(const TraceEdge& edge) const {
  const uint32_t to = WorkAfter(edge), from = WorkBefore(edge);
  if (to == kNone || from == kNone || trace_.tasks[to].start_ns < 0) return {0, 0};
  const uint32_t before = WorkUpTo(edge.to, edge.to_sequence);
  int64_t ready = trace_.tasks[to].submit_ns;
  if (before != kNone) ready = std::max(ready, trace_.tasks[before].end_ns);
  return {ready, std::max(trace_.tasks[from].end_ns, ready)};
}

void Group::Add(const TraceTask& task, int64_t cost) {
  site = task.site;
  call = task.call;
  ++count;
  items += task.items;
  bytes += task.bytes;
  smallest = std::min(smallest, task.bytes);
  largest = std::max(largest, task.bytes);
  cost_ns += cost;
  if (stream == kNone) stream = task.stream;
  begin_ns = std::min(begin_ns, task.submit_ns);
  end_ns = std::max({end_ns, task.submit_ns, task.end_ns});
}

bool Group::Small() const { return count >= kMany && bytes / count <= kSmallBytes; }

Finding MakeFinding(const char* pattern, const Group& group, std::string what, std::string fix) {
  return {pattern, group.cost_ns, std::move(what), group.site, std::move(fix), group.stream, group.begin_ns, group.end_ns};
}

std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string Plural(uint64_t count, const char* one) {
  std::string word = one;
  if (count != 1) {
    if (word.back() == 'y') {
      word.replace(word.size() - 1, 1, "ies");
    } else if (word.back() == 'h') {
      word += "es";
    } else {
      word += "s";
    }
  }
  return FormatCount(count) + " " + word;
}

std::string SizeWords(const Group& group) {
  if (group.smallest == group.largest) return "of " + FormatBytes(group.largest);
  return "of " + FormatBytes(group.smallest) + " to " + FormatBytes(group.largest);
}

std::string StreamName(const TraceData& trace, uint32_t stream) {
  const TraceProcess& process = trace.processes[trace.streams[stream].process];
  const std::string number = std::to_string(trace.streams[stream].id);
  if (trace.processes.size() == 1) return number;
  return number + (process.rank >= 0 ? " of rank " + std::to_string(process.rank) : " of process " + std::to_string(process.pid));
}

}  // namespace ropeway::cli
