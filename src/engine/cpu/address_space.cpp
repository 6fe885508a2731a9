#include "engine/cpu/address_space.h"

#include <sys/mman.h>

namespace ropeway::cpu {
namespace {

// Blocks are handed out in 2 MiB chunks; aligned windows let huge pages fit.
constexpr size_t kAlignment = size_t{1} << 21;

void* Reserve(size_t size, int protection) {
  void* raw = mmap(nullptr, size + kAlignment, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto bits = reinterpret_cast<uintptr_t>(raw);
  return reinterpret_cast<void*>((bits + kAlignment - 1) & ~(kAlignment - 1));
}

}  // namespace

void* AddressSpace::ReserveDevices(size_t size, bool host_access) {
  void* view = Reserve(size, PROT_READ | PROT_WRITE);
  void* addresses = host_access ? view : Reserve(size, PROT_NONE);
  if (view == nullptr || addresses == nullptr) return nullptr;
  device_base_ = reinterpret_cast<uintptr_t>(addresses);
  device_size_ = size;
  view_distance_ = reinterpret_cast<uintptr_t>(view) - device_base_;
  return addresses;
}

void* AddressSpace::ReserveHost(size_t size) { return Reserve(size, PROT_READ | PROT_WRITE); }

}  // namespace ropeway::cpu
