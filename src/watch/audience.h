// Who watches: the trace, which comes before the first device and stays, and the profiles, which come and go while the program runs. One
// of them is told directly; both are told through a watcher that passes on what it hears.
#pragma once

#include "engine/watcher.h"

namespace ropeway {

enum class Seat { kTrace, kProfiles };

// Null leaves the seat. Every stream of the process tells of its submits when this returns, or no longer does.
void TakeSeat(Seat seat, Watcher* watcher);

}  // namespace ropeway
