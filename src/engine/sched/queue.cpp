#include "engine/sched/queue.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/futex.h"
#include "base/hot_tls.h"
#include "base/prefetch.h"
#include "base/spin_lock.h"
#include "engine/sched/crew.h"
#include "engine/sched/workshop.h"
#include "engine/watcher.h"

namespace ropeway::sched {
namespace {

constexpr int kTaskTimedOut = 107020;  // ACL_ERROR_RT_TASK_TIMEOUT
constexpr int kNoMemory = 207001;      // ACL_ERROR_RT_MEMORY_ALLOCATION

// A queue that shares its lane with others gives way after this much.
constexpr int kShareTasks = 64;
constexpr size_t kShareBytes = size_t{8} << 20;
// How far ahead of its turn a slot is asked for.
constexpr uint64_t kSlotsAhead = 4;
// Where work goes on behind Start: how far an owner runs ahead of what is done.
constexpr uint64_t kMostStarted = 512;

// The queue that the calling thread submitted to last; for comparisons only.
constinit thread_local const void* t_last_put RW_HOT_TLS = nullptr;
// And the turnouts of those it turned to last, in a ring.
constinit thread_local Turnout* t_turned[Turnout::kTurnsAhead] = {};
constinit thread_local size_t t_turns = 0;

constexpr size_t kCacheLine = 64;
constexpr size_t kPage = 4096;

// A slot is a cache line. The first slots of all rings, which a thousand streams with a task each use, are not on the same line of their
// pages: a cache has few places for those.
Task* PlaceRing(void* memory) {
  static std::atomic<size_t> next_line{0};
  const size_t line = next_line.fetch_add(1, std::memory_order_relaxed) % (kPage / kCacheLine);
  const uintptr_t first = (reinterpret_cast<uintptr_t>(memory) + kCacheLine - 1) / kCacheLine * kCacheLine;
  return reinterpret_cast<Task*>(first + line * kCacheLine);
}

}  // namespace

LaneQueue::LaneQueue(Crew& crew, Workshop& shop)
    : crew_(crew), stepped_(crew.wants_every_submit), shop_(shop), at_once_(shop.backend->finishes_at_once()),
      has_points_(!stepped_ && shop.backend->has_points()), line_(shop.backend->NewLine()),
      ring_memory_(std::malloc((kRing + kSlotsAhead) * sizeof(Task) + kPage)), ring_(PlaceRing(ring_memory_.get())),
      turnout_(*new Turnout({&state_, &submitted_, ring_})) {
  if (ring_memory_ == nullptr) throw std::bad_alloc();
  crew_.ExpectOneMore();
}

LaneQueue::~LaneQueue() = default;

void LaneQueue::FreeMemory::operator()(void* memory) const { std::free(memory); }

void LaneQueue::Open(const QueueOptions& options) {
  options_ = options;
  SetPriority(options.priority);
  drop_up_to_.store(0, std::memory_order_release);
  halt_requested_.store(false, std::memory_order_release);
}

// --- Submitting ---------------------------------------------------------------------------------------------------------

Queue::Submission LaneQueue::Submit(Task& task) {
  // A call in the middle of Put would cost every submit its registers.
  if (race_detector::g_told) [[unlikely]]
    return HandOverAndPut(task);
  if (t_last_put != this) [[unlikely]]
    return TurnToAndPut(task);
  return Put(task);
}

Queue::Submission LaneQueue::HandOverAndPut(Task& task) {
  race_detector::HandOver(this);
  return Put(task);
}

// A thread that goes from stream to stream, and this one was found idle the last time: what an idle one takes is asked for before the first
// look, which waits for what the last owner has written. That one has read the two lines here; the crew's is written by all who push.
Queue::Submission LaneQueue::TurnToAndPut(Task& task) {
  t_last_put = this;
  PrefetchForWrite(&state_);
  if (submitted_.load(std::memory_order_relaxed) == base_ + 1) {
    turnout_.ExpectOwn();
    PrefetchForWrite(crew_.push_line.load(std::memory_order_relaxed));
    turnout_.ExpectLater();
  }
  Turnout*& turned = t_turned[t_turns++ % Turnout::kTurnsAhead];
  if (turned != nullptr) turned->Learn(turnout_);
  turned = &turnout_;
  return Put(task);
}

inline Queue::Submission LaneQueue::Put(Task& task) {
  PrefetchForWrite(&state_);
  const uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
  if (idle_at_.load(std::memory_order_acquire) + 1 == sequence) {
    // Empty: start at slot 0 again. The last owner has read what is written next; all of these lines come at once.
    PrefetchForWrite(&submitted_);
    PrefetchForWrite(&ring_[0]);
    base_ = sequence - 1;
    room_up_to_ = base_ + kDepth;
  } else if (!FindsRoom(sequence)) [[unlikely]] {
    return {0, false};
  }
  task.id = static_cast<uint32_t>(sequence);
  const uint64_t slot = (sequence - 1 - base_) % kRing;
  PrefetchForWrite(&ring_[slot + kSlotsAhead]);  // whoever ran its last task has read it
  ring_[slot] = task;
  submitted_.store(sequence, std::memory_order_seq_cst);
  // Whoever has the queue will see the task (invariant 2); only a crew that steps wants to hear of each.
  const bool idle = state() == kIdle;
  return {sequence, static_cast<bool>(idle | stepped_)};  // without a branch
}

void LaneQueue::Kick(const Task& task) { crew_.Submitted(*this, task); }

void LaneQueue::AwaitRoom() {
  const uint64_t submitted = submitted_.load(std::memory_order_acquire);
  if (submitted < kDepth) return;
  // A submitter that waits for room helps, and makes room for a whole burst while it is at it.
  constexpr uint64_t kBurst = 64;
  crew_.Wait(*this, submitted - kDepth + 1, Deadline::Never(), kBurst);
  AwaitMoreRoom(submitted - kDepth + 4 * kBurst);
}

// Coming here costs as much as some submits: where room is being made all the time, help until there is some more of it. Not for long, and
// not for what may never come.
void LaneQueue::AwaitMoreRoom(uint64_t wanted) const {
  constexpr int kPatience = 64, kOfAPortion = 32;  // rounds, and how many of them a portion takes, which may be another stream's
  uint64_t now = completed();
  for (int patience = kPatience; now < wanted && patience > 0;) {
    const bool joined = shop_.sharer.board().Join(shop_.sharer.stop(), 1);
    if (!joined) CpuRelax();
    const uint64_t before = std::exchange(now, completed());
    patience = now != before ? kPatience : patience - (joined ? kOfAPortion : 1);
  }
}

// --- Running ------------------------------------------------------------------------------------------------------------

bool LaneQueue::TryOwn() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  if ((state != kIdle && state != kQueued) || !state_.compare_exchange_strong(state, kOwned, std::memory_order_seq_cst)) return false;
  race_detector::TakeOver(this);
  return true;
}

