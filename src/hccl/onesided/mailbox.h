// What peers have told this rank and nobody has taken yet. The I/O thread puts in, calls of the API wait and take.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "base/mutex.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

enum OneSidedMessage : uint16_t {
  kDescriptors = kOneSidedMessages + 0,  // body: HcclMemDesc[]
};

class Mailboxes {
 public:
  void Deliver(uint32_t peer, uint16_t type, const std::string& body);
  // Nothing more will come from this peer.
  void End(uint32_t peer, HcclResult why);
  // Waits for the next message of this type, in order of arrival. HCCL_E_TIMEOUT; or why the peer has ended.
  HcclResult Take(uint32_t peer, uint16_t type, Deadline deadline, std::string* body);

 private:
  struct Box {
    std::map<uint16_t, std::deque<std::string>> messages;
    bool ended = false;
    HcclResult why = HCCL_SUCCESS;
  };
  Mutex mutex_{LockRank::kHcclMailboxes};
  Condition changed_;
  std::map<uint32_t, Box> boxes_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::comm
