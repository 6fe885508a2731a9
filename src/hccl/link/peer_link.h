// How bytes reach a rank on another host: regions that are exposed to one peer, and transfers into and out of them. What is
// behind it (UCX) is opened on first use and known to ucx_*.cpp only, so everything else builds without it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hccl/hccl_types.h"
#include "hccl/transport/window.h"

namespace ropeway::comm {

// Names a region for the one peer that it is exposed to. Chosen by the owner: not 0, never used twice for a peer.
using RegionId = uint64_t;

// Bytes between here and a region of the peer. `local` is accessible to the host and stays so until the transfer is over or its
// lease is closed.
struct TransferItem {
  void* local;
  RegionId region;
  uint64_t offset;
  uint64_t size;
};

// How a transfer ended: HCCL_SUCCESS, or the code and the reason.
struct TransferEnd {
  HcclResult code = HCCL_SUCCESS;
  std::string text;
};
using TransferDone = std::function<void(const TransferEnd&)>;

// Memory of this side that the peer may reach. Nobody touches it once the lease is closed.
struct Exposed {
  void* address;
  uint64_t size;
  std::shared_ptr<Lease> lease = std::make_shared<Lease>();
  // On the link's thread, which it must not block: a put whose last bytes went here is complete, `bytes` in all. May be empty.
  std::function<void(uint64_t bytes)> filled = nullptr;
};

// What proves that a message comes from the peer: drawn at random by the receiver and told over the authenticated channel.
using LinkKey = std::array<uint8_t, 16>;

// One rank as seen by one other. Any thread may call anything.
class Peer {
 public:
  virtual ~Peer() = default;

  // The key that the peer has to show; tell it together with Link::address().
  virtual const LinkKey& incoming_key() const = 0;
  // Once: the other side's Link::address() and incoming_key(). `tell` carries notes to the other side's Hear, in order, on the
  // link's thread and without blocking. What was asked for before the two have met waits.
  virtual void Meet(const std::string& address, const LinkKey& key, std::function<void(const std::string& note)> tell) = 0;
  virtual void Hear(const std::string& note) = 0;

  // The peer may put into and get from this memory, which the host can access, until Withdraw returns. A region that is exposed
  // again is elsewhere from then on.
  virtual void Expose(RegionId region, Exposed memory) = 0;
  // From now on the peer's transfers there fail, and nobody touches the memory.
  virtual void Withdraw(RegionId region) = 0;

  // Moves all items, in any order, then calls `done` once, on the link's thread, which it must not block. After a good Put the bytes
  // are in the peer's memory. Items are not empty. When `lease` is closed the transfer is given up and fails.
  virtual void Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) = 0;
  virtual void Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) = 0;

  // Ends it: what is pending fails with `why`, later transfers too, on both sides. Returns at once, so that memory which must not be
  // touched any more wants a Withdraw.
  virtual void Close(const TransferEnd& why) = 0;
};

// The process's connection to the network: one thread, asleep unless something moves.
class Link {
 public:
  virtual ~Link() = default;
  // Opaque; what a peer needs to connect.
  virtual const std::string& address() const = 0;
  // The link holds it, too, until it is closed.
  virtual std::shared_ptr<Peer> NewPeer() = 0;
};

// The link of this process, made by the first call and never destroyed. `local_ip` chooses the interface ("" for any) and only
// counts for the call that makes it. Null, with the reason in `why`, when there is no UCX.
Link* OpenUcxLink(const std::string& local_ip, std::string* why);

}  // namespace ropeway::comm
