// One collective's way over the board, from stage to stage as the others let it go. Who has the turn of the I/O thread goes on with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/cores.h"
#include "base/spin_lock.h"
#include "hccl/coll/board.h"
#include "hccl/coll/board_work.h"
#include "hccl/transport/window.h"

namespace ropeway::comm {

class BoardRun {
 public:
  // `lease`: on input and output; null where nobody takes them away meanwhile.
  BoardRun(Board* board, const BoardWork& work, Lease* lease) : board_(board), work_(work), lease_(lease) {}
  // Before it begins; or as another one leaves it, which is done then.
  void Take(const BoardSeat& seat) { seat_ = seat; }
  void TakeOver(const BoardRun& other);

  enum class Outcome {
    kWaits,
    kOver,
    kTakenAway,  // the stream has taken its memory back, and is going to say so
    kFailed,     // `why` tells
  };
  // As far as it goes now. The board is ready.
  Outcome Advance(HcclResult* result, std::string* why);
  // It does not go on. Whether all that this rank needs is there, so that it is over all the same.
  bool GiveUp(const std::string& why);
  // `off` as for Board::Leave. Only the first call counts.
  void Leave(const std::string& off);
  // On the thread that has closed the lease: nobody may believe what is read here from now on.
  void Revoke() const {
    if (stays_in_place_) board_->Revoke(seat_);
  }

  bool begun() const { return stage_ != Stage::kNotThere; }
  bool left() const { return stage_ == Stage::kLeft; }
  // Nothing has changed since the last time, as it is most often.
  bool StillWaits() const { return stage_ == Stage::kPosted && !board_->AllPosted(seat_); }
  const BoardSeat& seat() const { return seat_; }
  const BoardWork& work() const { return work_; }
  // Which of its stages, for who wants to know whether it got on.
  int progress() const { return static_cast<int>(stage_); }

 private:
  template <typename Function>
  bool Use(const Function& use) {
    return lease_ == nullptr ? (use(), true) : lease_->Use(use);
  }
  bool Bring();
  Outcome CopyFromOthers(HcclResult* result, std::string* why);
  Outcome Reduce(HcclResult* result, std::string* why);
  Outcome Gather(HcclResult* result, std::string* why);
  template <typename Function>
  Outcome ReadOthers(const Function& read, HcclResult* result, std::string* why);
  void FindSlots(const char** slots) const;
  FasterWay& WayOfBlocks() const { return board_->WayOfBlocks(work_.shape.what, work_.block_bytes()); }

  Board* const board_;
  const BoardWork work_;
  Lease* const lease_;
  BoardSeat seat_;
  enum class Stage : uint8_t { kNotThere, kPosted, kReduced, kTaken, kLeft } stage_ = Stage::kNotThere;
  std::atomic<bool> stays_in_place_{false};  // the others read the input where it is
  int64_t began_ns_ = 0;                     // of those that may go either way
};

inline bool RanksShareCores(uint32_t ranks) {
  static const auto cores = static_cast<uint32_t>(UsableCores());
  return ranks > cores;
}

// Looks at what has just begun until nothing has come for about a microsecond: those who call at the same moment are here by then, if each
// has a core.
template <typename Look>
void LookAWhile(const BoardRun& run, uint32_t ranks, const Look& look) {
  const int glances = RanksShareCores(ranks) ? 3 : 60;
  look();
  for (int i = 0; i < glances && !run.left(); ++i) {
    CpuRelax();
    const int before = run.progress();
    look();
    if (run.progress() != before) i = 0;
  }
}

}  // namespace ropeway::comm
