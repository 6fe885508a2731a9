// A program against the API as data: what program_generator.h makes, program_model.h predicts and program_runner.h runs. Streams, blocks,
// events and the rest are numbers in the order of their making, which are never used again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_test::programs {

// What a program may do beyond the ordinary.
struct Features {
  bool free_under_replay = true;    // free what queued replays of a graph will use
  bool free_cells = true;           // free the cells of offset copies that are queued
  bool failing_allocations = true;  // let one allocation of a call fail
};

enum class Op {
  // Objects
  kMakeContext,
  kDestroyContext,
  kMakeStream,
  kDestroyStream,
  kMakeEvent,
  kDestroyEvent,
  kMakeNotify,
  kDestroyNotify,
  kAllocate,
  kFree,
  // Bytes in a stream's order
  kCopy,
  kCopyRows,
  kCopyBatch,
  kCopyByDescriptor,
  kCopyByCells,
  kFill,
  kAdd,
  kStore,
  kXor,
  kFail,
  // Bytes at once, on the program's thread
  kWrite,
  kRead,
  kWritePageable,
  kReadPageable,
  kDescribe,
  kPointCells,
  // Order
  kRecord,
  kAwait,
  kRecordNotify,
  kAwaitNotify,
  kAwaitValue,
  kSynchronizeStream,
  kSynchronizeEvent,
  kSynchronizeDevice,
  kQuery,
  kJoin,
  // Graphs
  kBeginCapture,
  kEndCapture,
  kExecute,
  kDestroyGraph,
};

enum class EventKind { kDefault, kClassic, kEx };

struct Place {
  int block = -1;
  size_t offset = 0;
};

struct Piece {
  Place to, from;
  size_t size = 0;
};

struct Step {
  Op op = Op::kQuery;
  int context = 0;
  int stream = -1;
  int object = -1;  // event, notify, graph or block that the step makes, uses or ends
  Place to, from;
  Place through;  // a descriptor, or two cells
  size_t size = 0;
  uint64_t value = 0;
  size_t rows = 1, to_pitch = 0, from_pitch = 0;
  std::vector<Piece> pieces;
  EventKind kind = EventKind::kEx;
  bool on_host = false;     // pinned memory, where there is a choice
  bool named_kind = false;  // says the direction instead of ACL_MEMCPY_DEFAULT
  bool elsewhere = false;   // on another thread, which kJoin waits for
  int failing = 0;          // the allocation of the call that fails; 0 for none
};

using Program = std::vector<Step>;

inline const char* NameOf(Op op) {
  static constexpr const char* kNames[] = {"MakeContext",
                                           "DestroyContext",
                                           "MakeStream",
                                           "DestroyStream",
                                           "MakeEvent",
                                           "DestroyEvent",
                                           "MakeNotify",
                                           "DestroyNotify",
                                           "Allocate",
                                           "Free",
                                           "Copy",
                                           "CopyRows",
                                           "CopyBatch",
                                           "CopyByDescriptor",
                                           "CopyByCells",
                                           "Fill",
                                           "Add",
                                           "Store",
                                           "Xor",
                                           "Fail",
                                           "Write",
                                           "Read",
                                           "WritePageable",
                                           "ReadPageable",
                                           "Describe",
                                           "PointCells",
                                           "Record",
                                           "Await",
                                           "RecordNotify",
                                           "AwaitNotify",
                                           "AwaitValue",
                                           "SynchronizeStream",
                                           "SynchronizeEvent",
                                           "SynchronizeDevice",
                                           "Query",
                                           "Join",
                                           "BeginCapture",
                                           "EndCapture",
                                           "Execute",
                                           "DestroyGraph"};
  static_assert(std::size(kNames) == static_cast<size_t>(Op::kDestroyGraph) + 1);
  return kNames[static_cast<size_t>(op)];
}

inline std::string Describe(const Step& step) {
  const auto place = [](const char* name, const Place& at) {
    return at.block < 0 ? std::string() : std::string(" ") + name + " " + std::to_string(at.block) + "+" + std::to_string(at.offset);
  };
  std::string text = NameOf(step.op);
  if (step.context > 0) text += " in context " + std::to_string(step.context);
  if (step.stream >= 0) text += " on stream " + std::to_string(step.stream);
  if (step.object >= 0) text += " of " + std::to_string(step.object);
  text += place("to", step.to) + place("from", step.from) + place("through", step.through);
  for (const Piece& piece : step.pieces)
    text += place("piece to", piece.to) + place("from", piece.from) + " of " + std::to_string(piece.size);
  if (step.size > 0) text += ", " + std::to_string(step.size) + " bytes";
  if (step.rows > 1)
    text += " x " + std::to_string(step.rows) + " rows, " + std::to_string(step.to_pitch) + " and " + std::to_string(step.from_pitch) +
            " apart";
  if (step.value > 0) text += ", value " + std::to_string(step.value);
  if (step.elsewhere) text += ", on another thread";
  if (step.failing > 0) text += ", allocation " + std::to_string(step.failing) + " fails";
  return text;
}

}  // namespace ropeway_test::programs
