// A transfer over a link as an item of a stream.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hccl/base/result.h"
#include "hccl/link/peer_link.h"

namespace ropeway::comm {

class Communicator;

// Whom a transfer goes to, and who hears of its failure.
struct LinkTarget {
  std::shared_ptr<Peer> peer;
  std::weak_ptr<Communicator> communicator;
  uint32_t rank = 0;  // in the communicator
};

// Looks up once more where the bytes are, for a replay: memory may have been withdrawn since.
using LookAgain = std::function<comm::Result<std::vector<TransferItem>>()>;

// Queues a put (or a get) of all items. The stream goes on when all bytes are in place; a failure fails the stream and is the
// communicator's asynchronous error. The local side must stay until then. In a stream that is being captured, every replay does it.
comm::Status LaunchTransfer(const LinkTarget& target, bool put, std::vector<TransferItem> items, LookAgain again, void* stream);

}  // namespace ropeway::comm
