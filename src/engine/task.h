// The unit of work of a stream: 64 bytes of plain data. Copies of every API become the same few kinds, so there is one
// order, one error path and one place for watchers. Addresses are those the program used; the engine translates them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/gate.h"
#include "engine/host_call.h"
#include "engine/reduce_kinds.h"

namespace ropeway {

struct TaskFailure;

enum class TaskKind : uint8_t {
  kCopy,         // size bytes
  kCopy2d,       // height rows of width bytes
  kBatch,        // many copies, in no order
  kCopyByDesc,   // addresses and size lie in device memory, and are read when the task runs
  kCopyByCells,  // so do the two base addresses of this one
  kSet,          // size bytes of one value
  kSetWords,     // 32-bit words of one value
  kReduce,       // dst = dst op src
  kStore,        // one 64-bit word
  kMark,         // tells its marker that the stream came this far
  kAwait,        // holds the stream until a gate is open
  kAwaitValue,   // holds the stream until a word in memory has a value
  kCall,         // a user function
  kKernel,       // a user function in the place of a kernel
  kReplay,       // a captured graph
  kFail,         // known to be impossible when it was submitted, and reported when it runs
  kNothing,      // keeps its place in the order and does nothing
  // Only inside a graph:
  kSignal,       // the branch came this far: those who wait for this edge may go on
  kAwaitSignal,  // holds the branch until an edge was signalled
  kMarkBound,    // as kMark and kAwait, with a marker and a gate that each replay brings along
  kAwaitBound,
  kFinish,    // the mark at which a graph that ends at one is over
  kActivate,  // starts another branch from its beginning
  kSwitch,    // starts another branch in the place of this one, if two numbers in memory compare so
  kJump,      // goes on at a label, of this branch or of another, that a number in memory chooses
  kBody,      // runs the body that a number in memory chooses, or one body as long as that is not zero
};
constexpr TaskKind kLastTaskKind = TaskKind::kBody;

// How bytes move. Chosen by the plan, carried out by the engine.
enum class CopyMethod : uint8_t { kCached, kStreaming, kShared };
constexpr const char* CopyMethodName(CopyMethod method) {
  return method == CopyMethod::kCached ? "cached" : method == CopyMethod::kStreaming ? "streaming" : "shared";
}
// Why a plan chooses it.
constexpr const char* CopyMethodReason(CopyMethod method) {
  return method == CopyMethod::kCached      ? "small: the destination is likely read soon"
         : method == CopyMethod::kStreaming ? "large enough that stores around the cache win"
                                            : "large enough to share with idle lanes";
}

// What a wait for a value compares memory m with (unsigned 64 bits); the numbers are those of the API.
enum class ValueTest : uint8_t { kAtLeast, kEqual, kAnyBit, kNotAllBits };
bool Holds(ValueTest test, uint64_t m, uint64_t value);

// What kSwitch compares, left with right; the numbers are those of the API.
enum class Comparison : uint8_t { kEqual, kNotEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual };
bool Holds(Comparison comparison, int64_t left, int64_t right);

// How kBody chooses; the numbers are those of the API.
enum class BodyChoice : uint8_t { kIf, kWhile, kSwitch };

// Who wants to know when a stream reaches a point. Exactly one of the two is called, on a thread of the engine or of a
// waiter that helps; neither may block. Event records, waits and resets are markers.
class Marker {
 public:
  virtual void Reached() = 0;
  virtual void Dropped() = 0;
  // A graph is replayed, so that one more task names this marker and will tell it Reached or Dropped once more. For those
  // who count their tasks.
  virtual void Repeat() {}
  // The stream has come to the wait that this marker belongs to, its task of that number. May be told more than once.
  virtual void Begun(uint64_t /*sequence*/) {}
  // The wait took longer than its limit; Reached follows.
  virtual void TimedOut() {}
  // The gate that Reached opens, whatever else it does: who sees that it will be told Reached can foretell that. Null: there is none, or it
  // may be closed again.
  virtual Gate* Opens() { return nullptr; }
  // Why the wait ended badly, asked before Reached; 0 when it did not. `gate_broke`: it came through a gate that was broken.
  virtual int Failed(bool /*gate_broke*/, TaskFailure*) const { return 0; }

 protected:
  ~Marker() = default;
};

// What a mark or a wait has to do with an event, a notify or a counter, for those who watch: who waits is behind who set it.
struct Signal {
  enum class Role : uint8_t { kAwaits, kSets, kTakesBack };
  const void* object;  // null: nothing
  uint32_t number;     // as the API has it
  Role role;
  bool one_each;  // a wait takes away what was set
  bool shared;    // the object is a name that all processes have for it

