// `ropeway tune`: measures by which methods, from which sizes on and on how many threads this machine copies best, and keeps the row for
// the user's programs. Methods are measured as the library has them: a raw loop that does the same may be a tenth faster or slower. How
// many threads it takes is measured with raw ones.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
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
#include "cli/raw_methods.h"
#include "cli/raw_team.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kTuneKiB = 1 << 10;
constexpr size_t kTunePoolBytes = 512 << 20;
constexpr size_t kTuneSampleBytes = 32 << 20;
constexpr double kWorthWakingSeconds = 100e-6;  // work of this length is worth waking a sleeper for

constexpr size_t kAllOfACopy = size_t{1} << 30;

// A way to copy of the library's.
struct Way {
  std::string method;  // as the setting ROPEWAY_COPY_METHOD has it
  size_t ahead = 0;
  size_t ahead_span = 0;

  bool Exists() const {
    char from = 0, to = 0;
    return ropewayCopyBy(("cached=" + method).c_str(), 1, &to, &from, 1) == ACL_SUCCESS;
  }
  std::string AheadWords() const { return Format("ahead=%zu ahead_span=%zu", ahead, ahead_span); }
  // "avx2, 2 KiB ahead at first"
  std::string Shown() const { return method + DescribeAhead(ahead, ahead_span == kAllOfACopy); }
};

std::vector<Way> OfThisCpu(std::vector<Way> ways) {
  std::erase_if(ways, [](const Way& way) { return !way.Exists(); });
  return ways;
}
// Those around the cache; the methods that have stores for it may ask ahead.
std::vector<Way> WaysAround() {
  std::vector<Way> ways = {{"libc"}, {"rep_movsb"}};
  for (const char* method : {"avx512", "avx2", "sse2", "neon"}) {
    ways.push_back({method, 0, kAllOfACopy});
    for (size_t ahead : {kTuneKiB, 2 * kTuneKiB, 3 * kTuneKiB}) ways.push_back({method, ahead, kAllOfACopy});
    ways.push_back({method, 2 * kTuneKiB, 16 * kTuneKiB});
  }
  return OfThisCpu(std::move(ways));
}
std::vector<Way> WaysThrough() { return OfThisCpu({{"libc"}, {"rep_movsb"}, {"avx512"}, {"avx2"}, {"sse2"}, {"neon"}}); }

struct TuneFindings {
  Way stream;
  Way cached;
  Way cached_long;
  size_t long_from;
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
    found.stream = Best(WaysAround(), [this](const Way& way) {
      return OfAll({16 * kTuneKiB, 64 * kTuneKiB, 1024 * kTuneKiB}, [&](size_t size) { return Cold(way, size); });
    });
    progress.Step("ways through the cache");
    found.cached = BestThrough({4 * kTuneKiB, 8 * kTuneKiB});
    found.cached_long = BestThrough({64 * kTuneKiB, 128 * kTuneKiB});
    found.long_from = LongFrom(found.cached, found.cached_long);
    progress.Step("how many threads");
    const RawMethod raw = BestRawMethod([this](const RawMethod& method) {
      return PerByte(1024 * kTuneKiB, [&](size_t at) { method.copy(pool_.view(at), pool_.host(at), 1024 * kTuneKiB); });
    });
    found.lanes = EnoughThreads(raw, &found.teams);
    progress.Step("from which size on to share");
    found.share_from = SharedFrom(raw, found.lanes);
    progress.Step("from which size on to wake a thread");
    found.wake_from = WokenFrom(raw);
    return found;
  }

  // Each way at each size, one thread.
  void TellAll() {
    Tell("around the cache, GB/s", WaysAround(), [this](const Way& way, size_t size) { return Cold(way, size); });
    std::printf("\n");
    Tell("through it, then read, GB/s", WaysThrough(), [this](const Way& way, size_t size) { return ThenRead(way, size); });
  }

 private:
  template <typename Cost>
  void Tell(const char* title, const std::vector<Way>& ways, Cost cost) {
    const size_t sizes[] = {4 * kTuneKiB, 8 * kTuneKiB, 16 * kTuneKiB, 32 * kTuneKiB, 64 * kTuneKiB, 128 * kTuneKiB, 1024 * kTuneKiB};
    std::vector<Column> columns = {{title}};
    for (size_t size : sizes) columns.push_back({FormatBytes(size), Align::kRight});
    std::vector<std::vector<std::string>> rows;
    for (const Way& way : ways) rows.push_back({way.Shown()});
    for (size_t size : sizes) {
      std::vector<Contestant> contestants;
      for (const Way& way : ways) contestants.push_back({way.method, [&] { return cost(way, size); }});
      const Rounds rounds = RunShuffled(contestants, 9);
      for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(FormatGigabytes(1 / rounds.MedianCost(i)));
    }
    Table table(columns);
    for (std::vector<std::string>& row : rows) table.AddRow(std::move(row));
    table.Print(stdout);
  }

  // Seconds per byte over `sample`, which copies the next block of this size. Never those that the last sample has left in the cache.
  template <typename Sample>
  double PerByte(size_t size, Sample sample) {
    pool_.WalkScattered(size);
    pool_.Skip(walked_bytes_ / size);
    walked_bytes_ += kTuneSampleBytes;
    const size_t count = kTuneSampleBytes / size;
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count; ++i) sample(pool_.Next());
    return SecondsSince(start) / static_cast<double>(count * size);
  }

  // Of a method at several sizes, of which none counts more than another.
  template <typename CostOf>
  static double OfAll(std::initializer_list<size_t> sizes, CostOf cost_of) {
    double product = 1;
    for (size_t size : sizes) product *= cost_of(size) * 1e9;
    return product;
  }
  double Cold(const Way& way, size_t size) {
    const std::string words = "stream=" + way.method + " " + way.AheadWords();
    return PerByte(size, [&](size_t at) { RW_ACL(ropewayCopyBy(words.c_str(), 0, pool_.view(at), pool_.host(at), size)); });
  }
  double ThenRead(const Way& way, size_t size) {
    const std::string words = "cached=" + way.method;
    return PerByte(size, [&](size_t at) {
      RW_ACL(ropewayCopyBy(words.c_str(), 1, pool_.view(at), pool_.host(at), size));
      seen_ = SumOfLines(pool_.view(at), size);
    });
  }
  template <typename Cost>
  static Way Best(const std::vector<Way>& ways, Cost cost) {
    std::vector<Contestant> contestants;
    for (const Way& way : ways) contestants.push_back({way.method, [&] { return cost(way); }});
    return ways[Fastest(contestants)];
  }
  Way BestThrough(std::initializer_list<size_t> sizes) {
    return Best(WaysThrough(), [&](const Way& way) { return OfAll(sizes, [&](size_t size) { return ThenRead(way, size); }); });
  }
  // The smallest size at which the method for long copies is the faster.
  size_t LongFrom(const Way& cached, const Way& cached_long) {
    size_t size = 8 * kTuneKiB;
    while (size < 64 * kTuneKiB && Fastest({{cached.method, [&] { return ThenRead(cached, size); }},
                                            {cached_long.method, [&] { return ThenRead(cached_long, size); }}}) == 0)
      size *= 2;
    return size;
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
  size_t walked_bytes_ = 0;
  volatile uint64_t seen_ = 0;
};

