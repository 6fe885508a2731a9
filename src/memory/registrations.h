// Host memory that the program registered. A sorted array that readers search without a lock: a writer makes the version
// odd, changes the array, makes it even again; a reader that saw it change looks again. Arrays that became too small are
// kept for late readers; since they double, all of them together are no larger than the current one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

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
  // False when any byte is registered already.
  bool Add(const Registration& registration);
  // Removes the registration that starts at `base`; an empty one when there is none.
  Registration Remove(uintptr_t base);
  // Removes every registration inside [base, base + size): the memory is going away.
  std::vector<Registration> RemoveInside(uintptr_t base, size_t size);
  size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::atomic<uintptr_t> base{0};
    std::atomic<size_t> size{0};
    std::atomic<uintptr_t> alias{0};
  };
  Registration At(const Entry* entries, size_t index) const;
  // Index of the first entry behind `address`.
  size_t UpperBound(const Entry* entries, size_t count, uintptr_t address) const;
  static void Put(Entry& entry, const Registration& registration);
  void Write(const std::vector<Registration>& all);
  std::vector<Registration> ReadAll() const;

  std::atomic<uint32_t> version_{0};
  std::atomic<size_t> count_{0};
  std::atomic<Entry*> entries_{nullptr};
  std::mutex mutex_;  // serialises writers
  size_t capacity_ = 0;
  std::vector<std::unique_ptr<Entry[]>> arrays_;
};

}  // namespace ropeway
