#include "check/model/model.h"

#include <algorithm>
#include <set>

namespace ropeway::check {
namespace {

bool Satisfies(uint64_t value, const Step& wait) {
  switch (wait.condition) {
    case 0: return static_cast<int64_t>(value - wait.value) >= 0;
    case 1: return value == wait.value;
    case 2: return (value & wait.value) != 0;
    default: return ~(value | wait.value) != 0;
  }
}

bool Overlap(const Range& one, const Range& other) { return one.begin < other.end && other.begin < one.end; }

bool Calls(const Step& step, const Function& function) {
  if (step.function.get() == &function) return true;
  return step.graph != nullptr && AnyStep(*step.graph, [&](const Step& one) { return one.function.get() == &function; });
}

// Whether the stream that has `step` does what `wait` waits for when it gets there.
bool Releases(const Step& step, const Step& wait) {
  switch (wait.effect) {
    case Step::Effect::kWaitFlag:
    case Step::Effect::kTakeFlag: return step.effect == Step::Effect::kPass && step.flag == wait.flag;
    case Step::Effect::kWaitWord: return step.effect == Step::Effect::kStore && step.word == wait.word && Satisfies(step.value, wait);
    default: return false;
  }
}

// A flag that is set already lets waits through: they can rely on no more than what was in front of the first record.
void Set(Flag* flag, const Clock& clock) {
  if (flag->set && !flag->latest) return;
  flag->set = true;
  flag->clock = clock;
}

void Clear(Flag* flag) {
  flag->set = false;
  flag->clock = {};
}

}  // namespace

StreamIndex Model::AddStream() {
  if (retired_.empty()) {
    streams_.emplace_back();
    return static_cast<StreamIndex>(streams_.size() - 1);
  }
  const StreamIndex index = retired_.back();
  retired_.pop_back();
  streams_[index].before = streams_[index].submitted;
  return index;
}

void Model::Retire(StreamIndex index) {
  Stream& stream = streams_[index];
  if (stream.capture || !stream.held.empty() || !Finished(LastOf(index))) return;
  stream.clock = {};
  stream.last_wait = nullptr;
  retired_.push_back(index);
}

Place Model::Submit(StreamIndex index, Step step) {
  Stream& stream = streams_[index];
  if (!views_.empty()) step.accesses = Folded(step.accesses);
  if (stream.capture) {
    if (step.point) step.point->in_capture = true;
    stream.capture->nodes.push_back({stream.capture_branch, std::move(step)});
    return {};
  }
  step.number = ++stream.submitted;
  const Place place{index, step.number};
  if (step.point && step.effect == Step::Effect::kPass) step.point->place = place;
  if (step.graph) step.graph->last = place;
  if (!stream.held.empty() || !CanPass(index, step)) {
    if (stream.held.empty()) held_up_.push_back(index);
    any_held_.store(true, std::memory_order_relaxed);
    stream.held.push_back(std::move(step));
    return place;
  }
  Perform(index, step);
  DrainOthers();
  return place;
}

Place Model::SubmitUse(StreamIndex index, uint32_t operation, std::span<const Access> accesses) {
  Stream& stream = streams_[index];
  if (stream.capture || !stream.held.empty() || !views_.empty()) {
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
      TellWatcher(use.place, access);
    if (!access.of_view)
      ranges_.Visit(access.range, [&](const check::Use& earlier, bool written, const Range& part) {
        if ((written || access.write) && !Ordered(earlier.place, stream, index)) on_conflict_({earlier, written, use, access.write, part});
      });
    if (!access.write) {
      ranges_.Read(access.range, use, finished);
      continue;
    }
    ranges_.Write(access.range, use);
    if (!words_.empty()) TellWords(use.place, access.range);
  }
  ranges_.Sweep(finished);
}

// What is behind a function that has not returned uses what the function leaves, and it is not known yet what that touches.
void Model::TellWatcher(const Place& place, const Access& access) {
  for (const auto& run : runs_)
    if (run->InFrontOf(place)) return;
  if (!access.of_view) watcher_->Used(place.stream, access.range, access.write);
}

void Model::TellWords(const Place& place, const Range& range) {
  for (auto at = words_.lower_bound(range.begin); at != words_.end() && at->first < range.end; ++at) {
    Word::Store store{false, 0, streams_[place.stream].clock, place};
    store.clock.Raise(place);
    AddStore(at->second.get(), std::move(store));
  }
}

// Whoever comes from now on is behind the last store that the host saw finished.
void Model::AddStore(Word* word, Word::Store store) {
  std::vector<Word::Store>& stores = word->stores;
  const auto last = std::find_if(stores.rbegin(), stores.rend(), [this](const Word::Store& one) { return Finished(one.place); });
  if (last != stores.rend()) stores.erase(stores.begin(), std::prev(last.base()));
  stores.push_back(std::move(store));
}

// The first one that could have let it pass. What was overwritten in front of the wait could not.
const Word::Store* Model::Satisfying(StreamIndex index, const Step& step) const {
  const std::vector<Word::Store>& stores = step.word->stores;
  const auto in_front = [&](const Word::Store& store) { return Ordered(store.place, streams_[index], index); };
  const auto last = std::find_if(stores.rbegin(), stores.rend(), in_front);
  for (auto at = last == stores.rend() ? stores.begin() : std::prev(last.base()); at != stores.end(); ++at)
    if (at->known && Satisfies(at->value, step)) return &*at;
  return nullptr;
}

void Model::Release(StreamIndex index, const void* token) {
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->Released(index, token);
}

bool Model::CanPass(StreamIndex index, const Step& step) const {
  switch (step.effect) {
    case Step::Effect::kWaitPoint: return step.point->passed;
    case Step::Effect::kWaitFlag:
    case Step::Effect::kTakeFlag: return step.flag->set;
    case Step::Effect::kWaitWord: return Satisfying(index, step) != nullptr;
    case Step::Effect::kReplay: return CanReplay(index, *step.graph);
    default: return true;
  }
}

// What the graph does not do itself has to be there.
bool Model::CanReplay(StreamIndex index, const Graph& graph) const {
  return !AnyStep(graph, [&](const Step& step) {
    const bool waits_for_others = step.flag || step.word;
    if (!waits_for_others || CanPass(index, step)) return false;
    return !AnyStep(graph, [&](const Step& other) { return Releases(other, step); });
  });
}

void Model::Wait(StreamIndex index, const Clock& clock, const void* token) {
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->Acquired(index, token);
  Clock& own = streams_[index].clock;
  for (const auto& run : runs_)
    if (clock.Of(run->place.stream) >= run->place.number) run->behind.try_emplace(index, own.Of(index) + 1);
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
    case Step::Effect::kWaitFlag:
    case Step::Effect::kTakeFlag:
      if (!step.flag->set) PassEarly(step.flag.get(), {index, step.number}, step.effect == Step::Effect::kTakeFlag);
      Wait(index, step.flag->clock, step.flag.get());
      if (step.effect == Step::Effect::kTakeFlag) Clear(step.flag.get());
      break;
    case Step::Effect::kWaitWord:
      if (const Word::Store* store = Satisfying(index, step)) {
        Wait(index, store->clock, step.word.get());
        break;
      }
      PassEarly(step.word.get(), {index, step.number}, false);
      for (const Word::Store& store : step.word->stores) Wait(index, store.clock, step.word.get());
      break;
    case Step::Effect::kCall: AddRun(index, step); break;
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
      if (step.flag && !SettleEarly(step.flag.get(), stream.clock)) Set(step.flag.get(), stream.clock);
      break;
    case Step::Effect::kClearFlag: Clear(step.flag.get()); break;
    case Step::Effect::kChoose: RunBodies(index, step); break;
    case Step::Effect::kStore:
      SettleEarly(step.word.get(), stream.clock);
      AddStore(step.word.get(), {true, step.value, stream.clock, {index, step.number}});
      Release(index, step.word.get());
      break;
    default: break;
  }
}

