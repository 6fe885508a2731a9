// A thousand small copies, captured once and replayed, beside submitting them one by one. The blocks stay in the cache:
// what is left beside the copies themselves is the cost of running them.
#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kCopies = 1000;

// Both samples return seconds per copy.
class ManyCopies {
 public:
  ManyCopies() : pool_(kCopies * kBlock), graph_(stream_, [this] { SubmitAll(); }) {
    pool_.WalkInOrder(kBlock);
    pool_.Verify("graph_1000x4k", kCopies, kBlock, [this] { Replay(); });
    pool_.Verify("graph_1000x4k", kCopies, kBlock, [this] { OneByOne(); });
  }

  double Replay() {
    const Clock::time_point start = Clock::now();
    graph_.Replay(stream_);
    stream_.Synchronize();
    return SecondsSince(start) / kCopies;
  }
  double OneByOne() {
    const Clock::time_point start = Clock::now();
    SubmitAll();
    stream_.Synchronize();
    return SecondsSince(start) / kCopies;
  }

 private:
  void SubmitAll() {
    for (size_t at = 0; at < kCopies * kBlock; at += kBlock) {
      RW_ACL(aclrtMemcpyAsync(pool_.device(at), kBlock, pool_.host(at), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream_.get()));
    }
  }

  ColdPool pool_;
  Stream stream_;
  Graph graph_;
};

}  // namespace

void BenchGraphs(BenchReport& report) {
  if (!report.Begin("graph_1000x4k")) return;
  ManyCopies copies;
  const Rounds rounds =
      RunShuffled({{"replay", [&] { return copies.Replay(); }}, {"one by one", [&] { return copies.OneByOne(); }}}, 3 * report.rounds());
  report.Add({"graph_1000x4k", "graph of 1000 x 4 KiB, replay and synchronise, per copy", rounds.MedianCost(0), Unit::kSeconds,
              "one by one", rounds.MedianCost(1), rounds.CostRatio(0, 1), Goal{Goal::kAtMost, Unit::kRatio, 0.9, 0.5}});
}

}  // namespace ropeway::cli
