// How bytes reach a rank on another host: regions that are exposed to one peer, and transfers into and out of them. There are two
// links behind it: TCP (tcp_peer.h), and UCX (ucx_peer.h, opened on first use), for those who ask for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"
#include "hccl/transport/address.h"
#include "hccl/transport/secure_socket.h"
#include "hccl/transport/window.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

// Names a region for the one peer that it is exposed to. Chosen by the owner: not 0, never used twice for a peer.
using RegionId = uint64_t;

// Bytes between here and a region of the peer. `local` stays until the transfer is over or its lease is closed. It is accessible to the
// host, or, over TCP, device memory of `context`.
struct TransferItem {
  void* local;
  RegionId region;
  uint64_t offset;
  uint64_t size;
  aclrtContext context = nullptr;
};

// How a transfer ended: HCCL_SUCCESS, or the code and the reason.
struct TransferEnd {
  HcclResult code = HCCL_SUCCESS;
  std::string text;
};
using TransferDone = std::function<void(const TransferEnd&)>;

// What becomes of a transfer whose lease is closed.
inline TransferEnd GivenUp() { return {HCCL_E_REMOTE, "its stream gave it up"}; }

// Memory of this side that the peer may reach; of the host, or, over TCP, of the device of `context`. Nobody touches it once the lease is
// closed.
struct Exposed {
  void* address;
  uint64_t size;
  std::shared_ptr<Lease> lease = std::make_shared<Lease>();
  // On the link's thread, which it must not block: a put whose last bytes went here is complete, `bytes` in all. Over TCP this is before
  // the peer hears of it. May be empty.
  std::function<void(uint64_t bytes)> filled = nullptr;
  aclrtContext context = nullptr;
};

// One rank as seen by one other. Any thread may call anything.
class Peer {
 public:
  virtual ~Peer() = default;

  // What the other side's Meet needs, told over the authenticated channel.
  virtual std::string Introduction() const = 0;
  // Once. `call` asks for one more connection to the peer, which comes by Enter or not at all; empty when the other side makes them.
  // What was asked for before the two have met waits.
  virtual void Meet(const std::string& introduction, std::function<void()> call) = 0;
  // An authenticated connection to the peer.
  virtual void Enter(SecureSocket fd) = 0;

  // The peer may put into and get from this memory until Withdraw returns. A region that is exposed
  // again is elsewhere from then on.
  virtual void Expose(RegionId region, Exposed memory) = 0;
  // From now on the peer's transfers there fail, and nobody touches the memory.
  virtual void Withdraw(RegionId region) = 0;

  // Puts or gets all items, in any order, then calls `done` once, on the link's thread, which it must not block; of a success perhaps
  // before this returns. After a good put the bytes are in the peer's memory. Items are not empty. When `lease` is closed the transfer is
  // given up and fails.
  virtual void Move(bool put, std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) = 0;

  // Ends it: what is pending fails with `why`, later transfers too, on both sides. Returns at once, so that memory which must not be
  // touched any more wants a Withdraw.
  virtual void Close(const TransferEnd& why) = 0;
  // The peer has closed its end, or its process is gone, as others say: its last answers may still be on their way here. What they do not
  // end fails with `why`; later transfers do so at once.
  virtual void PeerLeft(const TransferEnd& why) = 0;
};

enum class LinkKind : uint8_t { kTcp = 1, kUcx = 2 };
LinkKind ChosenLink();  // ROPEWAY_HCCL_LINK
const char* NameOf(LinkKind kind);
// Whether device memory that the host cannot reach may be moved.
constexpr bool MovesDeviceMemory(LinkKind kind) { return kind == LinkKind::kTcp; }
constexpr ropewayLink WayOver(LinkKind kind) { return kind == LinkKind::kUcx ? ROPEWAY_LINK_UCX : ROPEWAY_LINK_TCP; }

// This side's end of a link to one peer, of that rank. `local` chooses UCX's interface and only counts for the process's first peer. Null,
// with the reason in `why`, when there is no UCX.
std::shared_ptr<Peer> NewTcpPeer(uint32_t rank);
std::shared_ptr<Peer> NewUcxPeer(const Address& local, std::string* why);

}  // namespace ropeway::comm
