// In which order parts are done that have none: the items of a batch, the chunks of one large copy. As they come, but for schedules that
// are there to show who relies on that: `latest` begins with the last one, `random:SEED` deals them out anew every time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway {

class PartOrder {
 public:
  // By the schedule in force.
  static PartOrder Of(size_t count);
  static PartOrder AsGiven(size_t count) { return {count, 0, 1}; }
  static PartOrder Reversed(size_t count) { return {count, count - 1, count - 1}; }
  static PartOrder Dealt(size_t count, uint64_t dice);

  bool as_given() const { return first_ == 0 && step_ == 1; }
  size_t count() const { return count_; }
  // Which part comes as number `turn`.
  size_t operator[](size_t turn) const { return as_given() ? turn : (first_ + turn * step_) % count_; }

 private:
  PartOrder(size_t count, size_t first, size_t step) : count_(count), first_(first), step_(step) {}

  size_t count_;
  size_t first_;
  size_t step_;  // has no divisor in common with the count, so every part has its turn
};

}  // namespace ropeway
