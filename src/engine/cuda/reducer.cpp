#include "engine/cuda/reducer.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/cuda/reduce_types.h"

// The fat binary that nvcc made of reduce.cu (cmake/cuda.cmake).
extern "C" const unsigned char ropeway_cuda_reduce[];

namespace ropeway::cuda {
namespace {

constexpr unsigned kThreadsOfBlock = 256;
constexpr size_t kBytesPerBlock = kThreadsOfBlock * 32;  // two vectors for each thread, at least
constexpr size_t kBlocksPerProcessor = 8;

// Asked of the processor: its kind decides.
uint32_t MadeUpNan() {
  volatile float infinity = std::numeric_limits<float>::infinity();
  return std::bit_cast<uint32_t>(infinity - infinity);
}

}  // namespace

CUresult Reducer::Load(const Driver& driver, int ordinal) {
  driver_ = &driver;
  int processors = 1;
  driver_->cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal);
  most_blocks_ = static_cast<size_t>(std::max(processors, 1)) * kBlocksPerProcessor;
  CUmodule module = nullptr;
  const CUresult result = driver_->cuModuleLoadData(&module, ropeway_cuda_reduce);
  return result == CUDA_SUCCESS ? driver_->cuModuleGetFunction(&kernel_, module, "ropeway_reduce") : result;
}

CUresult Reducer::Launch(void* dst, const void* src, size_t bytes, ReduceOp op, ReduceType type, CUstream stream) const {
  static const uint32_t made_up_nan = MadeUpNan();
  Reduction reduction{dst, src, bytes, made_up_nan, op, type};
  void* arguments[] = {&reduction};
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(std::clamp(bytes / kBytesPerBlock, size_t{1}, most_blocks_));
  config.blockDimX = kThreadsOfBlock;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  return driver_->cuLaunchKernelEx(&config, kernel_, arguments, nullptr);
}

}  // namespace ropeway::cuda
