// Checks of arguments that many calls make, each with a text that names the argument, its value and the limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "api/entry.h"

namespace ropeway::api {

struct Argument {
  const char* name;
  const void* pointer;
};

inline Status RequirePointers(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) RW_TRY(RequirePointer(argument.name, argument.pointer));
  return Ok();
}

// The layer decides the code: 100000 from the outer one, 107000 from the runtime.
enum class Layer { kOuter, kRuntime };

inline Status RequireRange(Layer layer, const char* name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return Ok();
  constexpr const char* kText = "%s %lld is not in %lld..%lld";
  const auto v = static_cast<long long>(value), from = static_cast<long long>(least), to = static_cast<long long>(most);
  return layer == Layer::kOuter ? Reject(ACL_ERROR_INVALID_PARAM, kText, name, v, from, to)
                                : Fail(ACL_ERROR_RT_PARAM_INVALID, kText, name, v, from, to);
}

// Sizes and counts, which may not be 0.
inline Status RequireSome(Layer layer, const char* name, uint64_t value) {
  if (value != 0) return Ok();
  constexpr const char* kText = "%s is 0, and there is nothing to do";
  return layer == Layer::kOuter ? Reject(ACL_ERROR_INVALID_PARAM, kText, name) : Fail(ACL_ERROR_RT_PARAM_INVALID, kText, name);
}

// Flags and reserved numbers.
inline Status RequireZero(Layer layer, const char* name, uint64_t value) {
  if (value == 0) return Ok();
  constexpr const char* kText = "%s is 0x%llx, but it must be 0";
  const auto v = static_cast<unsigned long long>(value);
  return layer == Layer::kOuter ? Reject(ACL_ERROR_INVALID_PARAM, kText, name, v) : Fail(ACL_ERROR_RT_PARAM_INVALID, kText, name, v);
}

inline Status RequireNull(const char* name, const void* pointer) {
  if (pointer == nullptr) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "%s is %p, but it must be NULL", name, pointer);
}

// A null that only the runtime layer notices.
inline Status RequireRuntimePointer(const char* name, const void* pointer) {
  if (pointer != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL", name);
}

// What a free says of an address that it does not take.
inline Status RefuseFree(Runtime* runtime, const char* name, const void* address) {
  RW_TRY(Runtime::RequireUsable());
  if (runtime != nullptr) return runtime->memory().ExplainNoBlock(name, address);
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is no block of this library: nothing was allocated yet", name, address);
}

// 107017 for what is not a live stream; null means the default stream and passes.
inline Status RequireLiveStream(aclrtStream stream) { return FindStream(stream).status(); }

}  // namespace ropeway::api
