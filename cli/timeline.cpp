#include "cli/timeline.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_map>

namespace ropeway::cli {
namespace {

constexpr int kFirstStreamTid = 1 << 24;   // above what the kernel gives to threads
constexpr int64_t kBandwidthSteps = 1000;  // at most, over the whole trace
constexpr int64_t kShortestStepNs = 100000;
constexpr uint64_t kFirstEdge = uint64_t{1} << 40;  // numbers of arrows below are those of tasks

std::string Size(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto size = static_cast<double>(bytes);
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g %s", size, kUnits[unit]);
  return text;
}

class Timeline {
 public:
  Timeline(const TraceData& trace, TimelineSink* sink, const Reached& reached) : trace_(trace), sink_(*sink), reached_(reached) {}

  void Draw() {
    DrawTracks();
    FindEdges();
    DrawTasks();
    for (const TraceWait& wait : trace_.waits) DrawWait(wait);
    for (const TraceMark& mark : trace_.marks) DrawMark(mark);
    DrawCounters();
  }

 private:
  uint32_t Add(const TimelineTrack& track) {
    sink_.Track(tracks_, track);
    return tracks_++;
  }

  void DrawTracks() {
    using Kind = TimelineTrack::Kind;
    for (uint32_t i = 0; i < trace_.processes.size(); ++i) {
      const TraceProcess& process = trace_.processes[i];
      const std::string rank = process.rank < 0 ? "" : "rank " + std::to_string(process.rank) + " ";
      Add({Kind::kProcess, rank + process.program.substr(process.program.rfind('/') + 1), i});
    }
    for (const TraceThread& thread : trace_.threads)
      threads_.push_back(Add({Kind::kThread, (thread.lane ? "" : "host ") + thread.name, thread.process, thread.tid}));
    for (const TraceStream& stream : trace_.streams)
      streams_.push_back(Add({Kind::kStream, "stream " + std::to_string(stream.id) + ", device " + std::to_string(stream.device),
                              stream.process, kFirstStreamTid + static_cast<int>(stream.id)}));
    for (uint32_t i = 0; i < trace_.processes.size(); ++i) {
      in_flight_.push_back(Add({Kind::kCounter, "bytes in flight", i}));
      bandwidth_.push_back(Add({Kind::kCounter, "bytes per second", i}));
    }
  }

  uint32_t ProcessOf(const TraceTask& task) const {
    if (task.stream != kNone) return trace_.streams[task.stream].process;
    return task.thread != kNone ? trace_.threads[task.thread].process : 0;
  }

  std::string NameOf(const TraceTask& task) const {
    std::string name = trace_.names[task.link != 0 ? task.call : task.kind];
    if (task.bytes != 0) name += " " + Size(task.bytes);
    return task.direction == 0 ? name : name + " " + trace_.names[task.direction];
  }

  // The arrow of an edge goes from the task that was waited for to the wait in the other stream: those that it names, or else by number.
  using Ends = std::multimap<std::pair<uint32_t, uint64_t>, uint64_t>;
  static std::pair<uint32_t, uint64_t> Named(uint32_t task) { return {kNone, task}; }
  void FindEdges() {
    for (size_t i = 0; i < trace_.edges.size(); ++i) {
      const TraceEdge& edge = trace_.edges[i];
      const bool named = edge.from_task != kNone && edge.to_task != kNone;
      leaving_.emplace(named ? Named(edge.from_task) : std::make_pair(edge.from, edge.from_sequence), kFirstEdge + i);
      arriving_.emplace(named ? Named(edge.to_task) : std::make_pair(edge.to, edge.to_sequence), kFirstEdge + i);
    }
  }
  std::vector<uint64_t> At(const Ends& ends, uint32_t task) const {
    std::vector<uint64_t> found;
    for (const auto& key : {Named(task), std::make_pair(trace_.tasks[task].stream, trace_.tasks[task].sequence)}) {
      const auto [first, last] = ends.equal_range(key);
      for (auto edge = first; edge != last; ++edge) found.push_back(edge->second);
    }
    return found;
  }

  void DrawTasks() {
    constexpr uint32_t kBetweenWords = 4096;
    for (uint32_t i = 0; i < trace_.tasks.size(); ++i) {
      if (i % kBetweenWords == 0 && reached_) reached_(i, trace_.tasks.size());
      const TraceTask& task = trace_.tasks[i];
      if (task.stream == kNone) continue;  // the wait of its thread shows it
      const std::string name = NameOf(task);
      const bool ran = task.start_ns >= 0 && task.end_ns >= 0;
      if (task.thread != kNone && task.submit_ns >= 0) {
        TimelineSlice submit{threads_[task.thread], task.submit_ns, task.submit_ns, kNone, trace_.names[task.call], {}, {}};
        if (ran) submit.begins.push_back(i + 1);
        sink_.Slice(submit);
      }
      if (!ran) continue;
      TimelineSlice run{streams_[task.stream], task.start_ns, task.end_ns, i, name, At(leaving_, i), At(arriving_, i)};
      if (task.thread != kNone && task.submit_ns >= 0) run.ends.push_back(i + 1);
      sink_.Slice(run);
      if (task.lane != kNone && task.bytes != 0) sink_.Slice({threads_[task.lane], task.start_ns, task.end_ns, kNone, name, {}, {}});
    }
  }

