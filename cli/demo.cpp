// `ropeway demo`: walks every copy path, looks at every byte, and says how fast it was beside a plain loop.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>

#include "cli/commands.h"
#include "cli/demo_page.h"
#include "cli/demo_paths.h"
#include "cli/json_rows.h"
#include "cli/measure.h"
#include "cli/progress.h"
#include "cli/table.h"

namespace ropeway::cli {

namespace {

constexpr int kRounds = 9;

struct Tally {
  size_t verified = 0;
  size_t failed = 0;
  size_t skipped = 0;
  std::vector<std::string> complaints;  // one per failed path
};

enum class Verdict { kVerified, kFailed, kSkipped };

// A refused call counts as failed and does not end the tour, unless ROPEWAY_SOC names a product that has no such call.
Verdict Verify(const DemoPath& path, Tally& tally) {
  std::string complaint = "not the right bytes, or not at the right time";
  try {
    if (path.check()) {
      ++tally.verified;
      return Verdict::kVerified;
    }
  } catch (const AclFailure& failure) {
    if (failure.code() == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return Verdict::kSkipped;
    complaint = failure.what();
  } catch (const std::exception& error) {
    complaint = error.what();
  }
  ++tally.failed;
  tally.complaints.push_back(path.name + ": " + complaint);
  return Verdict::kFailed;
}

// What was seen of a path.
struct Seen {
  const std::string name;
  const size_t size_bytes;
  Verdict verdict;
  std::string skipped = "";  // why
  bool measured = false;
  double bytes_per_second = 0;
  double of_raw_loop = 0;
};

void Measure(const DemoPath& path, Seen* seen) {
  auto timed = [](const std::function<void()>& work) {
    return [&work] {
      const Clock::time_point start = Clock::now();
      work();
      return SecondsSince(start);
    };
  };
  const Rounds rounds = RunShuffled({{"path", timed(path.run)}, {"raw", timed(path.raw)}}, kRounds);
  seen->measured = true;
  seen->bytes_per_second = static_cast<double>(path.size_bytes) / rounds.MedianCost(0);
  seen->of_raw_loop = rounds.SpeedRatio(0, 1).value;
}

void Walk(const DemoPath& path, std::vector<Seen>& all, Tally& tally) {
  Seen seen{path.name, path.size_bytes, path.skipped.empty() ? Verify(path, tally) : Verdict::kSkipped};
  if (seen.verdict == Verdict::kSkipped) {
    ++tally.skipped;
    seen.skipped = path.skipped.empty() ? kNotOnThisProduct : path.skipped;
  }
  if (seen.verdict == Verdict::kVerified && path.run) Measure(path, &seen);
  all.push_back(std::move(seen));
}

void PrintTable(const std::vector<Seen>& all) {
  Table table({{"path"}, {"size", Align::kRight}, {"verified"}, {"GB/s", Align::kRight}, {"of a raw loop", Align::kRight}});
  for (const Seen& seen : all) {
    const std::string size = seen.size_bytes == 0 ? "" : FormatBytes(seen.size_bytes);
    if (seen.verdict == Verdict::kSkipped)
      table.AddRow({seen.name, size, "skipped: " + seen.skipped});
    else
      table.AddRow({seen.name, size, seen.verdict == Verdict::kVerified ? "yes" : "NO",
                    seen.measured ? FormatGigabytes(seen.bytes_per_second) : "-", seen.measured ? Format("%.2f", seen.of_raw_loop) : "-"});
  }
  table.Print(stdout);
}

void PrintForMachines(const std::vector<Seen>& all, const Tally& tally, const std::string& message) {
  JsonList paths{"paths", {}};
  for (const Seen& seen : all) {
    JsonRow row{{"path", seen.name}, {"bytes", static_cast<uint64_t>(seen.size_bytes)}, {"verified", seen.verdict == Verdict::kVerified}};
    if (seen.verdict == Verdict::kSkipped) row.emplace_back("skipped", seen.skipped);
    if (seen.measured) {
      row.emplace_back("bytes_per_second", seen.bytes_per_second);
      row.emplace_back("of_raw_loop", seen.of_raw_loop);
    }
    paths.rows.push_back(std::move(row));
  }
  JsonList complaints{"complaints", {}};
  for (const std::string& complaint : tally.complaints) complaints.rows.push_back({{"text", complaint}});
  PrintJson({{"ropeway", ropewayGetVersion()},
             {"engine", ropewayGetEngineName()},
             {"rounds", static_cast<uint64_t>(kRounds)},
             {"verified", static_cast<uint64_t>(tally.verified)},
             {"failed", static_cast<uint64_t>(tally.failed)},
             {"skipped", static_cast<uint64_t>(tally.skipped)},
             {"message", message}},
            {paths, complaints});
}

void PrintMessage(const std::string& message) {
  std::printf("\nWhat the library says to a program that copies 4096 bytes into 1024 (aclGetRecentErrMsg):\n");
  for (size_t start = 0; start < message.size();) {
    const size_t end = std::min(message.find('\n', start), message.size());
    std::printf("  | %s\n", message.substr(start, end - start).c_str());
    start = end + 1;
  }
}

void PrintForPeople(const std::vector<Seen>& all, const Tally& tally, const std::string& message, double seconds) {
  std::printf("Ropeway %s, engine %s: every path, byte by byte; medians of %d rounds, memcpy measured in between\n\n", ropewayGetVersion(),
              ropewayGetEngineName(), kRounds);
  PrintTable(all);
  if (!message.empty()) PrintMessage(message);
  std::printf("\n");
  for (const std::string& complaint : tally.complaints) std::printf("FAILED  %s\n", complaint.c_str());
  std::printf("%zu of %zu paths verified, %zu skipped, in %.1f s\n", tally.verified, tally.verified + tally.failed, tally.skipped, seconds);
}

int RunDemo(const std::string& page, bool as_json) {
  const Clock::time_point start = Clock::now();
  std::vector<Seen> all;
  Tally tally;
  std::string message;
  {
    DeviceScope device(0);
    DemoMemory memory;
    constexpr struct {
      const char* name;
      decltype(&CopyPaths) paths;
    } kGroups[] = {{"copies", CopyPaths},
                   {"batches", BatchPaths},
                   {"descriptors", DescriptorPaths},
                   {"compute", ComputePaths},
                   {"other processes", CrossingPaths},
                   {"graphs", GraphPaths}};
    Progress progress("walking the paths of", std::size(kGroups), Progress::kPatience);
    for (const auto& group : kGroups) {
      progress.Step(group.name);
      for (const DemoPath& path : group.paths(memory)) Walk(path, all, tally);
    }
    Walk(ErrorPath(memory, &message), all, tally);
  }
  if (as_json)
    PrintForMachines(all, tally, message);
  else
    PrintForPeople(all, tally, message, SecondsSince(start));
  if (!page.empty()) WriteDemoPage(page, as_json ? stderr : stdout);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace

void AddDemo(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("demo", "a tour: every copy path, verified byte by byte and measured");
  auto page = std::make_shared<std::string>();
  command->add_option("--page", *page, "at the end, trace three streams and write the report page that shows them")->type_name("FILE");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "for machines: what was verified and measured");
  command->callback([page, as_json, status] { *status = RunDemo(*page, *as_json); });
  app.add_subcommand(kDemoStreams, "what the page of the demo shows")->group("")->callback([status] { *status = RunDemoStreams(); });
}

}  // namespace ropeway::cli
