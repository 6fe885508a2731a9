// Thousands of scattered blocks by one call: what handing them over costs, and how fast they move beside the best raw loop, on one lane
// beside one thread, on all of them beside the best number of threads.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cold_pool.h"
#include "cli/gate.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/raw_team.h"
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
constexpr size_t kPartBytes = 128 * kKiB;  // what a raw thread takes at a time

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
  double Raw(const RawMethod& method) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBlocks; ++i) CopyRaw(method, pool_.Next());
    return SecondsSince(start) / static_cast<double>(kBlocks * block_);
  }
  double RawThreads(const RawMethod& method, RawTeam& team) {
    std::vector<size_t> offsets(kBlocks);
    for (size_t& offset : offsets) offset = pool_.Next();
    const size_t each = std::max<size_t>(1, kPartBytes / block_);
    const Clock::time_point start = Clock::now();
    team.Run((kBlocks + each - 1) / each, [&](size_t part) {
      for (size_t i = part * each; i < std::min(kBlocks, (part + 1) * each); ++i) CopyRaw(method, offsets[i]);
    });
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
  void CopyRaw(const RawMethod& method, size_t offset) { method.copy(pool_.view(offset), pool_.host(offset), block_); }
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

Clock::time_point WaitAndHelp(const Stream& stream) {
  stream.Synchronize();
  return Clock::now();
}

void BenchSubmitCost(BenchReport& report, LazyPool& pool) {
  if (!report.Begin("batch_submit_16k")) return;
  BatchCopies copies(Ready(pool), kSubmitBlock, WaitAndHelp);
  const Rounds rounds = RunShuffled({{"batch", [&] { return copies.Submit(); }}}, report.rounds());
  report.Add({"batch_submit_16k", "submit a batch of 4096 x 16 KiB, per block", rounds.MedianCost(0), Unit::kSeconds, "", std::nullopt,
              rounds.MedianCost(0), std::nullopt});
}

int MostRounds(const BenchReport& report, size_t block) {
  return kBlocks * block < kLargeBatch ? report.rounds() : std::min(report.rounds(), 15);
}

void AddRow(BenchReport& report, const std::string& name, size_t block, const char* lanes, const std::string& beside, const Rounds& rounds,
            const Goal& goal) {
  report.Add({name, Format("batch of 4096 x %s scattered, %s", FormatBytes(block).c_str(), lanes), 1 / rounds.MedianCost(0),
              Unit::kBytesPerSecond, beside, 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), goal});
}

void BenchAllLanes(BenchReport& report, LazyPool& pool, size_t block) {
  const std::string name = "batch_" + SizeName(block);
  if (!report.Begin(name)) return;
  BatchCopies copies(Ready(pool), block, WaitAndHelp);
  const RawMethod best = BestRawMethod([&](const RawMethod& method) { return copies.Raw(method); });
  RawTeam team(BestTeamSize([&](RawTeam& some) { return copies.RawThreads(best, some); }));
  auto raw = [&] {
    team.Begin();
    const double cost = copies.RawThreads(best, team);
    team.End();
    return cost;
  };
  const Rounds rounds = RunShuffled({{"batch", [&] { return copies.Batch(); }}, {"raw", raw}}, MostRounds(report, block));
  AddRow(report, name, block, "all lanes", Format("%d raw threads, %s", team.threads(), best.name.c_str()), rounds,
         Goal{Goal::kAtLeast, Unit::kRatio, 0.90, 0.97});
}

// Who synchronises helps, and would be the second at work: here the caller sleeps.
void BenchOneLaneAlone(BenchReport& report, LazyPool& pool, size_t block) {
  const std::string name = "batch_" + SizeName(block) + kOneLaneSuffix;
  if (!report.Begin(name)) return;
  BatchCopies copies(Ready(pool), block, SleepUntilComplete);
  const RawMethod best = BestRawMethod([&](const RawMethod& method) { return copies.Raw(method); });
  const Rounds rounds =
      RunShuffled({{"batch", [&] { return copies.Batch(); }}, {"raw", [&] { return copies.Raw(best); }}}, MostRounds(report, block));
  AddRow(report, name, block, "one lane", Describe(best), rounds, Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 1.0});
}

bool HasMemory(BenchReport& report) {
  if (MemoryInfo("MemAvailable").value_or(0) >= 3 * kPoolBytes) return true;
  if (report.Wants("batch_")) report.Skip("batch_*", "less than 1.5 GiB of memory available");
  return false;
}

}  // namespace

void BenchBatches(BenchReport& report) {
  if (!HasMemory(report)) return;
  LazyPool pool;
  BenchSubmitCost(report, pool);
  for (size_t block : kBlockSizes) BenchAllLanes(report, pool, block);
}

void BenchBatchesOnOneLane(BenchReport& report) {
  if (!HasMemory(report)) return;
  LazyPool pool;
  for (size_t block : kBlockSizes) BenchOneLaneAlone(report, pool, block);
}

}  // namespace ropeway::cli
