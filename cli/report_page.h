// One self-contained page from a trace and its answer: no network, no second file.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/report_analysis.h"

namespace ropeway::cli {

// What was measured beside the trace, or without one: a table under some words.
struct PageFigures {
  struct Column {
    std::string title;
    bool right;
  };
  std::string title;
  std::vector<std::string> words;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // none: the page shows no such table
};

// `findings`: what `ropeway check --json` wrote, one object a line; may be empty. Throws std::invalid_argument with the line that is none.
std::string MakePage(const TraceData& trace, const Answer& answer, const std::string& findings, const PageFigures& figures = {});

// Throws std::runtime_error when the file cannot be written; says where it is.
void WritePageFile(const std::string& path, const std::string& page, std::FILE* say = stdout);

}  // namespace ropeway::cli
