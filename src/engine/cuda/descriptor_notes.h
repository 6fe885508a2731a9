// What was last written to, or read from, descriptors in device memory. A note may be out of date and is never trusted: the GPU compares it
// with the descriptor before it moves a byte (ropeway_copy_described).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include "engine/copy_descriptor.h"

namespace ropeway::cuda {

class DescriptorNotes {
 public:
  using Bytes = std::array<char, descriptor_layout::kLargest>;

  // Whether so many bytes can be a descriptor.
  static bool MayBe(size_t size) { return size >= kSmallest && size <= descriptor_layout::kLargest; }
  // Nobody waits for anybody here: who finds the notes taken goes without.
  void Keep(const void* address, const void* bytes, size_t size) {
    const Claim claim(taken_);
    if (!claim.held) return;
    Note& note = At(address);
    note.address = address;
    note.size = size;
    std::memcpy(note.bytes.data(), bytes, size);
  }
  std::optional<Bytes> Find(const void* address, size_t size) {
    const Claim claim(taken_);
    if (!claim.held) return std::nullopt;
    const Note& note = At(address);
    if (note.address != address || note.size != size) return std::nullopt;
    return note.bytes;
  }

 private:
  static constexpr size_t kSmallest = 32;
  static constexpr size_t kNotes = 64;  // a program has few, and one that is forgotten costs a round trip
  struct Note {
    const void* address = nullptr;
    size_t size = 0;
    Bytes bytes;
  };
  struct Claim {
    explicit Claim(std::atomic<bool>& what) : taken(what), held(!what.exchange(true, std::memory_order_acquire)) {}
    ~Claim() {
      if (held) taken.store(false, std::memory_order_release);
    }
    std::atomic<bool>& taken;
    const bool held;
  };
  Note& At(const void* address) { return notes_[reinterpret_cast<uintptr_t>(address) / descriptor_layout::kLargest % kNotes]; }

  std::atomic<bool> taken_{false};
  std::array<Note, kNotes> notes_;  // of whoever has taken_
};

}  // namespace ropeway::cuda
