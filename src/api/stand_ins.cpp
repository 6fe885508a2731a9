#include "api/stand_ins.h"

#include "api/checks.h"
#include "profile/markers.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// So much of a name is shown in texts.
constexpr int kShownName = 128;

}  // namespace

StandIns& StandIns::All() {
  static auto* all = new StandIns;
  return *all;
}

StandIn StandIns::Find(std::string_view name) {
  ropewayKernelFunc function;
  {
    LockGuard lock(mutex);
    const auto it = kernels.find(name);
    if (it == kernels.end()) return {};
    function = it->second;
  }
  return {LastingText(name), function};
}

bool StandIns::any() {
  LockGuard lock(mutex);
  return !kernels.empty();
}

Status UnknownKernel(const char* name) {
  StandIns& all = StandIns::All();
  std::string some;
  {
    LockGuard lock(all.mutex);
    for (const auto& [known, function] : all.kernels) {
      if (some.size() > kShownName) {
        some += ", ...";
        break;
      }
      some += (some.empty() ? "" : ", ") + known;
    }
  }
  return Fail(ACL_ERROR_RT_KERNEL_LOOKUP, "kernel %.*s has no stand-in: register a host function by ropewayRegisterKernel (there %s%s)",
              kShownName, name, some.empty() ? "is none so far" : "are ", some.c_str());
}

}  // namespace ropeway::api

aclError ropewayRegisterKernel(const char* name, ropewayKernelFunc function) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("name", name));
    if (*name == '\0') return Reject(ACL_ERROR_INVALID_PARAM, "name is empty");
    StandIns& all = StandIns::All();
    LockGuard lock(all.mutex);
    if (function == nullptr) {
      if (all.kernels.erase(name) != 0) return Ok();
      return Reject(ACL_ERROR_KERNEL_NOT_FOUND, "kernel %.*s has no stand-in that could be taken back", kShownName, name);
    }
    const auto [it, added] = all.kernels.try_emplace(name, function);
    if (added || it->second == function) return Ok();
    return Reject(ACL_ERROR_KERNEL_ALREADY_REGISTERED, "kernel %.*s has another stand-in; take that back first (function NULL)", kShownName,
                  name);
  });
}