void Model::PassEarly(Signal* signal, const Place& place, bool takes) {
  if (signal->coming > signal->early.size()) signal->early.push_back({place, takes});
}

// Whether one of those who passed before took it.
bool Model::SettleEarly(Signal* signal, const Clock& clock) {
  while (!signal->early.empty()) {
    const Signal::Early first = signal->early.front();
    signal->early.erase(signal->early.begin());
    if (Finished(first.place))
      Finish(clock);
    else
      Wait(first.place.stream, clock, signal);
    if (first.takes) return true;
  }
  return false;
}

// Runs that the host saw finished and that never began were dropped.
void Model::AddRun(StreamIndex index, const Step& step) {
  const auto run = std::make_shared<Function::Run>();
  run->place = {index, step.number};
  run->front = streams_[index].clock;
  step.function->runs.push_back(run);
  Release(index, step.function.get());
  if (!step.function->holds_its_stream) return;
  run->behind[index] = step.number + 1;
  runs_.push_back(run);
  if (runs_.size() < 2 * runs_kept_ + 64) return;
  std::erase_if(runs_, [this](const auto& one) { return !one->begun && Finished(one->place); });
  runs_kept_ = runs_.size();
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
      if (held_branches.contains(node->branch) || !CanPass(node->branch, node->step)) {
        held_branches.insert(node->branch);
        held.push_back(node);
        continue;
      }
      RunNode(node);
    }
    if (held.size() == left.size()) {
      WaitForAll(held.front()->branch);
      RunNode(held.front());
      held.pop_front();
    }
    left.swap(held);
  }
}

