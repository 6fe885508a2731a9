// One self-contained page from a trace and its answer: no network, no second file.
#pragma once

#include <string>

#include "cli/report_analysis.h"

namespace ropeway::cli {

// `findings`: what `ropeway check --json` wrote, one object a line; may be empty. Throws std::invalid_argument with the line that is none.
std::string MakePage(const TraceData& trace, const Answer& answer, const std::string& findings);

}  // namespace ropeway::cli
