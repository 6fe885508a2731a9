// Two-dimensional copies beside one batch of the same rows.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kPoolBytes = 512 << 20;
constexpr size_t kSpan = 128 << 20;  // of the pool in one sample: rows and, as wide, what is between them
constexpr size_t kWidths[] = {1 * kKiB, 4 * kKiB, 64 * kKiB};

// Both samples return seconds per byte.
class Rows {
 public:
  Rows(ColdPool& pool, size_t width) : pool_(pool), width_(width), batch_(Way::kToDevice, width) {
    pool_.WalkInOrder(kSpan);
    Verify([this] { return AsRows(); });
    Verify([this] { return AsBatch(); });
  }

  double AsRows() {
    const size_t at = pool_.Next();
    const Clock::time_point start = Clock::now();
    RW_ACL(
        aclrtMemcpy2dAsync(pool_.device(at), pitch(), pool_.host(at), pitch(), width_, height(), ACL_MEMCPY_HOST_TO_DEVICE, stream_.get()));
    stream_.Synchronize();
    return SecondsSince(start) / static_cast<double>(width_ * height());
  }
  double AsBatch() {
    const size_t at = pool_.Next();
    batch_.Clear();
    for (size_t row = 0; row < height(); ++row) batch_.Add(pool_.device(at + row * pitch()), pool_.host(at + row * pitch()));
    const Clock::time_point start = Clock::now();
    RW_ACL(batch_.Submit(stream_));
    stream_.Synchronize();
    return SecondsSince(start) / static_cast<double>(width_ * height());
  }

 private:
  size_t pitch() const { return 2 * width_; }
  size_t height() const { return kSpan / pitch(); }

  // The rows arrive, and nothing between them.
  template <typename Sample>
  void Verify(Sample sample) {
    std::memset(pool_.view(0), 0, kSpan);
    pool_.Rewind();
    sample();
    for (size_t at = 0; at < kSpan; at += pitch()) {
      const bool same = std::memcmp(pool_.view(at), pool_.host(at), width_) == 0;
      const uint8_t* gap = pool_.view(at + width_);
      if (!same || std::count(gap, gap + width_, 0) != static_cast<std::ptrdiff_t>(width_))
        throw std::runtime_error("rows_*: bytes that differ at " + std::to_string(at));
    }
  }

  ColdPool& pool_;
  size_t width_;
  Stream stream_;
  BlockBatch batch_;
};

}  // namespace

void BenchRows(BenchReport& report) {
  std::optional<ColdPool> pool;
  for (size_t width : kWidths) {
    const std::string name = "rows_" + SizeName(width);
    if (!report.Begin(name)) continue;
    if (!pool) pool.emplace(kPoolBytes);
    Rows rows(*pool, width);
    const Rounds rounds =
        RunShuffled({{"rows", [&] { return rows.AsRows(); }}, {"batch", [&] { return rows.AsBatch(); }}}, report.rounds());
    report.Add({name, Format("2-D copy of 64 MiB in rows of %s", FormatBytes(width).c_str()), 1 / rounds.MedianCost(0),
                Unit::kBytesPerSecond, "one batch", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1),
                Goal{Goal::kAtLeast, Unit::kRatio, 0.9, 1.0}});
  }
}

}  // namespace ropeway::cli
