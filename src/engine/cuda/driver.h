// The CUDA driver, found at run time: nothing here links against it, so a machine without one loses nothing.
#pragma once

#include <cuda.h>

#include <string>

namespace ropeway::cuda {

// One line per function that is used; the name is the one of the header, versions are resolved by cuGetProcAddress.
#define RW_CUDA_FUNCTIONS(X)                \
  X(cuInit)                                 \
  X(cuDriverGetVersion)                     \
  X(cuDeviceGetCount)                       \
  X(cuDeviceGet)                            \
  X(cuDeviceGetName)                        \
  X(cuDeviceGetAttribute)                   \
  X(cuDeviceTotalMem)                       \
  X(cuDeviceCanAccessPeer)                  \
  X(cuDevicePrimaryCtxRetain)               \
  X(cuCtxSetCurrent)                        \
  X(cuGetErrorName)                         \
  X(cuGetErrorString)                       \
  X(cuMemAddressReserve)                    \
  X(cuMemAddressFree)                       \
  X(cuMemCreate)                            \
  X(cuMemRelease)                           \
  X(cuMemMap)                               \
  X(cuMemUnmap)                             \
  X(cuMemSetAccess)                         \
  X(cuMemExportToShareableHandle)           \
  X(cuMemImportFromShareableHandle)         \
  X(cuMemGetAllocationPropertiesFromHandle) \
  X(cuMemHostRegister)                      \
  X(cuMemHostUnregister)                    \
  X(cuMemHostAlloc)                         \
  X(cuMemFreeHost)                          \
  X(cuMemcpyAsync)                          \
  X(cuMemcpy2DAsync)                        \
  X(cuMemsetD8Async)                        \
  X(cuMemsetD32Async)                       \
  X(cuStreamCreate)                         \
  X(cuStreamDestroy)                        \
  X(cuStreamSynchronize)                    \
  X(cuStreamQuery)                          \
  X(cuStreamWaitEvent)                      \
  X(cuEventCreate)                          \
  X(cuEventDestroy)                         \
  X(cuEventRecord)                          \
  X(cuEventQuery)                           \
  X(cuModuleLoadData)                       \
  X(cuModuleGetFunction)                    \
  X(cuLaunchKernelEx)

class Driver {
 public:
  // False, and `why` says what is missing.
  bool Load(std::string* why);

#define RW_DECLARE(name) decltype(&::name) name = nullptr;
  RW_CUDA_FUNCTIONS(RW_DECLARE)
#undef RW_DECLARE

  // Pinned memory, which cuMemFreeHost takes. Without a file descriptor to spare the driver (seen with 580) gives some, and then answers
  // every later call in that context with CUDA_ERROR_OPERATING_SYSTEM: so does this, before it asks.
  CUresult AllocatePinned(void** block, size_t bytes, unsigned flags) const;

  // "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string Text(CUresult result) const;
};

}  // namespace ropeway::cuda
