// The shape of every function of libhccl.so: a Status whose code is a HcclResult, filed for aclGetRecentErrMsg where it leaves the library.
#pragma once

#include <atomic>

#include "acl/acl_base.h"
#include "base/faults.h"
#include "base/race_detector.h"
#include "base/status.h"
#include "hccl/base/told.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

// For the functions of the interface, which stand in no namespace.
using ropeway::Fail;
using ropeway::Ok;
using ropeway::Result;
using ropeway::Status;

// What a call of the runtime answered: HCCL_E_RUNTIME with the runtime's number; its text is filed already.
[[gnu::cold]] Status RuntimeRefused(const char* runtime_call, aclError code);
inline Status FromRuntime(const char* runtime_call, aclError code) {
  if (code == 0) [[likely]]
    return Ok();
  return RuntimeRefused(runtime_call, code);
}

inline Status RequirePointer(const char* name, const void* pointer) {
  if (pointer != nullptr) [[likely]]
    return Ok();
  return Fail(HCCL_E_PTR, "%s is NULL", name);
}

// --- Forked children ----------------------------------------------------------------------------------------------------

// A child's I/O thread and connections stay with its parent, and so do the runtime's devices. One that was forked when either was
// in use is refused before a call touches anything; one that was forked earlier begins afresh.
enum class Use : unsigned char { kNone, kInUse, kForked };
extern constinit std::atomic<Use> g_use;
// The first call of a process, or any of a child that is refused: HCCL_E_RUNTIME.
[[gnu::cold]] Status BeginUse();

// In front of everything that takes a lock.
inline Status RequireOwnProcess() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) [[likely]]
    return Ok();
  return BeginUse();
}

// What a rule of ROPEWAY_FAULTS answers for a call.
[[gnu::cold]] Status StrikeCall(const char* call);

// --- Entry --------------------------------------------------------------------------------------------------------------

// Files the text of a failure and returns its code.
[[gnu::cold]] HcclResult FileFailure(const char* call, const Status& status, const void* caller);

// The body of every API function: no exception leaves it, and a failure's text is filed under the call's name. A forked child is
// refused here. Inlined, as is everything between it and the function of the API: where that returns to is where the program called.
template <typename Body>
[[gnu::always_inline]] inline HcclResult Entry(const char* call, Body&& body) noexcept {
  const race_detector::OurCode ours;
  const InsideCall inside(call, __builtin_return_address(0));
  Status status;
  try {
    status = RequireOwnProcess();
    if (FaultsAreOn() && status.ok()) [[unlikely]]
      status = StrikeCall(call);
    if (status.ok()) [[likely]]
      status = body();
  } catch (...) {
    status = FromException(HCCL_E_MEMORY, HCCL_E_INTERNAL);
  }
  if (status.ok()) [[likely]]
    return HCCL_SUCCESS;
  return FileFailure(call, status, __builtin_return_address(0));
}

// "HCCL_E_PARA", or "HCCL_E_RESERVED" for a number that is no result.
const char* ResultName(HcclResult code);
const char* ResultMeaning(HcclResult code);

}  // namespace ropeway::comm
