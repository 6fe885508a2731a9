// The bytes of a copy descriptor (rules/descriptors.md 2): position independent and complete in themselves, so programs may
// move a descriptor with ordinary copies. The product decides which of two layouts it has; the launch header in front
// has no meaning here and is kept zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ropeway {

struct CopyDescriptor {
  void* dst;
  const void* src;
  size_t size;
};

namespace descriptor_layout {
struct Offsets {
  size_t length, src, dst;
};
inline constexpr size_t kLargest = 64;
inline constexpr Offsets OffsetsOf(size_t descriptor_size) {
  return descriptor_size == kLargest ? Offsets{48, 32, 40} : Offsets{12, 16, 24};
}
inline constexpr uint64_t kWholeLength = uint64_t{1} << 32;  // what a length field of 0 means
}  // namespace descriptor_layout

// `bytes` has room for `descriptor_size` bytes, all of which are written. 4 GiB is stored as 0.
inline void WriteDescriptor(void* bytes, size_t descriptor_size, const CopyDescriptor& copy) {
  const auto at = descriptor_layout::OffsetsOf(descriptor_size);
  auto* out = static_cast<char*>(bytes);
  const auto length = static_cast<uint32_t>(copy.size);
  std::memset(out, 0, descriptor_size);
  std::memcpy(out + at.length, &length, sizeof(length));
  std::memcpy(out + at.src, &copy.src, sizeof(copy.src));
  std::memcpy(out + at.dst, &copy.dst, sizeof(copy.dst));
}

inline CopyDescriptor ReadDescriptor(const void* bytes, size_t descriptor_size) {
  const auto at = descriptor_layout::OffsetsOf(descriptor_size);
  const auto* in = static_cast<const char*>(bytes);
  CopyDescriptor copy;
  uint32_t length;
  std::memcpy(&length, in + at.length, sizeof(length));
  std::memcpy(&copy.src, in + at.src, sizeof(copy.src));
  std::memcpy(&copy.dst, in + at.dst, sizeof(copy.dst));
  copy.size = length == 0 ? descriptor_layout::kWholeLength : length;
  return copy;
}

}  // namespace ropeway
