// Ways to do what the CUDA engine does, by plain CUDA and side by side, to choose among them before the engine is changed: how the end of a
// copy is seen, what a launch costs, how pageable memory is staged, how streams hand over, which kernel gathers scattered blocks best.
// bench/cuda_methods.sh compiles and runs it; it takes half a minute on an H200. Medians; microseconds, or parts of the link's speed.
#include <cuda.h>
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr size_t kKiB = 1 << 10, kMiB = 1 << 20;
constexpr size_t kPool = size_t{2} << 30;
constexpr unsigned kWarp = 32;

void Check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  printf("%s answered %s\n", call, name);
  exit(1);
}
#define CU(call) Check((call), #call)

// --- Kernels ------------------------------------------------------------------------------------------------------------

struct Piece {
  char* dst;
  const char* src;
  size_t size;  // of whole vectors
};

__device__ unsigned g_blocks_done;

// The last block says in host memory that all is done.
__device__ void Signal(volatile unsigned* flag, unsigned value) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (atomicAdd(&g_blocks_done, 1) != gridDim.x - 1) return;
  g_blocks_done = 0;
  __threadfence_system();
  *flag = value;
}

template <int kBytes>
struct Parameters {
  char bytes[kBytes];
};
template <int kBytes>
__global__ void Nothing(const __grid_constant__ Parameters<kBytes> parameters, volatile unsigned* flag, unsigned value) {
  if (parameters.bytes[threadIdx.x % kBytes] == 1) *flag = 0;
  Signal(flag, value);
}

__global__ void CopyRange(Piece piece, volatile unsigned* flag, unsigned value) {
  const size_t count = piece.size / 16, step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    reinterpret_cast<uint4*>(piece.dst)[i] = reinterpret_cast<const uint4*>(piece.src)[i];
  Signal(flag, value);
}

__device__ size_t From(size_t value, unsigned lane) { return __shfl_sync(~0u, static_cast<unsigned long long>(value), lane); }

// 32 pieces as one range of vectors; kUnroll loads of each lane on their way.
template <int kUnroll>
__global__ void Gather(const Piece* pieces, unsigned count, volatile unsigned* flag, unsigned value) {
  const unsigned lane = threadIdx.x % kWarp;
  const size_t warps = gridDim.x * (blockDim.x / kWarp), warp = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const size_t end = count * (warp + 1) / warps;
  for (size_t at = count * warp / warps; at < end; at += kWarp) {
    const Piece mine = at + lane < end ? pieces[at + lane] : Piece{};
    const unsigned vectors = static_cast<unsigned>(mine.size / 16);
    unsigned last = vectors;
    for (unsigned step = 1; step < kWarp; step *= 2) {
      const unsigned before = __shfl_up_sync(~0u, last, step);
      if (lane >= step) last += before;
    }
    const unsigned first = last - vectors, total = __shfl_sync(~0u, last, kWarp - 1);
    for (unsigned base = 0; base < total; base += kUnroll * kWarp) {
      uint4 bytes[kUnroll];
      uint4* to[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const unsigned index = base + u * kWarp + lane;
        unsigned piece = 0;
#pragma unroll
        for (unsigned step = kWarp / 2; step != 0; step /= 2) {
          if (__shfl_sync(~0u, first, piece + step) <= index) piece += step;
        }
        const size_t offset = index - __shfl_sync(~0u, first, piece);
        to[u] = reinterpret_cast<uint4*>(From(reinterpret_cast<size_t>(mine.dst), piece)) + offset;
        const auto* from = reinterpret_cast<const uint4*>(From(reinterpret_cast<size_t>(mine.src), piece)) + offset;
        if (index < total) bytes[u] = *from;
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (base + u * kWarp + lane < total) *to[u] = bytes[u];
      }
    }
  }
  Signal(flag, value);
}

