// The ways that the other workloads leave out, back to the host and inside the device: for information, without goals.
#include <cstring>
#include <string>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cold_pool.h"
#include "cli/measure.h"
#include "cli/raw_methods.h"

namespace ropeway::cli {
namespace {

constexpr size_t kPoolBytes = 128 << 20;
constexpr size_t kSize = 16 << 20;
constexpr size_t kCopies = 4;  // a sample
constexpr size_t kBlock = 16 << 10;
constexpr size_t kBlocks = 4096;

// Seconds per byte of copy_all(), which moves so many bytes.
template <typename CopyAll>
double PerByte(size_t bytes, CopyAll copy_all) {
  const Clock::time_point start = Clock::now();
  copy_all();
  return SecondsSince(start) / static_cast<double>(bytes);
}

void AddRow(BenchReport& report, const std::string& name, const std::string& what, const std::string& beside, const Rounds& rounds) {
  report.Add({name, what, 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, beside, 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1),
              std::nullopt});
}

template <typename Pool>
void BenchSingle(BenchReport& report, const std::string& name, const std::string& what, aclrtMemcpyKind kind) {
  if (!report.Begin(name)) return;
  Pool pool(kPoolBytes);
  const Stream stream;
  auto sample = [&](auto copy_one) {
    return PerByte(kCopies * kSize, [&] {
      for (size_t i = 0; i < kCopies; ++i) copy_one(pool.Next());
    });
  };
  auto ropeway = [&] {
    return sample([&](size_t offset) {
      RW_ACL(aclrtMemcpyAsync(pool.target(offset), kSize, pool.source(offset), kSize, kind, stream.get()));
      stream.Synchronize();
    });
  };
  auto raw = [&](const RawMethod& method) {
    return sample([&](size_t offset) { method.copy(pool.target_view(offset), pool.source_view(offset), kSize); });
  };
  pool.WalkInOrder(kSize);
  pool.Verify(name.c_str(), kCopies, kSize, ropeway);
  const RawMethod best = BestRawMethod(raw);
  AddRow(report, name, what, Describe(best), RunShuffled({{"ropeway", ropeway}, {"raw", [&] { return raw(best); }}}, report.rounds()));
}

void BenchBatchToHost(BenchReport& report) {
  const std::string name = "to_host_batch_16k";
  if (!report.Begin(name)) return;
  ColdReadPool pool(kPoolBytes);
  const Stream stream;
  BlockBatch blocks(Way::kToHost, kBlock);
  auto batch = [&] {
    blocks.Clear();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t offset = pool.Next();
      blocks.Add(pool.target(offset), pool.source(offset));
    }
    return PerByte(kBlocks * kBlock, [&] {
      RW_ACL(blocks.Submit(stream));
      stream.Synchronize();
    });
  };
  auto loop = [&] {
    return PerByte(kBlocks * kBlock, [&] {
      for (size_t i = 0; i < kBlocks; ++i) {
        const size_t offset = pool.Next();
        std::memcpy(pool.target_view(offset), pool.source_view(offset), kBlock);
      }
    });
  };
  pool.WalkScattered(kBlock);
  pool.Verify(name.c_str(), kBlocks, kBlock, batch);
  AddRow(report, name, "batch of 4096 x 16 KiB scattered, to the host", "memcpy loop",
         RunShuffled({{"batch", batch}, {"memcpy loop", loop}}, report.rounds()));
}

}  // namespace

void BenchOtherWays(BenchReport& report) {
  BenchSingle<ColdReadPool>(report, "to_host_16m", "16 MiB cold, one copy to the host, over one raw thread", ACL_MEMCPY_DEVICE_TO_HOST);
  BenchSingle<ColdDevicePool>(report, "on_device_16m", "16 MiB cold, one copy D2D, over one raw thread", ACL_MEMCPY_DEVICE_TO_DEVICE);
  BenchBatchToHost(report);
}

}  // namespace ropeway::cli
