#include "memory/granule_allocator.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ropeway {
namespace {

// How many chunks that may fit or not are tried before one that will.
constexpr int kTries = 4;

uint64_t BitsOf(size_t first, size_t count) { return (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first; }

}  // namespace

int GranuleAllocator::BinOf(size_t run) { return std::bit_width(run) - 1; }

void GranuleAllocator::Link(Chunk& chunk) {
  if (chunk.longest == 0) return;
  Chunk*& head = bins_[static_cast<size_t>(BinOf(chunk.longest))];
  chunk.before = nullptr;
  chunk.next = head;
  if (head != nullptr) head->before = &chunk;
  head = &chunk;
}

void GranuleAllocator::Unlink(Chunk& chunk) {
  if (chunk.longest == 0) return;
  (chunk.before != nullptr ? chunk.before->next : bins_[static_cast<size_t>(BinOf(chunk.longest))]) = chunk.next;
  if (chunk.next != nullptr) chunk.next->before = chunk.before;
}

void GranuleAllocator::SetLongest(Chunk& chunk, size_t longest) {
  if (chunk.longest != 0 && longest != 0 && BinOf(chunk.longest) == BinOf(longest)) {
    chunk.longest = longest;
    return;
  }
  Unlink(chunk);
  chunk.longest = longest;
  Link(chunk);
}

void GranuleAllocator::AddChunk(uintptr_t base) {
  auto chunk = std::make_unique<Chunk>(base);
  Chunk& added = *chunk;
  chunks_.emplace(base, std::move(chunk));
  Link(added);
}

void GranuleAllocator::RemoveChunk(uintptr_t base) noexcept {
  const auto it = chunks_.find(base);
  Unlink(*it->second);
  chunks_.erase(it);
}

void GranuleAllocator::Mark(Chunk& chunk, size_t first, size_t count, bool free) {
  while (count > 0) {
    const size_t in_word = std::min(count, 64 - first % 64);
    const uint64_t bits = BitsOf(first % 64, in_word);
    uint64_t& word = chunk.free[first / 64];
    word = free ? word | bits : word & ~bits;
    first += in_word;
    count -= in_word;
  }
}

// Where the first run begins that is long enough behind its first aligned granule; kGranules when there is none, and then the chunk's
// longest run is known.
size_t GranuleAllocator::FindRun(Chunk& chunk, size_t count, size_t alignment) {
  size_t longest = 0;
  for (size_t at = 0; at < kGranules;) {
    const uint64_t word = chunk.free[at / 64] >> at % 64;
    if (word == 0) {
      at = (at / 64 + 1) * 64;
      continue;
    }
    at += static_cast<size_t>(std::countr_zero(word));
    const size_t run = RunAround(chunk, at, 0);
    const size_t aligned = (at + alignment - 1) / alignment * alignment;
    if (aligned + count <= at + run) return aligned;
    longest = std::max(longest, run);
    at += run;
  }
  chunk.longest = longest;
  return kGranules;
}

// The length of the free run that [first, first + count) is a part of, in both directions; with no count: from `first` on.
size_t GranuleAllocator::RunAround(const Chunk& chunk, size_t first, size_t count) {
  size_t end = first + count;
  while (end < kGranules) {
    const uint64_t word = ~(chunk.free[end / 64] >> end % 64);
    const size_t left = 64 - end % 64;
    const size_t ones = std::min(left, static_cast<size_t>(std::countr_zero(word)));
    end += ones;
    if (ones < left) break;
  }
  if (count == 0) return end - first;
  while (first > 0) {
    const size_t in_word = (first - 1) % 64 + 1;
    const uint64_t word = ~(chunk.free[(first - 1) / 64] << (64 - in_word));
    const size_t ones = std::min(in_word, static_cast<size_t>(std::countl_zero(word)));
    first -= ones;
    if (ones < in_word) break;
  }
  return end - first;
}

std::optional<uintptr_t> GranuleAllocator::TakeFrom(Chunk& chunk, size_t count, size_t alignment) {
  const size_t known = chunk.longest;
  const size_t first = FindRun(chunk, count, alignment);
  if (first == kGranules) {
    // Less than was thought: into the bin where it belongs.
    const size_t longest = std::exchange(chunk.longest, known);
    SetLongest(chunk, longest);
    return std::nullopt;
  }
  Mark(chunk, first, count, false);
  chunk.free_count -= count;
  SetLongest(chunk, std::min(chunk.longest, chunk.free_count));
  return chunk.base + first * kGranuleBytes;
}

std::optional<uintptr_t> GranuleAllocator::Take(size_t size, size_t alignment, bool thorough) noexcept {
  const size_t count = size / kGranuleBytes;
  const size_t step = std::max<size_t>(1, alignment / kGranuleBytes);
  const int certain = std::bit_width(count + step - 1 - 1);  // from this bin on, a run as long as its chunk promises will do
  for (int bin = BinOf(count); bin < kBins; ++bin) {
    int tries = 0;
    for (Chunk* chunk = bins_[static_cast<size_t>(bin)]; chunk != nullptr;) {
      if (bin < certain && !thorough && ++tries > kTries) break;
      Chunk* const next = chunk->next;
      if (const auto base = TakeFrom(*chunk, count, step)) return base;
      chunk = next;
    }
  }
  return std::nullopt;
}

bool GranuleAllocator::Return(uintptr_t base, size_t size) noexcept {
  Chunk& chunk = *chunks_.find(base / kChunkBytes * kChunkBytes)->second;
  const size_t first = base % kChunkBytes / kGranuleBytes;
  const size_t count = size / kGranuleBytes;
  Mark(chunk, first, count, true);
  chunk.free_count += count;
  SetLongest(chunk, std::max(chunk.longest, RunAround(chunk, first, count)));
  return chunk.free_count == kGranules;
}

}  // namespace ropeway
