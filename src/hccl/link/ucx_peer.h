// One peer behind the UCX link: its endpoint, the regions exposed to it and the transfers in both directions.
//
// A put travels as chunks that the receiver writes into the region after checking key, region and bounds, and is answered when the
// last byte is in place; a get is a request that the other side answers with chunks. Plain ucp_put_nbx would do neither check on TCP:
// the receiver writes wherever the sender says, so a late put into memory that was given back would crash or corrupt it.
//
// All private members belong to the link's thread.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <set>
#include <unordered_map>

#include "hccl/link/ucx_link.h"

namespace ropeway::comm {

class UcxPeer final : public Peer, public std::enable_shared_from_this<UcxPeer> {
 public:
  UcxPeer(UcxLink& link, const LinkKey& incoming_key) : link_(link), incoming_key_(incoming_key) {}

  const LinkKey& incoming_key() const override { return incoming_key_; }
  void Admit(const std::string& address, std::function<void(const std::string&)> tell) override;
  void Hear(const std::string& note) override;
  void Connect(const LinkKey& key) override;
  void Expose(RegionId region, void* address, uint64_t size) override;
  void Withdraw(RegionId region) override;
  void Put(std::vector<TransferItem> items, TransferDone done) override;
  void Get(std::vector<TransferItem> items, TransferDone done) override;
  void Close(const TransferEnd& why) override;

  // For the link, on its thread: a message with this peer's key; what can be sent now; whether something is pending, and if nothing
  // has moved for too long.
  void Handle(const WireHeader& header, const void* data, size_t size);
  void Pump();
  bool waiting() const { return in_flight_ != 0 || !transfers_.empty() || closing_; }
  void FailIfStalled(std::chrono::steady_clock::time_point now);
  // Tells the peer which new connections to it are this link's.
  void Claim();

 private:
  struct Region {
    char* address;
    uint64_t size;
  };
  // What this side asked for.
  struct Transfer {
    bool put;
    std::vector<TransferItem> items;
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
    size_t item = 0;
    uint64_t sent = 0;  // of this item
  };
  // A message on its way: what UCX reads until it calls back.
  struct Message {
    WireHeader header;
    std::vector<WireItem> items;  // payload of a request
    std::shared_ptr<UcxPeer> peer;
    RegionId serving = 0;  // a region of ours that the payload lies in
  };

  void Open(const LinkKey& key);
  void Greeted();
  void EndIntroduction();
  void Start(Transfer transfer);
  void Ask(uint64_t number, const Transfer& transfer);
  WireHeader MakeHeader(WireKind kind, uint64_t transfer, uint64_t total) const;
  void SendChunk(Job* job);
  void SendControl(WireKind kind, uint64_t transfer, WireStatus status);
  void Send(std::unique_ptr<Message> message, const void* payload, size_t size);
  static void Sent(void* request, ucs_status_t status, void* message);
  void Finished(const Message& message, ucs_status_t status);

  void PutArrived(const WireHeader& header, const void* data, size_t size);
  void GetArrived(const WireHeader& header, const void* data, size_t size);
  void Serve(const WireHeader& header, const void* data, size_t size);
  void Answered(const WireHeader& header);
  WireStatus Locate(RegionId region, uint64_t offset, uint64_t size, char** address) const;
  void End(uint64_t number, const TransferEnd& end);
  void DropJobsOf(RegionId region);
  void ReleaseWithdrawn();

  static void EndpointFailed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void EndpointClosed(void* request, ucs_status_t status, void* peer);
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
  bool introducing_ = false;
  bool greeted_ = false;        // its greeting has come
  bool greeting_seen_ = false;  // and ours has arrived

  LinkKey outgoing_key_{};
  ucp_ep_h endpoint_ = nullptr;
  bool closing_ = false;  // the endpoint is being closed
  bool failed_ = false;   // nothing is taken any more
  bool ended_ = false;    // and everybody has been told
  TransferEnd failure_;
  uint64_t last_transfer_ = 0;
  unsigned in_flight_ = 0;
  std::chrono::steady_clock::time_point last_sign_of_life_{};
  std::unordered_map<RegionId, Region> regions_;
  std::unordered_map<RegionId, unsigned> serving_;  // messages on their way out of a region
  std::unordered_map<RegionId, std::shared_ptr<std::promise<void>>> withdrawn_;
  std::map<uint64_t, Transfer> transfers_;
  std::unordered_map<uint64_t, Arrival> arrivals_;
  std::deque<std::unique_ptr<Message>> control_;  // small messages that wait for the endpoint
  std::deque<Job> jobs_;
};

}  // namespace ropeway::comm
