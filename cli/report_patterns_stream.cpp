// Detectors of what costs a stream's time; see report_patterns.h.
#include <algorithm>
#include <tuple>

#include "cli/report_patterns.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

std::string Seconds(int64_t ns) { return FormatSeconds(static_cast<double>(ns) * 1e-9); }

Groups TasksOfClass(Search& search, TaskClass wanted) {
  Groups groups;
  for (uint32_t i = 0; i < search.index.trace().tasks.size(); ++i) {
    const TraceTask& task = search.index.trace().tasks[i];
    if (search.task_taken[i] || search.index.ClassOf(task) != wanted) continue;
    groups[{task.site, task.call}].Add(task, search.index.TimeOf(task));
  }
  return groups;
}

// Work that had been asked for while this task ran, and had to stand behind it. Other host functions do not count: a stream that has
// nothing else is the right place for them.
bool HoldsOthersUp(const TraceIndex& index, const TraceTask& task) {
  const uint32_t next = index.WorkBehind(task.stream, task.sequence);
  if (next == kNone || index.ClassOf(index.trace().tasks[next]) == TaskClass::kCall) return false;
  return index.trace().tasks[next].submit_ns < task.end_ns;
}

struct Held {
  Spans spans;
  int64_t longest_ns = 0;
  uint32_t site = kNone;
  uint64_t edges = 0;
};

using StreamPair = std::pair<uint32_t, uint32_t>;

std::map<StreamPair, Held> HeldPairs(const TraceIndex& index) {
  std::map<StreamPair, Held> pairs;
  for (const TraceEdge& edge : index.trace().edges) {
    if (edge.from == kNone || edge.to == kNone || edge.from == edge.to) continue;
    if (index.trace().streams[edge.from].process != index.trace().streams[edge.to].process)
      continue;  // ranks wait for each other by purpose
    const Span span = index.HeldBy(edge);
    const int64_t time_ns = span.second - span.first;
    if (time_ns == 0) continue;
    Held& held = pairs[std::minmax(edge.from, edge.to)];
    held.spans.push_back(span);
    ++held.edges;
    if (time_ns <= held.longest_ns) continue;
    held.longest_ns = time_ns;
    held.site = edge.site;
  }
  return pairs;
}

// While one of the two was held up, the other ran, and no third did: behind a third that is never idle there is nothing to be gained.
int64_t TimeAlone(const TraceIndex& index, const StreamPair& pair, const Held& held) {
  Spans both = index.Busy(pair.first), others;
  both.insert(both.end(), index.Busy(pair.second).begin(), index.Busy(pair.second).end());
  for (uint32_t stream = 0; stream < index.trace().streams.size(); ++stream) {
    const bool third = stream != pair.first && stream != pair.second;
    if (third) others.insert(others.end(), index.Busy(stream).begin(), index.Busy(stream).end());
  }
  const Spans ran = Intersection(Union(held.spans), Union(std::move(both)));
  return Length(ran) - Overlap(ran, Union(std::move(others)));
}

// Small copies of one stream, one behind the other, with no wait and nothing else between them.
class SmallRuns {
 public:
  explicit SmallRuns(Search& search) : search_(search) {}

  void Walk(uint32_t stream) {
    for (const uint32_t task : search_.index.OfStream(stream)) Step(task);
    Close();
  }
  Groups& groups() { return groups_; }

 private:
  static constexpr uint64_t kFewItems = 8;
  static constexpr int64_t kLongGapNs = 20'000;  // the host did something else

  void Step(uint32_t i) {
    const TraceTask& task = search_.index.trace().tasks[i];
    const bool wanted = !search_.task_taken[i] && search_.index.IsCopy(task) && task.items < kFewItems && task.bytes <= kSmallBytes;
    if (wanted) run_.push_back(i);
    if (!wanted || search_.index.WaitBehind(i) != kNone) Close();
  }

  void Close() {
    if (run_.size() >= kMany) Tell();
    run_.clear();
  }

