#include "stream/fence.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace ropeway {
namespace {

// Two alternating counts of running synchronous operations. The epoch moves on only when the count of the epoch before
// is zero, so whoever has seen it move twice knows that everything running at the first look has ended.
std::atomic<uint64_t> g_epoch{2};
alignas(64) std::atomic<int64_t> g_running[2];

// How long nothing may end before waiting is given up: work that waits at a gate gets its chance, since others may be about to
// open it; work that runs deserves more patience.
constexpr int64_t kHeldUpNs = 100 * 1000000;
constexpr int64_t kRunningNs = int64_t{10} * 1000000000;
constexpr int64_t kRoundNs = 2 * 1000000;

void TryAdvanceEpoch() {
  uint64_t epoch = g_epoch.load(std::memory_order_seq_cst);
  if (g_running[(epoch - 1) % 2].load(std::memory_order_seq_cst) != 0) return;
  g_epoch.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst);
}

}  // namespace

uint64_t TotalProgress() {
  uint64_t total = 0;
  Streams().ForEachInUse([&](Stream* stream) { total += stream->queue().completed(); });
  return total;
}

SyncOperation::SyncOperation() {
  for (;;) {
    const uint64_t epoch = g_epoch.load(std::memory_order_seq_cst);
    slot_ = epoch % 2;
    g_running[slot_].fetch_add(1, std::memory_order_seq_cst);
    if (g_epoch.load(std::memory_order_seq_cst) == epoch) return;
    g_running[slot_].fetch_sub(1, std::memory_order_seq_cst);
  }
}

SyncOperation::~SyncOperation() { g_running[slot_].fetch_sub(1, std::memory_order_seq_cst); }

Fence Fence::BehindAll() {
  Fence fence;
  fence.epoch_ = g_epoch.load(std::memory_order_seq_cst);
  Streams().ForEachInUse([&](Stream* stream) {
    const uint64_t last = stream->queue().submitted();
    if (stream->queue().completed() >= last) return;
    Streams().Retain(stream);
    fence.points_.push_back({StreamHold(Streams(), stream), last});
  });
  return fence;
}

bool Fence::Passed() {
  TryAdvanceEpoch();
  TryAdvanceEpoch();
  points_.erase(std::remove_if(points_.begin(), points_.end(),
                               [](const Point& point) { return point.stream->queue().completed() >= point.sequence; }),
                points_.end());
  return points_.empty() && g_epoch.load(std::memory_order_seq_cst) >= epoch_ + 2;
}

bool Fence::Await() {
  uint64_t progress = TotalProgress();
  for (int64_t since = NowNs(); !Passed();) {
    if (NowNs() - since > (HeldUp() ? kHeldUpNs : kRunningNs)) return false;
    AwaitSome();
    if (const uint64_t now = TotalProgress(); now != std::exchange(progress, now)) since = NowNs();
  }
  return true;
}

void Fence::AwaitSome() {
  if (!points_.empty()) {
    const Point& point = points_.front();
    static_cast<void>(point.stream->queue().Wait(point.sequence, Deadline::AfterNs(kRoundNs)));
    return;
  }
  const timespec moment{0, 50000};  // a synchronous operation of another thread, which tells nobody of its end
  nanosleep(&moment, nullptr);
}

bool Fence::HeldUp() const {
  return !points_.empty() && std::all_of(points_.begin(), points_.end(), [](const Point& point) {
    const Queue& queue = point.stream->queue();
    return queue.HeldUp() || queue.InsideOwnCall();
  });
}

}  // namespace ropeway
