// Numbers of the messages between senders and receivers (exchange.h says what they mean), and the size up to which
// bytes travel in them.
#pragma once

#include <cstdint>

#include "hccl/membership/communicator.h"

namespace ropeway::comm {

enum SendRecvMessage : uint16_t {
  kOffer = kSendRecvMessages + 1,
  kAccept = kSendRecvMessages + 2,
  kTaken = kSendRecvMessages + 3,
  kWithdraw = kSendRecvMessages + 4,
};

// Two copies of so few bytes cost less than a second message.
constexpr uint64_t kInlineBytes = 16 << 10;

// The region of the pair's link that takes the bytes of receive `number`: beyond those of the one-sided service, which
// counts from 1.
constexpr uint64_t RegionOf(uint64_t number) { return number | uint64_t{1} << 63; }

}  // namespace ropeway::comm
