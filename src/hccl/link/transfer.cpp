#include "hccl/link/transfer.h"

#include "hccl/rank/communicator.h"
#include "hccl/rank/stream_code.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// Owned by the stream until it starts, by the link from then on.
struct StreamTransfer {
  LinkTarget target;
  bool put;
  std::vector<TransferItem> items;
};

void Finish(const StreamTransfer& transfer, ropewayOperation operation, const TransferEnd& end) {
  if (end.code == HCCL_SUCCESS) {
    ropewayFinishOperation(operation, 0, nullptr);
    return;
  }
  const std::string text = std::string(transfer.put ? "a put to" : "a get from") + " rank " + std::to_string(transfer.target.rank) +
                           " failed: " + end.text;
  // First the cause, then the stream: whoever is woken by the stream's error finds the communicator's.
  if (const auto communicator = transfer.target.communicator.lock()) communicator->SetAsyncError(end.code, text);
  ropewayFinishOperation(operation, StreamCode(end.code), text.c_str());
}

void Start(void* argument, ropewayOperation operation) {
  const std::shared_ptr<StreamTransfer> transfer(static_cast<StreamTransfer*>(argument));
  const auto done = [transfer, operation](const TransferEnd& end) { Finish(*transfer, operation, end); };
  Peer& peer = *transfer->target.peer;
  if (transfer->put)
    peer.Put(transfer->items, done);
  else
    peer.Get(transfer->items, done);
}

void Drop(void* argument, int32_t started) {
  if (started == 0) delete static_cast<StreamTransfer*>(argument);
}

}  // namespace

comm::Status LaunchTransfer(const LinkTarget& target, bool put, std::vector<TransferItem> items, void* stream) {
  auto transfer = std::make_unique<StreamTransfer>(StreamTransfer{target, put, std::move(items)});
  RW_TRY(comm::FromRuntime("ropewayLaunchOperation", ropewayLaunchOperation(Start, Drop, transfer.get(), stream)));
  transfer.release();
  return comm::Ok();
}

}  // namespace ropeway::comm
