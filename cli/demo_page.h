// The last thing of the demo: streams that overlap, traced, and the page that shows it.
#pragma once

#include <cstdio>
#include <string>

namespace ropeway::cli {

// The command that does the work, in a process of its own: a trace is asked for before the first call.
constexpr char kDemoStreams[] = "demo-streams";
int RunDemoStreams();

// Writes `page`, and the trace beside it; says where, and how long streams ran side by side.
void WriteDemoPage(const std::string& page, std::FILE* say);

}  // namespace ropeway::cli
