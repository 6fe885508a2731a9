#include "hccl/base/result.h"

#include <pthread.h>
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

void InForkedChild() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) g_use.store(Use::kForked, std::memory_order_relaxed);
}

// A thread's text registers a destructor when it is first used, and the loader's lock for that may be held in a child.
[[gnu::constructor]] void WatchForks() {
  pthread_atfork([] { Pending(); }, nullptr, &InForkedChild);
}

}  // namespace

constinit std::atomic<Use> g_use{Use::kNone};

Status BeginUse() {
  RW_TRY(FromRuntime("ropewayRequireUsable", ropewayRequireUsable()));
  if (g_use.load(std::memory_order_relaxed) == Use::kForked)
    return Fail(HCCL_E_RUNTIME, "this process was forked from one that had used libhccl; fork before its first call, or exec");
  g_use.store(Use::kInUse);  // visible before any lock of this library is
  return Ok();
}

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
