// Captured graphs: what is captured goes into the model's graph, and a replay is a step that does all of it. Bodies of conditions are
// captured, too, but nobody can say which of them a replay runs.
#include "check/call.h"

using namespace ropeway::check;

namespace {

void KeepBegin(Books& books, uint32_t operation, StreamIndex index) {
  const auto graph = std::make_shared<Graph>();
  graph->operation = operation;
  books.model.Capture(index, graph);
}

// Behind the end the events of a capture are ordinary and unrecorded.
void KeepEnd(Books& books, aclmdlRI handle, StreamIndex index) {
  const std::shared_ptr<Graph> graph = books.model.CaptureOf(index);
  if (graph == nullptr) return;
  books.model.EndCapture(*graph);
  for (auto& [event, state] : books.events) {
    if (state.capture != graph) continue;
    state.capture = nullptr;
    state.latest = nullptr;
    state.lost = nullptr;
  }
  books.graphs[handle] = graph;
}

void KeepReplay(Books& books, uint32_t operation, aclmdlRI handle, StreamIndex index) {
  const auto known = books.graphs.find(handle);
  if (known == books.graphs.end()) return;
  Step step;
  step.effect = Step::Effect::kReplay;
  step.operation = operation;
  step.graph = known->second;
  const Place place = books.model.Submit(index, std::move(step));
  for (const Graph::Node& node : known->second->nodes) HostAccess::Shut(books.model, {place, operation}, node.step.accesses, true);
}

void KeepModelDestroy(Books& books, uint32_t operation, aclmdlRI handle) {
  const auto known = books.graphs.find(handle);
  if (known == books.graphs.end()) return;
  const Place last = known->second->last;
  if (last && !books.model.Finished(last))
    books.Tell(Rule::kLifeDestroy, operation, "destroys a graph whose replay on " + books.NameOf(last) + " may not have run yet");
  // It waits for its replays itself, and not for what is behind them.
  books.WhenDone([handle, graph = known->second](Books& settled) {
    settled.model.FinishReplays(*graph);
    const auto at = settled.graphs.find(handle);
    if (at != settled.graphs.end() && at->second == graph) settled.graphs.erase(at);
  });
}

}  // namespace

RW_QUEUED(aclmdlRICaptureBegin, (aclrtStream stream, aclmdlRICaptureMode mode), (stream, mode), KeepBegin(books, operation, index))
RW_QUEUED(aclmdlRICaptureToModelRIBegin, (aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode), (stream, modelRI, mode),
          KeepBegin(books, operation, index))
RW_QUEUED(aclmdlRICaptureEnd, (aclrtStream stream, aclmdlRI* modelRI), (stream, modelRI), (void)operation;
          KeepEnd(books, modelRI == nullptr ? nullptr : *modelRI, index))
RW_QUEUED(aclmdlRIExecuteAsync, (aclmdlRI modelRI, aclrtStream stream), (modelRI, stream), KeepReplay(books, operation, modelRI, index))
RW_AT_ONCE(aclmdlRIDestroy, (aclmdlRI modelRI), (modelRI), KeepModelDestroy(books, operation, modelRI))