  // `name`: of SharedName, or made from one.
  static Signal Shared(uint64_t name, uint32_t number, Role role, bool one_each) {
    return {reinterpret_cast<const void*>(name << 4), number, role, one_each, true};
  }
};

class Batch;
struct TaskGraph;
// What one replay of a graph brings along for kMarkBound and kAwaitBound; null where it has nothing to do.
struct ReplayBinding {
  Gate* gate;
  Marker* marker;
};

struct Task {
  static constexpr uint8_t kOwnsPayload = 1;  // a staged source or a batch, to be released behind the task
  static constexpr uint8_t kOfEvent = 2;      // a mark or wait that belongs to an event (and not to a notify)
  static constexpr uint8_t kTakesBack = 4;    // a mark that resets its event
  static constexpr uint8_t kDelays = 8;       // a wait whose limit is what it waits for
  static constexpr uint8_t kBrief = 16;       // a wait that is begun in a moment, by whoever comes to it

  TaskKind kind;
  CopyMethod method;
  uint8_t flags;
  uint8_t device;    // that carries out kCopyByDesc and kCopyByCells
  uint32_t id;       // what aclrtGetThreadLastTaskId reports
  const char* call;  // the API function that submitted it, for messages and traces
  union {
    struct {
      void* dst;
      const void* src;
      size_t size;
    } copy;
    struct {
      void* dst;
      const void* src;
      size_t dst_pitch, src_pitch, width, height;
    } copy_2d;
    struct {
      Batch* list;
      size_t bytes;  // here, because the list may be gone when a submitter asks
    } batch;
    struct {
      const void* descriptor;
      uint32_t size;  // of the descriptor: which of the two layouts it has
    } by_desc;
    struct {
      const void* dst_cell;
      const void* src_cell;
      size_t dst_offset, src_offset, size;
      uint64_t as_of;  // the free clock when it was submitted: the cells are still there for it
    } by_cells;
    struct {
      void* dst;
      size_t count;  // bytes or words
      uint32_t value;
    } set;
    struct {
      void* dst;
      const void* src;
      size_t size;
      ReduceOp op;
      ReduceType type;
    } reduce;
    struct {
      void* address;
      uint64_t value;
    } store;
    struct {
      Marker* marker;
      Signal signal;
    } mark;
    struct {
      Gate* gate;
      Marker* marker;      // told when the wait is over
      int64_t timeout_ns;  // 0: no limit
      Signal signal;
    } await;
    struct {
      const void* address;
      uint64_t value;
      ValueTest test;
    } await_value;
    struct {
      HostCallSink* sink;
      void (*function)(void*);
      void* argument;  // of kKernel: its KernelCall
      bool blocks;
    } call_host;
    struct {
      const void* address;  // what the message shows; null: a rule of ROPEWAY_FAULTS wants it so
      int code;
    } fail;
    struct {
      const TaskGraph* graph;
      ReplayBinding* bindings;  // one per kMarkBound or kAwaitBound of the graph; the task owns them
      uint64_t as_of;           // the free clock when it was submitted: what was freed later is still there for it
      uint64_t number;          // of the graph's replays; 0 where nobody counts them
    } replay;
    struct {
      uint32_t index;  // of the edge, or of the binding
    } edge;
    // Who stores a task names a stream or a list of labels, and the graph finds its own number for it before it runs.
    struct {
      uint32_t stream;
      uint32_t branch;
    } activate;
    struct {
      const void* left;
      const void* right;
      uint32_t stream;
      uint32_t branch;
      Comparison comparison;
      bool wide;  // 64 bits, else 32
    } switch_to;
    struct {
      const void* index;  // of a 32-bit number
      void* list;         // handle
      uint32_t count;
      uint32_t table;
    } jump;
    struct {
      const void* value;  // 64 bits
      uint32_t first;     // of the graph's bodies
      uint32_t count;
      BodyChoice choice;
    } body;
  };
};
static_assert(sizeof(Task) == 64);

constexpr bool MovesBytes(TaskKind kind) { return kind <= TaskKind::kStore || kind == TaskKind::kFail; }

// A kernel, which the task takes over.
Task KernelTask(HostCallSink* sink, KernelCall* kernel, const char* call);
inline KernelCall& KernelOf(const Task& task) { return *static_cast<KernelCall*>(task.call_host.argument); }

// A mark, and a wait, of nothing but what they are given.
Task MarkTask(Marker* marker, const Signal& signal, const char* call);
Task AwaitTask(Gate* gate, Marker* marker, int64_t timeout_ns, const Signal& signal, const char* call);

const char* TaskKindName(TaskKind kind);
// Bytes that a task moves or sets; 0 for the others.
size_t TaskBytes(const Task& task);
// Frees what a task owns; the task is not used afterwards.
void ReleasePayload(const Task& task);
// A replay is over, one way or the other: what it brought along is freed, and its graph may go.
void EndReplay(const Task& task);
// A task that will never run: its marker is told, its payload freed.
void DropTask(const Task& task);

}  // namespace ropeway