void Model::WaitForAll(StreamIndex index) {
  for (StreamIndex other = 0; other < streams_.size(); ++other) Wait(index, streams_[other].clock, &streams_[other]);
}

void Model::RunNode(Graph::Node* node) {
  node->step.number = ++streams_[node->branch].submitted;
  if (node->step.point && node->step.effect == Step::Effect::kPass) node->step.point->place = {node->branch, node->step.number};
  Perform(node->branch, node->step);
}

void Model::ResetPoints(const Graph& graph) {
  ForEachStep(graph, [](const Step& step) {
    if (step.point) step.point->passed = false;
  });
}

void Model::StartBranch(StreamIndex branch, StreamIndex runner, StreamIndex behind) {
  Wait(branch, streams_[behind].clock, &streams_[behind]);
  streams_[branch].runner = runner;
}

// A branch begins behind what is in front of the replay, and the replay ends behind all of them; that of a model built by hand at its mark,
// whatever else still runs. The next one waits for everything.
void Model::Replay(StreamIndex index, const Step& step) {
  Graph& graph = *step.graph;
  Wait(index, graph.end, &graph);
  graph.operation = step.operation;
  Release(index, &streams_[index]);
  ResetPoints(graph);
  if (graph.lanes.empty()) {
    for (const StreamIndex branch : graph.branches) StartBranch(branch, index, index);
    RunNodes(&graph);
    for (const StreamIndex branch : graph.branches) Wait(index, streams_[branch].clock, &streams_[branch]);
    graph.end = {};
  } else {
    RunLanes(index, &graph);
    graph.end = {};
    for (const Graph::Lane& lane : graph.lanes) graph.end.Join(streams_[lane.tasks->branches.front()].clock);
  }
  graph.end.Join(streams_[index].clock);
  graph.end.Raise({index, step.number});
  Release(index, &graph);
}

