// `ropeway demo`: walks every copy path, looks at every byte, and says how fast it was beside a plain loop.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/demo_page.h"
#include "cli/demo_paths.h"
#include "cli/measure.h"
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

// Fills in the two speed columns.
void Measure(const DemoPath& path, std::string* rate, std::string* fraction) {
  auto timed = [](const std::function<void()>& work) {
    return [&work] {
      const Clock::time_point start = Clock::now();
      work();
      return SecondsSince(start);
    };
  };
  const Rounds rounds = RunShuffled({{"path", timed(path.run)}, {"raw", timed(path.raw)}}, kRounds);
  *rate = FormatGigabytes(static_cast<double>(path.size_bytes) / rounds.MedianCost(0));
  *fraction = Format("%.2f", rounds.SpeedRatio(0, 1).value);
}

void Walk(const DemoPath& path, Table& table, Tally& tally) {
  const std::string size = path.size_bytes == 0 ? "" : FormatBytes(path.size_bytes);
  const Verdict verdict = path.skipped.empty() ? Verify(path, tally) : Verdict::kSkipped;
  if (verdict == Verdict::kSkipped) {
    ++tally.skipped;
    table.AddRow({path.name, size, "skipped: " + (path.skipped.empty() ? kNotOnThisProduct : path.skipped)});
    return;
  }
  const bool verified = verdict == Verdict::kVerified;
  std::string rate = "-";
  std::string fraction = "-";
  if (verified && path.run) Measure(path, &rate, &fraction);
  table.AddRow({path.name, size, verified ? "yes" : "NO", rate, fraction});
}

void PrintMessage(const std::string& message) {
  std::printf("\nWhat the library says to a program that copies 4096 bytes into 1024 (aclGetRecentErrMsg):\n");
  for (size_t start = 0; start < message.size();) {
    const size_t end = std::min(message.find('\n', start), message.size());
    std::printf("  | %s\n", message.substr(start, end - start).c_str());
    start = end + 1;
  }
}

int RunDemo(const std::string& page) {
  const Clock::time_point start = Clock::now();
  Table table({{"path"}, {"size", Align::kRight}, {"verified"}, {"GB/s", Align::kRight}, {"of a raw loop", Align::kRight}});
  Tally tally;
  std::string message;
  {
    DeviceScope device(0);
    DemoMemory memory;
    for (auto* paths : {CopyPaths, BatchPaths, DescriptorPaths, ComputePaths, CrossingPaths, GraphPaths}) {
      for (const DemoPath& path : paths(memory)) Walk(path, table, tally);
    }
    Walk(ErrorPath(memory, &message), table, tally);
  }
  std::printf("Ropeway %s, engine %s: every path, byte by byte; medians of %d rounds, memcpy measured in between\n\n", ropewayGetVersion(),
              ropewayGetEngineName(), kRounds);
  table.Print(stdout);
  if (!message.empty()) PrintMessage(message);
  std::printf("\n");
  for (const std::string& complaint : tally.complaints) std::printf("FAILED  %s\n", complaint.c_str());
  std::printf("%zu of %zu paths verified, %zu skipped, in %.1f s\n", tally.verified, tally.verified + tally.failed, tally.skipped,
              SecondsSince(start));
  if (!page.empty()) WriteDemoPage(page);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace

void AddDemo(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("demo", "a tour: every copy path, verified byte by byte and measured");
  auto page = std::make_shared<std::string>();
  command->add_option("--page", *page, "at the end, trace three streams and write the report page that shows them")->type_name("FILE");
  command->callback([page, status] { *status = RunDemo(*page); });
  app.add_subcommand(kDemoStreams, "what the page of the demo shows")->group("")->callback([status] { *status = RunDemoStreams(); });
}

}  // namespace ropeway::cli
