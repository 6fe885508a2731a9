// `ropeway ps PID`: what the streams of a running process do and wait for, without stopping it. The gdb command `info ropeway` runs it,
// too, and is its memory then.
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/other_memory.h"
#include "cli/process_state.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

struct PsOptions {
  int pid = 0;
  bool as_json = false;
  std::vector<uint64_t> debugger;  // the table's address, and where to ask, for the debugger's script
};

struct Sums {
  explicit Sums(const ProcessState& process) {
    for (const StreamState& stream : process.streams) {
      pending += stream.pending;
      bytes += stream.bytes;
      idle += stream.pending == 0 && stream.error == 0;
    }
  }
  uint64_t pending = 0, bytes = 0;
  size_t idle = 0;
};

std::string PlaceOf(const MemoryState& memory) {
  return memory.device < 0 ? "pinned host memory" : "memory of device " + std::to_string(memory.device);
}

std::string NameOf(const StreamState& stream) {
  return std::to_string(stream.id) + (stream.is_default ? " (default)" : "") + (stream.destroyed ? " (destroyed)" : "");
}

std::string WordsOf(const StreamState& stream) {
  std::string words = stream.doing;
  if (!stream.waits_for.empty()) words = "waits for " + stream.waits_for;
  if (stream.error != 0) words += Format("; has failed with %d", stream.error);
  return words;
}

void PrintText(const ProcessState& process) {
  for (const MemoryState& memory : process.memory)
    std::printf("%s: %s of %s in %" PRIu64 " blocks, at most %s so far\n", PlaceOf(memory).c_str(), FormatBytes(memory.bytes).c_str(),
                FormatBytes(memory.capacity).c_str(), memory.blocks, FormatBytes(memory.peak).c_str());
  const Sums sums(process);
  std::printf("streams: %zu, with %" PRIu64 " tasks pending and %s in flight; %zu have nothing to do\n", process.streams.size(),
              sums.pending, FormatBytes(sums.bytes).c_str(), sums.idle);
  if (sums.idle == process.streams.size()) return;
  Table table({{"stream", Align::kRight},
               {"device", Align::kRight},
               {"done", Align::kRight},
               {"pending", Align::kRight},
               {"in flight", Align::kRight},
               {"head"},
               {"what it does"}});
  for (const StreamState& stream : process.streams) {
    if (stream.pending == 0 && stream.error == 0) continue;
    table.AddRow({NameOf(stream), std::to_string(stream.device), std::to_string(stream.done), std::to_string(stream.pending),
                  FormatBytes(stream.bytes), stream.head, WordsOf(stream)});
  }
  table.Print(stdout);
}

void PrintForMachines(const PsOptions& options, const std::string& program, const ProcessState& process) {
  const Sums sums(process);
  JsonRow facts{{"pid", static_cast<uint64_t>(options.pid)},
                {"program", program},
                {"release", process.release},
                {"started", process.started},
                {"pending", sums.pending},
                {"bytes_in_flight", sums.bytes}};
  JsonList memory{"memory", {}}, streams{"streams", {}};
  for (const MemoryState& one : process.memory)
    memory.rows.push_back({{"place", one.device < 0 ? std::string("host") : "device " + std::to_string(one.device)},
                           {"blocks", one.blocks},
                           {"bytes", one.bytes},
                           {"peak_bytes", one.peak},
                           {"capacity_bytes", one.capacity}});
  for (const StreamState& one : process.streams)
    streams.rows.push_back({{"stream", static_cast<uint64_t>(one.id)},
                            {"device", static_cast<uint64_t>(one.device)},
                            {"default", one.is_default},
                            {"destroyed", one.destroyed},
                            {"done", one.done},
                            {"pending", one.pending},
                            {"bytes_in_flight", one.bytes},
                            {"doing", one.doing},
                            {"head", one.head},
                            {"head_kind", one.head_kind},
                            {"waits_for", one.waits_for},
                            {"error", static_cast<uint64_t>(one.error)}});
  PrintJson(facts, {memory, streams});
}

int Show(const PsOptions& options, const std::string& program, const ProcessState& process) {
  if (options.as_json) {
    PrintForMachines(options, program, process);
    return kDone;
  }
  if (!program.empty()) std::printf("process %d: %s\n", options.pid, program.c_str());
  if (process.started)
    PrintText(process);
  else
    std::puts("no device has been used yet");
  return kDone;
}

int LookInto(const PsOptions& options) {
  RunningProcess running(options.pid);
  const uint64_t table = running.FindExported("ropewayStateTable");
  if (table == 0)
    throw CannotLook(kWrongUsage, Format("process %d has no libascendcl.so of Ropeway in it: %s", options.pid, running.program().c_str()));
  return Show(options, running.program(), ReadProcessState(running, table));
}

int RunPs(const PsOptions& options) try {
  if (options.debugger.empty()) return LookInto(options);
  AskedMemory asked(static_cast<int>(options.debugger[1]));
  return Show(options, "", ReadProcessState(asked, options.debugger[0]));
} catch (const CannotLook& why) {
  std::fprintf(stderr, "ropeway ps: %s\n", why.what());
  return why.exit_code;
}

}  // namespace

void AddPs(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("ps", "look into a running process: what its streams do and wait for; it is not stopped");
  auto options = std::make_shared<PsOptions>();
  command->add_option("pid", options->pid, "the process")->type_name("PID")->check(CLI::Range(1, 4194304))->required();
  command->add_flag("--json", options->as_json, "for machines: all streams, also those that have nothing to do");
  command->add_option("--debugger", options->debugger)->expected(2)->group("");  // packaging/ropeway_gdb.py
  command->callback([options, status] { *status = RunPs(*options); });
}

}  // namespace ropeway::cli
