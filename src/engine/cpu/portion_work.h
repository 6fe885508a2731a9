// Many items that move bytes, dealt out in portions of about the same size: many small items, or a part of a large one.
#pragma once

#include <cstddef>
#include <utility>

#include "base/host_touch.h"
#include "base/mutex.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cpu {

// A place between two bytes of some items.
struct PortionCursor {
  size_t item = 0;
  size_t offset = 0;
};

// Items: kCut, at multiples of which they may be cut, count(), SizeOf(i), and Move(from, to), which moves the bytes between two places and
// may fault.
template <typename Items>
class PortionWork : public sched::SharedWork {
 public:
  PortionWork(Items items, size_t bytes, size_t portion) : items_(std::move(items)), bytes_(bytes), portion_(portion) {}

  bool RunPortion() override {
    Cursor from, to;
    {
      LockGuard lock(lock_);
      from = next_;
      Advance(&next_);
      to = next_;
    }
    if (from.item == items_.count()) return false;
    auto move = [&] { items_.Move(from, to); };
    const void* fault;
    if (!TouchHost(move, &fault)) [[unlikely]]
      EndAt(fault);
    return true;
  }
  bool AllTaken() const override {
    LockGuard lock(lock_);
    return next_.item == items_.count();
  }
  size_t Portions() const override { return bytes_ / portion_ + 1; }
  // Whether some of it is memory that is not there, and where; asked when the work is over.
  bool Faulted(const void** fault) const {
    LockGuard lock(lock_);
    *fault = fault_;
    return faulted_;
  }

 private:
  using Cursor = PortionCursor;
  void Advance(Cursor* cursor) const {
    for (size_t room = portion_; cursor->item < items_.count();) {
      const size_t left = items_.SizeOf(cursor->item) - cursor->offset;
      // A tail that is not worth a portion of its own goes along.
      if (left > room + portion_ / 2) {
        cursor->offset += (room + Items::kCut - 1) / Items::kCut * Items::kCut;
        return;
      }
      ++cursor->item;
      cursor->offset = 0;
      if (left >= room) return;
      room -= left;
    }
  }

  // The portions that nobody has taken are left undone.
  [[gnu::cold]] void EndAt(const void* fault) {
    LockGuard lock(lock_);
    next_ = {items_.count(), 0};
    faulted_ = true;
    fault_ = fault;
  }

  const Items items_;
  const size_t bytes_;
  const size_t portion_;
  mutable SpinLock lock_{LockRank::kPortionWork};
  Cursor next_ RW_GUARDED_BY(lock_);
  bool faulted_ RW_GUARDED_BY(lock_) = false;
  const void* fault_ RW_GUARDED_BY(lock_) = nullptr;
};

}  // namespace ropeway::cpu