// By bulk copies through shared memory, one thread of each warp, pieces up to kSlot bytes.
constexpr unsigned kSlot = 4096, kSlots = 12, kBulkWarps = 4;
__global__ void GatherInBulk(const Piece* pieces, unsigned count, volatile unsigned* flag, unsigned value) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) uint64_t arrived[kBulkWarps][kSlots];
  const unsigned warp_here = threadIdx.x / kWarp;
  const size_t warps = gridDim.x * kBulkWarps, warp = blockIdx.x * kBulkWarps + warp_here;
  const size_t begin = count * warp / warps, end = count * (warp + 1) / warps;
  if (threadIdx.x % kWarp == 0) {
    const auto slots = static_cast<unsigned>(__cvta_generic_to_shared(memory)) + warp_here * kSlot * kSlots;
    const auto barriers = static_cast<unsigned>(__cvta_generic_to_shared(&arrived[warp_here][0]));
    for (unsigned i = 0; i < kSlots; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers + 8 * i));
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory");
    const auto load = [&](size_t i) {
      const unsigned slot = (i - begin) % kSlots, size = static_cast<unsigned>(pieces[i].size);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barriers + 8 * slot), "r"(size) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(slots + slot * kSlot),
                   "l"(pieces[i].src), "r"(size), "r"(barriers + 8 * slot)
                   : "memory");
    };
    size_t next = begin;
    while (next < end && next < begin + kSlots - 2) load(next++);
    for (size_t i = begin; i < end; ++i) {
      const unsigned slot = (i - begin) % kSlots, phase = (i - begin) / kSlots % 2;
      for (unsigned there = 0; there == 0;)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(there)
                     : "r"(barriers + 8 * slot), "r"(phase)
                     : "memory");
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(pieces[i].dst),
                   "r"(slots + slot * kSlot), "r"(static_cast<unsigned>(pieces[i].size))
                   : "memory");
      if (next == end) continue;
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      load(next++);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  Signal(flag, value);
}

// --- Host side ----------------------------------------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Microseconds of one call of `step`, which gets a number.
double Time(int rounds, const std::function<void(int)>& step) {
  std::vector<double> times;
  for (int i = -5; i < rounds; ++i) {
    const Clock::time_point start = Clock::now();
    step(i + 5);
    if (i >= 0) times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return Median(times);
}

struct Lab {
  CUcontext context;
  CUstream first, second;
  char *host, *device;
  volatile unsigned* flag;
  unsigned value = 0;

  Lab() {
    CUdevice gpu;
    CU(cuInit(0));
    CU(cuDeviceGet(&gpu, 0));
    CU(cuDevicePrimaryCtxRetain(&context, gpu));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    flag = reinterpret_cast<unsigned*>(Pinned(4 * kKiB));
    host = Pinned(kPool);
    CUdeviceptr block;
    CU(cuMemAlloc(&block, kPool));
    device = reinterpret_cast<char*>(block);
  }
  static char* Pinned(size_t size) {
    void* block;
    CU(cuMemHostAlloc(&block, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    std::memset(block, 1, size);
    return static_cast<char*>(block);
  }
  static void Copy(void* dst, const void* src, size_t size, CUstream stream) {
    CU(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), size, stream));
  }
  static void Wait(CUstream stream) { CU(cuStreamSynchronize(stream)); }
  static void Query(CUstream stream) {
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) _mm_pause();
  }
  void Look() const {
    while (*flag != value) _mm_pause();
  }
  // Another place in a pool of so many bytes with every number.
  static size_t At(size_t size, int number, size_t pool = kPool / 2) { return number * size_t{7919} % (pool / size) * size; }
};

