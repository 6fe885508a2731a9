#include "check/model/model.h"

#include <algorithm>
#include <set>

namespace ropeway::check {
namespace {

bool Satisfies(const Word::Store& store, uint64_t value, uint8_t condition) {
  if (!store.known) return false;
  switch (condition) {
    case 0: return static_cast<int64_t>(store.value - value) >= 0;
    case 1: return store.value == value;
    case 2: return (store.value & value) != 0;
    default: return ~(store.value | value) != 0;
  }
}

const Word::Store* Satisfying(const Step& step) {
  for (const Word::Store& store : step.word->stores)
    if (Satisfies(store, step.value, step.condition)) return &store;
  return nullptr;
}

bool Overlap(const Range& one, const Range& other) { return one.begin < other.end && other.begin < one.end; }

// A flag that is set already lets waits through: they can rely on no more than what was in front of the first record.
void Set(Flag* flag, const Clock& clock) {
  if (flag->set && !flag->latest) return;
  flag->set = true;
  flag->clock = clock;
}

}  // namespace

StreamIndex Model::AddStream() {
  streams_.emplace_back();
  return static_cast<StreamIndex>(streams_.size() - 1);
}

Place Model::Submit(StreamIndex index, Step step) {
  Stream& stream = streams_[index];
  if (stream.capture) {
    if (step.point) step.point->in_capture = true;
    stream.capture->nodes.push_back({stream.capture_branch, std::move(step)});
    return {};
  }
  step.number = ++stream.submitted;
  const Place place{index, step.number};
  if (step.point && step.effect == Step::Effect::kPass) step.point->place = place;
  if (!stream.held.empty() || !CanPass(step)) {
    if (stream.held.empty()) held_up_.push_back(index);
    stream.held.push_back(std::move(step));
    return place;
  }
  Perform(index, step);
  DrainOthers();
  return place;
}

Place Model::SubmitUse(StreamIndex index, uint32_t operation, std::span<const Access> accesses) {
  Stream& stream = streams_[index];
  if (stream.capture || !stream.held.empty()) {
    Step step;
    step.operation = operation;
    step.accesses.assign(accesses.begin(), accesses.end());
    return Submit(index, std::move(step));
  }
  const uint64_t number = ++stream.submitted;
  Use(index, number, operation, accesses);
  stream.clock.Raise({index, number});
  Release(index, &stream);
  if (!held_up_.empty()) DrainOthers();
  return {index, number};
}

bool Model::Ordered(const Place& earlier, const Stream& later, StreamIndex later_index) const {
  return earlier.stream == later_index || Finished(earlier) || later.clock.Of(earlier.stream) >= earlier.number;
}

void Model::Use(StreamIndex index, uint64_t number, uint32_t operation, std::span<const Access> accesses) {
  const Stream& stream = streams_[index];
  const check::Use use{{index, number}, operation};
  const auto finished = [this](const Place& place) { return Finished(place); };
  for (const Access& access : accesses) {
    if (access.range.empty()) continue;
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->Used(index, access.range, access.write);
    ranges_.Visit(access.range, [&](const check::Use& earlier, bool written, const Range& part) {
      if ((written || access.write) && !Ordered(earlier.place, stream, index)) on_conflict_({earlier, written, use, access.write, part});
    });
    if (!access.write) {
      ranges_.Read(access.range, use, finished);
      continue;
    }
    ranges_.Write(access.range, use);
    if (!words_.empty()) TellWords(index, access.range);
  }
  ranges_.Sweep(finished);
}

void Model::TellWords(StreamIndex index, const Range& range) {
  for (auto at = words_.lower_bound(range.begin); at != words_.end() && at->first < range.end; ++at)
    at->second->stores.push_back({false, 0, streams_[index].clock});
}

void Model::Release(StreamIndex index, const void* token) {
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->Released(index, token);
}

bool Model::CanPass(const Step& step) const {
  switch (step.effect) {
    case Step::Effect::kWaitPoint: return step.point->passed;
    case Step::Effect::kWaitFlag:
    case Step::Effect::kTakeFlag: return step.flag->set;
    case Step::Effect::kWaitWord: return Satisfying(step) != nullptr;
    default: return true;
  }
}

void Model::Wait(StreamIndex index, const Clock& clock, const void* token) {
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->Acquired(index, token);
  Clock& own = streams_[index].clock;
  for (const Place& place : clock.entries())
    if (!Finished(place)) own.Raise(place);
}

// Also of a wait that cannot pass, when the host saw it passed all the same: by something that the model does not see.
void Model::Perform(StreamIndex index, const Step& step) {
  Stream& stream = streams_[index];
  switch (step.effect) {
    case Step::Effect::kWaitPoint:
      Wait(index, step.point->clock, step.point.get());
      stream.last_wait = step.point;
      break;
    case Step::Effect::kWaitFlag: Wait(index, step.flag->clock, step.flag.get()); break;
    case Step::Effect::kTakeFlag:
      Wait(index, step.flag->clock, step.flag.get());
      *step.flag = {};
      break;
    case Step::Effect::kWaitWord:
      if (const Word::Store* store = Satisfying(step)) {
        Wait(index, store->clock, step.word.get());
        break;
      }
      for (const Word::Store& store : step.word->stores) Wait(index, store.clock, step.word.get());
      break;
    case Step::Effect::kReplay: Replay(index, step); break;
    default: break;
  }
  Use(index, step.number, step.operation, step.accesses);
  stream.clock.Drop([&](const Place& place) { return place.stream != index && Finished(place); });
  stream.clock.Raise({index, step.number});
  Release(index, &stream);
  switch (step.effect) {
    case Step::Effect::kPass:
      step.point->clock = stream.clock;
      step.point->passed = true;
      Release(index, step.point.get());
      if (step.flag) Release(index, step.flag.get());
      if (step.flag) Set(step.flag.get(), stream.clock);
      break;
    case Step::Effect::kClearFlag: *step.flag = {}; break;
    case Step::Effect::kStore:
      step.word->stores.push_back({true, step.value, stream.clock});
      Release(index, step.word.get());
      break;
    default: break;
  }
}

// In the order of the calls, but for branches that wait for what another one has yet to do. When all of them wait, it is for somebody
// outside: that is taken for ordered behind everything.
void Model::RunNodes(Graph* graph) {
  std::deque<Graph::Node*> left;
  for (Graph::Node& node : graph->nodes) left.push_back(&node);
  while (!left.empty()) {
    std::deque<Graph::Node*> held;
    std::set<StreamIndex> held_branches;
    for (Graph::Node* const node : left) {
      if (held_branches.contains(node->branch) || !CanPass(node->step)) {
        held_branches.insert(node->branch);
        held.push_back(node);
        continue;
      }
      RunNode(node);
    }
    if (held.size() == left.size()) {
      for (StreamIndex other = 0; other < streams_.size(); ++other) Wait(held.front()->branch, streams_[other].clock, &streams_[other]);
      RunNode(held.front());
      held.pop_front();
    }
    left.swap(held);
  }
}

void Model::RunNode(Graph::Node* node) {
  node->step.number = ++streams_[node->branch].submitted;
  if (node->step.point && node->step.effect == Step::Effect::kPass) node->step.point->place = {node->branch, node->step.number};
  Perform(node->branch, node->step);
}

// A branch begins behind what is in front of the replay, and the replay ends behind all of them.
void Model::Replay(StreamIndex index, const Step& step) {
  Graph& graph = *step.graph;
  Wait(index, graph.end, &graph);
  graph.last = {index, step.number};
  graph.operation = step.operation;
  const Clock base = streams_[index].clock;
  Release(index, &streams_[index]);
  for (const StreamIndex branch : graph.branches) {
    Wait(branch, base, &streams_[index]);
    streams_[branch].runner = index;
  }
  for (const Graph::Node& node : graph.nodes)
    if (node.step.point) node.step.point->passed = false;
  RunNodes(&graph);
  for (const StreamIndex branch : graph.branches) Wait(index, streams_[branch].clock, &streams_[branch]);
  graph.end = streams_[index].clock;
  graph.end.Raise({index, step.number});
  Release(index, &graph);
}

void Model::Drain(StreamIndex index, bool by_force, uint64_t up_to) {
  std::deque<Step>& held = streams_[index].held;
  while (!held.empty() && ((by_force && held.front().number <= up_to) || CanPass(held.front()))) {
    const Step step = std::move(held.front());
    held.pop_front();
    Perform(index, step);
  }
}

void Model::DrainOthers() {
  for (size_t before = 0; !held_up_.empty() && before != held_up_.size();) {
    before = held_up_.size();
    for (const StreamIndex index : held_up_) Drain(index, false, 0);
    std::erase_if(held_up_, [this](StreamIndex index) { return streams_[index].held.empty(); });
  }
}

void Model::Finish(const Place& place) {
  if (!place) return;
  Stream& stream = streams_[place.stream];
  Drain(place.stream, true, place.number);
  DrainOthers();
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->HostAcquired(&stream);  // by this thread; another may have known before
  if (Finished(place)) return;
  for (const Place& known : stream.clock.entries())
    if (known.stream != place.stream) streams_[known.stream].finished = std::max(streams_[known.stream].finished, known.number);
  stream.finished = std::max(stream.finished, place.number);
}

void Model::Finish(const Point& point) {
  if (!point.place) return;
  if (!point.passed) return Finish(point.place);
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->HostAcquired(&point);
  Finish(point.clock);
}

void Model::Finish(const Clock& clock) {
  for (const Place& known : clock.entries()) streams_[known.stream].finished = std::max(streams_[known.stream].finished, known.number);
}

void Model::PassUses(const Range& range, bool write, const OnUse& meet) {
  ranges_.Visit(range, [&](const check::Use& use, bool written, const Range& part) {
    if ((written || write) && !Finished(use.place)) meet(use, written, part);
  });
  for (const StreamIndex index : held_up_)
    for (const Step& step : streams_[index].held) {
      PassHeld({index, step.number}, step, range, write, meet);
      if (step.graph == nullptr) continue;
      for (const Graph::Node& node : step.graph->nodes) PassHeld({index, step.number}, node.step, range, write, meet);
    }
}

void Model::PassHeld(const Place& place, const Step& step, const Range& range, bool write, const OnUse& meet) const {
  for (const Access& access : step.accesses)
    if (Overlap(access.range, range) && (access.write || write))
      meet({place, step.operation}, access.write, {std::max(access.range.begin, range.begin), std::min(access.range.end, range.end)});
}

// What is held back was judged when the block ended. The next block at this address has nothing to do with it.
void Model::Forget(const Range& range) {
  ranges_.Clear(range);
  for (const StreamIndex index : held_up_)
    for (Step& step : streams_[index].held)
      std::erase_if(step.accesses, [&](const Access& access) { return Overlap(access.range, range); });
}

void Model::HostWrote(const Range& range) {
  for (auto at = words_.lower_bound(range.begin); at != words_.end() && at->first < range.end; ++at) at->second->stores.clear();
}

std::shared_ptr<Word> Model::WordAt(uintptr_t address) {
  std::shared_ptr<Word>& word = words_[address];
  if (!word) word = std::make_shared<Word>();
  return word;
}

void Model::Capture(StreamIndex index, std::shared_ptr<Graph> graph) {
  const StreamIndex branch = AddStream();
  streams_[branch].branch = true;
  graph->branches.push_back(branch);
  streams_[index].capture_branch = branch;
  streams_[index].capture = std::move(graph);
}

void Model::EndCapture(const Graph& graph) {
  for (Stream& stream : streams_)
    if (stream.capture.get() == &graph) stream.capture.reset();
}

const Step* Model::HeldAt(StreamIndex index) const {
  const std::deque<Step>& held = streams_[index].held;
  return held.empty() ? nullptr : &held.front();
}

}  // namespace ropeway::check
