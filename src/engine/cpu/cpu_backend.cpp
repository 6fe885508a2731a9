#include "engine/cpu/cpu_backend.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/clock.h"
#include "base/prefetch.h"
#include "engine/cpu/batch_work.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/reduce.h"
#include "engine/cpu/volley_work.h"
#include "engine/late_copy.h"
#include "engine/numa.h"
#include "engine/task_ranges.h"

#if defined(ROPEWAY_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace ropeway::cpu {
namespace {

// Small enough that the last chunk does not keep the others waiting, large enough that the counter, and the fence behind each, do not
// matter: four for each lane, within these bounds.
constexpr size_t kSmallestChunk = size_t{64} << 10;
constexpr size_t kLargestChunk = size_t{512} << 10;

constexpr size_t kCacheLine = 64;

size_t ChunkOf(size_t size, size_t lanes) {
  if (lanes == 1) return kLargestChunk;
  return std::clamp(size / (4 * lanes) / kSmallestChunk * kSmallestChunk, kSmallestChunk, kLargestChunk);
}

bool Overlap(const void* dst, const void* src, size_t size) {
  const auto distance = reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src);
  return distance < size || 0 - distance < size;
}

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

CpuBackend::CpuBackend(WorkSharer& sharer, bool host_access, const CopyProfile& profile)
    : sharer_(sharer), host_access_(host_access), kernels_(KernelsOf(profile)), traits_{.name = "cpu",
                                                                                        .streaming_from = profile.stream_from,
                                                                                        .share_from = profile.share_from,
                                                                                        .reads_at_once = true},
      lanes_(static_cast<size_t>(profile.lanes)), watched_(sharer.volleys()) {
  sharer_.set_call_for_help_from(profile.wake_from);
}

void* CpuBackend::ReserveDevices(size_t, size_t size, uintptr_t wanted) {
  void* base = addresses_.ReserveDevices(size, host_access_, wanted);
  if (base != nullptr && !host_access_) watched_.Cover(base, size);
  return base;
}

void* CpuBackend::ReserveHost(size_t size) { return addresses_.ReserveHost(size); }

