// What a profile tells of: calls, tasks, blocks and marks that are over, each with its true times (nanoseconds of CLOCK_REALTIME).
#pragma once

#include <cstdint>

#include "engine/task.h"
#include "engine/watcher.h"

namespace ropeway {

// From where to where a copy goes; the numbers are those of mspti.
enum class CopyWay : uint32_t { kUnknown, kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice };

struct Activity {
  enum class Kind : uint8_t { kCall, kTask, kCommunication, kBlock, kMark, kExternal };  // a communication is a task, too
  Kind kind;
  bool asynchronous;     // task: queued in a stream
  bool freed;            // block: else allocated
  bool in_stream;        // mark: a stream has come to it
  bool inside_graph;     // task: replayed
  TaskKind task;         // task
  MarkKind mark;         // mark
  int code;              // call, task
  CopyWay way;           // task
  int device;            // as the program counts; -1: none
  uint32_t stream;       // 0: none
  uint32_t thread;       // call, mark
  uint32_t value;        // task: what memory is set to; external: which kind; communication: the type of its elements
  uint64_t correlation;  // of the call that it belongs to
  int64_t submit_ns;     // task
  int64_t start_ns;      // of a mark: its time
  int64_t end_ns;
  uint64_t bytes;      // task, block
  uint64_t address;    // block
  uint64_t id;         // mark, external; communication: how many elements
  const char* name;    // of the call, or the text of the mark; stays for as long as the process
  const char* domain;  // mark; communication: the communicator's name
};

}  // namespace ropeway
