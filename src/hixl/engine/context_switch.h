// The engine's own context is current in a scope; behind it the caller's is again.
#pragma once

#include "acl/acl.h"

namespace ropeway::transfer {

class ContextSwitch {
 public:
  explicit ContextSwitch(aclrtContext own) {
    // A thread without a context is left with the engine's: there is no way back to none.
    if (aclrtGetCurrentContext(&callers_) != ACL_SUCCESS) aclGetRecentErrMsg();
    if (callers_ != own) aclrtSetCurrentContext(own);
  }
  ~ContextSwitch() {
    if (callers_ != nullptr) aclrtSetCurrentContext(callers_);
  }
  ContextSwitch(const ContextSwitch&) = delete;
  ContextSwitch& operator=(const ContextSwitch&) = delete;

 private:
  aclrtContext callers_ = nullptr;
};

}  // namespace ropeway::transfer
