// Addresses that stand for memory of another host: reserved ranges without access rights, which copies reach through a link.
#pragma once

#include <cstdint>

#include "hccl/link/stream_transfer.h"

namespace ropeway::comm {

// Whether one side of a copy lies in such a range. If so the copy has been queued on `stream` (a stream of the runtime), or
// refused, and *status is the answer; the caller is done. Called after the argument checks of the copy.
bool RouteRemote(void* dst, const void* src, uint64_t count, void* stream, Status* status);

// Reserves `size` bytes of addresses that stand for a region of a peer. Null when the process has no room.
void* ReserveRemoteRange(uint64_t size, const LinkTarget& target, RegionId region);
// `begin` as ReserveRemoteRange returned it. Copies that are queued already still run.
void ReleaseRemoteRange(void* begin);

}  // namespace ropeway::comm
