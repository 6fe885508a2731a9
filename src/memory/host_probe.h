// Is memory of the program there? Asked when it is registered; a copy finds out by itself (base/host_touch.h).
#pragma once

#include <cstddef>

namespace ropeway {

// The first address of [begin, begin + size) that cannot be read, or written where that is asked; null when there is none. The bytes
// stay as they are. Small ranges get their pages, as a driver that pins them would make them; of large ones only the map is looked at.
const void* FindMissing(const void* begin, size_t size, bool write);

}  // namespace ropeway
