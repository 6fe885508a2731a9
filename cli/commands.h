// The subcommands of `ropeway`, one file each. Each function adds its command to the parser; when the user chose it,
// parsing runs it and stores the exit status.
#pragma once

#include <CLI/CLI.hpp>

namespace ropeway::cli {

void AddBench(CLI::App& app, int* status);
void AddCheck(CLI::App& app, int* status);
void AddCompletion(CLI::App& app, int* status);
void AddDemo(CLI::App& app, int* status);
void AddDoctor(CLI::App& app, int* status);
void AddEnv(CLI::App& app, int* status);
void AddExec(CLI::App& app, int* status);
void AddExplore(CLI::App& app, int* status);
void AddHelp(CLI::App& app, int* status);
void AddManual(CLI::App& app, int* status);
void AddPs(CLI::App& app, int* status);
void AddRanks(CLI::App& app, int* status);
void AddTrace(CLI::App& app, int* status);
void AddReport(CLI::App& app, int* status);
void AddTune(CLI::App& app, int* status);
void AddServeMemory(CLI::App& app, int* status);  // not for people: memory_server.h

}  // namespace ropeway::cli
