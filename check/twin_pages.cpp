#include "check/twin_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include "acl/acl.h"
#include "check/next.h"

namespace ropeway::check {
namespace {

size_t MappedSize(size_t size) { return (size + PageSize() - 1) / PageSize() * PageSize(); }

void Unmap(char* view, size_t size) { munmap(view, MappedSize(size) + PageSize()); }

char* MapView(int file, size_t size) {
  const size_t mapped = MappedSize(size);
  void* const room = mmap(nullptr, mapped + PageSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  if (mmap(room, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) return static_cast<char*>(room);
  Unmap(static_cast<char*>(room), size);
  return nullptr;
}

char* MakeView(int file, size_t size) {
  char* const view = MapView(file, size);
  if (view == nullptr || RegisterWithLibrary(view, size)) return view;
  Unmap(view, size);
  return nullptr;
}

// While the library holds on to the addresses, nobody else may get them.
bool ReleaseView(char* view, size_t size) {
  if (!UnregisterWithLibrary(view)) return false;
  Unmap(view, size);
  return true;
}

}  // namespace

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t TwinPages::pages() const { return MappedSize(size) / PageSize(); }

bool RegisterWithLibrary(void* address, size_t size) {
  static const auto pin = reinterpret_cast<decltype(&aclrtHostRegisterV2)>(FindInTarget("aclrtHostRegisterV2"));
  static const auto map = reinterpret_cast<decltype(&aclrtHostRegister)>(FindInTarget("aclrtHostRegister"));
  if (pin != nullptr) return pin(address, size, ACL_HOST_REG_PINNED) == ACL_SUCCESS;
  void* device = nullptr;
  return map != nullptr && map(address, size, ACL_HOST_REGISTER_MAPPED, &device) == ACL_SUCCESS;
}

bool UnregisterWithLibrary(void* address) {
  static const auto unregister = reinterpret_cast<decltype(&aclrtHostUnregister)>(FindInTarget("aclrtHostUnregister"));
  return unregister != nullptr && unregister(address) == ACL_SUCCESS;
}

std::optional<TwinPages> MakeTwinPages(size_t size) {
  if (size > SIZE_MAX / 2) return std::nullopt;
  const int file = memfd_create("ropeway-check", MFD_CLOEXEC);
  if (file < 0) return std::nullopt;
  TwinPages made{nullptr, nullptr, size};
  if (ftruncate(file, static_cast<off_t>(MappedSize(size))) == 0) made.program = MakeView(file, size);
  if (made.program != nullptr) made.library = MakeView(file, size);
  close(file);
  if (made.library != nullptr) return made;
  if (made.program != nullptr) ReleaseView(made.program, size);
  return std::nullopt;
}

bool ReleaseTwinPages(const TwinPages& pages) { return ReleaseView(pages.program, pages.size) && ReleaseView(pages.library, pages.size); }

}  // namespace ropeway::check
