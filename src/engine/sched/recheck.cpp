#include "engine/sched/recheck.h"

#include "engine/batch.h"

namespace ropeway::sched {
namespace {

constexpr int kCopyFailed = 507013;  // ACL_ERROR_RT_SYS_DMA

}  // namespace

int Recheck(const Task& task, const AddressJudge* judge, TaskFailure* failure) {
  const auto usable = [&](const void* address, size_t size) { return judge == nullptr || judge->Judge(address, size).usable; };
  const auto gone = [&](const char* name, const void* address, size_t size) {
    return Explain(failure, kCopyFailed, "%s [%p, +%zu) is no longer in one block of device or pinned memory; keep what a graph uses until "
                   "the graph is destroyed", name, address, size);
  };
  const auto both = [&](const void* dst, size_t dst_size, const void* src, size_t src_size) {
    if (!usable(dst, dst_size)) return gone("dst", dst, dst_size);
    return usable(src, src_size) ? 0 : gone("src", src, src_size);
  };
  switch (task.kind) {
    case TaskKind::kCopy:
      return both(task.copy.dst, task.copy.size, task.copy.src, task.copy.size);
    case TaskKind::kCopy2d: {
      const auto& rows = task.copy_2d;
      return both(rows.dst, rows.dst_pitch * (rows.height - 1) + rows.width, rows.src,
                  rows.src_pitch * (rows.height - 1) + rows.width);
    }
    case TaskKind::kBatch:
      for (const Piece& piece : task.batch.list->pieces()) {
        if (const int code = both(piece.dst, piece.size, piece.src, piece.size)) return code;
      }
      return 0;
    case TaskKind::kCopyByDesc:
      return usable(task.by_desc.descriptor, task.by_desc.size) ? 0 : gone("desc", task.by_desc.descriptor, task.by_desc.size);
    case TaskKind::kReduce:
      return both(task.reduce.dst, task.reduce.size, task.reduce.src, task.reduce.size);
    case TaskKind::kSet:
    case TaskKind::kSetWords:
    case TaskKind::kStore: {
      // All three start with their address.
      const size_t size = TaskBytes(task);
      return usable(task.set.dst, size) ? 0 : gone("the destination", task.set.dst, size);
    }
    case TaskKind::kAwaitValue:
      return usable(task.await_value.address, sizeof(uint64_t)) ? 0 : gone("devAddr", task.await_value.address, sizeof(uint64_t));
    default:
      return 0;
  }
}

}  // namespace ropeway::sched