void SeeTheEnd(Lab& lab) {
  printf("The end of a launch: cuStreamSynchronize, cuStreamQuery, a flag in host memory; parameters of 16, 1600, 4000 and 12000 bytes\n");
  const auto launch = [&](auto parameters) { Nothing<<<16, 512, 0, lab.first>>>(parameters, lab.flag, ++lab.value); };
  const auto row = [&](auto parameters) {
    printf("  %6zu B: %6.2f %6.2f %6.2f\n", sizeof(parameters), Time(200, [&](int) { launch(parameters), Lab::Wait(lab.first); }),
           Time(200, [&](int) { launch(parameters), Lab::Query(lab.first); }), Time(200, [&](int) { launch(parameters), lab.Look(); }));
    Lab::Wait(lab.first);
  };
  row(Parameters<16>{});
  row(Parameters<1600>{});
  row(Parameters<4000>{});
  row(Parameters<12000>{});
  printf("Of a copy: cuStreamSynchronize, cuStreamQuery, cuStreamWriteValue32; and a kernel with a flag instead\n");
  for (int way = 0; way < 3; ++way) {
    for (size_t size : {4 * kKiB, 64 * kKiB, 256 * kKiB, kMiB}) {
      const auto source = [&](int i) { return (way == 0 ? lab.host : lab.device) + Lab::At(size, i); };
      const auto target = [&](int i) { return (way == 1 ? lab.host : lab.device) + kPool / 2 + Lab::At(size, i); };
      const auto copy = [&](int i) { Lab::Copy(target(i), source(i), size, lab.first); };
      const auto write = [&] { CU(cuStreamWriteValue32(lab.first, reinterpret_cast<CUdeviceptr>(lab.flag), ++lab.value, 0)); };
      const auto kernel = [&](int i) { CopyRange<<<32, 512, 0, lab.first>>>({target(i), source(i), size}, lab.flag, ++lab.value); };
      printf("  %s %5zu KiB: %6.2f %6.2f %6.2f %6.2f\n",
             way == 0   ? "H2D"
             : way == 1 ? "D2H"
                        : "D2D",
             size / kKiB, Time(200, [&](int i) { copy(i), Lab::Wait(lab.first); }),
             Time(200, [&](int i) { copy(i), Lab::Query(lab.first); }), Time(200, [&](int i) { copy(i), write(), lab.Look(); }),
             Time(200, [&](int i) { kernel(i), lab.Look(); }));
      Lab::Wait(lab.first);
    }
  }
}

void HandOver(Lab& lab) {
  CUevent event;
  CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const size_t size = 64 * kKiB;
  const auto up = [&](int i) { Lab::Copy(lab.device + Lab::At(size, i), lab.host + Lab::At(size, i), size, lab.first); };
  const auto down = [&](int i) { Lab::Copy(lab.host + Lab::At(size, i), lab.device + Lab::At(size, i), size, lab.second); };
  const auto by_event = [&](int i) {
    up(i);
    CU(cuEventRecord(event, lab.first));
    CU(cuStreamWaitEvent(lab.second, event, 0));
    down(i);
    Lab::Wait(lab.second);
  };
  printf("64 KiB up and, in another stream, down: by an event %.2f, by the host %.2f\n", Time(200, by_event),
         Time(200, [&](int i) { up(i), Lab::Query(lab.first), down(i), Lab::Query(lab.second); }));
}

// `threads` of them share the chunks of one copy.
double Staged(const Lab& lab, char* slots, char* pageable, size_t size, size_t chunk, int threads, bool up) {
  std::vector<CUstream> streams(threads);
  for (CUstream& stream : streams) CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::atomic<size_t> next{0};
  std::atomic<int> turn{0}, done{0};
  std::atomic<bool> stop{false};
  char* at = nullptr;
  const auto work = [&](CUstream stream) {
    for (size_t i; (i = next.fetch_add(chunk)) < size;) {
      if (up) std::memcpy(slots + i, at + i, chunk);
      up ? Lab::Copy(lab.device + i, slots + i, chunk, stream) : Lab::Copy(slots + i, lab.device + i, chunk, stream);
      if (up) continue;
      Lab::Wait(stream);
      std::memcpy(at + i, slots + i, chunk);
    }
    Lab::Wait(stream);
  };
  std::vector<std::thread> helpers;
  for (int t = 1; t < threads; ++t) {
    helpers.emplace_back([&, t] {
      CU(cuCtxSetCurrent(lab.context));
      for (int seen = 0; !stop; _mm_pause()) {
        if (turn == seen) continue;
        seen = turn;
        work(streams[t]);
        ++done;
      }
    });
  }
  const double time = Time(size > 4 * kMiB ? 11 : 60, [&](int i) {
    at = pageable + Lab::At(size, i, 256 * kMiB);
    next = 0;
    done = 0;
    ++turn;
    work(streams[0]);
    while (done != threads - 1) _mm_pause();
  });
  stop = true;
  for (std::thread& helper : helpers) helper.join();
  for (CUstream stream : streams) cuStreamDestroy(stream);
  return time;
}

