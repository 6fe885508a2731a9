// Reserves the addresses that stand for memory of another host. Copies find them through remote_range.h.
#pragma once

#include <cstdint>

#include "hccl/link/stream_transfer.h"

namespace ropeway::comm {

// Reserves `size` bytes of addresses that stand for a region of a peer. Null when the process has no room.
void* ReserveRemoteRange(uint64_t size, const LinkTarget& target, RegionId region);
// `begin` as ReserveRemoteRange returned it. Copies that are queued already still run.
void ReleaseRemoteRange(void* begin);

}  // namespace ropeway::comm
