// One peer behind the TCP link: the transfers in both directions.
//
// A put travels as frames of a region, ranges of it and their bytes, which the receiver takes from the socket straight into the region
// after looking it up and checking its bounds, and is answered when the last byte is in place; a get is a request that the other side
// answers with such frames. The bytes leave from where they lie, too, many small items in one frame. rank_connection.h says how memory is
// given back at once all the same.
//
// The first connection carries everything until much is pending; then there are more. Large transfers go over those alone, so that a small
// one does not wait behind a large one, and a path that loses packets has several windows.
//
// What is to be sent and what has arrived is shared by the threads of the connections (connected_peer.h), which hold the lock to choose the
// next frame, or to find where its bytes go, and not while they move them, but for fetching a frame of device memory. What ends, ends on
// the link's thread.
#pragma once

#include <map>
#include <unordered_map>

#include "hccl/link/connected_peer.h"
#include "hccl/link/device_frame.h"
#include "hccl/link/given_up_puts.h"

namespace ropeway::comm {

// Bytes of a frame: few enough to be copied in a moment by who closes a lease, and many enough that heads do not matter.
constexpr uint64_t kTcpFrameBytes = 1 << 20;

// Of the parts of one frame: those of device memory have another place while they travel.
class FrameOfDevice {
 public:
  // Where the link finds or puts the part.
  char* Place(aclrtContext context, char* address, uint64_t size) {
    if (context == nullptr) return address;
    if (frame_ == nullptr) frame_ = std::make_shared<DeviceFrame>(kTcpFrameBytes);
    return frame_->Add(context, address, size);
  }
  // Of what is sent: now. False when the lease is closed or the runtime refuses.
  bool Fetch(Bulk* bulk) const {
    if (frame_ == nullptr) return true;
    bulk->holds = frame_;
    bool fetched = false;
    return bulk->lease->Use([&] { fetched = frame_->Fetch(); }) && fetched;
  }
  // Of what comes: when it is there.
  void StoreBehind(Bulk* bulk) const {
    if (frame_ != nullptr) bulk->settle = [frame = frame_] { return frame->Store(); };
  }

 private:
  std::shared_ptr<DeviceFrame> frame_;
};

class TcpPeer final : public ConnectedPeer {
 public:
  TcpPeer(IoThread& thread, uint32_t rank) : ConnectedPeer(thread), rank_(rank) {}
  void Move(bool put, std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  // How many jobs somebody has looked at so far: by it a test sees what the work grows with.
  uint64_t LooksForTest() const {
    LockGuard lock(mutex_);
    return looks_;
  }

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
  };

  // A transfer that this side asked for, until it is over.
  struct Transfer {
    bool put;
    std::vector<TransferItem> items;
    std::shared_ptr<Lease> lease;
    TransferDone done;
    uint64_t total = 0;
    uint64_t coming = 0;                                  // of a get: in frames that have begun
    uint64_t received = 0;                                // of those: in frames that are here
    std::unique_ptr<GivenUpPuts::Watch> watch = nullptr;  // of a put
    bool sent = false;                                    // of a put: its last frame has begun
  };

  // What is asked for (tcp_peer.cpp).
  void Start(Transfer transfer);
  [[gnu::cold]] void CutByRule(const Transfer& transfer);
  void Ask(uint64_t number, const Transfer& transfer);
  void Pump() override;
  void SendNext(const ConnectionRef& connection) override;
  void PumpSoon();
  bool MaySend(const ConnectionRef& connection, const Job& job) const RW_REQUIRES(mutex_);
  void Queue(Job job) RW_REQUIRES(mutex_);
  bool Release(uint64_t put);
  bool SendFrame(Connection& connection, Job* job) RW_REQUIRES(mutex_);
  bool FillFrame(Job* job, Frame* frame, Bulk* bulk) const;
  void GiveUp(const Job& job);
  void End(uint64_t number, const TransferEnd& end);
  void Tell(const Transfer& transfer, const TransferEnd& end);
  void EndAll(const TransferEnd& why) override;
  bool Pending() const override;

  // What arrives (tcp_receive.cpp).
  void Received(const Frame& frame) override;
  bool ServesVisitors() const override { return true; }
  std::optional<Bulk> BulkBegins(const Frame& frame, uint64_t size) override;
  void BulkEnded(const Frame& frame, uint64_t size, bool taken) override;
  std::optional<Bulk> PutBegins(const Frame& frame, uint64_t size);
  void PutEnded(const Frame& frame, uint64_t size, bool taken);
  void PutIsHere(uint64_t number, RegionId region, const Arrival& arrival);
  void PutGivenUp(const Frame& frame);
  std::optional<Bulk> GetBegins(const Frame& frame, uint64_t size);
  void GetEnded(const Frame& frame, uint64_t size, bool taken);
  bool Serve(const Frame& frame);
  void Forget(uint64_t get);
  void Answered(const Frame& frame);

  const uint32_t rank_;         // the peer's
  uint64_t last_transfer_ = 0;  // this and the next two are of the link's thread
  uint64_t pending_bytes_ = 0;  // of all transfers
  bool pumps_soon_ = false;
  GivenUpPuts given_up_;  // also those that are over here, and whose last bytes are on their way
  std::map<uint64_t, Transfer> transfers_ RW_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Arrival> arrivals_ RW_GUARDED_BY(mutex_);
  std::deque<Job> jobs_ RW_GUARDED_BY(mutex_);
  std::deque<Job> held_ RW_GUARDED_BY(mutex_);  // puts behind one that was given up before they were asked for
  uint64_t unsent_ RW_GUARDED_BY(mutex_) = 0;   // bytes of jobs_
  uint64_t looks_ RW_GUARDED_BY(mutex_) = 0;
};

}  // namespace ropeway::comm
