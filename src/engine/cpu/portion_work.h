// Many items that move bytes, dealt out in portions of about the same size: many small items, or a part of a large one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "base/host_touch.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cpu {

// A place between two bytes of some items.
struct PortionCursor {
  size_t item = 0;
  size_t offset = 0;
};

// Items: kCut, at multiples of which they may be cut, count(), SizeOf(i), EvenSize(), not 0 where all have that, and Move(from, to), which
// moves the bytes between two places and may fault.
template <typename Items>
class PortionWork : public sched::SharedWork {
 public:
  // Cut beforehand: with many hands a place that moves on would be what they wait for.
  PortionWork(Items items, size_t bytes, size_t portion) : items_(std::move(items)) {
    const size_t most = bytes / portion + 2;
    if (most > std::size(few_cuts_)) many_cuts_.reset(new (std::nothrow) PortionCursor[most]);
    cuts_ = many_cuts_ != nullptr ? many_cuts_.get() : few_cuts_;
    if (many_cuts_ == nullptr && most > std::size(few_cuts_)) portion = bytes;  // no memory: one hand does it
    const size_t each = items_.EvenSize();
    if (each != 0 && each <= portion / 2) CutEvenly((portion + each - 1) / each);
    while (cuts_[count_].item < items_.count()) {
      cuts_[count_ + 1] = Behind(cuts_[count_], portion);
      ++count_;
    }
  }

  bool RunPortion() override {
    const size_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (number >= count_) return false;
    auto move = [&] { items_.Move(cuts_[number], cuts_[number + 1]); };
    const void* fault;
    if (!TouchHost(move, &fault)) [[unlikely]]
      EndAt(fault);
    return true;
  }
  bool AllTaken() const override { return next_.load(std::memory_order_relaxed) >= count_; }
  size_t Portions() const override { return count_; }
  // Whether some of it is memory that is not there, and where; asked when the work is over.
  bool Faulted(const void** fault) const {
    *fault = fault_.load(std::memory_order_relaxed);
    return faulted_.load(std::memory_order_acquire);
  }

 private:
  // As by Behind, where every portion has so many items: without a look at each.
  void CutEvenly(size_t items) {
    for (size_t item = 0; item < items_.count(); item = cuts_[count_].item) cuts_[++count_] = {std::min(item + items, items_.count()), 0};
  }
  // The end of the portion that begins at `cursor`.
  PortionCursor Behind(PortionCursor cursor, size_t portion) const {
    for (size_t room = portion; cursor.item < items_.count();) {
      const size_t left = items_.SizeOf(cursor.item) - cursor.offset;
      // A tail that is not worth a portion of its own goes along.
      if (left > room + portion / 2) return {cursor.item, cursor.offset + (room + Items::kCut - 1) / Items::kCut * Items::kCut};
      cursor = {cursor.item + 1, 0};
      if (left >= room) break;
      room -= left;
    }
    return cursor;
  }

  // The portions that nobody has taken are left undone.
  [[gnu::cold]] void EndAt(const void* fault) {
    fault_.store(fault, std::memory_order_relaxed);
    faulted_.store(true, std::memory_order_release);
    next_.store(count_, std::memory_order_relaxed);
  }

  const Items items_;
  size_t count_ = 0;
  PortionCursor* cuts_;  // portion i is what lies between cut i and the next
  PortionCursor few_cuts_[66];
  std::unique_ptr<PortionCursor[]> many_cuts_;
  std::atomic<bool> faulted_{false};
  std::atomic<const void*> fault_{nullptr};  // of several, one
  alignas(64) std::atomic<size_t> next_{0};
};

}  // namespace ropeway::cpu