bool LaneQueue::TryQueue() {
  uint32_t idle = kIdle;
  return state_.compare_exchange_strong(idle, kQueued, std::memory_order_seq_cst);
}

bool LaneQueue::GoIdle() {
  const uint64_t done = executed_;
  idle_at_.store(done, std::memory_order_release);
  state_.store(kIdle, std::memory_order_seq_cst);
  // From here on another owner may be at work: only `done` may be looked at.
  if (submitted_.load(std::memory_order_seq_cst) == done) return true;
  uint32_t idle = kIdle;
  return !state_.compare_exchange_strong(idle, kOwned, std::memory_order_seq_cst);
}

bool LaneQueue::SeeMore() {
  submitted_seen_ = submitted_.load(std::memory_order_acquire);
  if (executed_ == submitted_seen_) return false;
  race_detector::TakeOver(this);
  head_base_ = base_;
  return true;
}

void LaneQueue::RunOwned(Share share) {
  int tasks = 0;
  size_t bytes = 0;
  for (;;) {
    if (share.only_start && executed_ >= share.up_to) {
      if (line_busy_) shop_.backend->Hurry(line_.get());
      return GoOnWithHead();
    }
    if (executed_ == submitted_seen_ && !SeeMore()) {
      if (Settle()) continue;  // more may have come meanwhile
      if (GoIdle()) return;
      continue;
    }
    const bool fair_share_used =
        share.rivals != nullptr && (tasks >= kShareTasks || bytes >= kShareBytes) && share.rivals->load(std::memory_order_relaxed) > 0;
    const bool up_to_used = executed_ >= share.up_to && !(share.brief_too && (Head().flags & Task::kBrief) != 0);
    if (up_to_used || fair_share_used) {
      if (ahead_ == 0 || executed_ != completed()) Settle();
      return GoOnWithHead();
    }
    if (executed_ < drop_up_to_.load(std::memory_order_acquire)) [[unlikely]] {
      Settle();
      if (!DropHead()) return;
      continue;
    }
    if (halt_requested_.load(std::memory_order_relaxed)) [[unlikely]] {
      Settle();
      if (StayHalted()) return;
      continue;
    }
    if (!MovesBytes(Head().kind)) {
      SettleBefore(Head(), share);
    } else if (executed_ - completed() >= kMostStarted) {
      Settle();
    }
    const uint64_t before = executed_;
    bytes += TaskBytes(Head());
    if (RunHead(share) == Outcome::kBlocked) return;
    ++tasks;
    if (executed_ - before > 1) tasks = kShareTasks;  // a volley is a share
  }
}

