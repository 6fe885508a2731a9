// What the links have in common: a peer's connections, the regions exposed to it, and how everything ends. Who moves the bytes is derived
// from it (tcp_peer.h, ucx_peer.h).
//
// The first connection carries everything until a link wants more. All were welcomed by the door (handshake.h), so who speaks is the peer;
// yet nothing of what it says is trusted.
//
// Each of the other connections has a thread of its own, which peers share: the kernel's work on what goes over them is the larger part of
// moving bytes, and one core is not enough for it. What those threads do is in BulkBegins, BulkEnded and SendNext; all else happens on the
// link's thread, which all private and protected members belong to where nothing else is said.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>

#include "base/mutex.h"
#include "hccl/link/regions.h"
#include "hccl/transport/rank_connection.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {

// Connections for large transfers, beside the first one.
constexpr size_t kBulkConnections = 3;

class ConnectedPeer : public Peer, public std::enable_shared_from_this<ConnectedPeer> {
 public:
  ~ConnectedPeer() override;
  std::string Introduction() const override { return ""; }
  void Meet(const std::string& introduction, std::function<void()> call) override;
  void Enter(SecureSocket fd) override;
  void Expose(RegionId region, Exposed memory) override { regions_.Expose(region, std::move(memory)); }
  void Withdraw(RegionId region) override { regions_.Withdraw(region); }
  void Close(const TransferEnd& why) override;
  void PeerLeft(const TransferEnd& why) override;

 protected:
  using ConnectionRef = std::shared_ptr<Connection>;
  explicit ConnectedPeer(IoThread& thread);

  // The two have met.
  virtual void Met(const std::string& /*introduction*/) {}
  virtual void Received(const Frame& frame) = 0;
  // Whether that may come on a thread that stands in for the link's.
  virtual bool ServesVisitors() const { return false; }
  // As Connection::Events have them, on the connection's thread.
  virtual std::optional<Bulk> BulkBegins(const Frame& /*frame*/, uint64_t /*size*/) { return std::nullopt; }
  virtual void BulkEnded(const Frame& /*frame*/, uint64_t /*size*/, bool /*taken*/) {}
  virtual void SendNext(const ConnectionRef& /*connection*/) {}
  // There is a connection more.
  virtual void Pump() = 0;
  // Whether a transfer is pending, and a number that changes when one gets on.
  virtual bool Pending() const = 0;
  virtual uint64_t Moved() const;
  // The link has failed: whatever is pending ends so.
  virtual void EndAll(const TransferEnd& why) = 0;

  void SendControl(uint16_t type, uint64_t id, std::string body = "");
  // A large transfer is coming. Whichever side makes the connections does so.
  void WantMoreConnections();
  // On the link's thread: at once if that is the calling one.
  void OnLink(std::function<void()> function);
  // The same for what is short and may stand in for it (IoThread::Run).
  void BrieflyOnLink(std::function<void()> function);
  std::vector<ConnectionRef> Connections() const;
  void Fail(const TransferEnd& why) { Stop(why, true); }
  // The same a moment later: other news that came in the same moment may have the better reason.
  void FailSoon(const TransferEnd& why);
  void BreakProtocol() { Fail({HCCL_E_TCP_TRANSFER, "the peer does not keep to the protocol of the link"}); }
  // While transfers are pending it looks now and then whether anything moves.
  void WatchForStall();

  IoThread& thread_;
  const std::chrono::nanoseconds stall_limit_;
  Regions regions_;
  mutable Mutex mutex_{LockRank::kHcclPeer};
  // Changed under the lock, which others than the link's thread have to take to look.
  ConnectionRef first_;                // carries everything but the bytes of large transfers
  std::vector<ConnectionRef> others_;  // for those
  std::atomic<bool> failed_{false};    // nothing is taken any more
  bool peer_left_ = false;             // it only ends what is pending
  TransferEnd failure_;                // of either

 private:
  ConnectionRef Open(SecureSocket fd, IoThread& thread);
  void Entered(SecureSocket fd);
  void DropOldSilentOnes();
  void Use(const ConnectionRef& connection, bool first);
  void CallMore();
  void Heard(const ConnectionRef& connection, const Frame& frame);
  void Opened(const ConnectionRef& connection, const Frame& frame);
  void ConnectionEnded(const ConnectionRef& connection, bool clean, const std::string& why);
  void Stop(const TransferEnd& why, bool broke);
  void FailIfStalled();

  std::function<void()> call_;  // empty: the other side makes connections
  bool wants_more_ = false;
  bool called_more_ = false;
  std::deque<Frame> control_;          // what waits for the first connection
  std::vector<ConnectionRef> silent_;  // whoever made them has not said which they are: it may have given up on them
  size_t beside_ = 0;                  // connections that were given to a thread beside the link's
  IoThread::Timer stall_timer_;
  uint64_t moved_ = 0;  // when something last moved, and how much that was in all
  int64_t last_sign_of_life_ns_ = 0;
};

// The thread of the process for links: whatever ranks say to each other does not wait behind the bytes that they move.
IoThread& LinkThread();

}  // namespace ropeway::comm
