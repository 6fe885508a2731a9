// One peer behind the UCX link: its worker and endpoint, the regions exposed to it and the transfers in both directions.
//
// A put travels as chunks that the receiver writes into the region after checking key, region and bounds, and is answered when the
// last byte is in place; a get is a request that the other side answers with chunks. Plain ucp_put_nbx would do neither check on TCP:
// the receiver writes wherever the sender says, so a late put into memory that was given back would crash or corrupt it.
//
// All private members but the regions belong to the link's thread.
#pragma once

#include <deque>
#include <map>
#include <unordered_map>

#include "hccl/link/regions.h"
#include "hccl/link/ucx_link.h"
#include "hccl/link/ucx_wire.h"

namespace ropeway::comm {

class UcxPeer final : public Peer, public std::enable_shared_from_this<UcxPeer> {
 public:
  explicit UcxPeer(UcxLink& link) : link_(link), stall_limit_(StallLimit()) {}
  // Before anything else, on the link's thread. False with the reason when UCX refuses.
  bool CreateWorker(std::string* why);

  // The key that the peer has to show, and the worker's address.
  std::string Introduction() const override;
  void Meet(const std::string& introduction, std::function<void()> call) override;
  void Enter(FileDescriptor) override {}  // UCX makes its own connections
  void Expose(RegionId region, Exposed memory) override { regions_.Expose(region, std::move(memory)); }
  void Withdraw(RegionId region) override { regions_.Withdraw(region); }
  void Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  void Close(const TransferEnd& why) override;

  // For the link, on its thread: what UCX can do now, and whether that was something; what can be sent now; whether it may sleep; whether
  // something is pending, and if nothing has moved for too long.
  bool Progress();
  void Pump();
  bool Arm();
  bool waiting() const { return in_flight_ != 0 || !transfers_.empty() || closing_; }
  void FailIfStalled(int64_t now_ns);

 private:
  // A put of the other side that is arriving.
  struct Arrival {
    uint64_t received = 0;
    RangeStatus status = RangeStatus::kGood;
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

  bool Listen(std::string* why);
  void Open(const std::string& address);
  static ucs_status_t Received(void* peer, const void* header, size_t header_length, void* data, size_t length,
                               const ucp_am_recv_param_t* param);
  void Handle(const WireHeader& header, const void* data, size_t size);
  void Start(Transfer transfer);
  void Ask(uint64_t number, const Transfer& transfer);
  WireHeader MakeHeader(WireKind kind, uint64_t transfer, uint64_t total) const;
  void PumpControl();
  // False when the memory was taken away.
  bool SendChunk(Job* job);
  bool Copy(const Job& job, uint64_t size, char* to) const;
  void GiveUp(const Job& job);
  void SendControl(WireKind kind, uint64_t transfer, RangeStatus status);
  void Send(std::unique_ptr<Message> message);
  static void Sent(void* request, ucs_status_t status, void* message);
  void Finished(ucs_status_t status);

  void PutArrived(const WireHeader& header, const void* data, size_t size);
  void GetArrived(const WireHeader& header, const void* data, size_t size);
  void Serve(const WireHeader& header, const void* data, size_t size);
  void Answered(const WireHeader& header);
  void End(uint64_t number, const TransferEnd& end);

  static void EndpointFailed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  static void EndpointClosed(void* request, ucs_status_t status, void* peer);
  void Drain(const TransferEnd& why);
  void Fail(const TransferEnd& why);
  void CloseEndpoint();
  void CloseNow();
  void EndWhenQuiet();

  UcxLink& link_;
  const std::chrono::nanoseconds stall_limit_;
  LinkKey incoming_key_{};
  ucp_worker_h worker_ = nullptr;
  int worker_fd_ = -1;
  std::string address_;  // the worker's

  LinkKey outgoing_key_{};
  ucp_ep_h endpoint_ = nullptr;
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

  Regions regions_;
};

}  // namespace ropeway::comm