// base_ and the slots that are not complete change by submitters alone.
std::optional<Task> LaneQueue::FirstPending() const {
  const uint64_t done = completed();
  if (done == submitted()) return std::nullopt;
  return ring_[(done - base_) % kRing];
}

bool LaneQueue::StayHalted() {
  Block();
  halted_.store(true, std::memory_order_seq_cst);
  if (halt_requested_.load(std::memory_order_seq_cst)) return true;
  if (!halted_.exchange(false, std::memory_order_seq_cst)) return true;  // an abort has the queue
  Unblocked();
  return false;
}

LaneQueue::Outcome LaneQueue::RunHead(const Share& share) {
  const Task& task = Head();
  if (ActiveWatcher() != nullptr && !replay_.active()) [[unlikely]]
    head_started_ = TellStarted(task);
  switch (task.kind) {
    case TaskKind::kMark: task.mark.marker->Reached(); break;
    case TaskKind::kAwait:
      if (!RunAwait(task)) return Outcome::kBlocked;
      break;
    case TaskKind::kAwaitValue:
      if (!RunAwaitValue(task)) return Outcome::kBlocked;
      break;
    case TaskKind::kCall:
    case TaskKind::kKernel:
      if (!RunCall(task)) return Outcome::kBlocked;
      break;
    case TaskKind::kReplay:
      if (const Outcome outcome = RunReplay(task); outcome != Outcome::kDone) return outcome;
      break;
    default:
      if (ahead_ != 0) {
        NoteStarted(head_started_, 0);
        PassHead();
        return Outcome::kDone;
      }
      const Backend::Behind behind = LookAhead();
      if (behind.tasks != 0 && volleys_.Due(executed_) && RunVolley(share)) return Outcome::kDone;
      StartBytes(task, behind, head_started_);
      if (at_once_ && shop_.values.AnybodyWaits()) [[unlikely]] {
        EndBytes(task);
        return Outcome::kDone;
      }
      if (task.flags != 0) ReleasePayload(task);
      if (!at_once_) {
        ++executed_;
        return Outcome::kDone;
      }
      PassHead();
      if (!MayTellLater(behind)) Publish();
      shop_.values.MemoryChanged();
      return Outcome::kDone;
  }
  TellFinished(task, {head_started_});
  Advance();
  return Outcome::kDone;
}

