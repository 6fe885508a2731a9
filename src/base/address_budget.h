// How many addresses this process may reserve. A plain process has more than anybody asks for; a limit on the address space, a tool that
// keeps a shadow of every page, or an emulator leaves fewer, and whoever reserves asks here first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway {

struct AddressBudget {
  size_t bytes = SIZE_MAX;
  const char* limited_by = nullptr;  // what leaves so few; null when nothing does
};

// What holds now: limits and the addresses in use may change. Looked up at every call.
AddressBudget ReadAddressBudget();

}  // namespace ropeway
