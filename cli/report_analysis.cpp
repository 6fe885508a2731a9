// The table of patterns, and the answer that comes of it; see report_analysis.h.
#include "cli/report_analysis.h"

#include <algorithm>

#include "cli/report_patterns.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

// From the special to the general: who comes first takes tasks and waits away from the others.
constexpr Pattern kPatterns[] = {
    {"pageable", FindPageableCopies},         {"synchronous", FindSynchronousCopies}, {"memory-in-loop", FindMemoryInLoop},
    {"host-function", FindHostFunctions},     {"value-wait", FindValueWaits},         {"serial-streams", FindSerialStreams},
    {"wait-behind-each", FindWaitBehindEach}, {"small-rows", FindSmallRows},          {"small-copies", FindSmallCopies},
    {"one-stream", FindOneStreamBothWays},
};

// What is less is not worth anybody's time.
constexpr double kWorthTelling = 0.01;

struct Waiting {
  size_t threads = 0;
  int64_t time_ns = 0;
};

Waiting HostWaiting(const TraceIndex& index) {
  const TraceData& trace = index.trace();
  std::vector<Spans> waits(trace.threads.size());
  for (const TraceWait& wait : trace.waits) {
    if (wait.thread != kNone) waits[wait.thread].emplace_back(wait.begin_ns, index.EndOf(wait));
  }
  Waiting waiting;
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    if (trace.threads[thread].lane || (waits[thread].empty() && index.OfThread(thread).empty())) continue;
    ++waiting.threads;
    waiting.time_ns += Length(Union(waits[thread]));
  }
  return waiting;
}

std::string Summary(const TraceIndex& index) {
  const Waiting waiting = HostWaiting(index);
  const double whole = static_cast<double>(index.trace().end_ns);
  const double share =
      waiting.threads == 0 || whole <= 0 ? 0 : static_cast<double>(waiting.time_ns) / whole / static_cast<double>(waiting.threads);
  const std::string who = waiting.threads <= 1 ? "host" : FormatCount(waiting.threads) + " host threads";
  return Format("%s waiting %.0f %% of %s", who.c_str(), share * 100, FormatSeconds(whole * 1e-9).c_str());
}

std::vector<std::string> Notes(const TraceData& trace) {
  std::vector<std::string> notes;
  for (const TraceProcess& process : trace.processes) {
    if (process.dropped != 0)
      notes.push_back(Format("process %d: %s had no room and are missing", process.pid, Plural(process.dropped, "record").c_str()));
    if (process.engine == "cuda")
      notes.push_back(Format("process %d: on this engine, start and end of a task are what a lane saw of them", process.pid));
  }
  return notes;
}

std::string NothingFound(const TraceData& trace) {
  uint64_t bytes = 0;
  for (const TraceTask& task : trace.tasks) bytes += task.bytes;
  return "no slow pattern found; " + Plural(trace.tasks.size(), "task") + ", " + FormatBytes(bytes);
}

}  // namespace

Answer Analyse(const TraceData& trace, double limit) {
  const TraceIndex index(trace, limit);
  Search search(index);
  for (const Pattern& pattern : kPatterns) pattern.find(pattern.name, search);
  Answer answer{Summary(index), std::move(search.findings), Notes(trace), limit};
  auto& findings = answer.findings;
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
  const auto idle = [&](const Finding& finding) {
    return static_cast<double>(finding.cost_ns) < kWorthTelling * static_cast<double>(trace.end_ns);
  };
  if (!findings.empty()) findings.erase(std::remove_if(findings.begin() + 1, findings.end(), idle), findings.end());
  return answer;
}

double SideBySide(const TraceData& trace) {
  const TraceIndex index(trace);
  std::vector<std::pair<int64_t, int>> changes;
  for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
    for (const auto& [begin, end] : index.Busy(stream)) {
      changes.emplace_back(begin, 1);
      changes.emplace_back(end, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  int64_t any = 0, several = 0, last = 0;
  int busy = 0;
  for (const auto& [at, change] : changes) {
    if (busy >= 1) any += at - last;
    if (busy >= 2) several += at - last;
    busy += change;
    last = at;
  }
  return any == 0 ? 0 : static_cast<double>(several) / static_cast<double>(any);
}

std::string SiteName(const TraceData& trace, uint32_t site) {
  if (site == kNone) return "";
  const TraceSite& place = trace.sites[site];
  if (place.file.empty()) return place.function;
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

std::string Sentence(const TraceData& trace, const Finding& finding) {
  const std::string where = SiteName(trace, finding.site);
  return finding.what + (where.empty() ? "" : ", " + where) + ": " + finding.fix;
}

std::vector<std::string> Words(const TraceData& trace, const Answer& answer) {
  std::vector<std::string> lines;
  for (const Finding& finding : answer.findings) {
    const std::string sentence = Sentence(trace, finding);
    const double share = trace.end_ns <= 0 ? 0 : static_cast<double>(finding.cost_ns) / static_cast<double>(trace.end_ns);
    lines.push_back(lines.empty() ? answer.summary + "; " + sentence : Format("then %.0f %%: ", share * 100) + sentence);
  }
  if (lines.empty()) lines.push_back(answer.summary + "; " + NothingFound(trace));
  lines.insert(lines.end(), answer.notes.begin(), answer.notes.end());
  return lines;
}

}  // namespace ropeway::cli
