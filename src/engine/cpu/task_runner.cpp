#include "engine/cpu/task_runner.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "engine/copy_descriptor.h"
#include "engine/cpu/batch_work.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/reduce.h"

namespace ropeway::cpu {
namespace {

// Small enough that the last chunk does not keep the others waiting, large enough that the counter does not matter.
constexpr size_t kChunk = size_t{512} << 10;
// Waking a lane costs the waker about 10 us: worth it from here on.
constexpr size_t kCallForHelpFrom = size_t{2} << 20;

constexpr int kCopyFailed = 507013;  // ACL_ERROR_RT_SYS_DMA

struct Span {
  char* dst;
  const char* src;
};

[[gnu::cold, gnu::format(printf, 3, 4)]] int Explain(TaskFailure* failure, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof(failure->text), format, arguments);
  va_end(arguments);
  return failure->code = code;
}

}  // namespace

int TaskRunner::Execute(const Task& task, TaskFailure* failure) {
  switch (task.kind) {
    case TaskKind::kCopy:
      Copy(addresses_.View(task.copy.dst), addresses_.View(task.copy.src), task.copy.size, task.method);
      return 0;
    case TaskKind::kCopy2d:
      CopyRows(task);
      return 0;
    case TaskKind::kBatch:
      CopyBatch(task);
      return 0;
    case TaskKind::kCopyByDesc:
      return CopyByDescriptor(task, failure);
    case TaskKind::kCopyByCells:
      return CopyByCells(task, failure);
    case TaskKind::kSet:
      Set(task);
      return 0;
    case TaskKind::kSetWords:
      FillWords(addresses_.View(task.set.dst), task.set.value, task.set.count);
      return 0;
    case TaskKind::kReduce:
      Reduce(addresses_.View(task.reduce.dst), addresses_.View(task.reduce.src), task.reduce.size, task.reduce.op,
             task.reduce.type);
      return 0;
    case TaskKind::kStore:
      Store(task);
      return 0;
    case TaskKind::kFail:
      return Explain(failure, task.fail.code,
                     "address %p is not device memory; a device-to-device copy needs device memory on both sides", task.fail.address);
    default:
      return 0;  // order is all that the others need
  }
}

int TaskRunner::RunAgain(const Task& task, TaskFailure* failure) {
  const int code = CheckAgain(task, failure);
  return code != 0 ? code : Execute(task, failure);
}

int TaskRunner::CheckAgain(const Task& task, TaskFailure* failure) const {
  const auto gone = [&](const char* name, const void* address, size_t size) {
    return Explain(failure, kCopyFailed, "%s [%p, +%zu) is no longer in one block of device or pinned memory; keep what a graph uses until "
                   "the graph is destroyed", name, address, size);
  };
  const auto both = [&](const void* dst, size_t dst_size, const void* src, size_t src_size) {
    if (!Usable(dst, dst_size)) return gone("dst", dst, dst_size);
    return Usable(src, src_size) ? 0 : gone("src", src, src_size);
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
      return Usable(task.by_desc.descriptor, task.by_desc.size) ? 0 : gone("desc", task.by_desc.descriptor, task.by_desc.size);
    case TaskKind::kReduce:
      return both(task.reduce.dst, task.reduce.size, task.reduce.src, task.reduce.size);
    case TaskKind::kSet:
    case TaskKind::kSetWords:
    case TaskKind::kStore: {
      // All three start with their address.
      const size_t size = TaskBytes(task);
      return Usable(task.set.dst, size) ? 0 : gone("the destination", task.set.dst, size);
    }
    case TaskKind::kAwaitValue:
      return Usable(task.await_value.address, sizeof(uint64_t)) ? 0 : gone("devAddr", task.await_value.address, sizeof(uint64_t));
    default:
      return 0;
  }
}

void TaskRunner::Share(SharedWork& work, size_t bytes) {
  if (bytes >= kCallForHelpFrom && call_for_help_ != nullptr) call_for_help_(help_context_);
  board_.Run(work, stop_);
}

void TaskRunner::Copy(void* dst, const void* src, size_t size, CopyMethod method) {
  // Overlap leaves unspecified bytes in the destination; moving them keeps to it whatever the kernel does.
  const auto distance = reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src);
  if (distance < size || 0 - distance < size) [[unlikely]] {
    std::memmove(dst, src, size);
    return;
  }
  const KernelTable& kernels = Kernels();
  switch (method) {
    case CopyMethod::kCached:
      kernels.cached_copy(dst, src, size);
      return;
    case CopyMethod::kStreaming:
      kernels.stream_copy(dst, src, size);
      return;
    case CopyMethod::kShared:
      break;
  }
  Span span{static_cast<char*>(dst), static_cast<const char*>(src)};
  auto body = [](void* context, size_t begin, size_t end) {
    auto* span_here = static_cast<Span*>(context);
    Kernels().stream_copy(span_here->dst + begin, span_here->src + begin, end - begin);
  };
  RangeWork work(size, kChunk, body, &span);
  Share(work, size);
}

