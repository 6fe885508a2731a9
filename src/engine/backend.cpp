#include "engine/backend.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace ropeway {
namespace {

constexpr int kHostFault = 507052;  // ACL_ERROR_RT_COPY_DATA

bool Within(const void* address, const void* begin, size_t extent) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(begin) < extent;
}

// Not one of those that a process can have memory at; the processor does not tell them.
bool IsImpossible(const void* address) { return reinterpret_cast<uintptr_t>(address) >> 47 != 0; }

}  // namespace

int Explain(TaskFailure* failure, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(failure->text, sizeof(failure->text), format, arguments);
  va_end(arguments);
  return failure->code = code;
}

bool MayFaultAt(const TouchedRange& touched, const void* fault) {
  if (fault == nullptr) return IsImpossible(touched.dst) || IsImpossible(touched.src);
  return Within(fault, touched.dst, touched.dst_extent) || Within(fault, touched.src, touched.src_extent);
}

int ExplainImpossible(TaskFailure* failure, const Task& task) {
  if (task.fail.address == nullptr) return Explain(failure, task.fail.code, "a rule of ROPEWAY_FAULTS makes it fail");
  return Explain(failure, task.fail.code, "address %p is not device memory; a device-to-device copy needs device memory on both sides",
                 task.fail.address);
}

int ExplainFault(TaskFailure* failure, const void* fault, const TouchedRange& touched) {
  if (fault == nullptr) fault = IsImpossible(touched.dst) ? touched.dst : touched.src;
  const bool write = Within(fault, touched.dst, touched.dst_extent);
  const void* const begin = write ? touched.dst : touched.src;
  // Memory is there or not by pages, and a kernel need not begin with the first byte of one.
  const auto page = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(fault) & ~uintptr_t{4095});
  return Explain(failure, kHostFault, "host memory at %p cannot be %s; the task %s [%p, +%zu). Bytes in front of it may have moved",
                 std::max(page, begin), write ? "written: it is not mapped, or read-only" : "read: it is not mapped",
                 write ? "writes" : "reads", begin, write ? touched.dst_extent : touched.src_extent);
}

}  // namespace ropeway
