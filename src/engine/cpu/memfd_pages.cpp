#include "engine/cpu/memfd_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ropeway::cpu {
namespace {

// A file that can shrink would let one process kill another by SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool IsSealedMemory(int descriptor, size_t size) {
  struct stat info {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(descriptor, &info) == 0 && static_cast<size_t>(info.st_size) >= size;
}

}  // namespace

std::shared_ptr<MemfdPages> MemfdPages::Create(size_t size) {
  const int descriptor = memfd_create("ropeway", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  auto pages = std::make_shared<MemfdPages>(descriptor, size);
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0 || fcntl(descriptor, F_ADD_SEALS, kSeals) != 0) return nullptr;
  return pages;
}

std::shared_ptr<MemfdPages> MemfdPages::Adopt(int descriptor, size_t size) {
  auto pages = std::make_shared<MemfdPages>(descriptor, size);
  return IsSealedMemory(descriptor, size) ? pages : nullptr;
}

MemfdPages::~MemfdPages() { close(descriptor_); }

bool MemfdPages::MapAt(void* address, size_t size, size_t offset) const {
  return mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor_, static_cast<off_t>(offset)) != MAP_FAILED;
}

void MapPrivate(void* address, size_t size, int protection) {
  mmap(address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace ropeway::cpu
