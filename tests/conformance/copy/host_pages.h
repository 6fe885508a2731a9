// Host memory that is not what a copy needs: with a page that cannot be read, or written, in the middle.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {

constexpr size_t kPage = 4096;

class HostPages {
 public:
  // Zeros, aligned to pages.
  explicit HostPages(size_t size) : size_(size) {
    data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(data_, MAP_FAILED);
  }
  // The same with nothing behind its last page: a file that has become shorter than its mapping.
  struct CutShort {};
  HostPages(size_t size, CutShort) : size_(size) {
    std::FILE* file = std::tmpfile();
    EXPECT_NE(file, nullptr);
    EXPECT_EQ(ftruncate(fileno(file), static_cast<off_t>(size)), 0);
    data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    EXPECT_NE(data_, MAP_FAILED);
    EXPECT_EQ(ftruncate(fileno(file), static_cast<off_t>(size - kPage)), 0);
    std::fclose(file);
  }
  ~HostPages() { munmap(data_, size_); }
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  // What may be done with the page at `offset` from now on: PROT_NONE is as good as no page at all, and nobody else is given it.
  void Protect(size_t offset, int protection) { EXPECT_EQ(mprotect(at(offset), kPage, protection), 0); }

  char* at(size_t offset) const { return static_cast<char*>(data_) + offset; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

inline std::string Show(const void* address) {
  char text[32];
  std::snprintf(text, sizeof(text), "%p", address);
  return text;
}

}  // namespace ropeway_test::bytes
