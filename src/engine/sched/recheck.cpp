#include "engine/sched/recheck.h"

#include "engine/task_ranges.h"

namespace ropeway::sched {
namespace {

constexpr int kCopyFailed = 507013;  // ACL_ERROR_RT_SYS_DMA

}  // namespace

int Recheck(const Task& task, const AddressJudge* judge, uint64_t as_of, TaskFailure* failure) {
  // What is read when it runs is judged then, cells included.
  if (judge == nullptr || task.kind == TaskKind::kCopyByCells) return 0;
  const bool there = ForEachRange(task, [&](const TaskRange& range) {
    if (judge->Judge(range.address, range.extent, as_of).usable) return true;
    Explain(failure, kCopyFailed,
            "%s [%p, +%zu) is no longer in one block of device or pinned memory; keep what a graph uses until "
            "the graph is destroyed",
            range.name.data(), range.address, range.extent);
    return false;
  });
  return there ? 0 : kCopyFailed;
}

}  // namespace ropeway::sched
