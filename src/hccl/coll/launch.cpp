#include "hccl/coll/launch.h"

#include <sched.h>

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
  if (setting->board != nullptr && setting->board->state() == Board::State::kRefused) setting->board = nullptr;
  const bool may = setting->board != nullptr && call.equal_blocks && setting->input.view != nullptr;
  setting->fit = may ? FitOnBoard(call.shape, call.input_bytes) : BoardFit::kNo;
  const bool ready = may && setting->board->state() == Board::State::kReady;
  if (ready && setting->fit == BoardFit::kLargeInPlace && !setting->board->ReadsLarge()) setting->fit = BoardFit::kNo;
  setting->board_ready = ready && setting->fit != BoardFit::kNo;
  if (!setting->board_ready) setting->plan = PlanCache::Of(communicator)->Find(call.shape);
  setting->shape = std::move(call.shape);
}

// Where ranks share cores, how often the others get this one before a collective goes on in its stream: that costs as much as three changes
// of threads, and most ranks have come after one.
constexpr int kTurnsForOthers = 3;

// What fits into a slot is begun inside of its call on a stream where it would begin now, and is over without ever having been in the
// stream if the others call at the same moment. The board for that; else null.
Board* BoardToBeginOn(Communicator& communicator, const CollectiveCall& call, void* stream) {
  if (!call.equal_blocks || FitOnBoard(call.shape, call.input_bytes) != BoardFit::kSlot) return nullptr;
  if (!call.shape.in_place && Overlap(call)) return nullptr;
  Board* const board = Board::Of(communicator);
  return board != nullptr && board->state() == Board::State::kReady && ropewayIsIdle(stream) != 0 ? board : nullptr;
}

// Memory that is found meanwhile stays where it is.
class Access {
 public:
  Access() : access_(ropewayBeginAccess()) {}
  ~Access() { ropewayEndAccess(access_); }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  void* const access_;
};

CollectiveOp::Setting SettingOf(CollectiveCall& call) {
  CollectiveOp::Setting setting;
  setting.call = call.name;
  setting.element_bytes = call.shape.element_bytes;
  setting.kernel = call.kernel;
  return setting;
}

// In the stream, from where it is.
aclError GoOnInStream(Communicator& communicator, CollectiveCall& call, Board& board, const BoardRun& run, void* stream) {
  CollectiveOp::Setting setting = SettingOf(call);
  setting.board = &board;
  setting.fit = BoardFit::kSlot;
  setting.board_ready = true;
  setting.input = {static_cast<char*>(const_cast<void*>(call.input)), const_cast<char*>(run.work().input), call.input_bytes};
  setting.output = {static_cast<char*>(call.output), run.work().output, call.output_bytes};
  setting.shape = std::move(call.shape);
  return std::make_shared<CollectiveOp>(communicator.shared_from_this(), std::move(setting), nullptr)->GoOn(stream, run);
}

Status LaunchHere(Communicator& communicator, CollectiveCall& call, Board& board, void* stream) {
  const Access access;
  RW_TRY_SET(const PlaceMemory input, OpenPlace(call.input, call.input_bytes));
  RW_TRY_SET(const PlaceMemory output, OpenPlace(call.output, call.output_bytes));
  const uint32_t ranks = communicator.size();
  Exchange& exchange = Exchange::Here(communicator);
  BoardRun run(&board, {call.shape, ranks, call.kernel, call.input_bytes, input.view, output.view}, nullptr);
  LockGuard lock(exchange.order);
  uint64_t& next = exchange.NextCollective(communicator);
  run.Take({++next});
  const auto begin = [&] {
    if (!board.IsQuiet()) return;
    board.StayAwake();
    HcclResult result = HCCL_SUCCESS;
    std::string why;
    LookAWhile(run, ranks, [&] { run.Advance(&result, &why); });
  };
  const int turns = RanksShareCores(ranks) ? kTurnsForOthers : 0;
  for (int turn = 0; IoThread::Get().Try(std::ref(begin)) && !run.left() && turn < turns; ++turn) sched_yield();
  if (run.left()) return Ok();
  const aclError code = GoOnInStream(communicator, call, board, run, stream);
  if (code != ACL_SUCCESS && !run.begun()) --next;
  return FromRuntime("ropewayLaunchOperation", code);
}

Status LaunchInStream(Communicator& communicator, CollectiveCall& call, void* stream) {
  CollectiveOp::Setting setting = SettingOf(call);
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&setting.context)));
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&setting.device)));
  RW_TRY_SET(setting.input, OpenPlace(call.input, call.input_bytes));
  RW_TRY_SET(setting.output, OpenPlace(call.output, call.output_bytes));
  std::shared_ptr<Scratch> scratch;
  if (call.kernel != nullptr && setting.input.view == nullptr && call.input_bytes > 0) {
    RW_TRY(WorkOnHost(call, &setting, &scratch));
  } else if (!call.shape.in_place && Overlap(call)) {
    RW_TRY(CopyInput(call, stream, &setting, &scratch));
  }
  ChooseWay(communicator, call, &setting);
  const uint64_t elements = std::max(call.input_bytes, call.output_bytes) / setting.element_bytes;
  const Communicating communicating({communicator.name().c_str(), call.type, elements});
  const auto op = std::make_shared<CollectiveOp>(communicator.shared_from_this(), std::move(setting), std::move(scratch));
  return FromRuntime("ropewayLaunchOperation", op->Enqueue(stream));
}

}  // namespace

Status LaunchCollective(Communicator& communicator, CollectiveCall&& call, void* stream) {
  RW_TRY(RequireNotSuspended(communicator));
  call.shape.rank = communicator.rank();
  call.shape.in_place = call.input_bytes > 0 && call.input == InPlaceInput(call);
  if (Board* const board = BoardToBeginOn(communicator, call, stream)) return LaunchHere(communicator, call, *board, stream);
  return LaunchInStream(communicator, call, stream);
}

}  // namespace ropeway::comm
