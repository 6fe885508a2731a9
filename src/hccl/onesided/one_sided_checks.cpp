#include "hccl/onesided/one_sided_checks.h"

#include "hcomm/hcomm_res_defs.h"

namespace ropeway::comm {

Status RequireMemory(int type, const void* addr, uint64_t size) {
  constexpr uint64_t kGiB = 1ull << 30;
  if (type != COMM_MEM_TYPE_DEVICE && type != COMM_MEM_TYPE_HOST)
    return Fail(HCCL_E_PARA, "type %d is neither COMM_MEM_TYPE_DEVICE (0) nor COMM_MEM_TYPE_HOST (1)", type);
  if (size == 0) return Fail(HCCL_E_PARA, "size is 0");
  const uint64_t limit = type == COMM_MEM_TYPE_DEVICE ? 64 * kGiB : 1024 * kGiB;
  if (size > limit)
    return Fail(HCCL_E_PARA, "size %lu exceeds %lu, the limit of %s memory", size, limit, type == COMM_MEM_TYPE_DEVICE ? "device" : "host");
  if (reinterpret_cast<uintptr_t>(addr) + size < size) return Fail(HCCL_E_PARA, "addr %p and size %lu pass the end of memory", addr, size);
  return Ok();
}

Status RequireRank(const Communicator& communicator, uint32_t rank) {
  if (rank < communicator.size()) return Ok();
  return Fail(HCCL_E_PARA, "remoteRank %u is not below the number of ranks, %u", rank, communicator.size());
}

comm::Result<Deadline> DeadlineOf(const Communicator& communicator, int timeout) {
  if (timeout <= -2) return Fail(HCCL_E_PARA, "timeout %d is neither seconds nor -1 for ever", timeout);
  if (timeout == -1) return Deadline::Never();
  return timeout == 0 ? communicator.ConnectDeadline() : Deadline::After(std::chrono::seconds(timeout));
}

}  // namespace ropeway::comm
