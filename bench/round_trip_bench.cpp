// One small copy and the wait for it: back to back, after a pause in which the lanes fall asleep, through PoCL, and
// raw.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>

#include "bench/fixtures.h"

namespace ropeway::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::microseconds(160);
constexpr int kTripsAfterPause =
    2000;  // each one costs the pause, which the library's own choice of a count cannot know

size_t Size(const benchmark::State& state) { return static_cast<size_t>(state.range(0)); }

void CopyAndWait(const ColdPool& pool, size_t size, const cli::Stream& stream) {
  RW_ACL(aclrtMemcpyAsync(pool.device(0), size, pool.host(0), size, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  stream.Synchronize();
}

ColdPool& VerifiedPool(size_t size, const cli::Stream& stream) {
  ColdPool& pool = SharedPool();
  pool.WalkInOrder(size);
  pool.Verify("round trip", 1, size, [&] { CopyAndWait(pool, size, stream); });
  return pool;
}

void RoundTripRopeway(benchmark::State& state) {
  cli::Stream& stream = SharedStream();
  ColdPool& pool = VerifiedPool(Size(state), stream);
  for (auto _ : state) CopyAndWait(pool, Size(state), stream);
  CountBytes(state, Size(state));
}

void RoundTripRopewayAfterPause(benchmark::State& state) {
  cli::Stream& stream = SharedStream();
  ColdPool& pool = VerifiedPool(Size(state), stream);
  for (auto _ : state) {
    for (const Clock::time_point end = Clock::now() + kPause; Clock::now() < end;) continue;
    const Clock::time_point start = Clock::now();
    CopyAndWait(pool, Size(state), stream);
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
  }
  CountBytes(state, Size(state));
}

void RoundTripPocl(benchmark::State& state) {
  OpenClPeer* peer = SharedPeer(state);
  if (peer == nullptr) return;
  ColdPool& pool = SharedPool();
  peer->Allocate(Size(state));
  for (auto _ : state) {
    peer->Write(0, pool.host(0), Size(state));
    peer->Finish();
  }
  CountBytes(state, Size(state));
}

void RoundTripMemcpy(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  for (auto _ : state) {
    std::memcpy(pool.view(0), pool.host(0), Size(state));
    benchmark::ClobberMemory();
  }
  CountBytes(state, Size(state));
}

BENCHMARK(RoundTripRopeway)->Arg(64)->Arg(4 << 10)->Arg(64 << 10)->UseRealTime();
BENCHMARK(RoundTripRopewayAfterPause)
    ->Arg(64)
    ->Arg(4 << 10)
    ->Arg(64 << 10)
    ->UseManualTime()
    ->Iterations(kTripsAfterPause);
BENCHMARK(RoundTripPocl)->Arg(64)->Arg(4 << 10)->Arg(64 << 10)->UseRealTime();
BENCHMARK(RoundTripMemcpy)->Arg(64)->Arg(4 << 10)->Arg(64 << 10)->UseRealTime();

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
