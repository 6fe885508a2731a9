// The tasks of a volley: which of a run they are, and how they move in portions.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/backend.h"
#include "engine/byte_ranges.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/portion_work.h"
#include "engine/cpu/watched_chunks.h"

namespace ropeway::cpu {

// Collects tasks as long as they can run beside each other.
class VolleyChoice {
 public:
  // What a volley has at most: it is over soon, so that an abort or another stream need not wait long.
  static constexpr size_t kMostTasks = 512;
  static constexpr size_t kMostBytes = size_t{32} << 20;

  VolleyChoice(const AddressSpace& addresses, const WatchedChunks& watched) : addresses_(addresses), watched_(watched) {}

  // How many of the tasks, from the first.
  size_t Take(const TaskRun& run) {
    const size_t most = std::min(run.count(), kMostTasks);
    size_t taken = 0;
    while (taken < most && TakeOne(run[taken])) ++taken;
    return taken;
  }
  size_t bytes() const { return bytes_; }

 private:
  bool TakeOne(const Task& task) {
    if (task.flags != 0) return false;
    switch (task.kind) {
      case TaskKind::kCopy: return Write(task.copy.dst, task.copy.size) && Read(task.copy.src, task.copy.size);
      case TaskKind::kSet:
      case TaskKind::kSetWords: return Write(task.set.dst, TaskBytes(task));
      default: return false;
    }
  }
  bool Write(const void* dst, size_t size) {
    if (size < Traits::kSmallestStreamed || size > kMostBytes - bytes_ || !watched_.Private(dst, size)) return false;
    if (read_.Touches(dst, size) || !written_.AddNew(dst, size)) return false;
    bytes_ += size;
    return true;
  }
  // Behind Write: a copy that overlaps itself reads what it writes. Pinned memory is never written here.
  bool Read(const void* src, size_t size) {
    if (addresses_.IsPinned(src)) return true;
    return watched_.Private(src, size) && !written_.Touches(src, size) && read_.Add(src, size);
  }

  const AddressSpace& addresses_;
  const WatchedChunks& watched_;
  size_t bytes_ = 0;
  ByteRanges written_;
  ByteRanges read_;
};

class VolleyItems {
 public:
  static constexpr size_t kCut = 64;  // whole words, for those who set them, and whole cache lines

  VolleyItems(const TaskRun& run, size_t count, const AddressSpace& addresses, const CopyKernels& kernels)
      : run_(run), count_(count), addresses_(addresses), kernels_(kernels) {}

  size_t count() const { return count_; }
  size_t SizeOf(size_t i) const { return run_[i].kind == TaskKind::kCopy ? run_[i].copy.size : TaskBytes(run_[i]); }
  // Copies that continue each other on both sides are moved as one, as the pieces of a batch are.
  void Move(PortionCursor from, PortionCursor to) const {
    size_t begin = from.offset;
    for (size_t i = from.item; i < to.item || (i == to.item && to.offset > begin); ++i, begin = 0) {
      const size_t first = i;
      size_t end = EndOf(i, to);
      size_t bytes = end - begin;
      for (; i + 1 < count_ && end == SizeOf(i) && Continues(i) && (end = EndOf(i + 1, to)) > 0; ++i) bytes += end;
      if (i + 1 < count_ && run_[i + 1].kind == TaskKind::kCopy)
        kernels_.Prefetch(addresses_.View(run_[i + 1].copy.src), run_[i + 1].copy.size);
      MoveBytes(run_[first], begin, bytes);
    }
  }

 private:
  size_t EndOf(size_t i, PortionCursor to) const { return i < to.item ? SizeOf(i) : i == to.item ? to.offset : 0; }
  bool Continues(size_t i) const {
    const Task &task = run_[i], &next = run_[i + 1];
    return task.kind == TaskKind::kCopy && next.kind == TaskKind::kCopy &&
           static_cast<char*>(task.copy.dst) + task.copy.size == next.copy.dst &&
           static_cast<const char*>(task.copy.src) + task.copy.size == next.copy.src;
  }
  void MoveBytes(const Task& task, size_t begin, size_t bytes) const {
    const bool cached = task.method == CopyMethod::kCached && !run_.burst();
    if (task.kind == TaskKind::kCopy) {
      char *const dst = At(task.copy.dst, begin), *const src = At(task.copy.src, begin);
      cached ? kernels_.Cached(dst, src, bytes) : kernels_.Stream(dst, src, bytes);
    } else if (task.kind == TaskKind::kSetWords) {
      FillWords(At(task.set.dst, begin), task.set.value, bytes / sizeof(uint32_t));
    } else if (cached) {
      std::memset(At(task.set.dst, begin), static_cast<int>(task.set.value), bytes);
    } else {
      kernels_.StreamSet(At(task.set.dst, begin), static_cast<int>(task.set.value), bytes);
    }
  }
  char* At(const void* address, size_t offset) const { return static_cast<char*>(addresses_.View(address)) + offset; }

  const TaskRun run_;
  const size_t count_;
  const AddressSpace& addresses_;
  const CopyKernels& kernels_;
};

class VolleyWork final : public PortionWork<VolleyItems> {
 public:
  VolleyWork(const TaskRun& run, size_t count, size_t bytes, const AddressSpace& addresses, const CopyKernels& kernels)
      : PortionWork({run, count, addresses, kernels}, bytes, PortionOf(bytes)) {}

 private:
  // Enough of them for many lanes, so that the last one does not keep the others waiting.
  static size_t PortionOf(size_t bytes) { return std::clamp(bytes / 32, size_t{32} << 10, size_t{256} << 10); }
};

}  // namespace ropeway::cpu