// A slot that a submitter has just written is in his cache, so it is asked for some tasks before its turn.
inline Backend::Behind LaneQueue::LookAhead() {
  const uint64_t behind = submitted_seen_ - executed_ - 1;
  if (behind == 0) return {};
  __builtin_prefetch(&At(executed_ + kSlotsAhead));
  return {&At(executed_ + 1), behind};
}

// The tasks from the head on, as long as the owner may go on with them.
class LaneQueue::Feed final : public VolleyFeed {
 public:
  Feed(LaneQueue& queue, const Share& share)
      : VolleyFeed({queue.ring_, kRing, queue.executed_ - queue.head_base_, queue.submitted_seen_ - queue.executed_}), queue_(queue),
        share_(share), first_(queue.executed_), base_(queue.head_base_) {}

  size_t Count() override {
    if (queue_.WantsOut() || queue_.shop_.VolleysShallEnd()) return 0;
    const bool rivals = share_.rivals != nullptr && share_.rivals->load(std::memory_order_relaxed) > 0;
    const uint64_t most = std::min(share_.up_to, rivals ? first_ + kShareTasks : UINT64_MAX);
    queue_.SeeMore();
    if (queue_.head_base_ != base_) return 0;  // all were complete, and what came then is elsewhere in the ring
    return std::max(first_, std::min(most, queue_.submitted_seen_)) - first_;
  }
  bool Begins(size_t index) override {
    if (Watcher* const watcher = ActiveWatcher()) [[unlikely]]
      queue_.NoteBegun(index, watcher->Started(queue_.SightOf(run()[index], first_ + index + 1)));
    return true;
  }
  void Completed(size_t count) override {
    Tell(queue_.executed_ - first_, count);
    queue_.executed_ = first_ + count;
    queue_.Publish();
  }

 private:
  void Tell(size_t from, size_t to) const {
    Watcher* const watcher = ActiveWatcher();
    if (watcher == nullptr) [[likely]]
      return;
    for (size_t i = from; i < to; ++i)
      watcher->Finished(queue_.SightOf(run()[i], first_ + i + 1), {.started = queue_.BegunAt(i), .side_by_side = true});
  }

  LaneQueue& queue_;
  const Share& share_;
  const uint64_t first_;
  const uint64_t base_;
};

bool LaneQueue::RunVolley(const Share& share) {
  Feed feed(*this, share);
  if (!shop_.MayBeVolley(feed.run())) return false;
  const size_t count = shop_.RunVolley(feed);
  volleys_.Ended(executed_, count > 0);
  return count > 0;
}

// To say that a task is complete takes a locked instruction, and that waits until all of its bytes have left the core: as long as small
// copies come one behind the other, it is said for some of them at once. Nobody sleeps until one of these is complete, and whoever ends or
// leaves a run of them settles.
inline bool LaneQueue::MayTellLater(const Backend::Behind& behind) const {
  constexpr uint64_t kMostUntold = 8;
  constexpr size_t kSmall = size_t{16} << 10;
  if (behind.tasks == 0 || behind.next->kind != TaskKind::kCopy || behind.next->copy.size > kSmall) return false;
  return executed_ - completed_.load(std::memory_order_relaxed) < kMostUntold && wake_at_.load(std::memory_order_relaxed) > executed_;
}

// The way behind a task when somebody waits for a value: he is told what changed. The slot may be used again once the task is complete.
void LaneQueue::EndBytes(const Task& task) {
  const Task done = task;
  Advance();
  shop_.values.MemoryChanged(&done);
  if (done.flags != 0) ReleasePayload(done);
}

void LaneQueue::StartBytes(const Task& task, const Backend::Behind& behind, const Moment& started) {
  TaskFailure failure;
  const int code = shop_.backend->Start(task, behind, line_.get(), &failure);
  if (code != 0) [[unlikely]]
    ReportFailure(task, code, failure.text);
  line_busy_ = !at_once_;
  // A task of a graph is told of here: what counts for the stream is the end of the replay.
  if (at_once_ || replay_.active()) {
    TellFinished(task, {.started = started, .code = code});
  } else {
    NoteStarted(started, code);
  }
}

