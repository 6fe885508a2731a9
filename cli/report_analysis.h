// Why a program is slow, in words, from its trace. Each pattern of slow programs has a detector; what they find is ranked by the time of
// the host or of a stream that it costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace_data.h"

namespace ropeway::cli {

struct Finding {
  std::string pattern;      // the name of its row in the table of patterns
  int64_t cost_ns = 0;      // what could be gained at most
  std::string what;         // "20,000 pageable copies of 4 KiB, each followed by a wait"
  uint32_t site = kNone;    // where
  std::string fix;          // "pin the buffer and use aclrtMemcpyBatchAsync"
  uint32_t stream = kNone;  // where to look in the timeline
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

struct Answer {
  std::string summary;             // "host waiting 71 % of 0.64 s"
  std::vector<Finding> findings;   // the costliest first
  std::vector<std::string> notes;  // what the trace lacks
  double limit = 0;                // as Analyse was told
};

// `limit`: bytes per second that the machine copies at best; 0: nobody measured it.
Answer Analyse(const TraceData& trace, double limit = 0);

// Of the time in which any stream was busy, the part in which two or more were: 0 to 1.
double SideBySide(const TraceData& trace);

// "slow.cpp:8", or the function where no line is known, or "".
std::string SiteName(const TraceData& trace, uint32_t site);

// The finding as one sentence: what, where, and what to do.
std::string Sentence(const TraceData& trace, const Finding& finding);

// The answer as lines. The first has the summary and what costs most.
std::vector<std::string> Words(const TraceData& trace, const Answer& answer);

}  // namespace ropeway::cli
