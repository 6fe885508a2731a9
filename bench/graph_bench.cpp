// The same copies of 4 KiB, 10 to 1000 of them: replayed from a captured graph, submitted one by one, and by a loop of
// memcpy. The blocks stay in the cache, so the rows differ by what it costs to run a copy. GraphTwoStreams has half of
// them on a second stream, forked and joined by events.
#include <benchmark/benchmark.h>

#include <cstring>

#include "bench/fixtures.h"

namespace ropeway::bench {
namespace {

constexpr size_t kBlock = 4096;

size_t Copies(const benchmark::State& state) { return static_cast<size_t>(state.range(0)); }

void SubmitBlocks(const ColdPool& pool, size_t begin, size_t end, const cli::Stream& stream) {
  for (size_t at = begin * kBlock; at < end * kBlock; at += kBlock) {
    RW_ACL(aclrtMemcpyAsync(pool.device(at), kBlock, pool.host(at), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  }
}

// Times copy_all(), after one run whose bytes were looked at.
template <typename CopyAll>
void TimeAll(benchmark::State& state, CopyAll copy_all) {
  ColdPool& pool = SharedPool();
  pool.WalkInOrder(kBlock);
  pool.Verify("graph", Copies(state), kBlock, copy_all);
  for (auto _ : state) copy_all();
  CountBytes(state, Copies(state) * kBlock);
  CountOperations(state, "per_copy", static_cast<double>(Copies(state)));
}

void TimeReplays(benchmark::State& state, const cli::Graph& graph, const cli::Stream& stream) {
  TimeAll(state, [&] {
    graph.Replay(stream);
    stream.Synchronize();
  });
}

void GraphReplay(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  const cli::Stream stream;
  const cli::Graph graph(stream, [&] { SubmitBlocks(pool, 0, Copies(state), stream); });
  TimeReplays(state, graph, stream);
}

void GraphTwoStreams(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  const cli::Stream first, second;
  const cli::Event forked(ACL_EVENT_SYNC), joined(ACL_EVENT_SYNC);
  const cli::Graph graph(first, [&] {
    RW_ACL(aclrtRecordEvent(forked.get(), first.get()));
    RW_ACL(aclrtStreamWaitEvent(second.get(), forked.get()));
    SubmitBlocks(pool, 0, Copies(state) / 2, first);
    SubmitBlocks(pool, Copies(state) / 2, Copies(state), second);
    RW_ACL(aclrtRecordEvent(joined.get(), second.get()));
    RW_ACL(aclrtStreamWaitEvent(first.get(), joined.get()));
  });
  TimeReplays(state, graph, first);
}

void SubmitOneByOne(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  cli::Stream& stream = SharedStream();
  TimeAll(state, [&] {
    SubmitBlocks(pool, 0, Copies(state), stream);
    stream.Synchronize();
  });
}

void Memcpy(benchmark::State& state) {
  ColdPool& pool = SharedPool();
  TimeAll(state, [&] {
    for (size_t at = 0; at < Copies(state) * kBlock; at += kBlock) std::memcpy(pool.view(at), pool.host(at), kBlock);
    benchmark::ClobberMemory();
  });
}

void Counts(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(10, 1000)->UseRealTime();
}

BENCHMARK(GraphReplay)->Apply(Counts);
BENCHMARK(GraphTwoStreams)->Apply(Counts);
BENCHMARK(SubmitOneByOne)->Apply(Counts);
BENCHMARK(Memcpy)->Apply(Counts);

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
