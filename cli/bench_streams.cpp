// What streams cost: the same copies through 1 to 1000 of them, and a hundred that have nothing to do.
#include <time.h>
#include <unistd.h>

#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kPoolBytes = 128 << 20;
constexpr size_t kCopies = 2000;  // fits one stream's queue, so that no count of streams ever waits for room
constexpr size_t kIdleStreams = 100;
constexpr unsigned kSettleMicroseconds = 100'000;
constexpr unsigned kIdleMicroseconds = 500'000;

// The copies go round robin over the first `count` streams: every submit finds another stream than the one before.
double Spread(ColdPool& pool, const std::vector<Stream>& streams, size_t count) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kCopies; ++i) {
    const size_t offset = pool.Next();
    RW_ACL(aclrtMemcpyAsync(pool.device(offset), kBlock, pool.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, streams[i % count].get()));
  }
  RW_ACL(aclrtSynchronizeDevice());
  return SecondsSince(start) / kCopies;
}

void BenchStreamCounts(BenchReport& report) {
  if (!report.Begin("streams")) return;
  ColdPool pool(kPoolBytes);
  const std::vector<size_t> counts = {1, 10, 100, 1000};
  const std::vector<Stream> streams(counts.back());
  pool.WalkScattered(kBlock);
  std::vector<Contestant> contestants;
  for (size_t count : counts) {
    pool.Verify("streams", kCopies, kBlock, [&] { Spread(pool, streams, count); });
    contestants.push_back({Format("%zu streams", count), [&, count] { return Spread(pool, streams, count); }});
  }
  const Rounds rounds = RunShuffled(contestants, 3 * report.rounds());
  for (size_t i = 1; i < counts.size(); ++i) {
    report.Add({Format("streams_%zu", counts[i]), Format("2000 x 4 KiB cold over %zu streams, per copy", counts[i]), rounds.MedianCost(i),
                Unit::kSeconds, "one stream", rounds.MedianCost(0), rounds.CostRatio(i, 0), Goal{Goal::kAtMost, Unit::kRatio, 1.3, 1.0}});
  }
}

double ProcessCpuSeconds() {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// All streams have worked and are done; after a moment to settle, nothing may run. The goal is 0 %: the limit leaves
// room for this thread going to sleep and waking up.
void BenchIdle(BenchReport& report) {
  if (!report.Begin("idle_100_streams")) return;
  ColdPool pool(kIdleStreams * kBlock);
  const std::vector<Stream> streams(kIdleStreams);
  pool.WalkInOrder(kBlock);
  pool.Verify("idle_100_streams", kIdleStreams, kBlock, [&] {
    for (const Stream& stream : streams) {
      const size_t offset = pool.Next();
      RW_ACL(aclrtMemcpyAsync(pool.device(offset), kBlock, pool.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    }
    RW_ACL(aclrtSynchronizeDevice());
  });
  usleep(kSettleMicroseconds);
  const double cpu_before = ProcessCpuSeconds();
  const Clock::time_point start = Clock::now();
  usleep(kIdleMicroseconds);
  const double percent = 100 * (ProcessCpuSeconds() - cpu_before) / SecondsSince(start);
  report.Add({"idle_100_streams", "CPU of a process with 100 idle streams", percent, Unit::kPercent, "", std::nullopt, percent,
              Goal{Goal::kAtMost, Unit::kPercent, 0.05, 0.05}});
}

}  // namespace

void BenchManyStreams(BenchReport& report) {
  BenchStreamCounts(report);
  BenchIdle(report);
}

}  // namespace ropeway::cli
