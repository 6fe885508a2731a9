// What fences keep in every stream; theirs alone, and guarded by their lock.
#pragma once

#include <cstdint>

namespace ropeway {

class Stream;

struct FenceMarks {
  // Periods that can be open at a time.
  static constexpr uint64_t kPeriods = 4;

  Stream* next_busy = nullptr;  // in the list of streams that are not at rest
  uint64_t idle_at = 0;         // how much had been submitted when it was last seen idle; it rests when it is seen so twice
  struct {
    Stream* next;       // of those that the period waits for
    uint64_t sequence;  // the task that it waits for
  } in_period[kPeriods] = {};
};

}  // namespace ropeway
