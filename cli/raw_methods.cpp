// The loops themselves, one template for each instruction set; see raw_methods.h.
#include "cli/raw_methods.h"

#include <cstdint>
#include <cstring>

#include "cli/measure.h"
#include "cli/table.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ropeway::cli {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kAllOfIt = SIZE_MAX;
constexpr size_t kFirstBytes = size_t{16} << 10;

void CopyByLibc(void* dst, const void* src, size_t size_bytes) { std::memcpy(dst, src, size_bytes); }

// `move_lines` copies a number of whole lines to a line boundary; what is left of them goes by libc.
template <typename MoveLines>
[[maybe_unused]] inline void CopyAroundLines(void* dst, const void* src, size_t size_bytes, MoveLines move_lines) {
  auto* to = static_cast<char*>(dst);
  auto* from = static_cast<const char*>(src);
  const size_t head = (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine;
  if (size_bytes < head + 4 * kLine) return CopyByLibc(dst, src, size_bytes);
  const size_t body = (size_bytes - head) & ~(2 * kLine - 1);
  std::memcpy(to, from, head);
  move_lines(to + head, from + head, body);
  std::memcpy(to + head + body, from + head + body, size_bytes - head - body);
}

// The first kSpan bytes in one way, what is behind them in another.
template <size_t kSpan, typename MoveLines>
[[maybe_unused]] inline void CopyInTwo(void* dst, const void* src, size_t size_bytes, MoveLines first, MoveLines behind) {
  CopyAroundLines(dst, src, size_bytes, [=](char* to, const char* from, size_t body) {
    const size_t span = body < kSpan ? body : kSpan;
    first(to, from, span);
    if (span < body) behind(to + span, from + span, body - span);
  });
}

#if defined(__x86_64__)

void CopyByRepMovsb(void* dst, const void* src, size_t size_bytes) {
  asm volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(size_bytes)::"memory");
}

template <bool kStreams, size_t kAhead>
__attribute__((target("avx2"))) void Avx2Lines(char* to, const char* from, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i += sizeof(__m256i)) {
    if (kAhead != 0 && i % kLine == 0) _mm_prefetch(from + i + kAhead, _MM_HINT_T1);
    const __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    auto* out = reinterpret_cast<__m256i*>(to + i);
    kStreams ? _mm256_stream_si256(out, part) : _mm256_store_si256(out, part);
  }
  _mm_sfence();
}

template <bool kStreams, size_t kAhead>
__attribute__((target("avx512f"))) void Avx512Lines(char* to, const char* from, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i += sizeof(__m512i)) {
    if (kAhead != 0) _mm_prefetch(from + i + kAhead, _MM_HINT_T1);
    const __m512i part = _mm512_loadu_si512(from + i);
    auto* out = reinterpret_cast<__m512i*>(to + i);
    kStreams ? _mm512_stream_si512(out, part) : _mm512_store_si512(out, part);
  }
  _mm_sfence();
}

template <bool kStreams, size_t kAhead, size_t kSpan>
void CopyByAvx2(void* dst, const void* src, size_t size_bytes) {
  CopyInTwo<kSpan>(dst, src, size_bytes, Avx2Lines<kStreams, kAhead>, Avx2Lines<kStreams, 0>);
}

template <bool kStreams, size_t kAhead, size_t kSpan>
void CopyByAvx512(void* dst, const void* src, size_t size_bytes) {
  CopyInTwo<kSpan>(dst, src, size_bytes, Avx512Lines<kStreams, kAhead>, Avx512Lines<kStreams, 0>);
}

template <size_t kAhead, size_t kSpan = kAllOfIt>
void AddStreaming(std::vector<RawMethod>& methods) {
  if (__builtin_cpu_supports("avx2")) methods.push_back({"avx2", true, kAhead, kSpan, CopyByAvx2<true, kAhead, kSpan>});
  if (__builtin_cpu_supports("avx512f")) methods.push_back({"avx512", true, kAhead, kSpan, CopyByAvx512<true, kAhead, kSpan>});
}

