// Detectors of what costs the host's time; see report_patterns.h.
#include <algorithm>
#include <cstddef>

#include "cli/report_patterns.h"

namespace ropeway::cli {
namespace {

bool EachWaited(const Group& group) { return group.waited * 10 >= group.count * 8; }

// Copies that the caller had to wait for, by the line that asked for them, and the waits right behind them.
template <typename Wanted>
Groups CopiesOfTheCaller(Search& search, const Wanted& wanted) {
  Groups groups;
  const TraceIndex& index = search.index;
  for (uint32_t i = 0; i < index.trace().tasks.size(); ++i) {
    const TraceTask& task = index.trace().tasks[i];
    if (search.task_taken[i] || !wanted(task)) continue;
    search.task_taken[i] = true;
    Group& group = groups[{task.site, task.call}];
    group.Add(task, 0);
    if (const uint32_t wait = index.WaitBehind(i); wait != kNone) {
      ++group.waited;
      group.cost_ns += index.TimeOf(index.trace().waits[wait]);
      search.wait_taken[wait] = true;
    }
  }
  return groups;
}

// Nobody noted how long the calls took: at least as long as the copies.
int64_t TimeOfCalls(const TraceIndex& index, const GroupKey& key) {
  if (const int64_t inside = index.TimeInside(key); inside > 0) return inside;
  int64_t sum = 0;
  for (const TraceTask& task : index.trace().tasks) {
    if (GroupKey{task.site, task.call} == key) sum += index.TimeOf(task);
  }
  return sum;
}

std::string BehindEach(const Group& group) { return EachWaited(group) ? ", each followed by a wait" : ""; }

int64_t Median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The moments at which a process is known to have been outside of memory calls: what lies between one of them and an allocation is at most
// the allocation.
class Moments {
 public:
  Moments(const TraceIndex& index, uint32_t process) {
    const TraceData& trace = index.trace();
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
      if (trace.threads[thread].process != process || trace.threads[thread].lane) continue;
      for (const HostStep& step : index.StepsOf(thread)) {
        if (step.wait) moments_.push_back({index.EndOf(trace.waits[step.index]), step.index});
        moments_.push_back({step.at_ns, kNone});
      }
    }
    for (const TraceBlock& block : trace.blocks) {
      if (block.process != process) continue;
      moments_.push_back({block.allocated_ns, kNone});
      if (block.freed_ns >= 0) moments_.push_back({block.freed_ns, kNone});
    }
    std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) { return a.at_ns < b.at_ns; });
  }

  int64_t GapBefore(int64_t at_ns) const {
    const Moment* const before = Before(at_ns);
    return before == nullptr ? 0 : at_ns - before->at_ns;
  }
  // The wait that ended as the last thing before.
  uint32_t WaitBefore(int64_t at_ns) const {
    const Moment* const before = Before(at_ns);
    return before == nullptr ? kNone : before->wait;
  }

 private:
  struct Moment {
    int64_t at_ns;
    uint32_t wait;
  };
  const Moment* Before(int64_t at_ns) const {
    const auto at =
        std::lower_bound(moments_.begin(), moments_.end(), at_ns, [](const Moment& a, int64_t value) { return a.at_ns < value; });
    return at == moments_.begin() ? nullptr : &*(at - 1);
  }

  std::vector<Moment> moments_;
};

using Blocks = std::vector<const TraceBlock*>;

// Made and given back again and again, and not a pool that grows.
bool IsLoop(const Blocks& blocks) {
  std::vector<std::pair<int64_t, int>> changes;
  size_t freed = 0;
  for (const TraceBlock* block : blocks) {
    changes.emplace_back(block->allocated_ns, 1);
    if (block->freed_ns >= 0) changes.emplace_back(block->freed_ns, -1);
    freed += block->freed_ns >= 0;
  }
  std::sort(changes.begin(), changes.end());
  size_t live = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, live += static_cast<size_t>(change));
  return blocks.size() >= kMany && freed * 2 >= blocks.size() && most * 4 <= blocks.size();
}

Group GroupOf(const Blocks& blocks, const Moments& moments, Search& search) {
  Group group;
  std::vector<int64_t> made, given_back;
  for (const TraceBlock* block : blocks) {
    TraceTask as_task;
    as_task.site = block->site;
    as_task.call = block->call;
    as_task.bytes = block->bytes;
    as_task.submit_ns = block->allocated_ns;
    as_task.end_ns = block->freed_ns;
    group.Add(as_task, 0);
    made.push_back(moments.GapBefore(block->allocated_ns));
    if (block->freed_ns < 0) continue;
    given_back.push_back(moments.GapBefore(block->freed_ns));
    const uint32_t wait = moments.WaitBefore(block->freed_ns);
    if (wait == kNone || search.wait_taken[wait]) continue;
    search.wait_taken[wait] = true;
    ++group.waited;
    group.cost_ns += search.index.TimeOf(search.index.trace().waits[wait]);
  }
  group.cost_ns += Median(made) * static_cast<int64_t>(made.size()) + Median(given_back) * static_cast<int64_t>(given_back.size());
  return group;
}

}  // namespace

