// Single copies on the CUDA engine beside raw CUDA: both ways, both ways at once, pageable memory, and what a submit
// costs.
#include <algorithm>
#include <stdexcept>

#include "cli/bench_gpu.h"
#include "cli/cold_pool.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kSampleBytes = 512 * kMiB;  // of the sizes that fit it
constexpr size_t kLarge = 1024 * kMiB;
constexpr size_t kPageable = 256 * kMiB;
constexpr size_t kSmall = 4096;
constexpr size_t kBurst = 1000;

// Seconds per byte of `count` copies in a row, submitted by `submit` and waited for by `wait`.
template <typename Submit, typename Wait>
double PerByte(size_t count, size_t size, Submit submit, Wait wait) {
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < count; ++i) submit(i * size % GpuBench::kPoolBytes);
  wait();
  return SecondsSince(start) / static_cast<double>(count * size);
}

void BenchPinned(GpuBench& b, Way way, size_t size) {
  const std::string name = "pinned_" + WayAndSize(way, size);
  if (!b.report.Begin(name)) return;
  const size_t count = std::max<size_t>(1, kSampleBytes / size);
  const auto ours = [&] {
    return PerByte(
        count, size, [&](size_t at) { b.Ours(way, at, size, b.stream); }, [&] { b.stream.Synchronize(); });
  };
  const auto raw = [&] {
    return PerByte(
        count, size, [&](size_t at) { b.Raw(way, at, size, b.raw_stream); }, [&] { b.raw.Synchronize(b.raw_stream); });
  };
  b.Verify(name, way, {{(count - 1) * size, (count - 1) * size}}, size, ours);
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({name, Format("pinned %s, %s", WayText(way), FormatBytes(size).c_str()), 1 / rounds.MedianCost(0), Unit::kBytesPerSecond,
                "cuMemcpyAsync", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.98, 0.99}});
}

// Seconds per call, of the calls alone.
void BenchSubmitCost(GpuBench& b) {
  if (!b.report.Begin("submit_4k")) return;
  const auto burst = [](auto submit, auto wait) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBurst; ++i) submit(i * kSmall);
    const double seconds = SecondsSince(start);
    wait();
    return seconds / kBurst;
  };
  const auto ours = [&] {
    return burst([&](size_t at) { b.Ours(Way::kToDevice, at, kSmall, b.stream); }, [&] { b.stream.Synchronize(); });
  };
  const auto raw = [&] {
    return burst([&](size_t at) { b.Raw(Way::kToDevice, at, kSmall, b.raw_stream); }, [&] { b.raw.Synchronize(b.raw_stream); });
  };
  b.Verify("submit_4k", Way::kToDevice, {{0, 0}, {kSmall, kSmall}}, kSmall, ours);
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  const double cost = rounds.MedianCost(0), raw_cost = rounds.MedianCost(1);
  b.report.Add({"submit_4k", "submit 4 KiB H2D, over raw", cost, Unit::kSeconds, "cuMemcpyAsync", raw_cost, cost - raw_cost,
                Goal{Goal::kAtMost, Unit::kSeconds, 400e-9, 150e-9}});
}

void BenchBothWays(GpuBench& b) {
  if (!b.report.Begin("both_ways_1g")) return;
  const auto ours = [&] {
    const Clock::time_point start = Clock::now();
    b.Ours(Way::kToDevice, 0, kLarge, b.stream);
    b.Ours(Way::kToHost, kLarge, kLarge, b.second_stream);
    b.stream.Synchronize();
    b.second_stream.Synchronize();
    return SecondsSince(start) / (2 * kLarge);
  };
  const auto raw = [&] {
    const Clock::time_point start = Clock::now();
    b.Raw(Way::kToDevice, 0, kLarge, b.raw_stream);
    b.Raw(Way::kToHost, kLarge, kLarge, b.raw_second_stream);
    b.raw.Synchronize(b.raw_stream);
    b.raw.Synchronize(b.raw_second_stream);
    return SecondsSince(start) / (2 * kLarge);
  };
  b.Verify("both_ways_1g", Way::kToDevice, {{0, 0}}, kLarge, ours);
  b.Verify("both_ways_1g", Way::kToHost, {{kLarge, kLarge}}, kLarge, ours);
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({"both_ways_1g", "both ways at once, 1 GiB each", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "cuMemcpyAsync",
                1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 0.99}});
}

// Memory of the program, copied to and from the start of the device pools.
struct PageableCopy {
  PageableCopy(GpuBench& the_bench, Way the_way) : b(the_bench), way(the_way), memory(kPageable) {
    FillPattern(memory.data(), kPageable, 3);
    std::vector<uint8_t> other(kPageable);
    if (way == Way::kToHost) b.RawNow(b.device.data(), memory.data(), kPageable);
    const std::vector<uint8_t> wanted = memory;
    if (way == Way::kToHost) memory.assign(kPageable, 0);
    Ours();
    b.RawNow(other.data(), way == Way::kToDevice ? b.device.data() : memory.data(), kPageable);
    if (other != wanted) throw std::runtime_error("pageable copy: it arrived with other bytes");
  }
  double Ours() {
    const bool up = way == Way::kToDevice;
    void* dst = up ? b.device.data() : memory.data();
    const void* src = up ? memory.data() : b.device.data();
    const Clock::time_point start = Clock::now();
    RW_ACL(aclrtMemcpyAsync(dst, kPageable, src, kPageable, up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST, b.stream.get()));
    b.stream.Synchronize();
    return SecondsSince(start) / kPageable;
  }
  double Raw() {
    void* pageable = memory.data();
    const Clock::time_point start = Clock::now();
    b.RawNow(way == Way::kToDevice ? b.raw_device : pageable, way == Way::kToDevice ? pageable : b.raw_device, kPageable);
    return SecondsSince(start) / kPageable;
  }

  GpuBench& b;
  Way way;
  std::vector<uint8_t> memory;
};

void BenchPageable(GpuBench& b, Way way) {
  const std::string name = "pageable_" + WayAndSize(way, kPageable);
  if (!b.report.Begin(name)) return;
  PageableCopy copy(b, way);
  const Rounds rounds = RunShuffled({{"ropeway", [&] { return copy.Ours(); }}, {"raw", [&] { return copy.Raw(); }}}, b.report.rounds());
  const Goal goal = way == Way::kToDevice ? Goal{Goal::kAtLeast, Unit::kRatio, 3, 5} : Goal{Goal::kAtLeast, Unit::kRatio, 2, 3};
  b.report.Add({name, Format("pageable %s, 256 MiB", WayText(way)), 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "cuMemcpyAsync",
                1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), goal});
}

}  // namespace

void BenchGpuCopies(GpuBench& b) {
  for (Way way : kBothWays) {
    for (size_t size : {kMiB, 16 * kMiB, 256 * kMiB, 1024 * kMiB}) BenchPinned(b, way, size);
  }
  BenchSubmitCost(b);
  BenchBothWays(b);
  for (Way way : kBothWays) BenchPageable(b, way);
}

}  // namespace ropeway::cli
