#include "hccl/membership/stream_op.h"

#include <new>
#include <utility>

#include "acl/acl.h"
#include "base/cores.h"
#include "hccl/membership/number_table.h"
#include "hccl/membership/stream_code.h"

namespace ropeway::comm {
namespace {

NumberTable<StreamOp>& Operations() {
  static auto* const table = new NumberTable<StreamOp>;
  return *table;
}

// What graphs have of them, while those live.
NumberTable<StreamOp>& CapturedOps() {
  static auto* const table = new NumberTable<StreamOp>;
  return *table;
}

}  // namespace

bool IsCaptured(void* stream) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  if (stream == nullptr) return false;  // the default stream
  if (aclmdlRICaptureGetInfo(stream, &status, &model) != ACL_SUCCESS) {
    aclGetRecentErrMsg();  // whoever launches finds out what is wrong with it
    return false;
  }
  return status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

aclError StreamOp::Launch(void* stream) {
  number_ = Operations().Add(shared_from_this());
  const aclError code = ropewayLaunchBriefOperation(&OnStart, &OnDrop, AsArgument(number_), stream);
  if (code != 0) Operations().Remove(number_);
  return code;
}

aclError StreamOp::Capture(void* stream) {
  const uint64_t number = CapturedOps().Add(shared_from_this());
  const aclError code = ropewayCaptureOperation(&OnStart, &OnDrop, &OnRepeat, &OnForget, AsArgument(number), stream);
  if (code != 0) CapturedOps().Remove(number);
  return code;
}

void* StreamOp::OnRepeat(void* pattern) try {
  const std::shared_ptr<StreamOp> op = CapturedOps().Find(NumberOf(pattern))->Again();
  op->number_ = Operations().Add(op);
  return AsArgument(op->number_);
} catch (const std::bad_alloc&) {
  return nullptr;
}

// It may have memory of the device, which is freed where that may wait.
void StreamOp::OnForget(void* pattern) {
  IoThread::Get().Post([op = CapturedOps().Remove(NumberOf(pattern))] {});
}

void StreamOp::OnStart(void* argument, ropewayOperation operation) {
  std::shared_ptr<StreamOp> op = Operations().Find(NumberOf(argument));
  if (!op) {  // given up in the same moment
    ropewayFinishOperation(operation, 0, "");
    return;
  }
  const bool anywhere = op->StartsAnywhere();
  auto start = [op = std::move(op), operation] { op->Start(operation); };
  anywhere ? IoThread::Get().Run(std::move(start)) : IoThread::Get().Post(std::move(start));
}

void StreamOp::OnDrop(void* argument, int32_t) {
  const std::shared_ptr<StreamOp> op = Operations().Find(NumberOf(argument));
  if (!op) return;
  op->Revoked();
  IoThread::Get().Post([op] { op->Drop(); });
}

void StreamOp::Start(ropewayOperation operation) {
  if (finished_) {  // it was given up meanwhile
    ropewayFinishOperation(operation, 0, "");
    return;
  }
  operation_ = operation;
  Tell();
  static const auto cores = static_cast<uint32_t>(UsableCores());
  if (ExpectsNews()) news_.Expect(communicator_->size() > cores);
  if (!unfit_.empty()) {
    Dropped();
    return Finish(HCCL_E_PARA, unfit_);
  }
  Started();
  if (finished_) return;  // as small ones are, when the others have come before
  timer_ = IoThread::Get().At(communicator_->ExecDeadline(), [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->TimeOut();
  });
}

void StreamOp::Tell() {
  if (ropewayIsTraced() == 0) return;
  const ropewayTransfer transfer = Description();
  ropewayTellTransfer(operation_, &transfer);
}

void StreamOp::Drop() {
  if (finished_) return;
  Dropped();
  Finish(HCCL_SUCCESS, "");
}

void StreamOp::TimeOut() {
  if (finished_) return;
  Revoked();
  Dropped();
  Finish(HCCL_E_TIMEOUT, "the other ranks did not come within HCCL_EXEC_TIMEOUT");
}

void StreamOp::Finish(HcclResult result, const std::string& why) {
  if (finished_) return;
  const std::shared_ptr<StreamOp> self = shared_from_this();
  finished_ = true;
  news_.Came();
  IoThread::Get().Cancel(timer_);
  Operations().Remove(number_);
  if (result != HCCL_SUCCESS) communicator_->SetAsyncError(result, why);
  if (operation_ == nullptr) return;
  Tell();
  ropewayFinishOperation(std::exchange(operation_, nullptr), StreamCode(result), why.c_str());
}

}  // namespace ropeway::comm