int LaneQueue::FinishBytes() {
  if (!line_busy_) return 0;
  line_busy_ = false;
  TaskFailure failure;
  const int code = shop_.backend->Finish(line_.get(), &failure);
  EndOfBytes(code, failure.text);
  return code;
}

// Which of the tasks has failed is not known; the last one started, or the replay at the head, stands for them.
void LaneQueue::EndOfBytes(int code, const char* text) {
  const bool plain = executed_ != completed_.load(std::memory_order_relaxed);
  if (code != 0) Report(plain ? At(executed_ - 1) : Head(), plain ? executed_ : executed_ + 1, code, text);
  shop_.values.MemoryChangedNow();
}

bool LaneQueue::Settle() {
  const int code = FinishBytes();
  const uint64_t done = completed_.load(std::memory_order_relaxed);
  if (executed_ == done) [[likely]]
    return false;
  TellSettled(done, code);
  Publish();
  return true;
}

void LaneQueue::NoteStarted(const Moment& started, int code) {
  if (ActiveWatcher() == nullptr) [[likely]]
    return;
  if (notes_ == nullptr) notes_.reset(new (std::nothrow) StartedNote[kMostStarted]);
  if (notes_ != nullptr) notes_[executed_ % kMostStarted] = {started, code};
}

void LaneQueue::NoteBegun(size_t index, const Moment& moment) {
  if (ActiveWatcher() == nullptr) [[likely]]
    return;
  if (begun_ == nullptr) begun_.reset(new (std::nothrow) Moment[kMostBegun]);
  if (begun_ != nullptr) begun_[index % kMostBegun] = moment;
}

// As in FinishBytes, the last one stands for whichever failed.
void LaneQueue::TellSettled(uint64_t done, int code) {
  Watcher* const watcher = ActiveWatcher();
  if (watcher == nullptr || notes_ == nullptr) [[likely]]
    return;
  for (uint64_t i = done; i < executed_; ++i) {
    const StartedNote& note = notes_[i % kMostStarted];
    const bool blamed = note.code == 0 && i + 1 == executed_;
    watcher->Finished(SightOf(At(i), i + 1), {.started = note.started, .code = blamed ? code : note.code});
  }
}

LaneQueue::Outcome LaneQueue::RunReplay(const Task& task) {
  if (!replay_.active() && !replay_.Begin(task)) {
    ReportFailure(task, kNoMemory, "there is no memory for the branches of the graph");
    DropTask(task);
    return Outcome::kDone;
  }
  const Outcome outcome = replay_.Run();
  if (outcome != Outcome::kDone) return outcome;
  FinishBytes();  // before another replay of the graph gets its turn
  replay_.End();
  EndReplay(task);
  return Outcome::kDone;
}

bool LaneQueue::RunAwait(const Task& task) {
  // Once the queue is parked it belongs to whoever opens the gate, and the slot may be gone: take what is needed before.
  Gate* gate = task.await.gate;
  const int64_t timeout_ns = task.await.timeout_ns;
  const uint64_t sequence = executed_ + 1;
  if (timeout_ns != 0 && !PrepareTimer(task)) {
    task.await.marker->Dropped();
    return true;
  }
  task.await.marker->Begun(sequence);
  place_.store(gate, std::memory_order_release);
  Block();
  if (gate->PassOrPark(this)) {
    if (timeout_ns != 0) ForgoTimer();
    Unblocked();
    place_.store(nullptr, std::memory_order_release);
    EndAwait(task);
    return true;
  }
  if (timeout_ns != 0) crew_.timer.Start(*this, sequence, Deadline::AfterNs(timeout_ns));
  return false;
}

int LaneQueue::EndAwait(const Task& task) {
  TaskFailure failure;
  const int code = task.await.marker->Failed(broke_through(), &failure);
  if (code != 0) ReportFailure(task, code, failure.text);
  task.await.marker->Reached();
  return code;
}

