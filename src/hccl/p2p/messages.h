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
  kCredit = kSendRecvMessages + 5,
  kReceiverReady = kSendRecvMessages + 6,
};

// Two copies of so few bytes cost less than a second message.
constexpr uint64_t kInlineBytes = 16 << 10;
// Between hosts more go from the sender's memory into the receiver's, behind the message, since an answer takes longer than they do: so
// many without knowing whether the receive is there, as long as what a late partner has to keep is not more than that; and those of
// collectives also beyond, when it is: as many as one thread moves at least as fast as the link's threads, which need cores to run on.
constexpr uint64_t kKeptBytes = 256 << 10;
constexpr uint64_t kKeptInAll = 16 << 20;
constexpr uint64_t kMostTogether = 1 << 20;  // of the messages of one call: more of them go over the link
constexpr uint64_t kCarriedBesideLink = 1 << 20;
constexpr uint64_t kCarriedBytes = 4 << 20;
constexpr uint32_t kCoresOfLink = 4;  // for each rank

// Collectives count for themselves, so that sends and receives beside them may come in any order: which collective of the communicator, and
// which of its messages from one rank to another.
constexpr int kCollectiveMessageBits = 20;
constexpr uint64_t CollectiveNumber(uint64_t collective, uint64_t message) {
  return uint64_t{1} << 62 | collective << kCollectiveMessageBits | message;
}

constexpr bool IsOfCollective(uint64_t number) { return (number >> 62) == 1; }
constexpr uint64_t CollectiveOf(uint64_t number) { return (number ^ uint64_t{1} << 62) >> kCollectiveMessageBits; }

// Where a life of the communicator begins to count: beyond all that the thousand before it have used.
constexpr uint64_t FirstCollective(uint64_t life) { return life % 1024 << 32; }
constexpr uint64_t FirstNumber(uint64_t life) { return life % 1024 << 40; }

// The region of the pair's link that takes the bytes of receive `number`: beyond those of the one-sided service, which
// counts from 1.
constexpr uint64_t RegionOf(uint64_t number) { return number | uint64_t{1} << 63; }

}  // namespace ropeway::comm
