#include "base/call_site.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace ropeway {

std::string CallerText(const void* caller) {
  Dl_info where{};
  if (caller == nullptr || dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return "";
  const char* slash = std::strrchr(where.dli_fname, '/');
  const char* module = slash == nullptr ? where.dli_fname : slash + 1;
  const bool named = where.dli_sname != nullptr;
  const auto base = reinterpret_cast<uintptr_t>(named ? where.dli_saddr : where.dli_fbase);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", reinterpret_cast<uintptr_t>(caller) - base);
  return std::string(" (called from ") + (named ? where.dli_sname : module) + offset + (named ? std::string(" of ") + module : "") + ")";
}

}  // namespace ropeway
