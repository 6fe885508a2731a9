// `ropeway tune`: measures by which methods, from which sizes on and on how many threads this machine copies best, and keeps the row for
// the user's programs. What is measured are the raw loops of raw_methods.h, which the library's kernels are written after.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/cold_pool.h"
#include "cli/commands.h"
#include "cli/json_rows.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/progress.h"
#include "cli/raw_team.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kTuneKiB = 1 << 10;
constexpr size_t kTunePoolBytes = 512 << 20;
constexpr size_t kTuneSampleBytes = 32 << 20;
constexpr double kWorthWakingSeconds = 100e-6;  // work of this length is worth waking a sleeper for

struct TuneFindings {
  RawMethod stream;
  RawMethod cached;
  std::vector<std::pair<int, double>> teams;  // threads, and bytes per second
  int lanes;
  size_t share_from;
  size_t wake_from;
};

class Tuner {
 public:
  Tuner() : pool_(kTunePoolBytes) {}

  TuneFindings Measure() {
    TuneFindings found{};
    Progress progress("measuring", 5);
    progress.Step("ways around the cache");
    found.stream = BestRawMethod([this](const RawMethod& method) { return Cold(method); },
                                 [](const RawMethod& method) { return method.streams || !AnyStreams(); });
    progress.Step("ways through the cache");
    found.cached = BestRawMethod([this](const RawMethod& method) { return ThenRead(method); },
                                 [](const RawMethod& method) { return !method.streams; });
    progress.Step("how many threads");
    found.lanes = EnoughThreads(found.stream, &found.teams);
    progress.Step("from which size on to share");
    found.share_from = SharedFrom(found.stream, found.lanes);
    progress.Step("from which size on to wake a thread");
    found.wake_from = WokenFrom(found.stream);
    return found;
  }

 private:
  static bool AnyStreams() {
    return std::any_of(RawMethods().begin(), RawMethods().end(), [](const RawMethod& method) { return method.streams; });
  }

  // Seconds per byte over `sample`, which copies the next block of this size.
  template <typename Sample>
  double PerByte(size_t size, Sample sample) {
    pool_.WalkScattered(size);
    const size_t count = kTuneSampleBytes / size;
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count; ++i) sample(pool_.Next());
    return SecondsSince(start) / static_cast<double>(count * size);
  }

  // No size counts more than another.
  double Cold(const RawMethod& method) {
    double product = 1;
    for (size_t size : {16 * kTuneKiB, 64 * kTuneKiB, 1024 * kTuneKiB})
      product *= PerByte(size, [&](size_t at) { method.copy(pool_.view(at), pool_.host(at), size); }) * 1e9;
    return std::cbrt(product);
  }
  double ThenRead(const RawMethod& method) {
    double product = 1;
    for (size_t size : {4 * kTuneKiB, 16 * kTuneKiB, 128 * kTuneKiB}) {
      product *= 1e9 * PerByte(size, [&](size_t at) {
                   method.copy(pool_.view(at), pool_.host(at), size);
                   for (size_t i = 0; i < size; i += 64) seen_ = static_cast<uint8_t>(seen_ + pool_.view(at)[i]);
                 });
    }
    return std::cbrt(product);
  }

  // Seconds per byte of copies of this size, each by all threads of a team.
  double ByTeam(const RawMethod& method, RawTeam& team, size_t size) {
    return PerByte(size, [&](size_t at) { team.Copy(method, pool_.view(at), pool_.host(at), size); });
  }
  double ByTeamOf(const RawMethod& method, int threads, size_t size) {
    RawTeam team(threads);
    std::vector<double> costs;
    for (int round = 0; round < 5; ++round) {
      team.Begin();
      costs.push_back(ByTeam(method, team, size));
      team.End();
    }
    return Median(std::move(costs));
  }

  // The fewest that come near the best.
  int EnoughThreads(const RawMethod& method, std::vector<std::pair<int, double>>* teams) {
    constexpr double kNear = 1.04;
    std::vector<double> costs;
    for (int threads : TeamSizes()) costs.push_back(ByTeamOf(method, threads, kTuneSampleBytes));
    const double best = *std::min_element(costs.begin(), costs.end());
    for (size_t i = 0; i < costs.size(); ++i) teams->emplace_back(TeamSizes()[i], 1 / costs[i]);
    const auto enough = std::find_if(costs.begin(), costs.end(), [&](double cost) { return cost <= best * kNear; });
    return TeamSizes()[static_cast<size_t>(enough - costs.begin())];
  }

  // The smallest copy that two threads, both awake, do clearly faster than one.
  size_t SharedFrom(const RawMethod& method, int lanes) {
    constexpr double kClearly = 1.1;
    size_t size = 128 * kTuneKiB;
    for (; lanes > 1 && size < 1024 * kTuneKiB; size *= 2) {
      if (ByTeamOf(method, 1, size) > kClearly * ByTeamOf(method, 2, size)) return std::max(size, 256 * kTuneKiB);
    }
    return 1024 * kTuneKiB;
  }

  // What one thread moves in the time that makes a wake-up worth while, as a power of two.
  size_t WokenFrom(const RawMethod& method) {
    const double bytes = kWorthWakingSeconds / ByTeamOf(method, 1, 1024 * kTuneKiB);
    size_t size = 256 * kTuneKiB;
    while (static_cast<double>(2 * size) <= bytes && size < 4096 * kTuneKiB) size *= 2;
    return size;
  }

  ColdPool pool_;
  volatile uint8_t seen_ = 0;
};

