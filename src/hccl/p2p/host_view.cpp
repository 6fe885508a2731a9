#include "hccl/p2p/host_view.h"

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

Result<void*> HostViewOf(const void* buffer, uint64_t bytes) {
  void* view = nullptr;
  const aclError code = ropewayHostView(const_cast<void*>(buffer), bytes, &view);
  if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    aclGetRecentErrMsg();
  } else if (code != ACL_SUCCESS) {
    return Fail(HCCL_E_PARA, "[%p, + %lu bytes) is not inside one block of device memory: allocate it with aclrtMalloc", buffer, bytes);
  }
  return view;
}

}  // namespace ropeway::comm
