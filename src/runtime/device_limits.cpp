#include "runtime/device_limits.h"

#include <atomic>

namespace ropeway {
namespace {

std::atomic<size_t> g_simd_stack_size{32 << 10};
std::atomic<size_t> g_simd_printf_fifo_size{1 << 20};

std::atomic<size_t>& Slot(aclrtDeviceLimit limit) {
  return limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE ? g_simd_stack_size : g_simd_printf_fifo_size;
}

}  // namespace

bool DeviceLimitSupported(aclrtDeviceLimit limit) {
  return limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE || limit == ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
}

void SetDeviceLimit(aclrtDeviceLimit limit, size_t value) { Slot(limit).store(value, std::memory_order_relaxed); }

size_t GetDeviceLimit(aclrtDeviceLimit limit) { return Slot(limit).load(std::memory_order_relaxed); }

}  // namespace ropeway