void TaskRunner::CopyRows(const Task& task) {
  const auto& rows = task.copy_2d;
  auto* dst = static_cast<char*>(addresses_.View(rows.dst));
  auto* src = static_cast<const char*>(addresses_.View(rows.src));
  for (size_t row = 0; row < rows.height && !stop_.load(std::memory_order_relaxed); ++row) {
    Copy(dst + row * rows.dst_pitch, src + row * rows.src_pitch, rows.width, task.method);
  }
}

void TaskRunner::CopyBatch(const Task& task) {
  BatchWork work(*task.batch.list, addresses_, task.method != CopyMethod::kCached);
  if (task.method == CopyMethod::kShared) {
    Share(work, task.batch.list->bytes());
  } else {
    work.RunPortions(stop_);
  }
}

// Addresses that came up only now: both must be memory of one device, or the copy could reach anything.
int TaskRunner::CopyOnDevice(void* dst, const void* src, size_t size, const char* whence, TaskFailure* failure) {
  const auto to = judge_->Judge(dst, size);
  const auto from = judge_->Judge(src, size);
  if (!to.usable || to.device < 0)
    return Explain(failure, kCopyFailed, "%s names dst [%p, +%zu), which is not in one block of device memory", whence, dst, size);
  if (!from.usable || from.device < 0)
    return Explain(failure, kCopyFailed, "%s names src [%p, +%zu), which is not in one block of device memory", whence, src, size);
  if (to.device != from.device)
    return Explain(failure, kCopyFailed, "%s names dst %p on device %d and src %p on device %d; both must be on one device", whence, dst,
                   to.device, src, from.device);
  Copy(addresses_.View(dst), addresses_.View(src), size, traits_.MethodFor(size));
  return 0;
}

int TaskRunner::CopyByDescriptor(const Task& task, TaskFailure* failure) {
  const CopyDescriptor copy = ReadDescriptor(addresses_.View(task.by_desc.descriptor), task.by_desc.size);
  char whence[48];
  snprintf(whence, sizeof(whence), "the descriptor at %p", task.by_desc.descriptor);
  return CopyOnDevice(copy.dst, copy.src, copy.size, whence, failure);
}

int TaskRunner::CopyByCells(const Task& task, TaskFailure* failure) {
  const auto& cells = task.by_cells;
  uintptr_t dst, src;  // numbers until they are judged: what lies in a cell need not be an address
  for (const void* cell : {cells.dst_cell, cells.src_cell}) {
    const auto verdict = judge_->Judge(cell, sizeof(dst));
    if (!verdict.usable || verdict.device < 0)
      return Explain(failure, kCopyFailed, "%p does not lie in device memory, so no address can be read from it", cell);
  }
  std::memcpy(&dst, addresses_.View(cells.dst_cell), sizeof(dst));
  std::memcpy(&src, addresses_.View(cells.src_cell), sizeof(src));
  char whence[64];
  snprintf(whence, sizeof(whence), "with its offsets, the pair of cells %p, %p", cells.dst_cell, cells.src_cell);
  return CopyOnDevice(reinterpret_cast<void*>(dst + cells.dst_offset), reinterpret_cast<const void*>(src + cells.src_offset),
                      cells.size, whence, failure);
}

// One store that a wait for a value, a copy or another process sees as a whole.
void TaskRunner::Store(const Task& task) {
  void* word = addresses_.View(task.store.address);
  if (reinterpret_cast<uintptr_t>(word) % sizeof(uint64_t) == 0) {
    __atomic_store_n(static_cast<uint64_t*>(word), task.store.value, __ATOMIC_RELEASE);
  } else {
    std::memcpy(word, &task.store.value, sizeof(task.store.value));
  }
}

void TaskRunner::Set(const Task& task) {
  void* dst = addresses_.View(task.set.dst);
  if (task.method == CopyMethod::kCached) {
    std::memset(dst, static_cast<int>(task.set.value), task.set.count);
  } else {
    Kernels().stream_set(dst, static_cast<int>(task.set.value), task.set.count);
  }
}

}  // namespace ropeway::cpu