std::string RowOf(const TuneFindings& found) {
  return Format("cpu=%s\nstream=%s cached=%s cached_long=%s long_from=%zu %s share_from=%zu wake_from=%zu lanes=%d\n",
                ropewayGetCpuSignature(), found.stream.method.c_str(), found.cached.method.c_str(), found.cached_long.method.c_str(),
                found.long_from, found.stream.AheadWords().c_str(), found.share_from, found.wake_from, found.lanes);
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

struct TuneFlags {
  bool dry_run = false;
  bool as_json = false;
  bool table = false;
};

int RunTune(const TuneFlags& flags) {
  setenv("ROPEWAY_ENGINE", "cpu", 1);
  if (!flags.as_json) std::printf("before: %s\n", ropewayGetCopyProfile());
  DeviceScope device(0);
  Tuner tuner;
  if (flags.table) {
    tuner.TellAll();
    return 0;
  }
  const TuneFindings found = tuner.Measure();
  if (flags.as_json) {
    JsonList teams{"teams", {}};
    for (const auto& [threads, rate] : found.teams)
      teams.rows.push_back({{"threads", static_cast<uint64_t>(threads)}, {"bytes_per_second", rate}});
    PrintJson({{"cpu", ropewayGetCpuSignature()},
               {"stream", found.stream.method},
               {"cached", found.cached.method},
               {"cached_long", found.cached_long.method},
               {"long_from", static_cast<uint64_t>(found.long_from)},
               {"ahead", static_cast<uint64_t>(found.stream.ahead)},
               {"ahead_span", static_cast<uint64_t>(found.stream.ahead_span)},
               {"share_from", static_cast<uint64_t>(found.share_from)},
               {"wake_from", static_cast<uint64_t>(found.wake_from)},
               {"lanes", static_cast<uint64_t>(found.lanes)},
               {"kept", !flags.dry_run}},
              {teams});
  } else {
    for (const auto& [threads, rate] : found.teams) std::printf("%4d threads  %s GB/s\n", threads, FormatGigabytes(rate).c_str());
    std::printf("around the cache: %s; through it: %s, from %s on %s\n\n%s\n", found.stream.method.c_str(), found.cached.method.c_str(),
                FormatBytes(found.long_from).c_str(), found.cached_long.method.c_str(), RowOf(found).c_str());
  }
  if (flags.dry_run) return 0;
  const std::filesystem::path path = Keep(RowOf(found));
  if (!flags.as_json) std::printf("kept in %s: programs that start from now on use it\n", path.c_str());
  return 0;
}

}  // namespace

void AddTune(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("tune", "measure how this machine copies best, and keep that for your programs");
  auto flags = std::make_shared<TuneFlags>();
  command->add_flag("--dry-run", flags->dry_run, "tell, and keep nothing");
  command->add_flag("--json", flags->as_json, "for machines");
  command->add_flag("--table", flags->table, "tell how fast each way is at each size, and keep nothing");
  command->callback([flags, status] {
    if (flags->table && flags->as_json) throw CLI::ExcludesError("--table", "--json");
    *status = RunTune(*flags);
  });
}

}  // namespace ropeway::cli
