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
  const auto raw = [&] { return b.BothWaysRaw(); };
  b.Verify("both_ways_1g", Way::kToDevice, {{0, 0}}, kLarge, ours);
  b.Verify("both_ways_1g", Way::kToHost, {{kLarge, kLarge}}, kLarge, ours);
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({"both_ways_1g", "both ways at once, 1 GiB each", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "cuMemcpyAsync",
                1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 0.99}});
}

// Memory of the program, copied to and from the start of our device pool: every time another part of it, until all were used.
struct PageableCopy {
  PageableCopy(GpuBench& the_bench, Way the_way, size_t the_size) : b(the_bench), way(the_way), size(the_size), memory(kPageable) {
    FillPattern(memory.data(), kPageable, 3);
    std::vector<uint8_t> other(size);
    if (way == Way::kToHost) b.RawNow(b.device.data(), memory.data(), size);
    const std::vector<uint8_t> wanted(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(size));
    if (way == Way::kToHost) memory.assign(kPageable, 0);
    Ours(0);
    b.RawNow(other.data(), way == Way::kToDevice ? b.device.data() : memory.data(), size);
    if (other != wanted) throw std::runtime_error("pageable copy: it arrived with other bytes");
  }
  void Ours(size_t at) {
    const bool up = way == Way::kToDevice;
    void* dst = up ? b.device.data() : memory.data() + at;
    const void* src = up ? memory.data() + at : b.device.data();
    RW_ACL(aclrtMemcpyAsync(dst, size, src, size, up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST, b.stream.get()));
    b.stream.Synchronize();
  }
  void Raw(size_t at) {
    void* pageable = memory.data() + at;
    b.RawNow(way == Way::kToDevice ? b.device.data() : pageable, way == Way::kToDevice ? pageable : b.device.data(), size);
  }
  // Seconds per byte of the middle one of several, each timed alone.
  template <typename Copy>
  double Middle(Copy copy) {
    std::vector<double> seconds;
    for (size_t i = 0; i < std::clamp<size_t>(kPageable / 4 / size, 1, 101); ++i) {
      next = (next + 2 * size) % kPageable;
      const Clock::time_point start = Clock::now();
      copy(next);
      seconds.push_back(SecondsSince(start));
    }
    return Median(seconds) / static_cast<double>(size);
  }

  GpuBench& b;
  Way way;
  size_t size;
  std::vector<uint8_t> memory;
  size_t next = 0;
};

Goal PageableGoal(Way way, size_t size) {
  if (size == kPageable) return way == Way::kToDevice ? Goal{Goal::kAtLeast, Unit::kRatio, 3, 5} : Goal{Goal::kAtLeast, Unit::kRatio, 2, 3};
  if (size > kMiB) return {Goal::kAtLeast, Unit::kRatio, 2.5, 4};
  return size == kMiB ? Goal{Goal::kAtLeast, Unit::kRatio, 1.0, 1.5} : Goal{Goal::kAtLeast, Unit::kRatio, 0.9, 1.1};
}

void BenchPageable(GpuBench& b, Way way, size_t size) {
  const std::string name = "pageable_" + WayAndSize(way, size);
  if (!b.report.Begin(name)) return;
  PageableCopy copy(b, way, size);
  const auto ours = [&] { return copy.Middle([&](size_t at) { copy.Ours(at); }); };
  const auto raw = [&] { return copy.Middle([&](size_t at) { copy.Raw(at); }); };
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add({name, Format("pageable %s, %s", WayText(way), FormatBytes(size).c_str()), 1 / rounds.MedianCost(0), Unit::kBytesPerSecond,
                "cuMemcpyAsync", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), PageableGoal(way, size)});
}

}  // namespace

void BenchGpuCopies(GpuBench& b) {
  for (Way way : kBothWays) {
    for (size_t size : {kMiB, 16 * kMiB, 256 * kMiB, 1024 * kMiB}) BenchPinned(b, way, size);
  }
  BenchSubmitCost(b);
  BenchBothWays(b);
  for (Way way : kBothWays) {
    for (size_t size : {kSmall, 16 * kSmall, kMiB, 16 * kMiB, kPageable}) BenchPageable(b, way, size);
  }
}

}  // namespace ropeway::cli
