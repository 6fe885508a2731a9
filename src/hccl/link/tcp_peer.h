// One peer behind the TCP link: its connections, the regions exposed to it and the transfers in both directions.
//
// A put travels as frames of a region, an offset and bytes, which the receiver takes from the socket straight into the region after looking
// it up and checking its bounds, and is answered when the last byte is in place; a get is a request that the other side answers with such
// frames. The bytes leave from where they lie, too. rank_connection.h says how memory is given back at once all the same.
//
// The first connection carries everything until a large transfer comes; then there are more, for large transfers alone, so that a small one
// does not wait behind a large one, and a path that loses packets has several windows. All were welcomed by the door (handshake.h), so who
// speaks is the peer; yet nothing of what it says is trusted: regions, bounds, numbers and sizes are checked before a byte moves.
//
// All private members but the regions belong to the link's thread.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "hccl/link/regions.h"
#include "hccl/transport/rank_connection.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {

// Bytes of a frame: few enough to be copied in a moment by who closes a lease, and many enough that heads do not matter.
constexpr uint64_t kTcpFrameBytes = 256 << 10;
// Connections for large transfers, beside the first one.
constexpr size_t kTcpBulkConnections = 3;

class TcpPeer final : public Peer, public std::enable_shared_from_this<TcpPeer> {
 public:
  explicit TcpPeer(IoThread& thread) : thread_(thread), stall_limit_(StallLimit()) {}
  ~TcpPeer() override;

  std::string Introduction() const override { return ""; }
  void Meet(const std::string& introduction, std::function<void()> call) override;
  void Enter(FileDescriptor fd) override;
  void Expose(RegionId region, Exposed memory) override { regions_.Expose(region, std::move(memory)); }
  void Withdraw(RegionId region) override { regions_.Withdraw(region); }
  void Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Close(const TransferEnd& why) override;

 private:
  // A put of the other side that is arriving, or was given up there with frames on their way.
  struct Arrival {
    uint64_t expected = 0;
    uint64_t received = 0;
    RangeStatus status = RangeStatus::kGood;
    bool given_up = false;
  };
  // Bytes to be sent, a frame at a time.
  struct Job {
    bool put;
    uint64_t transfer;
    std::vector<TransferItem> items;
    std::shared_ptr<Lease> lease;  // of a put; what a get asks for has its region's
    uint64_t total;
    uint64_t first_item = 0;  // what the peer calls the first of the items of a get
    size_t item = 0;
    uint64_t sent = 0;    // of this item
    uint64_t queued = 0;  // of all
    // Puts that were given up before this one was asked for: what is left of them may be on its way over other connections, and must not
    // come later than these bytes.
    std::vector<uint64_t> behind = {};
  };

  // What is asked for (tcp_peer.cpp).
  void Start(Transfer transfer);
  void Ask(uint64_t number, const Transfer& transfer);
  void WantMoreConnections();
  void CallMore();
  using ConnectionRef = std::shared_ptr<Connection>;
  ConnectionRef Open(FileDescriptor fd);
  void Entered(FileDescriptor fd);
  void DropOldSilentOnes();
  void Use(const ConnectionRef& connection, bool first);
  std::vector<ConnectionRef> Connections() const;
  void ConnectionEnded(const ConnectionRef& connection, bool clean, const std::string& why);
  void SendControl(uint16_t type, uint64_t transfer, std::string body = "");
  void Pump();
  void SendNext(const ConnectionRef& connection);
  bool MaySend(const ConnectionRef& connection, const Job& job) const;
  std::vector<uint64_t> GivenUpPuts() const;
  bool SendFrame(Connection& connection, Job* job);
  std::optional<Bulk> NextBulk(const Job& job) const;
  void GiveUp(const Job& job);
  void End(uint64_t number, const TransferEnd& end);
  void EndAll(const TransferEnd& why);
  void Drain(const TransferEnd& why);
  void Fail(const TransferEnd& why);
  void WatchForStall();
  void FailIfStalled();
  uint64_t Moved() const;

  // What arrives (tcp_receive.cpp).
  void Received(const ConnectionRef& connection, const Frame& frame);
  void Opened(const ConnectionRef& connection, const Frame& frame);
  std::optional<Bulk> BulkBegins(const Frame& frame, uint64_t size);
  void BulkEnded(const Frame& frame, uint64_t size, bool taken);
  std::optional<Bulk> PutBegins(const Frame& frame, uint64_t size);
  void PutEnded(const Frame& frame, uint64_t size, bool taken);
  void PutGivenUp(const Frame& frame);
  std::optional<Bulk> GetBegins(const Frame& frame, uint64_t size);
  void GetEnded(const Frame& frame, uint64_t size, bool taken);
  bool Serve(const Frame& frame);
  void Answered(const Frame& frame);
  void BreakProtocol();

  IoThread& thread_;
  const std::chrono::nanoseconds stall_limit_;
  Regions regions_;

  std::function<void()> call_;         // empty: the other side makes connections
  ConnectionRef first_;                // carries everything but the bytes of large transfers
  std::vector<ConnectionRef> others_;  // for those
  std::vector<ConnectionRef> silent_;  // whoever made them has not said which they are: it may have given up on them
  bool wants_more_ = false;
  bool called_more_ = false;
  std::deque<Frame> control_;  // what waits for the first connection
  bool failed_ = false;        // nothing is taken any more
  TransferEnd failure_;
  uint64_t last_transfer_ = 0;
  std::map<uint64_t, Transfer> transfers_;
  std::set<uint64_t> draining_;  // puts that are over here, and whose last bytes are on their way
  std::unordered_map<uint64_t, Arrival> arrivals_;
  std::deque<Job> jobs_;
  IoThread::Timer stall_timer_ = 0;
  uint64_t moved_ = 0;  // when something last moved, and how much that was in all
  int64_t last_sign_of_life_ns_ = 0;
};

}  // namespace ropeway::comm
