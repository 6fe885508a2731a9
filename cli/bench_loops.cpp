// Programs copy in loops more often than in batches: the same blocks one by one in one stream, beside one batch of them.
#include <algorithm>
#include <string>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cold_pool.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kPoolBytes = 512 << 20;

struct Loop {
  size_t size;
  size_t count;
  double must;
  double bytes() const { return static_cast<double>(size * count); }
};
constexpr Loop kLoops[] = {{1 << 20, 2048, 0.90}, {16 << 10, 20000, 0.85}, {4 << 10, 100000, 0.6}};

struct LoopWay {
  std::string name;
  const char* shown;
  aclrtMemcpyKind kind;
};
const LoopWay kToDevice = {"loop_h2d_", "H2D", ACL_MEMCPY_HOST_TO_DEVICE};
const LoopWay kOnDevice = {"loop_d2d_", "D2D", ACL_MEMCPY_DEVICE_TO_DEVICE};

template <typename Pool>
double OneByOne(Pool& pool, const Loop& loop, aclrtMemcpyKind kind, const Stream& stream) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < loop.count; ++i) {
    const size_t offset = pool.Next();
    RW_ACL(aclrtMemcpyAsync(pool.target(offset), loop.size, pool.source(offset), loop.size, kind, stream.get()));
  }
  stream.Synchronize();
  return SecondsSince(start) / loop.bytes();
}

// The arrays are the caller's work and not timed.
double AsBatch(ColdPool& pool, const Loop& loop, BlockBatch& batch, const Stream& stream) {
  batch.Clear();
  for (size_t i = 0; i < loop.count; ++i) {
    const size_t offset = pool.Next();
    batch.Add(pool.target(offset), pool.source(offset));
  }
  const Clock::time_point start = Clock::now();
  RW_ACL(batch.Submit(stream));
  stream.Synchronize();
  return SecondsSince(start) / loop.bytes();
}

// Makes a pool walk the loop's blocks, and sees that `copy` moves them.
template <typename Pool, typename Copy>
void Prepare(Pool& pool, const Loop& loop, Copy copy) {
  pool.WalkScattered(loop.size);
  pool.Verify("loop", std::min(loop.count, pool.size() / loop.size), loop.size, copy);
}

// `pool` is what the loop copies in, `batches` what the batch does: the same, but for copies inside the device, which no batch has.
template <typename Pool>
void BenchLoop(BenchReport& report, const LoopWay& way, const Loop& loop, Pool& pool, ColdPool& batches) {
  const std::string name = way.name + SizeName(loop.size);
  if (!report.Begin(name)) return;
  Stream stream;
  BlockBatch batch(Way::kToDevice, loop.size);
  auto one_by_one = [&] { return OneByOne(pool, loop, way.kind, stream); };
  auto as_batch = [&] { return AsBatch(batches, loop, batch, stream); };
  Prepare(batches, loop, as_batch);
  Prepare(pool, loop, one_by_one);
  const Rounds rounds = RunShuffled({{"loop", one_by_one}, {"batch", as_batch}}, std::min(report.rounds(), 15));
  report.Add({name, Format("%zu x %s %s, one by one in one stream", loop.count, FormatBytes(loop.size).c_str(), way.shown),
              1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "one batch H2D", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1),
              Goal{Goal::kAtLeast, Unit::kRatio, loop.must, 0.97}});
}

bool WantsAny(const BenchReport& report, const LoopWay& way) {
  return std::any_of(std::begin(kLoops), std::end(kLoops), [&](const Loop& loop) { return report.Wants(way.name + SizeName(loop.size)); });
}

}  // namespace

void BenchLoops(BenchReport& report) {
  const bool to_device = WantsAny(report, kToDevice);
  const bool on_device = WantsAny(report, kOnDevice);
  if (!to_device && !on_device) return;
  if (MemoryInfo("MemAvailable").value_or(0) < 5 * kPoolBytes) return report.Skip("loop_*", "less than 2.5 GiB of memory available");
  ColdPool pool(kPoolBytes);
  for (const Loop& loop : kLoops) BenchLoop(report, kToDevice, loop, pool, pool);
  if (!on_device) return;
  ColdDevicePool device_pool(kPoolBytes);
  for (const Loop& loop : kLoops) BenchLoop(report, kOnDevice, loop, device_pool, pool);
}

}  // namespace ropeway::cli
