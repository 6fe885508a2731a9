// The network links of one communicator: one Peer for every rank that is reached over the network, shared by all who move bytes
// there (the one-sided service, send and receive). Made on first use by either side; the other one answers by itself.
//
//   either -> kLinkHello: my key and my address; empty: I have no UCX
//   either -> kLinkNote: for Peer::Hear
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
  explicit PairLinks(Communicator& communicator) : communicator_(communicator.weak_from_this()) {}

  using Opened = std::function<void(const OpenedLink&)>;
  // Calls `opened` once, on the I/O thread: transfers can be asked for, or why not. HCCL_E_NOT_SUPPORT: one side has no UCX, which
  // stays so; HCCL_E_REMOTE and its kin: the peer has ended.
  void Open(uint32_t peer, Opened opened);
  // The same, waiting. Not on the I/O thread.
  OpenedLink Open(uint32_t peer, Deadline deadline);

  // This side's end alone, so that regions are there before the peer hears of them. Null without UCX. Not on the I/O thread: the
  // first call of the process loads UCX.
  std::shared_ptr<Peer> OwnEnd(uint32_t peer);

  // On the I/O thread.
  void Received(const Request& request);
  void PeerEnded(uint32_t peer, HcclResult why);
  void Destroyed();

 private:
  struct Pair {
    bool tried = false;         // whether this side's end could be made is known
    std::shared_ptr<Peer> end;  // this side's
    std::string address;        // and how it is reached
    std::string why;            // there is none
    bool making = false;
    bool said_hello = false;
    std::optional<std::string> hello;  // the other side's
    std::optional<OpenedLink> outcome;
    std::vector<Opened> waiting;
  };

  // On the I/O thread; each goes on with what can be done now.
  void Begin(uint32_t peer);
  bool MakeElsewhere(uint32_t peer, Pair* pair);
  void Advance(uint32_t peer);
  OpenedLink Meet(uint32_t peer, const Pair& pair);
  void Settle(uint32_t peer, const OpenedLink& outcome);

  const std::weak_ptr<Communicator> communicator_;
  Mutex mutex_{LockRank::kHcclPairLinks};
  std::map<uint32_t, Pair> pairs_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::comm
