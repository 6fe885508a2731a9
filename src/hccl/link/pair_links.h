// The network links of one communicator: one Peer for every rank that is reached over the network, shared by all who move bytes
// there (the one-sided service, send and receive). Made on first use by either side; the other one answers by itself.
//
//   either -> kLinkHello: which link (LinkKind) and this end's introduction; 0 and a text: I have none
//   either -> kLinkGivenUp: I could not connect, and why
//
// Connections come in at the door, as the control channels do, and are made by the side that made the channel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "hccl/link/peer_link.h"
#include "hccl/membership/communicator.h"
#include "hccl/transport/handshake.h"

namespace ropeway::comm {

// Whether ranks of one host shall use the network, too: HCCL_INTRA_ROCE_ENABLE=1, as the original does for RoCE.
bool NetworkInsideHost();

// What became of an opening.
struct OpenedLink {
  std::shared_ptr<Peer> peer;  // null unless result is HCCL_SUCCESS
  HcclResult result = HCCL_SUCCESS;
  std::string why;
};

// Any thread may call anything.
class PairLinks : public std::enable_shared_from_this<PairLinks> {
 public:
  static std::shared_ptr<PairLinks> Of(Communicator& communicator);
  explicit PairLinks(Communicator& communicator) : communicator_(communicator.weak_from_this()), kind_(ChosenLink()) {}

  using Opened = std::function<void(const OpenedLink&)>;
  // Calls `opened` once, on the I/O thread: transfers can be asked for, or why not. HCCL_E_NOT_SUPPORT: UCX was asked for and one side
  // has none, or the two sides ask for different links, which stays so; HCCL_E_REMOTE and its kin: the peer has ended.
  void Open(uint32_t peer, Opened opened);
  // The same, waiting. Not on the I/O thread.
  OpenedLink Open(uint32_t peer, Deadline deadline);

  // This side's end alone, so that regions are there before the peer hears of them. Null without UCX where that was asked for: the first
  // call of the process loads it, which takes some 20 ms.
  std::shared_ptr<Peer> OwnEnd(uint32_t peer);

  // On the I/O thread.
  void Received(const Request& request);
  void PeerEnded(uint32_t peer, HcclResult why);
  void Destroyed();

 private:
  struct Pair {
    bool tried = false;         // whether this side's end could be made is known
    std::shared_ptr<Peer> end;  // this side's
    std::string why;            // there is none
    bool said_hello = false;
    std::optional<std::string> hello;  // the other side's
    std::vector<SecureSocket> early;   // connections that were faster than the other side's hello
    std::optional<OpenedLink> outcome;
    std::vector<Opened> waiting;
  };

  // On the I/O thread; each goes on with what can be done now.
  void Begin(uint32_t peer);
  void Advance(uint32_t peer);
  std::string HelloOf(const Pair& pair) const;
  OpenedLink Meet(uint32_t peer, const Pair& pair);
  void Settle(uint32_t peer, const OpenedLink& outcome, bool peer_left = false);

  // Connections, on the I/O thread.
  void AdmitConnections();
  void Entered(uint32_t peer, SecureSocket fd);
  void CallFirst(uint32_t peer, Deadline deadline);
  void Call(uint32_t peer, std::function<void(const std::string& why)> failed);
  void GiveUp(uint32_t peer, const std::string& why);
  // This side's end while the link is open, else null.
  std::shared_ptr<Peer> OpenEnd(uint32_t peer);

  const std::weak_ptr<Communicator> communicator_;
  const LinkKind kind_;
  std::map<uint64_t, std::shared_ptr<Caller>> callers_;  // of the I/O thread
  uint64_t last_caller_ = 0;
  Mutex mutex_{LockRank::kHcclPairLinks};
  std::map<uint32_t, Pair> pairs_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::comm
