// Copies that are waited for one by one on the CUDA engine, beside raw CUDA on the same memory: what a call, a start and a wait cost.
#include <algorithm>

#include "cli/bench_gpu.h"
#include "cli/copy_descriptors.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kMiB = 1 << 20;
constexpr size_t kHandedOver = 64 * kKiB;
constexpr size_t kHandOvers = 16;  // in a row
constexpr size_t kDescribed = 256 * kMiB;

// A sample: the middle one of many, each timed alone; `step` gets the offset of bytes that were not touched for a while.
template <typename Step>
double MiddleOf(size_t size, Step step) {
  const size_t count = std::clamp<size_t>(64 * kMiB / size, 5, 101);
  static size_t at = 0;
  std::vector<double> seconds;
  for (size_t i = 0; i < count; ++i) {
    at = (at / size + 2) * size % (GpuBench::kPoolBytes / 2);  // other sizes were here before
    const Clock::time_point start = Clock::now();
    step(at);
    seconds.push_back(SecondsSince(start));
  }
  return Median(seconds);
}

struct Row {
  std::string name, what;
  const char* beside;
  Goal goal;
};

// Seconds of both, and how many times faster ours is.
void Compare(GpuBench& b, const Row& row, const std::function<double()>& ours, const std::function<double()>& raw) {
  const Rounds rounds = RunShuffled({{"ropeway", ours}, {"raw", raw}}, b.report.rounds());
  b.report.Add(
      {row.name, row.what, rounds.MedianCost(0), Unit::kSeconds, row.beside, rounds.MedianCost(1), rounds.SpeedRatio(0, 1), row.goal});
}

Goal AtLeast(double must, double aim) { return {Goal::kAtLeast, Unit::kRatio, must, aim}; }

void BenchRoundTrip(GpuBench& b, Way way, size_t size) {
  const std::string name = "round_trip_" + WayAndSize(way, size);
  if (!b.report.Begin(name)) return;
  const auto once = [&](size_t at) {
    b.Ours(way, at, size, b.stream);
    b.stream.Synchronize();
  };
  const auto raw = [&](size_t at) {
    void *in_host = b.host.at(at), *on_device = b.device.at(at);
    b.RawNow(way == Way::kToDevice ? on_device : in_host, way == Way::kToDevice ? in_host : on_device, size);
  };
  b.Verify(name, way, {{0, 0}}, size, [&] { once(0); });
  Compare(
      b,
      {name, Format("%s %s pinned, called and waited for", FormatBytes(size).c_str(), WayText(way)), "cuMemcpyAsync",
       size < kMiB ? AtLeast(0.95, 1.1) : AtLeast(0.98, 1.0)},
      [&] { return MiddleOf(size, once); }, [&] { return MiddleOf(size, raw); });
}

void BenchOnDevice(GpuBench& b, size_t size) {
  const std::string name = "on_device_" + SizeName(size);
  if (!b.report.Begin(name)) return;
  const auto target = [](size_t at) { return at + GpuBench::kPoolBytes / 2; };
  const auto once = [&](size_t at) {
    RW_ACL(aclrtMemcpyAsync(b.device.at(target(at)), size, b.device.at(at), size, ACL_MEMCPY_DEVICE_TO_DEVICE, b.stream.get()));
    b.stream.Synchronize();
  };
  const auto raw = [&](size_t at) { b.RawNow(b.device.at(target(at)), b.device.at(at), size); };
  b.Verify(name, Way::kToDevice, {{0, target(0)}}, size, [&] {
    b.Ours(Way::kToDevice, 0, size, b.stream);
    once(0);
  });
  Compare(
      b, {name, FormatBytes(size) + " inside the device, called and waited for", "cuMemcpyAsync", AtLeast(0.97, 1.0)},
      [&] { return MiddleOf(size, once); }, [&] { return MiddleOf(size, raw); });
}

