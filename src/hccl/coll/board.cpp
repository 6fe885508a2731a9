#include "hccl/coll/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <string_view>

#include "base/cores.h"
#include "base/random.h"
#include "hccl/link/pair_links.h"
#include "hccl/p2p/exchange.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/waiter_looks.h"
#include "hccl/transport/wire.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

enum BoardMessage : uint16_t {
  kBoardOffer = kBoardMessages + 1,    // where a rank's board is
  kBoardVerdict = kBoardMessages + 2,  // whether it could open all
  kBoardRing = kBoardMessages + 3,     // something was posted
  kBoardOff = kBoardMessages + 4,      // a collective will not be
};

constexpr std::chrono::milliseconds kDrowsy(1);
constexpr size_t kSecretBytes = 32;
constexpr size_t kWordsBytes = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// All that were opened, of the I/O thread, and how many collectives wait on them.
std::vector<std::weak_ptr<Board>>& OpenedBoards() {
  static auto* const boards = new std::vector<std::weak_ptr<Board>>;
  return *boards;
}
std::atomic<int> g_waiting{0};
std::atomic<bool> g_crowded{false};  // some have more ranks than there are cores

template <typename Function>
void ForAllBoards(const Function& function) {
  for (size_t i = 0; i < OpenedBoards().size(); ++i) {
    if (const std::shared_ptr<Board> board = OpenedBoards()[i].lock()) function(*board);
  }
}

std::string RankText(uint32_t rank) { return "rank " + std::to_string(rank); }

bool CanHaveBoards(const Communicator& communicator) {
  if (communicator.size() < 2 || communicator.size() > kDirectRanks) return false;
  std::set<uint64_t> processes;
  for (uint32_t rank = 0; rank < communicator.size(); ++rank) {
    if (!communicator.SameHost(rank) || !processes.insert(communicator.peer(rank).process).second) return false;
  }
  return true;
}

void Received(Communicator& communicator, Request& request) {
  Board* const board = Board::InAnyLife(communicator);
  if (board == nullptr) return;
  Reader reader(request.body());
  switch (request.type()) {
    case kBoardOffer: {
      Board::Offer offer{reader.Number<int32_t>(), reader.Number<int32_t>(), reader.Number<uint64_t>(), ""};
      offer.secret = reader.rest();
      if (reader.ok()) board->Offered(request.peer(), offer);
      return;
    }
    case kBoardVerdict: return board->Judged(request.peer(), static_cast<Board::Verdict>(reader.Number<uint8_t>()));
    case kBoardRing: return board->Rung();
    case kBoardOff: {
      const auto number = reader.Number<uint64_t>();
      if (reader.ok()) board->TakenOff(request.peer(), number, std::string(reader.rest()));
      return;
    }
    default: return;
  }
}

const Service kBoards = {
    kBoardMessages,
    &Received,
    [](Communicator& communicator, uint32_t peer, HcclResult why) {
      if (Board* const board = Board::InAnyLife(communicator)) board->PeerEnded(peer, why);
    },
    nullptr,
    [](Communicator& communicator) {
      if (Board* const board = Board::InAnyLife(communicator)) board->Destroyed();
    },
};
const bool kBoardsAdded = (AddService(&kBoards), true);

void LetWaitersLook() { [[maybe_unused]] static const bool added = (AddWaiterLook(&Board::Help), true); }

// Of another process.
bool ReadMemory(int32_t pid, uint64_t address, uint64_t bytes, char* to) {
  while (bytes > 0) {
    const iovec local{to, bytes}, remote{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), bytes};
    const ssize_t read = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (read <= 0) return false;
    to += read;
    address += static_cast<uint64_t>(read);
    bytes -= static_cast<uint64_t>(read);
  }
  return true;
}

}  // namespace

// Only the owner writes.
struct Board::Words {
  char secret[kSecretBytes];
  alignas(64) std::atomic<uint64_t> asleep;
  alignas(64) std::atomic<uint64_t> done[kBoardSlots];  // tickets
  struct alignas(64) Slot {                             // one line of the cache, which a post moves
    std::atomic<uint64_t> posted;                       // a ticket
    std::atomic<uint64_t> bytes;
    std::atomic<uint64_t> address;
    std::atomic<uint64_t> done[kBoardSlots];
    std::atomic<uint64_t> reduced;  // tickets
    std::atomic<uint64_t> taken;
    std::atomic<uint64_t> revoked;
  } slots[kBoardSlots];
  alignas(64) std::atomic<uint64_t> result[kBoardSlots];  // an address

