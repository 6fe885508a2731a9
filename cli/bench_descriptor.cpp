// What it costs that a copy reads its addresses when it runs: descriptors, set and launched, beside plain copies of the
// same bytes.
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/copy_descriptors.h"
#include "cli/measure.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kPoolBytes = 128 << 20;

struct Burst {
  size_t size;
  size_t count;
};
constexpr Burst kBursts[] = {{4 << 10, 1000}, {64 << 10, 250}, {1 << 20, 32}};

// Both samples return seconds per copy.
class DeviceCopies {
 public:
  DeviceCopies(ColdDevicePool& pool, const Burst& burst) : pool_(pool), burst_(burst), descriptors_(burst.count) {
    pool_.WalkScattered(burst.size);
    pool_.Verify("descriptor", burst.count, burst.size, [this] { Described(); });
    pool_.Verify("device to device", burst.count, burst.size, [this] { Plain(); });
  }

  double Described() {
    return PerCopy([this](size_t i, size_t offset) {
      descriptors_.Set(i, pool_.target(offset), pool_.source(offset), burst_.size);
      descriptors_.Launch(i, stream_);
    });
  }
  double Plain() {
    return PerCopy([this](size_t, size_t offset) {
      RW_ACL(aclrtMemcpyAsync(pool_.target(offset), burst_.size, pool_.source(offset), burst_.size, ACL_MEMCPY_DEVICE_TO_DEVICE,
                              stream_.get()));
    });
  }

 private:
  template <typename Submit>
  double PerCopy(Submit submit) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < burst_.count; ++i) submit(i, pool_.Next());
    stream_.Synchronize();
    return SecondsSince(start) / static_cast<double>(burst_.count);
  }

  ColdDevicePool& pool_;
  Burst burst_;
  CopyDescriptors descriptors_;
  Stream stream_;
};

void BenchBurst(BenchReport& report, ColdDevicePool& pool, const Burst& burst) {
  const std::string name = "descriptor_" + SizeName(burst.size);
  if (!report.Begin(name)) return;
  DeviceCopies copies(pool, burst);
  const Rounds rounds = RunShuffled({{"descriptor", [&] { return copies.Described(); }}, {"plain copy", [&] { return copies.Plain(); }}},
                                    3 * report.rounds());
  report.Add({name, Format("%zu x %s D2D by descriptor, set and launched, per copy", burst.count, FormatBytes(burst.size).c_str()),
              rounds.MedianCost(0), Unit::kSeconds, "plain copy", rounds.MedianCost(1), rounds.CostRatio(0, 1),
              Goal{Goal::kAtMost, Unit::kRatio, 1.3, 1.1}});
}

}  // namespace

void BenchDescriptors(BenchReport& report) {
  std::optional<ColdDevicePool> pool;
  for (const Burst& burst : kBursts) {
    if (!report.Wants("descriptor_" + SizeName(burst.size))) continue;
    if (!pool) pool.emplace(kPoolBytes);
    BenchBurst(report, *pool, burst);
  }
}

}  // namespace ropeway::cli
