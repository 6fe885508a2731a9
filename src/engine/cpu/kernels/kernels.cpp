// Chooses among the kernel tables by what the CPU can do.
#include "engine/cpu/kernels/kernels.h"

#include <cstring>

namespace ropeway::cpu {
namespace {

struct Candidate {
  const KernelTable* table;
  bool (*usable)();
};

bool Always() { return true; }

#if defined(__x86_64__)
bool HasAvx512() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"); }
bool HasAvx2() { return __builtin_cpu_supports("avx2"); }
#endif

// AVX2 stands before AVX-512 because wide registers slow older CPUs down, and win nothing on Zen 4; where they do win, the profile says so.
constexpr Candidate kCandidates[] = {
#if defined(__x86_64__)
    {&kAvx2Kernels, &HasAvx2}, {&kAvx512Kernels, &HasAvx512}, {&kSse2Kernels, &Always}, {&kRepMovsbKernels, &Always},
#elif defined(__aarch64__)
    {&kNeonKernels, &Always},
#endif
    {&kLibcKernels, &Always},
};

}  // namespace

const KernelTable* KernelsAt(size_t index) {
  for (const Candidate& candidate : kCandidates) {
    if (candidate.usable() && index-- == 0) return candidate.table;
  }
  return nullptr;
}

const KernelTable* FindKernels(const char* name) {
  for (const Candidate& candidate : kCandidates) {
    if (std::strcmp(candidate.table->name, name) == 0 && candidate.usable()) return candidate.table;
  }
  return nullptr;
}

}  // namespace ropeway::cpu