  // Who has written into a slot was done with what had it before.
  uint64_t DoneWith(uint32_t slot) const {
    const BoardSeat posted{slots[slot].posted.load(std::memory_order_seq_cst)};
    return std::max(posted.before(), done[slot].load(std::memory_order_seq_cst));
  }
};

Board* Board::InAnyLife(Communicator& communicator) {
  static_assert(sizeof(Words) <= kWordsBytes && sizeof(Words::Slot) == 64 && std::atomic<uint64_t>::is_always_lock_free);
  auto* const board = static_cast<Board*>(communicator.StateHere(kBoards, [&] { return std::make_shared<Board>(communicator); }));
  return board->size_ == 0 ? nullptr : board;
}

Board* Board::Of(Communicator& communicator) { return communicator.life() != 0 ? nullptr : InAnyLife(communicator); }

Board::Board(Communicator& communicator)
    : communicator_(communicator.weak_from_this()), rank_(communicator.rank()),
      size_(CanHaveBoards(communicator) ? communicator.size() : 0), large_(size_ >= static_cast<uint32_t>(UsableCores())), boards_(size_),
      rung_(size_) {}

Board::~Board() {
  for (const Opened& board : boards_) {
    if (board.words != nullptr) munmap(board.words, kWordsBytes + kBoardSlots * kBoardBytes);
  }
}

// --- How they are opened -------------------------------------------------------------------------------------------------

void Board::Open() {
  if (std::exchange(opened_, true)) return;
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  std::erase_if(OpenedBoards(), [](const std::weak_ptr<Board>& board) { return board.expired(); });
  OpenedBoards().push_back(weak_from_this());
  if (size_ > static_cast<uint32_t>(UsableCores())) g_crowded.store(true, std::memory_order_relaxed);
  Exchange::Of(*communicator)->unexpected = [weak = weak_from_this()](uint32_t peer, uint64_t number) {
    if (const auto self = weak.lock()) self->OtherWay(peer, number);
  };
  const std::string secret = RandomBytes(kSecretBytes);
  descriptor_ = FileDescriptor::Make([] { return memfd_create("ropeway-board", MFD_CLOEXEC | MFD_ALLOW_SEALING); });
  good_ = good_ && descriptor_ && !NetworkInsideHost() && std::string_view(ropewayGetEngineName()) == "cpu" &&
          ftruncate(descriptor_.get(), kWordsBytes + kBoardSlots * kBoardBytes) == 0 &&
          fcntl(descriptor_.get(), F_ADD_SEALS, kSeals) == 0 && Map(rank_, descriptor_.get(), true);
  if (good_) {
    std::memcpy(boards_[rank_].words->secret, secret.data(), kSecretBytes);
    TellDone();
  }
  boards_[rank_].offered = true;
  const auto address = reinterpret_cast<uintptr_t>(boards_[rank_].words);
  SendAll(kBoardOffer,
          Writer().Number(int32_t{getpid()}).Number(int32_t{good_ ? descriptor_.get() : -1}).Number(uint64_t{address}).Raw(secret).Take());
  JudgeWhenAllOffered();
}

