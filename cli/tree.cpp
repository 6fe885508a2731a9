// Finding the tree from /proc/self/exe; see tree.h.
#include "cli/tree.h"

#include <dlfcn.h>

#include <filesystem>

namespace ropeway::cli {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

std::string LibraryInUse() {
  Dl_info info = {};
  void* symbol = dlsym(RTLD_DEFAULT, "aclrtMemcpyAsync");
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failed;
  const fs::path resolved = fs::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : resolved.string();
}

Tree FindTree() {
  std::error_code failed;
  const fs::path command = fs::read_symlink("/proc/self/exe", failed);
  const fs::path root = command.parent_path().parent_path();
  const bool has_library = Exists(root / "lib64" / "libascendcl.so");
  const fs::path library_folder = has_library ? root / "lib64" : fs::path(LibraryInUse()).parent_path();
  return {root.string(), library_folder.string(), has_library && Exists(root / "include" / "acl" / "acl.h")};
}

}  // namespace ropeway::cli
