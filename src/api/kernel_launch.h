// A launch of a kernel by stand-in, on its way into a stream.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "api/entry.h"
#include "api/stand_ins.h"
#include "ropeway/kernel.h"

namespace ropeway::api {

// The bytes of a launch's arguments. Addresses inside of them that name other parts of them are set when they have come to rest.
class ArgumentBlock {
 public:
  // Host bytes that were given for the call only.
  static Result<ArgumentBlock> Copy(const void* bytes, size_t size);
  // Device memory, read when the task runs.
  static ArgumentBlock Later(const void* device_address, size_t size);

  // The 8 bytes at `at` become the address of the byte `of`.
  Status PutAddress(size_t at, size_t of);

  std::unique_ptr<unsigned char[]> bytes;  // 16 bytes aligned, as every allocation is
  size_t size = 0;
  const void* later = nullptr;
  std::shared_ptr<const void> keeps;  // what addresses in the bytes name
  void* workspace = nullptr;          // of an operator, on the device
  uint64_t workspace_size = 0;
};

inline ropewayKernelShape ShapeOf(uint32_t blocks) { return {{blocks, 1, 1}, {1, 1, 1}, 0}; }
inline ropewayKernelShape ShapeOf(const dim3& grid, const dim3& block, size_t dynamic_bytes) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_bytes};
}

// Checks and submits. 107000 without blocks or threads, 107017 for a stream that is not alive.
Status LaunchStandIn(const StandIn& kernel, const ropewayKernelShape& shape, ArgumentBlock arguments, aclrtStream stream);

// Arguments as aclrtLaunchKernel has them: host memory is copied, device memory read later.
Result<ArgumentBlock> ReadArguments(const void* bytes, size_t size);

}  // namespace ropeway::api
