#include "engine/sched/lanes.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/cores.h"
#include "base/futex.h"
#include "base/own_thread.h"
#include "base/prefetch.h"
#include "engine/waiter_help.h"
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
// And where it is the one who looks: with as many processes as cores, or more, they come round in this time, and each of them yields.
constexpr int64_t kHelperSpinNs = 2000000;
// How long somebody who looks around leaves a runnable queue to the lane that made it so: that one has the queue, and what it needs, in its
// cache, and is often about to be free. Taking it away costs several times as much.
constexpr uint64_t kPatienceNs = 400;
// And how long, in times of that, the scout leaves the list of a lane that takes nothing from it.
constexpr uint64_t kScoutPatience = 4;
// Up to here a copy costs less than handing it and its queue to another core.
constexpr size_t kHandOverBytes = size_t{8} << 10;

// A lane that has so many queues waiting gets no more from outside while another one is awake.
constexpr int kBacklog = 32;
// How often the scout looks at the lists of others: a line that is looked at costs the next one who pushes to it.
constexpr int kRoundsPerScouting = 32;
// And how often those look who are not the scout: it may have lost its core.
constexpr int kRoundsPerGlance = 64;

}  // namespace

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

// What somebody who looks at the lists of others saw last of one of them.
struct Lanes::Sighting {
  const Lane* lane = nullptr;
  uint32_t turns = 0;
  Patience patience;
};

namespace {

bool CheapEnoughForSubmitter(const Task& task) {
  if (task.kind == TaskKind::kCopyByDesc) return false;  // its size is not known yet
  return task.kind <= TaskKind::kStore ? TaskBytes(task) <= kInlineBytes : (task.flags & Task::kBrief) != 0;
}

// Memory is where its first user touched it, as a rule on the node of the thread that makes the engine: lanes elsewhere would fetch every
// byte across. Who asks for more lanes than the node has cores gets them everywhere.
std::optional<cpu_set_t> NodeFor(int lanes) {
  const std::optional<cpu_set_t> node = CoresOfThisNode();
  return node && CPU_COUNT(&*node) >= lanes ? node : std::nullopt;
}

// A woken lane often lands on the core of the one who spins. Who looks elsewhere, too, takes longer for a round.
constexpr int kRoundsPerYield = 16;
constexpr int kLooksPerYield = 128;

void Pause(int round, int rounds_per_yield = kRoundsPerYield) {
  if (round % rounds_per_yield != rounds_per_yield - 1) {
    CpuRelax();
  } else {
    sched_yield();
  }
}

}  // namespace

thread_local Lanes::Lane* Lanes::t_lane = nullptr;
constinit thread_local const LaneQueue* Lanes::t_waited_for = nullptr;

Lanes::Lanes(Workshop& shop, int count)
    : Crew(false), sharer_(shop.sharer), node_(NodeFor(count)), runs_inline_(shop.backend->finishes_at_once()),
      ticks_per_us_(TicksPerMicrosecond()), lanes_(static_cast<size_t>(count)) {
  push_line.store(&lanes_[0], std::memory_order_relaxed);
  const int cores = UsableCores();
  sharer_.board().set_max_guests(std::max(1, std::min(count, cores - 1)));
  sharer_.set_call_for_help([](void* self, size_t hands) { static_cast<Lanes*>(self)->WakeHelpers(hands); }, this);
  StartLanes();
}

// One is enough; without any nothing would run that nobody waits for.
void Lanes::StartLanes() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].crew = this;
    lanes_[i].bit = uint64_t{1} << i;
  }
  try {
    for (size_t i = 0; i < lanes_.size(); ++i) {
      threads_.emplace_back([this, i] { RunLane(static_cast<int>(i)); });
      all_ |= lanes_[i].bit;
    }
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
  }
}

Lanes::~Lanes() { Stop(); }

// --- What submitters and waiters call -----------------------------------------------------------------------------------

void Lanes::Submitted(LaneQueue& queue, const Task& task) {
  if (RunInline(queue, task) || StartInline(queue, task)) return;
  if (queue.TryQueue()) Ready(queue);
}

bool Lanes::StartInline(LaneQueue& queue, const Task& task) {
  if (runs_inline_ || !queue.shop().backend->StartsSoon(task) || !queue.TryOwn()) return false;
  queue.RunOwned({.up_to = queue.completed() + 1, .only_start = true});
  return true;
}

void Lanes::Ready(LaneQueue& queue) {
  Lane& lane = PlaceForOneMore();
  if (lane.list.Push(queue) && !lane.lingering.load(std::memory_order_seq_cst)) CallOne();
}

