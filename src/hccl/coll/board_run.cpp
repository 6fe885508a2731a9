#include "hccl/coll/board_run.h"

namespace ropeway::comm {

void BoardRun::TakeOver(const BoardRun& other) {
  seat_ = other.seat_;
  stage_ = other.stage_;
  stays_in_place_ = other.stays_in_place_.load();
  began_ns_ = other.began_ns_;
}

BoardRun::Outcome BoardRun::Advance(HcclResult* result, std::string* why) {
  if (stage_ == Stage::kNotThere && !board_->IsFree(seat_)) return Outcome::kWaits;
  if (stage_ == Stage::kNotThere && !Bring()) return Outcome::kTakenAway;
  if (stage_ == Stage::kPosted) {
    if (!board_->AllPosted(seat_)) return Outcome::kWaits;
    if (!board_->AllBring(seat_, work_.bytes)) {
      *why = board_->OtherBytes(seat_, work_.bytes);
      *result = HCCL_E_INTERNAL;
      return Outcome::kFailed;
    }
    const Outcome taken = work_.OnlyCopies() ? CopyFromOthers(result, why) : Reduce(result, why);
    if (taken != Outcome::kOver) return taken;
  }
  if (stage_ == Stage::kReduced) {
    if (!board_->AllReduced(seat_)) return Outcome::kWaits;
    const Outcome gathered = Gather(result, why);
    if (gathered != Outcome::kOver) return gathered;
  }
  if (stage_ != Stage::kTaken || (stays_in_place_ && !board_->AllTaken(seat_))) return Outcome::kWaits;
  stage_ = Stage::kLeft;
  board_->LeaveSilently(seat_);
  if (began_ns_ != 0) WayOfBlocks().Took(stays_in_place_ ? Board::kInPlace : Board::kThroughSlot, NowNs() - began_ns_);
  return Outcome::kOver;
}

bool BoardRun::Bring() {
  const bool chooses = work_.MayStay() && board_->ReadsInPlace();
  if (chooses) began_ns_ = NowNs();
  const bool stays = work_.MustStay() || (chooses && WayOfBlocks().Choose() == Board::kInPlace);
  const auto bring = [&] {
    if (stays)
      stays_in_place_ = true;  // whoever closes the lease looks at it afterwards
    else
      work_.Bring(board_->OwnSlot(seat_));
  };
  if (!Use(bring)) return false;
  stage_ = Stage::kPosted;
  board_->Post(seat_, work_.bytes, stays ? work_.input : nullptr);
  return true;
}

// `read` answers whose memory it could not read, else nobody's.
template <typename Function>
BoardRun::Outcome BoardRun::ReadOthers(const Function& read, HcclResult* result, std::string* why) {
  const uint32_t nobody = work_.ranks;
  uint32_t unread = nobody;
  if (!Use([&] { unread = read(); })) return Outcome::kTakenAway;
  if (unread == nobody && board_->SomeAreInPlace(seat_)) unread = board_->RevokedBy(seat_);
  if (unread == nobody) return Outcome::kOver;
  *result = HCCL_E_REMOTE;
  *why = "rank " + std::to_string(unread) + " took its memory away: its stream was aborted, failed or waited too long";
  return Outcome::kFailed;
}

BoardRun::Outcome BoardRun::CopyFromOthers(HcclResult* result, std::string* why) {
  const auto read = [&](uint32_t rank, uint64_t offset, uint64_t bytes, char* to) { return board_->Read(rank, seat_, offset, bytes, to); };
  const Outcome copied = ReadOthers([&] { return work_.CopyBlocks(read); }, result, why);
  if (copied != Outcome::kOver) return copied;
  stage_ = Stage::kTaken;
  if (board_->SomeAreInPlace(seat_)) board_->PostTaken(seat_);
  return Use([&] { work_.CopyOwnBlock(); }) ? Outcome::kOver : Outcome::kTakenAway;
}

BoardRun::Outcome BoardRun::Reduce(HcclResult* result, std::string* why) {
  const bool in_place = work_.MustStay();
  const char* slots[kDirectRanks] = {};
  FindSlots(slots);
  const auto read = [&](uint32_t rank, uint64_t offset, uint64_t bytes, char* to) { return board_->Read(rank, seat_, offset, bytes, to); };
  const auto reduce = [&] {
    if (in_place) return work_.ReduceOwnPart(read);
    work_.Reduce(slots, board_->OwnSlot(seat_));
    return work_.ranks;
  };
  const Outcome reduced = ReadOthers(reduce, result, why);
  if (reduced != Outcome::kOver) return reduced;
  stage_ = work_.HasTwoStages() ? Stage::kReduced : Stage::kTaken;
  if (work_.HasTwoStages()) board_->PostReduced(seat_, in_place ? work_.output : nullptr);
  return Outcome::kOver;
}

BoardRun::Outcome BoardRun::Gather(HcclResult* result, std::string* why) {
  const char* slots[kDirectRanks] = {};
  FindSlots(slots);
  const auto read = [&](uint32_t rank, uint64_t offset, uint64_t bytes, char* to) {
    return board_->ReadResult(rank, seat_, offset, bytes, to);
  };
  const auto gather = [&] {
    if (work_.MustStay()) return work_.GatherParts(read);
    work_.Gather(slots);
    return work_.ranks;
  };
  const Outcome gathered = ReadOthers(gather, result, why);
  if (gathered != Outcome::kOver) return gathered;
  stage_ = Stage::kTaken;
  if (work_.MustStay()) board_->PostTaken(seat_);
  return Outcome::kOver;
}

void BoardRun::FindSlots(const char** slots) const {
  for (uint32_t rank = 0; rank < work_.ranks; ++rank) slots[rank] = board_->SlotOf(rank, seat_);
}

// Only others may still be waited for, who read here: who cannot any more is told so.
bool BoardRun::GiveUp(const std::string& why) {
  const bool has_all = stage_ == Stage::kTaken;
  if (has_all) board_->Revoke(seat_);
  Leave(has_all ? "" : why);
  return has_all;
}

void BoardRun::Leave(const std::string& off) {
  if (stage_ == Stage::kLeft) return;
  stage_ = Stage::kLeft;
  board_->Leave(seat_, off);
}

}  // namespace ropeway::comm
