#include "memory/physical_memory.h"

#include "base/no_destroy.h"

namespace ropeway {
namespace {

constinit NoDestroy<PhysicalHandleSlab> g_handles;

}  // namespace

PhysicalHandleSlab& PhysicalHandles() { return g_handles.get(); }

}  // namespace ropeway
