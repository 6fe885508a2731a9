// Physical memory of the virtual memory calls: allocation, granularity, properties (rules/virtual-memory.md 1).
#include <algorithm>
#include <iterator>
#include <optional>

#include "api/checks.h"
#include "api/virtual_memory_checks.h"
#include "base/bytes.h"
#include "engine/numa.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// What can be asked for, and what that is called when a handle is asked about itself: page size and memory type decide, and HBM's
// normal pages are huge ones. A host has no HBM, a device no DDR, and nothing has both names for pages of 1 GiB.
struct PhysicalAttribute {
  aclrtMemAttr asked;
  std::optional<aclrtMemAttr> on_device;
  aclrtMemAttr on_host;
  size_t page_size;
};
constexpr std::nullopt_t kNone = std::nullopt;
constexpr PhysicalAttribute kPhysicalAttributes[] = {
    {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE, 2 * kMiB},
    {ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE, 2 * kMiB},
    {ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G, kGiB},
    {ACL_MEM_NORMAL, ACL_HBM_MEM_NORMAL, ACL_DDR_MEM_NORMAL, 4096},
    {ACL_MEM_HUGE, ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE, 2 * kMiB},
    {ACL_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G, ACL_MEM_HUGE1G, kGiB},
    {ACL_MEM_P2P_NORMAL, ACL_HBM_MEM_P2P_NORMAL, ACL_DDR_MEM_P2P_NORMAL, 4096},
    {ACL_MEM_P2P_HUGE, ACL_HBM_MEM_P2P_HUGE, ACL_DDR_MEM_P2P_HUGE, 2 * kMiB},
    {ACL_MEM_P2P_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_P2P_HUGE1G, kGiB},
    {ACL_DDR_MEM_HUGE, kNone, ACL_DDR_MEM_HUGE, 2 * kMiB},
    {ACL_DDR_MEM_NORMAL, kNone, ACL_DDR_MEM_NORMAL, 4096},
    {ACL_DDR_MEM_P2P_HUGE, kNone, ACL_DDR_MEM_P2P_HUGE, 2 * kMiB},
    {ACL_DDR_MEM_P2P_NORMAL, kNone, ACL_DDR_MEM_P2P_NORMAL, 4096},
};

Result<const PhysicalAttribute*> FindAttribute(const aclrtPhysicalMemProp& prop) {
  const bool on_device = prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE;
  const auto* found = std::find_if(std::begin(kPhysicalAttributes), std::end(kPhysicalAttributes),
                                   [&](const PhysicalAttribute& known) { return known.asked == prop.memAttr; });
  if (found != std::end(kPhysicalAttributes) && (!on_device || found->on_device.has_value())) return found;
  return Reject(ACL_ERROR_INVALID_PARAM, "prop->memAttr %d cannot be allocated at a location of type %d", static_cast<int>(prop.memAttr),
                static_cast<int>(prop.location.type));
}

// All but the size.
Result<PhysicalTraits> Describe(const aclrtPhysicalMemProp& prop) {
  RW_TRY(RequireRange(Layer::kOuter, "prop->handleType", prop.handleType, ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_HANDLE_TYPE_NONE));
  RW_TRY(RequireRange(Layer::kOuter, "prop->allocationType", prop.allocationType, ACL_MEM_ALLOCATION_TYPE_PINNED,
                      ACL_MEM_ALLOCATION_TYPE_PINNED));
  const aclrtMemLocationType type = prop.location.type;
  const bool on_device = type == ACL_MEM_LOCATION_TYPE_DEVICE;
  if (!on_device && type != ACL_MEM_LOCATION_TYPE_HOST && type != ACL_MEM_LOCATION_TYPE_HOST_NUMA)
    return Reject(ACL_ERROR_INVALID_PARAM, "prop->location.type %d is not HOST, DEVICE or HOST_NUMA", static_cast<int>(type));
  RW_TRY_SET(const PhysicalAttribute* attribute, FindAttribute(prop));
  PhysicalTraits traits;
  if (on_device) {
    RW_TRY_SET(traits.device, FindDevice("prop->location.id", prop.location.id));
  }
  traits.page_size = static_cast<uint32_t>(attribute->page_size);
  traits.granularity = std::max(attribute->page_size, 2 * kMiB);
  traits.described = prop;
  traits.described.memAttr = on_device ? *attribute->on_device : attribute->on_host;
  traits.described.reserve = 0;
  return traits;
}

Status ChooseNumaNode(const aclrtPhysicalMemProp& prop, PhysicalTraits* traits) {
  if (prop.location.type != ACL_MEM_LOCATION_TYPE_HOST_NUMA) return Ok();
  RW_TRY(CurrentContext().status());
  const auto node = static_cast<int>(prop.location.id);
  if (!NumaNodeExists(node)) return Fail(ACL_ERROR_RT_PARAM_INVALID, "prop->location.id %d is no NUMA node of this host", node);
  traits->numa_node = node;
  return Ok();
}

Status RequireWholePages(size_t size, size_t granularity) {
  if (size % granularity == 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "size %zu is not a multiple of %zu, which aclrtMemGetAllocationGranularity tells", size,
              granularity);
}

Result<std::shared_ptr<PhysicalMemory>> Allocate(const PhysicalTraits& traits) {
  RW_TRY(MemoryFault("aclrtMallocPhysical", traits.device, traits.size));
  std::shared_ptr<PhysicalMemory> memory = TheMemory().AllocatePhysical(traits);
  if (memory != nullptr) return memory;
  const bool on_device = traits.device >= 0;
  const Heap::Usage usage = on_device ? TheMemory().device_usage(traits.device) : TheMemory().host_usage();
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
              "size %zu does not fit: %s %d has %zu of %zu bytes free, or the process has no file descriptor left; free some handles%s",
              traits.size, on_device ? "device" : "host", on_device ? Runtime::UserIdOf(traits.device) : 0, usage.capacity - usage.bytes,
              usage.capacity, on_device ? ", or raise ROPEWAY_DEVICE_MEMORY" : "");
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"prop", prop}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireZero(Layer::kOuter, "flags", flags));
    RW_TRY_SET(PhysicalTraits traits, Describe(*prop));
    RW_TRY(ChooseNumaNode(*prop, &traits));
    RW_TRY_SET(VirtualMemory * keeper, TheVirtualMemory());
    RW_TRY(RequireWholePages(size, traits.granularity));
    traits.size = size;
    RW_TRY_SET(std::shared_ptr<PhysicalMemory> memory, Allocate(traits));
    return keeper->Publish(std::move(memory), handle);
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(VirtualMemory * keeper, TheVirtualMemory());
    return keeper->Free(handle);
  });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option, size_t* granularity) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"prop", prop}, {"granularity", granularity}}));
    RW_TRY_SET(PhysicalTraits traits, Describe(*prop));
    RW_TRY(RequireRange(Layer::kRuntime, "option", option, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    RW_TRY(TheVirtualMemory().status());
    *granularity = traits.granularity;
    return Ok();
  });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"prop", prop}}));
    RW_TRY_SET(VirtualMemory * keeper, TheVirtualMemory());
    RW_TRY_SET(std::shared_ptr<PhysicalMemory> memory, keeper->Find(handle));
    *prop = memory->traits().described;
    return Ok();
  });
}
