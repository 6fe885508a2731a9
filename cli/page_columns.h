// The long lists of a trace in few bytes, for the page: every field is a column of numbers, most of them small, written seven bits to a
// byte. What many tasks have in common (stream, call, size, place, ...) is told once, as a class; page/data.js reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace_data.h"

namespace ropeway::cli {

struct PageColumn {
  std::string name;
  bool differences = false;  // to the number before, its sign in the lowest bit
  uint64_t count = 0;
  std::string bytes;
};

// Tasks come in the order of their starts, so that whatever is made of them is sorted without sorting.
std::vector<PageColumn> PageColumns(const TraceData& trace);

std::string Base64(const std::vector<PageColumn>& columns);

}  // namespace ropeway::cli
