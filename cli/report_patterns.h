// The patterns of slow programs. A detector looks at what those in front of it have not taken, so that no time is told twice: the table in
// report_analysis.cpp goes from the special to the general.
#pragma once

#include <string>
#include <vector>

#include "cli/report_index.h"

namespace ropeway::cli {

struct Search {
  explicit Search(const TraceIndex& of) : index(of), task_taken(of.trace().tasks.size()), wait_taken(of.trace().waits.size()) {}

  const TraceIndex& index;
  std::vector<bool> task_taken;
  std::vector<bool> wait_taken;
  std::vector<Finding> findings;
};

struct Pattern {
  const char* name;
  void (*find)(const char* name, Search& search);
};

// report_patterns_host.cpp: what costs the host's time
void FindPageableCopies(const char* name, Search& search);
void FindSynchronousCopies(const char* name, Search& search);
void FindMemoryInLoop(const char* name, Search& search);
void FindWaitBehindEach(const char* name, Search& search);

// report_patterns_stream.cpp: what costs a stream's time
void FindHostFunctions(const char* name, Search& search);
void FindValueWaits(const char* name, Search& search);
void FindSerialStreams(const char* name, Search& search);
void FindSmallRows(const char* name, Search& search);
void FindSmallCopies(const char* name, Search& search);
void FindOneStreamBothWays(const char* name, Search& search);

}  // namespace ropeway::cli
