// Carries out a rank's plan as one item of a stream: begins its sends and receives, and what it computes by itself in between.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "hccl/coll/board_run.h"
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

// Memory of a collective's own, freed in its context a moment after it goes: by aclrtFree or aclrtFreeHost.
struct Scratch {
  using Free = aclError (*)(void*);
  Scratch(void* memory_, Free free_, aclrtContext context_) : memory(memory_), free(free_), context(context_) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* const memory;
  const Free free;
  const aclrtContext context;
};

class CollectiveOp final : public StreamOp, private BoardWaiter {
 public:
  struct Setting {
    const char* call = nullptr;
    CollectiveShape shape;         // of what goes over the board
    Board* board = nullptr;        // the communicator's; null: there is none
    BoardFit fit = BoardFit::kNo;  // how it goes over the board, if that can be had; else the plan is carried out
    bool board_ready = false;      // it can: there is no plan
    std::shared_ptr<const CollectivePlan> plan;
    PlaceMemory input;
    PlaceMemory output;
    // Both are pinned memory in the place of these, which the host cannot reach.
    bool on_host = false;
    PlaceMemory real_input;
    PlaceMemory real_output;
    uint64_t element_bytes = 1;
    ReduceKernel kernel = nullptr;
    aclrtContext context = nullptr;  // this and the device are the plan's
    int32_t device = 0;

    // For as long as this stays where it is.
    BoardWork OnBoard(uint32_t ranks) const { return {shape, ranks, kernel, input.bytes, input.view, output.view}; }
  };
  // `scratch_memory`: where input, or both places, are, when that is no memory of the program's.
  CollectiveOp(const std::shared_ptr<Communicator>& communicator, Setting setting, std::shared_ptr<Scratch> scratch_memory);
  // The runtime's code when the stream does not take it.
  aclError Enqueue(void* stream);
  // The same of one that has a number, and may have begun on the board; under the lock under which it got that.
  aclError GoOn(void* stream, const BoardRun& begun);

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
  void QueueCopy(const PlaceMemory& from, const PlaceMemory& to);
  bool ReduceHere(const Step& step);
  void Advance();
  void TransferOver(bool sending, HcclResult result, const std::string& why);
  void Fail(HcclResult result, const std::string& why);
  void WithdrawAll(const std::string& why);
  void EndIfIdle();

  void Begin();
  // On pinned memory: what comes in front of everything, and what behind it.
  void Fetch();
  void Store();
  void Succeed();

  bool StartsAnywhere() const override { return !setting_.on_host; }
  bool ExpectsNews() const override;
  void Look() override;
  void Off(HcclResult result, const std::string& why) override;
  bool BoardRefused() const;

  const Setting setting_;
  const std::vector<Step>& steps_;  // of the plan
  const std::shared_ptr<Exchange> exchange_;
  const std::unique_ptr<char[]> scratch_;  // the plan's
  std::vector<TransferRef> transfers_;     // by step; null for the others. Not changed once it is launched
  Lease lease_;                            // on input and output

  // Of the I/O thread.
  BoardRun run_;                             // with a board
  bool on_board_ = false;                    // it has entered
  std::shared_ptr<Scratch> scratch_memory_;  // of a pattern: all that are made after it have it, one after the other
  size_t at_ = 0;                            // the next step
  bool advancing_ = false;
  bool busy_ = false;  // a copy of this rank alone
  bool storing_ = false;
  size_t sending_ = 0;
  size_t receiving_ = 0;
  HcclResult failure_ = HCCL_SUCCESS;
  std::string why_;
  bool dropped_ = false;
};

}  // namespace ropeway::comm
