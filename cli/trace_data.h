// A trace as the tools see it: read from files, put on one clock, call sites found. Who recorded it and how it lies on disk is
// trace_reader's affair; the report page, the merge and the exports know only this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ropeway::cli {

constexpr uint32_t kNone = UINT32_MAX;  // an index of nothing

// Where the program called. Without debug information `file` is empty and `function` may be "module+0x12ab".
struct TraceSite {
  std::string function;
  std::string file;
  int line = 0;
};

struct TraceProcess {
  int pid = 0;
  int rank = -1;  // of its first communicator; -1: it had none
  std::string host;
  std::string program;
  std::string engine;    // "cpu", "cuda"
  uint64_t dropped = 0;  // records that a full ring had no room for
};

struct TraceThread {
  uint32_t process = 0;
  int tid = 0;
  std::string name;
  bool lane = false;  // of the engine; else the program's
};

struct TraceStream {
  uint32_t process = 0;
  uint32_t id = 0;
  int device = 0;
};

// Queued work, and a synchronous copy as well (stream == kNone). Times are nanoseconds since the begin of the trace; -1: it did not come to
// that. On the CUDA engine start and end are what a lane of the engine sees of them.
struct TraceTask {
  uint32_t stream = kNone;  // index
  uint64_t sequence = 0;    // in its stream, from 1
  uint16_t kind = 0;        // index of a name, as are the next four
  uint16_t call = 0;
  uint16_t direction = 0;  // "H2D", "D2H", "D2D", "H2H", ""
  uint16_t method = 0;     // how the bytes were moved
  uint16_t reason = 0;     // why so, by the plan; "pageable" is one of them
  uint32_t items = 1;
  uint64_t bytes = 0;
  uint32_t thread = kNone;  // that asked for it
  uint32_t lane = kNone;    // thread that ran it, or the first part of it
  uint32_t site = kNone;
  int32_t code = 0;
  uint16_t link = 0;     // of work between ranks, how it goes: "local", "shared memory", "tcp", "ucx", "several"; index of a name
  int rank = -1;         // at its other end; -1: none, or several
  uint32_t branch = 0;   // of the graph that it is a part of
  bool dropped = false;  // by an abort, before it ran
  int64_t submit_ns = -1;
  int64_t start_ns = -1;
  int64_t end_ns = -1;
};

// A call that kept a host thread waiting.
struct TraceWait {
  uint32_t thread = kNone;
  uint16_t call = 0;  // index of a name
  uint32_t site = kNone;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;       // -1: it was still waiting when the trace ended
  uint32_t stream = kNone;  // what it waited for: this stream
  uint64_t sequence = 0;    // up to this task
  uint32_t task = kNone;    // or the copy that is this call itself
  int rank = -1;            // or this rank; -1: none, or several
  uint16_t reason = 0;      // "work", "event", "room" (a full queue), "copy", "report" (a callback), "process" (another's answer), "rank"
};

// Tasks of `to` behind `to_sequence` waited for `from` up to `from_sequence`: streams of one process or of two, or branches of a graph,
// which have the stream and the number of their replay.
struct TraceEdge {
  uint32_t from = kNone;
  uint64_t from_sequence = 0;
  uint32_t to = kNone;
  uint64_t to_sequence = 0;
  uint16_t call = 0;
  uint32_t site = kNone;
  uint32_t event = 0;  // its number; 0: none
  int64_t at_ns = 0;
  uint32_t from_task = kNone;  // what set it, or sent it
  uint32_t to_task = kNone;    // what waited for it, or received it
};

struct TraceBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;
  int device = -1;  // -1: host
  uint32_t process = 0;
  uint16_t call = 0;
  uint32_t site = kNone;
  int64_t allocated_ns = 0;
  int64_t freed_ns = -1;
};

// What the program said of itself: a moment, or a range.
struct TraceMark {
  uint32_t thread = kNone;  // that said it
  uint32_t stream = kNone;  // or the stream that came to it
  uint16_t name = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // as the begin: a moment; -1: it was not ended
};

struct TraceData {
  std::vector<std::string> names;  // 0 is ""
  std::vector<TraceSite> sites;
  std::vector<TraceProcess> processes;
  std::vector<TraceThread> threads;
  std::vector<TraceStream> streams;
  std::vector<TraceTask> tasks;  // by submit time
  std::vector<TraceWait> waits;  // by begin
  std::vector<TraceEdge> edges;
  std::vector<TraceBlock> blocks;
  int64_t end_ns = 0;
  std::vector<TraceMark> marks;  // by begin
};

// One file, or several of one job put on one clock. False with a reason when something cannot be read; a file whose end is missing (its
// program was killed) is read as far as it goes.
// `reached`, if there is one, is told of the bytes that are behind it.
using Reached = std::function<void(size_t done, size_t all)>;
bool ReadTraces(const std::vector<std::string>& paths, TraceData* trace, std::string* why, const Reached& reached = nullptr);

}  // namespace ropeway::cli
