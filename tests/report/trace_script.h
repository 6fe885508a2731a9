// Makes traces without a program: a host thread with a clock, and streams that take a fixed time for every byte. What a call does to the
// clock is what the runtime would do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace_data.h"

namespace ropeway::cli {

class TraceScript {
 public:
  static constexpr int64_t kCallNs = 300;     // what a call takes
  static constexpr int64_t kBeginNs = 1000;   // from a call to the begin of its task
  static constexpr int64_t kPerTaskNs = 200;  // beside its bytes
  static constexpr double kRate = 10e9;       // bytes per second

  TraceScript() {
    trace.names = {""};
    trace.processes.push_back({4711, -1, "here", "planted", "cpu", 0});
    trace.threads.push_back({0, 4711, "main", false});
    trace.threads.push_back({0, 4712, "lane 0", true});
    trace.threads.push_back({0, 4713, "lane 1", true});
  }

  TraceData trace;

  uint16_t Name(const std::string& name) {
    const auto found = std::find(trace.names.begin(), trace.names.end(), name);
    if (found != trace.names.end()) return static_cast<uint16_t>(found - trace.names.begin());
    trace.names.push_back(name);
    return static_cast<uint16_t>(trace.names.size() - 1);
  }

  uint32_t Site(int line) {
    for (uint32_t i = 0; i < trace.sites.size(); ++i) {
      if (trace.sites[i].line == line) return i;
    }
    trace.sites.push_back({"Work", "/src/slow.cpp", line});
    return static_cast<uint32_t>(trace.sites.size() - 1);
  }

  uint32_t NewStream() {
    const uint32_t index = static_cast<uint32_t>(trace.streams.size());
    trace.streams.push_back({0, index + 1, 0});
    free_at_.push_back(0);
    return index;
  }

  void Compute(int64_t ns) { now_ += ns; }

  uint32_t Copy(uint32_t stream, uint64_t bytes, int line, const char* direction = "H2D") {
    return Queue(stream, "copy", "aclrtMemcpyAsync", bytes, 1, TimeFor(bytes), line, direction);
  }
  uint32_t Batch(uint32_t stream, uint64_t bytes, uint32_t items, int line) {
    return Queue(stream, "batch", "aclrtMemcpyBatchAsync", bytes, items, TimeFor(bytes), line, "H2D");
  }
  uint32_t Rows(uint32_t stream, uint64_t width, uint32_t height, int line) {
    return Queue(stream, "copy2d", "aclrtMemcpy2dAsync", width * height, height, 50 * height, line, "H2D");
  }
  uint32_t HostFunction(uint32_t stream, int64_t ns, int line) { return Queue(stream, "call", "aclrtLaunchCallback", 0, 1, ns, line, ""); }
  uint32_t ValueWait(uint32_t stream, int64_t ns, int line) { return Queue(stream, "wait_value", "aclrtValueWait", 0, 1, ns, line, ""); }

  // The caller drains the stream and copies.
  void Pageable(uint32_t stream, uint64_t bytes, int line) {
    now_ = std::max(now_, free_at_[stream]);
    ByCaller("aclrtMemcpyAsync", "pageable", bytes, line);
  }
  void Synchronous(uint64_t bytes, int line) { ByCaller("aclrtMemcpy", "", bytes, line); }

  void Wait(uint32_t stream, int line) {
    TraceWait wait;
    wait.thread = 0;
    wait.call = Name("aclrtSynchronizeStream");
    wait.site = Site(line);
    wait.begin_ns = now_;
    now_ = std::max(now_ + kCallNs, free_at_[stream] + kBeginNs);
    wait.end_ns = now_;
    wait.stream = stream;
    wait.sequence = Last(stream);
    trace.waits.push_back(wait);
    Passed(now_);
  }

  // `to` waits for all that is in `from` now, but for the last few.
  void Order(uint32_t from, uint32_t to, int line, uint64_t but = 0) {
    const uint64_t last = Last(from) - but;
    trace.edges.push_back({from, last, to, Last(to), Name("aclrtStreamWaitEvent"), Site(line), 1, now_});
    const auto awaited = std::find_if(trace.tasks.rbegin(), trace.tasks.rend(),
                                      [&](const TraceTask& task) { return task.stream == from && task.sequence == last; });
    if (awaited != trace.tasks.rend()) free_at_[to] = std::max(free_at_[to], awaited->end_ns);
    now_ += kCallNs;
  }

  void Allocate(uint64_t bytes, int64_t ns, int line) {
    now_ += ns;
    trace.blocks.push_back({0x1000, bytes, 0, 0, Name("aclrtMalloc"), Site(line), now_, -1});
    Passed(now_);
  }
  void Free(int64_t ns) {
    now_ += ns;
    trace.blocks.back().freed_ns = now_;
    Passed(now_);
  }

  int64_t now() const { return now_; }

 private:
  static int64_t TimeFor(uint64_t bytes) { return kPerTaskNs + static_cast<int64_t>(static_cast<double>(bytes) / kRate * 1e9); }

  uint64_t Last(uint32_t stream) const { return sequences_.size() > stream ? sequences_[stream] : 0; }

  uint32_t Queue(uint32_t stream, const char* kind, const char* call, uint64_t bytes, uint32_t items, int64_t ns, int line,
                 const char* direction) {
    sequences_.resize(trace.streams.size());
    TraceTask task = Describe(kind, call, bytes, line, direction);
    task.stream = stream;
    task.sequence = ++sequences_[stream];
    task.items = items;
    task.lane = 1 + stream % 2;
    task.start_ns = std::max(now_ + kBeginNs, free_at_[stream]);
    task.end_ns = free_at_[stream] = task.start_ns + ns;
    now_ += kCallNs;
    return Add(task);
  }

  void ByCaller(const char* call, const char* reason, uint64_t bytes, int line) {
    TraceTask task = Describe("copy", call, bytes, line, "H2D");
    task.reason = Name(reason);
    task.start_ns = now_;
    task.end_ns = now_ = now_ + TimeFor(bytes);
    TraceWait wait;
    wait.thread = 0;
    wait.call = task.call;
    wait.site = task.site;
    wait.begin_ns = task.start_ns;
    wait.end_ns = task.end_ns;
    wait.task = Add(task);
    trace.waits.push_back(wait);
    now_ += kCallNs;
  }

  TraceTask Describe(const char* kind, const char* call, uint64_t bytes, int line, const char* direction) {
    TraceTask task;
    task.kind = Name(kind);
    task.call = Name(call);
    task.direction = Name(direction);
    task.method = Name("cached");
    task.bytes = bytes;
    task.thread = 0;
    task.site = Site(line);
    task.submit_ns = now_;
    return task;
  }

  uint32_t Add(const TraceTask& task) {
    Passed(task.end_ns);
    trace.tasks.push_back(task);
    return static_cast<uint32_t>(trace.tasks.size() - 1);
  }

  void Passed(int64_t ns) { trace.end_ns = std::max(trace.end_ns, ns); }

  int64_t now_ = 0;
  std::vector<int64_t> free_at_;
  std::vector<uint64_t> sequences_;
};

}  // namespace ropeway::cli
