// Batches of scattered blocks on the CUDA engine: beside the link, beside the driver's own batch call, beside a loop of
// raw copies. From the call until the blocks are there; the caller's arrays are not timed.
#include <algorithm>
#include <optional>

#include "cli/bench_gpu.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kBlockSizes[] = {4 * kKiB, 16 * kKiB, 64 * kKiB, 128 * kKiB};
constexpr size_t kMany = 4096;
constexpr size_t kFewCounts[] = {16, 64};
constexpr size_t kSampleBytes = size_t{64} << 20;
constexpr size_t kMostRepeats = 15;

// A sample: the middle one of several batches, each timed alone.
template <typename Sample>
double Repeated(size_t batch_bytes, Sample sample) {
  std::vector<double> costs(std::clamp<size_t>(kSampleBytes / batch_bytes, 1, kMostRepeats));
  for (double& cost : costs) cost = sample();
  return Median(costs);
}

class GpuBatch {
 public:
  GpuBatch(GpuBench& b, Way way, size_t block, size_t count)
      : b_(b), way_(way), block_(block), count_(count), walk_(block), batch_(way, block) {}

  void Verify(const std::string& name) {
    std::vector<BlockPair> pairs;
    for (size_t i = 0; i < count_; ++i) pairs.push_back(walk_.Next());
    b_.Verify(name, way_, pairs, block_, [&] {
      NameOurs(pairs);
      RW_ACL(batch_.Submit(b_.stream));
      b_.stream.Synchronize();
    });
  }

  // The next blocks, for each of the three; then the call, which is what is timed.
  void NameOurs() { NameOurs(NextPairs()); }
  void SubmitOurs(const Stream& stream) { RW_ACL(batch_.Submit(stream)); }
  double Ours() {
    return Repeated(bytes(), [&] { return OursOnce(); });
  }
  double VendorBatch() {
    return Repeated(bytes(), [&] { return VendorBatchOnce(); });
  }
  double VendorLoop() {
    return Repeated(bytes(), [&] { return VendorLoopOnce(); });
  }
  size_t bytes() const { return count_ * block_; }

 private:
  double OursOnce() {
    NameOurs();
    return PerByte([&] { SubmitOurs(b_.stream); }, [&] { b_.stream.Synchronize(); });
  }
  double VendorBatchOnce() {
    raw_batch_ = {};
    for (const BlockPair& pair : NextPairs()) {
      raw_batch_.dsts.push_back(reinterpret_cast<uint64_t>(RawTarget(pair)));
      raw_batch_.srcs.push_back(reinterpret_cast<uint64_t>(RawSource(pair)));
      raw_batch_.sizes.push_back(block_);
    }
    return PerByte([&] { b_.raw.CopyBatch(raw_batch_, b_.raw_stream); }, [&] { b_.raw.Synchronize(b_.raw_stream); });
  }
  double VendorLoopOnce() {
    const std::vector<BlockPair> pairs = NextPairs();
    return PerByte(
        [&] {
          for (const BlockPair& pair : pairs) b_.raw.Copy(RawTarget(pair), RawSource(pair), block_, b_.raw_stream);
        },
        [&] { b_.raw.Synchronize(b_.raw_stream); });
  }
  std::vector<BlockPair> NextPairs() {
    std::vector<BlockPair> pairs(count_);
    for (BlockPair& pair : pairs) pair = walk_.Next();
    return pairs;
  }
  void NameOurs(const std::vector<BlockPair>& pairs) {
    batch_.Clear();
    for (const BlockPair& pair : pairs) {
      void* in_host = b_.host.at(pair.host);
      void* on_device = b_.device.at(pair.device);
      batch_.Add(way_ == Way::kToDevice ? on_device : in_host, way_ == Way::kToDevice ? in_host : on_device);
    }
  }
  char* RawTarget(const BlockPair& pair) const { return way_ == Way::kToDevice ? b_.raw_device + pair.device : b_.raw_host + pair.host; }
  char* RawSource(const BlockPair& pair) const { return way_ == Way::kToDevice ? b_.raw_host + pair.host : b_.raw_device + pair.device; }
  template <typename Submit, typename Wait>
  double PerByte(Submit submit, Wait wait) const {
    const Clock::time_point start = Clock::now();
    submit();
    wait();
    return SecondsSince(start) / static_cast<double>(bytes());
  }

  GpuBench& b_;
  Way way_;
  size_t block_, count_;
  BlockWalk walk_;
  BlockBatch batch_;
  CudaPeer::Batch raw_batch_;
};

Goal GoalOverLink(Way way, size_t block, size_t count) {
  const auto at_least = [](double must, double aim) { return Goal{Goal::kAtLeast, Unit::kRatio, must, aim}; };
  if (count == 512) return at_least(0.65, 0.72);
  if (count == 64) return at_least(0.54, 0.65);
  switch (block) {
    case kKiB: return at_least(0.54, 0.69);
    case 4 * kKiB: return at_least(0.83, 0.87);
    case 16 * kKiB: return at_least(0.88, 0.90);
    default: return at_least(way == Way::kToDevice ? 0.92 : 0.94, 0.96);
  }
}

Goal GoalOverVendor(Way way, size_t block) {
  const bool many_times = way == Way::kToDevice && (block == 4 * kKiB || block == 16 * kKiB);
  return many_times ? Goal{Goal::kAtLeast, Unit::kRatio, 8, 10} : Goal{Goal::kAtLeast, Unit::kRatio, 1, 10};
}

