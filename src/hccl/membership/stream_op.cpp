#include "hccl/membership/stream_op.h"

#include <utility>

#include "hccl/membership/number_table.h"
#include "hccl/membership/stream_code.h"

namespace ropeway::comm {
namespace {

NumberTable<StreamOp>& Operations() {
  static auto* const table = new NumberTable<StreamOp>;
  return *table;
}

}  // namespace

aclError StreamOp::Launch(void* stream) {
  number_ = Operations().Add(shared_from_this());
  const aclError code = ropewayLaunchOperation(&OnStart, &OnDrop, AsArgument(number_), stream);
  if (code != 0) Operations().Remove(number_);
  return code;
}

void StreamOp::OnStart(void* argument, ropewayOperation operation) {
  IoThread::Get().Post([number = NumberOf(argument), operation] {
    if (auto op = Operations().Find(number)) return op->Start(operation);
    ropewayFinishOperation(operation, 0, "");
  });
}

void StreamOp::OnDrop(void* argument, int32_t) {
  const std::shared_ptr<StreamOp> op = Operations().Find(NumberOf(argument));
  if (!op) return;
  op->Revoked();
  IoThread::Get().Post([op] { op->Drop(); });
}

void StreamOp::Start(ropewayOperation operation) {
  operation_ = operation;
  const std::weak_ptr<StreamOp> weak = weak_from_this();
  timer_ = IoThread::Get().At(communicator_->ExecDeadline(), [weak] {
    if (auto self = weak.lock()) self->TimeOut();
  });
  Tell();
  Started();
}

void StreamOp::Tell() {
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
  IoThread::Get().Cancel(timer_);
  Operations().Remove(number_);
  if (result != HCCL_SUCCESS) communicator_->SetAsyncError(result, why);
  if (operation_ == nullptr) return;
  Tell();
  ropewayFinishOperation(std::exchange(operation_, nullptr), StreamCode(result), why.c_str());
}

}  // namespace ropeway::comm
