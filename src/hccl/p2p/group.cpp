#include "hccl/p2p/group.h"

#include <algorithm>
#include <functional>

#include "base/mutex.h"
#include "hccl/p2p/host_view.h"
#include "hccl/p2p/messages.h"

namespace ropeway::comm {
namespace {

// The same bytes once more; the memory may be gone since, or other memory may be there.
TransferRef AgainAfter(const Transfer& pattern, std::string* wrong) {
  auto transfer = std::make_shared<Transfer>();
  transfer->sending = pattern.sending;
  transfer->peer = pattern.peer;
  transfer->buffer = pattern.buffer;
  transfer->bytes = pattern.bytes;
  transfer->device = pattern.device;
  transfer->context = pattern.context;
  Result<void*> view = HostViewOf(pattern.buffer, pattern.bytes);
  if (!view.ok())
    *wrong = view.status().text();
  else
    transfer->SetView(view.value());
  return transfer;
}

bool IsSmall(const Transfer& transfer) { return transfer.bytes <= (transfer.of_many ? kInlineBytes : kKeptBytes); }

}  // namespace

TransferGroup::TransferGroup(std::shared_ptr<Communicator> communicator, const char* call, std::vector<TransferRef> transfers)
    : StreamOp(communicator), call_(call), exchange_(Exchange::Of(*communicator)), transfers_(std::move(transfers)),
      left_(transfers_.size()) {
  uint64_t bytes = 0;
  for (const TransferRef& transfer : transfers_) bytes += transfer->bytes;
  for (const TransferRef& transfer : transfers_) transfer->of_many = bytes > kMostTogether;
}

void TransferGroup::TakeNumbers() {
  for (const TransferRef& transfer : transfers_)
    transfer->number = exchange_->NextNumber(communicator(), transfer->peer, transfer->sending)++;
}

std::shared_ptr<StreamOp> TransferGroup::Again() {
  std::vector<TransferRef> transfers;
  std::string wrong;
  for (const TransferRef& pattern : transfers_) transfers.push_back(AgainAfter(*pattern, &wrong));
  const auto op = std::make_shared<TransferGroup>(communicator().shared_from_this(), call_, std::move(transfers));
  if (!wrong.empty()) op->SetUnfit(std::string(call_) + ": " + wrong);
  LockGuard lock(op->exchange_->order);
  op->TakeNumbers();
  return op;
}

aclError TransferGroup::Enqueue(void* stream) {
  if (IsCaptured(stream)) return Capture(stream);
  LockGuard lock(exchange_->order);
  TakeNumbers();
  const aclError code = Launch(stream);
  if (code == 0) return code;
  for (const TransferRef& transfer : transfers_) --exchange_->NextNumber(communicator(), transfer->peer, transfer->sending);
  return code;
}

void TransferGroup::Started() {
  const auto self = std::static_pointer_cast<TransferGroup>(shared_from_this());
  for (const TransferRef& transfer : transfers_) {
    transfer->done = [self](HcclResult result, const std::string& why) { self->OneOver(result, why); };
    TellMessage(NameOf(*transfer), transfer->sending);
    exchange_->Begin(transfer);
  }
}

// What goes inside a message to another process, or to another host, is begun without the engine.
bool TransferGroup::StartsAnywhere() const {
  return std::all_of(transfers_.begin(), transfers_.end(), [this](const TransferRef& transfer) {
    return (IsSmall(*transfer) || !communicator().SameHost(transfer->peer)) && transfer->view &&
           !communicator().SameProcess(transfer->peer);
  });
}

bool TransferGroup::ExpectsNews() const {
  return std::all_of(transfers_.begin(), transfers_.end(),
                     [this](const TransferRef& transfer) { return IsSmall(*transfer) && !communicator().SameProcess(transfer->peer); });
}

// Both ranks make the same of what both know.
uint64_t TransferGroup::NameOf(const Transfer& transfer) {
  const Communicator& ranks = communicator();
  const uint32_t from = transfer.sending ? ranks.rank() : transfer.peer, to = transfer.sending ? transfer.peer : ranks.rank();
  uint64_t name = std::hash<std::string>()(ranks.name());
  for (const uint64_t part : {ranks.peer(from).process, ranks.peer(to).process, uint64_t{from}, uint64_t{to}, transfer.number})
    name = (name ^ part) * 0x9E3779B97F4A7C15ull + (name >> 29);
  return name;
}

void TransferGroup::OneOver(HcclResult result, const std::string& why) {
  if (dropped_) return;
  const bool first_failure = failure_ == HCCL_SUCCESS && result != HCCL_SUCCESS;
  if (first_failure) {
    failure_ = result;
    why_ = std::string(call_) + ": " + why;
  }
  if (--left_ == 0) return Finish(failure_, why_);
  // The stream fails, so its memory may be gone soon: the others end, too. A moment later, when all have begun.
  if (first_failure) {
    IoThread::Get().Post([self = std::static_pointer_cast<TransferGroup>(shared_from_this())] { self->WithdrawAll(); });
  }
}

void TransferGroup::WithdrawAll() {
  for (const TransferRef& transfer : transfers_) exchange_->Withdraw(transfer, "another item of the same call failed");
}

ropewayTransfer TransferGroup::Description() const {
  ropewayTransfer all{transfers_[0]->way, transfers_[0]->peer, 0, static_cast<uint32_t>(transfers_.size())};
  for (const TransferRef& transfer : transfers_) {
    all.bytes += transfer->bytes;
    if (transfer->peer != all.rank) all.rank = ROPEWAY_ALL_RANKS;
    if (transfer->way != all.link) all.link = ROPEWAY_LINK_SEVERAL;
  }
  return all;
}

void TransferGroup::Revoked() {
  for (const TransferRef& transfer : transfers_) transfer->Revoke();
}

void TransferGroup::Dropped() {
  dropped_ = true;
  for (const TransferRef& transfer : transfers_) exchange_->Withdraw(transfer, "its stream was aborted, failed or waited too long");
}

}  // namespace ropeway::comm
