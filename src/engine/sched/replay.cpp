#include "engine/sched/replay.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/race_detector.h"
#include "engine/sched/queue.h"
#include "engine/sched/recheck.h"
#include "engine/sched/workshop.h"
#include "engine/task_graph.h"

namespace ropeway::sched {

bool Replay::Grow(size_t branches, size_t edges) try {
  if (branches_.size() < branches) {
    LockGuard lock(growth_);
    while (branches_.size() < branches) branches_.emplace_back(*this, static_cast<uint32_t>(branches_.size()));
  }
  edges_.assign(edges, Edge());
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool Replay::Begin(const Task& replay_task) {
  const TaskGraph& graph = *replay_task.replay.graph;
  if (!Grow(graph.branches.size(), graph.edges)) return false;
  used_ = left_ = graph.branches.size();
  ready_ = BranchList();
  task_ = &replay_task;
  for (size_t i = 0; i < used_; ++i) {
    Branch& branch = branches_[i];
    branch.tasks = &graph.branches[i];
    branch.next = 0;
    branch.volleys = {};
    branch.state = Branch::State::kReady;
    if (graph.branches[i].empty()) {
      branch.state = Branch::State::kDone;
      --left_;
    } else if (i == 0) {
      entering_ = true;
      AwaitGate(branch, &graph.turn, 0);
    }
    if (branch.state == Branch::State::kReady) ready_.PushBack(&branch);
  }
  return true;
}

void Replay::End() {
  const TaskGraph& graph = *std::exchange(task_, nullptr)->replay.graph;
  if (std::exchange(has_turn_, false)) graph.turn.Open();
}

Replay::Outcome Replay::Run() {
  for (;;) {
    ComeBackWoken();
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
    if (left_ == 0) return Outcome::kDone;
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
         kind == TaskKind::kAwaitValue || kind == TaskKind::kCall || kind == TaskKind::kKernel;
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
    default:
      if (const size_t together = RunVolley(branch)) return Advance(branch, together);
      RunBytes(task, branch.next + 1 < branch.tasks->size() ? &task + 1 : nullptr);
  }
  Advance(branch);
}

void Replay::Advance(Branch& branch, size_t tasks) {
  branch.next += tasks;
  const bool done = branch.next == branch.tasks->size();
  branch.state = done ? Branch::State::kDone : Branch::State::kReady;
  if (done) --left_;
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
  call.on_return = &branch;
  branch.state = Branch::State::kOutside;
  branch.sink.store(sink, std::memory_order_seq_cst);
  calls_.fetch_add(1, std::memory_order_release);
  if (sink->Post(call)) return;
  queue_.ReportLost(task);
  ComeBack(branch, false);
}

void Replay::ComeBack(Branch& branch, bool dropped) {
  const Task& task = (*branch.tasks)[branch.next];
  if (branch.taken_out.exchange(false, std::memory_order_acquire) && !dropped)
    return Park(branch, static_cast<Gate*>(branch.place.load(std::memory_order_relaxed)));
  branch.place.store(nullptr, std::memory_order_seq_cst);
  if (branch.sink.exchange(nullptr, std::memory_order_seq_cst) != nullptr) calls_.fetch_sub(1, std::memory_order_release);
  if (std::exchange(entering_, false)) {
    has_turn_ = !dropped;
    branch.state = Branch::State::kReady;
    return;
  }
  int code = branch.timed_out.exchange(false, std::memory_order_acquire) ? queue_.ReportTimeout(task) : 0;
  if (code == 0 && !dropped) code = queue_.JudgeKernel(task);
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
