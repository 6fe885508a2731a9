#include "hccl/coll/launch.h"

#include <algorithm>
#include <utility>

#include "acl/acl.h"
#include "hccl/base/told.h"
#include "hccl/coll/board_work.h"
#include "hccl/coll/collective_op.h"
#include "hccl/coll/plan_cache.h"
#include "hccl/membership/find.h"

namespace ropeway::comm {
namespace {

const char* BytePointer(const void* pointer) { return static_cast<const char*>(pointer); }

// Where a rank's input is when it works in place.
const void* InPlaceInput(const CollectiveCall& call) {
  const CollectiveShape& shape = call.shape;
  switch (shape.what) {
    case Collective::kAllGather: return BytePointer(call.output) + shape.receives[shape.rank].offset;
    case Collective::kReduceScatter:
    case Collective::kScatter: return BytePointer(call.output) - shape.sends[shape.rank].offset;
    default: return call.output;
  }
}

bool Overlap(const CollectiveCall& call) {
  return call.input_bytes > 0 && call.output_bytes > 0 && BytePointer(call.input) < BytePointer(call.output) + call.output_bytes &&
         BytePointer(call.output) < BytePointer(call.input) + call.input_bytes;
}

// Input that lies across the output is read from a copy.
Status CopyInput(const CollectiveCall& call, void* stream, CollectiveOp::Setting* setting, std::shared_ptr<Scratch>* scratch) {
  void* copy = nullptr;
  const uint64_t bytes = call.input_bytes;
  RW_TRY(FromRuntime("aclrtMalloc", aclrtMalloc(&copy, bytes, ACL_MEM_MALLOC_HUGE_FIRST)));
  *scratch = std::make_shared<Scratch>(copy, &aclrtFree, setting->context);
  RW_TRY(FromRuntime("aclrtMemcpyAsync", aclrtMemcpyAsync(copy, bytes, call.input, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream)));
  RW_TRY_SET(setting->input, OpenPlace(copy, bytes));
  return Ok();
}

// The host reduces: where it cannot reach the program's memory, pinned memory takes its place, which the operation fills when it begins and
// empties when it ends.
Status WorkOnHost(const CollectiveCall& call, CollectiveOp::Setting* setting, std::shared_ptr<Scratch>* scratch) {
  const char* const input = BytePointer(call.input);
  const char* const output = BytePointer(call.output);
  // In place stays in place; else one lies behind the other.
  uint64_t input_at = 0, output_at = (call.input_bytes + 63) / 64 * 64;
  if (call.shape.in_place && call.output_bytes > 0) {
    const char* const first = std::min(input, output);
    input_at = static_cast<uint64_t>(input - first);
    output_at = static_cast<uint64_t>(output - first);
  }
  void* memory = nullptr;
  const uint64_t bytes = std::max(input_at + call.input_bytes, output_at + call.output_bytes);
  RW_TRY(FromRuntime("aclrtMallocHost", aclrtMallocHost(&memory, bytes)));
  *scratch = std::make_shared<Scratch>(memory, &aclrtFreeHost, setting->context);
  char* const base = static_cast<char*>(memory);
  setting->on_host = true;
  setting->real_input = std::exchange(setting->input, {base + input_at, base + input_at, call.input_bytes});
  setting->real_output = std::exchange(setting->output, {base + output_at, base + output_at, call.output_bytes});
  return Ok();
}

// Over the board, or by the plan. Where nobody knows yet whether there is a board, it is ready for both.
void ChooseWay(Communicator& communicator, CollectiveCall& call, CollectiveOp::Setting* setting) {
  setting->board = Board::Of(communicator);
  if (setting->board && setting->board->state() == Board::State::kRefused) setting->board = nullptr;
  const bool may = setting->board && call.equal_blocks && setting->input.view != nullptr;
  setting->fit = may ? FitOnBoard(call.shape, call.input_bytes) : BoardFit::kNo;
  const bool ready = may && setting->board->state() == Board::State::kReady;
  if (ready && setting->fit == BoardFit::kLargeInPlace && !setting->board->ReadsLarge()) setting->fit = BoardFit::kNo;
  setting->board_ready = ready && setting->fit != BoardFit::kNo;
  if (setting->board_ready) {
    call.shape.hosts.assign(communicator.size(), 0);
  } else {
    const std::shared_ptr<PlanCache> plans = PlanCache::Of(communicator);
    call.shape.hosts = plans->hosts();
    setting->plan = plans->Find(call.shape);
  }
  setting->shape = std::move(call.shape);
}

}  // namespace

Status LaunchCollective(const std::shared_ptr<Communicator>& communicator, CollectiveCall call, void* stream) {
  RW_TRY(RequireNotSuspended(*communicator));
  CollectiveOp::Setting setting;
  call.shape.rank = communicator->rank();
  setting.call = call.name;
  setting.element_bytes = call.shape.element_bytes;
  setting.kernel = call.kernel;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&setting.context)));
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&setting.device)));
  RW_TRY_SET(setting.input, OpenPlace(call.input, call.input_bytes));
  RW_TRY_SET(setting.output, OpenPlace(call.output, call.output_bytes));
  call.shape.in_place = call.input_bytes > 0 && call.input == InPlaceInput(call);
  std::shared_ptr<Scratch> scratch;
  if (call.kernel != nullptr && setting.input.view == nullptr && call.input_bytes > 0) {
    RW_TRY(WorkOnHost(call, &setting, &scratch));
  } else if (!call.shape.in_place && Overlap(call)) {
    RW_TRY(CopyInput(call, stream, &setting, &scratch));
  }
  ChooseWay(*communicator, call, &setting);
  const uint64_t elements = std::max(call.input_bytes, call.output_bytes) / setting.element_bytes;
  const Communicating communicating({communicator->name().c_str(), call.type, elements});
  const auto op = std::make_shared<CollectiveOp>(communicator, std::move(setting), std::move(scratch));
  return FromRuntime("ropewayLaunchOperation", op->Enqueue(stream));
}

}  // namespace ropeway::comm
