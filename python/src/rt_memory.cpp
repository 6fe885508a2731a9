// acl.rt: device memory, pinned and registered host memory, and what is known about an address.
#include "dicts.h"
#include "malloc_config.h"
#include "tables.h"

namespace ropeway::python {
namespace {

PyObject* MallocHostWithConfig(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.malloc_host_with_cfg";
  size_t size;
  PyObject* dict;
  MallocConfig config;
  if (!ReadArguments<"PO">(kPath, argv, count, size, dict) || !config.Read(kPath, dict)) return nullptr;
  void* pointer = nullptr;
  const int code = WithoutGil([&] { return aclrtMallocHostWithCfg(&pointer, size, config.get()); }, true);
  return Tuple(ToPython(pointer), ToPython(code));
}

PyObject* PointerGetAttributes(PyObject*, Argv argv, Py_ssize_t count) {
  const void* pointer;
  if (!ReadArguments<"P">("acl.rt.pointer_get_attributes", argv, count, pointer)) return nullptr;
  aclrtPtrAttributes attributes{};
  const int code = aclrtPointerGetAttributes(pointer, &attributes);
  return Tuple(PointerAttributesToDict(attributes), ToPython(code));
}

}  // namespace

Table kMemoryFunctions[] = {
    RW_WAITING("acl.rt.malloc", aclrtMalloc, "PI", "size, policy", "(dev_ptr, ret)",
               "Device memory of the current device, not initialised. Free it with acl.rt.free."),
    RW_WAITING("acl.rt.malloc_align32", aclrtMallocAlign32, "PI", "size, policy", "(dev_ptr, ret)",
               "Device memory without padding behind it."),
    RW_WAITING("acl.rt.malloc_cached", aclrtMallocCached, "PI", "size, policy", "(dev_ptr, ret)", "Device memory through the cache."),
    RW_SPECIAL("acl.rt.malloc_with_cfg", (&MallocWithConfig<"acl.rt.malloc_with_cfg", &aclrtMallocWithCfg>), "size, policy, cfg: dict, /",
               "(dev_ptr, ret)", "Device memory with attributes: {} or {attrs: [{attr, value: {moduleId | deviceId | rsv}}], numAttrs}."),
    RW_SPECIAL("acl.rt.malloc_for_task_scheduler", (&MallocWithConfig<"acl.rt.malloc_for_task_scheduler", &aclrtMallocForTaskScheduler>),
               "size, policy, cfg: dict, /", "(dev_ptr, ret)", "Device memory for the task scheduler; cfg as in malloc_with_cfg."),
    RW_WAITING("acl.rt.free", aclrtFree, "P", "dev_ptr", "ret", "Frees device memory; queued copies keep the bytes until they ran."),
    RW_WAITING("acl.rt.malloc_host", aclrtMallocHost, "P", "size", "(host_ptr, ret)",
               "Pinned host memory, with which copies are truly asynchronous. Free it with free_host."),
    RW_SPECIAL("acl.rt.malloc_host_with_cfg", &MallocHostWithConfig, "size, cfg: dict, /", "(host_ptr, ret)",
               "Pinned host memory with attributes, as in malloc_with_cfg."),
    RW_WAITING("acl.rt.free_host", aclrtFreeHost, "P", "host_ptr", "ret",
               "Frees pinned memory; queued copies keep the bytes until they ran."),
    RW_CALL("acl.rt.mem_flush", aclrtMemFlush, "PP", "dev_ptr, size", "ret", "Writes a cache back; memory here is coherent."),
    RW_CALL("acl.rt.mem_invalidate", aclrtMemInvalidate, "PP", "dev_ptr, size", "ret", "Drops a cache; memory here is coherent."),
    RW_CALL("acl.rt.get_mem_info", aclrtGetMemInfo, "I", "attr", "(free, total, ret)",
            "Bytes of the current device; 0 and 0 for kinds that it does not have."),

    RW_SPECIAL("acl.rt.pointer_get_attributes", &PointerGetAttributes, "ptr, /", "(dict, ret)",
               "Where an address lives: {location: {id, type}, page_size, rsv}."),
    RW_WAITING("acl.rt.host_register", aclrtHostRegister, "PPI", "ptr, size, type", "(dev_ptr, ret)",
               "Makes host memory known, so that it counts as pinned; the device view comes back."),
    RW_WAITING("acl.rt.host_register_v2", aclrtHostRegisterV2, "QQU", "ptr, size, flag", "ret", "The same by flags, without the view."),
    RW_CALL("acl.rt.host_get_device_pointer", aclrtHostGetDevicePointer, "QU", "host_ptr, flag", "(dev_ptr, ret)",
            "The device view of registered memory."),
    RW_WAITING("acl.rt.host_unregister", aclrtHostUnregister, "P", "ptr", "ret", "Ends a registration."),
    {}};

}  // namespace ropeway::python
