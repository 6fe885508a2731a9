// Captured graphs: what is captured goes into the model's graph, and a replay is a step that does all of it. Models built by hand are put
// together from what their streams keep.
#include <algorithm>

#include "check/call.h"

using namespace ropeway::check;

namespace {

void KeepBegin(Books& books, uint32_t operation, StreamIndex index) {
  const auto graph = std::make_shared<Graph>();
  graph->operation = operation;
  books.model.Capture(index, graph);
}

void KeepBodyBegin(Books& books, uint32_t operation, aclmdlRI handle, StreamIndex index) {
  const auto body = books.graphs.find(handle);
  if (body == books.graphs.end()) return KeepBegin(books, operation, index);
  books.model.Capture(index, body->second);
}

// The 64 bits that decide are read where the task is.
void KeepCondition(Books& books, uint32_t operation, const aclmdlRICondTaskParams& params, StreamIndex index) {
  Step step;
  step.effect = Step::Effect::kChoose;
  step.operation = operation;
  step.control = std::make_shared<Control>();
  for (uint32_t i = 0; i < params.size; ++i) {
    const auto body = std::make_shared<Graph>();
    body->operation = operation;
    books.graphs[params.modelRIArray[i]] = body;
    step.control->bodies.push_back(body);
  }
  const auto variable_of = reinterpret_cast<decltype(&aclmdlRICondHandleGetCondPtr)>(FindInTarget("aclmdlRICondHandleGetCondPtr"));
  uint64_t* variable = nullptr;
  if (variable_of != nullptr && variable_of(params.handle, &variable) == ACL_SUCCESS)
    step.accesses.push_back({RangeOf(variable, sizeof(*variable)), false});
  books.model.Submit(index, std::move(step));
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
  if (handle != nullptr) books.graphs[handle] = graph;
}

void KeepReplay(Books& books, uint32_t operation, aclmdlRI handle, StreamIndex index) {
  const auto known = books.graphs.find(handle);
  if (known == books.graphs.end()) return;
  Step step;
  step.effect = Step::Effect::kReplay;
  step.operation = operation;
  step.graph = known->second;
  const Place place = books.model.Submit(index, std::move(step));
  ForEachStep(*known->second, [&](const Step& one) { HostAccess::Shut(books.model, {place, operation}, one.accesses, true); });
}

// It has waited for the mark, on a stream that nobody else has.
void KeepWaited(Books& books, uint32_t operation, aclmdlRI handle) {
  const StreamIndex hidden = books.StreamOfModel(handle);
  KeepReplay(books, operation, handle, hidden);
  books.model.Finish(books.model.LastOf(hidden));
}

// What it waits for is all that it has started.
void KeepOver(Books& books, aclmdlRI handle) {
  const auto known = books.graphs.find(handle);
  if (known != books.graphs.end()) books.model.FinishReplays(*known->second);
}

// --- Models built by hand -----------------------------------------------------------------------------------------------

void KeepBuild(Books& books, uint32_t operation, aclmdlRI handle) {
  const auto graph = std::make_shared<Graph>();
  graph->operation = operation;
  books.graphs[handle] = graph;
}

void KeepBind(Books& books, aclmdlRI handle, StreamIndex index, bool head) {
  const auto known = books.graphs.find(handle);
  const std::shared_ptr<Graph> tasks = books.model.CaptureOf(index);
  if (known != books.graphs.end() && tasks != nullptr) known->second->lanes.push_back({index, head, tasks});
}

void KeepUnbind(Books& books, aclmdlRI handle, StreamIndex index) {
  KeepOver(books, handle);
  const auto known = books.graphs.find(handle);
  if (known != books.graphs.end()) std::erase_if(known->second->lanes, [&](const Graph::Lane& lane) { return lane.stream == index; });
}

void KeepClean(Books& books, StreamIndex index) {
  for (const auto& [handle, graph] : books.graphs)
    if (std::any_of(graph->lanes.begin(), graph->lanes.end(), [&](const Graph::Lane& lane) { return lane.stream == index; }))
      books.model.FinishReplays(*graph);
  if (const std::shared_ptr<Graph> tasks = books.model.CaptureOf(index)) tasks->nodes.clear();
}

Step ControlStep(uint32_t operation, Step::Effect effect) {
  Step step;
  step.effect = effect;
  step.operation = operation;
  step.control = std::make_shared<Control>();
  return step;
}

void KeepLabel(Books& books, uint32_t operation, aclrtLabel label, StreamIndex index) {
  Step step = ControlStep(operation, Step::Effect::kLabel);
  step.control->label = label;
  books.model.Submit(index, std::move(step));
}

void KeepJump(Books& books, uint32_t operation, const void* number, uint32_t count, aclrtLabelList list, StreamIndex index) {
  Step step = ControlStep(operation, Step::Effect::kJump);
  const auto known = books.label_lists.find(list);
  if (known != books.label_lists.end()) step.control->labels = known->second;
  if (step.control->labels.size() > count) step.control->labels.resize(std::max(count, 1u));
  step.accesses.push_back({RangeOf(number, sizeof(uint32_t)), false});
  books.model.Submit(index, std::move(step));
}

void KeepActivate(Books& books, uint32_t operation, aclrtStream target, StreamIndex index) {
  Step step = ControlStep(operation, Step::Effect::kActivate);
  step.control->target = books.StreamOf(target);
  books.model.Submit(index, std::move(step));
}

struct Compared {
  const void *left, *right;
  size_t size;
  uint8_t comparison;
};

void KeepSwitch(Books& books, uint32_t operation, const Compared& compared, aclrtStream target, StreamIndex index) {
  Step step = ControlStep(operation, Step::Effect::kSwitch);
  step.control->target = books.StreamOf(target);
  step.control->comparison = compared.comparison;
  step.accesses = {{RangeOf(compared.left, compared.size), false}, {RangeOf(compared.right, compared.size), false}};
  books.model.Submit(index, std::move(step));
}

void ForgetBodies(Books& books, const Graph& graph) {
  ForEachStep(graph, [&](const Step& step) {
    if (step.control == nullptr) return;
    std::erase_if(books.graphs, [&](const auto& entry) {
      const auto& bodies = step.control->bodies;
      return std::find(bodies.begin(), bodies.end(), entry.second) != bodies.end();
    });
  });
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
    ForgetBodies(settled, *graph);
  });
}

}  // namespace

