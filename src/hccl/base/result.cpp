#include "hccl/base/result.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <exception>
#include <new>
#include <string>

#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// The text of the failure that is on its way up.
std::string& Pending() {
  thread_local std::string text;
  return text;
}

}  // namespace

Status Fail(HcclResult code, const char* format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  Pending() = buffer;
  return Status(code);
}

Status RuntimeRefused(const char* runtime_call, aclError code) {
  return Fail(HCCL_E_RUNTIME, "%s answered %d; its own message follows", runtime_call, code);
}

Status FromException() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Fail(HCCL_E_MEMORY, "host memory is exhausted");
  } catch (const std::exception& error) {
    return Fail(HCCL_E_INTERNAL, "%s", error.what());
  } catch (...) {
    return Fail(HCCL_E_INTERNAL, "an unknown exception ended the call");
  }
}

// EI is the family of texts that readers know from this library; the rest of the head is like the runtime's.
HcclResult FileFailure(const char* call, Status status) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char head[160];
  snprintf(head, sizeof(head), "EI0001: [PID: %d] %lld.%03ld %s (%d)\n        ", getpid(), static_cast<long long>(now.tv_sec),
           now.tv_nsec / 1000000, ResultName(status.code()), status.code());
  const std::string what = std::exchange(Pending(), std::string());
  ropewayFileErrorText((std::string(head) + call + ": " + (what.empty() ? ResultMeaning(status.code()) : what) + "\n").c_str());
  return status.code();
}

}  // namespace ropeway::comm