bool LaneQueue::RunAwaitValue(const Task& task) {
  const auto wait = task.await_value;
  place_.store(&shop_.values, std::memory_order_release);
  Block();
  if (!shop_.values.PassOrPark(this, wait.address, wait.value, wait.test)) return false;
  Unblocked();
  place_.store(nullptr, std::memory_order_release);
  return true;
}

bool LaneQueue::RunCall(const Task& task) {
  HostCallSink* sink = task.call_host.sink;
  HostCall call{task.call_host.function, task.call_host.argument, nullptr};
  if (!task.call_host.blocks) {
    if (!sink->Post(call)) ReportLost(task);
    return true;
  }
  call.on_return = this;
  sink_.store(sink, std::memory_order_release);
  Block();
  if (sink->Post(call)) return false;
  sink_.store(nullptr, std::memory_order_release);
  Unblocked();
  ReportLost(task);
  ReleasePayload(task);
  return true;
}

int LaneQueue::JudgeCall(const Task& task, HostCall::Return* on_return) {
  const HostCall::Ending behind = std::exchange(on_return->ending, {});
  if (behind.code != 0) ReportFailure(task, behind.code, behind.text.c_str());
  if (behind.code != 0 || task.kind != TaskKind::kKernel) return behind.code;
  TaskFailure failure;
  const int code = KernelOf(task).Failed(&failure);
  if (code != 0) ReportFailure(task, code, failure.text);
  return code;
}

void LaneQueue::ReportLost(const Task& task) { ReportFailure(task, kNoMemory, "host memory is exhausted, so the function was not called"); }

bool LaneQueue::DropHead() {
  if (EndStarted()) return true;
  const Task& task = Head();
  if (replay_.active()) {
    if (!replay_.Cancel()) return false;
    replay_.End();
  }
  if (Watcher* watcher = ActiveWatcher()) watcher->Dropped({options_.stream_id, options_.device, executed_ + 1, &task});
  DropTask(task);
  Advance();
  return true;
}

void LaneQueue::Advance() {
  PassHead();
  Publish();
}

void LaneQueue::Publish() {
  race_detector::HandOver(this);
  completed_.store(executed_, std::memory_order_seq_cst);
  if (executed_ >= wake_at_.load(std::memory_order_seq_cst)) [[unlikely]] {
    wake_at_.exchange(UINT64_MAX, std::memory_order_seq_cst);
    progress_.fetch_add(1, std::memory_order_seq_cst);
    FutexWakeAll(progress_);
  }
}

void LaneQueue::ReportFailure(const Task& task, int code, const char* text) { Report(task, executed_ + 1, code, text); }

void LaneQueue::Report(const Task& task, uint64_t sequence, int code, const char* text) {
  if (options_.owner->TaskFailed(task, sequence, code, text)) drop_up_to_.store(UINT64_MAX, std::memory_order_release);
}

int LaneQueue::ReportTimeout(const Task& task) {
  char text[96];
  snprintf(text, sizeof(text), "the wait took longer than its limit of %lld ms", static_cast<long long>(task.await.timeout_ns / 1000000));
  ReportFailure(task, kTaskTimedOut, text);
  return kTaskTimedOut;
}

// --- Blocked heads ------------------------------------------------------------------------------------------------------

void LaneQueue::Resume(int code) {
  TellFinished(Head(), {.started = head_started_, .code = code});
  Advance();
  if (stepped_) return GoOnWithHead();
  // Nobody is called for a queue that is empty.
  Unblocked();
  RunOwned({.up_to = executed_, .brief_too = BeginsNextWait::on()});
}

void LaneQueue::GoOnWithHead() {
  state_.store(kQueued, std::memory_order_seq_cst);
  crew_.Ready(*this);
}

bool LaneQueue::PrepareTimer(const Task& task) {
  if (crew_.timer.Prepare()) return true;
  ReportFailure(task, kNoMemory, "there is no memory for the time limit of a wait");
  return false;
}

