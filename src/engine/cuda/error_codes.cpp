#include "engine/cuda/error_codes.h"

namespace ropeway::cuda {
namespace {

constexpr int kInvalidValue = 107000;  // ACL_ERROR_RT_PARAM_INVALID
constexpr int kNotSupported = 207000;  // ACL_ERROR_RT_FEATURE_NOT_SUPPORT
constexpr int kNoMemory = 207001;      // ACL_ERROR_RT_MEMORY_ALLOCATION
constexpr int kNoPermission = 207006;  // ACL_ERROR_RT_NO_PERMISSION
constexpr int kCopyFailed = 507013;    // ACL_ERROR_RT_SYS_DMA
constexpr int kDeviceMemory = 507053;  // ACL_ERROR_RT_DEVICE_MEM_ERROR
constexpr int kDriverFailed = 507899;  // ACL_ERROR_RT_DRV_INTERNAL_ERROR: also a device that is gone

// Every call from then on answers the same, and no call of the driver's brings the context back.
bool LosesContext(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return true;
    default: return false;
  }
}

}  // namespace

int CodeOfCall(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE: return kInvalidValue;
    case CUDA_ERROR_OUT_OF_MEMORY: return kNoMemory;
    case CUDA_ERROR_NOT_SUPPORTED: return kNotSupported;
    case CUDA_ERROR_NOT_PERMITTED: return kNoPermission;
    case CUDA_ERROR_ECC_UNCORRECTABLE: return kDeviceMemory;
    default: return kDriverFailed;
  }
}

int CodeOfTask(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS: return kCopyFailed;
    default: return CodeOfCall(result);
  }
}

const char* NextStep(CUresult result) {
  if (LosesContext(result)) return "; it serves this process no more: keep what is in host memory and start the process again";
  if (result == CUDA_ERROR_OPERATING_SYSTEM)
    return "; the process may have no file descriptor to spare: close some, or raise the limit (ulimit -n). If every call says so, start "
           "it "
           "again";
  return "";
}

}  // namespace ropeway::cuda
