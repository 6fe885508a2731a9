// A copy of a few KiB whose bytes the same core reads at once: what matters is that they are in its cache, so stores around it lose.
#include <atomic>
#include <optional>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/raw_methods.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kPoolBytes = 512 << 20;
constexpr size_t kSampleBytes = 16 << 20;

// Seconds per byte of copy_one(offset) and of reading what it wrote.
template <typename CopyOne>
double CopyThenRead(ColdPool& pool, size_t size, CopyOne copy_one) {
  static std::atomic<uint64_t> sum;
  const size_t count = kSampleBytes / size;
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < count; ++i) {
    const size_t offset = pool.Next();
    copy_one(offset);
    sum.store(SumOfLines(pool.view(offset), size), std::memory_order_relaxed);
  }
  return SecondsSince(start) / kSampleBytes;
}

void BenchSize(BenchReport& report, ColdPool& pool, size_t size) {
  const std::string name = "then_read_" + SizeName(size);
  if (!report.Begin(name)) return;
  // The synchronous call: its bytes move on this thread.
  auto ropeway = [&] {
    return CopyThenRead(pool, size,
                        [&](size_t at) { RW_ACL(aclrtMemcpy(pool.device(at), size, pool.host(at), size, ACL_MEMCPY_HOST_TO_DEVICE)); });
  };
  auto raw = [&](const RawMethod& method) {
    return CopyThenRead(pool, size, [&](size_t at) { method.copy(pool.view(at), pool.host(at), size); });
  };
  pool.WalkScattered(size);
  pool.Verify(name.c_str(), kSampleBytes / size, size, ropeway);
  const RawMethod best = BestRawMethod(raw, [](const RawMethod& method) { return !method.streams; });
  const Rounds rounds = RunShuffled({{"ropeway", ropeway}, {"raw", [&] { return raw(best); }}}, 3 * report.rounds());
  report.Add({name, FormatBytes(size) + " cold, one copy, then read by the same core", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond,
              Describe(best), 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 1.0}});
}

}  // namespace

void BenchThenRead(BenchReport& report) {
  std::optional<ColdPool> pool;
  for (size_t size : {4 * kKiB, 16 * kKiB, 64 * kKiB, 128 * kKiB}) {
    if (!report.Wants("then_read_" + SizeName(size))) continue;
    if (!pool) pool.emplace(kPoolBytes);
    BenchSize(report, *pool, size);
  }
}

}  // namespace ropeway::cli
