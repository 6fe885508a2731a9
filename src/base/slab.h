// Objects behind opaque handles. A handle is a number, never an address: type tag, generation and index. Memory of a slab
// is never given back while the process lives, so looking at a stale handle is always safe, and the generation says
// that it is stale (rules/calls.md 2: 107017 instead of a crash). A program may keep it in an int64_t: the tag leaves the highest bit
// free.
//
// An object is alive for handles while its generation is odd. It is reused only when its last reference is gone, so
// tasks and calls in progress can hold an object whose handle is already stale.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/mutex.h"

namespace ropeway {

struct StateShape;

// Base class of everything that lives in a Slab.
class SlabObject {
 public:
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  uint32_t index() const { return index_; }

 private:
  template <typename T, uint8_t kTag>
  friend class Slab;
  friend struct StateShape;              // api/state_table.cpp
  std::atomic<uint32_t> generation_{0};  // odd while the handle is good
  std::atomic<uint32_t> references_{0};
  uint32_t index_ = 0;
  uint32_t next_free_ = 0;  // one more than the index of the next unused one; 0: none
};

template <typename T, uint8_t kTag>
class Slab {
  static_assert(kTag != 0 && kTag < 0x80, "handles are neither addresses nor negative");

 public:
  static constexpr uint32_t kIndexBits = 20;
  static constexpr uint32_t kCapacity = 1 << kIndexBits;
  static constexpr uint32_t kChunk = 64;  // objects are made by the chunk

  // A fresh or recycled object that nobody else can see; null when the slab is full. Then, once it is ready, Publish or
  // Share it; or Discard it.
  T* Take() {
    LockGuard lock(mutex_);
    T* object;
    if (first_free_ != 0) {
      object = At(first_free_ - 1).load(std::memory_order_relaxed);
      first_free_ = object->next_free_;
    } else {
      if (size_ == kCapacity) return nullptr;
      if (size_ % kChunk == 0) MakeChunk();
      object = At(size_++).load(std::memory_order_relaxed);
    }
    return object;
  }

  // The object gets its first reference, the caller's, and no handle.
  void Share(T* object) { object->references_.store(1, std::memory_order_release); }

  // The object becomes reachable through the handle that is returned, and which holds its first reference.
  void* Publish(T* object) {
    Share(object);
    const uint32_t generation = object->generation_.fetch_add(1, std::memory_order_release) + 1;
    live_.fetch_add(1, std::memory_order_relaxed);
    return Encode(object->index_, generation);
  }

  void* HandleOf(const T* object) const { return Encode(object->index_, object->generation()); }

  // The generation that a handle names; odd in every handle that was ever handed out.
  static uint32_t GenerationOf(void* handle) { return static_cast<uint32_t>(reinterpret_cast<uint64_t>(handle) >> kIndexBits); }

  // The live object of a handle, or null. Without a reference: good for a look, and for callers that check the generation
  // again under the object's own lock.
  T* Find(void* handle) const {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    if ((bits >> 52) != uint64_t{kTag} << 4) return nullptr;
    T* object = At(bits % kCapacity).load(std::memory_order_acquire);
    const uint32_t generation = GenerationOf(handle);
    if (object == nullptr || (generation & 1) == 0 || object->generation() != generation) return nullptr;
    return object;
  }

  // As Find, with a reference that the caller gives back by Release.
  T* Acquire(void* handle) {
    T* object = Find(handle);
    if (object == nullptr || !RetainIfUsed(object)) return nullptr;
    if (Find(handle) == object) return object;
    Release(object);
    return nullptr;
  }

  // As Acquire for an object that was looked up before; null when its handle has become stale since.
  T* Acquire(T* object, uint32_t generation) { return object == nullptr ? nullptr : Acquire(Encode(object->index_, generation)); }

  // For objects that the caller knows to be in use.
  void Retain(T* object) { object->references_.fetch_add(1, std::memory_order_relaxed); }

