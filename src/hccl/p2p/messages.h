// Numbers of the messages between senders and receivers (exchange.h says what they mean), and the size up to which
// bytes travel in them.
#pragma once

#include <cstdint>

#include "hccl/rank/communicator.h"

namespace ropeway::comm {

enum SendRecvMessage : uint16_t {
  kOffer = kSendRecvMessages + 1,
  kAccept = kSendRecvMessages + 2,
  kTaken = kSendRecvMessages + 3,
  kWithdraw = kSendRecvMessages + 4,
};

// Two copies of so few bytes cost less than a second message.
constexpr uint64_t kInlineBytes = 16 << 10;

}  // namespace ropeway::comm
