// Memory that the ranks of one host share, for collectives of few bytes: every rank has a board, which it writes and all others read. A
// collective takes one of the board's slots; what a rank contributes is copied into its slot and posted, and when all have posted, each
// rank takes what it needs out of the slots of the others. Nothing is sent, and no other process has to act in between: a rank that comes
// last is through at once.
//
// Only where every rank is a process of its own on one host, and all of them could open the boards of all. That is found out, and agreed
// on, once, when the first such collective starts; until then, and where one rank says no, collectives go the other way.
//
// Words of a board, all of which only its owner writes:
//   posted[slot]    the collective whose bytes are in the slot (number + 1), and how many
//   reduced[slot]   the same, when the owner's part of the result lies in the slot
//   done            by slot, the last collective for which the owner takes no bytes any more, from anybody. It stands beside what is
//                   posted, as it was then, so that who has read that knows it; and by itself, for who has to know before
//   asleep          odd: nobody looks; whoever posts has to send a message
// and for larger contributions, which stay where they are and are read there by the others (process_vm_readv, where every rank may read
// every other one's memory): of a collective that only copies; and also those that fit no slot, of all-reduces, too, where ranks have no
// more than a core each:
//   address[slot]   of the contribution in the owner's process; 0: it is in the slot
//   result[slot]    of what `reduced` tells of: likewise
//   taken[slot]     the collective of which the owner has all that it needs, if somebody's contribution is in place
//   revoked[slot]   the collective whose bytes, at that address, were taken away from it
// 1. A slot is written only when all others are done with the collective that had it before. Slots go by the numbers of the collectives,
//    which all ranks agree on, and `done` follows that order; so the collective with the lowest number never waits for a later one.
//    That a rank is done is told with what it posts next. Who finds a slot that is not free tells all that it is done with by itself; and
//    who does not, because the others have told, posts into the slot, which says that it was done with what was there. So whoever comes to
//    a collective last lets all others go on.
// 2. Bytes are written before the word that tells of them (release), and read after it (acquire).
// 3. Memory that is read in place belongs to the collective until all have taken, so its owner is not done before. If it is given up
//    before that, `revoked` is written first: whoever has read looks there afterwards, and believes nothing that was read if it is set.
//    Of an all-reduce in place, a rank overwrites its own part, which only it reads, before all have reduced, and the rest behind that.
// 4. Who posts then looks at `asleep` of the others, and who falls asleep then looks at what they have posted. All of these accesses are
//    sequentially consistent, so one of the two sees the other.
//
// Memory is nameless (memfd) and opened through the owner's /proc entry: nothing is left behind by a process that is killed. It cannot be
// shortened, and a secret in it proves that it is what the owner spoke of.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/faster_way.h"
#include "base/file_descriptor.h"
#include "hccl/coll/board_work.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

constexpr uint64_t kBoardSlots = 2;

class Exchange;

// A collective's claim to a slot. All collectives have one, also those that go the other way and leave theirs when they start. Its ticket
// is its number and one: 0 is none.
struct BoardSeat {
  uint64_t ticket = 0;
  uint32_t slot() const { return static_cast<uint32_t>(ticket % kBoardSlots); }
  uint64_t before() const { return ticket > kBoardSlots ? ticket - kBoardSlots : 0; }  // the ticket of the one that had the slot before
  uint64_t number() const { return ticket - 1; }
};

// A collective that waits on a board. On the I/O thread.
class BoardWaiter {
 public:
  virtual ~BoardWaiter() = default;
  // Something may have been posted, or the board is ready.
  virtual void Look() = 0;
  // It will not come to an end.
  virtual void Off(HcclResult result, const std::string& why) = 0;
};

class Board : public std::enable_shared_from_this<Board> {
 public:
  // For as long as the communicator is held. Null where its ranks cannot have one; so after HcclCommResume, when slots would have to be
  // counted anew.
  static Board* Of(Communicator& communicator);
  static Board* InAnyLife(Communicator& communicator);
  explicit Board(Communicator& communicator);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  enum class State { kUnknown, kReady, kRefused };
  State state() const { return state_.load(std::memory_order_acquire); }

  // --- On the I/O thread ---------------------------------------------------------------------------------------------------
  // From now on the waiter is told, until Leave. Opens the board when nobody has.
  void Enter(const Communicator& communicator, const Exchange& exchange, const BoardSeat& seat, BoardWaiter* waiter);
  // Nobody waits: a collective that begins now has nobody to tell of what it finds.
  bool IsQuiet() const { return waiters_.empty(); }
  void StayAwake();
  // Nobody looks for the moment; or in a millisecond, if somebody does not begin before.
  void FallAsleep();
  void FallAsleepSoon();
  // `off`: this rank's part will not be posted, or not be complete; the others hear of it. Empty: all is done.
  void Leave(const BoardSeat& seat, const std::string& off);
  // All is done, and the others may hear of it with what is posted next.
  void LeaveSilently(const BoardSeat& seat);

