// Which task of a trace is behind which of another stream, branch or process: found by what both ends said of themselves, when all are
// read.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "cli/trace_data.h"

namespace ropeway::cli {

class TraceOrder {
 public:
  explicit TraceOrder(TraceData* trace) : trace_(*trace) {}

  // Task `task` of process `process` sets, takes back or awaits something: a SignalWord. Inside a graph it is the replay's own.
  void Signal(uint32_t process, uint32_t task, uint64_t word, bool inside_graph);
  // It carries a message, or takes it.
  void Message(uint32_t task, uint64_t message, bool sends);
  // Adds the edges.
  void Match();

 private:
  struct SignalTask {
    uint32_t task;
    uint64_t word;
  };
  struct MessageEnds {
    uint32_t sender = kNone;
    uint32_t receiver = kNone;
  };
  // Whose it is (kNone: all processes'), the object, and the replay: stream and number.
  using Object = std::tuple<uint32_t, uint64_t, uint32_t, uint64_t>;

  void MatchSignals(const std::vector<SignalTask>& tasks);
  void MatchWait(const SignalTask& wait, std::vector<SignalTask>* marks);
  void AddEdge(uint32_t from, uint32_t to, uint32_t event);

  TraceData& trace_;
  std::map<Object, std::vector<SignalTask>> signals_;
  std::map<uint64_t, MessageEnds> messages_;
};

}  // namespace ropeway::cli