  void Tell() {
    const TraceData& trace = search_.index.trace();
    Group run;
    std::map<GroupKey, uint64_t> sites;
    int64_t submitting = 0, running = 0;
    for (size_t i = 0; i < run_.size(); ++i) {
      const TraceTask& task = trace.tasks[run_[i]];
      run.Add(task, 0);
      ++sites[{task.site, task.call}];
      running += search_.index.TimeOf(task);
      if (i > 0) submitting += std::min(task.submit_ns - trace.tasks[run_[i - 1]].submit_ns, kLongGapNs);
      search_.task_taken[run_[i]] = true;
    }
    const auto most = std::max_element(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
    Group& group = groups_[most];
    group.cost_ns += std::max<int64_t>(std::max(submitting, running) - search_.index.Ideal(run.bytes), 0);
    Merge(run, most, group);
  }

  static void Merge(const Group& run, const GroupKey& key, Group& group) {
    std::tie(group.site, group.call) = key;
    group.count += run.count;
    group.items += run.items;
    group.bytes += run.bytes;
    group.smallest = std::min(group.smallest, run.smallest);
    group.largest = std::max(group.largest, run.largest);
    group.begin_ns = std::min(group.begin_ns, run.begin_ns);
    group.end_ns = std::max(group.end_ns, run.end_ns);
    group.stream = run.stream;
  }

  Search& search_;
  std::vector<uint32_t> run_;
  Groups groups_;
};

struct BothWays {
  uint64_t in_bytes = 0;
  uint64_t out_bytes = 0;
  int64_t time_ns = 0;
  Group all;

  uint64_t bytes() const { return in_bytes + out_bytes; }
};

BothWays DirectionsOf(const Search& search, uint32_t stream) {
  BothWays sums;
  for (const uint32_t i : search.index.OfStream(stream)) {
    const TraceTask& task = search.index.trace().tasks[i];
    const std::string_view direction = search.index.Name(task.direction);
    if (!search.index.IsCopy(task) || (direction != "H2D" && direction != "D2H")) continue;
    (direction == "H2D" ? sums.in_bytes : sums.out_bytes) += task.bytes;
    sums.time_ns += search.index.TimeOf(task);
    if (!search.task_taken[i]) sums.all.Add(task, 0);
  }
  return sums;
}

}  // namespace

void FindHostFunctions(const char* name, Search& search) {
  Groups groups;
  for (const TraceTask& task : search.index.trace().tasks) {
    if (task.stream == kNone || search.index.ClassOf(task) != TaskClass::kCall || !HoldsOthersUp(search.index, task)) continue;
    groups[{task.site, task.call}].Add(task, search.index.TimeOf(task));
  }
  for (const auto& [key, group] : groups) {
    search.findings.push_back(MakeFinding(name, group,
                                          Plural(group.count, "host function") + " held up stream " +
                                              StreamName(search.index.trace(), group.stream) + " for " + Seconds(group.cost_ns),
                                          "give them a stream of their own, joined by events, so that copies go on beside them"));
  }
}

void FindValueWaits(const char* name, Search& search) {
  for (const auto& [key, group] : TasksOfClass(search, TaskClass::kValueWait)) {
    if (group.stream == kNone) continue;
    search.findings.push_back(
        MakeFinding(name, group,
                    "stream " + StreamName(search.index.trace(), group.stream) + " stood still for " + Seconds(group.cost_ns) + " behind " +
                        Plural(group.count, "wait") + " for a value",
                    "write the value earlier, or queue what does not need it in front of the wait or in another stream"));
  }
}

