// What a rank and the root's service say to each other. Every rank keeps one connection to the service for life: over
// it the ranks are gathered, barriers are counted, and everybody learns who has left or died.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::comm {

constexpr size_t kSessionBytes = 16;

enum LifelineMessage : uint16_t {
  kJoin = 1,            // rank -> root: number of ranks, the rank's own PeerInfo
  kTable = 2,           // root -> rank: the session, the process that the service lives in, and all ranks
  kRefusal = 3,         // root -> rank: why it cannot join; the id is the HcclResult
  kBarrier = 4,         // rank -> root: id: arrived at barrier number id
  kBarrierCancel = 5,   // rank -> root: id: will not arrive, or waits no longer
  kRelease = 6,         // root -> rank: id: everybody has arrived
  kBarrierAborted = 7,  // root -> rank: id: somebody will not arrive
  kLeft = 8,            // root -> rank: id: that rank destroyed its communicator
  kLost = 9,            // root -> rank: id: that rank is gone without a word; u8: 1 when it closed in order, 0 when the link broke
  kBye = 10,            // rank -> root: destroys its communicator
  kByeSeen = 11,        // root -> rank: the others have been told
  kReady = 12,          // rank -> root: has the table and answers its peers
  kGo = 13,             // root -> rank: all are ready
  kWhoIsMissing = 14,   // rank -> root: its time to join is over
  kMissing = 15,        // root -> rank: who has not come, as a text
};

}  // namespace ropeway::comm
