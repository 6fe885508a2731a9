#include "engine/cpu/cpu_backend.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "engine/cpu/batch_work.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/reduce.h"
#include "engine/late_copy.h"

#if defined(ROPEWAY_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace ropeway::cpu {
namespace {

// Small enough that the last chunk does not keep the others waiting, large enough that the counter does not matter.
constexpr size_t kChunk = size_t{512} << 10;

struct Span {
  char* dst;
  const char* src;
};

#if defined(ROPEWAY_TSAN)
// Looking at memory while a copy writes it is what a value wait does; the sanitizer would call it a race. What a value write
// has published is acquired all the same.
[[gnu::no_sanitize_thread]] uint64_t LoadFrom(const void* view) {
  using AnyWord [[gnu::aligned(1), gnu::may_alias]] = volatile uint64_t;
  const uint64_t word = *static_cast<const AnyWord*>(view);
  __tsan_acquire(const_cast<void*>(view));
  return word;
}
#else
uint64_t LoadFrom(const void* view) {
  if (reinterpret_cast<uintptr_t>(view) % sizeof(uint64_t) == 0)
    return __atomic_load_n(static_cast<const uint64_t*>(view), __ATOMIC_ACQUIRE);
  uint64_t word;  // misaligned: works, but not as one access
  std::memcpy(&word, view, sizeof(word));
  return word;
}
#endif

}  // namespace

void* CpuBackend::ReserveDevices(size_t, size_t size, uintptr_t wanted) {
  return addresses_.ReserveDevices(size, host_access_, wanted);
}

void* CpuBackend::ReserveHost(size_t size) { return addresses_.ReserveHost(size); }

bool CpuBackend::Commit(void* address, size_t size, bool huge_pages) {
  madvise(addresses_.View(address), size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return true;
}

void CpuBackend::Decommit(void* address, size_t size) {
  void* view = addresses_.View(address);
  shared_.Restore(view, size);
  madvise(view, size, MADV_DONTNEED);
}

std::shared_ptr<SharedPages> CpuBackend::CreatePages(size_t size) { return MemfdPages::Create(size); }

std::shared_ptr<SharedPages> CpuBackend::AdoptPages(int descriptor, size_t size) { return MemfdPages::Adopt(descriptor, size); }

std::shared_ptr<SharedPages> CpuBackend::SharePages(void* address, size_t size) { return shared_.Share(addresses_.View(address), size); }

bool CpuBackend::MapPages(const SharedPages& pages, const Mapping& mapping) {
  const auto& file = static_cast<const MemfdPages&>(pages);
  void* view = addresses_.View(mapping.address);
  if (!file.MapAt(view, mapping.size, mapping.offset)) return false;
  madvise(view, mapping.size, MADV_HUGEPAGE);
  // The same bytes once more, where the program itself can reach them.
  if (!mapping.host_access || view == mapping.address) return true;
  if (file.MapAt(mapping.address, mapping.size, mapping.offset)) return true;
  UnmapPages(mapping.address, mapping.size);
  return false;
}

void CpuBackend::UnmapPages(void* address, size_t size) {
  MapPrivate(addresses_.View(address), size, PROT_READ | PROT_WRITE);
  if (!host_access_) MapPrivate(address, size, PROT_NONE);
}

bool CpuBackend::MovedMeanwhile(const void* address) const {
  // The view is always accessible, but for the moment of a move.
  if (!addresses_.InView(address)) return false;
  shared_.AwaitMove();
  return true;
}

uint64_t CpuBackend::LoadWord(const void* address) { return LoadFrom(addresses_.View(address)); }

int CpuBackend::Start(const Task& task, Line*, TaskFailure* failure) {
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
    case TaskKind::kCopyByCells:
      return CopyLate(task, failure);
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

void CpuBackend::Copy(void* dst, const void* src, size_t size, CopyMethod method) {
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
  sched::RangeWork work(size, kChunk, body, &span);
  sharer_.Share(work, size);
}

void CpuBackend::CopyRows(const Task& task) {
  const auto& rows = task.copy_2d;
  auto* dst = static_cast<char*>(addresses_.View(rows.dst));
  auto* src = static_cast<const char*>(addresses_.View(rows.src));
  for (size_t row = 0; row < rows.height && !sharer_.stop().load(std::memory_order_relaxed); ++row) {
    Copy(dst + row * rows.dst_pitch, src + row * rows.src_pitch, rows.width, task.method);
  }
}

void CpuBackend::CopyBatch(const Task& task) {
  BatchWork work(*task.batch.list, addresses_, task.method != CopyMethod::kCached);
  if (task.method == CopyMethod::kShared) {
    sharer_.Share(work, task.batch.list->bytes());
  } else {
    work.RunPortions(sharer_.stop());
  }
}

int CpuBackend::CopyLate(const Task& task, TaskFailure* failure) {
  CopyDescriptor copy;
  const auto read = [this](void* out, const void* address, size_t size) { std::memcpy(out, addresses_.View(address), size); };
  if (const int code = ResolveLateCopy(task, *judge_, read, &copy, failure)) return code;
  Copy(addresses_.View(copy.dst), addresses_.View(copy.src), copy.size, kTraits.MethodFor(copy.size));
  return 0;
}

// One store that a wait for a value, a copy or another process sees as a whole.
void CpuBackend::Store(const Task& task) {
  void* word = addresses_.View(task.store.address);
  if (reinterpret_cast<uintptr_t>(word) % sizeof(uint64_t) == 0) {
    __atomic_store_n(static_cast<uint64_t*>(word), task.store.value, __ATOMIC_RELEASE);
  } else {
    std::memcpy(word, &task.store.value, sizeof(task.store.value));
  }
}

void CpuBackend::Set(const Task& task) {
  void* dst = addresses_.View(task.set.dst);
  if (task.method == CopyMethod::kCached) {
    std::memset(dst, static_cast<int>(task.set.value), task.set.count);
  } else {
    Kernels().stream_set(dst, static_cast<int>(task.set.value), task.set.count);
  }
}

}  // namespace ropeway::cpu
