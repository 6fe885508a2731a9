// Thousands of scattered blocks by one call: what handing them over costs, and how fast they move beside a loop of
// memcpy, with one lane and with all of them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "cli/acl_objects.h"
#include "cli/bench_child.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cold_pool.h"
#include "cli/gate.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/table.h"
#include "cli/wake_lane.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kBlocks = 4096;
constexpr size_t kBlockSizes[] = {4 * kKiB, 16 * kKiB, 64 * kKiB, 128 * kKiB};
constexpr size_t kSubmitBlock = 16 * kKiB;
constexpr size_t kPoolBytes = kBlocks * 128 * kKiB;
constexpr size_t kLargeBatch = size_t{256} << 20;
constexpr const char* kOneLane = "_one_lane";

class BatchCopies {
 public:
  using Wait = Clock::time_point (*)(const Stream&);  // says when the blocks were there

  BatchCopies(ColdPool& pool, size_t block, Wait wait) : pool_(pool), block_(block), wait_(wait), batch_(Way::kToDevice, block) {
    pool_.WalkScattered(block);
    pool_.Verify("batch", kBlocks, block, [this] { Batch(); });
  }

  // Seconds per byte, until the blocks are there. The arrays are the caller's work and not timed.
  double Batch() {
    NameNextBlocks();
    const Clock::time_point start = Clock::now();
    RW_ACL(batch_.Submit(stream_));
    const Clock::time_point end = wait_(stream_);
    return std::chrono::duration<double>(end - start).count() / static_cast<double>(batch_.bytes());
  }
  double MemcpyLoop() {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t offset = pool_.Next();
      std::memcpy(pool_.view(offset), pool_.host(offset), block_);
    }
    return SecondsSince(start) / static_cast<double>(kBlocks * block_);
  }
  // Seconds per block, of the call alone: the stream is held back.
  double Submit() {
    NameNextBlocks();
    Gate gate;
    gate.Close(stream_);
    const Clock::time_point start = Clock::now();
    RW_ACL(batch_.Submit(stream_));
    return SecondsSince(start) / kBlocks;
  }

 private:
  void NameNextBlocks() {
    batch_.Clear();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t offset = pool_.Next();
      batch_.Add(pool_.device(offset), pool_.host(offset));
    }
  }

  ColdPool& pool_;
  size_t block_;
  Wait wait_;
  Stream stream_;
  BlockBatch batch_;
};

// Made when the first workload that the filter lets through needs it.
using LazyPool = std::optional<ColdPool>;

ColdPool& Ready(LazyPool& pool) { return pool ? *pool : pool.emplace(kPoolBytes); }

bool OneLaneHere() {
  const char* lanes = std::getenv("ROPEWAY_LANES");
  return lanes != nullptr && std::strcmp(lanes, "1") == 0;
}

Clock::time_point WaitAndHelp(const Stream& stream) {
  stream.Synchronize();
  return Clock::now();
}

void BenchSubmitCost(BenchReport& report, LazyPool& pool) {
  if (!report.Begin("batch_submit_16k")) return;
  BatchCopies copies(Ready(pool), kSubmitBlock, WaitAndHelp);
  const Rounds rounds = RunShuffled({{"batch", [&] { return copies.Submit(); }}}, report.rounds());
  report.Add({"batch_submit_16k", "submit a batch of 4096 x 16 KiB, per block", rounds.MedianCost(0), Unit::kSeconds, "", std::nullopt,
              rounds.MedianCost(0), Goal{Goal::kAtMost, Unit::kSeconds, 40e-9, 20e-9}});
}

void BenchMoving(BenchReport& report, LazyPool& pool, size_t block, bool one_lane) {
  const std::string name = "batch_" + SizeName(block) + (one_lane ? kOneLane : "");
  if (!report.Begin(name)) return;
  // Who synchronises helps, and would be the second at work.
  BatchCopies copies(Ready(pool), block, one_lane ? SleepUntilComplete : WaitAndHelp);
  const int most_rounds = kBlocks * block < kLargeBatch ? report.rounds() : std::min(report.rounds(), 15);
  const Rounds rounds =
      RunShuffled({{"batch", [&] { return copies.Batch(); }}, {"memcpy loop", [&] { return copies.MemcpyLoop(); }}}, most_rounds);
  const Goal goal = one_lane ? Goal{Goal::kAtLeast, Unit::kRatio, 1.25, 1.4} : Goal{Goal::kAtLeast, Unit::kRatio, 1.8, 2.3};
  report.Add({name, Format("batch of 4096 x %s scattered, %s", FormatBytes(block).c_str(), one_lane ? "one lane" : "all lanes"),
              1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "memcpy loop", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), goal});
}

void BenchAllLanes(BenchReport& report, LazyPool& pool) {
  for (size_t block : kBlockSizes) {
    if (CoresAllowed() >= 2 && !OneLaneHere()) {
      BenchMoving(report, pool, block, false);
    } else if (const std::string name = "batch_" + SizeName(block); report.Wants(name)) {
      report.Skip(name, OneLaneHere() ? "ROPEWAY_LANES is 1" : "one core only");
    }
  }
}

void BenchOneLane(BenchReport& report) {
  const bool wanted = std::any_of(std::begin(kBlockSizes), std::end(kBlockSizes),
                                  [&](size_t block) { return report.Wants("batch_" + SizeName(block) + kOneLane); });
  if (!wanted) return;
  if (OneLaneHere()) {
    LazyPool pool;
    for (size_t block : kBlockSizes) BenchMoving(report, pool, block, true);
    return;
  }
  for (BenchRow& row : BenchElsewhere("ROPEWAY_LANES", "1", kOneLane, report.options().quick)) {
    if (report.Wants(row.name)) report.Add(std::move(row));
  }
}

}  // namespace

void BenchBatches(BenchReport& report) {
  if (MemoryInfo("MemAvailable").value_or(0) < 3 * kPoolBytes) {
    if (report.Wants("batch_")) report.Skip("batch_*", "less than 1.5 GiB of memory available");
    return;
  }
  {
    LazyPool pool;
    BenchSubmitCost(report, pool);
    BenchAllLanes(report, pool);
  }
  BenchOneLane(report);
}

}  // namespace ropeway::cli
