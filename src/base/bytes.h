// Sizes in bytes, and addresses as numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGiB = size_t{1} << 30;

constexpr size_t RoundUp(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

inline uintptr_t Bits(const void* address) { return reinterpret_cast<uintptr_t>(address); }
inline void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace ropeway
