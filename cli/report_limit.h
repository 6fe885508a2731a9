// How fast this machine copies at best: the line that the page draws over what a program reached.
#pragma once

#include "cli/trace_data.h"

namespace ropeway::cli {

// Bytes per second, by plain loops on as many threads as help; 0 when the trace is of another machine or engine, of which nothing is known
// here.
double MeasureLimit(const TraceData& trace);

}  // namespace ropeway::cli