// Two streams copy in turns, each behind the other's last copy: up by the first, down by the second. `count` hand-overs, then one wait.
void BenchHandOver(GpuBench& b, size_t count) {
  const std::string name = Format("hand_over_%zux", count) + SizeName(kHandedOver);
  if (!b.report.Begin(name)) return;
  const std::vector<Event> events(count);
  std::vector<CudaPeer::Event> raw_events;
  for (size_t i = 0; i < count; ++i) raw_events.push_back(b.raw.NewEvent());
  const auto once = [&](size_t at) {
    for (size_t i = 0; i < count; ++i) {
      const Stream &from = i % 2 == 0 ? b.stream : b.second_stream, &to = i % 2 == 0 ? b.second_stream : b.stream;
      b.Ours(i % 2 == 0 ? Way::kToDevice : Way::kToHost, at, kHandedOver, from);
      RW_ACL(aclrtRecordEvent(events[i].get(), from.get()));
      RW_ACL(aclrtStreamWaitEvent(to.get(), events[i].get()));
    }
    const bool even = count % 2 == 0;
    b.Ours(even ? Way::kToDevice : Way::kToHost, at, kHandedOver, even ? b.stream : b.second_stream);
    (even ? b.stream : b.second_stream).Synchronize();
  };
  const auto raw = [&](size_t at) {
    for (size_t i = 0; i < count; ++i) {
      const CudaPeer::Stream from = i % 2 == 0 ? b.raw_stream : b.raw_second_stream, to = i % 2 == 0 ? b.raw_second_stream : b.raw_stream;
      b.RawOnOurs(i % 2 == 0 ? Way::kToDevice : Way::kToHost, at, kHandedOver, from);
      b.raw.HandOver(from, raw_events[i], to);
    }
    const bool even = count % 2 == 0;
    b.RawOnOurs(even ? Way::kToDevice : Way::kToHost, at, kHandedOver, even ? b.raw_stream : b.raw_second_stream);
    b.raw.Synchronize(even ? b.raw_stream : b.raw_second_stream);
  };
  b.Verify(name, Way::kToDevice, {{0, 0}}, kHandedOver, [&] { once(0); });
  Compare(
      b,
      {name, Format("%zu hand-over%s between two streams by events, 64 KiB", count, count == 1 ? "" : "s"), "cuStreamWaitEvent",
       AtLeast(0.95, 1.1)},
      [&] { return MiddleOf(kMiB, once); }, [&] { return MiddleOf(kMiB, raw); });
}

void BenchFirstDescriptor(GpuBench& b) {
  if (!b.report.Begin("descriptor_first_256m")) return;
  if (!CopyDescriptors::Supported()) return b.report.Skip("descriptor_first_256m", "not on this product (207000)");
  const CopyDescriptors descriptors(1);
  const auto ours = [&] {
    descriptors.Set(0, b.device.at(kDescribed), b.device.data(), kDescribed);
    const Clock::time_point start = Clock::now();
    descriptors.Launch(0, b.stream);
    b.stream.Synchronize();
    return SecondsSince(start);
  };
  const auto raw = [&] {
    const Clock::time_point start = Clock::now();
    b.RawNow(b.device.at(kDescribed), b.device.data(), kDescribed);
    return SecondsSince(start);
  };
  b.Verify("descriptor_first_256m", Way::kToDevice, {{0, kDescribed}}, kDescribed, [&] {
    b.Ours(Way::kToDevice, 0, kDescribed, b.stream);
    b.stream.Synchronize();
    ours();
  });
  Compare(b, {"descriptor_first_256m", "D2D by descriptor, 256 MiB, set anew and launched once", "cuMemcpyAsync", AtLeast(0.97, 0.99)},
          ours, raw);
}

}  // namespace

void BenchGpuSmall(GpuBench& b) {
  for (size_t size : {4 * kKiB, kMiB}) {
    for (Way way : kBothWays) BenchRoundTrip(b, way, size);
  }
  for (size_t size : {64 * kKiB, 256 * kKiB, kMiB}) BenchOnDevice(b, size);
  for (size_t count : {size_t{1}, kHandOvers}) BenchHandOver(b, count);
  BenchFirstDescriptor(b);
}

}  // namespace ropeway::cli