  // False: the others know by now what this rank is done with.
  bool IsFree(const BoardSeat& seat);
  char* OwnSlot(const BoardSeat& seat) const { return SlotOf(rank_, seat); }
  char* SlotOf(uint32_t rank, const BoardSeat& seat) const;
  // A contribution of so many bytes is in the owner's slot, or, if that is not null, at `in_place`; the slot has its part of the result.
  void Post(const BoardSeat& seat, uint64_t bytes, const void* in_place);
  void PostReduced(const BoardSeat& seat, const void* in_place);
  bool AllPosted(const BoardSeat& seat);
  bool AllReduced(const BoardSeat& seat) const;
  // Whether contributions can be read where they are; and those that do not fit into a slot, as no rank has a core to spare for them.
  bool ReadsInPlace() const { return in_place_; }
  bool ReadsLarge() const { return in_place_ && large_; }
  // How blocks that fit into a slot go: through it, two copies by the ranks' own hands, or in place, one by the kernel. Up to the caches,
  // and to how many ranks read a slot while it is hot, either can take half of the other's time. Every rank chooses for what it brings.
  static constexpr FasterWay::Way kThroughSlot = FasterWay::kOne, kInPlace = FasterWay::kOther;
  FasterWay& WayOfBlocks(Collective what, uint64_t block_bytes) {
    return ways_of_blocks_[what == Collective::kAllToAll ? 1 : 0][std::bit_width(block_bytes)];
  }
  // Of a collective that all have posted.
  bool SomeAreInPlace(const BoardSeat& seat) const;
  // Copies [offset, + bytes) of what a rank has posted, or of its result; false: it cannot be read there any more.
  bool Read(uint32_t rank, const BoardSeat& seat, uint64_t offset, uint64_t bytes, char* to) const;
  bool ReadResult(uint32_t rank, const BoardSeat& seat, uint64_t offset, uint64_t bytes, char* to) const;
  // All that was needed of the others is here; and, of all, whether that is so.
  void PostTaken(const BoardSeat& seat);
  bool AllTaken(const BoardSeat& seat) const;
  // On any thread: what was posted in place must not be believed from now on. Who has done so, else the number of ranks.
  void Revoke(const BoardSeat& seat) const;
  uint32_t RevokedBy(const BoardSeat& seat) const;
  // Whether what is posted has so many bytes everywhere; and who has posted other ones.
  bool AllBring(const BoardSeat& seat, uint64_t bytes) const;
  std::string OtherBytes(const BoardSeat& seat, uint64_t bytes) const;

  // Messages and news.
  struct Offer {
    int32_t pid;
    int32_t descriptor;  // of the board there; -1: there is none
    uint64_t address;    // of the board there
    std::string secret;
  };
  enum class Verdict : uint8_t { kBad, kGood, kGoodInPlace, kGoodInPlaceLarge };
  void Offered(uint32_t peer, const Offer& offer);
  void Judged(uint32_t peer, Verdict verdict);
  void Rung();
  void TakenOff(uint32_t peer, uint64_t number, const std::string& why);
  void PeerEnded(uint32_t peer, HcclResult why);
  void Destroyed();

  // A thread that waits for a stream looks at all boards meanwhile. True while somebody waits on one.
  static int Help(int leaving);

 private:
  struct Words;
  struct Opened {
    Words* words = nullptr;
    int32_t pid = 0;
    bool offered = false;
    bool judged = false;
    uint64_t done[kBoardSlots] = {};  // as far as is known here
  };

  void Open();
  bool Map(uint32_t rank, int descriptor, bool own);
  void JudgeWhenAllOffered();
  void Decide(State state);
  void LookAll();
  void Ring();
  void Forget(const BoardSeat& seat);
  void Done(const BoardSeat& seat);
  void TellDone();
  void End(uint64_t ticket, HcclResult result, const std::string& why);
  // The collective of a peer goes the other way: it has another size there.
  void OtherWay(uint32_t peer, uint64_t number);
  void SendAll(uint16_t type, const std::string& body);
  bool ReadAt(uint32_t rank, const BoardSeat& seat, uint64_t address, uint64_t offset, uint64_t bytes, char* to) const;
  template <typename Word>
  bool AllSay(Word word, const BoardSeat& seat) const;

  const std::weak_ptr<Communicator> communicator_;
  const uint32_t rank_;
  const uint32_t size_;
  std::atomic<State> state_{State::kUnknown};

  // Of the I/O thread.
  bool opened_ = false;
  bool good_ = true;
  bool in_place_ = true;  // this one and the next are not changed once it is ready
  bool large_;
  bool own_judged_ = false;
  FileDescriptor descriptor_;
  std::vector<Opened> boards_;                // by rank
  bool falls_asleep_ = false;                 // soon
  bool looked_ = false;                       // since that was said last
  std::vector<uint64_t> rung_;                // by rank: how deep it slept when it was rung last
  std::map<uint64_t, BoardWaiter*> waiters_;  // by ticket
  std::map<uint64_t, std::string> off_;       // tickets of what will not be, and why
  uint64_t done_[kBoardSlots] = {};           // by slot
  bool done_is_told_ = true;                  // by the word for it
  std::map<uint64_t, uint64_t> skipped_;      // what was left before its turn, by the ticket before it

  // Of all-gathers and all-to-alls, by powers of two.
  FasterWay ways_of_blocks_[2][std::bit_width(kBoardBytes) + 1];
};

}  // namespace ropeway::comm
