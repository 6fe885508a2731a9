// Shared pages of the CPU engine: a file without a name, which is gone with its last descriptor and its last mapping.
#pragma once

#include <memory>

#include "engine/shared_pages.h"

namespace ropeway::cpu {

class MemfdPages final : public SharedPages {
 public:
  // Null when the system has no more files or memory.
  static std::shared_ptr<MemfdPages> Create(size_t size);
  // Takes the descriptor over; null (and closed) when it is no sealed memory file of at least this size.
  static std::shared_ptr<MemfdPages> Adopt(int descriptor, size_t size);
  explicit MemfdPages(size_t size) : SharedPages(size) {}
  ~MemfdPages() override;

  int descriptor() const override { return descriptor_; }
  // Maps [offset, offset + size) at `address`, in place of what is there.
  bool MapAt(void* address, size_t size, size_t offset) const;

 private:
  int descriptor_ = -1;  // fixed once there is one
};

// Puts fresh private memory at `address`, in place of what is there.
void MapPrivate(void* address, size_t size, int protection);

}  // namespace ropeway::cpu
