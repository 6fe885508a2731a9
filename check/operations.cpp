#include "check/operations.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

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

bool InsideOneOf(uintptr_t site, std::initializer_list<const char*> libraries) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(site - 1), &info) == 0 || info.dli_fname == nullptr) return false;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const char* const name = slash == nullptr ? info.dli_fname : slash + 1;
  for (const char* one : libraries)
    if (std::strncmp(name, one, std::strlen(one)) == 0) return true;
  return false;
}

// AscendCL and HCCL under all of their names.
bool InsideTarget(uintptr_t site) {
  return InsideOneOf(site, {"libascendcl.so", "libacl_rt.so", "libruntime.so", "libhccl.so", "libhcomm.so"});
}

// What programs call to touch memory.
bool InsideSystem(uintptr_t site) {
  return InsideOneOf(site, {"libc.so", "libc-2", "ld-linux", "libstdc++.so", "libgcc_s.so", "libm.so", "libasan.so", "libtsan.so",
                            "libclang_rt.", "libropeway_check.so"});
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

uint32_t Operations::NumberOfAccess(const std::vector<void*>& stack) {
  const auto outside =
      std::find_if(stack.begin(), stack.end(), [](void* frame) { return !InsideSystem(reinterpret_cast<uintptr_t>(frame)); });
  const auto from = outside == stack.end() ? stack.begin() : outside;
  const auto [at, added] = numbers_.try_emplace(reinterpret_cast<uintptr_t>(*from), static_cast<uint32_t>(all_.size()));
  const auto site = reinterpret_cast<uintptr_t>(*from);
  if (added)
    all_.push_back(
        {"host code", site, InsideTarget(site), "", GetOptions().stacks ? std::vector<void*>(from, stack.end()) : std::vector<void*>{}});
  return at->second;
}

}  // namespace ropeway::check