bool Board::Map(uint32_t rank, int descriptor, bool own) {
  void* const memory =
      mmap(nullptr, kWordsBytes + kBoardSlots * kBoardBytes, own ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  boards_[rank].words = static_cast<Words*>(memory);
  return true;
}

void Board::Offered(uint32_t peer, const Offer& offer) {
  if (peer >= size_ || boards_[peer].offered) return;
  Open();
  boards_[peer].offered = true;
  boards_[peer].pid = offer.pid;
  const std::string path = "/proc/" + std::to_string(offer.pid) + "/fd/" + std::to_string(offer.descriptor);
  const FileDescriptor file = FileDescriptor::Make([&] { return offer.descriptor < 0 ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  struct stat found {};
  // What cannot shrink cannot fault.
  good_ = good_ && file && (fcntl(file.get(), F_GET_SEALS) & F_SEAL_SHRINK) != 0 && fstat(file.get(), &found) == 0 &&
          static_cast<uint64_t>(found.st_size) >= kWordsBytes + kBoardSlots * kBoardBytes && Map(peer, file.get(), false) &&
          offer.secret.size() == kSecretBytes && std::memcmp(boards_[peer].words->secret, offer.secret.data(), kSecretBytes) == 0;
  char seen[kSecretBytes];
  in_place_ = in_place_ && good_ && ReadMemory(offer.pid, offer.address + offsetof(Words, secret), kSecretBytes, seen) &&
              std::memcmp(seen, offer.secret.data(), kSecretBytes) == 0;
  JudgeWhenAllOffered();
}

void Board::JudgeWhenAllOffered() {
  const bool all = std::all_of(boards_.begin(), boards_.end(), [](const Opened& board) { return board.offered; });
  if (!all || std::exchange(own_judged_, true)) return;
  const Verdict verdict = !good_       ? Verdict::kBad
                          : !in_place_ ? Verdict::kGood
                          : !large_    ? Verdict::kGoodInPlace
                                       : Verdict::kGoodInPlaceLarge;
  SendAll(kBoardVerdict, Writer().Number(static_cast<uint8_t>(verdict)).Take());
  Judged(rank_, verdict);
}

void Board::Judged(uint32_t peer, Verdict verdict) {
  if (peer >= size_ || boards_[peer].judged) return;
  boards_[peer].judged = true;
  if (verdict == Verdict::kBad || verdict > Verdict::kGoodInPlaceLarge) return Decide(State::kRefused);
  in_place_ = in_place_ && verdict >= Verdict::kGoodInPlace;
  large_ = large_ && verdict == Verdict::kGoodInPlaceLarge;
  const bool all = std::all_of(boards_.begin(), boards_.end(), [](const Opened& board) { return board.judged; });
  if (all) Decide(State::kReady);
}

void Board::Decide(State state) {
  if (state_.load(std::memory_order_relaxed) != State::kUnknown) return;
  descriptor_.Reset();  // everybody who wants it has opened it
  if (state == State::kReady) LetWaitersLook();
  state_.store(state, std::memory_order_release);
  LookAll();
  FallAsleep();
}

// --- Collectives ---------------------------------------------------------------------------------------------------------

void Board::Enter(const Communicator& communicator, const Exchange& exchange, const BoardSeat& seat, BoardWaiter* waiter) {
  Open();
  waiters_[seat.ticket] = waiter;
  g_waiting.fetch_add(1, std::memory_order_relaxed);
  if (const auto node = off_.extract(seat.ticket)) return End(seat.ticket, HCCL_E_REMOTE, node.mapped());
  if (state() != State::kReady) return;
  for (uint32_t peer = 0; peer < size_; ++peer) {
    if (peer != rank_ && exchange.HasWordOf(peer, seat.number())) return OtherWay(peer, seat.number());
    if (communicator.Ended(peer) != HCCL_SUCCESS) return End(seat.ticket, HCCL_E_REMOTE, RankText(peer) + " is gone");
  }
}

void Board::Leave(const BoardSeat& seat, const std::string& off) {
  Forget(seat);
  if (!off.empty() && state() != State::kRefused) SendAll(kBoardOff, Writer().Number(seat.number()).Raw(off).Take());
  Done(seat);
  TellDone();
}

void Board::LeaveSilently(const BoardSeat& seat) {
  Forget(seat);
  Done(seat);
}

void Board::Forget(const BoardSeat& seat) {
  if (!waiters_.empty() && waiters_.erase(seat.ticket) != 0) g_waiting.fetch_sub(1, std::memory_order_relaxed);
  if (!off_.empty()) off_.erase(seat.ticket);
}

void Board::Done(const BoardSeat& seat) {
  uint64_t& done = done_[seat.slot()];
  if (done != seat.before()) {
    skipped_[seat.before()] = seat.ticket;
    return;
  }
  done = seat.ticket;
  done_is_told_ = false;
  for (auto next = skipped_.begin(); !skipped_.empty() && (next = skipped_.find(done)) != skipped_.end();) {
    done = next->second;
    skipped_.erase(next);
  }
}

void Board::TellDone() {
  if (boards_[rank_].words == nullptr || std::exchange(done_is_told_, true)) return;
  for (size_t slot = 0; slot < kBoardSlots; ++slot) boards_[rank_].words->done[slot].store(done_[slot], std::memory_order_seq_cst);
  Ring();
}

bool Board::IsFree(const BoardSeat& seat) {
  const uint32_t slot = seat.slot();
  boards_[rank_].done[slot] = done_[slot];
  const bool free = std::all_of(boards_.begin(), boards_.end(), [&](Opened& board) {
    if (board.done[slot] < seat.before()) board.done[slot] = board.words->DoneWith(slot);
    return board.done[slot] >= seat.before();
  });
  if (!free) TellDone();
  return free;
}

char* Board::SlotOf(uint32_t rank, const BoardSeat& seat) const {
  return reinterpret_cast<char*>(boards_[rank].words) + kWordsBytes + seat.slot() * kBoardBytes;
}

void Board::Post(const BoardSeat& seat, uint64_t bytes, const void* in_place) {
  Words::Slot& slot = boards_[rank_].words->slots[seat.slot()];
  slot.bytes.store(bytes, std::memory_order_relaxed);
  slot.address.store(reinterpret_cast<uintptr_t>(in_place), std::memory_order_relaxed);
  for (size_t i = 0; i < kBoardSlots; ++i) slot.done[i].store(done_[i], std::memory_order_relaxed);
  slot.posted.store(seat.ticket, std::memory_order_seq_cst);
  Ring();
}

void Board::PostReduced(const BoardSeat& seat, const void* in_place) {
  boards_[rank_].words->result[seat.slot()].store(reinterpret_cast<uintptr_t>(in_place), std::memory_order_relaxed);
  boards_[rank_].words->slots[seat.slot()].reduced.store(seat.ticket, std::memory_order_seq_cst);
  Ring();
}

void Board::PostTaken(const BoardSeat& seat) {
  boards_[rank_].words->slots[seat.slot()].taken.store(seat.ticket, std::memory_order_seq_cst);
  Ring();
}

template <typename Word>
bool Board::AllSay(Word word, const BoardSeat& seat) const {
  return std::all_of(boards_.begin(), boards_.end(), [&](const Opened& board) {
    return (board.words->slots[seat.slot()].*word).load(std::memory_order_seq_cst) == seat.ticket;
  });
}
bool Board::AllPosted(const BoardSeat& seat) {
  if (!AllSay(&Words::Slot::posted, seat)) return false;
  for (Opened& board : boards_) {
    const Words::Slot& slot = board.words->slots[seat.slot()];
    for (size_t i = 0; i < kBoardSlots; ++i) board.done[i] = std::max(board.done[i], slot.done[i].load(std::memory_order_relaxed));
  }
  return true;
}
bool Board::AllReduced(const BoardSeat& seat) const { return AllSay(&Words::Slot::reduced, seat); }
bool Board::AllTaken(const BoardSeat& seat) const { return AllSay(&Words::Slot::taken, seat); }

bool Board::SomeAreInPlace(const BoardSeat& seat) const {
  return std::any_of(boards_.begin(), boards_.end(),
                     [&](const Opened& board) { return board.words->slots[seat.slot()].address.load(std::memory_order_relaxed) != 0; });
}

bool Board::Read(uint32_t rank, const BoardSeat& seat, uint64_t offset, uint64_t bytes, char* to) const {
  return ReadAt(rank, seat, boards_[rank].words->slots[seat.slot()].address.load(std::memory_order_relaxed), offset, bytes, to);
}
bool Board::ReadResult(uint32_t rank, const BoardSeat& seat, uint64_t offset, uint64_t bytes, char* to) const {
  return ReadAt(rank, seat, boards_[rank].words->result[seat.slot()].load(std::memory_order_relaxed), offset, bytes, to);
}
bool Board::ReadAt(uint32_t rank, const BoardSeat& seat, uint64_t address, uint64_t offset, uint64_t bytes, char* to) const {
  if (address != 0) return ReadMemory(boards_[rank].pid, address + offset, bytes, to);
  std::memcpy(to, SlotOf(rank, seat) + offset, bytes);
  return true;
}

void Board::Revoke(const BoardSeat& seat) const {
  boards_[rank_].words->slots[seat.slot()].revoked.store(seat.ticket, std::memory_order_seq_cst);
}

uint32_t Board::RevokedBy(const BoardSeat& seat) const {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // behind what was read
  uint32_t rank = 0;
  while (rank < size_ && boards_[rank].words->slots[seat.slot()].revoked.load(std::memory_order_relaxed) != seat.ticket) ++rank;
  return rank;
}

bool Board::AllBring(const BoardSeat& seat, uint64_t bytes) const {
  return std::all_of(boards_.begin(), boards_.end(),
                     [&](const Opened& board) { return board.words->slots[seat.slot()].bytes.load(std::memory_order_relaxed) == bytes; });
}

std::string Board::OtherBytes(const BoardSeat& seat, uint64_t bytes) const {
  for (uint32_t rank = 0; rank < size_; ++rank) {
    const Words::Slot& slot = boards_[rank].words->slots[seat.slot()];
    if (slot.posted.load(std::memory_order_acquire) != seat.ticket) continue;
    const uint64_t theirs = slot.bytes.load(std::memory_order_relaxed);
    if (theirs == bytes) continue;
    return RankText(rank) + " comes with " + std::to_string(theirs) + " bytes, " + RankText(rank_) + " with " + std::to_string(bytes) +
           ": count and type must be the same on all ranks";
  }
  return "";
}

// --- Who looks -----------------------------------------------------------------------------------------------------------

// Whoever looks may leave, and let others enter.
void Board::LookAll() {
  const std::shared_ptr<Board> self = shared_from_this();
  for (auto next = waiters_.begin(); next != waiters_.end();) {
    const uint64_t ticket = next->first;
    next->second->Look();
    next = waiters_.upper_bound(ticket);
  }
}

void Board::FallAsleep() {
  if (waiters_.empty() || state() != State::kReady) return;
  std::atomic<uint64_t>& asleep = boards_[rank_].words->asleep;
  if (asleep.load(std::memory_order_relaxed) % 2 == 0) asleep.fetch_add(1, std::memory_order_seq_cst);
  LookAll();
}

void Board::FallAsleepSoon() {
  if (waiters_.empty() || std::exchange(falls_asleep_, true)) return;
  looked_ = false;
  IoThread::Get().At(Deadline::After(kDrowsy), [weak = weak_from_this()] {
    const std::shared_ptr<Board> self = weak.lock();
    if (!self) return;
    self->falls_asleep_ = false;
    self->looked_ ? self->FallAsleepSoon() : self->FallAsleep();
  });
}

void Board::StayAwake() {
  looked_ = true;
  if (state() != State::kReady) return;
  std::atomic<uint64_t>& asleep = boards_[rank_].words->asleep;
  if (asleep.load(std::memory_order_relaxed) % 2 == 1) asleep.fetch_add(1, std::memory_order_seq_cst);
}

void Board::Ring() {
  for (uint32_t peer = 0; peer < size_; ++peer) {
    if (peer == rank_ || boards_[peer].words == nullptr) continue;
    const uint64_t asleep = boards_[peer].words->asleep.load(std::memory_order_seq_cst);
    if (asleep % 2 == 0 || std::exchange(rung_[peer], asleep) == asleep) continue;
    if (const std::shared_ptr<Communicator> communicator = communicator_.lock()) communicator->Send(peer, kBoardRing, "");
  }
}

void Board::Rung() {
  StayAwake();
  LookAll();
  FallAsleep();
}

int Board::Help(int leaving) {
  if (g_waiting.load(std::memory_order_relaxed) == 0) return 0;
  IoThread& io = IoThread::Get();
  if (leaving != 0) {
    io.Run([] { ForAllBoards([](Board& board) { board.FallAsleep(); }); });
    return 0;
  }
  io.Try([] {
    ForAllBoards([](Board& board) {
      board.StayAwake();
      board.LookAll();
    });
  });
  if (g_waiting.load(std::memory_order_relaxed) == 0) return 0;
  return g_crowded.load(std::memory_order_relaxed) ? 2 : 1;
}

// --- Ends ----------------------------------------------------------------------------------------------------------------

// What is there already is enough for it, perhaps.
void Board::End(uint64_t ticket, HcclResult result, const std::string& why) {
  for (const bool last : {false, true}) {
    const auto found = waiters_.find(ticket);
    if (found == waiters_.end()) return;
    last ? found->second->Off(result, why) : found->second->Look();
  }
}

void Board::OtherWay(uint32_t peer, uint64_t number) {
  if (state() != State::kReady) return;
  End(number + 1, HCCL_E_INTERNAL, RankText(peer) + " comes with another count or type: they must be the same on all ranks");
}

void Board::TakenOff(uint32_t peer, uint64_t number, const std::string& why) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  if (!communicator) return;
  const std::string text = RankText(peer) + " gave up: " + why;
  if (waiters_.count(number + 1) == 0) off_[number + 1] = text;
  End(number + 1, HCCL_E_REMOTE, text);
  Exchange::Of(*communicator)->GaveUp(peer, number, why);
}

void Board::PeerEnded(uint32_t peer, HcclResult why) {
  Decide(State::kRefused);
  std::vector<uint64_t> tickets;
  for (const auto& [ticket, waiter] : waiters_) tickets.push_back(ticket);
  const HcclResult result = why == HCCL_SUCCESS ? HCCL_E_REMOTE : why;
  for (const uint64_t ticket : tickets) End(ticket, result, RankText(peer) + ": " + LossText(why));
}

void Board::Destroyed() {
  Decide(State::kRefused);
  while (!waiters_.empty()) {
    const auto first = waiters_.begin();
    BoardWaiter* const waiter = first->second;
    waiter->Off(HCCL_E_REMOTE, "the communicator is destroyed");
  }
}

void Board::SendAll(uint16_t type, const std::string& body) {
  const std::shared_ptr<Communicator> communicator = communicator_.lock();
  for (uint32_t peer = 0; peer < size_ && communicator; ++peer) {
    if (peer != rank_) communicator->Send(peer, type, body);
  }
}

}  // namespace ropeway::comm
