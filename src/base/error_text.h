// What aclGetRecentErrMsg says of a failure, in a shape that readers of such texts know: family, process, time, name of the code, call and
// cause.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace ropeway {

constexpr size_t kErrorTextSize = 1536;

struct ErrorFamily {
  const char* id;       // "EE1001"
  const char* symbol;   // of the code
  const char* meaning;  // told where the failure says nothing itself
};
void ComposeErrorText(const ErrorFamily& family, const char* call, const Status& status, char (&text)[kErrorTextSize]);

}  // namespace ropeway
