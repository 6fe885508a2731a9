// One cold copy by size, 64 bytes to 1 GiB, in three directions, beside libc's memcpy, the best raw streaming copy and
// PoCL. The raw rows copy between the same blocks through the host view.
#include <benchmark/benchmark.h>

#include <cstring>

#include "bench/fixtures.h"
#include "bench/raw_copy.h"

namespace ropeway::bench {
namespace {

enum class Direction { kH2D, kD2H, kD2D };

// Where a copy reads and writes: as the API names it, and as host code reaches it.
struct Ends {
  void* dst;
  const void* src;
  uint8_t* dst_bytes;
  const uint8_t* src_bytes;
};

// The second device pool, for copies inside the device.
cli::DeviceBlock& SecondDevicePool(size_t size) {
  static cli::DeviceBlock* block = nullptr;
  if (block == nullptr || block->size() < size) {
    delete block;
    block = nullptr;
    block = new cli::DeviceBlock(size);
    std::memset(block->view(), 0, size);
  }
  return *block;
}

Ends At(Direction direction, ColdPool& pool, size_t offset) {
  if (direction == Direction::kH2D)
    return {pool.device(offset), pool.host(offset), pool.view(offset), pool.host(offset)};
  if (direction == Direction::kD2H)
    return {pool.host(offset), pool.device(offset), pool.host(offset), pool.view(offset)};
  cli::DeviceBlock& second = SecondDevicePool(pool.size());
  return {second.at(offset), pool.device(offset), second.view() + offset, pool.view(offset)};
}

aclrtMemcpyKind Kind(Direction direction) {
  return direction == Direction::kH2D   ? ACL_MEMCPY_HOST_TO_DEVICE
         : direction == Direction::kD2H ? ACL_MEMCPY_DEVICE_TO_HOST
                                        : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

ColdPool& PreparedPool(size_t size) {
  ColdPool& pool = SharedPool(size);
  pool.WalkInOrder(size);
  return pool;
}

// Times copy(ends, size) over the pool, after one copy whose bytes were looked at.
template <typename Copy>
void TimeCopies(benchmark::State& state, Direction direction, Copy copy) {
  const auto size = static_cast<size_t>(state.range(0));
  ColdPool& pool = PreparedPool(size);
  const Ends first = At(direction, pool, 0);
  FillPattern(const_cast<uint8_t*>(first.src_bytes), size, size);
  copy(first, size);
  if (std::memcmp(first.dst_bytes, first.src_bytes, size) != 0) {
    state.SkipWithError("the bytes arrived changed");
    return;
  }
  for (auto _ : state) copy(At(direction, pool, pool.Next()), size);
  CountBytes(state, size);
}

void Ropeway(benchmark::State& state, Direction direction) {
  cli::Stream& stream = SharedStream();
  TimeCopies(state, direction, [&](const Ends& ends, size_t size) {
    RW_ACL(aclrtMemcpyAsync(ends.dst, size, ends.src, size, Kind(direction), stream.get()));
    stream.Synchronize();
  });
}

void Memcpy(benchmark::State& state, Direction direction) {
  TimeCopies(state, direction, [](const Ends& ends, size_t size) {
    std::memcpy(ends.dst_bytes, ends.src_bytes, size);
    benchmark::ClobberMemory();
  });
}

void Streaming(benchmark::State& state, Direction direction) {
  TimeCopies(state, direction,
             [](const Ends& ends, size_t size) { StreamingCopy(ends.dst_bytes, ends.src_bytes, size); });
}

void PoclWrite(benchmark::State& state) {
  OpenClPeer* peer = SharedPeer(state);
  if (peer == nullptr) return;
  const auto size = static_cast<size_t>(state.range(0));
  ColdPool& pool = PreparedPool(size);
  peer->Allocate(pool.size());
  for (auto _ : state) {
    const size_t offset = pool.Next();
    peer->Write(offset, pool.host(offset), size);
    peer->Finish();
  }
  CountBytes(state, size);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(64, 1 << 30)->UseRealTime();
}

BENCHMARK_CAPTURE(Ropeway, H2D, Direction::kH2D)->Apply(Sizes);
BENCHMARK_CAPTURE(Memcpy, H2D, Direction::kH2D)->Apply(Sizes);
BENCHMARK_CAPTURE(Streaming, H2D, Direction::kH2D)->Apply(Sizes);
BENCHMARK(PoclWrite)->Apply(Sizes);
BENCHMARK_CAPTURE(Ropeway, D2H, Direction::kD2H)->Apply(Sizes);
BENCHMARK_CAPTURE(Memcpy, D2H, Direction::kD2H)->Apply(Sizes);
BENCHMARK_CAPTURE(Streaming, D2H, Direction::kD2H)->Apply(Sizes);
BENCHMARK_CAPTURE(Ropeway, D2D, Direction::kD2D)->Apply(Sizes);
BENCHMARK_CAPTURE(Memcpy, D2D, Direction::kD2D)->Apply(Sizes);
BENCHMARK_CAPTURE(Streaming, D2D, Direction::kD2D)->Apply(Sizes);

}  // namespace
}  // namespace ropeway::bench

BENCHMARK_MAIN();
