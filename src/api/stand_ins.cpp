#include "api/stand_ins.h"

#include "api/checks.h"
#include "profile/markers.h"
#include "ropeway/operator.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// So much of a name is shown in texts.
constexpr int kShownName = 128;

// With the names that there are, as many as are of use.
template <typename Names>
Status Unknown(const char* what, const char* name, const char* maker, int code, const Names& names) {
  std::string some;
  for (const auto& known : names) {
    if (some.size() > kShownName) {
      some += ", ...";
      break;
    }
    some += (some.empty() ? "" : ", ") + known.first;
  }
  return Fail(code, "%s %.*s has no stand-in: register a host function by %s (there %s%s)", what, kShownName, name, maker,
              some.empty() ? "is none so far" : "are ", some.c_str());
}

// `is_same`: whether what has the name already is what is to have it.
template <typename Names, typename Value, typename Same>
Status Register(const char* what, const char* name, bool add, const Value& value, Names& names, Same&& is_same) {
  if (!add) {
    if (names.erase(name) != 0) return Ok();
    return Reject(ACL_ERROR_KERNEL_NOT_FOUND, "%s %.*s has no stand-in that could be taken back", what, kShownName, name);
  }
  const auto [it, added] = names.try_emplace(name, value);
  if (added || is_same(it->second)) return Ok();
  return Reject(ACL_ERROR_KERNEL_ALREADY_REGISTERED, "%s %.*s has another stand-in; take that back first (function NULL)", what, kShownName,
                name);
}

Status RequireName(const char* name) {
  RW_TRY(RequirePointer("name", name));
  return *name != '\0' ? Ok() : Reject(ACL_ERROR_INVALID_PARAM, "name is empty");
}

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

std::optional<StandIns::Parameters> StandIns::FindParameters(std::string_view name) {
  LockGuard lock(mutex);
  const auto it = parameters.find(name);
  return it == parameters.end() ? std::nullopt : std::optional(it->second);
}

bool StandIns::any() {
  LockGuard lock(mutex);
  return !kernels.empty();
}

Status UnknownKernel(const char* name) {
  StandIns& all = StandIns::All();
  LockGuard lock(all.mutex);
  return Unknown("kernel", name, "ropewayRegisterKernel", ACL_ERROR_RT_KERNEL_LOOKUP, all.kernels);
}

Status UnknownOperator(const char* name) {
  StandIns& all = StandIns::All();
  LockGuard lock(all.mutex);
  return Unknown("operator", name, "ropewayRegisterOperator", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, all.operators);
}

}  // namespace ropeway::api

aclError ropewayRegisterKernel(const char* name, ropewayKernelFunc function) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireName(name));
    StandIns& all = StandIns::All();
    LockGuard lock(all.mutex);
    if (function == nullptr) all.parameters.erase(name);
    return Register("kernel", name, function != nullptr, function, all.kernels, [&](ropewayKernelFunc old) { return old == function; });
  });
}

aclError ropewayDescribeKernel(const char* name, const ropewayKernelParameter* parameters, size_t count) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireName(name));
    if (count > 0) RW_TRY(RequirePointer("parameters", parameters));
    StandIns::Parameters described(parameters, parameters + count);
    for (const ropewayKernelParameter& one : described) {
      const bool aligned = one.alignment == 1 || one.alignment == 2 || one.alignment == 4 || one.alignment == 8;
      if (one.size == 0 || !aligned)
        return Reject(ACL_ERROR_INVALID_PARAM,
                      "a parameter of %zu bytes, aligned to %zu, cannot be: sizes are not 0, alignments 1, 2, 4 or 8", one.size,
                      one.alignment);
    }
    StandIns& all = StandIns::All();
    LockGuard lock(all.mutex);
    if (!all.kernels.contains(name))
      return Reject(ACL_ERROR_KERNEL_NOT_FOUND, "kernel %.*s has no stand-in that could be described", kShownName, name);
    all.parameters[name] = std::move(described);
    return Ok();
  });
}

aclError ropewayRegisterOperator(const char* name, ropewayKernelFunc function, uint64_t workspaceSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireName(name));
    StandIns& all = StandIns::All();
    LockGuard lock(all.mutex);
    const StandIns::Operator made{function, workspaceSize};
    return Register("operator", name, function != nullptr, made, all.operators,
                    [&](const StandIns::Operator& old) { return old.function == function && old.workspace_size == workspaceSize; });
  });
}