void Pageable(Lab& lab) {
  std::vector<char> memory(256 * kMiB, 2);
  char* slots = Lab::Pinned(16 * kMiB);
  printf("Pageable memory, H2D and D2H: the driver's own way, then by T threads in chunks\n");
  for (size_t size : {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB}) {
    const auto at = [&](int i) { return memory.data() + Lab::At(size, i, memory.size()); };
    printf("  %5zu KiB: %8.2f %8.2f\n", size / kKiB,
           Time(60, [&](int i) { Lab::Copy(lab.device, at(i), size, lab.first), Lab::Wait(lab.first); }),
           Time(60, [&](int i) { Lab::Copy(at(i), lab.device, size, lab.first), Lab::Wait(lab.first); }));
    for (int threads : {1, 2, 4, 8}) {
      for (size_t chunk : {size, size / 4, size / 8, size / 16, size / 32}) {
        if (chunk < 4 * kKiB || chunk * threads > size || chunk > 2 * kMiB) continue;
        printf("    T=%d, %5zu KiB: %8.2f %8.2f\n", threads, chunk / kKiB, Staged(lab, slots, memory.data(), size, chunk, threads, true),
               Staged(lab, slots, memory.data(), size, chunk, threads, false));
      }
    }
  }
}

void Batches(Lab& lab) {
  auto* const list = reinterpret_cast<Piece*>(Lab::Pinned(4 * kMiB));
  constexpr unsigned kBulkBytes = kBulkWarps * kSlot * kSlots;
  cudaFuncSetAttribute(reinterpret_cast<const void*>(GatherInBulk), cudaFuncAttributeMaxDynamicSharedMemorySize, kBulkBytes);
  printf(
      "Scattered blocks, of the link: gathered with 8 loads by 16, 32, 64 and 132 CTAs of 512; with 4 by 32 of 1024; in bulk by 16, 32 and "
      "64\n");
  std::mt19937 random(1);
  for (bool up : {true, false}) {
    const double link = Time(3, [&](int) {
      up ? Lab::Copy(lab.device, lab.host, kPool / 2, lab.first) : Lab::Copy(lab.host, lab.device, kPool / 2, lab.first),
          Lab::Wait(lab.first);
    });
    for (const auto& [count, size] :
         {std::pair{size_t{4096}, kKiB}, {512, 4 * kKiB}, {64, 16 * kKiB}, {4096, 4 * kKiB}, {4096, 64 * kKiB}}) {
      const size_t cut = std::min(size, size_t{kSlot});
      const auto measure = [&](const std::function<void(unsigned)>& launch) {
        std::vector<double> times;
        for (int round = 0; round < 15; ++round) {
          unsigned pieces = 0;
          for (size_t i = 0; i < count; ++i) {
            char *in_host = lab.host + random() % (kPool / size) * size, *on_device = lab.device + random() % (kPool / size) * size;
            for (size_t at = 0; at < size; at += cut)
              list[pieces++] = {(up ? on_device : in_host) + at, (up ? in_host : on_device) + at, cut};
          }
          ++lab.value;
          const Clock::time_point start = Clock::now();
          launch(pieces);
          lab.Look();
          times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
          Lab::Wait(lab.first);
        }
        return link * static_cast<double>(count * size) / (kPool / 2) / Median(times);
      };
      printf("  %s %4zu x %2zu KiB:", up ? "H2D" : "D2H", count, size / kKiB);
      for (unsigned blocks : {16, 32, 64, 132})
        printf(" %.2f", measure([&](unsigned pieces) { Gather<8><<<blocks, 512, 0, lab.first>>>(list, pieces, lab.flag, lab.value); }));
      printf(" | %.2f |", measure([&](unsigned pieces) { Gather<4><<<32, 1024, 0, lab.first>>>(list, pieces, lab.flag, lab.value); }));
      for (unsigned blocks : {16, 32, 64})
        printf(" %.2f", measure([&](unsigned pieces) {
                 GatherInBulk<<<blocks, kBulkWarps * kWarp, kBulkBytes, lab.first>>>(list, pieces, lab.flag, lab.value);
               }));
      printf("\n");
    }
  }
}

}  // namespace

int main() {
  Lab lab;
  SeeTheEnd(lab);
  HandOver(lab);
  Pageable(lab);
  Batches(lab);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