void FindPageableCopies(const char* name, Search& search) {
  const TraceIndex& index = search.index;
  for (auto& [key, group] : CopiesOfTheCaller(search, [&](const TraceTask& task) { return index.IsPageable(task); })) {
    Group whole = group;
    whole.cost_ns += TimeOfCalls(index, key);
    std::string fix = "pin the buffer (aclrtMallocHost or aclrtHostRegister)";
    if (group.Small()) {
      fix += " and use aclrtMemcpyBatchAsync";
    } else if (EachWaited(group)) {
      fix += " and wait once behind the last copy";
    }
    const std::string copies = group.count == 1 ? "1 pageable copy " : FormatCount(group.count) + " pageable copies ";
    search.findings.push_back(MakeFinding(name, whole, copies + SizeWords(group) + BehindEach(group), fix));
  }
}

void FindSynchronousCopies(const char* name, Search& search) {
  const TraceIndex& index = search.index;
  for (auto& [key, group] : CopiesOfTheCaller(search, [&](const TraceTask& task) { return index.IsSynchronous(task); })) {
    Group whole = group;
    whole.cost_ns += TimeOfCalls(index, key);
    const std::string fix = group.Small() ? "collect them in one aclrtMemcpyBatchAsync from pinned memory"
                                          : "use aclrtMemcpyAsync on a stream, from pinned memory, and wait where the result is needed";
    const std::string copies = group.count == 1 ? "1 synchronous copy " : FormatCount(group.count) + " synchronous copies ";
    search.findings.push_back(
        MakeFinding(name, whole, copies + SizeWords(group) + " (" + std::string(index.Name(group.call)) + ")" + BehindEach(group), fix));
  }
}

void FindMemoryInLoop(const char* name, Search& search) {
  const TraceData& trace = search.index.trace();
  for (uint32_t process = 0; process < trace.processes.size(); ++process) {
    std::map<GroupKey, Blocks> by_call;
    for (const TraceBlock& block : trace.blocks) {
      if (block.process == process) by_call[{block.site, block.call}].push_back(&block);
    }
    const Moments moments(search.index, process);
    for (const auto& [key, blocks] : by_call) {
      if (!IsLoop(blocks)) continue;
      const Group group = GroupOf(blocks, moments, search);
      const std::string call(search.index.Name(key.second));
      std::string what = FormatCount(group.count) + " blocks " + SizeWords(group) + " made by " + call + " and given back in a loop";
      if (group.waited * 2 >= group.count) what += ", each behind a wait";
      search.findings.push_back(MakeFinding(name, group, what, "make the buffers once, in front of the loop, and use them again"));
    }
  }
}

void FindWaitBehindEach(const char* name, Search& search) {
  constexpr size_t kFewTasks = 3;
  constexpr uint64_t kOften = kMany / 2;
  const TraceIndex& index = search.index;
  const TraceData& trace = index.trace();
  Groups groups;
  std::map<GroupKey, uint64_t> singles;
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    std::vector<uint32_t> since;
    for (const HostStep& step : index.StepsOf(thread)) {
      if (!step.wait) {
        if (index.IsWork(trace.tasks[step.index])) since.push_back(step.index);
        continue;
      }
      const TraceWait& wait = trace.waits[step.index];
      if (!search.wait_taken[step.index] && !since.empty() && since.size() <= kFewTasks) {
        Group& group = groups[{wait.site, wait.call}];
        for (const uint32_t task : since) group.Add(trace.tasks[task], 0);
        group.cost_ns += index.TimeOf(wait);
        ++group.waited;
        singles[{wait.site, wait.call}] += since.size() == 1;
        group.end_ns = std::max(group.end_ns, index.EndOf(wait));
      }
      since.clear();
    }
  }
  for (auto& [key, group] : groups) {
    if (group.waited < kOften) continue;
    group.site = key.first;
    const std::string call(index.Name(key.second));
    // A wait that did not have to wait is not in the trace: then one stands behind two copies now and then.
    const bool each = singles[key] * 2 >= group.waited;
    const std::string behind = each ? "each of " : "every " + Plural((group.count + group.waited - 1) / group.waited, "task") + " of ";
    const std::string fix = group.Small() ? "collect the copies in one aclrtMemcpyBatchAsync and wait once"
                                          : "queue all of them and wait once behind the last, or let a stream wait for an event";
    search.findings.push_back(
        MakeFinding(name, group, call + " behind " + behind + Plural(group.count, "copy") + " " + SizeWords(group), fix));
  }
}

}  // namespace ropeway::cli
