#include "hccl/link/stream_transfer.h"

#include <new>

#include "hccl/membership/communicator.h"
#include "hccl/membership/number_table.h"
#include "hccl/membership/stream_code.h"
#include "hccl/membership/stream_op.h"
#include "hccl/transport/waiter_looks.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// Beyond, the threads that move bytes need the cores more than those who wait.
constexpr uint64_t kLookedForBytes = 256 << 10;

struct StreamTransfer {
  LinkTarget target;
  bool put;
  std::vector<TransferItem> items;
  std::string unfit;  // why it cannot be
  // Closed when the stream gives it up, so that nobody touches the local side afterwards.
  std::shared_ptr<Lease> lease = std::make_shared<Lease>();
};

// Those that a stream waits for, or will.
NumberTable<StreamTransfer>& Transfers() {
  static auto* const table = new NumberTable<StreamTransfer>;
  return *table;
}

// What graphs do again, while they live.
struct Pattern {
  LinkTarget target;
  bool put;
  LookAgain again;
};
NumberTable<Pattern>& Patterns() {
  static auto* const table = new NumberTable<Pattern>;
  return *table;
}

// `wanted`: its stream has not given it up. What a stream gave up is nobody's error.
void Finish(const StreamTransfer& transfer, bool wanted, ropewayOperation operation, const TransferEnd& end) {
  if (end.code == HCCL_SUCCESS || !wanted) {
    ropewayFinishOperation(operation, 0, nullptr);
    return;
  }
  const std::string text =
      std::string(transfer.put ? "a put to" : "a get from") + " rank " + std::to_string(transfer.target.rank) + " failed: " + end.text;
  // First the cause, then the stream: whoever is woken by the stream's error finds the communicator's.
  if (const auto communicator = transfer.target.communicator.lock()) communicator->SetAsyncError(end.code, text);
  ropewayFinishOperation(operation, StreamCode(end.code), text.c_str());
}

void Start(void* argument, ropewayOperation operation) {
  const uint64_t number = NumberOf(argument);
  const std::shared_ptr<StreamTransfer> transfer = Transfers().Find(number);
  if (transfer == nullptr) {  // given up in the same moment
    ropewayFinishOperation(operation, 0, nullptr);
    return;
  }
  const auto news = std::make_shared<NewsExpected>();
  const auto done = [transfer, number, operation, news](const TransferEnd& end) {
    news->Came();
    const bool wanted = Transfers().Remove(number) != nullptr;
    Finish(*transfer, wanted, operation, end);
  };
  if (!transfer->unfit.empty()) return done({HCCL_E_PARA, transfer->unfit});
  ropewayTransfer carried{WayOver(ChosenLink()), transfer->target.rank, 0, static_cast<uint32_t>(transfer->items.size())};
  for (const TransferItem& item : transfer->items) carried.bytes += item.size;
  ropewayTellTransfer(operation, &carried);
  if (carried.bytes <= kLookedForBytes) news->Expect(false);
  transfer->target.peer->Move(transfer->put, transfer->items, transfer->lease, done);
}

void Drop(void* argument, int32_t) {
  if (const auto transfer = Transfers().Remove(NumberOf(argument))) transfer->lease->Close();
}

void* Repeat(void* argument) try {
  const std::shared_ptr<Pattern> pattern = Patterns().Find(NumberOf(argument));
  auto transfer = std::make_shared<StreamTransfer>(StreamTransfer{pattern->target, pattern->put, {}, ""});
  comm::Result<std::vector<TransferItem>> items = pattern->again();
  if (items.ok())
    transfer->items = std::move(items.value());
  else
    transfer->unfit = items.status().text();
  return AsArgument(Transfers().Add(std::move(transfer)));
} catch (const std::bad_alloc&) {
  return nullptr;
}

void Forget(void* argument) { Patterns().Remove(NumberOf(argument)); }

comm::Status Capture(const LinkTarget& target, bool put, LookAgain again, void* stream) {
  const uint64_t number = Patterns().Add(std::make_shared<Pattern>(Pattern{target, put, std::move(again)}));
  const aclError code = ropewayCaptureOperation(Start, Drop, Repeat, Forget, AsArgument(number), stream);
  if (code != 0) Patterns().Remove(number);
  return comm::FromRuntime("ropewayCaptureOperation", code);
}

}  // namespace

comm::Status LaunchTransfer(const LinkTarget& target, bool put, std::vector<TransferItem> items, LookAgain again, void* stream) {
  if (IsCaptured(stream)) return Capture(target, put, std::move(again), stream);
  const uint64_t number = Transfers().Add(std::make_shared<StreamTransfer>(StreamTransfer{target, put, std::move(items), ""}));
  const aclError code = ropewayLaunchBriefOperation(Start, Drop, AsArgument(number), stream);
  if (code != 0) Transfers().Remove(number);
  return comm::FromRuntime("ropewayLaunchOperation", code);
}

}  // namespace ropeway::comm