  void Release(T* object) {
    if (object->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Discard(object);
  }

  // Gives back an object that was neither published nor shared.
  void Discard(T* object) {
    object->Recycle();
    LockGuard lock(mutex_);
    object->next_free_ = std::exchange(first_free_, object->index_ + 1);
  }

  // Makes the handle stale. True for exactly one caller, who then owns the handle's reference.
  bool Retire(T* object, uint32_t generation) {
    if ((generation & 1) == 0) return false;
    if (!object->generation_.compare_exchange_strong(generation, generation + 1, std::memory_order_acq_rel)) return false;
    live_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  // As Retire, if nobody but the handle has a reference; the object is the caller's, who discards it. Two callers at once must not have the
  // same object: a reference of the one is one that the other finds.
  bool RetireUnused(T* object) {
    uint32_t own = 1;
    if (!object->references_.compare_exchange_strong(own, 0, std::memory_order_acq_rel)) return false;  // no Acquire from now on
    object->generation_.fetch_add(1, std::memory_order_acq_rel);
    live_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  uint64_t live() const { return live_.load(std::memory_order_relaxed); }

  // Every object that somebody still uses, stale handles included, each with a reference while `visit` looks at it.
  template <typename Visit>
  void ForEachInUse(Visit visit) {
    for (uint32_t index = 0; index < kCapacity; ++index) {
      T* object = At(index).load(std::memory_order_acquire);
      if (object == nullptr) return;
      if (!RetainIfUsed(object)) continue;
      visit(object);
      Release(object);
    }
  }

 private:
  friend struct StateShape;  // api/state_table.cpp
  void MakeChunk() RW_REQUIRES(mutex_) {
    T* chunk = new T[kChunk];
    for (uint32_t i = 0; i < kChunk; ++i) {
      chunk[i].index_ = size_ + i;
      At(size_ + i).store(&chunk[i], std::memory_order_release);
    }
  }
  std::atomic_ref<T*> At(size_t index) const { return std::atomic_ref(objects_[index]); }
  static void* Encode(uint32_t index, uint32_t generation) {
    return reinterpret_cast<void*>(uint64_t{kTag} << 56 | uint64_t{generation} << kIndexBits | index);
  }
  static bool RetainIfUsed(T* object) {
    uint32_t references = object->references_.load(std::memory_order_relaxed);
    while (references != 0) {
      if (object->references_.compare_exchange_weak(references, references + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // Zero pages until used. Plain pointers, because a compiler may run out of steps when it has to construct a million atomics
  // ahead of time; At is the only way to them.
  mutable T* objects_[kCapacity] = {};
  std::atomic<uint64_t> live_{0};
  Mutex mutex_{LockRank::kSlab};
  uint32_t size_ RW_GUARDED_BY(mutex_) = 0;
  uint32_t first_free_ RW_GUARDED_BY(mutex_) = 0;  // as next_free_: giving an object back takes no memory
};

// An object that was taken and is not ready: given back unless somebody keeps it.
template <typename SlabType, typename T>
class SlabDraft {
 public:
  SlabDraft(SlabType& slab, T* taken) : slab_(slab), object_(taken) {}
  SlabDraft(const SlabDraft&) = delete;
  SlabDraft& operator=(const SlabDraft&) = delete;
  ~SlabDraft() {
    if (object_ != nullptr) slab_.Discard(object_);
  }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* Keep() { return std::exchange(object_, nullptr); }

 private:
  SlabType& slab_;
  T* object_;
};

// A counted reference, for code that keeps an object longer than one look.
template <typename SlabType, typename T>
class SlabRef {
 public:
  SlabRef() = default;
  SlabRef(SlabType& slab, T* adopted) : slab_(&slab), object_(adopted) {}
  SlabRef(SlabRef&& other) noexcept : slab_(other.slab_), object_(std::exchange(other.object_, nullptr)) {}
  SlabRef& operator=(SlabRef&& other) noexcept {
    std::swap(slab_, other.slab_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~SlabRef() {
    if (object_ != nullptr) slab_->Release(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  SlabType* slab_ = nullptr;
  T* object_ = nullptr;
};

}  // namespace ropeway
