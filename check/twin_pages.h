// Pages with two addresses: the program's, and the one that the library copies through. Both are registered with the library, so either is
// pinned memory to it. The layer makes them itself, out of a memfd: what a library allocates need not be shared memory (Ropeway's is not, a
// driver's is the device's), and only shared memory can be mapped twice.
#pragma once

#include <cstddef>
#include <optional>

namespace ropeway::check {

struct TwinPages {
  char* program = nullptr;
  char* library = nullptr;
  size_t size = 0;  // in bytes, as asked for

  size_t pages() const;
};

size_t PageSize();

// Nothing when the system or the library refuses. An address behind the last page is never mapped: who runs past the end stops there.
std::optional<TwinPages> MakeTwinPages(size_t size);
// False when the library does not let go of them now, as it may where a thread has no context: try it again.
bool ReleaseTwinPages(const TwinPages& pages);

// With the library; false when it refuses, or has no such call.
bool RegisterWithLibrary(void* address, size_t size);
bool UnregisterWithLibrary(void* address);

}  // namespace ropeway::check
