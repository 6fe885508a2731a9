#include "engine/sched/lanes.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "base/cores.h"
#include "base/futex.h"
#include "base/own_thread.h"
#include "engine/watcher.h"

namespace ropeway::sched {
namespace {

// Measured on a small virtual machine: waking a sleeper costs the waker 9 to 13 us.
constexpr uint64_t kWakeCostUs = 12;
// Of those who wake others: the waker stands still for each. They wake the rest.
constexpr size_t kWakesAtOnce = 4;
// Submissions that are further apart than this do not belong to one burst.
constexpr uint64_t kBurstGapUs = 50;
// A copy that takes longer than a wake-up is not run by the submitter.
constexpr size_t kInlineBytes = size_t{64} << 10;
// How long a lane stays awake behind its last work.
constexpr int64_t kLingerNs = 50000;
// How long a waiter looks before it sleeps. Where work goes on behind Start nothing is won by sleeping soon: the one who watches the device
// is awake anyway, and waking the waiter in the end would cost as much as a small batch.
constexpr int64_t kWaiterSpinNs = 30000;
constexpr int64_t kLateWaiterSpinNs = 5000000;
// How long somebody who looks around leaves a runnable queue to the lane that made it so: that one has the queue, and what it needs, in its
// cache, and is often about to be free. Taking it away costs several times as much.
constexpr uint64_t kPatienceNs = 400;
// Up to here a copy costs less than handing it and its queue to another core.
constexpr size_t kHandOverBytes = size_t{8} << 10;

// Something that is there has been there for a while.
class Patience {
 public:
  explicit Patience(uint64_t ticks_per_us) : unit_(ticks_per_us * kPatienceNs / 1000) {}
  // `units`: how long, in times of the usual.
  bool Over(bool there, uint64_t units = 1) {
    if (!there) {
      since_ = 0;
      return false;
    }
    const uint64_t now = Ticks();
    if (since_ == 0) since_ = now;
    return now - since_ >= units * unit_;
  }

