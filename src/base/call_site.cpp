#include "base/call_site.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/fork.h"
#include "base/symbols.h"

namespace ropeway {
namespace {

bool IsOurs(const Dl_info& where) {
  static const int here = 0;
  Dl_info ours{};
  return dladdr(&here, &ours) != 0 && ours.dli_fbase == where.dli_fbase;
}

// The layer in front of this library says itself where it was called from.
bool IsLayer(const char* module) { return std::strncmp(module, "libropeway_check.", 17) == 0; }

const char* NameOfModule(const Dl_info& where) {
  const char* slash = std::strrchr(where.dli_fname, '/');
  return slash == nullptr ? where.dli_fname : slash + 1;
}

bool Find(const void* caller, Dl_info* where) { return caller != nullptr && dladdr(caller, where) != 0 && where->dli_fname != nullptr; }

// "main+0x1f of prog"
std::string PlaceOf(const void* caller, const Dl_info& where) {
  const char* module = NameOfModule(where);
  const bool named = where.dli_sname != nullptr;
  const auto base = reinterpret_cast<uintptr_t>(named ? where.dli_saddr : where.dli_fbase);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", reinterpret_cast<uintptr_t>(caller) - base);
  return std::string(named ? where.dli_sname : module) + offset + (named ? std::string(" of ") + module : "");
}

}  // namespace

// A child of fork may have got the loader's lock from a thread that it has not.
std::string CallSiteText(const void* caller) {
  Dl_info where{};
  if (InForkedChild() || !Find(caller, &where) || IsOurs(where) || IsLayer(NameOfModule(where))) return "";
  const std::string line = symbols::LineOf(reinterpret_cast<uintptr_t>(caller));
  return line.empty() ? "called from " + PlaceOf(caller, where) : "called at " + line;
}

std::string CallerText(const void* caller) {
  const std::string site = CallSiteText(caller);
  return site.empty() ? "" : " (" + site + ")";
}

bool InSameModule(const void* one, const void* other) {
  Dl_info of_one{}, of_other{};
  return Find(one, &of_one) && Find(other, &of_other) && of_one.dli_fbase == of_other.dli_fbase;
}

}  // namespace ropeway
