#include "memory/pool.h"

#include <algorithm>

#include "acl/error_codes/rt_error_codes.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

std::atomic<uint64_t> g_open{0};

void* Address(uintptr_t base) { return reinterpret_cast<void*>(base); }

Status NotLive() { return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "memPool was destroyed, or its device closed, meanwhile"); }

}  // namespace

PoolSlab& Pools() {
  static constinit NoDestroy<PoolSlab> slab;
  return slab.get();
}

// --- Life ---------------------------------------------------------------------------------------------------------------

void* Pool::Create(Heap& heap, int device, size_t max_size) {
  Pool* pool = Pools().Take();
  if (pool == nullptr) return nullptr;
  KnownOrder::wanted.store(true, std::memory_order_relaxed);
  {
    LockGuard lock(pool->mutex_);
    pool->heap_ = &heap;
    pool->device_ = device;
    pool->max_size_ = max_size;
    pool->open_ = true;
  }
  g_open.fetch_add(1, std::memory_order_relaxed);
  return Pools().Publish(pool);
}

uint64_t Pool::open_count() { return g_open.load(std::memory_order_relaxed); }

void Pool::Recycle() {
  LockGuard lock(mutex_);
  reserved_high_ = used_high_ = threshold_ = 0;
  switches_ = Switches();
}

Status Pool::Destroy() {
  {
    LockGuard lock(mutex_);
    if (!open_) return NotLive();
    if (!lent_.empty() || in_transit_ != 0)
      return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "memPool still has %zu blocks (%zu bytes) out; free them first", lent_.size(),
                  lent_bytes_ + in_transit_);
    for (auto it = free_.begin(); it != free_.end();) it = Return(it);
    open_ = false;
    g_open.fetch_sub(1, std::memory_order_relaxed);
    Pools().Retire(this, generation());
  }
  Pools().Release(this);  // the handle's
  return Ok();
}

template <typename Visit>
void Pool::ForEachOpen(Visit visit) {
  if (open_count() == 0) return;
  Pools().ForEachInUse([&](Pool* pool) RW_NOT_CHECKED {  // clang takes the lock that `visit` requires for another one
    LockGuard lock(pool->mutex_);
    if (pool->open_) visit(*pool);
  });
}

// The heap frees the blocks itself.
void Pool::CloseAllOf(int device) {
  ForEachOpen([device](Pool& pool) RW_REQUIRES(pool.mutex_) {
    if (pool.device_ != device) return;
    pool.open_ = false;
    g_open.fetch_sub(1, std::memory_order_relaxed);
    pool.lent_.clear();
    pool.free_.clear();
    pool.reserved_ = pool.lent_bytes_ = 0;
    Pools().Retire(&pool, pool.generation());
    Pools().Release(&pool);  // the handle's; ForEachInUse has one more
  });
}

// --- Malloc -------------------------------------------------------------------------------------------------------------

Pool::Fit Pool::FitOf(FreeBlock& block, const Stream& stream) {
  if (block.point != nullptr && block.point->stream_id() == stream.id()) return Fit::kSameStream;
  if (block.for_all || (block.fence && block.fence->Passed())) return Fit::kForAll;
  if (block.point == nullptr) return Fit::kNot;
  const bool follows = stream.known_order.Knows(block.point->stream_id(), block.point->sequence());
  if (switches_.follow_events && follows) return Fit::kFollowsEvent;
  return switches_.opportunistic && block.point->passed() ? Fit::kPassed : Fit::kNot;
}

Pool::FreeBlocks::iterator Pool::FindFree(size_t size, const Stream& stream) {
  auto best = free_.end();
  Fit best_fit = Fit::kNot;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->size != size) continue;
    const Fit fit = FitOf(*it, stream);
    if (fit >= best_fit) continue;
    best = it;
    best_fit = fit;
  }
  return best;
}

// The oldest that a stream can be made to wait for.
Pool::FreeBlocks::iterator Pool::FindWaitable(size_t size) {
  if (!switches_.insert_waits) return free_.end();
  return std::find_if(free_.begin(), free_.end(), [size](const FreeBlock& block) { return block.size == size && block.point != nullptr; });
}

std::optional<void*> Pool::Grow(const Request& request) {
  if (request.size > max_size_ - reserved_) return std::nullopt;
  HeapRequest block;
  block.reserved = request.size;
  block.huge_pages = true;
  block.page_size = kGranularity;
  block.call = request.call;
  block.caller = request.caller;
  block.pool = Pools().HandleOf(this);
  std::optional<void*> made = heap_->Allocate(block);
  if (!made) return std::nullopt;
  reserved_ += request.size;
  reserved_high_ = std::max(reserved_high_, reserved_);
  return made;
}

Pool::Lent::node_type Pool::NewPlace(size_t size) {
  Lent one;
  one.emplace(0, size);
  return one.extract(one.begin());
}

void* Pool::Lend(void* block, Lent::node_type place) {
  place.key() = reinterpret_cast<uintptr_t>(block);
  lent_bytes_ += place.mapped();
  lent_.insert(std::move(place));
  used_high_ = std::max(used_high_, Used());
  return block;
}

