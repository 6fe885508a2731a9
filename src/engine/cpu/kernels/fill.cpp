// The pattern fill. 16-byte stores are enough to saturate the memory, so there is no version per instruction set.
#include "engine/cpu/kernels/fill.h"

#include <cstring>

// The sanitizers do not see streaming stores: see Kernels() for the same rule.
#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
#define RW_FILL_STREAMS 0
#elif defined(__x86_64__)
#include <emmintrin.h>
#define RW_FILL_STREAMS 1
#elif defined(__aarch64__)
#include "engine/cpu/kernels/neon_pair.h"
#define RW_FILL_STREAMS 1
#else
#define RW_FILL_STREAMS 0
#endif

namespace ropeway::cpu {
namespace {

constexpr size_t kLine = 64;

// From here on a fill pushes more useful data out of the cache than it leaves there.
[[maybe_unused]] constexpr size_t kStreamFrom = 256 * 1024;

void StoreLines(char* dst, const char* line, size_t size) {
  for (size_t i = 0; i < size; i += kLine) std::memcpy(dst + i, line, kLine);
}

#if RW_FILL_STREAMS && defined(__aarch64__)
void StreamLines(char* dst, const char* line, size_t size) {
  const uint8x16_t pattern = vld1q_u8(reinterpret_cast<const uint8_t*>(line));  // repeats every 4 bytes
  for (size_t i = 0; i < size; i += kLine) {
    StreamPair(dst + i, pattern, pattern);
    StreamPair(dst + i + kLine / 2, pattern, pattern);
  }
  StreamFence();
}
#elif RW_FILL_STREAMS
// `dst` stands on a line boundary.
void StreamLines(char* dst, const char* line, size_t size) {
  const __m128i pattern = _mm_loadu_si128(reinterpret_cast<const __m128i*>(line));  // repeats every 4 bytes
  for (size_t i = 0; i < size; i += kLine) {
    auto* target = reinterpret_cast<__m128i*>(dst + i);
    _mm_stream_si128(target, pattern);
    _mm_stream_si128(target + 1, pattern);
    _mm_stream_si128(target + 2, pattern);
    _mm_stream_si128(target + 3, pattern);
  }
  _mm_sfence();
}
#endif

void FillLines(char* dst, const char* line, size_t size) {
#if RW_FILL_STREAMS
  if (size >= kStreamFrom) {
    StreamLines(dst, line, size);
    return;
  }
#endif
  StoreLines(dst, line, size);
}

void FillLarge(char* dst, uint32_t value, size_t size) {
  // One word more than a line: the pattern of an aligned line may start inside a word.
  char pattern[kLine + sizeof value];
  for (size_t i = 0; i < sizeof pattern; i += sizeof value) std::memcpy(pattern + i, &value, sizeof value);

  const size_t head = (0 - reinterpret_cast<uintptr_t>(dst)) & (kLine - 1);
  std::memcpy(dst, pattern, head);
  dst += head;
  size -= head;
  const char* line = pattern + head % sizeof value;
  const size_t body = size & ~(kLine - 1);
  FillLines(dst, line, body);
  std::memcpy(dst + body, line, size - body);
}

}  // namespace

void FillWords(void* dst, uint32_t value, size_t count) {
  auto* d = static_cast<char*>(dst);
  if (count * sizeof value >= 2 * kLine) {
    FillLarge(d, value, count * sizeof value);
    return;
  }
  for (size_t i = 0; i < count; ++i) std::memcpy(d + i * sizeof value, &value, sizeof value);
}

}  // namespace ropeway::cpu
