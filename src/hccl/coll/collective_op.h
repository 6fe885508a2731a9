// Carries out a rank's plan as one item of a stream: begins its sends and receives, and what it computes by itself in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hccl/coll/board.h"
#include "hccl/coll/board_work.h"
#include "hccl/coll/launch.h"
#include "hccl/membership/stream_op.h"
#include "hccl/p2p/exchange.h"

namespace ropeway::comm {

// Where a place of the plan is.
struct PlaceMemory {
  char* address = nullptr;  // as the engine knows it
  char* view = nullptr;     // as the host reaches it; null when the engine has no host access
  uint64_t bytes = 0;       // of input and output
};
// HCCL_E_PARA for what is not inside one block of device memory. None without bytes.
Result<PlaceMemory> OpenPlace(const void* memory, uint64_t bytes);

// Device memory, freed in its context.
struct DeviceScratch {
  DeviceScratch(void* memory_, aclrtContext context_) : memory(memory_), context(context_) {}
  ~DeviceScratch();
  DeviceScratch(const DeviceScratch&) = delete;
  DeviceScratch& operator=(const DeviceScratch&) = delete;
  void* const memory;
  const aclrtContext context;
};

class CollectiveOp final : public StreamOp, private BoardWaiter {
 public:
  struct Setting {
    const char* call = nullptr;
    CollectiveShape shape;         // of what goes over the board
    std::shared_ptr<Board> board;  // null: there is none
    bool on_board = false;         // it goes over the board, if that can be had; else the plan is carried out
    bool board_ready = false;      // it can: there is no plan
    CollectivePlan plan;
    PlaceMemory input;
    PlaceMemory output;
    uint64_t element_bytes = 1;
    ReduceKernel kernel = nullptr;
    aclrtContext context = nullptr;
    int32_t device = 0;
  };
  // `input_copy`: what the input is, when it is none of the program's.
  CollectiveOp(const std::shared_ptr<Communicator>& communicator, Setting setting, std::shared_ptr<DeviceScratch> input_copy);
  // The runtime's code when the stream does not take it.
  aclError Enqueue(void* stream);

 private:
  std::shared_ptr<StreamOp> Again() override;
  void TakeNumbers() RW_REQUIRES(exchange_->order);
  void Started() override;
  void Dropped() override;
  void Revoked() override;
  ropewayTransfer Description() const override;

  TransferRef TransferOf(const Step& step) const;
  PlaceMemory At(const Span& span) const;
  bool Perform(size_t index);
  bool BeginTransfer(size_t index);
  bool CopyHere(const Step& step);
  bool ReduceHere(const Step& step);
  void Advance();
  void TransferOver(bool sending, HcclResult result, const std::string& why);
  void Fail(HcclResult result, const std::string& why);
  void WithdrawAll(const std::string& why);
  void EndIfIdle();

  bool StartsAnywhere() const override { return setting_.board_ready; }
  void Look() override;
  void Off(HcclResult result, const std::string& why) override;
  bool BringToBoard();
  bool TakeFromBoard();
  bool GatherFromBoard();
  void FindSlots(const char** slots) const;
  BoardWork WorkOnBoard() const;
  void LeaveBoard(const std::string& off);

  const Setting setting_;
  const std::shared_ptr<Exchange> exchange_;
  mutable std::vector<char> scratch_;
  std::vector<TransferRef> transfers_;  // by step; null for the others. Not changed once it is launched
  Lease lease_;                         // on input and output

  BoardSeat seat_;  // with a board

  // Of the I/O thread.
  enum class Stage { kNotThere, kEntered, kPosted, kReduced, kTaken, kLeft } stage_ = Stage::kNotThere;  // on the board
  std::shared_ptr<DeviceScratch> input_copy_;  // of a pattern: all that are made after it have it, one after the other
  size_t at_ = 0;                              // the next step
  bool advancing_ = false;
  bool busy_ = false;  // a copy of this rank alone
  size_t sending_ = 0;
  size_t receiving_ = 0;
  HcclResult failure_ = HCCL_SUCCESS;
  std::string why_;
  bool dropped_ = false;
};

}  // namespace ropeway::comm
