// Handing over one 4 KiB copy, by aclrtMemcpyAsync with a lane awake, by PoCL's enqueue, and simply doing it with
// memcpy. The bursts stay below the depth of a stream's queue; the counter per_copy is the result.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>

#include "bench/fixtures.h"
#include "bench/wake_lane.h"

namespace ropeway::bench {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kHotBlocks = 64;
constexpr size_t kBurst = 1500;

using Clock = std::chrono::steady_clock;

size_t HotOffset(size_t i) { return i % kHotBlocks * kBlock; }

// Times bursts only; `before` and `after` bring the runtime to where a burst should begin.
template <typename Before, typename Submit, typename After>
void TimeBursts(benchmark::State& state, Before before, Submit submit, After after) {
  for (auto _ : state) {
    before();
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kBurst; ++i) submit(HotOffset(i));
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    after();
  }
  CountOperations(state, "per_copy", kBurst);
}

void SubmitRopeway(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  cli::Stream& stream = SharedStream();
  auto submit = [&](size_t offset) {
    RW_ACL(aclrtMemcpyAsync(pool.device(offset), kBlock, pool.host(offset), kBlock, ACL_MEMCPY_HOST_TO_DEVICE,
                            stream.get()));
  };
  pool.WalkInOrder(kBlock);
  pool.Verify("submit", kHotBlocks, kBlock, [&] {
    for (size_t i = 0; i < kHotBlocks; ++i) submit(HotOffset(i));
    stream.Synchronize();
  });
  TimeBursts(
      state, [&] { WakeLane(pool, stream); }, submit, [&] { stream.Synchronize(); });
}

void SubmitPocl(benchmark::State& state) {
  OpenClPeer* peer = SharedPeer(state);
  if (peer == nullptr) return;
  ColdPool& pool = SharedPool();
  peer->Allocate(kHotBlocks * kBlock);
  TimeBursts(
      state, [] {}, [&](size_t offset) { peer->Write(offset, pool.host(offset), kBlock); }, [&] { peer->Finish(); });
}

void SubmitMemcpy(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  TimeBursts(
      state, [] {},
      [&](size_t offset) {
        std::memcpy(pool.view(offset), pool.host(offset), kBlock);
        benchmark::ClobberMemory();
      },
      [] {});
}

BENCHMARK(SubmitRopeway)->UseManualTime();
BENCHMARK(SubmitPocl)->UseManualTime();
BENCHMARK(SubmitMemcpy)->UseManualTime();

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
