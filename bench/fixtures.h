// What the Google Benchmark programs share: a device, a cold pool of at least the wanted size, and PoCL when it is
// there. Run them with --benchmark_enable_random_interleaving=true when the machine is noisy.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "bench/cold_pool.h"
#include "bench/opencl_peer.h"
#include "cli/acl_objects.h"

namespace ropeway::bench {

// Makes device 0 current for the rest of the process; pools and streams of the benchmarks live on it.
inline void UseDevice() {
  static const bool once = [] {
    RW_ACL(aclrtSetDevice(0));
    return true;
  }();
  benchmark::DoNotOptimize(once);
}

// Well over any last-level cache; grown when a benchmark needs a larger one. What is created here is never destroyed:
// the library may be gone before static destructors run.
inline ColdPool& SharedPool(size_t size_bytes = 0) {
  constexpr size_t kLeastBytes = 256 << 20;
  static ColdPool* pool = nullptr;
  const size_t wanted = std::max(size_bytes, kLeastBytes);
  if (pool == nullptr || pool->size() < wanted) {
    UseDevice();
    delete pool;
    pool = nullptr;
    pool = new ColdPool(wanted);
  }
  return *pool;
}

inline cli::Stream& SharedStream() {
  UseDevice();
  static auto* stream = new cli::Stream;
  return *stream;
}

// Null when there is no PoCL; the benchmark is then marked as skipped, with the reason.
inline OpenClPeer* SharedPeer(benchmark::State& state) {
  static std::string why_not;
  static OpenClPeer* peer = OpenClPeer::Open(&why_not).release();
  if (peer == nullptr) state.SkipWithError(why_not.c_str());
  return peer;
}

// Bytes of one iteration, as a rate.
inline void CountBytes(benchmark::State& state, size_t bytes_per_iteration) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes_per_iteration));
}

// Operations of one iteration, as time per operation.
inline void CountOperations(benchmark::State& state, const char* name, double operations_per_iteration) {
  using benchmark::Counter;
  state.counters[name] = Counter(operations_per_iteration, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace ropeway::bench
