// How functions of this folder say no. Each makes the argument checks that the original makes, in its order, and then
// answers 207000 with a text that says what to use instead, or that the feature is not there yet. Never a silent
// success. docs/coverage.md lists what is defined here as "refuses".
#pragma once

#include <cstddef>
#include <initializer_list>

#include "api/checks.h"

namespace ropeway::api {

// The answer behind the checks. `why` is a whole sentence; the entry point puts the call's name in front.
inline Status NotSupported(const char* why) { return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

// The same for event, stream and capture calls, whose 207000 aclrtGetLastError must not show (runtime.md 9.2).
inline Status NotSupportedQuietly(const char* why) { return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

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

}  // namespace ropeway::api