void LaneQueue::StartTimer(Deadline deadline) { crew_.timer.Start(*this, executed_ + 1, deadline); }

void LaneQueue::ForgoTimer() { crew_.timer.Forgo(); }

void LaneQueue::Opened() { PassGate(0); }

void LaneQueue::PassGate(int code) {
  place_.store(nullptr, std::memory_order_release);
  if (Head().kind == TaskKind::kAwait) {
    const int failed = EndAwait(Head());
    if (code == 0) code = failed;
  }
  Resume(code);
}

void LaneQueue::Returned() {
  sink_.store(nullptr, std::memory_order_release);
  const int code = JudgeCall(Head(), this);
  ReleasePayload(Head());
  Resume(code);
}

void LaneQueue::TimeOut(uint64_t sequence) {
  ParkingPlace* place = place_.load(std::memory_order_acquire);
  if (completed() + 1 != sequence) return;
  if (place == nullptr) return replay_.TimeOut(NowNs());  // a wait inside a graph, or nothing any more
  if (!place->Unpark(this)) return;
  // Unparked, so the queue is ours. It may have moved on to a later wait in between: then it looks at that one again.
  if (executed_ + 1 != sequence) return GoOnWithHead();
  if ((Head().flags & Task::kDelays) != 0) return PassGate(0);
  Head().await.marker->TimedOut();
  ReportTimeout(Head());
  PassGate(kTaskTimedOut);
}

bool LaneQueue::Unblock() {
  ParkingPlace* place = place_.load(std::memory_order_acquire);
  HostCallSink* sink = sink_.load(std::memory_order_acquire);
  const bool ours = (place != nullptr && place->Unpark(this)) || (sink != nullptr && sink->Retract(this)) ||
                    halted_.exchange(false, std::memory_order_seq_cst) || replay_.Claim();
  if (!ours) return false;
  place_.store(nullptr, std::memory_order_release);
  sink_.store(nullptr, std::memory_order_release);
  Unblocked();
  return true;
}

bool LaneQueue::Abort() {
  if (InsideOwnCall()) return false;
  const uint64_t last = submitted_.load(std::memory_order_seq_cst);
  uint64_t drop = drop_up_to_.load(std::memory_order_relaxed);
  while (drop < last && !drop_up_to_.compare_exchange_weak(drop, last, std::memory_order_seq_cst)) {
  }
  halt_requested_.store(false, std::memory_order_seq_cst);
  if (halted_.exchange(false, std::memory_order_seq_cst)) {
    Unblocked();
    RunOwned({.up_to = last});
  }
  aborts_.fetch_add(1, std::memory_order_seq_cst);
  progress_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(progress_);
  crew_.Aborted();
  for (int spins = 0; !Reached(last); ++spins) {
    if (TryOwn() || (state() == kBlocked && Unblock())) {
      RunOwned({.up_to = last});
    } else if (spins < 64) {
      sched_yield();
    } else {
      // A running copy or host function ends by itself; a gate that is just opening hands the queue over.
      SleepUntil(last, Deadline::AfterMs(1));
    }
  }
  crew_.Aborted();
  return true;
}

// --- Waiting ------------------------------------------------------------------------------------------------------------

WaitOutcome LaneQueue::Wait(uint64_t sequence, Deadline deadline) {
  if (Reached(sequence)) return WaitOutcome::kDone;
  return crew_.Wait(*this, sequence, deadline, 0);
}

void LaneQueue::Poll() { crew_.Polled(*this); }

void LaneQueue::SleepUntil(uint64_t sequence, Deadline deadline) {
  const uint32_t progress = progress_.load(std::memory_order_seq_cst);
  uint64_t wake_at = wake_at_.load(std::memory_order_relaxed);
  while (wake_at > sequence && !wake_at_.compare_exchange_weak(wake_at, sequence, std::memory_order_seq_cst)) {
  }
  if (!Reached(sequence)) FutexWait(progress_, progress, deadline);
}

}  // namespace ropeway::sched
