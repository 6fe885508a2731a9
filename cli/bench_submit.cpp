// What it costs the program to hand over one small copy while a lane is awake to take it.
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/raw_hand_over.h"
#include "cli/wake_lane.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kHotBlocks = 64;  // the blocks stay in the cache: handing over is measured here, not memory
constexpr size_t kBurst = 1500;    // fewer than the 2013 tasks a stream holds, so no submit ever waits for room

class Submitter {
 public:
  Submitter() : pool_(kWakeBytes + kHotBlocks * kBlock) {
    pool_.WalkInOrder(kBlock);
    pool_.Verify("submit_4k", kHotBlocks, kBlock, [this] {
      for (size_t i = 0; i < kHotBlocks; ++i) Submit(pool_.Next());
      stream_.Synchronize();
    });
  }

  const uint8_t* source(size_t i) const { return pool_.host(kWakeBytes + i % kHotBlocks * kBlock); }

  // Seconds per submit, over one burst.
  double Burst() {
    WakeLane(pool_, stream_);
    aclError worst = ACL_SUCCESS;
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBurst; ++i) worst |= Submit(kWakeBytes + i % kHotBlocks * kBlock);
    const double seconds = SecondsSince(start);
    Check(worst, "aclrtMemcpyAsync");
    stream_.Synchronize();
    return seconds / kBurst;
  }

 private:
  aclError Submit(size_t offset) {
    return aclrtMemcpyAsync(pool_.device(offset), kBlock, pool_.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream_.get());
  }

  ColdPool pool_;
  Stream stream_;
};

double PeerBurst(OpenClPeer& peer, const Submitter& submitter) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kBurst; ++i) peer.Write(i % kHotBlocks * kBlock, submitter.source(i), kBlock);
  const double seconds = SecondsSince(start);
  peer.Finish();
  return seconds / kBurst;
}

}  // namespace

void BenchSubmit(BenchReport& report) {
  if (!report.Begin("submit_4k")) return;
  Submitter submitter;
  RawHandOver hand_over;
  std::vector<Contestant> contestants = {{"ropeway", [&] { return submitter.Burst(); }}, {"hand-over", [&] { return hand_over.Sample(); }}};
  OpenClPeer* peer = report.Peer();
  if (peer != nullptr) {
    peer->Allocate(kHotBlocks * kBlock);
    contestants.push_back({"PoCL", [&] { return PeerBurst(*peer, submitter); }});
  }
  const Rounds rounds = RunShuffled(contestants, report.rounds());
  const double cost = rounds.MedianCost(0);
  report.Add(
      {"submit_4k", "submit 4 KiB, pinned, lane awake", cost, Unit::kSeconds, kHandOverName, rounds.MedianCost(1), cost, std::nullopt});
  if (peer == nullptr) {
    report.Skip("submit_4k_over_pocl", report.why_no_peer());
    return;
  }
  report.Add({"submit_4k_over_pocl", "submit 4 KiB, against PoCL", cost, Unit::kSeconds, "PoCL", rounds.MedianCost(2),
              rounds.SpeedRatio(0, 2), Goal{Goal::kAtLeast, Unit::kRatio, 20, 20}});
}

}  // namespace ropeway::cli
