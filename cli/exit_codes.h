// What the command's exit status means, whichever subcommand it was; `ropeway help` and the manual page print this.
#pragma once

namespace ropeway::cli {

enum ExitCode : int {
  kDone = 0,
  kFound = 1,
  kWrongUsage = 2,
  kCannotRun = 126,  // the last three as shells say it
  kNotFound = 127,
  kBySignal = 128,
};

struct ExitMeaning {
  const char* code;
  const char* meaning;
};

inline constexpr ExitMeaning kExitMeanings[] = {
    {"0", "done, and all is well"},
    {"1", "done, and not all is well: a goal missed, a problem, a finding, a failed run; or it could not be done, and a line says why"},
    {"2", "the command line is wrong, or asks for what is not here"},
    {"126, 127", "the program behind -- cannot be run, or is not there"},
    {"128+N", "the program behind -- was ended by signal N; else its own status is passed on"},
};

}  // namespace ropeway::cli
