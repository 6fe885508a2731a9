// Host memory that the program registered: ranges in order of address, which readers search without a lock.
//
// The ranges lie in leaves of at most kLeaf, and a list of leaves is searched first; so one more range moves a leaf's worth of
// others at most, however many there are. A writer makes the version odd, changes what it has to, makes it even again; a reader that saw it
// change looks again. What a late reader may still look at is never freed: leaves are used again, and lists that became too small are
// kept; since they double, all of them together are no larger than the current one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace ropeway {

struct Registration {
  uintptr_t base = 0;
  size_t size = 0;
  uintptr_t alias = 0;  // where device code would see it; 0 when it was not mapped
  bool found() const { return size != 0; }
  uintptr_t end() const { return base + size; }
};

class Registrations {
 public:
  // The registration that `address` lies in.
  Registration Find(const void* address) const;
  // False when any byte is registered already. Throws without effect when there is no memory.
  bool Add(const Registration& registration);
  // Removes the registration that starts at `base`; an empty one when there is none.
  Registration Remove(uintptr_t base);
  // Removes one registration that lies inside [base, base + size); an empty one when there is none.
  Registration RemoveOneInside(uintptr_t base, size_t size);
  size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kLeaf = 32;

  struct Entry {
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> size{0};
    std::atomic<uintptr_t> alias{0};
    Registration Read() const;
    void Write(const Registration& registration);
  };
  struct Leaf {
    std::atomic<size_t> count{0};
    Entry entries[kLeaf];
  };
  struct Place {                      // a leaf as the list names it
    std::atomic<uintptr_t> first{0};  // base of its first entry
    std::atomic<Leaf*> leaf{nullptr};
  };

  // Where an entry is, or belongs. Writers only, as all that follows.
  struct Position {
    size_t leaf;
    size_t index;
  };
  Leaf& LeafAt(size_t index) const { return *places_.load(std::memory_order_relaxed)[index].leaf.load(std::memory_order_relaxed); }
  // The last entry that begins at or before `address`; nothing is there when both are 0 and there is no such entry.
  bool LastUpTo(uintptr_t address, Position* position) const;
  bool FirstFrom(uintptr_t address, Position* position) const;
  Registration At(const Position& position) const { return LeafAt(position.leaf).entries[position.index].Read(); }
  void KeepSpares() RW_REQUIRES(mutex_);
  void Insert(const Registration& registration) RW_REQUIRES(mutex_);
  size_t Split(size_t leaf) RW_REQUIRES(mutex_);
  void InsertPlace(size_t index, Leaf* leaf) RW_REQUIRES(mutex_);
  void RemovePlace(size_t index) RW_REQUIRES(mutex_);
  Registration RemoveAt(const Position& position) RW_REQUIRES(mutex_);

  std::atomic<uint32_t> version_{0};
  std::atomic<size_t> count_{0};
  std::atomic<size_t> leaves_{0};  // in use
  std::atomic<Place*> places_{nullptr};
  Mutex mutex_{LockRank::kRegistrations};  // serialises writers
  size_t capacity_ RW_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Place[]>> lists_ RW_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Leaf>> owned_ RW_GUARDED_BY(mutex_);
  std::vector<Leaf*> spare_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