void AddVectors(std::vector<RawMethod>& methods) {
  methods.push_back({"rep_movsb", false, 0, 0, CopyByRepMovsb});
  if (__builtin_cpu_supports("avx2")) methods.push_back({"avx2", false, 0, 0, CopyByAvx2<false, 0, kAllOfIt>});
  if (__builtin_cpu_supports("avx512f")) methods.push_back({"avx512", false, 0, 0, CopyByAvx512<false, 0, kAllOfIt>});
  AddStreaming<0>(methods);
  AddStreaming<1024>(methods);
  AddStreaming<2048>(methods);
  AddStreaming<3072>(methods);
  AddStreaming<2048, kFirstBytes>(methods);
}

#elif defined(__aarch64__)

template <bool kStreams, size_t kAhead>
void NeonLines(char* to, const char* from, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; i += 32) {
    if (kAhead != 0 && i % kLine == 0) __builtin_prefetch(from + i + kAhead, 0, 2);
    const uint8x16_t low = vld1q_u8(reinterpret_cast<const uint8_t*>(from + i));
    const uint8x16_t high = vld1q_u8(reinterpret_cast<const uint8_t*>(from + i + 16));
    if (kStreams) {
      asm volatile("stnp %q0, %q1, [%2]" ::"w"(low), "w"(high), "r"(to + i) : "memory");
    } else {
      vst1q_u8(reinterpret_cast<uint8_t*>(to + i), low);
      vst1q_u8(reinterpret_cast<uint8_t*>(to + i + 16), high);
    }
  }
}

template <bool kStreams, size_t kAhead, size_t kSpan = kAllOfIt>
void CopyByNeon(void* dst, const void* src, size_t size_bytes) {
  CopyInTwo<kSpan>(dst, src, size_bytes, NeonLines<kStreams, kAhead>, NeonLines<kStreams, 0>);
}

void AddVectors(std::vector<RawMethod>& methods) {
  methods.push_back({"neon", false, 0, 0, CopyByNeon<false, 0>});
  methods.push_back({"neon", true, 0, 0, CopyByNeon<true, 0>});
  methods.push_back({"neon", true, 1024, kAllOfIt, CopyByNeon<true, 1024>});
  methods.push_back({"neon", true, 2048, kAllOfIt, CopyByNeon<true, 2048>});
  methods.push_back({"neon", true, 3072, kAllOfIt, CopyByNeon<true, 3072>});
  methods.push_back({"neon", true, 2048, kFirstBytes, CopyByNeon<true, 2048, kFirstBytes>});
}

#else

void AddVectors(std::vector<RawMethod>&) {}

#endif

}  // namespace

const std::vector<RawMethod>& RawMethods() {
  static const std::vector<RawMethod> methods = [] {
    std::vector<RawMethod> all = {{"libc", false, 0, 0, CopyByLibc}};
    AddVectors(all);
    return all;
  }();
  return methods;
}

std::string Describe(const RawMethod& method) {
  if (!method.streams) return method.name;
  return method.name + " streaming" + DescribeAhead(method.ahead_bytes, method.ahead_span == kAllOfIt);
}

std::string DescribeAhead(size_t ahead_bytes, bool all_the_way) {
  return ahead_bytes == 0 ? "" : ", " + FormatBytes(ahead_bytes) + (all_the_way ? " ahead" : " ahead at first");
}

RawMethod BestRawMethod(const std::function<double(const RawMethod&)>& cost, bool (*fits)(const RawMethod&)) {
  std::vector<const RawMethod*> those;
  std::vector<Contestant> contestants;
  for (const RawMethod& method : RawMethods()) {
    if (fits != nullptr && !fits(method)) continue;
    those.push_back(&method);
    contestants.push_back({method.name, [&] { return cost(method); }});
  }
  return *those[Fastest(contestants)];
}

}  // namespace ropeway::cli
