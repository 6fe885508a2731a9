// In a program built with -fsanitize=address: whether bytes that a call is about to move are marked as freed or as nobody's, and pinned
// memory that is marked while it is free. Does nothing in other programs.
#pragma once

#include "check/model/range_map.h"

namespace ropeway::check {

bool HasAddressSanitizer();
// The first byte that host code must not touch; 0 when it may touch all.
uintptr_t FirstMarked(const Range& range);
void MarkFreed(const Range& range);
void MarkUsed(const Range& range);
// What the library has given back to the system may become anything. True in other programs.
bool IsMapped(const Range& range);

}  // namespace ropeway::check