// A lane keeps what it makes ready. Others fill one lane after the other.
Lanes::Lane& Lanes::PlaceForOneMore() {
  if (t_lane != nullptr && t_lane->crew == this) return *t_lane;
  const uint64_t awake = all_ & ~asleep_.load(std::memory_order_relaxed);
  const uint32_t fill = fill_.load(std::memory_order_relaxed);
  Lane& lane = lanes_[fill];
  PrefetchForWrite(&lane);
  const int listed = lane.list.size().load(std::memory_order_relaxed);
  if ((awake & lane.bit) != 0 && (listed == 0 || listed % kBacklog != 0)) return lane;
  const uint64_t behind = awake & ~(lane.bit | (lane.bit - 1));
  const uint64_t choice = behind != 0 ? behind : awake != 0 ? awake : uint64_t{1};
  const auto next = static_cast<uint32_t>(std::countr_zero(choice));
  if (next != fill) {
    fill_.store(next, std::memory_order_relaxed);
    push_line.store(&lanes_[next], std::memory_order_relaxed);
  }
  return lanes_[next];
}

bool Lanes::RunInline(LaneQueue& queue, const Task& task) {
  const bool at_hand = std::exchange(t_waited_for, nullptr) == &queue;
  if (!runs_inline_ || !CheapEnoughForSubmitter(task)) return false;
  if (at_hand && TaskBytes(task) <= kHandOverBytes) return RunOne(queue);
  if (asleep_.load(std::memory_order_seq_cst) != all_) return false;
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

// One at a time: a lane on its way up takes what comes until then, and calls the next when there is more. Who finds that nobody was asleep
// any more has held up those who counted on coming_ meanwhile, so it asks again.
void Lanes::CallOne() {
  while (lingering_.load(std::memory_order_seq_cst) == 0 && asleep_.load(std::memory_order_seq_cst) != 0 &&
         !coming_.exchange(true, std::memory_order_seq_cst)) {
    if (Wake(kToLookAround)) return;
    coming_.store(false, std::memory_order_seq_cst);
  }
}

bool Lanes::Wake(Call call) {
  for (uint64_t asleep = asleep_.load(std::memory_order_seq_cst); asleep != 0;) {
    Lane& lane = lanes_[static_cast<size_t>(std::countr_zero(asleep))];
    asleep = asleep_.fetch_and(~lane.bit, std::memory_order_seq_cst);
    if ((asleep & lane.bit) == 0) continue;
    lane.call.store(call, std::memory_order_seq_cst);
    FutexWake(lane.call, 1);
    return true;
  }
  return false;
}

// Work for many hands.
void Lanes::WakeHelpers(size_t hands) {
  for (size_t i = 0; i < std::min(hands, kWakesAtOnce) && Wake(kToHelp); ++i) {
  }
}

WaitOutcome Lanes::Wait(LaneQueue& queue, uint64_t sequence, Deadline deadline, uint64_t eagerness) {
  const uint32_t aborts = queue.aborts();
  burst_ticks_.store(0, std::memory_order_relaxed);  // a waiter ends the burst
  int64_t spin_until = 0;
  Patience patience(ticks_per_us_);
  Helping helping;
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
    // One portion: what it waits for may be done by then.
    if (sharer_.board().Join(sharer_.stop(), 1)) continue;
    const bool looks = helping.Look();
    if (looks && queue.Reached(sequence)) break;
    if (looks && helping.found()) spin_until = 0;
    if (round % 16 == 15 || spin_until == 0) {
      const int64_t now = NowNs();
      if (!deadline.never() && now >= deadline.at_ns()) return WaitOutcome::kTimeout;
      if (spin_until == 0) spin_until = now + (looks ? kHelperSpinNs : runs_inline_ ? kWaiterSpinNs : kLateWaiterSpinNs);
      if (now >= spin_until) {
        helping.Stop();
        queue.SleepUntil(sequence, deadline);
        spin_until = now;  // woken for the end, as a rule: do not spin a second time
      }
    }
    // What others have to write comes the sooner when they get the core.
    if (looks && helping.yields()) {
      sched_yield();
    } else {
      Pause(round, looks ? kLooksPerYield : kRoundsPerYield);
    }
  }
  t_waited_for = &queue;
  // An abort completes tasks, too, by dropping them.
  return queue.aborts() == aborts ? WaitOutcome::kDone : WaitOutcome::kAborted;
}

// --- The lanes themselves -----------------------------------------------------------------------------------------------

// A guest brings the next ones, as long as there is room: whoever posted the work has woken the first.
bool Lanes::JoinSharedWork() {
  WorkBoard& board = sharer_.board();
  if (!board.WantsGuests()) return false;
  return board.Join(sharer_.stop(), WorkBoard::kPortionsOfALane, [this] {
    if (sharer_.board().WantsGuests()) WakeHelpers(kWakesAtOnce);
  });
}

