// The one symbol of libropeway_cuda.so.
#include "engine/cuda/plugin.h"

#include <cstdio>
#include <string>

#include "engine/cuda/cuda_backend.h"

namespace ropeway::cuda {
namespace {

const Driver* TheDriver(std::string* why) {
  static std::string reason;
  static Driver driver;
  static const bool loaded = driver.Load(&reason);
  *why = reason;
  return loaded ? &driver : nullptr;
}

int CountGpus(char* why, size_t why_size) {
  std::string reason;
  const Driver* driver = TheDriver(&reason);
  int count = 0;
  if (driver != nullptr && (driver->cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0)) reason = "the driver sees no GPU";
  for (int gpu = 0; gpu < count; ++gpu) {
    int has_virtual_memory = 0;
    driver->cuDeviceGetAttribute(&has_virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, gpu);
    if (has_virtual_memory == 0) {
      reason = "GPU " + std::to_string(gpu) + " cannot map memory at chosen addresses";
      count = 0;
    }
  }
  snprintf(why, why_size, "%s", reason.c_str());
  return count;
}

void DescribeGpu(int gpu, char* text, size_t text_size) {
  std::string reason;
  const Driver* driver = TheDriver(&reason);
  char name[128] = "";
  int version = 0, major = 0, minor = 0;
  size_t bytes = 0;
  driver->cuDeviceGetName(name, sizeof(name), gpu);
  driver->cuDeviceTotalMem(&bytes, gpu);
  driver->cuDriverGetVersion(&version);
  driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gpu);
  driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, gpu);
  snprintf(text, text_size, "%s, %zu GiB, compute capability %d.%d, driver for CUDA %d.%d", name, bytes >> 30, major, minor, version / 1000,
           version % 1000 / 10);
}

size_t GpuMemory(int gpu) {
  std::string reason;
  size_t bytes = 0;
  TheDriver(&reason)->cuDeviceTotalMem(&bytes, gpu);
  return bytes;
}

Backend* Create(WorkSharer& sharer, unsigned ctas) {
  std::string reason;
  char why[256];
  const int gpus = CountGpus(why, sizeof(why));
  if (gpus == 0) return nullptr;
  return CudaBackend::Create(*TheDriver(&reason), gpus, sharer, ctas).release();
}

}  // namespace
}  // namespace ropeway::cuda

extern "C" [[gnu::visibility("default")]] const ropeway::cuda::Plugin ropeway_cuda_plugin = {
    ropeway::cuda::Plugin::kVersion, &ropeway::cuda::CountGpus, &ropeway::cuda::DescribeGpu, &ropeway::cuda::GpuMemory,
    &ropeway::cuda::Create};
