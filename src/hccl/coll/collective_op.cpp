#include "hccl/coll/collective_op.h"

#include <cstring>

#include "hccl/p2p/host_view.h"
#include "hccl/p2p/messages.h"

namespace ropeway::comm {
namespace {

using Kind = Step::Kind;

const std::vector<Step> kNoSteps;  // of what goes over the board

std::unique_ptr<char[]> ScratchOf(const CollectiveOp::Setting& setting) {
  const uint64_t bytes = setting.plan ? setting.plan->scratch_bytes : 0;
  return bytes == 0 ? nullptr : std::make_unique_for_overwrite<char[]>(bytes);
}

static_assert(kEagerBytes == kInlineBytes, "a plan counts on eager sends where their bytes travel in the offer");

}  // namespace

Result<PlaceMemory> OpenPlace(const void* memory, uint64_t bytes) {
  if (bytes == 0) return PlaceMemory();
  RW_TRY_SET(void* view, HostViewOf(memory, bytes));
  return PlaceMemory{static_cast<char*>(const_cast<void*>(memory)), static_cast<char*>(view), bytes};
}

// On the I/O thread, whose context is nobody's: the one that lets go of it may be a thread of the program.
Scratch::~Scratch() {
  IoThread::Get().Post([memory = memory, free = free, context = context] {
    if (aclrtSetCurrentContext(context) == ACL_SUCCESS)
      free(memory);
    else
      aclGetRecentErrMsg();  // a context that is gone took it along
  });
}

CollectiveOp::CollectiveOp(const std::shared_ptr<Communicator>& communicator, Setting setting, std::shared_ptr<Scratch> scratch_memory)
    : StreamOp(communicator), setting_(std::move(setting)), steps_(setting_.plan ? setting_.plan->steps : kNoSteps),
      exchange_(Exchange::Of(*communicator)), scratch_(ScratchOf(setting_)),
      run_(setting_.board, setting_.OnBoard(communicator->size()), &lease_), scratch_memory_(std::move(scratch_memory)) {
  transfers_.reserve(steps_.size());
  for (const Step& step : steps_) transfers_.push_back(step.IsTransfer() ? TransferOf(step) : nullptr);
}

PlaceMemory CollectiveOp::At(const Span& span) const {
  if (span.place == Place::kScratch) return {nullptr, scratch_.get() + span.offset, span.bytes};
  const PlaceMemory& base = span.place == Place::kInput ? setting_.input : setting_.output;
  return {base.address + span.offset, base.view == nullptr ? nullptr : base.view + span.offset, span.bytes};
}

TransferRef CollectiveOp::TransferOf(const Step& step) const {
  auto transfer = std::make_shared<Transfer>();
  transfer->sending = step.kind == Kind::kSend;
  transfer->eager = transfer->sending;
  transfer->peer = step.peer;
  const Span& span = transfer->sending ? step.from : step.to;
  const PlaceMemory memory = At(span);
  transfer->buffer = memory.address;
  transfer->bytes = span.bytes;
  transfer->device = setting_.device;
  transfer->context = setting_.context;
  transfer->on_host = setting_.on_host;
  transfer->SetView(memory.view);
  if (step.kind == Kind::kCombine)
    transfer->combination = {setting_.kernel, At(step.from).view, span.bytes / setting_.element_bytes, step.peer_first};
  return transfer;
}

void CollectiveOp::TakeNumbers() {
  uint64_t& next = exchange_->NextCollective(communicator());
  run_.Take({next + 1});
  for (size_t i = 0; i < transfers_.size(); ++i) {
    if (transfers_[i]) transfers_[i]->number = CollectiveNumber(next, steps_[i].message);
  }
  ++next;
}

aclError CollectiveOp::Enqueue(void* stream) {
  if (IsCaptured(stream)) return Capture(stream);
  LockGuard lock(exchange_->order);
  TakeNumbers();
  const aclError code = Launch(stream);
  if (code != ACL_SUCCESS) --exchange_->NextCollective(communicator());
  return code;
}

aclError CollectiveOp::GoOn(void* stream, const BoardRun& begun) {
  run_.TakeOver(begun);
  const aclError code = Launch(stream);
  if (code == ACL_SUCCESS || !begun.begun()) return code;
  Revoked();
  IoThread::Get().Run([self = std::static_pointer_cast<CollectiveOp>(shared_from_this())] { self->Dropped(); });
  return code;
}

std::shared_ptr<StreamOp> CollectiveOp::Again() {
  Setting setting = setting_;
  std::string wrong;
  for (PlaceMemory* place :
       {setting.on_host ? &setting.real_input : &setting.input, setting.on_host ? &setting.real_output : &setting.output}) {
    Result<PlaceMemory> opened = OpenPlace(place->address, place->bytes);
    if (opened.ok())
      *place = opened.value();
    else
      wrong = std::string(setting.call) + ": " + opened.status().text();
  }
  const auto op = std::make_shared<CollectiveOp>(communicator().shared_from_this(), std::move(setting), scratch_memory_);
  if (!wrong.empty()) op->SetUnfit(wrong);
  LockGuard lock(op->exchange_->order);
  op->TakeNumbers();
  return op;
}

bool CollectiveOp::ExpectsNews() const {
  if (setting_.board_ready) return false;
  uint64_t most = 0;
  for (const TransferRef& transfer : transfers_) {
    if (transfer && !communicator().SameProcess(transfer->peer)) most = std::max(most, transfer->bytes);
  }
  return most > 0 && most <= exchange_->most_carried();
}

void CollectiveOp::Started() { setting_.on_host ? Fetch() : Begin(); }

void CollectiveOp::Fetch() {
  const auto self = std::static_pointer_cast<CollectiveOp>(shared_from_this());
  const PlaceMemory &to = setting_.input, &from = setting_.real_input;
  exchange_->lane().Copy(setting_.context, to.address, from.address, to.bytes, ACL_MEMCPY_DEVICE_TO_HOST, -1,
                         [self](const std::string& failure) {
                           if (self->dropped_) return;
                           if (failure.empty()) return self->Begin();
                           self->exchange_->lane().Discard(self->setting_.context);
                           if (self->setting_.board) return self->Off(HCCL_E_RUNTIME, failure);
                           self->Fail(HCCL_E_RUNTIME, failure);
                           self->EndIfIdle();
                         });
}

// The I/O thread's, and who stands in for it may come here.
void CollectiveOp::Succeed() {
  if (!setting_.on_host || setting_.output.bytes == 0) return Finish(HCCL_SUCCESS, "");
  if (std::exchange(storing_, true)) return;
  IoThread::Get().Post([self = std::static_pointer_cast<CollectiveOp>(shared_from_this())] {
    if (!self->dropped_) self->Store();
  });
}

void CollectiveOp::Store() {
  const auto self = std::static_pointer_cast<CollectiveOp>(shared_from_this());
  const PlaceMemory &to = setting_.real_output, &from = setting_.output;
  exchange_->lane().Copy(setting_.context, to.address, from.address, to.bytes, ACL_MEMCPY_HOST_TO_DEVICE, -1,
                         [self](const std::string& failure) {
                           if (self->dropped_) return;
                           self->scratch_memory_.reset();
                           if (failure.empty()) return self->Finish(HCCL_SUCCESS, "");
                           self->exchange_->lane().Discard(self->setting_.context);
                           self->Finish(HCCL_E_RUNTIME, std::string(self->setting_.call) + ": " + failure);
                         });
}

void CollectiveOp::Begin() {
  if (setting_.fit == BoardFit::kNo) {
    if (setting_.board) run_.Leave("");
    return Advance();
  }
  on_board_ = true;
  setting_.board->Enter(communicator(), *exchange_, run_.seat(), this);
  if (setting_.board_ready)
    LookAWhile(run_, communicator().size(), [this] { Look(); });
  else
    Look();
  // A thread of the program that has started it is going to wait for it, as a rule, and looks then.
  IoThread::Get().IsVisited() ? setting_.board->FallAsleepSoon() : setting_.board->FallAsleep();
}

// As far as the board lets it go.
void CollectiveOp::Look() {
  if (!on_board_ || run_.StillWaits()) return;
  const std::shared_ptr<StreamOp> self = shared_from_this();
  if (BoardRefused()) {
    on_board_ = false;
    run_.Leave("");
    return Advance();
  }
  if (setting_.board->state() == Board::State::kUnknown) return;
  HcclResult result = HCCL_SUCCESS;
  std::string why;
  const BoardRun::Outcome outcome = run_.Advance(&result, &why);
  if (outcome == BoardRun::Outcome::kFailed) Off(result, why);
  if (outcome == BoardRun::Outcome::kOver) Succeed();
}

// Known now, when it was not at the call: it goes by the plan.
bool CollectiveOp::BoardRefused() const {
  if (setting_.board_ready) return false;
  const Board::State state = setting_.board->state();
  return state == Board::State::kRefused ||
         (state == Board::State::kReady && setting_.fit == BoardFit::kLargeInPlace && !setting_.board->ReadsLarge());
}

void CollectiveOp::Off(HcclResult result, const std::string& why) {
  const std::shared_ptr<StreamOp> self = shared_from_this();
  if (run_.GiveUp(why)) return Succeed();
  Finish(result, std::string(setting_.call) + ": " + why);
  if (setting_.board_ready) return;
  IoThread::Get().Post([op = std::static_pointer_cast<CollectiveOp>(self), why] { op->WithdrawAll(why); });
}

// Goes on as far as it can. What ends a transfer at once calls it again, from inside.
void CollectiveOp::Advance() {
  if (std::exchange(advancing_, true)) return;
  while (!busy_ && failure_ == HCCL_SUCCESS && !dropped_ && at_ < steps_.size() && Perform(at_)) ++at_;
  advancing_ = false;
  EndIfIdle();
}

void CollectiveOp::EndIfIdle() {
  if (dropped_ || busy_ || sending_ > 0 || receiving_ > 0) return;
  if (failure_ == HCCL_SUCCESS && at_ < steps_.size()) return;
  if (failure_ == HCCL_SUCCESS && setting_.on_host) return Succeed();
  scratch_memory_.reset();
  Finish(failure_, why_);
}

// False: the step waits for something.
bool CollectiveOp::Perform(size_t index) {
  const Step& step = steps_[index];
  switch (step.kind) {
    case Kind::kSend:
    case Kind::kReceive:
    case Kind::kCombine: return BeginTransfer(index);
    case Kind::kCopy: return CopyHere(step);
    case Kind::kReduce: return ReduceHere(step);
    case Kind::kAwait: return receiving_ == 0;
  }
  return true;
}

bool CollectiveOp::BeginTransfer(size_t index) {
  const TransferRef& transfer = transfers_[index];
  ++(transfer->sending ? sending_ : receiving_);
  const auto self = std::static_pointer_cast<CollectiveOp>(shared_from_this());
  transfer->done = [self, sending = transfer->sending](HcclResult result, const std::string& why) {
    self->TransferOver(sending, result, why);
  };
  exchange_->Begin(transfer);
  return true;
}

// What is carried by one thread is copied by it, too: a lane would have to get a core first.
bool CollectiveOp::CopyHere(const Step& step) {
  const PlaceMemory from = At(step.from), to = At(step.to);
  if (from.view != nullptr && to.view != nullptr && step.to.bytes <= exchange_->most_carried()) {
    lease_.Use([&] { std::memcpy(to.view, from.view, step.to.bytes); });
    return true;
  }
  busy_ = true;
  if (!IoThread::Get().IsVisited()) return QueueCopy(from, to), true;
  IoThread::Get().Post([self = std::static_pointer_cast<CollectiveOp>(shared_from_this()), from, to] {
    if (!self->dropped_) self->QueueCopy(from, to);
  });
  return true;
}

// By the engine.
void CollectiveOp::QueueCopy(const PlaceMemory& from, const PlaceMemory& to) {
  const auto self = std::static_pointer_cast<CollectiveOp>(shared_from_this());
  const auto done = [self](const std::string& failure) {
    self->busy_ = false;
    if (failure.empty()) return self->Advance();
    self->exchange_->lane().Discard(self->setting_.context);
    self->Fail(HCCL_E_RUNTIME, failure);
    self->EndIfIdle();
  };
  if (setting_.on_host) {
    exchange_->lane().Run(
        setting_.context, to.bytes, 1,
        [from, to](uint64_t begin, uint64_t end) { return std::memcpy(to.view + begin, from.view + begin, end - begin), ""; }, done);
  } else {
    exchange_->lane().Copy(setting_.context, to.address, from.address, to.bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, -1, done);
  }
}

bool CollectiveOp::ReduceHere(const Step& step) {
  const PlaceMemory from = At(step.from), to = At(step.to);
  lease_.Use([&] { setting_.kernel(to.view, to.view, from.view, step.to.bytes / setting_.element_bytes); });
  return true;
}

void CollectiveOp::TransferOver(bool sending, HcclResult result, const std::string& why) {
  --(sending ? sending_ : receiving_);
  if (dropped_) return;
  if (result != HCCL_SUCCESS) Fail(result, why);
  Advance();
}

// The stream fails, so its memory may be gone soon: everything ends, also what others wait for and has not begun. A moment later: whoever
// calls may be in the middle of a list.
void CollectiveOp::Fail(HcclResult result, const std::string& why) {
  if (failure_ != HCCL_SUCCESS) return;
  failure_ = result;
  why_ = std::string(setting_.call) + ": " + why;
  IoThread::Get().Post([self = std::static_pointer_cast<CollectiveOp>(shared_from_this())] {
    self->WithdrawAll("another part of its collective failed: " + self->why_);
  });
}

void CollectiveOp::WithdrawAll(const std::string& why) {
  for (const TransferRef& transfer : transfers_) {
    if (transfer) exchange_->Withdraw(transfer, why);
  }
}

void CollectiveOp::Dropped() {
  dropped_ = true;
  scratch_memory_.reset();
  if (setting_.board) run_.Leave("its stream was aborted, failed or waited too long");
  WithdrawAll("its stream was aborted, failed or waited too long");
}

void CollectiveOp::Revoked() {
  lease_.Close();
  if (setting_.board) run_.Revoke();
  for (const TransferRef& transfer : transfers_) {
    if (transfer) transfer->Revoke();
  }
}

ropewayTransfer CollectiveOp::Description() const {
  if (setting_.board_ready) return {ROPEWAY_LINK_SHARED_MEMORY, ROPEWAY_ALL_RANKS, setting_.input.bytes, communicator().size() - 1};
  ropewayTransfer all{ROPEWAY_LINK_NONE, ROPEWAY_ALL_RANKS, 0, 0};
  for (const TransferRef& transfer : transfers_) {
    if (!transfer) continue;
    if (all.items == 0) all.link = transfer->way;
    if (transfer->way != all.link) all.link = ROPEWAY_LINK_SEVERAL;
    all.bytes += transfer->bytes;
    ++all.items;
  }
  return all;
}

}  // namespace ropeway::comm
