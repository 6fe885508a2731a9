#include "engine/cpu/memfd_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ropeway::cpu {
namespace {

// A file that can shrink would let one process kill another by SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Memory may be in use while its pages are exchanged. A sanitizer takes the C library's mmap for a write to all of it, so this is the
// system call itself.
bool MapOver(void* address, size_t size, int protection, int flags, int descriptor, size_t offset) {
  return syscall(SYS_mmap, address, size, protection, flags | MAP_FIXED, descriptor, offset) >= 0;
}

bool IsSealedMemory(int descriptor, size_t size) {
  struct stat info {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(descriptor, &info) == 0 && static_cast<size_t>(info.st_size) >= size;
}

int NewFile() { return memfd_create("ropeway", MFD_CLOEXEC | MFD_ALLOW_SEALING); }

// The soft limit that the process came with, and the numbers below it, belong to the program.
rlim_t RaiseDescriptorLimit() {
  static const rlim_t before = [] {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return rlim_t{0};
    const rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return soft;
  }();
  return before;
}

// A program with thousands of handles would soon have no descriptor left for its own files: most systems begin with a limit of 1024.
// Files that come near it lie above, where a higher limit allows that.
int NewFileOutOfTheWay() {
  constexpr int kFewFiles = 256;
  int low = NewFile();
  if (low >= 0 && low < kFewFiles) return low;
  const rlim_t reserved = RaiseDescriptorLimit();
  if (low < 0) low = NewFile();
  const int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, static_cast<int>(reserved));
  if (high < 0) return low;
  close(low);
  return high;
}

}  // namespace

std::shared_ptr<MemfdPages> MemfdPages::Create(size_t size) {
  auto pages = std::make_shared<MemfdPages>(size);
  const int descriptor = pages->descriptor_ = NewFileOutOfTheWay();
  if (descriptor < 0) return nullptr;
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0 || fcntl(descriptor, F_ADD_SEALS, kSeals) != 0) return nullptr;
  return pages;
}

std::shared_ptr<MemfdPages> MemfdPages::Adopt(int descriptor, size_t size) {
  std::shared_ptr<MemfdPages> pages;
  try {
    pages = std::make_shared<MemfdPages>(size);
  } catch (...) {
    close(descriptor);
    throw;
  }
  pages->descriptor_ = descriptor;
  return IsSealedMemory(descriptor, size) ? pages : nullptr;
}

MemfdPages::~MemfdPages() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool MemfdPages::MapAt(void* address, size_t size, size_t offset) const {
  return MapOver(address, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, offset);
}

void MapPrivate(void* address, size_t size, int protection) {
  MapOver(address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace ropeway::cpu