void Lanes::RunLane(int number) {
  char name[16];
  snprintf(name, sizeof(name), "rw-lane-%d", number);
  const OwnThread self(name);
  KeepToNode();
  Lane& lane = lanes_[static_cast<size_t>(number)];
  t_lane = &lane;
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (DoSomething(lane)) continue;
    Lane* there = LingerForWork(lane);
    if (there == nullptr) {
      Sleep(lane);
      there = AnyListed();
    }
    LookAround(lane, there);
  }
}

void Lanes::KeepToNode() const {
  if (node_) sched_setaffinity(0, sizeof(*node_), &*node_);
}

bool Lanes::DoSomething(Lane& lane) {
  if (LaneQueue* queue = lane.list.Pop()) {
    Run(lane, *queue);
    return true;
  }
  return JoinSharedWork();
}

void Lanes::Run(Lane& lane, LaneQueue& queue) {
  if (queue.TryOwn()) queue.RunOwned({.rivals = &lane.list.size()});
}

void Lanes::LookAround(Lane& lane, Lane* there) {
  LaneQueue* const queue = there != nullptr ? there->list.Pop() : nullptr;
  if (AnyListed() != nullptr) CallOne();
  if (queue != nullptr) Run(lane, *queue);
}

Lanes::Lane* Lanes::AnyListed() {
  for (Lane& lane : lanes_) {
    if (lane.list.size().load(std::memory_order_seq_cst) > 0) return &lane;
  }
  return nullptr;
}

// A lane that takes one queue after the other is left alone with a few of them: what is taken away from it makes both it and the submitter
// wait for each other's cache lines. One list at a time is watched for that.
Lanes::Lane* Lanes::Overdue(const Lane& scout, Sighting& seen) {
  Lane* first = nullptr;
  Lane* next = nullptr;
  for (Lane& lane : lanes_) {
    const int listed = &lane == &scout ? 0 : lane.list.size().load(std::memory_order_seq_cst);
    if (listed == 0) continue;
    if (listed > kBacklog) return &lane;
    if (&lane == seen.lane && lane.list.turns() == seen.turns) return seen.patience.Over(true, kScoutPatience) ? &lane : nullptr;
    if (first == nullptr) first = &lane;
    if (next == nullptr && &lane > seen.lane) next = &lane;
  }
  seen.lane = next != nullptr ? next : first;
  seen.turns = seen.lane != nullptr ? seen.lane->list.turns() : 0;
  seen.patience.Over(false);
  return nullptr;
}

Lanes::Lane* Lanes::LingerForWork(Lane& lane) {
  lane.lingering.store(true, std::memory_order_seq_cst);
  lingering_.fetch_add(1, std::memory_order_seq_cst);
  const int64_t until = NowNs() + kLingerNs;
  Patience own(ticks_per_us_);
  Sighting others{.patience = Patience(ticks_per_us_)};
  bool scout = false;
  Lane* there = nullptr;
  for (int round = 0; there == nullptr; ++round) {
    const bool wanted = stopping_.load(std::memory_order_relaxed) || sharer_.board().WantsGuests();
    if (wanted || own.Over(lane.list.size().load(std::memory_order_seq_cst) > 0)) there = &lane;
    if (there == nullptr && round % kRoundsPerScouting == 0) {
      if (!scout) scout = !scouting_.load(std::memory_order_relaxed) && !scouting_.exchange(true, std::memory_order_relaxed);
      if (scout || round % kRoundsPerGlance == 0) there = Overdue(lane, others);
    }
    if (there != nullptr || (round % 16 == 0 && NowNs() >= until)) break;
    Pause(round);
  }
  if (scout) scouting_.store(false, std::memory_order_relaxed);
  lingering_.fetch_sub(1, std::memory_order_seq_cst);
  lane.lingering.store(false, std::memory_order_seq_cst);
  return there;
}

void Lanes::Sleep(Lane& lane) {
  lane.call.store(kNoCall, std::memory_order_relaxed);
  asleep_.fetch_or(lane.bit, std::memory_order_seq_cst);
  const bool stay_up = AnyListed() != nullptr || stopping_.load(std::memory_order_seq_cst);
  if (stay_up && (asleep_.fetch_and(~lane.bit, std::memory_order_seq_cst) & lane.bit) != 0) return;
  while (lane.call.load(std::memory_order_seq_cst) == kNoCall) FutexWait(lane.call, kNoCall);
  if (lane.call.load(std::memory_order_relaxed) == kToLookAround) coming_.store(false, std::memory_order_seq_cst);
}

void Lanes::Stop() {
  if (stopping_.exchange(true, std::memory_order_seq_cst)) return;
  sharer_.stop().store(true, std::memory_order_seq_cst);
  while (Wake(kToHelp)) {
  }
  for (std::thread& thread : threads_) thread.join();
  timer.Stop();
}

}  // namespace ropeway::sched
