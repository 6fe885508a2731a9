// What a viewer shows of a trace, whatever its format: tracks with slices, arrows between them, and counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace_data.h"

namespace ropeway::cli {

struct TimelineTrack {
  enum class Kind { kProcess, kThread, kStream, kCounter };
  Kind kind;
  std::string name;
  uint32_t process;  // index of the process
  int tid = 0;       // of a thread; streams get numbers that no thread has
};

struct TimelineSlice {
  uint32_t track;
  int64_t begin_ns;
  int64_t end_ns;  // as the begin: a moment
  uint32_t task = kNone;
  std::string name;
  std::vector<uint64_t> begins;  // arrows that leave here
  std::vector<uint64_t> ends;    // and that arrive
};

struct TimelineValue {
  uint32_t track;
  int64_t at_ns;
  int64_t value;
};

class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  virtual void Track(uint32_t number, const TimelineTrack& track) = 0;
  virtual void Slice(const TimelineSlice& slice) = 0;
  virtual void Value(const TimelineValue& value) = 0;
};

// `reached`, if there is one, is told of the tasks that are drawn.
void DrawTimeline(const TraceData& trace, TimelineSink* sink, const Reached& reached = nullptr);

}  // namespace ropeway::cli
