// Bytes that do not belong to one address: several mappings, and several processes, can have the same. They live as long as
// somebody holds or maps them, in whatever process.
#pragma once

#include <cstddef>
#include <memory>

namespace ropeway {

class SharedPages {
 public:
  virtual ~SharedPages() = default;
  size_t size() const { return size_; }
  // What another process needs to have the same bytes. Stays open as long as this object.
  virtual int descriptor() const = 0;

 protected:
  explicit SharedPages(size_t size) : size_(size) {}

 private:
  const size_t size_;
};

// A part of them: whole chunks.
struct PagePiece {
  std::shared_ptr<SharedPages> pages;
  size_t offset;
  size_t size;
};

}  // namespace ropeway
