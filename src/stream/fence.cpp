#include "stream/fence.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "base/hot_tls.h"
#include "base/mutex.h"
#include "engine/watcher.h"
#include "stream/stream.h"

namespace ropeway {
namespace {

// The epoch moves on only when no synchronous operation is left that began in an earlier one, so whoever has seen it move twice knows
// that everything running at the first look has ended.
alignas(64) std::atomic<uint64_t> g_epoch{2};

// Where those who look find running operations. Everyone that runs has a place of its own, so ending takes one plain store: a locked
// instruction would wait until the last byte of the copy in front of it has left the core. Nobody else writes the line, either. A place
// stays for the next one, as a rule of the same thread; there are as many as operations have ever run at a time.
std::atomic<OperationPlace*> g_places{nullptr};
constinit thread_local OperationPlace* t_place RW_HOT_TLS = nullptr;

bool AnyRunningBefore(uint64_t epoch) {
  for (const OperationPlace* place = g_places.load(std::memory_order_seq_cst); place != nullptr; place = place->next) {
    const uint64_t since = place->since.load(std::memory_order_seq_cst);
    if (since != 0 && since < epoch) return true;
  }
  return false;
}

OperationPlace* TakePlace(uint64_t epoch) {
  for (OperationPlace* place = g_places.load(std::memory_order_acquire); place != nullptr; place = place->next) {
    if (place->TryTake(epoch)) return place;
  }
  auto* const made = new OperationPlace;
  made->since.store(epoch, std::memory_order_relaxed);
  made->next = g_places.load(std::memory_order_relaxed);
  while (!g_places.compare_exchange_weak(made->next, made, std::memory_order_seq_cst)) {
  }
  return made;
}

// How long nothing may end before waiting is given up: work that waits at a gate gets its chance, since others may be about to
// open it; work that runs deserves more patience.
constexpr int64_t kHeldUpNs = 100 * 1000000;
constexpr int64_t kRunningNs = int64_t{10} * 1000000000;
constexpr int64_t kRoundNs = 2 * 1000000;

void TryAdvanceEpoch() {
  uint64_t epoch = g_epoch.load(std::memory_order_seq_cst);
  if (AnyRunningBefore(epoch)) return;
  g_epoch.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst);
}

// Behind a full barrier: what the caller took away before is no longer found by operations that begin now.
bool NobodyIsRunning() {
  g_epoch.fetch_add(0, std::memory_order_seq_cst);
  return !AnyRunningBefore(UINT64_MAX);
}

// Invariants:
//  1. A stream that is not in the list of busy ones has nothing queued: it is taken out under its own lock, and who submits to it puts it
//     back first (Stream::Rest and Rouse).
//  2. Periods end in the order in which they began: what a later one waits for comes behind what an earlier one waits for.
//  3. A stream that a period waits for may be destroyed and used again meanwhile. Its memory stays, and its count of completed tasks only
//     grows.
class Periods {
 public:
  // The number of a period that ends behind everything that is queued now; 0 when nothing is.
  uint64_t Begin() {
    if (busy_.load(std::memory_order_seq_cst) == nullptr && NobodyIsRunning()) return 0;
    LockGuard lock(mutex_);
    EndSome();
    if (begun_ - ended_.load(std::memory_order_relaxed) == FenceMarks::kPeriods) {
      next_is_wanted_ = true;
      return begun_ + 1;
    }
    Open();
    EndSome();
    return begun_;
  }

  bool Ended(uint64_t period) {
    if (period <= ended_.load(std::memory_order_acquire)) return true;
    LockGuard lock(mutex_);
    EndSome();
    return period <= ended_.load(std::memory_order_relaxed);
  }

  void Add(Stream& stream) {
    LockGuard lock(mutex_);
    if (!stream.Rouse()) return;
    stream.fence_marks.next_busy = busy_.load(std::memory_order_relaxed);
    busy_.store(&stream, std::memory_order_seq_cst);
  }

  // A task that the period waits for; none when it only waits for synchronous operations.
  std::pair<Stream*, uint64_t> SomethingOf(uint64_t period) {
    LockGuard lock(mutex_);
    std::pair<Stream*, uint64_t> found{};
    ForEachOf(period, [&](Stream* stream, uint64_t sequence) { found = {stream, sequence}; });
    return found;
  }

  // Somebody has to act before anything of it goes on; perhaps the caller.
  bool HeldUp(uint64_t period) {
    LockGuard lock(mutex_);
    bool any = false;
    bool all = true;
    ForEachOf(period, [&](Stream* stream, uint64_t) {
      any = true;
      all = all && (stream->queue().HeldUp() || stream->queue().InsideOwnCall());
    });
    return any && all;
  }

 private:
  struct Period {
    Stream* first;
    uint64_t epoch;
  };
  static size_t SlotOf(uint64_t period) { return period % FenceMarks::kPeriods; }

