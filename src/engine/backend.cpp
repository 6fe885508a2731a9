#include "engine/backend.h"

#include <cstdarg>
#include <cstdio>

namespace ropeway {

int Explain(TaskFailure* failure, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof(failure->text), format, arguments);
  va_end(arguments);
  return failure->code = code;
}

}  // namespace ropeway
