// 4096 scattered cold blocks by block size, in both directions: one batch, a loop of single copies, libc's memcpy and
// the best raw streaming copy. BatchSubmit is the batch call alone, to a stream that is held back. Whoever synchronises
// helps; ROPEWAY_LANES says how many others do.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>
#include <vector>

#include "bench/fixtures.h"
#include "bench/raw_copy.h"
#include "cli/block_batch.h"
#include "cli/gate.h"

namespace ropeway::bench {
namespace {

using cli::BlockBatch;
using cli::Way;
using Clock = std::chrono::steady_clock;

constexpr size_t kBlocks = 4096;

size_t BlockSize(const benchmark::State& state) { return static_cast<size_t>(state.range(0)); }

// The next blocks of the pool, as the API names them and as host code reaches them.
class Blocks {
 public:
  Blocks(Way way, size_t block) : way_(way), block_(block), pool_(SharedPool(kBlocks * block)), batch_(way, block) {
    pool_.WalkScattered(block);
    Next();
  }

  size_t block() const { return block_; }
  size_t bytes() const { return kBlocks * block_; }
  BlockBatch& batch() { return batch_; }

  void Next() {
    offsets_.clear();
    batch_.Clear();
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t offset = pool_.Next();
      offsets_.push_back(offset);
      batch_.Add(dst(offset), src(offset));
    }
  }
  template <typename CopyOne>
  void ForEach(CopyOne copy_one) {
    for (size_t offset : offsets_) copy_one(dst(offset), src(offset));
  }
  template <typename CopyOne>
  void ForEachRaw(CopyOne copy_one) {
    const bool to_device = way_ == Way::kToDevice;
    for (size_t offset : offsets_) {
      uint8_t *host = pool_.host(offset), *device = pool_.view(offset);
      copy_one(to_device ? device : host, to_device ? host : device, block_);
    }
  }
  // Whether `copy` carries fresh bytes over.
  template <typename Copy>
  bool Carries(Copy copy) {
    uint64_t seed = 0;
    ForEachRaw([&](uint8_t* to, uint8_t* from, size_t size) {
      FillPattern(from, size, ++seed);
      std::memset(to, 0, size);
    });
    copy();
    bool same = true;
    ForEachRaw([&](uint8_t* to, uint8_t* from, size_t size) { same = same && std::memcmp(to, from, size) == 0; });
    return same;
  }

 private:
  void* dst(size_t offset) { return way_ == Way::kToDevice ? pool_.device(offset) : pool_.host(offset); }
  void* src(size_t offset) { return way_ == Way::kToDevice ? pool_.host(offset) : pool_.device(offset); }

  Way way_;
  size_t block_;
  ColdPool& pool_;
  BlockBatch batch_;
  std::vector<size_t> offsets_;
};

// Times copy(), which copies the chosen blocks; choosing them is not timed.
template <typename Copy>
void TimeSwaps(benchmark::State& state, Blocks& blocks, Copy copy) {
  if (!blocks.Carries(copy)) {
    state.SkipWithError("the bytes arrived changed");
    return;
  }
  for (auto _ : state) {
    blocks.Next();
    const Clock::time_point start = Clock::now();
    copy();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
  }
  CountBytes(state, blocks.bytes());
}

void Batch(benchmark::State& state, Way way) {
  cli::Stream& stream = SharedStream();
  Blocks blocks(way, BlockSize(state));
  TimeSwaps(state, blocks, [&] {
    RW_ACL(blocks.batch().Submit(stream));
    stream.Synchronize();
  });
}

void CopyLoop(benchmark::State& state, Way way) {
  cli::Stream& stream = SharedStream();
  Blocks blocks(way, BlockSize(state));
  const aclrtMemcpyKind kind = way == Way::kToDevice ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  TimeSwaps(state, blocks, [&] {
    blocks.ForEach([&](void* dst, void* src) {
      RW_ACL(aclrtMemcpyAsync(dst, blocks.block(), src, blocks.block(), kind, stream.get()));
    });
    stream.Synchronize();
  });
}

void Memcpy(benchmark::State& state, Way way) {
  Blocks blocks(way, BlockSize(state));
  TimeSwaps(state, blocks, [&] {
    blocks.ForEachRaw([](uint8_t* to, uint8_t* from, size_t size) { std::memcpy(to, from, size); });
    benchmark::ClobberMemory();
  });
}

void Streaming(benchmark::State& state, Way way) {
  Blocks blocks(way, BlockSize(state));
  TimeSwaps(state, blocks,
            [&] { blocks.ForEachRaw([](uint8_t* to, uint8_t* from, size_t n) { StreamingCopy(to, from, n); }); });
}

void BatchSubmit(benchmark::State& state) {
  cli::Stream& stream = SharedStream();
  Blocks blocks(Way::kToDevice, BlockSize(state));
  for (auto _ : state) {
    blocks.Next();
    cli::Gate gate;
    gate.Close(stream);
    const Clock::time_point start = Clock::now();
    RW_ACL(blocks.batch().Submit(stream));
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
  }
  CountOperations(state, "per_block", kBlocks);
}

void BlockSizes(benchmark::internal::Benchmark* benchmark) {
  for (int64_t kib : {1, 4, 16, 64, 128}) benchmark->Arg(kib << 10);
  benchmark->UseManualTime();
}

BENCHMARK_CAPTURE(Batch, H2D, Way::kToDevice)->Apply(BlockSizes);
BENCHMARK_CAPTURE(CopyLoop, H2D, Way::kToDevice)->Apply(BlockSizes);
BENCHMARK_CAPTURE(Memcpy, H2D, Way::kToDevice)->Apply(BlockSizes);
BENCHMARK_CAPTURE(Streaming, H2D, Way::kToDevice)->Apply(BlockSizes);
BENCHMARK_CAPTURE(Batch, D2H, Way::kToHost)->Apply(BlockSizes);
BENCHMARK_CAPTURE(CopyLoop, D2H, Way::kToHost)->Apply(BlockSizes);
BENCHMARK_CAPTURE(Memcpy, D2H, Way::kToHost)->Apply(BlockSizes);
BENCHMARK_CAPTURE(Streaming, D2H, Way::kToHost)->Apply(BlockSizes);
BENCHMARK(BatchSubmit)->Arg(16 << 10)->UseManualTime();

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
