// How functions of this folder say no. Each makes the argument checks that the original makes, in its order, and then
// answers 207000 with a text that says what to use instead, or that the feature is not there yet. Never a silent
// success. docs/coverage.md lists what is defined here as "refuses".
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "api/entry.h"

namespace ropeway::api {

// The answer behind the checks. `why` is a whole sentence; the entry point puts the call's name in front.
inline Status NotSupported(const char* why) { return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

// The same for event, stream and capture calls, whose 207000 aclrtGetLastError must not show (runtime.md 9.2).
inline Status NotSupportedQuietly(const char* why) { return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

struct Argument {
  const char* name;
  const void* pointer;
};

inline Status RequirePointers(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) RW_TRY(RequirePointer(argument.name, argument.pointer));
  return Ok();
}

// For the many functions whose only check is that pointers are not null.
inline aclError Refuse(const char* call, const char* why, std::initializer_list<Argument> required = {}) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointers(required));
    return NotSupported(why);
  });
}

// For functions that return a pointer: the refusal is filed, and the caller gets null.
inline std::nullptr_t RefuseWithNull(const char* call, const char* why) {
  static_cast<void>(Refuse(call, why));
  return nullptr;
}

template <typename Return, typename... Arguments>
const void* AddressOf(Return (*function)(Arguments...)) {
  return reinterpret_cast<const void*>(function);
}

// --- Checks. The layer decides the code: 100000 from the outer one, 107000 from the runtime
// ------------------------------

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
  return layer == Layer::kOuter ? Reject(ACL_ERROR_INVALID_PARAM, kText, name)
                                : Fail(ACL_ERROR_RT_PARAM_INVALID, kText, name);
}

// Flags and reserved numbers.
inline Status RequireZero(Layer layer, const char* name, uint64_t value) {
  if (value == 0) return Ok();
  constexpr const char* kText = "%s is 0x%llx, but it must be 0";
  const auto v = static_cast<unsigned long long>(value);
  return layer == Layer::kOuter ? Reject(ACL_ERROR_INVALID_PARAM, kText, name, v)
                                : Fail(ACL_ERROR_RT_PARAM_INVALID, kText, name, v);
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

// 107017 for what is not a live stream; null means the default stream and passes.
inline Status RequireLiveStream(aclrtStream stream) { return FindStream(stream).status(); }

}  // namespace ropeway::api
