// Binaries and their functions. Device code cannot be loaded here: a binary is a handle under which the stand-ins of
// ropewayRegisterKernel are found by name, and what is loaded is looked into for one thing only: whether it is a shared library of this
// machine, as ascendc_fatbin_library makes them from stand-ins. Such a one is opened, so that they register themselves.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "api/checks.h"
#include "api/kernel_handles.h"
#include "base/no_destroy.h"
#include "profile/markers.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

BinaryImageSlab& BinaryImages() {
  static constinit NoDestroy<BinaryImageSlab> slab;
  return slab.get();
}

BinarySlab& Binaries() {
  static constinit NoDestroy<BinarySlab> slab;
  return slab.get();
}

// --- Stand-ins in a shared library ----------------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

// The bytes may turn out not to be there.
bool IsHostLibrary(const void* bytes, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof(header)) return false;
  const iovec to = {&header, sizeof(header)}, from = {const_cast<void*>(bytes), sizeof(header)};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof(header)) return false;
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_DYN &&
         header.e_machine == kMachine;
}

// It stays: work that is queued may be in it, whoever unloads the binary.
Status OpenStandIns(const char* path) {
  if (dlopen(path, RTLD_NOW | RTLD_LOCAL) != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "the binary is a library of stand-ins that cannot be opened: %s", dlerror());
}

Status OpenStandInsFromMemory(const void* data, size_t size) {
  const int file = memfd_create("ropeway-stand-ins", MFD_CLOEXEC);
  if (file < 0) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for a library of %zu bytes", size);
  size_t written = 0;
  while (written < size) {
    const ssize_t step = write(file, static_cast<const char*>(data) + written, size - written);
    if (step <= 0) break;
    written += static_cast<size_t>(step);
  }
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  Status status = written == size ? OpenStandIns(path) : Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for a library of %zu bytes", size);
  close(file);
  return status;
}

// --- Loading --------------------------------------------------------------------------------------------------------------

Status RequireOptions(const aclrtBinaryLoadOptions* options) {
  if (options == nullptr || options->numOpt == 0) return Ok();
  RW_TRY(RequirePointer("options->options", options->options));
  for (size_t i = 0; i < options->numOpt; ++i) {
    const int type = options->options[i].type;
    if (type < ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD || type > ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE)
      return Reject(ACL_ERROR_INVALID_PARAM, "options[%zu] has type %d, which is not in 1..3", i, type);
  }
  return Ok();
}

Status MakeBinary(aclrtBinHandle* handle) {
  if (!StandIns::All().any())
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "device code cannot run here, and nothing stands in for a kernel; register a host function by ropewayRegisterKernel "
                "before the binary is loaded (docs/kernels.md)");
  Binary* made = Binaries().Take();
  if (made == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no room for another binary");
  *handle = Binaries().Publish(made);
  return Ok();
}

Status LoadBytes(const void* data, size_t size, aclrtBinHandle* handle) {
  if (IsHostLibrary(data, size)) RW_TRY(OpenStandInsFromMemory(data, size));
  return MakeBinary(handle);
}

Status LoadFile(const char* path, aclrtBinHandle* handle) {
  FILE* const file = fopen(path, "rbe");
  if (file == nullptr) return Reject(ACL_ERROR_INVALID_FILE, "binPath %s cannot be read: %s", path, strerror(errno));
  unsigned char head[sizeof(Elf64_Ehdr)];
  const size_t size = fread(head, 1, sizeof(head), file);
  fclose(file);
  if (size == 0) return Reject(ACL_ERROR_INVALID_FILE, "binPath %s is empty", path);
  // A name without a folder would be looked for elsewhere.
  if (IsHostLibrary(head, size)) RW_TRY(OpenStandIns(strchr(path, '/') != nullptr ? path : (std::string("./") + path).c_str()));
  return MakeBinary(handle);
}

using BinaryHold = SlabRef<BinarySlab, Binary>;
Result<BinaryHold> HoldBinary(const void* handle) {
  RW_TRY(RequirePointer("binHandle", handle));
  BinaryHold binary(Binaries(), Binaries().Acquire(const_cast<void*>(handle)));
  if (!binary) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "binHandle %p is not a loaded binary (unloaded, or something else)", handle);
  return binary;
}

// One handle for one name of a binary.
Status FindFunction(Binary& binary, void* bin_handle, const char* name, aclrtFuncHandle* handle) {
  LockGuard lock(StandIns::All().mutex);
  if (Binaries().Find(bin_handle) != &binary) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "the binary was unloaded by another thread");
  void*& known = binary.functions[name];
  if (known == nullptr) {
    Function* const made = Functions().Take();
    if (made == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no room for another function");
    made->name = name;
    made->binary = bin_handle;
    known = Functions().Publish(made);
  }
  *handle = known;
  return Ok();
}

Status GetFunction(const void* bin_handle, const char* name, aclrtFuncHandle* handle) {
  RW_TRY_SET(BinaryHold binary, HoldBinary(bin_handle));
  const StandIn kernel = StandIns::All().Find(name);
  if (!kernel) return UnknownKernel(name);
  return FindFunction(*binary, const_cast<void*>(bin_handle), kernel.name, handle);
}

