#include "check/operations.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstring>

#include "check/options.h"

namespace ropeway::check {
namespace {

std::vector<void*> StackFrom(uintptr_t site) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  int first = 0;
  while (first < count && reinterpret_cast<uintptr_t>(frames[first]) != site) ++first;
  return first == count ? std::vector<void*>{} : std::vector<void*>(frames + first, frames + count);
}

// AscendCL and HCCL under all of their names.
bool InsideTarget(uintptr_t site) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(site - 1), &info) == 0 || info.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const char* const name = slash == nullptr ? info.dli_fname : slash + 1;
  for (const char* one : {"libascendcl.so", "libacl_rt.so", "libruntime.so", "libhccl.so", "libhcomm.so"})
    if (std::strncmp(name, one, std::strlen(one)) == 0) return true;
  return false;
}

}  // namespace

uint32_t Operations::NumberOf(const char* call, uintptr_t site, const PythonSite& python) {
  // The name, too: a call at the end of a function is a jump, and returns to that function's caller.
  const uintptr_t key = (python.key == 0 ? site : python.key) ^ reinterpret_cast<uintptr_t>(call) << 16;
  const auto [at, added] = numbers_.try_emplace(key, static_cast<uint32_t>(all_.size()));
  if (added)
    all_.push_back({call, site, InsideTarget(site), python.location, GetOptions().stacks ? StackFrom(site) : std::vector<void*>{}});
  return at->second;
}

}  // namespace ropeway::check
