// Traces for other people's viewers.
#pragma once

#include <string>

#include "cli/trace_data.h"

namespace ropeway::cli {

// By the name: *.json for Chrome and ui.perfetto.dev, *.pftrace in Perfetto's own format, which is smaller and loads sooner. False, with a
// reason, when it cannot be written.
bool ExportTrace(const TraceData& trace, const std::string& path, std::string* why, const Reached& reached = nullptr);

}  // namespace ropeway::cli
