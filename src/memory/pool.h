// A stream-ordered pool: blocks of one device that are handed out at once and given back in the order of a stream
// (rules/pools.md 1, 2). Blocks come from the device's heap in multiples of 2 MiB and are never cut, so a block is used again
// for a request of its own size. What nobody has is hidden from every lookup.
//
// A block that was freed has a point in a stream behind which it is free. Who may have it next: the same stream, for its work
// comes behind; a stream that waits for that point; any stream, once it has passed (switches 1 and 2). When there is no other
// memory left, a stream is made to wait for it (switch 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "acl/acl_rt_memory_soma.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "base/status.h"
#include "memory/heap.h"
#include "stream/fence.h"
#include "stream/stream_point.h"

namespace ropeway {

class Pool;
using PoolSlab = Slab<Pool, 0x23>;
PoolSlab& Pools();
using PoolHold = SlabRef<PoolSlab, Pool>;

class Pool final : public SlabObject {
 public:
  static constexpr size_t kGranularity = kChunkBytes;

  // A new pool; null when the process has no room for another. `max_size` is a multiple of the granularity.
  static void* Create(Heap& heap, int device, size_t max_size);
  // 507000 when somebody still has a block, or when it was destroyed meanwhile.
  Status Destroy();
  // The device closes, and with it go its pools and all that they lent out.
  static void CloseAllOf(int device);

  int device() const { return device_; }
  // How many there are; without the slab, which is not made before there is one.
  static uint64_t open_count();

  struct Request {
    size_t size;  // a multiple of the granularity
    StreamRef stream;
    const FailureScope* scope;  // of the calling thread's context
    const char* call;
    const void* caller;
  };
  // 507000 when the pool or the device has no more.
  Result<void*> Malloc(const Request& request);
  // Gives back in the order of a stream; 107000 when the address is not the start of a block that somebody has.
  Status FreeOn(void* address, StreamRef stream, const FailureScope* scope, const char* call);
  // Gives back at once: for the next user behind all work that is queued now. False: as above.
  bool FreeNow(void* address);

  // 107000 for values that an attribute does not take.
  Status SetAttribute(aclrtMemPoolAttr attr, const void* value);
  void GetAttribute(aclrtMemPoolAttr attr, void* value);

  // Returns memory that nobody uses to the device as long as `keep` bytes or more remain.
  void TrimTo(size_t keep);
  // A stream has been waited for: returns what is above the threshold of each pool.
  static void AfterSynchronize();
  // Returns all unused memory of a device; false when there was none.
  static bool TrimAllOf(int device);

  void Recycle();

 private:
  struct FreeBlock {
    uintptr_t base;
    size_t size;
    std::shared_ptr<StreamPoint> point;  // freed in the order of a stream
    std::optional<Fence> fence;          // or at once
    bool for_all = false;                // seen to be passed by somebody who waited for it

    bool passed() const { return point != nullptr ? point->passed() : fence->Passed(); }
  };
  using FreeBlocks = std::list<FreeBlock>;  // oldest first
  struct Switches {
    bool follow_events = true;
    bool opportunistic = true;
    bool insert_waits = true;
  };

  // How well a block suits a stream; the smallest wins.
  enum class Fit { kSameStream, kForAll, kFollowsEvent, kPassed, kNot };
  Fit FitOf(FreeBlock& block, const Stream& stream) RW_REQUIRES(mutex_);
  FreeBlocks::iterator FindFree(size_t size, const Stream& stream) RW_REQUIRES(mutex_);
  FreeBlocks::iterator FindWaitable(size_t size) RW_REQUIRES(mutex_);
  std::optional<void*> Grow(const Request& request) RW_REQUIRES(mutex_);
  // A place among the blocks that are lent out, made before anything changes.
  using Lent = std::map<uintptr_t, size_t>;
  static Lent::node_type NewPlace(size_t size);
  void* Lend(void* block, Lent::node_type place) RW_REQUIRES(mutex_);
  // Of a list that has room for the block, which leaves it.
  void* LendAgain(FreeBlocks& from, FreeBlocks::iterator block, Lent::node_type place, const Request& request) RW_REQUIRES(mutex_);
  Result<void*> MallocBehind(FreeBlocks::iterator block, Lent::node_type place, const Request& request) RW_REQUIRES(mutex_);
  size_t Used() RW_REQUIRES(mutex_);
  // Gives a block back to the heap; returns the next one.
  FreeBlocks::iterator Return(FreeBlocks::iterator block) RW_REQUIRES(mutex_);
  void ReturnUnused(size_t enough) RW_REQUIRES(mutex_);
  bool* SwitchOf(aclrtMemPoolAttr attr) RW_REQUIRES(mutex_);
  template <typename Visit>
  static void ForEachOpen(Visit visit);

  Heap* heap_ = nullptr;
  int device_ = 0;
  size_t max_size_ = 0;

  Mutex mutex_{LockRank::kPool};
  bool open_ RW_GUARDED_BY(mutex_) = false;
  Lent lent_ RW_GUARDED_BY(mutex_);
  FreeBlocks free_ RW_GUARDED_BY(mutex_);
  size_t in_transit_ RW_GUARDED_BY(mutex_) = 0;  // bytes between the two, while their tasks are being queued
  size_t reserved_ RW_GUARDED_BY(mutex_) = 0;    // of the heap: all of the above
  size_t lent_bytes_ RW_GUARDED_BY(mutex_) = 0;
  size_t reserved_high_ RW_GUARDED_BY(mutex_) = 0;
  size_t used_high_ RW_GUARDED_BY(mutex_) = 0;
  size_t threshold_ RW_GUARDED_BY(mutex_) = 0;
  Switches switches_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
