// hccl::HostMem. Ownership follows the original, traps included: free() does not ask who owns. See mem_host_pub.h.
#include <new>
#include <set>
#include <utility>

#include "acl/acl.h"
#include "base/mutex.h"
#include "hccl/base/result.h"
#include "mem_host_pub.h"

using namespace ropeway::comm;

namespace hccl {
namespace {

// Blocks of the heap that alloc made and nobody freed yet. The runtime refuses to free pinned memory twice; the heap would break,
// and free() through a copy followed by the owner's end is exactly that.
class HeapBlocks {
 public:
  void* Allocate(u64 size) {
    if (!RequireOwnProcess().ok()) return nullptr;
    auto* block = new (std::nothrow) u8[size];
    if (block == nullptr) return nullptr;
    ropeway::LockGuard lock(mutex_);
    blocks_.insert(block);
    return block;
  }
  void Free(void* block) {
    if (!RequireOwnProcess().ok()) return;  // a forked child leaves its parent's blocks alone
    {
      ropeway::LockGuard lock(mutex_);
      if (blocks_.erase(block) == 0) return;
    }
    delete[] static_cast<u8*>(block);
  }

  // Never destroyed: objects with static storage may free later.
  static HeapBlocks& Get() {
    static auto* blocks = new HeapBlocks;
    return *blocks;
  }

 private:
  ropeway::Mutex mutex_{ropeway::LockRank::kHcclHostMem};
  std::set<void*> blocks_ RW_GUARDED_BY(mutex_);
};

}  // namespace

HostMem::HostMem(void* ptr, u64 size, bool owner, Source source) : ptr_(ptr), size_(size), owner_(owner), source_(source) {}

HostMem::HostMem(const HostMem& that) : HostMem(that.ptr_, that.size_, false, that.source_) {}

HostMem::HostMem(HostMem&& that) noexcept
    : ptr_(std::exchange(that.ptr_, nullptr)), size_(std::exchange(that.size_, 0)), owner_(std::exchange(that.owner_, false)),
      source_(that.source_) {}

HostMem::~HostMem() {
  if (owner_) free();
}

HostMem& HostMem::operator=(const HostMem& that) {
  if (this == &that) return *this;
  ptr_ = that.ptr_;
  size_ = that.size_;
  owner_ = false;
  source_ = that.source_;
  return *this;
}

HostMem HostMem::operator=(HostMem&& that) {
  if (this != &that) {
    ptr_ = std::exchange(that.ptr_, nullptr);
    size_ = std::exchange(that.size_, 0);
    owner_ = std::exchange(that.owner_, false);
    source_ = that.source_;
  }
  return HostMem(*this);
}

HostMem HostMem::alloc(u64 size, bool isRtsMem) {
  void* pointer = nullptr;
  if (!isRtsMem) {
    pointer = HeapBlocks::Get().Allocate(size);
  } else if (aclrtMallocHost(&pointer, size) != ACL_SUCCESS) {
    pointer = nullptr;
  }
  return HostMem(pointer, size, pointer != nullptr, isRtsMem ? Source::kPinned : Source::kHeap);
}

HostMem HostMem::create(void* ptr, u64 size) { return HostMem(ptr, size, false, Source::kForeign); }

void HostMem::free() {
  if (ptr_ != nullptr && source_ == Source::kPinned) aclrtFreeHost(ptr_);
  if (ptr_ != nullptr && source_ == Source::kHeap) HeapBlocks::Get().Free(ptr_);
  ptr_ = nullptr;
  owner_ = false;
}

// A part cannot be freed: it is not what alloc returned.
HostMem HostMem::range(u64 offset, u64 size) const {
  if (ptr_ == nullptr || offset > size_ || size > size_ - offset) return HostMem();
  return HostMem(static_cast<u8*>(ptr_) + offset, size, false, Source::kForeign);
}

}  // namespace hccl
