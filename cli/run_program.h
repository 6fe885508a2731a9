// Runs a user's program to its end, with the tree in front of everything else, and keeps what it and its children recorded.
#pragma once

#include <string>
#include <vector>

namespace ropeway::cli {

struct ProgramRun {
  int status = 0;         // as shells have it
  double seconds = 0;     // by the wall
  bool recorded = false;  // something; false, too, when nothing was to be
};

// `trace`: the file that gets what was recorded; empty: nothing is. `command`: the subcommand, for messages. Throws std::runtime_error when
// the tree has no library, no process can be had, or the file cannot be written.
ProgramRun RunProgram(const char* command, const std::vector<std::string>& words, const std::string& trace);

}  // namespace ropeway::cli
