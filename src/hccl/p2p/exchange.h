// Sends meet receives. The n-th send of rank a to rank b meets the n-th receive of b from a, counted in the order of
// the calls.
//
//   sender   -> kOffer: number, size, and the bytes themselves (small; or behind it: carried), or their address (same process), or the
//               key of an exported buffer (same host), or nothing
//   receiver -> kAccept: I could not reach them: put them into this region of the pair's link, and whether kTaken follows   (only then)
//   receiver -> kTaken: they are here (of one or several); both sides are done. (No answer to an eager send whose bytes were in the offer:
//   it was done when
//               it had made it. None to a put straight into the receive's buffer either: the link says that it is there.)
//   either   -> kWithdraw: my side will not happen (its stream was aborted, failed or ran out of time)
//   receiver -> kCredit: so many carried bytes that were not answered have been taken
//   receiver -> kReceiverReady: my receive is here, carry the bytes (of large parts of collectives; perhaps before they were offered)
//
// Small and carried bytes are kept for a partner that is late, of the latter kKeptInAll at most; else nothing moves before both sides are
// there. Everything but
// `order` belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "hccl/link/pair_links.h"
#include "hccl/membership/communicator.h"
#include "hccl/p2p/copy_lane.h"
#include "hccl/p2p/p2p_transfer.h"
#include "hccl/p2p/shared_buffers.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  static std::shared_ptr<Exchange> Of(Communicator& communicator);
  // For as long as the communicator is held.
  static Exchange& Here(Communicator& communicator);
  explicit Exchange(std::weak_ptr<Communicator> communicator);

  // The partner is offered the bytes, or its offer is taken. `done` of the transfer is called once, perhaps before this
  // returns.
  void Begin(const TransferRef& transfer);
  // Ends it, begun or not, unless the engine is copying its bytes already: then it ends in a moment.
  void Withdraw(const TransferRef& transfer, const std::string& why);

  // Of the I/O thread, for collectives that do without transfers: whether a peer has said something of its transfers of this one, who is
  // told when it does, and that a peer has given all of it up.
  bool HasWordOf(uint32_t peer, uint64_t collective) const;
  std::function<void(uint32_t peer, uint64_t collective)> unexpected;
  void GaveUp(uint32_t peer, uint64_t collective, const std::string& why);

  void Received(Request& request);
  std::optional<Bulk> BulkBegins(uint32_t peer, const Frame& frame, uint64_t size);
  void BulkEnded(uint32_t peer, const Frame& frame, bool taken);
  // Whether a message can be handled without the runtime, so on any thread that stands in for the I/O thread.
  bool IsSimple(uint32_t peer, uint16_t type, std::string_view body) const;
  void PeerEnded(uint32_t peer, HcclResult why);
  void Destroyed();

  // Held by a caller from numbering its transfers to queueing them, so that numbers have the order of the calls.
  Mutex order{LockRank::kHcclExchange};
  // The number of the next send to a rank, or receive from it. Counts whoever gets to use it.
  uint64_t& NextNumber(const Communicator& communicator, uint32_t peer, bool sending) RW_REQUIRES(order);
  uint64_t& NextCollective(const Communicator& communicator) RW_REQUIRES(order);  // all ranks count them alike

  // Up to which size the parts of this rank's collectives are carried to other hosts, where the other end need not agree.
  uint64_t most_carried() const { return most_carried_; }

  // Of the I/O thread: for those who have copies and reductions of their own to make beside transfers.
  CopyLane& lane() { return lane_; }

 private:
  // Eager: inline or carried, and unanswered.
  enum class Method : uint8_t {
    kInline = 1,
    kAddress = 2,
    kKey = 3,
    kLink = 4,
    kEager = 5,
    kCarried = 6,
    kCarriedEager = 7,
    kOnDemand = 8
  };
  struct Offer {
    uint64_t bytes = 0;
    Method method = Method::kLink;
    std::string message = "";  // all of it, with its content from here on
    size_t begin = 0;
    std::shared_ptr<char[]> stored = nullptr;  // what was carried, and could not go into the receive's buffer
    uint64_t kept = 0;                         // of that: what came unasked

    bool has_bytes() const { return IsInline(method) || IsCarried(method); }
    bool eager() const { return method == Method::kEager || method == Method::kCarriedEager; }
    std::string_view inside() const { return stored ? std::string_view(stored.get(), bytes) : std::string_view(message).substr(begin); }
  };
  static bool IsInline(Method method) { return method == Method::kInline || method == Method::kEager; }
  static bool IsCarried(Method method) { return method == Method::kCarried || method == Method::kCarriedEager; }
  // What is behind it is its content.
  static Offer OfferIn(Reader& reader);
  struct Partner {
    std::map<uint64_t, TransferRef> sends;
    std::map<uint64_t, TransferRef> receives;
    std::map<uint64_t, Offer> offers;                 // that no receive has met yet
    std::map<uint64_t, std::string> withdrawn_sends;  // why this rank's sends of these numbers have no receive any more
    std::map<uint64_t, std::string> withdrawn_receives;
    std::map<uint64_t, std::string> withdrawn_collectives;
    uint64_t carried = 0;              // bytes that may have to be kept there: neither answered nor credited
    uint64_t credit = 0;               // bytes that came so, are taken, and were not answered: to be told
    uint64_t kept = 0;                 // of those that no receive has met yet
    std::vector<uint64_t> answers;     // kTaken, to be told
    std::set<uint64_t> ready;          // sends of this rank whose receives are there
    std::map<uint64_t, Offer> coming;  // what is being carried here
    std::set<uint64_t> refused;        // receives that were withdrawn here, and whose offers may be on their way
  };

  static ropewayLink WayOf(Method method);
  void MakeOffer(const TransferRef& transfer);
  static std::string OfferOf(const Transfer& transfer, Method method);
  void SendOffer(const TransferRef& transfer, Method method, std::string_view content);
  bool OfferKey(const TransferRef& transfer);
  // Whether its bytes go behind the offer; at once, or when the receive says that it is ready.
  enum class Carriage { kNone, kAtOnce, kOnDemand };
  Carriage CarriageOf(const Transfer& transfer) const;
  bool CarryOrOffer(const TransferRef& transfer);
  void SayReady(const TransferRef& transfer);
  void OnReady(uint32_t peer, uint64_t number);
  bool Carry(const TransferRef& transfer);
  // A carried offer is met, or dropped: it is kept no more.
  void Release(uint32_t peer, const Offer& offer);
  void OnCredit(uint32_t peer, uint64_t bytes);
  void OnAnswered(const Transfer& transfer);  // or over without an answer
  void Stage(const TransferRef& transfer, const std::function<void()>& staged);
  void Post(const TransferRef& transfer, std::function<void()> function);
  void Meet(const TransferRef& transfer, Offer offer);
  void Match(const TransferRef& transfer, const Offer& offer);
  void TakeInline(const TransferRef& transfer, const Offer& offer);
  void TakeAddress(const TransferRef& transfer, const Offer& offer);
  void TakeKey(const TransferRef& transfer, const Offer& offer);
  void AskForBytes(const TransferRef& transfer);
  // True when the link takes the buffer although the host cannot reach it; else it has to be staged.
  static bool TakeBare(Transfer& transfer);
  void Expose(const TransferRef& transfer, const std::shared_ptr<Peer>& link);
  void BytesHere(uint32_t peer, uint64_t number);
  void Unstage(const TransferRef& transfer);
  void CopyIn(const TransferRef& transfer, const void* from, int32_t peer_device, const std::string& imported_key);

  void OnOffer(uint32_t peer, uint64_t number, Offer offer);
  void OnAccept(uint32_t peer, uint64_t number, RegionId region, bool answered);
  void SendBytes(const TransferRef& transfer, RegionId region);
  void PutBytes(const TransferRef& transfer, RegionId region, const std::shared_ptr<Peer>& link);
  void RefuseWithoutLink(const TransferRef& transfer, const OpenedLink& opened);
  void OnTaken(uint32_t peer, uint64_t number);
  void OnWithdraw(uint32_t peer, bool by_sender, uint64_t number, const std::string& why);

  void Taken(const TransferRef& transfer);
  void Answer(uint32_t peer);
  void Refuse(const TransferRef& transfer, HcclResult result, const std::string& why);
  void Over(const TransferRef& transfer, HcclResult result, const std::string& why);
  void Tell(uint32_t peer, uint16_t type, std::string body, std::string_view rest = {}, Leaves leaves = Leaves::kTogether);
  static bool LinkTellsEnd(const Transfer& transfer);

  void FollowLife(const Communicator& communicator) RW_REQUIRES(order);

  const std::weak_ptr<Communicator> communicator_;
  const uint64_t most_carried_;
  uint64_t life_ RW_GUARDED_BY(order) = 0;                                          // of the communicator, that the next two are of
  std::map<std::pair<uint32_t, bool>, uint64_t> next_number_ RW_GUARDED_BY(order);  // by peer and "sending"
  uint64_t next_collective_ RW_GUARDED_BY(order) = 0;
  std::map<uint32_t, Partner> partners_;
  CopyLane lane_;
  const std::shared_ptr<SharedBuffers> shared_ = std::make_shared<SharedBuffers>();
};

}  // namespace ropeway::comm
