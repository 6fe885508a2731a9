#include "engine/sched/replay.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/race_detector.h"
#include "engine/sched/queue.h"
#include "engine/sched/recheck.h"
#include "engine/sched/workshop.h"
#include "engine/task_graph.h"

namespace ropeway::sched {
namespace {

constexpr int kControlFailed = 507001;  // ACL_ERROR_RT_TS_ERROR

}  // namespace

bool Replay::Grow(const TaskGraph& graph) try {
  const size_t branches = std::max<size_t>(graph.branches.size(), 1);  // one to wait for the turn
  if (branches_.size() < branches) {
    LockGuard lock(growth_);
    while (branches_.size() < branches) branches_.emplace_back(*this, static_cast<uint32_t>(branches_.size()));
  }
  edges_.assign(graph.edges, Edge());
  bodies_.assign(graph.bodies.size(), Body());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool Replay::Begin(const Task& replay_task) {
  const TaskGraph& graph = *replay_task.replay.graph;
  if (!Grow(graph)) return false;
  used_ = std::max<size_t>(graph.branches.size(), 1);
  left_ = 0;
  ready_ = BranchList();
  task_ = &replay_task;
  starts_ = at_mark_ = false;
  for (size_t i = 0; i < graph.branches.size(); ++i) {
    Branch& branch = branches_[i];
    branch.tasks = &graph.branches[i];
    branch.body = kNoBody;
    branch.state = Branch::State::kDone;
  }
  entering_ = true;
  AwaitTurn(branches_[0], &graph.turn);
  return true;
}

void Replay::AwaitTurn(Branch& branch, Gate* turn) {
  branch.deadline_ns.store(INT64_MAX, std::memory_order_relaxed);
  branch.state = Branch::State::kOutside;
  Park(branch, turn);
}

void Replay::StartHeads() {
  const TaskGraph& graph = *task_->replay.graph;
  for (const Task& task : graph.prologue) RunBytes(task, nullptr);
  for (size_t i = 0; i < graph.branches.size(); ++i) {
    if (i >= graph.dormant.size() || !graph.dormant[i]) StartAt(branches_[i], 0);
  }
}

void Replay::StartAt(Branch& branch, size_t index) {
  branch.next = index;
  branch.volleys = {};
  ++left_;
  if (index == branch.tasks->size()) return Leave(branch);
  branch.state = Branch::State::kReady;
  ready_.PushBack(&branch);
}

// The branch has come to its end, and with it, maybe, the body that it is part of.
void Replay::Leave(Branch& branch) {
  branch.state = Branch::State::kDone;
  --left_;
  if (branch.body == kNoBody) return;
  Body& body = bodies_[branch.body];
  if (--body.left != 0 || body.above->state != Branch::State::kAboveBody) return;
  Branch& above = *body.above;
  above.state = Branch::State::kReady;
  if ((*above.tasks)[above.next].body.choice != BodyChoice::kWhile) Advance(above);
  if (above.state == Branch::State::kReady) ready_.PushBack(&above);
}

bool Replay::Over() const { return left_ == 0 && !entering_ && !starts_ && (at_mark_ || !task_->replay.graph->ends_at_mark); }

void Replay::End() {
  const TaskGraph& graph = *std::exchange(task_, nullptr)->replay.graph;
  if (std::exchange(has_turn_, false)) graph.turn.Open();
}

Replay::Outcome Replay::Run() {
  for (;;) {
    ComeBackWoken();
    if (std::exchange(starts_, false)) StartHeads();
    const bool moves = ready_.first() != nullptr;
    while (Branch* branch = ready_.PopFront()) {
      while (branch->state == Branch::State::kReady) {
        if (queue_.WantsOut()) [[unlikely]] {
          ready_.PushFront(branch);
          return Outcome::kPaused;
        }
        Step(*branch);
      }
    }
    if (Over()) return Outcome::kDone;
    if (moves) continue;
    queue_.FinishBytes();  // somebody outside may wait for them, and we for him
    if (GoIdle()) return Outcome::kBlocked;
  }
}

void Replay::TakeWoken() {
  if (woken_.load(std::memory_order_relaxed) == nullptr) return;
  for (Branch* branch = woken_.exchange(nullptr, std::memory_order_seq_cst); branch != nullptr; branch = branch->next_woken) {
    race_detector::TakeOver(branch);
    branch->came_through = true;
  }
}

void Replay::ComeBackWoken() {
  if (woken_.load(std::memory_order_relaxed) == nullptr) return;
  for (Branch* branch = woken_.exchange(nullptr, std::memory_order_seq_cst); branch != nullptr;) {
    Branch* const next = branch->next_woken;  // it may be woken again while it is looked at
    race_detector::TakeOver(branch);
    ComeBack(*branch, false);
    if (branch->state == Branch::State::kReady) ready_.PushBack(branch);
    branch = next;
  }
}

// Signals need no more than the order in which bytes are started; what reaches the outside needs them to be there.
bool Replay::ReachesOutside(TaskKind kind) {
  return kind == TaskKind::kMark || kind == TaskKind::kMarkBound || kind == TaskKind::kAwait || kind == TaskKind::kAwaitBound ||
         kind == TaskKind::kAwaitValue || kind == TaskKind::kCall || kind == TaskKind::kKernel || kind >= TaskKind::kFinish;
}

void Replay::Step(Branch& branch) {
  const Task& task = (*branch.tasks)[branch.next];
  running_ = branch.index;
  if (ReachesOutside(task.kind)) queue_.FinishBytes();
  if (task.kind >= TaskKind::kMark) branch.started = queue_.TellStarted(task);
  switch (task.kind) {
    case TaskKind::kSignal:
      Signal(task.edge.index);
      TellOver(branch);
      break;
    case TaskKind::kAwaitSignal: return AwaitSignal(branch, edges_[task.edge.index]);
    case TaskKind::kMark:
      task.mark.marker->Repeat();
      task.mark.marker->Reached();
      TellOver(branch);
      break;
    case TaskKind::kMarkBound:
      TellBound(task.edge.index);
      TellOver(branch);
      break;
    case TaskKind::kAwait: task.await.marker->Repeat(); return AwaitGate(branch, task.await.gate, task.await.timeout_ns);
    case TaskKind::kAwaitBound: {
      const ReplayBinding& bound = task_->replay.bindings[task.edge.index];
      if (bound.gate == nullptr) break;
      bound.marker->Begun(queue_.head_number());
      return AwaitGate(branch, bound.gate, 0);
    }
    case TaskKind::kAwaitValue: return AwaitValue(branch, task);
    case TaskKind::kCall:
    case TaskKind::kKernel: return CallHost(branch, task);
    case TaskKind::kFinish:
      at_mark_ = true;
      TellBound(0);
      TellOver(branch);
      break;
    case TaskKind::kActivate: return Activate(branch, task);
    case TaskKind::kSwitch: return Switch(branch, task);
    case TaskKind::kJump: return Jump(branch, task);
    case TaskKind::kBody: return RunBody(branch, task);
    default:
      if (const size_t together = RunVolley(branch)) return Advance(branch, together);
      RunBytes(task, branch.next + 1 < branch.tasks->size() ? &task + 1 : nullptr);
  }
  Advance(branch);
}

void Replay::Advance(Branch& branch, size_t tasks) {
  branch.next += tasks;
  if (branch.next == branch.tasks->size()) return Leave(branch);
  branch.state = Branch::State::kReady;
}

// --- What runs next -----------------------------------------------------------------------------------------------------

void Replay::EndControl(Branch& branch, int code) {
  TellOver(branch, code);
  Advance(branch);
}

void Replay::FailControl(Branch& branch, const char* text) {
  queue_.ReportFailure((*branch.tasks)[branch.next], kControlFailed, text);
  EndControl(branch, kControlFailed);
}

bool Replay::MayRead(Branch& branch, const Task& task) {
  TaskFailure failure;
  const int code = Recheck(task, queue_.shop().judge, task_->replay.as_of, &failure);
  if (code == 0) return true;
  queue_.ReportFailure(task, code, failure.text);
  EndControl(branch, code);
  return false;
}

// A backend reads whole words. One that a number lies in is in the number's block, too: blocks begin and end at words.
uint64_t Replay::Read(const void* address, size_t bytes) {
  constexpr size_t kWord = sizeof(uint64_t);
  const auto bits = reinterpret_cast<uintptr_t>(address);
  const char* const first = static_cast<const char*>(address) - bits % kWord;
  const size_t shift = 8 * (bits % kWord);
  uint64_t value = queue_.shop().backend->LoadWord(first) >> shift;
  if (bits % kWord + bytes > kWord) value |= queue_.shop().backend->LoadWord(first + kWord) << (64 - shift);
  return bytes == kWord ? value : value & ((uint64_t{1} << 8 * bytes) - 1);
}

Replay::Branch* Replay::Idle(const Branch& branch, uint32_t target) {
  if (target >= task_->replay.graph->branches.size()) return nullptr;
  Branch& found = branches_[target];
  return &found != &branch && found.state == Branch::State::kDone ? &found : nullptr;
}

void Replay::Activate(Branch& branch, const Task& task) {
  Branch* const target = Idle(branch, task.activate.branch);
  if (target == nullptr) return FailControl(branch, "the stream to be activated is still running, or is no stream of the model any more");
  StartAt(*target, 0);
  EndControl(branch);
}

void Replay::Switch(Branch& branch, const Task& task) {
  if (!MayRead(branch, task)) return;
  const auto& to = task.switch_to;
  const auto number = [&](const void* address) {
    return to.wide ? static_cast<int64_t>(Read(address, 8)) : int64_t{static_cast<int32_t>(Read(address, 4))};
  };
  if (!Holds(to.comparison, number(to.left), number(to.right))) return EndControl(branch);
  Branch* const target = Idle(branch, to.branch);
  if (target == nullptr) return FailControl(branch, "the stream to switch to is still running, or is no stream of the model any more");
  StartAt(*target, 0);
  TellOver(branch);
  Leave(branch);
}

void Replay::Jump(Branch& branch, const Task& task) {
  if (!MayRead(branch, task)) return;
  const auto index = static_cast<uint32_t>(Read(task.jump.index, 4));
  const uint32_t chosen = std::min(index, task.jump.count == 0 ? 0 : task.jump.count - 1);
  const auto& table = task_->replay.graph->jump_tables[task.jump.table];
  const GraphPlace place = chosen < table.size() ? table[chosen] : GraphPlace();
  if (place.branch == GraphPlace::kNowhere) {
    char text[120];
    snprintf(text, sizeof(text), "index %u chooses label %u of the list, which was not set in a stream of this model", index, chosen);
    return FailControl(branch, text);
  }
  if (place.branch == branch.index) {
    TellOver(branch);
    branch.next = place.index;
    branch.volleys = {};
    return;
  }
  Branch* const target = Idle(branch, place.branch);
  if (target == nullptr) return FailControl(branch, "the stream of the label is still running");
  StartAt(*target, place.index);
  TellOver(branch);
  Leave(branch);
}

// The value is looked at anew after each round of a loop, whose task is not left before.
void Replay::RunBody(Branch& branch, const Task& task) {
  if (!MayRead(branch, task)) return;
  const uint64_t value = Read(task.body.value, sizeof(uint64_t));
  const uint64_t chosen = task.body.choice == BodyChoice::kSwitch ? value : value == 0 ? 1 : 0;
  if (chosen >= task.body.count) return EndControl(branch);
  const uint32_t number = task.body.first + static_cast<uint32_t>(chosen);
  const GraphBody& shape = task_->replay.graph->bodies[number];
  TellOver(branch);
  std::fill_n(edges_.begin() + shape.first_edge, shape.edges, Edge());
  // The body cannot end before all of its branches have started: this one is not above it yet.
  bodies_[number] = {&branch, shape.branches};
  for (uint32_t i = 0; i < shape.branches; ++i) {
    Branch& part = branches_[shape.first_branch + i];
    part.body = number;
    StartAt(part, 0);
  }
  if (bodies_[number].left != 0) {
    branch.state = Branch::State::kAboveBody;
  } else if (task.body.choice != BodyChoice::kWhile) {
    Advance(branch);
  }
}

void Replay::Signal(uint32_t edge) {
  edges_[edge].signalled = true;
  while (Branch* branch = edges_[edge].waiting.PopFront()) {
    TellOver(*branch);
    Advance(*branch);
    if (branch->state == Branch::State::kReady) ready_.PushBack(branch);
  }
}

void Replay::AwaitSignal(Branch& branch, Edge& edge) {
  if (!edge.signalled) {
    branch.state = Branch::State::kAtEdge;
    return edge.waiting.PushBack(&branch);
  }
  TellOver(branch);
  Advance(branch);
}

void Replay::TellOver(const Branch& branch, int code) {
  running_ = branch.index;
  queue_.TellFinished((*branch.tasks)[branch.next], {.started = branch.started, .code = code});
}

void Replay::TellBound(uint32_t binding) {
  if (Marker* marker = std::exchange(task_->replay.bindings[binding].marker, nullptr)) marker->Reached();
}

void Replay::RunBytes(Task task, const Task* next) {
  TaskFailure failure;
  if (task.kind == TaskKind::kCopyByCells) task.by_cells.as_of = task_->replay.as_of;
  const Moment started = queue_.TellStarted(task);
  if (const int code = Recheck(task, queue_.shop().judge, task_->replay.as_of, &failure)) {
    queue_.ReportFailure(task, code, failure.text);
    queue_.TellFinished(task, {.started = started, .code = code});
    return;
  }
  queue_.StartBytes(task, {.next = next}, started);
  queue_.shop().values.MemoryChangedNow(&task);
}

// The tasks of a branch from the next one on.
class Replay::Feed final : public VolleyFeed {
 public:
  Feed(Replay& replay, const Branch& branch, const TaskRun& run) : VolleyFeed(run), replay_(replay), branch_(branch), apart_(LookUp()) {}

  size_t Count() override { return replay_.queue_.WantsOut() || replay_.queue_.shop().VolleysShallEnd() ? 0 : run().count(); }
  bool Begins(size_t index) override {
    TaskFailure failure;
    if (!Known(index) && Recheck(run()[index], replay_.queue_.shop().judge, as_of(), &failure) != 0) return false;
    replay_.queue_.NoteBegun(index, replay_.queue_.TellStarted(run()[index]));
    return true;
  }
  void Completed(size_t count) override {
    for (; told_ < count; ++told_)
      replay_.queue_.TellFinished(run()[told_], {.started = replay_.queue_.BegunAt(told_), .side_by_side = true});
  }

  size_t KnownApart() const override { return apart_; }
  FasterWay* Ways() override { return graph().apart.Ways(branch_.index, branch_.next); }
  // Few that touch the one behind them are as good as none: where claims end with their tasks, more of them go together.
  void FoundApart(size_t count) override {
    constexpr size_t kMany = 512;
    const bool ends = count == run().count() || run()[count].kind > TaskKind::kSetWords;
    graph().apart.Learn(branch_.index, branch_.next, ends || count >= kMany ? count : 0, as_of());
  }

 private:
  const TaskGraph& graph() const { return *replay_.task_->replay.graph; }
  uint64_t as_of() const { return replay_.task_->replay.as_of; }
  bool Known(size_t index) const { return apart_ != kAsk && index < apart_; }
  size_t LookUp() const {
    if (as_of() == FreeClock::kNever) return 0;  // what is there now need not be there the next time
    return graph().apart.From(branch_.index, branch_.next, as_of()).value_or(kAsk);
  }

  Replay& replay_;
  const Branch& branch_;
  const size_t apart_;
  size_t told_ = 0;
};

size_t Replay::RunVolley(Branch& branch) {
  const TaskRun run(branch.tasks->data(), 0, branch.next, branch.tasks->size() - branch.next);
  if (!branch.volleys.Due(branch.next) || !queue_.shop().MayBeVolley(run)) return 0;
  Feed feed(*this, branch, run);
  const size_t count = queue_.shop().RunVolley(feed);
  branch.volleys.Ended(branch.next + count, count > 0);
  return count;
}

// --- Outside ------------------------------------------------------------------------------------------------------------

void Replay::AwaitGate(Branch& branch, Gate* gate, int64_t timeout_ns) {
  const bool limited = timeout_ns != 0;
  const Task& task = (*branch.tasks)[branch.next];
  if (limited && !queue_.PrepareTimer(task)) {
    task.await.marker->Dropped();
    return Advance(branch);
  }
  const Deadline deadline = limited ? Deadline::AfterNs(timeout_ns) : Deadline::Never();
  branch.deadline_ns.store(limited ? deadline.at_ns() : INT64_MAX, std::memory_order_relaxed);
  branch.state = Branch::State::kOutside;
  Park(branch, gate);
  if (!limited) return;
  branch.state == Branch::State::kOutside ? queue_.StartTimer(deadline) : queue_.ForgoTimer();
}

void Replay::Park(Branch& branch, Gate* gate) {
  branch.place.store(gate, std::memory_order_seq_cst);
  if (gate->PassOrPark(&branch)) ComeBack(branch, false);
}

void Replay::AwaitValue(Branch& branch, const Task& task) {
  TaskFailure failure;
  if (const int code = Recheck(task, queue_.shop().judge, task_->replay.as_of, &failure)) {
    queue_.ReportFailure(task, code, failure.text);
    return Advance(branch);
  }
  ValueWatch& values = queue_.shop().values;
  const auto& wait = task.await_value;
  branch.deadline_ns.store(INT64_MAX, std::memory_order_relaxed);
  branch.state = Branch::State::kOutside;
  branch.place.store(&values, std::memory_order_seq_cst);
  if (values.PassOrPark(&branch, wait.address, wait.value, wait.test)) ComeBack(branch, false);
}

void Replay::CallHost(Branch& branch, const Task& task) {
  HostCallSink* sink = task.call_host.sink;
  HostCall call{task.call_host.function, task.call_host.argument, nullptr};
  if (!task.call_host.blocks) {
    if (!sink->Post(call)) queue_.ReportLost(task);
    TellOver(branch);
    return Advance(branch);
  }
  if (task.kind == TaskKind::kKernel) KernelOf(task).Prepare(task_->replay.number, task_->replay.as_of);
  call.on_return = &branch;
  branch.state = Branch::State::kOutside;
  branch.sink.store(sink, std::memory_order_seq_cst);
  calls_.fetch_add(1, std::memory_order_release);
  if (sink->Post(call)) return;
  queue_.ReportLost(task);
  ComeBack(branch, false);
}

void Replay::ComeBack(Branch& branch, bool dropped) {
  if (branch.taken_out.exchange(false, std::memory_order_acquire) && !dropped)
    return Park(branch, static_cast<Gate*>(branch.place.load(std::memory_order_relaxed)));
  branch.place.store(nullptr, std::memory_order_seq_cst);
  if (branch.sink.exchange(nullptr, std::memory_order_seq_cst) != nullptr) calls_.fetch_sub(1, std::memory_order_release);
  if (std::exchange(entering_, false)) {
    has_turn_ = starts_ = !dropped;
    branch.state = Branch::State::kDone;
    return;
  }
  const Task& task = (*branch.tasks)[branch.next];
  int code = branch.timed_out.exchange(false, std::memory_order_acquire) ? queue_.ReportTimeout(task) : 0;
  if (code == 0 && !dropped) code = queue_.JudgeCall(task, &branch);
  // The marker of a bound wait that is dropped goes with its binding.
  const bool bound = task.kind == TaskKind::kAwaitBound;
  if (Marker* const marker = task.kind == TaskKind::kAwait ? task.await.marker
                             : bound && !dropped           ? task_->replay.bindings[task.edge.index].marker
                                                           : nullptr) {
    TaskFailure failure;
    if (const int failed = dropped ? 0 : marker->Failed(branch.broke_through(), &failure)) {
      queue_.ReportFailure(task, failed, failure.text);
      code = failed;
    }
    if (bound)
      TellBound(task.edge.index);
    else
      dropped ? marker->Dropped() : marker->Reached();
  }
  if (!dropped) TellOver(branch, code);
  Advance(branch);
}

void Replay::Wake(Branch& branch) {
  race_detector::HandOver(&branch);
  Branch* first = woken_.load(std::memory_order_relaxed);
  do {
    branch.next_woken = first;
  } while (!woken_.compare_exchange_weak(first, &branch, std::memory_order_seq_cst));
  if (Claim()) queue_.GoOnWithHead();
}

bool Replay::GoIdle() {
  queue_.Block();
  idle_.store(true, std::memory_order_seq_cst);
  if (woken_.load(std::memory_order_seq_cst) == nullptr || !Claim()) return true;
  queue_.Unblocked();
  return false;
}

bool Replay::Cancel() {
  for (;;) {
    TakeWoken();
    bool under_way = false;
    for (size_t i = 0; i < used_; ++i) {
      Branch& branch = branches_[i];
      if (branch.state != Branch::State::kOutside) continue;
      ParkingPlace* place = branch.place.load(std::memory_order_acquire);
      HostCallSink* sink = branch.sink.load(std::memory_order_acquire);
      const bool came_through = std::exchange(branch.came_through, false);
      if (came_through || (place != nullptr && place->Unpark(&branch)) || (sink != nullptr && sink->Retract(&branch))) {
        ComeBack(branch, !came_through || branch.taken_out.load(std::memory_order_relaxed));
        branch.state = Branch::State::kDone;
      } else {
        under_way = true;
      }
    }
    if (!under_way) return true;
    if (GoIdle()) return false;
  }
}

void Replay::TimeOut(int64_t now_ns) {
  // The lock is not held while a branch is woken: that may run the queue, up to the next Begin.
  const auto branch_at = [this](size_t index) {
    LockGuard lock(growth_);
    return index < branches_.size() ? &branches_[index] : nullptr;
  };
  size_t index = 0;
  while (Branch* branch = branch_at(index++)) {
    ParkingPlace* place = branch->place.load(std::memory_order_acquire);
    if (place == nullptr || branch->deadline_ns.load(std::memory_order_relaxed) > now_ns || !place->Unpark(branch)) continue;
    // Out of the place, so the branch is ours. It may have moved on to a later wait in between.
    const bool passed = branch->deadline_ns.load(std::memory_order_relaxed) <= now_ns;
    (passed ? branch->timed_out : branch->taken_out).store(true, std::memory_order_release);
    Wake(*branch);
  }
}

bool Replay::Waits(const HostCall::Return* call) const {
  if (call == nullptr) return false;
  LockGuard lock(growth_);
  return std::any_of(branches_.begin(), branches_.end(),
                     [&](const Branch& branch) { return static_cast<const HostCall::Return*>(&branch) == call; });
}

}  // namespace ropeway::sched
