// The shape of every call of the transfer engine: a Status whose code is the interface's, filed for aclGetRecentErrMsg where it leaves.
#pragma once

#include <atomic>

#include "acl/acl_rt.h"
#include "base/race_detector.h"
#include "base/status.h"
#include "hccl/base/told.h"

namespace ropeway::transfer {

enum Code : int {
  kParamInvalid = 103900,
  kTimeout = 103901,
  kNotConnected = 103902,
  kAlreadyConnected = 103903,
  kExhausted = 203900,
  kFailed = 503900,
};
const char* CodeName(int code);

// What a call of the runtime answered: FAILED with the runtime's number; its text is filed already.
inline Status FromRuntime(const char* runtime_call, aclError code) {
  if (code == ACL_SUCCESS) [[likely]]
    return Ok();
  return Fail(kFailed, "%s answered %d; its own message follows", runtime_call, code);
}

// A child's threads and connections stay with its parent: one that was forked when either was in use is refused.
Status RequireOwnProcess();

[[gnu::cold]] uint32_t FileFailure(const char* call, const Status& status, const void* caller);

// The body of every function: no exception leaves it, and a failure's text is filed under the call's name.
template <typename Body>
uint32_t Entry(const char* call, const void* caller, Body&& body) noexcept {
  const race_detector::OurCode ours;
  const comm::InsideCall inside(call, caller);
  Status status;
  try {
    status = RequireOwnProcess();
    if (status.ok()) [[likely]]
      status = body();
  } catch (...) {
    status = FromException(kExhausted, kFailed);
  }
  if (status.ok()) [[likely]]
    return 0;
  return FileFailure(call, status, caller);
}

}  // namespace ropeway::transfer
