// Small copies with their synchronisation: bursts of scattered cold blocks, and one block there and back again.
#include <cstring>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/raw_hand_over.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kPoolBytes = 128 << 20;
constexpr size_t kBurst = 1000;
constexpr size_t kRoundTrips = 1000;
constexpr size_t kRoundTripsAfterIdle = 60;
constexpr double kIdleSeconds = 160e-6;  // lanes have stopped waiting for more by then

void SubmitBlock(const ColdPool& pool, size_t offset, const Stream& stream) {
  RW_ACL(aclrtMemcpyAsync(pool.device(offset), kBlock, pool.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
}

double RopewayBurst(ColdPool& pool, const Stream& stream) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kBurst; ++i) SubmitBlock(pool, pool.Next(), stream);
  stream.Synchronize();
  return SecondsSince(start) / kBurst;
}

double RawBurst(ColdPool& pool) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kBurst; ++i) {
    const size_t offset = pool.Next();
    std::memcpy(pool.view(offset), pool.host(offset), kBlock);
  }
  return SecondsSince(start) / kBurst;
}

void BenchBurst(BenchReport& report) {
  if (!report.Begin("burst_1000x4k")) return;
  ColdPool pool(kPoolBytes);
  Stream stream;
  pool.WalkScattered(kBlock);
  pool.Verify("burst_1000x4k", kBurst, kBlock, [&] { RopewayBurst(pool, stream); });
  const Rounds rounds = RunShuffled(
      {{"ropeway", [&] { return RopewayBurst(pool, stream); }}, {"memcpy loop", [&] { return RawBurst(pool); }}}, 3 * report.rounds());
  report.Add({"burst_1000x4k", "1000 x 4 KiB cold, submit and synchronise, per copy", rounds.MedianCost(0), Unit::kSeconds, "memcpy loop",
              rounds.MedianCost(1), rounds.CostRatio(0, 1), Goal{Goal::kAtMost, Unit::kRatio, 1.25, 1.10}});
}

// One block, hot, copied and waited for.
class RoundTrip {
 public:
  RoundTrip() : pool_(kBlock) {
    pool_.WalkInOrder(kBlock);
    pool_.Verify("round_trip_4k", 1, kBlock, [this] { Once(); });
  }

  double BackToBack() {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kRoundTrips; ++i) Once();
    return SecondsSince(start) / kRoundTrips;
  }

  // The pause is spent spinning, so that only the library is idle: the core that measures stays awake and fast.
  double AfterIdle() {
    std::vector<double> costs;
    for (size_t i = 0; i < kRoundTripsAfterIdle; ++i) {
      for (const Clock::time_point pause = Clock::now(); SecondsSince(pause) < kIdleSeconds;) continue;
      const Clock::time_point start = Clock::now();
      Once();
      costs.push_back(SecondsSince(start));
    }
    return Median(std::move(costs));
  }

 private:
  void Once() {
    SubmitBlock(pool_, 0, stream_);
    stream_.Synchronize();
  }

  ColdPool pool_;
  Stream stream_;
};

void BenchRoundTrip(BenchReport& report) {
  if (!report.Begin("round_trip_4k")) return;
  RoundTrip trip;
  RawHandOver hand_over;
  const Rounds rounds = RunShuffled({{"back to back", [&] { return trip.BackToBack(); }},
                                     {"after idle", [&] { return trip.AfterIdle(); }},
                                     {"hand-over", [&] { return hand_over.Sample(); }}},
                                    report.rounds());
  report.Add({"round_trip_4k", "4 KiB there and synchronised, back to back", rounds.MedianCost(0), Unit::kSeconds, kHandOverName,
              rounds.MedianCost(2), rounds.CostRatio(0, 2), Goal{Goal::kAtMost, Unit::kRatio, 4, 2}});
  report.Add({"round_trip_4k_after_idle", "4 KiB there and synchronised, after 160 us idle", rounds.MedianCost(1), Unit::kSeconds,
              kHandOverName, rounds.MedianCost(2), rounds.CostRatio(1, 2), std::nullopt});
}

}  // namespace

void BenchSmallCopies(BenchReport& report) {
  BenchBurst(report);
  BenchRoundTrip(report);
}

}  // namespace ropeway::cli