RW_QUEUED(aclmdlRICaptureBegin, (aclrtStream stream, aclmdlRICaptureMode mode), (stream, mode), KeepBegin(books, operation, index))
RW_QUEUED(aclmdlRICaptureToModelRIBegin, (aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode), (stream, modelRI, mode),
          KeepBodyBegin(books, operation, modelRI, index))
RW_QUEUED(aclmdlRIAddCondTask, (aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags), (params, stream, flags),
          KeepCondition(books, operation, params, index))
RW_QUEUED(aclmdlRICaptureEnd, (aclrtStream stream, aclmdlRI* modelRI), (stream, modelRI), (void)operation;
          KeepEnd(books, modelRI == nullptr ? nullptr : *modelRI, index))
RW_QUEUED(aclmdlRIExecuteAsync, (aclmdlRI modelRI, aclrtStream stream), (modelRI, stream), KeepReplay(books, operation, modelRI, index))
RW_AT_ONCE(aclmdlRIDestroy, (aclmdlRI modelRI), (modelRI), KeepModelDestroy(books, operation, modelRI))

RW_KEPT(aclmdlRIBuildBegin, (aclmdlRI * modelRI, uint32_t flag), (modelRI, flag), KeepBuild(books, operation, *modelRI))
RW_QUEUED(aclmdlRIBindStream, (aclmdlRI modelRI, aclrtStream stream, uint32_t flag), (modelRI, stream, flag), (void)operation;
          KeepBind(books, modelRI, index, flag == 0))
RW_QUEUED(aclmdlRIUnbindStream, (aclmdlRI modelRI, aclrtStream stream), (modelRI, stream), (void)operation;
          KeepUnbind(books, modelRI, index))
RW_QUEUED(aclmdlRIEndTask, (aclmdlRI modelRI, aclrtStream stream), (modelRI, stream),
          books.model.Submit(index, ControlStep(operation, Step::Effect::kFinish)))
RW_KEPT(aclmdlRIExecute, (aclmdlRI modelRI, int32_t timeout), (modelRI, timeout), KeepWaited(books, operation, modelRI))
RW_KEPT(aclmdlRIAbort, (aclmdlRI modelRI), (modelRI), (void)operation; KeepOver(books, modelRI))
RW_QUEUED(aclrtPersistentTaskClean, (aclrtStream stream), (stream), (void)operation; KeepClean(books, index))

RW_KEPT(aclrtCreateLabelList, (aclrtLabel * labels, size_t num, aclrtLabelList* labelList), (labels, num, labelList), (void)operation;
        books.label_lists[*labelList].assign(labels, labels + num))
RW_KEPT(aclrtDestroyLabelList, (aclrtLabelList labelList), (labelList), (void)operation; books.label_lists.erase(labelList))
RW_QUEUED(aclrtSetLabel, (aclrtLabel label, aclrtStream stream), (label, stream), KeepLabel(books, operation, label, index))
RW_QUEUED(aclrtSwitchLabelByIndex, (void* ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream),
          (ptr, maxValue, labelList, stream), KeepJump(books, operation, ptr, maxValue, labelList, index))
RW_QUEUED(aclrtActiveStream, (aclrtStream activeStream, aclrtStream stream), (activeStream, stream),
          KeepActivate(books, operation, activeStream, index))
RW_QUEUED(aclrtSwitchStream,
          (void* leftValue, aclrtCondition cond, void* rightValue, aclrtCompareDataType dataType, aclrtStream trueStream,
           aclrtStream falseStream, aclrtStream stream),
          (leftValue, cond, rightValue, dataType, trueStream, falseStream, stream),
          KeepSwitch(books, operation, {leftValue, rightValue, dataType == 0 ? size_t{4} : size_t{8}, static_cast<uint8_t>(cond)},
                     trueStream, index))
