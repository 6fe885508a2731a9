#include "check/host_wait.h"

namespace ropeway::check {

bool HasWaited(aclError code) {
  switch (code) {
    case ACL_ERROR_RT_PARAM_INVALID:
    case ACL_ERROR_RT_CONTEXT_NULL:
    case ACL_ERROR_INVALID_PARAM:
    case 107017:  // a handle that is none
    case 107023:  // aborted
    case 107027:  // captured
    case 507046:  // took longer than the limit
      return false;
    default: return true;
  }
}

}  // namespace ropeway::check
