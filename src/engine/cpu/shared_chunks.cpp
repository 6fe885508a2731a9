#include "engine/cpu/shared_chunks.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdint>

namespace ropeway::cpu {
namespace {

constexpr size_t kPage = 4096;

// Which pages of a range have ever been written: the others are zero, and copying them would only cost memory.
class TouchedPages {
 public:
  TouchedPages() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~TouchedPages() {
    if (file_ >= 0) close(file_);
  }
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  static constexpr size_t kAtATime = 4096;
  // Fills `touched` for `count` pages from `address`. Where the system does not tell, all pages count.
  void Read(const char* address, size_t count, std::bitset<kAtATime>* touched) {
    constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
    uint64_t entries[kAtATime];
    const auto offset = static_cast<off_t>(reinterpret_cast<uintptr_t>(address) / kPage * sizeof(uint64_t));
    const ssize_t bytes = file_ < 0 ? -1 : pread(file_, entries, count * sizeof(uint64_t), offset);
    const bool told = bytes == static_cast<ssize_t>(count * sizeof(uint64_t));
    touched->set();
    for (size_t i = 0; told && i < count; ++i) (*touched)[i] = (entries[i] & kPresentOrSwapped) != 0;
  }

 private:
  const int file_;
};

// Others may be writing: they fault, and write again when the move is over. A race all the same to a sanitizer.
[[gnu::no_sanitize_thread]] void CopyPage(char* to, const char* from) {
  for (size_t i = 0; i < kPage / sizeof(uint64_t); ++i)
    reinterpret_cast<volatile uint64_t*>(to)[i] = reinterpret_cast<const volatile uint64_t*>(from)[i];
}

void CopyTouched(char* to, const char* from, size_t size) {
  TouchedPages pages;
  std::bitset<TouchedPages::kAtATime> touched;  // nothing may fail half-way
  for (size_t done = 0; done < size; done += TouchedPages::kAtATime * kPage) {
    const size_t count = std::min(TouchedPages::kAtATime, (size - done) / kPage);
    pages.Read(from + done, count, &touched);
    for (size_t i = 0; i < count; ++i) {
      if (touched[i]) CopyPage(to + done + i * kPage, from + done + i * kPage);
    }
  }
}

}  // namespace

std::shared_ptr<MemfdPages> SharedChunks::Share(void* view, size_t size) {
  LockGuard lock(mutex_);
  const auto base = reinterpret_cast<uintptr_t>(view);
  if (const auto it = shared_.find(base); it != shared_.end() && it->second.size == size) return it->second.pages;
  std::shared_ptr<MemfdPages> pages = MemfdPages::Create(size);
  if (pages == nullptr) return nullptr;
  shared_[base] = {size, pages};
  if (!Move(static_cast<char*>(view), size, *pages)) {
    shared_.erase(base);
    return nullptr;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
  huge_pages_.Want(view, size);
  return pages;
}

bool SharedChunks::Move(char* view, size_t size, const MemfdPages& pages) {
  void* fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, pages.descriptor(), 0);
  if (fresh == MAP_FAILED) return false;
  moving_.store(true, std::memory_order_seq_cst);
  bool moved = mprotect(view, size, PROT_READ) == 0;
  if (moved) {
    CopyTouched(static_cast<char*>(fresh), view, size);
    moved = pages.MapAt(view, size, 0);
    if (!moved) mprotect(view, size, PROT_READ | PROT_WRITE);
  }
  moving_.store(false, std::memory_order_seq_cst);
  munmap(fresh, size);
  return moved;
}

void SharedChunks::Restore(void* view, size_t size) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  LockGuard lock(mutex_);
  const auto base = reinterpret_cast<uintptr_t>(view);
  auto it = shared_.lower_bound(base);
  while (it != shared_.end() && it->first < base + size) {
    huge_pages_.Forget(reinterpret_cast<void*>(it->first));
    MapPrivate(reinterpret_cast<void*>(it->first), it->second.size, PROT_READ | PROT_WRITE);
    it = shared_.erase(it);
    count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void SharedChunks::AwaitMove() const {
  while (moving_.load(std::memory_order_seq_cst)) sched_yield();
}

}  // namespace ropeway::cpu
