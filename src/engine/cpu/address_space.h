// Design decision D1: a device address is not a host address. All devices lie in one reserved, inaccessible range; the
// engine reaches the bytes through a second mapping at a fixed distance. With the setting `host access` the distance is
// zero and host code may read device memory directly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::cpu {

class AddressSpace {
 public:
  // `wanted`: where the addresses shall start, 0 for anywhere; null when that is taken. Without `host_access` the addresses that are
  // returned trap when the program touches them.
  void* ReserveDevices(size_t size, bool host_access, uintptr_t wanted);
  void* ReserveHost(size_t size);

  // Translates an address that a program used to one that this process can touch.
  void* View(const void* address) const {
    const auto bits = reinterpret_cast<uintptr_t>(address);
    const bool device = bits - device_base_ < device_size_;
    return reinterpret_cast<void*>(device ? bits + view_distance_ : bits);
  }
  // Whether what View gave is memory of ours. That is always there; the program's may not be.
  bool Owns(const void* view) const { return IsPinned(view) || InView(view); }
  bool IsPinned(const void* address) const { return reinterpret_cast<uintptr_t>(address) - host_base_ < host_size_; }
  // Whether the engine reaches device memory through this address.
  bool InView(const void* address) const { return reinterpret_cast<uintptr_t>(address) - view_distance_ - device_base_ < device_size_; }

 private:
  uintptr_t device_base_ = 0;  // of all devices together
  uintptr_t device_size_ = 0;
  uintptr_t view_distance_ = 0;
  uintptr_t host_base_ = 0;  // of pinned memory
  uintptr_t host_size_ = 0;
};

}  // namespace ropeway::cpu
