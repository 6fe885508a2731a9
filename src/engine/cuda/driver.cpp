#include "engine/cuda/driver.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <array>

#include "base/file_descriptor.h"

namespace ropeway::cuda {
namespace {

constexpr int kVersion = 12000;     // of the function variants that this code is written for
constexpr size_t kDescriptors = 4;  // that the driver may want at once

bool HasDescriptorsToSpare() {
  std::array<FileDescriptor, kDescriptors> spare;
  for (FileDescriptor& each : spare) {
    each = FileDescriptor::Make([] { return open("/dev/null", O_RDONLY | O_CLOEXEC); });
    if (!each) return false;
  }
  return true;
}

#define RW_STRING_(name) #name
#define RW_STRING(name) RW_STRING_(name)

}  // namespace

bool Driver::Load(std::string* why) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = "libcuda.so.1 cannot be loaded, so there is no NVIDIA driver";
    return false;
  }
  // The header renames functions to their versioned symbols (cuMemAlloc is cuMemAlloc_v2): ask for what it says.
#define RW_FIND(name)                                                                \
  name = reinterpret_cast<decltype(name)>(dlsym(library, RW_STRING(name)));          \
  if (name == nullptr) {                                                             \
    *why = std::string("the NVIDIA driver is too old: it lacks ") + RW_STRING(name); \
    return false;                                                                    \
  }
  RW_CUDA_FUNCTIONS(RW_FIND)
#undef RW_FIND
  const CUresult result = cuInit(0);
  if (result != CUDA_SUCCESS) {
    *why = "cuInit: " + Text(result);
    return false;
  }
  int version = 0;
  cuDriverGetVersion(&version);
  if (version < kVersion) {
    *why = "the NVIDIA driver speaks CUDA " + std::to_string(version / 1000) + ", but 12 or later is needed";
    return false;
  }
  return true;
}

CUresult Driver::AllocatePinned(void** block, size_t bytes, unsigned flags) const {
  return HasDescriptorsToSpare() ? cuMemHostAlloc(block, bytes, flags) : CUDA_ERROR_OPERATING_SYSTEM;
}

std::string Driver::Text(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  if (name == nullptr) return "CUDA error " + std::to_string(static_cast<int>(result));
  return std::string(name) + " (" + (text != nullptr ? text : "no text") + ")";
}

}  // namespace ropeway::cuda
