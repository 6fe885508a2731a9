// acl.rt: device code. The library refuses all of it after its argument checks; the functions are here because programs
// look for them, and because the answer is the library's to give.
#include "dicts.h"
#include "tables.h"

namespace ropeway::python {
namespace {

// Lists of options; the empty one is a null pointer in C.
struct LoadOptions {
  std::vector<aclrtBinaryLoadOption> all;
  aclrtBinaryLoadOptions options{};

  bool Read(const char* path, PyObject* list) {
    if (!ReadStructures(path, "options", list, &ReadLoadOption, &all)) return false;
    options = {all.data(), all.size()};
    return true;
  }
  aclrtBinaryLoadOptions* get() { return all.empty() ? nullptr : &options; }
};

struct LaunchConfig {
  std::vector<aclrtLaunchKernelAttr> all;
  aclrtLaunchKernelCfg config{};

  bool Read(const char* path, PyObject* list) {
    if (!ReadStructures(path, "cfg", list, &ReadLaunchAttribute, &all)) return false;
    config = {all.data(), all.size()};
    return true;
  }
  aclrtLaunchKernelCfg* get() { return all.empty() ? nullptr : &config; }
};

PyObject* BinaryLoadFromFile(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.binary_load_from_file";
  Text file;
  PyObject* list;
  LoadOptions options;
  if (!ReadArguments<"SO">(kPath, argv, count, file, list) || !options.Read(kPath, list)) return nullptr;
  aclrtBinHandle handle = nullptr;
  const int code = aclrtBinaryLoadFromFile(file.get(), options.get(), &handle);
  return Tuple(ToPython(handle), ToPython(code));
}

PyObject* BinaryLoadFromData(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.binary_load_from_data";
  const void* data;
  size_t length;
  PyObject* list;
  LoadOptions options;
  if (!ReadArguments<"PPO">(kPath, argv, count, data, length, list) || !options.Read(kPath, list)) return nullptr;
  aclrtBinHandle handle = nullptr;
  const int code = aclrtBinaryLoadFromData(data, length, options.get(), &handle);
  return Tuple(ToPython(handle), ToPython(code));
}

PyObject* GetFunctionName(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.get_function_name";
  constexpr uint32_t kMaxLength = 1024;
  aclrtFuncHandle function;
  uint32_t length;
  if (!ReadArguments<"PU">(kPath, argv, count, function, length)) return nullptr;
  if (length >= kMaxLength) {
    PyErr_Format(PyExc_ValueError, "%s: max_len %u is not below %u", kPath, length, kMaxLength);
    return nullptr;
  }
  char name[kMaxLength] = {};
  const int code = aclrtGetFunctionName(function, length, name);
  return Tuple(ToPython(static_cast<const char*>(name)), ToPython(code));
}

PyObject* LaunchKernelWithConfig(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.launch_kernel_with_config";
  void *function, *stream, *arguments, *reserve;
  uint32_t blocks;
  PyObject* list;
  LaunchConfig config;
  if (!ReadArguments<"PUPOPP">(kPath, argv, count, function, blocks, stream, list, arguments, reserve)) return nullptr;
  if (!config.Read(kPath, list)) return nullptr;
  return ToPython(aclrtLaunchKernelWithConfig(function, blocks, stream, config.get(), arguments, reserve));
}

PyObject* LaunchKernelWithHostArgs(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.launch_kernel_with_host_args";
  void *function, *stream, *arguments;
  uint32_t blocks;
  size_t size, places_number;
  PyObject *list, *places_list;
  LaunchConfig config;
  std::vector<aclrtPlaceHolderInfo> places;
  if (!ReadArguments<"PUPOPPOP">(kPath, argv, count, function, blocks, stream, list, arguments, size, places_list, places_number))
    return nullptr;
  if (!config.Read(kPath, list) || !ReadStructures(kPath, "place_holder_list", places_list, &ReadPlaceHolder, &places)) return nullptr;
  if (places_number != places.size()) {
    PyErr_Format(PyExc_ValueError, "%s: place_holder_num is not the length of place_holder_list", kPath);
    return nullptr;
  }
  return ToPython(aclrtLaunchKernelWithHostArgs(function, blocks, stream, config.get(), arguments, size, places.data(), places.size()));
}

}  // namespace

Table kKernelFunctions[] = {
    RW_SPECIAL("acl.rt.binary_load_from_file", &BinaryLoadFromFile, "path: str, options: list[dict], /", "(bin_handle, ret)",
               "Loads device code from a file; options is a list of {type, value}."),
    RW_SPECIAL("acl.rt.binary_load_from_data", &BinaryLoadFromData, "data, length, options: list[dict], /", "(bin_handle, ret)",
               "Loads device code from memory; options is a list of {type, value}."),
    RW_CALL("acl.rt.get_function_addr", aclrtGetFunctionAddr, "P", "func_handle", "(aic_addr, aiv_addr, ret)", "Addresses of a kernel."),
    RW_SPECIAL("acl.rt.get_function_name", &GetFunctionName, "func_handle, max_len, /", "(name: str, ret)",
               "The name of a kernel; max_len is below 1024."),
    RW_CALL("acl.rt.register_cpu_func", aclrtRegisterCpuFunc, "PSS", "bin_handle, func_name, kernel_name", "(func_handle, ret)",
            "Makes a function of the device's CPU known."),
    RW_CALL("acl.rt.create_binary", aclrtCreateBinary, "PP", "data, data_len", "handle", "A description of device code."),
    RW_CALL("acl.rt.destroy_binary", aclrtDestroyBinary, "P", "binary", "ret", "Ends what create_binary made."),
    RW_CALL("acl.rt.binary_load", aclrtBinaryLoad, "P", "binary", "(bin_handle, ret)", "Loads device code."),
    RW_CALL("acl.rt.binary_unload", aclrtBinaryUnLoad, "P", "bin_handle", "ret", "Unloads device code."),
    RW_CALL("acl.rt.binary_get_function", aclrtBinaryGetFunction, "PS", "bin_handle, kernel_name", "(func_handle, ret)",
            "A kernel by its name."),
    RW_WAITING("acl.rt.launch_kernel", aclrtLaunchKernel, "PUPPP", "func_handle, block_dim, args_data, args_size, stream", "ret",
               "Queues a kernel."),
    RW_CALL("acl.rt.kernel_args_init", aclrtKernelArgsInit, "P", "func_handle", "(args_handle, ret)", "An argument list of a kernel."),
    RW_CALL("acl.rt.kernel_args_init_by_user_mem", aclrtKernelArgsInitByUserMem, "PPPP",
            "func_handle, args_handle, user_host_mem, actual_args_size", "ret", "The same in memory of the program."),
    RW_CALL("acl.rt.kernel_args_get_mem_size", aclrtKernelArgsGetMemSize, "PP", "func_handle, user_args_size", "(actual_args_size, ret)",
            "Bytes that arguments take."),
    RW_CALL("acl.rt.kernel_args_get_handle_mem_size", aclrtKernelArgsGetHandleMemSize, "P", "func_handle", "(mem_size, ret)",
            "Bytes that an argument list takes."),
    RW_CALL("acl.rt.kernel_args_append", aclrtKernelArgsAppend, "PPP", "args_handle, param, param_size", "(param_handle, ret)",
            "Appends an argument."),
    RW_CALL("acl.rt.kernel_args_append_place_holder", aclrtKernelArgsAppendPlaceHolder, "P", "args_handle", "(param_handle, ret)",
            "Appends room for data."),
    RW_CALL("acl.rt.kernel_args_get_place_holder_buffer", aclrtKernelArgsGetPlaceHolderBuffer, "PPP",
            "args_handle, param_handle, data_size", "(buffer_addr, ret)", "Where that data goes."),
    RW_CALL("acl.rt.kernel_args_para_update", aclrtKernelArgsParaUpdate, "PPPP", "args_handle, param_handle, param, param_size", "ret",
            "Replaces an argument."),
    RW_CALL("acl.rt.kernel_args_finalize", aclrtKernelArgsFinalize, "P", "args_handle", "ret", "Closes an argument list."),
    RW_SPECIAL("acl.rt.launch_kernel_with_config", &LaunchKernelWithConfig,
               "func_handle, block_dim, stream, cfg: list[dict], args_handle, reserve, /", "ret",
               "Queues a kernel; cfg is a list of {id, value}."),
    RW_SPECIAL("acl.rt.launch_kernel_with_host_args", &LaunchKernelWithHostArgs,
               "func_handle, num_blocks, stream, cfg: list[dict], host_args_ptr, host_args_size, "
               "place_holder_list: list[dict], place_holder_num, /",
               "ret", "Queues a kernel with arguments in host memory; place_holder_list is a list of {addrOffset, dataOffset}."),
    {}};

}  // namespace ropeway::python
