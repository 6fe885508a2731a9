// `ropeway check`: runs a program with the checking layer in front of its AscendCL, and tells by the exit status what was found.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "check/tally.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/sanitizer_reports.h"
#include "src/base/fault_rules.h"

namespace ropeway::cli {
namespace {

constexpr char kLayer[] = "libropeway_check.so";
constexpr char kFaults[] = "ROPEWAY_FAULTS";

struct CheckOptions {
  std::vector<std::string> words;
  std::string on;  // another AscendCL: its library or its folder
  std::string suppress;
  std::string output;
  std::vector<std::string> faults;
  int hang_s = 10;
  bool json = false;
  bool stacks = false;
  bool leaks = false;
  bool every = false;
  std::string host_access = "off";
};

// Calls are made to answer by the layer, on any AscendCL; all else is Ropeway's to do.
std::string FaultsOf(const CheckOptions& options, bool of_layer) {
  std::string list;
  for (const std::string& words : options.faults)
    for (const FaultRule& rule : ParseFaultRules(words).rules)
      if ((rule.kind == FaultKind::kAnswer) == of_layer) list.append(list.empty() ? "" : ";").append(rule.text);
  return list;
}

void ExportFaults(const CheckOptions& options) {
  const std::string rules = FaultsOf(options, false);
  const char* const given = std::getenv(kFaults);
  if (!rules.empty()) setenv(kFaults, (given == nullptr || *given == '\0' ? rules : given + (";" + rules)).c_str(), 1);
}

std::string LayerOptions(const CheckOptions& options) {
  std::string list = "hang=" + std::to_string(options.hang_s);
  if (options.json) list += ",json";
  if (options.stacks) list += ",stacks";
  if (options.leaks) list += ",leaks";
  if (options.every) list += ",every";
  if (options.host_access != "off") list += ",host-access=" + options.host_access;
  if (!options.suppress.empty()) list += ",suppress=" + std::filesystem::absolute(options.suppress).string();
  if (const std::string rules = FaultsOf(options, true); !rules.empty()) list += ",faults=" + rules;
  if (!options.output.empty()) list += ",output=" + std::filesystem::absolute(options.output).string();
  return list;
}

void ExportTarget(const Tree& tree, const std::string& on) {
  if (on.empty()) {
    for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
    return;
  }
  const std::filesystem::path path = std::filesystem::absolute(on);
  Export({"LD_LIBRARY_PATH", (std::filesystem::is_directory(path) ? path : path.parent_path()).string(), true});
}

// Lists of libraries to preload are cut at spaces and colons: in a folder with one in its name the layer is called by its own name, and
// found behind everything else.
void ExportLayer(const Tree& tree, const std::string& layer, const std::string& on) {
  const bool odd = layer.find_first_of(" :") != std::string::npos;
  if (odd) Export({"LD_LIBRARY_PATH", tree.library_folder, true});
  ExportTarget(tree, on);
  Export({"LD_PRELOAD", odd ? kLayer : layer, true});
}

// Passed on by number: the program and what it starts find it in their environment.
check::Tally* ShareTally() {
  const int descriptor = memfd_create("ropeway-check", 0);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(check::Tally)) != 0) return nullptr;
  void* const page = mmap(nullptr, sizeof(check::Tally), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (page == MAP_FAILED) return nullptr;
  setenv(check::kTallyVariable, std::to_string(descriptor).c_str(), 1);
  return new (page) check::Tally{};
}

// AddressSanitizer of GCC refuses to run behind another library. The layer takes nothing from it.
void AdmitAddressSanitizer() {
  const char* const options = std::getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS", (std::string("verify_asan_link_order=0") + (options == nullptr ? "" : std::string(":") + options)).c_str(), 1);
}

int WaitFor(pid_t program) {
  // Keys pressed at the terminal reach the program, too; its end is waited for.
  for (const int ignored : {SIGINT, SIGQUIT}) std::signal(ignored, SIG_IGN);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  return StatusOf(status);
}

int Judge(const check::Tally& tally, int program_status) {
  const uint32_t errors = tally.errors.load(), tips = tally.tips.load();
  if (tally.loaded.load() == 0) {
    std::fprintf(stderr, "ropeway check: the program ran without the layer: it is static, set-uid, or was not started\n");
    return program_status == 0 ? 1 : program_status;
  }
  std::fprintf(stderr, "ropeway check: %u error%s, %u tip%s\n", errors, errors == 1 ? "" : "s", tips, tips == 1 ? "" : "s");
  return errors != 0 && program_status == 0 ? 1 : program_status;
}

int RunCheck(const CheckOptions& options) {
  if (const std::string ours = FaultsOf(options, false); !options.on.empty() && !ours.empty()) {
    std::fprintf(stderr, "ropeway check: --fault %s is for Ropeway's own library; with --on, calls can answer a code\n", ours.c_str());
    return 2;
  }
  const Tree tree = FindTree();
  if (!HasLibrary("check", tree)) return 1;
  const std::string layer = tree.library_folder + "/" + kLayer;
  if (access(layer.c_str(), R_OK) != 0) {
    std::fprintf(stderr, "ropeway check: %s is missing; install the tree again\n", layer.c_str());
    return 1;
  }
  check::Tally* const tally = ShareTally();
  if (tally == nullptr) {
    std::perror("ropeway check: no shared memory");
    return 1;
  }
  SanitizerReports reports;
  const pid_t program = fork();
  if (program < 0) {
    std::perror("ropeway check: no process");
    return 1;
  }
  if (program == 0) {
    ExportLayer(tree, layer, options.on);
    AdmitAddressSanitizer();
    ExportFaults(options);
    setenv("ROPEWAY_CHECK", LayerOptions(options).c_str(), 1);
    _exit(Execute("check", options.words));
  }
  reports.Start();
  const int program_status = WaitFor(program);
  tally->errors += reports.Finish();
  return Judge(*tally, program_status);
}

}  // namespace

