// Copies by descriptor and replayed graphs on the CUDA engine beside raw copies and raw graphs.
#include "cli/bench_gpu.h"
#include "cli/copy_descriptors.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kDescribed = 256 << 20;
constexpr size_t kLaunches = 10;  // in one sample
constexpr size_t kGraphCopies = 64;

void BenchDescriptor(GpuBench& b) {
  if (!b.report.Begin("descriptor_256m")) return;
  if (!CopyDescriptors::Supported()) return b.report.Skip("descriptor_256m", "not on this product (207000)");
  const CopyDescriptors descriptors(1);
  descriptors.Set(0, b.device.at(kDescribed), b.device.data(), kDescribed);
  const auto ours = [&] {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kLaunches; ++i) descriptors.Launch(0, b.stream);
    b.stream.Synchronize();
    return SecondsSince(start) / (kLaunches * kDescribed);
  };
  const auto raw = [&] {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kLaunches; ++i) b.raw.Copy(b.raw_device + kDescribed, b.raw_device, kDescribed, b.raw_stream);
    b.raw.Synchronize(b.raw_stream);
    return SecondsSince(start) / (kLaunches * kDescribed);
  };
  b.Verify("descriptor_256m", Way::kToDevice, {{0, kDescribed}}, kDescribed, [&] {
    b.Ours(Way::kToDevice, 0, kDescribed, b.stream);
    ours();
  });
  const Rounds rounds = RunShuffled({{"descriptor", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({"descriptor_256m", "D2D by descriptor, 256 MiB", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "cuMemcpyAsync",
                1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.94, 0.97}});
}

void BenchGraph(GpuBench& b, size_t size) {
  const std::string name = "graph_64x" + SizeName(size);
  if (!b.report.Begin(name)) return;
  const Graph graph(b.stream, [&] {
    for (size_t i = 0; i < kGraphCopies; ++i) b.Ours(Way::kToDevice, i * size, size, b.stream);
  });
  const CudaPeer::Graph raw_graph = b.raw.Capture(b.raw_stream, [&] {
    for (size_t i = 0; i < kGraphCopies; ++i) b.Raw(Way::kToDevice, i * size, size, b.raw_stream);
  });
  const auto ours = [&] {
    const Clock::time_point start = Clock::now();
    graph.Replay(b.stream);
    b.stream.Synchronize();
    return SecondsSince(start);
  };
  const auto raw = [&] {
    const Clock::time_point start = Clock::now();
    b.raw.Launch(raw_graph, b.raw_stream);
    b.raw.Synchronize(b.raw_stream);
    return SecondsSince(start);
  };
  b.Verify(name, Way::kToDevice, {{0, 0}, {(kGraphCopies - 1) * size, (kGraphCopies - 1) * size}}, size, ours);
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({name, Format("replay of a graph of 64 H2D copies of %s", FormatBytes(size).c_str()), rounds.MedianCost(0), Unit::kSeconds,
                "CUDA graph", rounds.MedianCost(1), rounds.CostRatio(0, 1), Goal{Goal::kAtMost, Unit::kRatio, 1.05, 1.0}});
}

}  // namespace

void BenchGpuLate(GpuBench& b) {
  BenchDescriptor(b);
  for (size_t size : {4 * kKiB, 64 * kKiB, 1024 * kKiB}) BenchGraph(b, size);
}

}  // namespace ropeway::cli