  void DrawWait(const TraceWait& wait) {
    if (wait.thread == kNone) return;
    const int64_t end = wait.end_ns < 0 ? trace_.end_ns : wait.end_ns;
    std::string name = trace_.names[wait.call];
    name += wait.task != kNone ? ": " + NameOf(trace_.tasks[wait.task]) : " waits: " + trace_.names[wait.reason];
    if (wait.rank >= 0) name += " " + std::to_string(wait.rank);
    sink_.Slice({threads_[wait.thread], wait.begin_ns, end, wait.task, name, {}, {}});
  }

  void DrawMark(const TraceMark& mark) {
    if (mark.thread == kNone && mark.stream == kNone) return;
    const uint32_t track = mark.stream != kNone ? streams_[mark.stream] : threads_[mark.thread];
    sink_.Slice({track, mark.begin_ns, mark.end_ns < 0 ? trace_.end_ns : mark.end_ns, kNone, trace_.names[mark.name], {}, {}});
  }

  struct Change {
    int64_t at_ns;
    int64_t bytes;
  };
  // What comes and goes in the same moment is one change.
  void DrawInFlight(uint32_t process, std::vector<Change>* changes) {
    std::sort(changes->begin(), changes->end(), [](const Change& a, const Change& b) { return a.at_ns < b.at_ns; });
    int64_t in_flight = 0;
    for (size_t i = 0; i < changes->size(); ++i) {
      const Change& change = (*changes)[i];
      in_flight += change.bytes;
      if (i + 1 == changes->size() || (*changes)[i + 1].at_ns != change.at_ns) sink_.Value({in_flight_[process], change.at_ns, in_flight});
    }
  }

  void DrawCounters() {
    std::vector<std::vector<Change>> changes(trace_.processes.size());
    const int64_t step = std::max(kShortestStepNs, trace_.end_ns / kBandwidthSteps + 1);
    std::vector<std::map<int64_t, double>> moved(trace_.processes.size());
    for (const TraceTask& task : trace_.tasks) {
      if (task.bytes == 0 || task.end_ns < 0 || task.start_ns < 0) continue;
      const uint32_t process = ProcessOf(task);
      const int64_t begin = task.submit_ns >= 0 ? task.submit_ns : task.start_ns;
      changes[process].push_back({begin, static_cast<int64_t>(task.bytes)});
      changes[process].push_back({task.end_ns, -static_cast<int64_t>(task.bytes)});
      Spread(task, step, &moved[process]);
    }
    for (uint32_t process = 0; process < changes.size(); ++process) {
      DrawInFlight(process, &changes[process]);
      int64_t last = -1;
      for (const auto& [at, bytes] : moved[process]) {
        if (last >= 0 && at > last) sink_.Value({bandwidth_[process], last * step, 0});
        sink_.Value({bandwidth_[process], at * step, static_cast<int64_t>(bytes * 1e9 / static_cast<double>(step))});
        last = at + 1;
      }
      if (last >= 0) sink_.Value({bandwidth_[process], last * step, 0});
    }
  }

  // A task's bytes over the steps that it lasted.
  static void Spread(const TraceTask& task, int64_t step, std::map<int64_t, double>* moved) {
    const int64_t first = task.start_ns / step;
    const int64_t last = std::max(first, (task.end_ns + step - 1) / step - 1);  // one that ends with a step has nothing in the next
    for (int64_t at = first; at <= last; ++at) {
      const int64_t from = std::max(task.start_ns, at * step), to = std::min(task.end_ns, (at + 1) * step);
      const auto length = static_cast<double>(task.end_ns - task.start_ns);
      (*moved)[at] +=
          length == 0 ? static_cast<double>(task.bytes) : static_cast<double>(task.bytes) * static_cast<double>(to - from) / length;
    }
  }

  const TraceData& trace_;
  TimelineSink& sink_;
  const Reached& reached_;
  uint32_t tracks_ = 0;
  std::vector<uint32_t> threads_, streams_, in_flight_, bandwidth_;  // tracks
  Ends leaving_, arriving_;
};

}  // namespace

void DrawTimeline(const TraceData& trace, TimelineSink* sink, const Reached& reached) { Timeline(trace, sink, reached).Draw(); }

}  // namespace ropeway::cli
