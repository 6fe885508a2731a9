// One large copy, cold: one lane beside the best raw copy of one thread, all lanes beside the best number of raw threads, and PoCL.
#include <cstring>
#include <optional>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/raw_team.h"
#include "cli/table.h"
#include "cli/wake_lane.h"

namespace ropeway::cli {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kPoolBytes = 512 * kMiB;
constexpr size_t kSampleBytes = 64 * kMiB;       // each sample moves as much, in copies of the size under test
constexpr size_t kLaneSampleBytes = 256 * kMiB;  // of a lane alone: waking it, and in the end the caller, is not what is measured
constexpr size_t kPeerBytes = 512 * kMiB;
constexpr size_t kSizes[] = {kMiB / 4, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
constexpr size_t kManyHandsFrom = 4 * kMiB;  // below it the second thread is a bonus

// All samples return seconds per byte.
class LargeCopy {
 public:
  LargeCopy(ColdPool& pool, size_t size, size_t sample_bytes = kSampleBytes) : pool_(pool), size_(size), count_(sample_bytes / size) {
    pool_.WalkInOrder(size);
    pool_.Verify("single copy", count_, size, [this] { OneByOne(); });
  }

  // Each is waited for, and who waits helps.
  double OneByOne() {
    return PerByte([this](size_t offset) {
      Submit(offset);
      stream_.Synchronize();
    });
  }
  // All of them queued, and nobody but the lane at work.
  double LeftToTheLane() {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count_; ++i) Submit(pool_.Next());
    const Clock::time_point end = SleepUntilComplete(stream_);
    return std::chrono::duration<double>(end - start).count() / static_cast<double>(count_ * size_);
  }
  double Raw(const RawMethod& method) {
    return PerByte([&](size_t offset) { method.copy(pool_.view(offset), pool_.host(offset), size_); });
  }
  double RawThreads(const RawMethod& method, RawTeam& team) {
    return PerByte([&](size_t offset) { team.Copy(method, pool_.view(offset), pool_.host(offset), size_); });
  }

 private:
  void Submit(size_t offset) {
    RW_ACL(aclrtMemcpyAsync(pool_.device(offset), size_, pool_.host(offset), size_, ACL_MEMCPY_HOST_TO_DEVICE, stream_.get()));
  }
  template <typename CopyOne>
  double PerByte(CopyOne copy_one) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count_; ++i) copy_one(pool_.Next());
    return SecondsSince(start) / static_cast<double>(count_ * size_);
  }

  ColdPool& pool_;
  size_t size_;
  size_t count_;
  Stream stream_;
};

// Made when the first workload that the filter lets through needs it.
using LazyPool = std::optional<ColdPool>;

ColdPool& Ready(LazyPool& pool) { return pool ? *pool : pool.emplace(kPoolBytes); }

void AddRow(BenchReport& report, const std::string& name, const std::string& what, const std::string& beside, const Rounds& rounds,
            const Goal& goal) {
  report.Add(
      {name, what, 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, beside, 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), goal});
}

void BenchOverOneThread(BenchReport& report, LazyPool& pool, size_t size, bool one_lane) {
  const std::string name = "single_" + SizeName(size) + (one_lane ? kOneLaneSuffix : "");
  if (!report.Begin(name)) return;
  LargeCopy copy(Ready(pool), size, one_lane ? kLaneSampleBytes : kSampleBytes);
  const RawMethod best = BestRawMethod([&](const RawMethod& method) { return copy.Raw(method); });
  const Rounds rounds =
      RunShuffled({{"ropeway", [&] { return one_lane ? copy.LeftToTheLane() : copy.OneByOne(); }}, {"raw", [&] { return copy.Raw(best); }}},
                  report.rounds());
  AddRow(report, name, FormatBytes(size) + (one_lane ? " cold, one lane" : " cold, one copy, all lanes"), Describe(best), rounds,
         Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 1.0});
}

void BenchOverThreads(BenchReport& report, LazyPool& pool, size_t size) {
  const std::string name = "single_" + SizeName(size);
  if (!report.Begin(name)) return;
  LargeCopy copy(Ready(pool), size);
  const RawMethod best = BestRawMethod([&](const RawMethod& method) { return copy.Raw(method); });
  RawTeam team(BestTeamSize([&](RawTeam& some) { return copy.RawThreads(best, some); }));
  auto raw = [&] {
    team.Begin();
    const double cost = copy.RawThreads(best, team);
    team.End();
    return cost;
  };
  const Rounds rounds = RunShuffled({{"ropeway", [&] { return copy.OneByOne(); }}, {"raw", raw}}, report.rounds());
  AddRow(report, name, FormatBytes(size) + " cold, one copy, all lanes", Format("%d raw threads, %s", team.threads(), best.name.c_str()),
         rounds, Goal{Goal::kAtLeast, Unit::kRatio, 0.90, 0.97});
}

// Large enough for libc to change its method, and PoCL copies with libc. How far two raw threads get over PoCL is
// measured, too: where that is less than the goal, the machine is at its limit.
void BenchAgainstPeer(BenchReport& report) {
  if (!report.Begin("pocl_512m")) return;
  OpenClPeer* peer = report.Peer();
  if (peer == nullptr) {
    report.Skip("pocl_512m", report.why_no_peer());
    return;
  }
  if (MemoryInfo("MemAvailable").value_or(0) < 5 * kPeerBytes) {
    report.Skip("pocl_512m", "less than 2.5 GiB of memory available");
    return;
  }
  ColdPool pool(kPeerBytes);
  Stream stream;
  peer->Allocate(kPeerBytes);
  auto ropeway = [&] {
    const Clock::time_point start = Clock::now();
    RW_ACL(aclrtMemcpyAsync(pool.device(0), kPeerBytes, pool.host(0), kPeerBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    stream.Synchronize();
    return SecondsSince(start) / kPeerBytes;
  };
  auto pocl = [&] {
    const Clock::time_point start = Clock::now();
    peer->Write(0, pool.host(0), kPeerBytes);
    peer->Finish();
    return SecondsSince(start) / kPeerBytes;
  };
  pool.WalkInOrder(kPeerBytes);
  pool.Verify("pocl_512m", 1, kPeerBytes, ropeway);
  const Rounds rounds = RunShuffled({{"ropeway", ropeway}, {"PoCL", pocl}}, report.options().quick ? 9 : 15);
  report.Add({"pocl_512m",
              "512 MiB, one copy, over PoCL",
              1 / rounds.MedianCost(0),
              Unit::kBytesPerSecond,
              "PoCL",
              1 / rounds.MedianCost(1),
              rounds.SpeedRatio(0, 1),
              {}});
  peer->Allocate(1);
}

}  // namespace

void BenchLargeCopies(BenchReport& report) {
  {
    LazyPool pool;
    for (size_t size : kSizes) size < kManyHandsFrom ? BenchOverOneThread(report, pool, size, false) : BenchOverThreads(report, pool, size);
  }
  BenchAgainstPeer(report);
}

void BenchLargeCopiesOnOneLane(BenchReport& report) {
  LazyPool pool;
  for (size_t size : kSizes) BenchOverOneThread(report, pool, size, true);
}

}  // namespace ropeway::cli
