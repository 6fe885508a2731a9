// The same 2000 scattered copies of 4 KiB through 1 to 1000 streams, beside a memcpy loop and beside one PoCL queue.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "bench/fixtures.h"

namespace ropeway::bench {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kCopies = 2000;  // fits the queue of one stream: nobody waits for room

ColdPool& ScatteredPool() {
  ColdPool& pool = SharedPool();
  pool.WalkScattered(kBlock);
  return pool;
}

void Finish(benchmark::State& state) {
  CountBytes(state, kCopies * kBlock);
  CountOperations(state, "per_copy", kCopies);
}

void StreamsRopeway(benchmark::State& state) {
  ColdPool& pool = ScatteredPool();
  const std::vector<cli::Stream> streams(static_cast<size_t>(state.range(0)));
  auto spread = [&] {
    for (size_t i = 0; i < kCopies; ++i) {
      const size_t offset = pool.Next();
      RW_ACL(aclrtMemcpyAsync(pool.device(offset), kBlock, pool.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE,
                              streams[i % streams.size()].get()));
    }
    RW_ACL(aclrtSynchronizeDevice());
  };
  pool.Verify("streams", kCopies, kBlock, spread);
  for (auto _ : state) spread();
  Finish(state);
}

void StreamsMemcpy(benchmark::State& state) {
  ColdPool& pool = ScatteredPool();
  for (auto _ : state) {
    for (size_t i = 0; i < kCopies; ++i) {
      const size_t offset = pool.Next();
      std::memcpy(pool.view(offset), pool.host(offset), kBlock);
    }
    benchmark::ClobberMemory();
  }
  Finish(state);
}

void StreamsPocl(benchmark::State& state) {
  OpenClPeer* peer = SharedPeer(state);
  if (peer == nullptr) return;
  ColdPool& pool = ScatteredPool();
  peer->Allocate(pool.size());
  for (auto _ : state) {
    for (size_t i = 0; i < kCopies; ++i) {
      const size_t offset = pool.Next();
      peer->Write(offset, pool.host(offset), kBlock);
    }
    peer->Finish();
  }
  Finish(state);
}

BENCHMARK(StreamsRopeway)->Arg(1)->Arg(10)->Arg(100)->Arg(1000)->UseRealTime();
BENCHMARK(StreamsMemcpy)->UseRealTime();
BENCHMARK(StreamsPocl)->UseRealTime();

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
