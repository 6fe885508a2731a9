// One peer behind the UCX link, the ordinary way: the side that has the memory maps it and hands out keys, and the side that wants the
// bytes puts and gets with them. What the two have to say to each other (keys, and that a put is complete) goes over an authenticated
// connection of our own; UCX moves bytes and does nothing else.
//
// UCX cannot be told to let go of memory: it has what it was given until that is done. So a transfer is given to it in pieces; whoever
// closes a lease waits for those that are on their way, here or on the other side, and when nothing comes of them the link ends, for then
// UCX lets go.
//
// All private members belong to the link's thread.
#pragma once

#include <functional>
#include <future>
#include <list>
#include <map>

#include "hccl/link/connected_peer.h"
#include "hccl/link/ucx_context.h"

namespace ropeway::comm {

class UcxPeer final : public ConnectedPeer {
 public:
  // Null with the reason when UCX refuses. Waits for the link's thread.
  static std::shared_ptr<UcxPeer> Create(UcxContext& context, std::string* why);
  explicit UcxPeer(UcxContext& context) : ConnectedPeer(context.thread()), context_(context), api_(context.api()) {}

  std::string Introduction() const override { return address_; }  // of the worker
  void Move(bool put, std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) override;
  // UCX's own answers tell of bytes, and the peer takes its end of UCX down when it leaves.
  void PeerLeft(const TransferEnd& why) override { Close(why); }

 private:
  // Memory that UCX may be busy with. Never does the link's thread wait for its lease while it is held: whoever closes that waits for the
  // thread.
  class Hold : public Lease::Reader, public std::enable_shared_from_this<Hold> {
   public:
    Hold(std::shared_ptr<UcxPeer> peer, std::shared_ptr<Lease> lease) : peer_(std::move(peer)), lease_(std::move(lease)) {}
    void Rescue() override;
    void LetGo();
    const std::shared_ptr<Lease>& lease() const { return lease_; }

   protected:
    // On the link's thread: the end shall come soon.
    virtual void GiveUp(UcxPeer& peer) = 0;

   private:
    std::shared_ptr<UcxPeer> peer_;
    const std::shared_ptr<Lease> lease_;
    std::promise<void> over_;
  };

  // What the peer has a key for.
  struct Grant final : Hold {
    using Hold::Hold;
    void GiveUp(UcxPeer& peer) override;
    uint64_t number = 0;
    Exposed memory;
    ucp_mem_h mapped = nullptr;
  };

  // A key of the peer's.
  struct Key {
    uint64_t number;
    uint64_t address;
    uint64_t size;
    bool once;  // for one put, which is told when it is complete
    ucp_rkey_h rkey;
    unsigned users = 0;  // pieces on their way
    bool revoked = false;
  };
  using KeyRef = std::shared_ptr<Key>;

  // What was asked for.
  struct Operation final : Hold {
    using Hold::Hold;
    void GiveUp(UcxPeer& peer) override;
    bool put = false;
    std::vector<TransferItem> items;
    TransferDone done;
    uint64_t total = 0;
    size_t item = 0;     // the next one to be given to UCX
    uint64_t given = 0;  // of it
    unsigned pieces = 0;
    bool flushing = false;
    bool over = false;
    std::optional<TransferEnd> end;
  };
  using OperationRef = std::shared_ptr<Operation>;

  bool CreateWorker(std::string* why);
  void Met(const std::string& introduction) override;
  void Start(const OperationRef& operation);
  void Pump() override;
  void Advance(const OperationRef& operation);
  bool GivePiece(const OperationRef& operation);
  void PieceDone(const OperationRef& operation, const KeyRef& key);
  void Finish(const OperationRef& operation, const TransferEnd& end);
  bool Pending() const override { return !operations_.empty(); }
  uint64_t Moved() const override { return ConnectedPeer::Moved() + completed_count_; }

  void Received(const Frame& frame) override;
  void GrantKey(RegionId region);
  bool Map(Grant* grant, RegionId region, std::string* packed);
  void TakeKey(const Frame& frame);
  void KeyRefused(RegionId region);
  void KeyRevoked(uint64_t number);
  void Return(const KeyRef& key, uint64_t bytes);
  void ReturnIfOnce(std::map<RegionId, KeyRef>::iterator found, uint64_t bytes);
  void KeyReturned(const Frame& frame);

  // Calls UCX with the parameters of a request; `then` comes later, outside of UCX, unless that fails.
  using Then = std::function<void()>;
  void Request(const std::function<ucs_status_ptr_t(const ucp_request_param_t*)>& call, Then then, uint32_t flags = 0);
  static void RequestDone(void* request, ucs_status_t status, void* asked);
  void Flush(Then then);
  // What UCX can do now, and what comes of it.
  void Drive();
  bool DriveOnce();
  void Broke(ucs_status_t status);
  void EndAll(const TransferEnd& why) override;
  void EndWhenQuiet();

  UcxContext& context_;
  const UcxApi& api_;
  ucp_worker_h worker_ = nullptr;
  int worker_fd_ = -1;
  std::string address_;
  ucp_ep_h endpoint_ = nullptr;
  bool broken_ = false;  // UCX takes nothing more
  unsigned requests_ = 0;
  unsigned pieces_ = 0;  // of all operations
  uint64_t completed_count_ = 0;
  std::deque<Then> completed_;
  std::list<OperationRef> operations_;
  std::map<RegionId, KeyRef> keys_;  // null: asked for
  std::map<uint64_t, std::shared_ptr<Grant>> grants_;
  uint64_t last_grant_ = 0;
};

}  // namespace ropeway::comm
