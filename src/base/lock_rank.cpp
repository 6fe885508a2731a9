#include "base/lock_rank.h"

#ifndef NDEBUG

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace ropeway {
namespace {

constexpr const char* kNames[] = {
#define RW_LOCK_NAME(name) #name,
    RW_LOCK_RANKS(RW_LOCK_NAME)
#undef RW_LOCK_NAME
};

// Of this thread, in the order in which they were taken.
constexpr size_t kMost = 16;
thread_local RankedLock* held[kMost];
thread_local size_t held_count = 0;

const char* NameOf(LockRank rank) { return kNames[static_cast<size_t>(rank)]; }

}  // namespace

void RankedLock::Taking() {
  for (size_t i = 0; i < held_count; ++i) {
    if (held[i]->rank_ < rank_ && held_count < kMost) continue;
    fprintf(stderr, "ropeway: a thread that holds the lock %s takes %s: base/lock_rank.h has the order\n", NameOf(held[i]->rank_),
            NameOf(rank_));
    abort();
  }
  held[held_count++] = this;
}

// Not always the last one: guards may overlap.
void RankedLock::Left() {
  RankedLock** const end = held + held_count;
  std::copy(std::find(held, end, this) + 1, end, std::find(held, end, this));
  --held_count;
}

}  // namespace ropeway

#endif
