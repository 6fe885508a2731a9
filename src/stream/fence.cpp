#include "stream/fence.h"

#include <algorithm>

namespace ropeway {
namespace {

// Two alternating counts of running synchronous operations. The epoch moves on only when the count of the epoch before
// is zero, so whoever has seen it move twice knows that everything running at the first look has ended.
std::atomic<uint64_t> g_epoch{2};
alignas(64) std::atomic<int64_t> g_running[2];

void TryAdvanceEpoch() {
  uint64_t epoch = g_epoch.load(std::memory_order_seq_cst);
  if (g_running[(epoch - 1) % 2].load(std::memory_order_seq_cst) != 0) return;
  g_epoch.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst);
}

}  // namespace

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

}  // namespace ropeway
