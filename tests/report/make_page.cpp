// make_page PAGE TASKS [LINES]: writes the page of a made-up trace of about so many tasks, with all that a page can show, and on stdout the
// trace as JSON (not of large ones), for the tests and measurements in a browser. LINES: a file with findings of the checker.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cli/report_page.h"
#include "tests/report/trace_script.h"

namespace {

using namespace ropeway::cli;

// A second process that does what the first stream did at the beginning.
void AddRank(TraceData& trace) {
  trace.processes[0].rank = 0;
  trace.processes.push_back({4720, 1, "here", "planted", "cpu", 0});
  trace.threads.push_back({1, 4720, "main", false});
  trace.streams.push_back({1, 7, 0});
  std::vector<TraceTask> tasks;
  size_t copied = 0;
  for (const TraceTask& task : trace.tasks) {
    tasks.push_back(task);
    if (task.stream != 0 || ++copied > 8) continue;
    tasks.push_back(task);
    tasks.back().stream = static_cast<uint32_t>(trace.streams.size() - 1);
    tasks.back().thread = static_cast<uint32_t>(trace.threads.size() - 1);
    tasks.back().lane = kNone;
  }
  for (TraceWait& wait : trace.waits) wait.task += wait.task == kNone ? 0 : static_cast<uint32_t>(std::min<size_t>(copied, 8));
  trace.tasks = std::move(tasks);
}

// A range of the first thread with another inside, and the moment at which the first stream came to a mark.
void AddMarks(TraceData& trace) {
  const auto name = [&](const char* text) {
    trace.names.push_back(text);
    return static_cast<uint16_t>(trace.names.size() - 1);
  };
  const int64_t end = trace.end_ns;
  trace.marks = {{0, kNone, name("the loop"), end / 4, end / 4 * 3},
                 {0, kNone, name("a step"), end / 3, end / 2},
                 {kNone, 0, name("the stream was here"), end / 2, end / 2}};
}

// Two streams that overlap, joined by events; a third with small copies and host functions; waits, pageable copies, and another process.
TraceData MakeTrace(uint64_t tasks) {
  TraceScript script;
  const uint32_t in = script.NewStream(), out = script.NewStream(), small = script.NewStream();
  while (script.trace.tasks.size() < tasks) {
    for (int i = 0; i < 8; ++i) {
      script.Copy(in, 1 << 20, 10);
      if (i % 2 == 1) script.Order(in, out, 11);
      script.Copy(out, 1 << 20, 12, "D2H");
    }
    for (int i = 0; i < 100; ++i) script.Copy(small, uint64_t{512} << i % 5, 20, i % 3 == 0 ? "D2D" : "H2D");
    script.HostFunction(small, 40'000, 21);
    script.Batch(small, 256 << 10, 64, 22);
    script.Wait(small, 23);
    script.Pageable(in, 256 << 10, 30);
    script.Wait(out, 31);
    script.Compute(100'000);
  }
  AddRank(script.trace);
  AddMarks(script.trace);
  return script.trace;
}

void PrintTrace(const TraceData& trace) {
  std::printf("{\"end\":%lld,\"tasks\":[", static_cast<long long>(trace.end_ns));
  const char* comma = "";
  for (const TraceTask& task : trace.tasks) {
    std::printf(
        "%s{\"stream\":%d,\"sequence\":%llu,\"direction\":\"%s\",\"kind\":\"%s\",\"bytes\":%llu,\"start\":%lld,\"end\":%lld,\"line\":%d}",
        comma, task.stream == kNone ? 0 : static_cast<int>(trace.streams[task.stream].id), static_cast<unsigned long long>(task.sequence),
        trace.names[task.direction].c_str(), trace.names[task.kind].c_str(), static_cast<unsigned long long>(task.bytes),
        static_cast<long long>(task.start_ns), static_cast<long long>(task.end_ns), trace.sites[task.site].line);
    comma = ",";
  }
  comma = "";
  std::printf("],\"waits\":[");
  for (const TraceWait& wait : trace.waits) {
    std::printf("%s{\"begin\":%lld,\"end\":%lld,\"own\":%s}", comma, static_cast<long long>(wait.begin_ns),
                static_cast<long long>(wait.end_ns), wait.task == kNone ? "false" : "true");
    comma = ",";
  }
  std::printf("],\"edges\":%zu}\n", trace.edges.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_page PAGE TASKS [LINES]\n");
    return 2;
  }
  const uint64_t tasks = std::strtoull(argv[2], nullptr, 10);
  std::string findings;
  if (argc > 3) {
    std::ifstream lines(argv[3]);
    findings.assign(std::istreambuf_iterator<char>(lines), {});
  }
  const TraceData trace = MakeTrace(tasks);
  const Answer answer = Analyse(trace);
  std::ofstream(argv[1], std::ios::binary) << MakePage(trace, answer, findings);
  if (tasks <= 10000) PrintTrace(trace);
  return 0;
}
