// How the addresses that the process may reserve are divided: windows of devices, aliases of registered memory, mapped memory, pinned
// memory. Pure arithmetic.
#pragma once

#include <cstddef>

namespace ropeway {

struct AddressNeeds {
  size_t devices;
  size_t device_memory;
  size_t views;  // mappings that each device address takes: 2, or 1 where the host uses device addresses itself
};

struct AddressPlan {
  size_t window = 0;         // of one device; a power of two
  size_t aliases = 0;        // of registered memory
  size_t mapped = 0;         // for virtual memory and memory of other processes
  size_t host = 0;           // pinned memory
  size_t device_memory = 0;  // what a device can have in its window: half of it, since addresses are rounded

  size_t device_space(const AddressNeeds& needs) const { return needs.devices * window + aliases + mapped; }
  size_t total(const AddressNeeds& needs) const { return needs.views * device_space(needs) + host; }
  bool possible() const { return window != 0; }
};

// What a process without limits gets.
AddressPlan FullPlan(const AddressNeeds& needs);
// The same, or less where it takes more than `budget` addresses; impossible when there is no use in what is left.
AddressPlan PlanAddresses(const AddressNeeds& needs, size_t budget);

}  // namespace ropeway
