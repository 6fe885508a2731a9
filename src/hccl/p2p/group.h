// The sends and receives of one call as one item of a stream: all begin together, so that none waits for another of the
// same rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hccl/membership/stream_op.h"
#include "hccl/p2p/exchange.h"
#include "hccl/p2p/p2p_transfer.h"

namespace ropeway::comm {

class TransferGroup final : public StreamOp {
 public:
  // `call`: the function's name, for messages.
  TransferGroup(std::shared_ptr<Communicator> communicator, const char* call, std::vector<TransferRef> transfers);
  // Numbers the transfers and queues the group. The runtime's code when the stream does not take it.
  aclError Enqueue(void* stream);

 private:
  std::shared_ptr<StreamOp> Again() override;
  void TakeNumbers() RW_REQUIRES(exchange_->order);
  void Started() override;
  bool StartsAnywhere() const override;
  bool ExpectsNews() const override;
  void Dropped() override;
  void Revoked() override;
  ropewayTransfer Description() const override;
  uint64_t NameOf(const Transfer& transfer);
  void OneOver(HcclResult result, const std::string& why);
  void WithdrawAll();

  const char* const call_;
  const std::shared_ptr<Exchange> exchange_;
  const std::vector<TransferRef> transfers_;
  size_t left_;
  HcclResult failure_ = HCCL_SUCCESS;
  std::string why_;
  bool dropped_ = false;
};

}  // namespace ropeway::comm