void* Pool::LendAgain(FreeBlocks& from, FreeBlocks::iterator block, Lent::node_type place, const Request& request) {
  void* address = Address(block->base);
  heap_->Show(address, request.call, request.caller);
  from.erase(block);
  return Lend(address, std::move(place));
}

Result<void*> Pool::Malloc(const Request& request) {
  LockGuard lock(mutex_);
  if (!open_) return NotLive();
  Lent::node_type place = NewPlace(request.size);
  if (auto block = FindFree(request.size, *request.stream.stream); block != free_.end())
    return LendAgain(free_, block, std::move(place), request);
  std::optional<void*> fresh = Grow(request);
  if (!fresh) {
    // Blocks of other sizes may be in the way.
    ReturnUnused(request.size);
    fresh = Grow(request);
  }
  if (fresh) return Lend(*fresh, std::move(place));
  if (auto block = FindWaitable(request.size); block != free_.end()) return MallocBehind(block, std::move(place), request);
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR,
              "size %zu (rounded to 2 MiB) does not fit: the pool holds %zu of at most %zu bytes, %zu of them in use; free some, or make "
              "a larger pool",
              request.size, reserved_, max_size_, Used());
}

// The last resort: the stream's next work waits for the stream that freed the block. Tasks are queued without the lock.
Result<void*> Pool::MallocBehind(FreeBlocks::iterator block, Lent::node_type place, const Request& request) {
  auto waiting = std::make_unique<StreamPoint::Waiting>(block->point);
  FreeBlocks taken;
  taken.splice(taken.begin(), free_, block);
  in_transit_ += request.size;
  Status waits;
  {
    const LockGap gap(mutex_);
    waits = block->point->AwaitOn(request.stream, request.scope, request.call, std::move(waiting));
  }
  in_transit_ -= request.size;
  if (!open_) return NotLive();
  if (waits.ok()) return LendAgain(taken, block, std::move(place), request);
  free_.splice(free_.begin(), taken);
  return waits;
}

// --- Free ---------------------------------------------------------------------------------------------------------------

Status Pool::FreeOn(void* address, StreamRef stream, const FailureScope* scope, const char* call) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  auto it = lent_.find(base);
  if (!open_ || it == lent_.end())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is not a block that aclrtMemPoolMallocAsync gave and nobody freed since", address);
  const size_t size = it->second;
  auto point = std::make_shared<StreamPoint>();
  FreeBlocks freed;
  freed.push_back({base, size, point, std::nullopt});
  Lent::node_type place = lent_.extract(it);
  lent_bytes_ -= size;
  in_transit_ += size;
  lock.unlock();
  Status marked = point->MarkOn(stream, scope, call);
  lock.lock();
  in_transit_ -= size;
  if (!open_) return Ok();  // gone with its device
  if (!marked.ok()) {
    lent_.insert(std::move(place));
    lent_bytes_ += size;
    return marked;
  }
  heap_->Hide(address);
  free_.splice(free_.end(), freed);
  return Ok();
}

bool Pool::FreeNow(void* address) {
  const auto base = reinterpret_cast<uintptr_t>(address);
  LockGuard lock(mutex_);
  auto it = lent_.find(base);
  if (!open_ || it == lent_.end()) return false;
  free_.push_back({base, it->second, nullptr, Fence::BehindAll()});
  heap_->Hide(address);
  lent_bytes_ -= it->second;
  lent_.erase(it);
  return true;
}

// --- Giving memory back to the device -------------------------------------------------------------------------------------

Pool::FreeBlocks::iterator Pool::Return(FreeBlocks::iterator block) {
  heap_->Free(Address(block->base), true);
  reserved_ -= block->size;
  return free_.erase(block);
}

// Until that much more fits.
void Pool::ReturnUnused(size_t enough) {
  const auto fits = [&]() RW_REQUIRES(mutex_) {
    const Heap::Usage usage = heap_->usage();
    return enough <= max_size_ - reserved_ && enough <= usage.capacity - usage.bytes;
  };
  for (auto it = free_.begin(); it != free_.end() && !fits();) it = it->passed() ? Return(it) : std::next(it);
}

void Pool::TrimTo(size_t keep) {
  LockGuard lock(mutex_);
  if (!open_) return;
  for (auto it = free_.begin(); it != free_.end();) it = it->passed() && reserved_ - it->size >= keep ? Return(it) : std::next(it);
}

void Pool::AfterSynchronize() {
  ForEachOpen([](Pool& pool) RW_REQUIRES(pool.mutex_) {
    for (auto it = pool.free_.begin(); it != pool.free_.end();) {
      it->for_all = it->for_all || it->passed();
      it = it->for_all && pool.reserved_ > pool.threshold_ ? pool.Return(it) : std::next(it);
    }
  });
}

bool Pool::TrimAllOf(int device) {
  bool any = false;
  ForEachOpen([&](Pool& pool) RW_REQUIRES(pool.mutex_) {
    if (pool.device_ != device) return;
    const size_t before = pool.reserved_;
    for (auto it = pool.free_.begin(); it != pool.free_.end();) it = it->passed() ? pool.Return(it) : std::next(it);
    any = any || pool.reserved_ < before;
  });
  return any;
}

}  // namespace ropeway
