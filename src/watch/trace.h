// The first watcher: a flight recorder. Every task, wait, block and edge becomes a record of 32 bytes or two in a file that survives the
// process. docs/trace.md says what is in it, trace_format.h how it lies there, trace_chunks.h how it gets there.
#pragma once

#include <string>

#include "watch/trace_format.h"

namespace ropeway {

struct TraceOptions {
  std::string file;       // %p the process's number, %r its rank, %h the host's name
  std::string rank = "";  // as whoever started the process has it; empty: nobody said
  std::string engine;
  trace::Side (*side_of)(const void* address) = nullptr;  // where memory is
};

// Installs the recorder. A file that cannot be made is complained about on stderr, and nothing is traced.
void StartTrace(const TraceOptions& options);

// The process is rank `rank` of `ranks`: noted in the trace, if there is one, and in its name, if that has a %r that nobody could tell
// before. The first word counts.
void TellTraceRank(uint32_t rank, uint32_t ranks);

// A place in a program of another language, told by its name ("step.py:12"), as a caller (base/call_site.h), and to the trace if there is
// one.
const void* TellTracePlace(const char* text);

}  // namespace ropeway
