// The unit of work of a stream: 64 bytes of plain data. Copies of every API become the same few kinds, so there is one
// order, one error path and one place for watchers. Addresses are those the program used; the engine translates them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/gate.h"
#include "engine/host_call.h"

namespace ropeway {

enum class TaskKind : uint8_t {
  kCopy,      // size bytes
  kCopy2d,    // height rows of width bytes
  kSet,       // size bytes of one value
  kSetWords,  // 32-bit words of one value
  kReduce,    // dst = dst op src
  kMark,      // tells its marker that the stream came this far
  kAwait,     // holds the stream until a gate is open
  kCall,      // a user function
  kFail,      // known to be impossible when it was submitted, and reported when it runs
  kNothing,   // keeps its place in the order and does nothing
};

// How bytes move. Chosen by the plan, carried out by the engine.
enum class CopyMethod : uint8_t { kCached, kStreaming, kShared };

enum class ReduceOp : uint8_t { kSum, kMax, kMin, kEqual };
enum class ReduceType : uint8_t { kFloat32, kFloat16, kBFloat16, kInt8, kInt16, kInt32, kUInt8, kUInt16, kUInt32, kInt4 };

// Who wants to know when a stream reaches a point. Exactly one of the two is called, on a thread of the engine or of a
// waiter that helps; neither may block. Event records, waits and resets are markers.
class Marker {
 public:
  virtual void Reached() = 0;
  virtual void Dropped() = 0;

 protected:
  ~Marker() = default;
};

struct Task {
  static constexpr uint8_t kOwnsSource = 1;  // the source is a staging buffer of ours: release it behind the copy

  TaskKind kind;
  CopyMethod method;
  uint8_t flags;
  uint8_t reserved;
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
      Marker* marker;
    } mark;
    struct {
      Gate* gate;
      Marker* marker;      // told when the wait is over
      int64_t timeout_ns;  // 0: no limit
    } await;
    struct {
      HostCallSink* sink;
      void (*function)(void*);
      void* argument;
      bool blocks;
    } call_host;
    struct {
      const void* address;  // what the message shows
      int code;
    } fail;
  };
};
static_assert(sizeof(Task) == 64);

const char* TaskKindName(TaskKind kind);
// Bytes that a task moves or sets; 0 for the others.
size_t TaskBytes(const Task& task);

}  // namespace ropeway
