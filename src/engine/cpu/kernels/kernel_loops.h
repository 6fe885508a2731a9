// The loops that the vector tables share. Each vector file instantiates them for its own `Lines` type, which knows how
// one 64-byte line is moved with its instruction set.
// Everything here has internal linkage on purpose: the vector files are compiled with flags of their own, and a linker
// could hand their copy of an inline function to the rest of the program, which an older CPU then fails to run.
// For the same reason libc is reached through builtins, and no library header is included.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"

namespace ropeway::cpu {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kStep = 2 * kLine;

// Below this a streaming loop has nothing to win: most of the block would be its ragged head and tail.
constexpr size_t kMinStreamed = 4 * kLine;

// libc's memmove is unbeaten below this, and has not yet switched to `rep movsb`, which crawls for some alignments.
constexpr size_t kMinCached = 2048;

// Bytes from `p` to the next line boundary.
inline size_t BytesToLine(const char* p) { return (0 - reinterpret_cast<uintptr_t>(p)) & (kLine - 1); }

// The large cases stand in functions of their own, so that the small ones do not pay for their stack frames.
//
// Into the second cache, which both machines of docs/performance.md like best: a hint that the line is not wanted again halves the speed of
// an Emerald Rapids, and the first cache is too small for what is on its way.
template <class Lines>
[[gnu::noinline]] void StreamCopyLarge(char* d, const char* s, size_t size, AskAhead ahead) {
  // Not an overlapping vector store: a line that is in the cache makes the streaming store into it slow.
  const size_t head = BytesToLine(d);
  __builtin_memmove(d, s, head);
  d += head;
  s += head;
  size -= head;

  const size_t body = size & ~(kStep - 1);
  const size_t within = ahead.distance != 0 && body > ahead.distance ? body - ahead.distance : 0;
  const size_t prefetched = (within < ahead.span ? within : ahead.span) & ~(kStep - 1);
  size_t i = 0;
  for (; i < prefetched; i += kStep) {
    __builtin_prefetch(s + i + ahead.distance, 0, 2);
    __builtin_prefetch(s + i + ahead.distance + kLine, 0, 2);
    Lines::Stream(d + i, s + i);
    Lines::Stream(d + i + kLine, s + i + kLine);
  }
  for (; i < body; i += kStep) {
    Lines::Stream(d + i, s + i);
    Lines::Stream(d + i + kLine, s + i + kLine);
  }
  __builtin_memmove(d + body, s + body, size - body);
  Lines::Fence();
}

template <class Lines>
void StreamCopy(void* dst, const void* src, size_t size, AskAhead ahead) {
  if (size < kMinStreamed) {
    __builtin_memmove(dst, src, size);
  } else {
    StreamCopyLarge<Lines>(static_cast<char*>(dst), static_cast<const char*>(src), size, ahead);
  }
}

template <class Lines>
[[gnu::noinline]] void CachedCopyLarge(char* d, const char* s, size_t size) {
  const size_t head = BytesToLine(d);
  __builtin_memmove(d, s, head);
  d += head;
  s += head;
  size -= head;

  const size_t body = size & ~(2 * kStep - 1);
  for (size_t i = 0; i < body; i += 2 * kStep) {
    Lines::Copy(d + i, s + i);
    Lines::Copy(d + i + kLine, s + i + kLine);
    Lines::Copy(d + i + 2 * kLine, s + i + 2 * kLine);
    Lines::Copy(d + i + 3 * kLine, s + i + 3 * kLine);
  }
  __builtin_memmove(d + body, s + body, size - body);
}

template <class Lines>
void CachedCopy(void* dst, const void* src, size_t size) {
  if (size < kMinCached) {
    __builtin_memmove(dst, src, size);
  } else {
    CachedCopyLarge<Lines>(static_cast<char*>(dst), static_cast<const char*>(src), size);
  }
}

template <class Lines>
[[gnu::noinline]] void StreamSetLarge(char* d, int value, size_t size) {
  const size_t head = BytesToLine(d);
  __builtin_memset(d, value, head);
  d += head;
  size -= head;

  const size_t body = size & ~(kStep - 1);
  const auto pattern = Lines::Broadcast(value);
  for (size_t i = 0; i < body; i += kStep) {
    Lines::StreamPattern(d + i, pattern);
    Lines::StreamPattern(d + i + kLine, pattern);
  }
  __builtin_memset(d + body, value, size - body);
  Lines::Fence();
}

template <class Lines>
void StreamSet(void* dst, int value, size_t size) {
  if (size < kMinStreamed) {
    __builtin_memset(dst, value, size);
  } else {
    StreamSetLarge<Lines>(static_cast<char*>(dst), value, size);
  }
}

// By number: the address may be anybody's, and a pointer that goes on from none is undefined.
inline void PrefetchHead(const void* src, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(src);
  const size_t end = size < kPrefetchHead ? size : kPrefetchHead;
  for (size_t i = 0; i < end; i += kLine) __builtin_prefetch(reinterpret_cast<const void*>(begin + i), 0, 3);
}

template <class Lines>
constexpr KernelTable MakeTable(const char* name) {
  return {name, &StreamCopy<Lines>, &CachedCopy<Lines>, &StreamSet<Lines>, &PrefetchHead};
}

}  // namespace
}  // namespace ropeway::cpu