void AddCheck(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("check", "find races, early frees and missed waits: ropeway check [OPTIONS] -- PROGRAM [ARGUMENTS...]");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("--on", options->on, "check on this AscendCL (its library or folder) instead of Ropeway's")
      ->type_name("LIB")
      ->check(CLI::ExistingPath);
  command->add_flag("--json", options->json, "one JSON object a line instead of text");
  command->add_flag("--stacks", options->stacks, "whole call stacks");
  command->add_flag("--leaks", options->leaks, "at exit: blocks, streams, events and registrations that are left");
  command->add_flag("--every", options->every, "tell a finding again when it comes again from the same places");
  command
      ->add_option("--host-access", options->host_access,
                   "watch what host code does to pinned memory under pending copies, or under one operation of sixteen [off]")
      ->type_name("on|sample|off")
      ->check(CLI::IsMember({"on", "sample", "off"}))
      ->take_last();
  command->add_option("--suppress", options->suppress, "lines \"RULE PART-OF-A-SITE\" that are not told")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command->add_option("--output", options->output, "where findings go [stderr]")->type_name("FILE");
  command
      ->add_option("--fault", options->faults, "what shall go wrong: aclrtMalloc:207001:nth=3, aclrtMemcpyAsync:fail=507013:every=5, ...")
      ->type_name("FUNCTION:FAULT...")
      ->check([](const std::string& rules) { return ParseFaultRules(rules).wrong; });
  command->add_option("--hang", options->hang_s, "after how many seconds a wait is judged [10]")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86400));
  command->add_option("PROGRAM", options->words, "the program and its arguments, behind --")
      ->type_name("PROGRAM [ARGUMENTS...]")
      ->required();
  command->callback([options, status] { *status = RunCheck(*options); });
}

}  // namespace ropeway::cli
