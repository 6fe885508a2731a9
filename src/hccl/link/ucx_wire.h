// What two links say to each other. One kind of active message carries everything; the bytes that move are its payload. Both
// sides are little-endian machines of the same word size.
#pragma once

#include <array>
#include <cstdint>

#include "hccl/link/regions.h"

namespace ropeway::comm {

constexpr unsigned kUcxMessageId = 1;

// What proves that a message comes from the peer: drawn at random by the receiver and told over the authenticated channel.
using LinkKey = std::array<uint8_t, 16>;

enum class WireKind : uint32_t {
  kPutData = 1,     // bytes for a region
  kPutDone = 2,     // all bytes of a put have arrived, or why they did not go where they should
  kGetRequest = 3,  // payload: WireItem[]
  kGetData = 4,     // bytes of the item `region` (an index here) of a get
  kGetFailed = 5,
  kGoodbye = 6,     // nothing more will come: what is pending is lost
  kPutGivenUp = 7,  // no more bytes of this put will come
};

struct WireHeader {
  LinkKey key;
  WireKind kind;
  RangeStatus status;
  uint64_t transfer;  // number given by whoever asked for it
  uint64_t region;
  uint64_t offset;
  uint64_t total;  // bytes of the whole transfer
};
static_assert(sizeof(WireHeader) == 56);

struct WireItem {
  uint64_t region;
  uint64_t offset;
  uint64_t size;
};

// One message fits one segment of the TCP transport (ucx_settings.cpp sets 64 KiB) with all headers, so the receiver gets the bytes
// without putting pieces together.
constexpr uint64_t kChunkBytes = 63 * 1024;

}  // namespace ropeway::comm
