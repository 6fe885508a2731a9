#include "engine/cpu/task_runner.h"

#include <cstdlib>
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/reduce.h"

namespace ropeway::cpu {
namespace {

// Small enough that the last chunk does not keep the others waiting, large enough that the counter does not matter.
constexpr size_t kChunk = size_t{512} << 10;
// Waking a lane costs the waker about 10 us: worth it from here on.
constexpr size_t kCallForHelpFrom = size_t{2} << 20;

struct Span {
  char* dst;
  const char* src;
};

}  // namespace

void TaskRunner::Run(const Task& task) {
  switch (task.kind) {
    case TaskKind::kCopy:
      Copy(addresses_.View(task.copy.dst), addresses_.View(task.copy.src), task.copy.size, task.method);
      Release(task);
      break;
    case TaskKind::kCopy2d:
      CopyRows(task);
      break;
    case TaskKind::kSet:
      Set(task);
      break;
    case TaskKind::kSetWords:
      FillWords(addresses_.View(task.set.dst), task.set.value, task.set.count);
      break;
    case TaskKind::kReduce:
      Reduce(addresses_.View(task.reduce.dst), addresses_.View(task.reduce.src), task.reduce.size, task.reduce.op,
             task.reduce.type);
      break;
    default:
      break;  // order is all that the others need
  }
}

void TaskRunner::Release(const Task& task) {
  if ((task.flags & Task::kOwnsSource) != 0) std::free(const_cast<void*>(task.copy.src));
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
  SharedWork work(size, kChunk, body, &span);
  if (size >= kCallForHelpFrom && call_for_help_ != nullptr) call_for_help_(help_context_);
  board_.Run(work, stop_);
}

void TaskRunner::CopyRows(const Task& task) {
  const auto& rows = task.copy_2d;
  auto* dst = static_cast<char*>(addresses_.View(rows.dst));
  auto* src = static_cast<const char*>(addresses_.View(rows.src));
  for (size_t row = 0; row < rows.height && !stop_.load(std::memory_order_relaxed); ++row) {
    Copy(dst + row * rows.dst_pitch, src + row * rows.src_pitch, rows.width, task.method);
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
