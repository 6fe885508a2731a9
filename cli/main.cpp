// The `ropeway` command: hands over to its subcommands, and turns what they throw into one clear line.
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/suggestion.h"
#include "ropeway/ropeway.h"

int main(int argc, char** argv) {
  int status = 0;
  CLI::App app("AscendCL's asynchronous copies on a machine without an NPU");
  app.set_version_flag("--version", ropewayGetVersion());
  app.require_subcommand(1);
  ropeway::cli::AddDemo(app, &status);
  ropeway::cli::AddExec(app, &status);
  ropeway::cli::AddRanks(app, &status);
  ropeway::cli::AddCheck(app, &status);
  ropeway::cli::AddExplore(app, &status);
  ropeway::cli::AddTrace(app, &status);
  ropeway::cli::AddReport(app, &status);
  ropeway::cli::AddPs(app, &status);
  ropeway::cli::AddBench(app, &status);
  ropeway::cli::AddDoctor(app, &status);
  ropeway::cli::AddTune(app, &status);
  ropeway::cli::AddEnv(app, &status);
  ropeway::cli::AddCompletion(app, &status);
  ropeway::cli::AddHelp(app, &status);
  ropeway::cli::AddManual(app, &status);
  ropeway::cli::AddServeMemory(app, &status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help arrives here too
    std::fprintf(stderr, "%s\n", ropeway::cli::ExplainMistake(app, error, argc, argv).c_str());
    return ropeway::cli::kWrongUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ropeway: %s\n", error.what());
    return ropeway::cli::kFound;
  }
  return status;
}
