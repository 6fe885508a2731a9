#include "memory/managed_space.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/address_budget.h"

namespace ropeway {
namespace {

constexpr size_t kSmallest = size_t{64} << 20;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// The usual addresses, which a sanitizer or another library may have.
void* ReserveUsual() {
  void* wanted = reinterpret_cast<void*>(ManagedSpace::kUsualBase);
  void* got = mmap(wanted, ManagedSpace::kUsualSize, PROT_READ | PROT_WRITE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED || got == wanted) return got;
  munmap(got, ManagedSpace::kUsualSize);  // a kernel that does not know the flag takes the address for a hint
  return MAP_FAILED;
}

// Any addresses, fewer when there is a limit. They start at a chunk, so that huge pages fit.
void* ReserveSome(size_t most, size_t* size) {
  for (*size = WholeChunks(most); *size >= kSmallest; *size = WholeChunks(*size / 2)) {
    void* got = mmap(nullptr, *size + kChunkBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (got == MAP_FAILED) continue;
    const auto bits = reinterpret_cast<uintptr_t>(got);
    return reinterpret_cast<void*>((bits + kChunkBytes - 1) / kChunkBytes * kChunkBytes);
  }
  return MAP_FAILED;
}

// No engine needs to know of the pages: to each of them they are memory of the host.
class HostPages final : public Heap {
 public:
  using Heap::Heap;

 private:
  bool Commit(uintptr_t base, size_t size, bool) override {
    madvise(reinterpret_cast<void*>(base), size, MADV_HUGEPAGE);
    madvise(reinterpret_cast<void*>(base), size, MADV_DODUMP);
    return true;
  }
  void Decommit(uintptr_t base, size_t size) override { madvise(reinterpret_cast<void*>(base), size, MADV_DONTNEED); }
};

}  // namespace

std::unique_ptr<ManagedSpace> ManagedSpace::Create(Engine& engine, int devices, Reclaimer* reclaimer) {
  const AddressBudget budget = ReadAddressBudget();
  size_t size = kUsualSize;
  void* window = budget.limited_by == nullptr ? ReserveUsual() : MAP_FAILED;
  if (window == MAP_FAILED) window = ReserveSome(std::min(kUsualSize, budget.bytes / 4), &size);
  if (window == MAP_FAILED) return nullptr;
  madvise(window, size, MADV_DONTDUMP);  // core files have what is committed
  std::unique_ptr<ManagedSpace> space(new ManagedSpace);
  if (!space->map_.Init(window, size)) return nullptr;
  space->part_ = size / static_cast<size_t>(devices) / kChunkBytes * kChunkBytes;
  for (int device = 0; device < devices; ++device) {
    const uintptr_t base = space->map_.base() + static_cast<size_t>(device) * space->part_;
    space->heaps_.push_back(std::make_unique<HostPages>(engine, space->map_, base, space->part_, space->part_, device));
    space->heaps_.back()->set_reclaimer(reclaimer);
  }
  return space;
}

int ManagedSpace::DeviceOf(const void* address) const {
  return static_cast<int>((reinterpret_cast<uintptr_t>(address) - map_.base()) / part_);
}

std::optional<void*> ManagedSpace::Allocate(int device, const HeapRequest& request) {
  std::optional<void*> block = heap(device).Allocate(request);
  if (!block) return block;
  try {
    advice_.Forget(reinterpret_cast<uintptr_t>(*block), request.reserved);
  } catch (...) {
    heap(device).Free(*block);
    throw;
  }
  return block;
}

bool ManagedSpace::ReclaimSome() {
  bool more = false;
  for (auto& heap : heaps_) more |= heap->ReclaimSome();
  return more;
}

bool ManagedSpace::Free(void* address) {
  if (!Contains(address)) return false;
  const auto device = static_cast<size_t>(DeviceOf(address));
  return device < heaps_.size() && heaps_[device]->Free(address);
}

}  // namespace ropeway