  void Open() RW_REQUIRES(mutex_) {
    const size_t slot = SlotOf(++begun_);
    Period& period = open_[slot];
    period = {nullptr, g_epoch.load(std::memory_order_seq_cst)};
    Stream* before = nullptr;
    for (Stream* stream = busy_.load(std::memory_order_relaxed); stream != nullptr;) {
      Stream* const next = stream->fence_marks.next_busy;
      if (MayRest(*stream)) {
        Unlink(before, next);
      } else {
        before = stream;
        if (const uint64_t last = stream->queue().submitted(); stream->queue().completed() < last) {
          stream->fence_marks.in_period[slot] = {period.first, last};
          period.first = stream;
        }
      }
      stream = next;
    }
  }

  // Not the first time that it is seen idle: who submits, waits and frees in turns would pay for the list each time.
  static bool MayRest(Stream& stream) {
    const uint64_t last = stream.queue().submitted();
    if (stream.queue().completed() < last) return false;
    return std::exchange(stream.fence_marks.idle_at, last) == last && stream.Rest();
  }

  void Unlink(Stream* before, Stream* next) {
    if (before != nullptr) {
      before->fence_marks.next_busy = next;
    } else {
      busy_.store(next, std::memory_order_seq_cst);
    }
  }

  void EndSome() RW_REQUIRES(mutex_) {
    uint64_t ended = ended_.load(std::memory_order_relaxed);
    if (ended == begun_) return;
    TryAdvanceEpoch();
    TryAdvanceEpoch();
    for (;;) {
      while (ended < begun_ && Over(SlotOf(ended + 1))) ++ended;
      if (!next_is_wanted_ || begun_ - ended == FenceMarks::kPeriods) break;
      next_is_wanted_ = false;
      Open();
    }
    ended_.store(ended, std::memory_order_release);
  }

  bool Over(size_t slot) RW_REQUIRES(mutex_) {
    Stream*& first = open_[slot].first;
    for (; first != nullptr; first = first->fence_marks.in_period[slot].next) {
      if (first->queue().completed() < first->fence_marks.in_period[slot].sequence) return false;
    }
    return g_epoch.load(std::memory_order_seq_cst) >= open_[slot].epoch + 2;
  }

  template <typename Visit>
  void ForEachOf(uint64_t period, Visit visit) RW_REQUIRES(mutex_) {
    EndSome();
    period = std::min(period, begun_);  // of the next one: those in front of it
    if (period <= ended_.load(std::memory_order_relaxed)) return;
    const size_t slot = SlotOf(period);
    for (Stream* stream = open_[slot].first; stream != nullptr; stream = stream->fence_marks.in_period[slot].next) {
      const uint64_t sequence = stream->fence_marks.in_period[slot].sequence;
      if (stream->queue().completed() < sequence) visit(stream, sequence);
    }
  }

  Mutex mutex_{LockRank::kFences};  // guards the marks of streams, too
  std::atomic<Stream*> busy_{nullptr};
  Period open_[FenceMarks::kPeriods] RW_GUARDED_BY(mutex_) = {};
  uint64_t begun_ RW_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> ended_{0};
  bool next_is_wanted_ RW_GUARDED_BY(mutex_) = false;
};

constinit NoDestroy<Periods> g_periods;

}  // namespace

uint64_t TotalProgress() {
  uint64_t total = 0;
  Streams().ForEachInUse([&](Stream* stream) { total += stream->queue().completed(); });
  return total;
}

// What is looked up comes behind the announcement: the load in between keeps it there also where a CPU moves loads in front of the store
// of an exchange.
OperationPlace* BeginSyncOperation() {
  uint64_t epoch = g_epoch.load(std::memory_order_seq_cst);
  if (t_place == nullptr || !t_place->TryTake(epoch)) [[unlikely]]
    t_place = TakePlace(epoch);
  OperationPlace* const place = t_place;
  for (uint64_t now; (now = g_epoch.load(std::memory_order_seq_cst)) != epoch; epoch = now)
    place->since.store(now, std::memory_order_seq_cst);
  return place;
}

Fence Fence::BehindAll() { return Fence(g_periods.get().Begin()); }

bool Fence::Passed() const { return g_periods.get().Ended(period_); }

void Fence::Rouse(Stream& stream) { g_periods.get().Add(stream); }

bool Fence::Await() const {
  if (Passed()) return true;
  const HostWait wait(WaitReason::kWork, 0, 0);
  uint64_t progress = TotalProgress();
  for (int64_t since = NowNs(); !Passed();) {
    if (NowNs() - since > (g_periods.get().HeldUp(period_) ? kHeldUpNs : kRunningNs)) return false;
    if (const auto [stream, sequence] = g_periods.get().SomethingOf(period_); stream != nullptr) {
      static_cast<void>(stream->queue().Wait(sequence, Deadline::AfterNs(kRoundNs)));
    } else {
      const timespec moment{0, 50000};  // a synchronous operation of another thread, which tells nobody of its end
      nanosleep(&moment, nullptr);
    }
    if (const uint64_t now = TotalProgress(); now != std::exchange(progress, now)) since = NowNs();
  }
  return true;
}

}  // namespace ropeway
