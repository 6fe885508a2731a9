#include "engine/cpu/address_space.h"

#include <sys/mman.h>

namespace ropeway::cpu {
namespace {

// Blocks are handed out in 2 MiB chunks; aligned windows let huge pages fit.
constexpr size_t kAlignment = size_t{1} << 21;

// A core file has what is committed: terabytes of nothing would take hours to write through a pipe.
void LeaveOutOfCores(void* begin, size_t size) { madvise(begin, size, MADV_DONTDUMP); }

void* Reserve(size_t size, int protection) {
  void* raw = mmap(nullptr, size + kAlignment, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  LeaveOutOfCores(raw, size + kAlignment);
  const auto bits = reinterpret_cast<uintptr_t>(raw);
  return reinterpret_cast<void*>((bits + kAlignment - 1) & ~(kAlignment - 1));
}

void* ReserveAt(uintptr_t address, size_t size, int protection) {
  void* wanted = reinterpret_cast<void*>(address);
  void* got = mmap(wanted, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) {
    LeaveOutOfCores(got, size);
    return got;
  }
  if (got != MAP_FAILED) munmap(got, size);  // a kernel that does not know the flag takes the address for a hint
  return nullptr;
}

}  // namespace

void* AddressSpace::ReserveDevices(size_t size, bool host_access, uintptr_t wanted) {
  const int protection = host_access ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* addresses = wanted != 0 ? ReserveAt(wanted, size, protection) : Reserve(size, protection);
  if (addresses == nullptr) return nullptr;
  void* view = host_access ? addresses : Reserve(size, PROT_READ | PROT_WRITE);
  if (view == nullptr) {
    munmap(addresses, size);
    return nullptr;
  }
  device_base_ = reinterpret_cast<uintptr_t>(addresses);
  device_size_ = size;
  view_distance_ = reinterpret_cast<uintptr_t>(view) - device_base_;
  return addresses;
}

void* AddressSpace::ReserveHost(size_t size) {
  void* addresses = Reserve(size, PROT_READ | PROT_WRITE);
  if (addresses == nullptr) return nullptr;
  host_base_ = reinterpret_cast<uintptr_t>(addresses);
  host_size_ = size;
  return addresses;
}

}  // namespace ropeway::cpu