// `count` is part of the name where it is not the usual one.
void BenchMany(GpuBench& b, Way way, size_t block, size_t count) {
  const std::string name = "batch_" + (count == kMany ? "" : Format("%zux", count)) + WayAndSize(way, block);
  if (!b.report.Begin(name)) return;
  GpuBatch batch(b, way, block, count);
  batch.Verify(name);
  std::vector<Contestant> contestants = {
      {"ropeway", [&] { return batch.Ours(); }}, {"the link", [&] { return b.Link(way); }}, {"loop", [&] { return batch.VendorLoop(); }}};
  if (b.raw.has_batches()) contestants.push_back({"batch call", [&] { return batch.VendorBatch(); }});
  const Rounds rounds = RunShuffled(contestants, b.report.rounds());
  const std::string what = Format("batch %s, %zu x %s, over ", WayText(way), count, FormatBytes(block).c_str());
  const double rate = 1 / rounds.MedianCost(0);
  b.report.Add({name, what + "the link", rate, Unit::kBytesPerSecond, "raw copy of 1 GiB", 1 / rounds.MedianCost(1),
                rounds.SpeedRatio(0, 1), GoalOverLink(way, block, count)});
  b.report.Add({name + "_over_loop", what + "a loop", rate, Unit::kBytesPerSecond, "cuMemcpyAsync", 1 / rounds.MedianCost(2),
                rounds.SpeedRatio(0, 2), Goal{Goal::kAtLeast, Unit::kRatio, 1, 1}});
  if (b.raw.has_batches()) {
    b.report.Add({name + "_over_vendor", what + "the batch call", rate, Unit::kBytesPerSecond, "cuMemcpyBatchAsync",
                  1 / rounds.MedianCost(3), rounds.SpeedRatio(0, 3), GoalOverVendor(way, block)});
  } else {
    b.report.Skip(name + "_over_vendor", "the driver has no cuMemcpyBatchAsync");
  }
}

void BenchFew(GpuBench& b, Way way, size_t block, size_t count) {
  const std::string name = Format("few_%zux", count) + WayAndSize(way, block);
  if (!b.report.Begin(name)) return;
  GpuBatch batch(b, way, block, count);
  batch.Verify(name);
  std::vector<Contestant> contestants = {{"ropeway", [&] { return batch.Ours(); }}, {"loop", [&] { return batch.VendorLoop(); }}};
  if (b.raw.has_batches()) contestants.push_back({"batch call", [&] { return batch.VendorBatch(); }});
  const Rounds rounds = RunShuffled(contestants, b.report.rounds());
  // Beside the better of the two.
  const size_t rival = contestants.size() == 3 && rounds.MedianCost(2) < rounds.MedianCost(1) ? 2 : 1;
  b.report.Add({name, Format("batch %s, %zu x %s", WayText(way), count, FormatBytes(block).c_str()), 1 / rounds.MedianCost(0),
                Unit::kBytesPerSecond, rival == 1 ? "cuMemcpyAsync" : "cuMemcpyBatchAsync", 1 / rounds.MedianCost(rival),
                rounds.SpeedRatio(0, rival), Goal{Goal::kAtLeast, Unit::kRatio, 1, 1.5}});
}

void BenchBothWays(GpuBench& b, size_t block) {
  const std::string name = "both_ways_batch_" + SizeName(block);
  if (!b.report.Begin(name)) return;
  GpuBatch up(b, Way::kToDevice, block, kMany), down(b, Way::kToHost, block, kMany);
  const auto both = [&] {
    up.NameOurs();
    down.NameOurs();
    const Clock::time_point start = Clock::now();
    up.SubmitOurs(b.stream);
    down.SubmitOurs(b.second_stream);
    b.stream.Synchronize();
    b.second_stream.Synchronize();
    return SecondsSince(start) / static_cast<double>(up.bytes() + down.bytes());
  };
  const Rounds rounds = RunShuffled({{"ropeway", both}, {"raw", [&] { return b.BothWaysRaw(); }}}, b.report.rounds());
  const double must = block == 4 * kKiB ? 0.70 : block == 16 * kKiB ? 0.78 : 0.82;
  b.report.Add({name, Format("batches both ways at once, 4096 x %s each", FormatBytes(block).c_str()), 1 / rounds.MedianCost(0),
                Unit::kBytesPerSecond, "raw, 1 GiB each", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1),
                Goal{Goal::kAtLeast, Unit::kRatio, must, 0.85}});
}

}  // namespace

void BenchGpuBatches(GpuBench& b) {
  for (Way way : kBothWays) {
    BenchMany(b, way, kKiB, kMany);
    for (size_t block : kBlockSizes) BenchMany(b, way, block, kMany);
    BenchMany(b, way, 4 * kKiB, 512);
    BenchMany(b, way, 16 * kKiB, 64);
  }
  for (Way way : kBothWays) {
    for (size_t count : kFewCounts) {
      for (size_t block : kBlockSizes) BenchFew(b, way, block, count);
    }
  }
  for (size_t block : {4 * kKiB, 16 * kKiB, 64 * kKiB}) BenchBothWays(b, block);
}

}  // namespace ropeway::cli
