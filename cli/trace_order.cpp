#include "cli/trace_order.h"

#include <algorithm>

#include "src/watch/trace_format.h"

namespace ropeway::cli {

using Role = trace::SignalWord::Role;

void TraceOrder::Signal(uint32_t process, uint32_t task, uint64_t word, bool inside_graph) {
  const TraceTask& one = trace_.tasks[task];
  const uint32_t owner = trace::SignalWord::Shared(word) ? kNone : process;
  const Object object(owner, trace::SignalWord::Object(word), inside_graph ? one.stream : kNone, inside_graph ? one.sequence : 0);
  signals_[object].push_back({task, word});
}

void TraceOrder::Message(uint32_t task, uint64_t message, bool sends) {
  MessageEnds& ends = messages_[message];
  (sends ? ends.sender : ends.receiver) = task;
}

void TraceOrder::Match() {
  for (const auto& [object, tasks] : signals_) MatchSignals(tasks);
  for (const auto& [message, ends] : messages_) {
    if (ends.sender == kNone || ends.receiver == kNone) continue;
    if (trace_.tasks[ends.sender].end_ns >= 0 && trace_.tasks[ends.receiver].end_ns >= 0) AddEdge(ends.sender, ends.receiver, 0);
  }
}

// Which of the marks a wait went on behind is seen in their times: the first that was reached when the stream stood there, or else the
// last before. A mark's start is before whatever it lets go on; its end may not be.
void TraceOrder::MatchSignals(const std::vector<SignalTask>& tasks) {
  std::vector<SignalTask> marks, waits;
  for (const SignalTask& one : tasks) {
    const Role role = trace::SignalWord::RoleOf(one.word);
    if (trace_.tasks[one.task].end_ns >= 0 && role != Role::kTakesBack) (role == Role::kSets ? marks : waits).push_back(one);
  }
  const auto by_time = [&](int64_t TraceTask::*time) {
    return [this, time](const SignalTask& a, const SignalTask& b) { return trace_.tasks[a.task].*time < trace_.tasks[b.task].*time; };
  };
  std::stable_sort(marks.begin(), marks.end(), by_time(&TraceTask::start_ns));
  std::stable_sort(waits.begin(), waits.end(), by_time(&TraceTask::end_ns));
  for (const SignalTask& wait : waits) MatchWait(wait, &marks);
}

void TraceOrder::MatchWait(const SignalTask& wait, std::vector<SignalTask>* marks) {
  const TraceTask& to = trace_.tasks[wait.task];
  auto chosen = marks->end();
  for (auto mark = marks->begin(); mark != marks->end() && trace_.tasks[mark->task].start_ns <= to.end_ns; ++mark) {
    chosen = mark;
    if (trace_.tasks[mark->task].end_ns >= to.start_ns) break;
  }
  if (chosen == marks->end()) return;
  const TraceTask& from = trace_.tasks[chosen->task];
  if (from.stream != to.stream || from.branch != to.branch) AddEdge(chosen->task, wait.task, trace::SignalWord::Number(wait.word));
  if (trace::SignalWord::OneEach(wait.word)) marks->erase(marks->begin(), chosen + 1);
}

void TraceOrder::AddEdge(uint32_t from_task, uint32_t to_task, uint32_t event) {
  const TraceTask &from = trace_.tasks[from_task], &to = trace_.tasks[to_task];
  trace_.edges.push_back({from.stream, from.sequence, to.stream, to.sequence, to.call, to.site, event,
                          to.submit_ns >= 0 ? to.submit_ns : to.start_ns, from_task, to_task});
}

}  // namespace ropeway::cli