void Model::Drain(StreamIndex index, bool by_force, uint64_t up_to) {
  std::deque<Step>& held = streams_[index].held;
  while (!held.empty() && ((by_force && held.front().number <= up_to) || CanPass(index, held.front()))) {
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
  any_held_.store(!held_up_.empty(), std::memory_order_relaxed);
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

void Model::FinishReplays(const Graph& graph) {
  if (!graph.last) return;
  Drain(graph.last.stream, true, graph.last.number);
  DrainOthers();
  Finish(graph.end);
}

std::shared_ptr<Function::Run> Model::Begin(Function& function) {
  std::deque<std::shared_ptr<Function::Run>>& runs = function.runs;
  while (!runs.empty() && Finished(runs.front()->place)) runs.pop_front();  // dropped
  if (runs.empty()) DrainTo(function);
  if (runs.empty()) return nullptr;
  const std::shared_ptr<Function::Run> run = runs.front();
  runs.pop_front();
  run->begun = true;
  Finish(run->front);
  uint64_t& begun = streams_[run->place.stream].begun;
  begun = std::max(begun, run->place.number);
  if (watcher_ != nullptr) [[unlikely]]
    watcher_->HostAcquired(&function);
  return run;
}

void Model::Withdraw(StreamIndex index, const Function& function) {
  Stream& stream = streams_[index];
  for (const auto& run : function.runs) std::erase(runs_, run);
  if (stream.capture) {
    std::erase_if(stream.capture->nodes, [&](const Graph::Node& node) { return Calls(node.step, function); });
    return;
  }
  if (!stream.held.empty() && Calls(stream.held.back(), function)) {
    stream.held.pop_back();
    --stream.submitted;
  } else if (!function.runs.empty() && function.runs.back()->place.number == stream.submitted) {
    --stream.submitted;
  }
}

// It begins, so what held its stream back is over.
void Model::DrainTo(const Function& function) {
  for (const StreamIndex index : held_up_) {
    const std::deque<Step>& held = streams_[index].held;
    const auto at = std::find_if(held.begin(), held.end(), [&](const Step& step) { return Calls(step, function); });
    if (at == held.end()) continue;
    Drain(index, true, at->number);
    return DrainOthers();
  }
}

void Model::End(const std::shared_ptr<Function::Run>& run) {
  std::erase(runs_, run);
  uint64_t& finished = streams_[run->place.stream].finished;
  finished = std::max(finished, run->place.number);
}

void Model::PassUses(const Range& range, bool write, const Function::Run* by, const OnUse& meet) {
  views_.Fold(range, [&](const Range& part, bool) { Pass(part, write, by, meet); });
}

void Model::PassEnd(const Range& range, const OnUse& meet) { Pass(range, true, nullptr, meet); }

void Model::Pass(const Range& range, bool write, const Function::Run* by, const OnUse& meet) const {
  ranges_.Visit(range, [&](const check::Use& use, bool written, const Range& part) {
    if ((written || write) && !Finished(use.place) && !(by != nullptr && by->InFrontOf(use.place))) meet(use, written, part);
  });
  for (const StreamIndex index : held_up_) PassHeld(index, range, write, by, meet);
}

void Model::PassHeld(StreamIndex index, const Range& range, bool write, const Function::Run* by, const OnUse& meet) const {
  const auto meet_step = [&](const Place& place, const Step& step) {
    for (const Access& access : step.accesses)
      if (Overlap(access.range, range) && (access.write || write))
        meet({place, step.operation}, access.write, {std::max(access.range.begin, range.begin), std::min(access.range.end, range.end)});
  };
  for (const Step& step : streams_[index].held) {
    const Place place{index, step.number};
    if (by != nullptr && (by->InFrontOf(place) || (step.effect == Step::Effect::kWaitPoint && by->InFrontOf(step.point->place)))) return;
    meet_step(place, step);
    if (step.graph == nullptr) continue;
    ForEachStep(*step.graph, [&](const Step& inside) { meet_step(place, inside); });
  }
}

std::vector<Access> Model::Folded(std::span<const Access> accesses) const {
  std::vector<Access> folded;
  for (const Access& access : accesses)
    views_.Fold(access.range, [&](const Range& part, bool is_view) {
      folded.push_back({part, access.write});
      if (is_view) folded.push_back({access.range, access.write, true});
    });
  return folded;
}

void Model::GiveBack(StreamIndex index, const Range& range, uint32_t operation) {
  const Access whole{range, true};
  if (!streams_[index].held.empty()) {
    SubmitUse(index, operation, {&whole, 1});  // not known yet what is in front
    return;
  }
  Use(index, streams_[index].submitted, operation, {&whole, 1});
}

void Model::Own(StreamIndex index, const Range& range, uint32_t operation) {
  if (Pending(index)) ranges_.Write(range, {LastOf(index), operation});
}

// What is held back was judged when the block ended. The next block at this address has nothing to do with it.
void Model::Forget(const Range& range) {
  ranges_.Clear(range);
  views_.Remove(range);
  words_.erase(words_.lower_bound(range.begin), words_.lower_bound(range.end));
  for (const StreamIndex index : held_up_)
    for (Step& step : streams_[index].held)
      std::erase_if(step.accesses, [&](const Access& access) { return Overlap(access.range, range); });
}

void Model::HostWrote(const Range& range) {
  if (words_.empty()) return;
  views_.Fold(range, [this](const Range& part, bool) {
    for (auto at = words_.lower_bound(part.begin); at != words_.end() && at->first < part.end; ++at) at->second->stores.clear();
  });
}

std::shared_ptr<Word> Model::WordAt(uintptr_t address) {
  views_.Fold({address, address + 1}, [&](const Range& part, bool) { address = part.begin; });
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

std::optional<StreamIndex> Model::HolderOf(const Step& step) const {
  if (step.effect == Step::Effect::kWaitPoint) return step.point->place.stream;
  for (const StreamIndex index : held_up_)
    for (const Step& held : streams_[index].held)
      if (Releases(held, step)) return index;
  return std::nullopt;
}

}  // namespace ropeway::check
