// Kind 5: from pageable memory, which may be reused as soon as the call returns, beside the best raw copy of one thread.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/raw_methods.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kPoolBytes = 512 << 20;
constexpr size_t kSampleBytes = 64 << 20;
constexpr size_t kSizes[] = {256 * kKiB, 1024 * kKiB, 16384 * kKiB};

void BenchSize(BenchReport& report, std::vector<uint8_t>& source, DeviceBlock& target, size_t size) {
  const std::string name = "staged_" + SizeName(size);
  if (!report.Begin(name)) return;
  Stream stream;
  size_t next = 0;
  auto sample = [&](auto copy_one) {
    const Clock::time_point start = Clock::now();
    for (size_t done = 0; done < kSampleBytes; done += size) {
      copy_one(next);
      next = (next + size) % kPoolBytes;
    }
    stream.Synchronize();
    return SecondsSince(start) / kSampleBytes;
  };
  auto ropeway = [&] {
    return sample([&](size_t at) {
      RW_ACL(aclrtMemcpyAsync(target.at(at), size, source.data() + at, size, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream.get()));
    });
  };
  auto raw = [&](const RawMethod& method) { return sample([&](size_t at) { method.copy(target.view() + at, source.data() + at, size); }); };
  std::memset(target.view(), 0, kSampleBytes);
  ropeway();
  if (std::memcmp(target.view(), source.data(), kSampleBytes) != 0) throw std::runtime_error(name + ": other bytes arrived");
  const RawMethod best = BestRawMethod(raw);
  const Rounds rounds = RunShuffled({{"ropeway", ropeway}, {"raw", [&] { return raw(best); }}}, report.rounds());
  report.Add({name, FormatBytes(size) + " cold from pageable memory, kind 5", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond,
              Describe(best), 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.8, 1.0}});
}

}  // namespace

void BenchStaged(BenchReport& report) {
  bool wanted = false;
  for (size_t size : kSizes) wanted |= report.Wants("staged_" + SizeName(size));
  if (!wanted) return;
  std::vector<uint8_t> source(kPoolBytes);
  FillPattern(source.data(), kPoolBytes, 1);
  DeviceBlock target(kPoolBytes);
  std::memset(target.view(), 0, kPoolBytes);
  for (size_t size : kSizes) BenchSize(report, source, target, size);
}

}  // namespace ropeway::cli