void FindSerialStreams(const char* name, Search& search) {
  constexpr double kHardly = 0.1;
  const TraceIndex& index = search.index;
  for (const auto& [pair, held] : HeldPairs(index)) {
    const Spans &one = index.Busy(pair.first), &other = index.Busy(pair.second);
    const int64_t shorter = std::min(Length(one), Length(other)), beside = Overlap(one, other);
    if (shorter == 0 || static_cast<double>(beside) > kHardly * static_cast<double>(shorter)) continue;
    const int64_t alone = TimeAlone(index, pair, held);
    if (alone * 2 < shorter) continue;  // something else keeps them apart
    Finding finding;
    finding.pattern = name;
    finding.what = "streams " + StreamName(index.trace(), pair.first) + " and " + StreamName(index.trace(), pair.second) +
                   (beside == 0 ? " never overlapped: " : " hardly overlapped: ") + Plural(held.edges, "event wait");
    finding.site = held.site;
    finding.fix = "wait only in front of what needs the other stream's result, with two buffers in turn";
    finding.stream = pair.first;
    finding.begin_ns = std::min(one.front().first, other.front().first);
    finding.end_ns = std::max(one.back().second, other.back().second);
    finding.cost_ns = std::min(alone, shorter - beside);
    search.findings.push_back(finding);
  }
}

void FindSmallRows(const char* name, Search& search) {
  constexpr uint64_t kShortRow = 1024;
  Groups groups;
  for (uint32_t i = 0; i < search.index.trace().tasks.size(); ++i) {
    const TraceTask& task = search.index.trace().tasks[i];
    if (search.task_taken[i] || search.index.ClassOf(task) != TaskClass::kRows || task.items <= 1) continue;
    if (task.bytes / task.items >= kShortRow) continue;
    search.task_taken[i] = true;
    groups[{task.site, task.call}].Add(task, std::max<int64_t>(search.index.TimeOf(task) - search.index.Ideal(task.bytes), 0));
  }
  for (const auto& [key, group] : groups) {
    search.findings.push_back(MakeFinding(name, group,
                                          FormatCount(group.count) + " 2-D cop" + (group.count == 1 ? "y" : "ies") + " with rows of " +
                                              FormatBytes(group.bytes / group.items),
                                          "copy the rows with what lies between them as one block, or lay the data out without a pitch"));
  }
}

void FindSmallCopies(const char* name, Search& search) {
  SmallRuns runs(search);
  for (uint32_t stream = 0; stream < search.index.trace().streams.size(); ++stream) runs.Walk(stream);
  for (const auto& [key, group] : runs.groups()) {
    const bool batches = group.items > group.count;
    search.findings.push_back(
        MakeFinding(name, group, FormatCount(group.count) + (batches ? " small batches " : " copies ") + SizeWords(group) + ", one by one",
                    batches ? "put more items into each aclrtMemcpyBatchAsync" : "use one aclrtMemcpyBatchAsync for them"));
  }
}

// By bytes, not by time: a single copy that lost its core for a while says nothing of its direction.
void FindOneStreamBothWays(const char* name, Search& search) {
  const TraceData& trace = search.index.trace();
  std::map<uint32_t, uint64_t> copied;  // by process
  std::vector<BothWays> streams;
  for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
    streams.push_back(DirectionsOf(search, stream));
    copied[trace.streams[stream].process] += streams.back().bytes();
  }
  for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
    BothWays& ways = streams[stream];
    const uint64_t less = std::min(ways.in_bytes, ways.out_bytes);
    const bool alone = ways.bytes() * 10 >= copied[trace.streams[stream].process] * 9;
    if (!alone || less == 0 || less * 10 < ways.bytes() || ways.all.count == 0) continue;
    ways.all.cost_ns =
        static_cast<int64_t>(static_cast<double>(ways.time_ns) * static_cast<double>(less) / static_cast<double>(ways.bytes()));
    search.findings.push_back(MakeFinding(name, ways.all,
                                          "stream " + StreamName(trace, stream) + " alone carries both directions in turn, " +
                                              FormatBytes(ways.in_bytes) + " to the device and " + FormatBytes(ways.out_bytes) + " back",
                                          "give each direction a stream of its own and join them by events"));
  }
}

}  // namespace ropeway::cli