bool CpuBackend::Commit(void* address, size_t size, bool huge_pages) {
  void* view = addresses_.View(address);
  madvise(view, size, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  madvise(view, size, MADV_DODUMP);
  return true;
}

void CpuBackend::Decommit(void* address, size_t size) {
  void* view = addresses_.View(address);
  shared_.Restore(view, size);
  watched_.Forget(address, size);
  madvise(view, size, MADV_DONTNEED);
}

std::shared_ptr<SharedPages> CpuBackend::CreatePages(size_t size, PagePlace place) {
  std::shared_ptr<MemfdPages> pages = MemfdPages::Create(size);
  return pages == nullptr || place.numa_node < 0 || PreferNumaNode(*pages, place.numa_node) ? pages : nullptr;
}

std::shared_ptr<SharedPages> CpuBackend::AdoptPages(int descriptor, size_t size) { return MemfdPages::Adopt(descriptor, size); }

std::shared_ptr<SharedPages> CpuBackend::SharePages(void* address, size_t size) {
  watched_.Watch(address, size);
  return shared_.Share(addresses_.View(address), size);
}

void* CpuBackend::HostView(const void* device_address, size_t size) {
  watched_.Watch(device_address, size);
  return addresses_.View(device_address);
}

bool CpuBackend::MapPages(const SharedPages& pages, const Mapping& mapping) {
  const auto& file = static_cast<const MemfdPages&>(pages);
  void* view = addresses_.View(mapping.address);
  watched_.Watch(mapping.address, mapping.size);  // the pages may have other addresses, too
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

// The first lines of both sides come from memory while the caller looks at his arguments.
void CpuBackend::ExpectCopy(void* dst, const void* src, size_t size) {
  kernels_.Prefetch(addresses_.View(src), size);
  const auto begin = reinterpret_cast<uintptr_t>(addresses_.View(dst));
  for (size_t i = 0; i < std::min(size, kPrefetchHead); i += kCacheLine) PrefetchForWrite(reinterpret_cast<const void*>(begin + i));
}

int CpuBackend::Start(const Task& task, const Behind& behind, Line*, TaskFailure* failure) {
  // The first bytes of the next copy come while this one runs. Memory that is not there does no harm.
  if (behind.next != nullptr && behind.next->kind == TaskKind::kCopy)
    kernels_.Prefetch(addresses_.View(behind.next->copy.src), behind.next->copy.size);
  switch (task.kind) {
    case TaskKind::kCopy:
      return Copy(addresses_.View(task.copy.dst), addresses_.View(task.copy.src), task.copy.size,
                  traits_.InBurst(task.method, task.copy.size, behind.tasks), failure);
    case TaskKind::kCopy2d: return CopyRows(task, failure);
    case TaskKind::kBatch: return CopyBatch(task, failure);
    case TaskKind::kCopyByDesc:
    case TaskKind::kCopyByCells: return CopyLate(task, behind, failure);
    case TaskKind::kSet:
    case TaskKind::kSetWords: return Set(task, failure);
    case TaskKind::kReduce:
      Reduce(addresses_.View(task.reduce.dst), addresses_.View(task.reduce.src), task.reduce.size, task.reduce.op, task.reduce.type);
      return 0;
    case TaskKind::kStore: Store(task); return 0;
    case TaskKind::kFail: return ExplainImpossible(failure, task);
    default: return 0;  // order is all that the others need
  }
}

void CpuBackend::MoveBytes(void* dst, const void* src, size_t size, CopyMethod method) const {
  // Overlap leaves unspecified bytes in the destination; moving them keeps to it whatever the kernel does.
  if (Overlap(dst, src, size)) [[unlikely]] {
    std::memmove(dst, src, size);
  } else if (method == CopyMethod::kCached) {
    kernels_.Cached(dst, src, size);
  } else {
    kernels_.Stream(dst, src, size);
  }
}

size_t CpuBackend::RunVolley(VolleyFeed& feed) {
  ByteClaims* const claims = ByteClaims::OfThisThread();
  if (claims == nullptr) return 0;
  VolleyWork work(feed, sharer_, std::max<size_t>(2, lanes_), *claims, addresses_, watched_, kernels_, judge_);
  if (!work.Begin(traits_.share_from)) return 0;
  const int64_t began_ns = NowNs();
  sharer_.board().Run(work, sharer_.stop());
  work.TellFound(NowNs() - began_ns);
  return work.completed();
}

template <class Move>
inline int CpuBackend::Touch(const TouchedRange& range, TaskFailure* failure, Move move) {
  if (addresses_.Owns(range.dst) && (range.src == nullptr || addresses_.Owns(range.src))) [[likely]] {
    move();
    return 0;
  }
  const void* fault;
  return TouchHost(move, &fault) ? 0 : ExplainFault(failure, fault, range);
}

int CpuBackend::Copy(void* dst, const void* src, size_t size, CopyMethod method, TaskFailure* failure) {
  if (method == CopyMethod::kShared && !Overlap(dst, src, size)) return CopyShared(dst, src, size, failure);
  return Touch({dst, size, src, size}, failure, [=, this] { MoveBytes(dst, src, size, method); });
}

// Parts of some work, and whether one of them touched memory that is not there.
template <class Move>
struct CpuBackend::Faults {
  const Move& move;
  std::atomic<bool> faulted{false};
  std::atomic<const void*> fault{nullptr};  // where; of several, one
};

// `move(begin, end)` does a part of the work, of any number of threads; `range` is what all of it touches.
template <class Move>
int CpuBackend::ShareRange(size_t bytes, const TouchedRange& range, TaskFailure* failure, const Move& move) {
  Faults<Move> all{move};
  auto body = [](void* context, size_t begin, size_t end) {
    auto* here = static_cast<Faults<Move>*>(context);
    if (here->faulted.load(std::memory_order_relaxed)) return;
    auto part = [=] { here->move(begin, end); };
    const void* fault;
    if (TouchHost(part, &fault)) return;
    here->fault.store(fault, std::memory_order_relaxed);
    here->faulted.store(true, std::memory_order_relaxed);
  };
  sched::RangeWork work(bytes, ChunkOf(bytes, lanes_), body, &all);
  sharer_.Share(work, bytes);
  return all.faulted ? ExplainFault(failure, all.fault, range) : 0;
}

int CpuBackend::CopyShared(void* dst, const void* src, size_t size, TaskFailure* failure) {
  return ShareRange(size, {dst, size, src, size}, failure, [=, this](size_t begin, size_t end) {
    kernels_.Stream(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin, end - begin);
  });
}

// Some of the bytes of a two-dimensional copy, counted row by row.
struct CpuBackend::RowsMove {
  const CpuBackend& backend;
  CopyMethod method;
  char* dst;
  const char* src;
  const decltype(Task::copy_2d)& rows;

  void operator()(size_t begin, size_t end) const {
    if (begin == end) return;
    size_t row = begin / rows.width;
    size_t column = begin % rows.width;
    for (size_t left = end - begin; left > 0 && !backend.sharer_.stop().load(std::memory_order_relaxed); ++row, column = 0) {
      const size_t size = std::min(rows.width - column, left);
      const char* from = src + row * rows.src_pitch + column;
      if (left > size) backend.kernels_.Prefetch(src + (row + 1) * rows.src_pitch, rows.width);
      backend.MoveBytes(dst + row * rows.dst_pitch + column, from, size, method);
      left -= size;
    }
  }
};

int CpuBackend::CopyRows(const Task& task, TaskFailure* failure) {
  const auto& rows = task.copy_2d;
  const auto extent = [&](size_t pitch) { return RowsExtent(pitch, rows.width, rows.height); };
  const RowsMove move{*this, task.method, static_cast<char*>(addresses_.View(rows.dst)),
                      static_cast<const char*>(addresses_.View(rows.src)), rows};
  const TouchedRange range{move.dst, extent(rows.dst_pitch), move.src, extent(rows.src_pitch)};
  const size_t bytes = rows.width * rows.height;
  if (task.method == CopyMethod::kShared) return ShareRange(bytes, range, failure, move);
  return Touch(range, failure, [&] { move(0, bytes); });
}

int CpuBackend::CopyBatch(const Task& task, TaskFailure* failure) {
  BatchWork work(*task.batch.list, addresses_, kernels_, task.method != CopyMethod::kCached,
                 BatchWork::PortionFor(task.batch.list->bytes(), lanes_));
  if (task.method == CopyMethod::kShared) {
    sharer_.Share(work, task.batch.list->bytes());
  } else {
    work.RunPortions(sharer_.stop());
  }
  const void* fault;
  if (!work.Faulted(&fault)) [[likely]]
    return 0;
  for (const Piece& piece : task.batch.list->pieces()) {
    const TouchedRange range{piece.dst, piece.size, piece.src, piece.size};
    if (MayFaultAt(range, fault)) return ExplainFault(failure, fault, range);
  }
  return ExplainFault(failure, fault, {});
}

int CpuBackend::CopyLate(const Task& task, const Behind& behind, TaskFailure* failure) {
  CopyDescriptor copy;
  const auto read = [this](void* out, const void* address, size_t size) { std::memcpy(out, addresses_.View(address), size); };
  if (const int code = ResolveLateCopy(task, *judge_, read, &copy, failure)) return code;
  const CopyMethod method = traits_.InBurst(traits_.MethodFor(copy.size), copy.size, behind.tasks);
  return Copy(addresses_.View(copy.dst), addresses_.View(copy.src), copy.size, method, failure);
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

int CpuBackend::Set(const Task& task, TaskFailure* failure) {
  void* dst = addresses_.View(task.set.dst);
  const auto value = static_cast<int>(task.set.value);
  return Touch({dst, TaskBytes(task)}, failure, [&] {
    if (task.kind == TaskKind::kSetWords) {
      FillWords(dst, task.set.value, task.set.count);
    } else if (task.method == CopyMethod::kCached) {
      std::memset(dst, value, task.set.count);
    } else {
      kernels_.StreamSet(dst, value, task.set.count);
    }
  });
}

}  // namespace ropeway::cpu
