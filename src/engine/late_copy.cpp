#include "engine/late_copy.h"

#include <cstdio>

namespace ropeway {
namespace {

constexpr int kCopyFailed = 507013;  // ACL_ERROR_RT_SYS_DMA

// Where the addresses of a copy came from.
void DescribeOrigin(const Task& task, char* text, size_t size) {
  if (task.kind == TaskKind::kCopyByDesc) {
    snprintf(text, size, "the descriptor at %p", task.by_desc.descriptor);
  } else {
    snprintf(text, size, "with its offsets, the pair of cells %p, %p", task.by_cells.dst_cell, task.by_cells.src_cell);
  }
}

// Both must be memory of one device, or the copy could reach anything.
int JudgeCopy(const CopyDescriptor& copy, const AddressJudge& judge, const Task& task, TaskFailure* failure) {
  const auto to = judge.Judge(copy.dst, copy.size, FreeClock::kNever);
  const auto from = judge.Judge(copy.src, copy.size, FreeClock::kNever);
  const bool on_one_device = to.usable && from.usable && to.device >= 0 && to.device == from.device;
  if (on_one_device && (to.device == task.device || judge.MayReach(task.device, to.device))) [[likely]]
    return 0;
  char whence[64];
  DescribeOrigin(task, whence, sizeof(whence));
  if (!to.usable || to.device < 0)
    return Explain(failure, kCopyFailed, "%s names dst [%p, +%zu), which is not in one block of device memory", whence, copy.dst,
                   copy.size);
  if (!from.usable || from.device < 0)
    return Explain(failure, kCopyFailed, "%s names src [%p, +%zu), which is not in one block of device memory", whence, copy.src,
                   copy.size);
  if (on_one_device)
    return Explain(failure, kCopyFailed,
                   "%s names dst %p and src %p on device %d, which device %d has no access to; call "
                   "aclrtDeviceEnablePeerAccess there first",
                   whence, copy.dst, copy.src, to.device, task.device);
  return Explain(failure, kCopyFailed, "%s names dst %p on device %d and src %p on device %d; both must be on one device", whence, copy.dst,
                 to.device, copy.src, from.device);
}

int ResolveDescriptor(const Task& task, const AddressJudge& judge, const ReadDeviceBytes& read, CopyDescriptor* copy,
                      TaskFailure* failure) {
  char bytes[descriptor_layout::kLargest];
  read(bytes, task.by_desc.descriptor, task.by_desc.size);
  *copy = ReadDescriptor(bytes, task.by_desc.size);
  return JudgeCopy(*copy, judge, task, failure);
}

int ResolveCells(const Task& task, const AddressJudge& judge, const ReadDeviceBytes& read, CopyDescriptor* copy, TaskFailure* failure) {
  const auto& cells = task.by_cells;
  uintptr_t bases[2];  // numbers until they are judged: what lies in a cell need not be an address
  const void* const places[2] = {cells.dst_cell, cells.src_cell};
  for (int i = 0; i < 2; ++i) {
    const auto verdict = judge.Judge(places[i], sizeof(bases[i]), cells.as_of);
    if (!verdict.usable || verdict.device < 0)
      return Explain(failure, kCopyFailed, "%p does not lie in device memory, so no address can be read from it", places[i]);
    read(&bases[i], places[i], sizeof(bases[i]));
  }
  *copy = {reinterpret_cast<void*>(bases[0] + cells.dst_offset), reinterpret_cast<const void*>(bases[1] + cells.src_offset), cells.size};
  return JudgeCopy(*copy, judge, task, failure);
}

}  // namespace

int ResolveLateCopy(const Task& task, const AddressJudge& judge, const ReadDeviceBytes& read, CopyDescriptor* copy, TaskFailure* failure) {
  return task.kind == TaskKind::kCopyByDesc ? ResolveDescriptor(task, judge, read, copy, failure)
                                            : ResolveCells(task, judge, read, copy, failure);
}

}  // namespace ropeway