// A kernel that was compiled for several cases has one function each, whose names end in the number of the case.
std::string NameOfEntry(uint64_t entry) {
  const std::string end = "_" + std::to_string(entry);
  StandIns& all = StandIns::All();
  LockGuard lock(all.mutex);
  for (const auto& [name, function] : all.kernels) {
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) return name;
  }
  return end;
}

Status Unload(void* handle) {
  RW_TRY_SET(BinaryHold binary, HoldBinary(handle));
  if (!Binaries().Retire(binary.get(), BinarySlab::GenerationOf(handle)))
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "binHandle %p was unloaded by another thread", handle);
  std::map<std::string, void*> functions;
  {
    StandIns& all = StandIns::All();
    LockGuard lock(all.mutex);
    functions.swap(binary->functions);
    for (const auto& function : functions)
      std::erase_if(all.argument_lists, [&](const auto& list) { return list.second == function.second; });
  }
  for (const auto& [name, function] : functions) {
    Function* const ours = Functions().Find(function);
    if (ours != nullptr && Functions().Retire(ours, FunctionSlab::GenerationOf(function))) Functions().Release(ours);
  }
  Binaries().Release(binary.get());  // the handle's
  return Ok();
}

}  // namespace

FunctionSlab& Functions() {
  static constinit NoDestroy<FunctionSlab> slab;
  return slab.get();
}

Result<FunctionHold> HoldFunction(const void* handle) {
  RW_TRY(RequirePointer("funcHandle", handle));
  FunctionHold function(Functions(), Functions().Acquire(const_cast<void*>(handle)));
  if (!function)
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "funcHandle %p is not a function of a loaded binary (unloaded, or something else)", handle);
  return function;
}

}  // namespace ropeway::api

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
  aclrtBinary made = nullptr;
  Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("data", data));
    RW_TRY(RequireSome(Layer::kOuter, "dataLen", dataLen));
    BinaryImage* image = BinaryImages().Take();
    if (image == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no room for another binary");
    image->data = data;
    image->size = dataLen;
    made = BinaryImages().Publish(image);
    return Ok();
  });
  return made;
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("binary", binary));
    BinaryImage* const image = BinaryImages().Find(binary);
    if (image == nullptr || !BinaryImages().Retire(image, BinaryImageSlab::GenerationOf(binary)))
      return Fail(ACL_ERROR_RT_INVALID_HANDLE, "binary %p is not one of aclrtCreateBinary (destroyed, or something else)", binary);
    BinaryImages().Release(image);
    return Ok();
  });
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"binary", binary}, {"binHandle", binHandle}}));
    const SlabRef image(BinaryImages(), BinaryImages().Acquire(binary));
    if (!image)
      return Fail(ACL_ERROR_RT_INVALID_HANDLE, "binary %p is not one of aclrtCreateBinary (destroyed, or something else)", binary);
    return LoadBytes(image->data, image->size, binHandle);
  });
}

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"binPath", binPath}, {"binHandle", binHandle}}));
    RW_TRY(RequireOptions(options));
    return LoadFile(binPath, binHandle);
  });
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"data", data}, {"binHandle", binHandle}}));
    RW_TRY(RequireSome(Layer::kOuter, "length", length));
    RW_TRY(RequireOptions(options));
    return LoadBytes(data, length, binHandle);
  });
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  return Entry(__func__, [&] { return Unload(binHandle); });
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"binHandle", binHandle}, {"kernelName", kernelName}, {"funcHandle", funcHandle}}));
    return GetFunction(binHandle, kernelName, funcHandle);
  });
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle* funcHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"binHandle", binHandle}, {"funcHandle", funcHandle}}));
    return GetFunction(binHandle, NameOfEntry(funcEntry).c_str(), funcHandle);
  });
}

// A kernel of the device's CPU: the function's name, or else the operator's.
aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName, const char* kernelName, aclrtFuncHandle* funcHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"funcName", funcName}, {"kernelName", kernelName}, {"funcHandle", funcHandle}}));
    return GetFunction(handle, StandIns::All().Find(kernelName) ? kernelName : funcName, funcHandle);
  });
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"name", name}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(funcHandle));
    const size_t length = strlen(function->name);
    if (length >= maxLen)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen %u has no room for a name of %zu characters and its end", maxLen, length);
    memcpy(name, function->name, length + 1);
    return Ok();
  });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t* attrValue) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"attrValue", attrValue}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(funcHandle));
    if (attrType != ACL_FUNC_ATTR_KERNEL_TYPE)
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attribute %d of kernel %s is one of device code, and this is a host function",
                  static_cast<int>(attrType), function->name);
    constexpr int64_t kOfAnyCore = 0;
    *attrValue = kOfAnyCore;
    return Ok();
  });
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"binHandle", binHandle}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(funcHandle));
    *binHandle = function->binary;
    return Ok();
  });
}
