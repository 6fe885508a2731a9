// acl.rt: virtual memory, and memory shared between processes.
#include "dicts.h"
#include "keys.h"
#include "tables.h"

namespace ropeway::python {
namespace {

PyObject* MallocPhysical(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.malloc_physical";
  size_t size;
  PyObject* dict;
  uint64_t flags;
  aclrtPhysicalMemProp properties{};
  if (!ReadArguments<"POQ">(kPath, argv, count, size, dict, flags)) return nullptr;
  if (!ReadPhysicalMemProp(kPath, dict, &properties)) return nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const int code = WithoutGil([&] { return aclrtMallocPhysical(&handle, size, &properties, flags); });
  return Tuple(ToPython(handle), ToPython(code));
}

PyObject* MemGetAllocationGranularity(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.mem_get_allocation_granularity";
  PyObject* dict;
  aclrtMemGranularityOptions option;
  aclrtPhysicalMemProp properties{};
  if (!ReadArguments<"OI">(kPath, argv, count, dict, option)) return nullptr;
  if (!ReadPhysicalMemProp(kPath, dict, &properties)) return nullptr;
  size_t granularity = 0;
  const int code = aclrtMemGetAllocationGranularity(&properties, option, &granularity);
  return Tuple(ToPython(granularity), ToPython(code));
}

PyObject* MemSetPidToShareableHandle(PyObject*, Argv argv, Py_ssize_t count) {
  return WithPids<"acl.rt.mem_set_pid_to_shareable_handle", 'Q', uint64_t>(argv, count, &aclrtMemSetPidToShareableHandle);
}

PyObject* IpcMemSetImportPid(PyObject*, Argv argv, Py_ssize_t count) {
  return WithPids<"acl.rt.ipc_mem_set_import_pid", 'S', const char*>(argv, count, &aclrtIpcMemSetImportPid);
}

PyObject* IpcMemGetExportKey(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.ipc_mem_get_export_key";
  void* pointer;
  size_t size, length;
  uint64_t flags;
  if (!ReadArguments<"PPPQ">(kPath, argv, count, pointer, size, length, flags)) return nullptr;
  return ExportKey(kPath, length, [&](char* key) { return aclrtIpcMemGetExportKey(pointer, size, key, length, flags); });
}

}  // namespace

Table kShareFunctions[] = {
    RW_WAITING("acl.rt.reserve_mem_address", aclrtReserveMemAddress, "PPPQ", "size, alignment, expect_ptr, flags", "(vir_ptr, ret)",
               "Reserves a range of device addresses."),
    RW_WAITING("acl.rt.release_mem_address", aclrtReleaseMemAddress, "P", "vir_ptr", "ret", "Gives a reserved range back."),
    RW_SPECIAL("acl.rt.malloc_physical", &MallocPhysical, "size, prop: dict, flags, /", "(handle, ret)",
               "Memory without an address; prop is {handleType, allocationType, memAttr, location: {id, type}, reserve}."),
    RW_WAITING("acl.rt.free_physical", aclrtFreePhysical, "P", "handle", "ret", "Frees what malloc_physical made."),
    RW_WAITING("acl.rt.map_mem", aclrtMapMem, "PPPPQ", "vir_ptr, size, offset, handle, flags", "ret",
               "Puts physical memory at a reserved address."),
    RW_WAITING("acl.rt.unmap_mem", aclrtUnmapMem, "P", "vir_ptr", "ret", "Takes a mapping away."),
    RW_WAITING("acl.rt.mem_export_to_shareable_handle", aclrtMemExportToShareableHandle, "PIQ", "handle, handle_type, flags",
               "(shareable_handle, ret)", "A number by which another process can import physical memory."),
    RW_SPECIAL("acl.rt.mem_set_pid_to_shareable_handle", &MemSetPidToShareableHandle, "shareable_handle, pids: list[int], /", "ret",
               "The list of processes that may import."),
    RW_WAITING("acl.rt.mem_import_from_shareable_handle", aclrtMemImportFromShareableHandle, "QI", "shareable_handle, device_id",
               "(handle, ret)", "Opens physical memory of another process."),
    RW_SPECIAL("acl.rt.mem_get_allocation_granularity", &MemGetAllocationGranularity, "prop: dict, option, /", "(granularity, ret)",
               "Sizes of physical memory are multiples of this; prop as in malloc_physical."),

    RW_SPECIAL("acl.rt.ipc_mem_get_export_key", &IpcMemGetExportKey, "dev_ptr, size, len, flags, /", "(key: str, ret)",
               "A key by which another process can import device memory; len is the room for it (65), below 1024."),
    RW_SPECIAL("acl.rt.ipc_mem_set_import_pid", &IpcMemSetImportPid, "key: str, pids: list[int], /", "ret",
               "The list of processes that may import."),
    RW_WAITING("acl.rt.ipc_mem_import_by_key", aclrtIpcMemImportByKey, "SQ", "key, flags", "(dev_ptr, ret)",
               "Another process's device memory at an address of this one."),
    RW_WAITING("acl.rt.ipc_mem_close", aclrtIpcMemClose, "S", "key", "ret", "Closes an import of this process, otherwise the export."),
    {}};

}  // namespace ropeway::python
