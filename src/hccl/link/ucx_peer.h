// One peer behind the UCX link: its endpoint, the regions exposed to it and the transfers in both directions.
//
// A put travels as chunks that the receiver writes into the region after checking key, region and bounds, and is answered when the
// last byte is in place; a get is a request that the other side answers with chunks. Plain ucp_put_nbx would do neither check on TCP:
// the receiver writes wherever the sender says, so a late put into memory that was given back would crash or corrupt it.
//
// All private members but the regions belong to the link's thread.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "base/mutex.h"
#include "hccl/link/ucx_link.h"

namespace ropeway::comm {

// What becomes of a transfer whose lease is closed.
inline TransferEnd GivenUp() { return {HCCL_E_REMOTE, "its stream gave it up"}; }

class UcxPeer final : public Peer, public std::enable_shared_from_this<UcxPeer> {
 public:
  UcxPeer(UcxLink& link, const LinkKey& incoming_key) : link_(link), incoming_key_(incoming_key) {}

  const LinkKey& incoming_key() const override { return incoming_key_; }
  void Meet(const std::string& address, const LinkKey& key, std::function<void(const std::string&)> tell) override;
  void Hear(const std::string& note) override;
  void Expose(RegionId region, Exposed memory) override;
  void Withdraw(RegionId region) override;
  void Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Close(const TransferEnd& why) override;

  // For the link, on its thread: a message with this peer's key; what can be sent now; whether something is pending, and if nothing
  // has moved for too long.
  void Handle(const WireHeader& header, const void* data, size_t size);
  void Pump();
  bool waiting() const { return in_flight_ != 0 || !transfers_.empty() || closing_; }
  void FailIfStalled(int64_t now_ns);
  // Tells the peer which new connections to it are this link's.
  void Claim();

 private:
  // What this side asked for.
  struct Transfer {
    bool put;
    std::vector<TransferItem> items;
    std::shared_ptr<Lease> lease;
    TransferDone done;
    uint64_t total = 0;
    uint64_t received = 0;  // of a get
  };
  // A put of the other side that is arriving.
  struct Arrival {
    uint64_t received = 0;
    WireStatus status = WireStatus::kGood;
  };
  // Bytes to be sent, a chunk at a time.
  struct Job {
    WireHeader header;
    std::vector<TransferItem> items;
    std::shared_ptr<Lease> lease;  // of a put; what a get asks for has its region's
    size_t item = 0;
    uint64_t sent = 0;  // of this item
  };
  // A message on its way: what UCX reads until it calls back. The bytes are a copy, since UCX cannot be told to let go of the
  // program's memory when a stream gives it up.
  struct Message {
    WireHeader header;
    Chunk payload;
    size_t size = 0;
    bool pooled = false;  // the payload goes back to the link's pool
    std::shared_ptr<UcxPeer> peer;
  };

  void OpenWhenWelcome();
  void Open();
  void Greeted();
  void TellGivenUp(const std::string& why);
  void EndIntroduction();
  void Start(Transfer transfer);
  void Ask(uint64_t number, const Transfer& transfer);
  WireHeader MakeHeader(WireKind kind, uint64_t transfer, uint64_t total) const;
  void PumpControl();
  // False when the memory was taken away.
  bool SendChunk(Job* job);
  bool Copy(const Job& job, uint64_t size, char* to) const;
  void GiveUp(const Job& job);
  void SendControl(WireKind kind, uint64_t transfer, WireStatus status);
  void Send(std::unique_ptr<Message> message);
  static void Sent(void* request, ucs_status_t status, void* message);
  void Finished(ucs_status_t status);

  void PutArrived(const WireHeader& header, const void* data, size_t size);
  void GetArrived(const WireHeader& header, const void* data, size_t size);
  void Serve(const WireHeader& header, const void* data, size_t size);
  void Answered(const WireHeader& header);
  // `found` gets the region.
  WireStatus Locate(RegionId region, uint64_t offset, uint64_t size, Exposed* found) const;
  void End(uint64_t number, const TransferEnd& end);

  static void EndpointFailed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void EndpointClosed(void* request, ucs_status_t status, void* peer);
  void SetFailed(const TransferEnd& why);
  void Drain(const TransferEnd& why);
  void Fail(const TransferEnd& why);
  void CloseEndpoint();
  void CloseNow();
  void EndWhenQuiet();

  UcxLink& link_;
  const LinkKey incoming_key_;

  // While it connects (ucx_introduce.cpp).
  LinkAddress address_;
  std::function<void(const std::string&)> tell_;
  std::set<std::string> claimed_;  // own ends of connections to the peer
  bool met_ = false;               // the peer may come
  bool welcome_ = false;           // and this side may go there
  bool introducing_ = false;
  bool greeted_ = false;        // its greeting has come
  bool greeting_seen_ = false;  // and ours has arrived

  LinkKey outgoing_key_{};
  ucp_ep_h endpoint_ = nullptr;
  bool opened_ = false;   // there is or was an endpoint
  bool closing_ = false;  // the endpoint is being closed
  bool failed_ = false;   // nothing is taken any more
  bool ended_ = false;    // and everybody has been told
  TransferEnd failure_;
  uint64_t last_transfer_ = 0;
  unsigned in_flight_ = 0;
  int64_t last_sign_of_life_ns_ = 0;
  std::map<uint64_t, Transfer> transfers_;
  std::unordered_map<uint64_t, Arrival> arrivals_;
  std::deque<std::unique_ptr<Message>> control_;  // small messages that wait for the endpoint
  std::deque<Job> jobs_;

  mutable Mutex regions_mutex_{LockRank::kUcxRegions};
  std::unordered_map<RegionId, Exposed> regions_ RW_GUARDED_BY(regions_mutex_);
};

}  // namespace ropeway::comm