std::string RowOf(const TuneFindings& found) {
  return Format("cpu=%s\nstream=%s cached=%s ahead=%zu share_from=%zu wake_from=%zu lanes=%d\n", ropewayGetCpuSignature(),
                found.stream.name.c_str(), found.cached.name.c_str(), found.stream.ahead_bytes, found.share_from, found.wake_from,
                found.lanes);
}

// Whole, or not at all: a program that starts meanwhile reads the old row or the new one.
std::filesystem::path Keep(const std::string& row) {
  const std::filesystem::path path = ropewayGetCopyProfilePath();
  if (path.empty()) throw std::runtime_error("tune: there is no folder for the row: set HOME or XDG_CONFIG_HOME");
  std::filesystem::create_directories(path.parent_path());
  const std::string draft = path.string() + ".new";
  std::ofstream file(draft);
  file << row;
  if (!file.flush()) throw std::runtime_error("tune: cannot write " + draft);
  std::filesystem::rename(draft, path);
  return path;
}

int RunTune(bool dry_run, bool as_json) {
  setenv("ROPEWAY_ENGINE", "cpu", 1);
  if (!as_json) std::printf("before: %s\n", ropewayGetCopyProfile());
  DeviceScope device(0);
  const TuneFindings found = Tuner().Measure();
  if (as_json) {
    JsonList teams{"teams", {}};
    for (const auto& [threads, rate] : found.teams)
      teams.rows.push_back({{"threads", static_cast<uint64_t>(threads)}, {"bytes_per_second", rate}});
    PrintJson({{"cpu", ropewayGetCpuSignature()},
               {"stream", found.stream.name},
               {"cached", found.cached.name},
               {"ahead", static_cast<uint64_t>(found.stream.ahead_bytes)},
               {"share_from", static_cast<uint64_t>(found.share_from)},
               {"wake_from", static_cast<uint64_t>(found.wake_from)},
               {"lanes", static_cast<uint64_t>(found.lanes)},
               {"kept", !dry_run}},
              {teams});
  } else {
    for (const auto& [threads, rate] : found.teams) std::printf("%4d threads  %s GB/s\n", threads, FormatGigabytes(rate).c_str());
    std::printf("around the cache: %s; through it: %s\n\n%s\n", Describe(found.stream).c_str(), found.cached.name.c_str(),
                RowOf(found).c_str());
  }
  if (dry_run) return 0;
  const std::filesystem::path path = Keep(RowOf(found));
  if (!as_json) std::printf("kept in %s: programs that start from now on use it\n", path.c_str());
  return 0;
}

}  // namespace

void AddTune(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("tune", "measure how this machine copies best, and keep that for your programs");
  auto dry_run = std::make_shared<bool>(false);
  command->add_flag("--dry-run", *dry_run, "tell, and keep nothing");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "for machines");
  command->callback([dry_run, as_json, status] { *status = RunTune(*dry_run, *as_json); });
}

}  // namespace ropeway::cli
