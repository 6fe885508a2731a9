// Copies inside the device by size, in bursts: by descriptor (set and launched, or launched only), by a plain
// aclrtMemcpyAsync, by libc's memcpy and by the best raw streaming copy. Cold and scattered.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>

#include "bench/fixtures.h"
#include "bench/raw_copy.h"
#include "cli/copy_descriptors.h"

namespace ropeway::bench {
namespace {

constexpr size_t kPoolBytes = 128 << 20;
constexpr size_t kBurstBytes = 32 << 20;  // of one iteration, in at most kMostCopies
constexpr size_t kMostCopies = 1000;

size_t Size(const benchmark::State& state) { return static_cast<size_t>(state.range(0)); }

// As SharedPool, for copies inside the device; never destroyed either.
ColdDevicePool& SharedDevicePool() {
  UseDevice();
  static auto* pool = new ColdDevicePool(kPoolBytes);
  return *pool;
}

// Times bursts of copy(i, offset) with `end` behind them, after one burst whose bytes were looked at.
template <typename Copy, typename End>
void TimeBursts(benchmark::State& state, Copy copy, End end) {
  const size_t count = std::min(kBurstBytes / Size(state), kMostCopies);
  ColdDevicePool& pool = SharedDevicePool();
  pool.WalkScattered(Size(state));
  auto burst = [&] {
    for (size_t i = 0; i < count; ++i) copy(i, pool.Next());
    end();
  };
  pool.Verify("descriptor", count, Size(state), burst);
  for (auto _ : state) burst();
  CountBytes(state, count * Size(state));
  CountOperations(state, "per_copy", static_cast<double>(count));
}

void Descriptor(benchmark::State& state) {
  ColdDevicePool& pool = SharedDevicePool();
  cli::Stream& stream = SharedStream();
  const cli::CopyDescriptors descriptors(kMostCopies);
  TimeBursts(
      state,
      [&](size_t i, size_t offset) {
        descriptors.Set(i, pool.target(offset), pool.source(offset), Size(state));
        descriptors.Launch(i, stream);
      },
      [&] { stream.Synchronize(); });
}

// What a replayed decode step pays: the descriptors were written before. They name the blocks of the first burst, so
// this one is for sizes whose burst is larger than the cache.
void DescriptorLaunchOnly(benchmark::State& state) {
  ColdDevicePool& pool = SharedDevicePool();
  cli::Stream& stream = SharedStream();
  const cli::CopyDescriptors descriptors(kMostCopies);
  pool.WalkScattered(Size(state));
  for (size_t i = 0; i < std::min(kBurstBytes / Size(state), kMostCopies); ++i) {
    const size_t offset = pool.Next();
    descriptors.Set(i, pool.target(offset), pool.source(offset), Size(state));
  }
  TimeBursts(
      state, [&](size_t i, size_t) { descriptors.Launch(i, stream); }, [&] { stream.Synchronize(); });
}

void PlainCopy(benchmark::State& state) {
  ColdDevicePool& pool = SharedDevicePool();
  cli::Stream& stream = SharedStream();
  TimeBursts(
      state,
      [&](size_t, size_t offset) {
        RW_ACL(aclrtMemcpyAsync(pool.target(offset), Size(state), pool.source(offset), Size(state),
                                ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
      },
      [&] { stream.Synchronize(); });
}

void Memcpy(benchmark::State& state) {
  ColdDevicePool& pool = SharedDevicePool();
  TimeBursts(
      state,
      [&](size_t, size_t offset) { std::memcpy(pool.target_view(offset), pool.source_view(offset), Size(state)); },
      [] { benchmark::ClobberMemory(); });
}

void Streaming(benchmark::State& state) {
  ColdDevicePool& pool = SharedDevicePool();
  TimeBursts(
      state,
      [&](size_t, size_t offset) { StreamingCopy(pool.target_view(offset), pool.source_view(offset), Size(state)); },
      [] {});
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(4 << 10, 16 << 20)->UseRealTime();
}

BENCHMARK(Descriptor)->Apply(Sizes);
BENCHMARK(DescriptorLaunchOnly)->RangeMultiplier(4)->Range(64 << 10, 16 << 20)->UseRealTime();
BENCHMARK(PlainCopy)->Apply(Sizes);
BENCHMARK(Memcpy)->Apply(Sizes);
BENCHMARK(Streaming)->Apply(Sizes);

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