 private:
  const uint64_t unit_;
  uint64_t since_ = 0;
};

bool CheapEnoughForSubmitter(const Task& task) {
  if (task.kind == TaskKind::kCopyByDesc) return false;  // its size is not known yet
  return task.kind <= TaskKind::kStore && TaskBytes(task) <= kInlineBytes;
}

// Memory is where its first user touched it, as a rule on the node of the thread that makes the engine: lanes elsewhere would fetch every
// byte across. Who asks for more lanes than the node has cores gets them everywhere.
std::optional<cpu_set_t> NodeFor(int lanes) {
  const std::optional<cpu_set_t> node = CoresOfThisNode();
  return node && CPU_COUNT(&*node) >= lanes ? node : std::nullopt;
}

void Pause(int round) {
  if (round % 16 != 15) {
    CpuRelax();
  } else {
    sched_yield();  // a woken lane often lands on the core of the one who spins
  }
}

}  // namespace

Lanes::Lanes(Workshop& shop, int count)
    : Crew(false), sharer_(shop.sharer), node_(NodeFor(count)), runs_inline_(shop.backend->finishes_at_once()), count_(count),
      ticks_per_us_(TicksPerMicrosecond()) {
  const int cores = UsableCores();
  sharer_.board().set_max_guests(std::max(1, std::min(count, cores - 1)));
  sharer_.set_call_for_help([](void* self, size_t hands) { static_cast<Lanes*>(self)->Wake(hands); }, this);
  StartLanes();
}

// One is enough; without any nothing would run that nobody waits for.
void Lanes::StartLanes() {
  try {
    for (int i = 0; i < count_; ++i) threads_.emplace_back([this, i] { RunLane(i); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
    count_ = static_cast<int>(threads_.size());
  }
}

Lanes::~Lanes() { Stop(); }

// --- What submitters and waiters call -----------------------------------------------------------------------------------

void Lanes::Submitted(LaneQueue& queue, const Task& task) {
  if (RunInline(queue, task) || StartInline(queue, task)) return;
  if (queue.TryQueue()) Ready(queue);
}

bool Lanes::StartInline(LaneQueue& queue, const Task& task) {
  if (runs_inline_ || task.kind != TaskKind::kBatch || !queue.TryOwn()) return false;
  queue.RunOwned({.up_to = queue.completed() + 1, .only_start = true});
  return true;
}

void Lanes::Ready(LaneQueue& queue) {
  run_list_.Push(queue);
  if (lingering_.load(std::memory_order_seq_cst) == 0) WakeOne();
}

bool Lanes::RunInline(LaneQueue& queue, const Task& task) {
  const bool at_hand = queue.at_hand.exchange(false, std::memory_order_relaxed);
  if (!runs_inline_ || !CheapEnoughForSubmitter(task)) return false;
  if (at_hand && TaskBytes(task) <= kHandOverBytes) return RunOne(queue);
  if (sleeping_.load(std::memory_order_seq_cst) != count_) return false;
  const uint64_t start = Ticks();
  const bool same_burst = start - last_inline_.load(std::memory_order_relaxed) < kBurstGapUs * ticks_per_us_;
  const uint64_t spent = same_burst ? burst_ticks_.load(std::memory_order_relaxed) : 0;
  if (spent > kWakeCostUs * ticks_per_us_ || !RunOne(queue)) return false;
  const uint64_t end = Ticks();
  burst_ticks_.store(spent + (end - start), std::memory_order_relaxed);
  last_inline_.store(end, std::memory_order_relaxed);
  return true;
}

bool Lanes::RunOne(LaneQueue& queue) {
  if (!queue.TryOwn()) return false;
  queue.RunOwned({.up_to = queue.completed() + 1});
  return true;
}

void Lanes::WakeOne() { Wake(1); }

void Lanes::Wake(size_t hands) {
  if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
  // One wake at a time: a lane on its way up takes what comes until then, and wakes the next when there is more. Work for many hands needs
  // them before that.
  if (wakes_under_way_.exchange(1, std::memory_order_seq_cst) != 0 && hands == 1) return;
  wake_word_.fetch_add(1, std::memory_order_seq_cst);
  FutexWake(wake_word_, static_cast<int>(std::min(hands, kWakesAtOnce)));
}

WaitOutcome Lanes::Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t eagerness) {
  const uint32_t aborts = queue.aborts();
  burst_ticks_.store(0, std::memory_order_relaxed);  // a waiter ends the burst
  int64_t spin_until = 0;
  Patience patience(ticks_per_us_);
  for (int round = 0; !queue.Reached(sequence); ++round) {
    if (queue.aborts() != aborts) return WaitOutcome::kAborted;
    // What was there before the wait is its own to run; what becomes runnable meanwhile is somebody's.
    const bool queued = queue.state() == LaneQueue::kQueued;
    const bool left_to_others = !patience.Over(queued) && queued && round != 0;
    if (!left_to_others && queue.TryOwn()) {
      queue.RunOwned({.up_to = sequence + eagerness});
      spin_until = 0;
      continue;
    }
    if (sharer_.board().Join(sharer_.stop())) continue;
    if (round % 16 == 15 || spin_until == 0) {
      const int64_t now = NowNs();
      if (!deadline.never() && now >= deadline.at_ns()) return WaitOutcome::kTimeout;
      if (spin_until == 0) spin_until = now + (runs_inline_ ? kWaiterSpinNs : kLateWaiterSpinNs);
      if (now >= spin_until) {
        queue.SleepUntil(sequence, deadline);
        spin_until = now;  // woken for the end, as a rule: do not spin a second time
      }
    }
    Pause(round);
  }
  queue.at_hand.store(true, std::memory_order_relaxed);
  // An abort completes tasks, too, by dropping them.
  return queue.aborts() == aborts ? WaitOutcome::kDone : WaitOutcome::kAborted;
}

// --- The lanes themselves -----------------------------------------------------------------------------------------------

// A guest brings the next ones, as long as there is room: whoever posted the work has woken the first.
bool Lanes::JoinSharedWork() {
  WorkBoard& board = sharer_.board();
  if (!board.WantsGuests()) return false;
  return board.Join(sharer_.stop(), [this] {
    if (sharer_.board().WantsGuests()) Wake(kWakesAtOnce);
  });
}

void Lanes::RunLane(int number) {
  char name[16];
  snprintf(name, sizeof(name), "rw-lane-%d", number);
  const OwnThread self(name);
  KeepToNode();
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (DoSomething() || LingerForWork()) continue;
    Sleep();
  }
}

void Lanes::KeepToNode() const {
  if (node_) sched_setaffinity(0, sizeof(*node_), &*node_);
}

bool Lanes::DoSomething() {
  if (LaneQueue* queue = run_list_.Pop()) {
    // More is waiting than one lane can take: get the next one up.
    if (run_list_.size().load(std::memory_order_relaxed) > 0 && lingering_.load(std::memory_order_relaxed) == 0) WakeOne();
    if (queue->TryOwn()) queue->RunOwned({.rivals = &run_list_.size()});
    return true;
  }
  return JoinSharedWork();
}

bool Lanes::SomethingToDo() const {
  return run_list_.size().load(std::memory_order_seq_cst) > 0 || stopping_.load(std::memory_order_seq_cst);
}

// The later a lane came, the less often it looks, and the longer it leaves a queue to the others: one queue shall not bring all of them to
// its door, and who hands one over shall not have to take a much looked-at word from all of them.
bool Lanes::LingerForWork() {
  constexpr int kMostPauses = 7;
  const int in_front = lingering_.fetch_add(1, std::memory_order_seq_cst);
  const int64_t until = NowNs() + kLingerNs;
  Patience patience(ticks_per_us_);
  bool found = false;
  for (int round = 0; !found; ++round) {
    const int queues = run_list_.size().load(std::memory_order_seq_cst);
    found = stopping_.load(std::memory_order_relaxed) ||
            patience.Over(queues > 0, static_cast<uint64_t>(1 + std::max(0, in_front + 1 - queues))) || JoinSharedWork();
    if (found || (round % 16 == 0 && NowNs() >= until)) break;
    for (int i = std::min(in_front, kMostPauses); i > 0; --i) CpuRelax();
    Pause(round);
  }
  lingering_.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

void Lanes::Sleep() {
  const uint32_t word = wake_word_.load(std::memory_order_seq_cst);
  sleeping_.fetch_add(1, std::memory_order_seq_cst);
  // A wake that found its lane already up leaves the flag behind; whoever relied on it pushed before this store.
  wakes_under_way_.store(0, std::memory_order_seq_cst);
  if (!SomethingToDo()) FutexWait(wake_word_, word);
  sleeping_.fetch_sub(1, std::memory_order_seq_cst);
  wakes_under_way_.store(0, std::memory_order_seq_cst);
}

void Lanes::Stop() {
  if (stopping_.exchange(true, std::memory_order_seq_cst)) return;
  sharer_.stop().store(true, std::memory_order_seq_cst);
  wake_word_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(wake_word_);
  for (std::thread& thread : threads_) thread.join();
  timer.Stop();
}

}  // namespace ropeway::sched
