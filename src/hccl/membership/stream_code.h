// What a failed operation between ranks does to its stream. The runtime has two codes for it: one for a link, one for
// the far side.
#pragma once

#include "acl/acl_base.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

constexpr aclError kStreamLinkError = 507056;    // ACL_ERROR_RT_LINK_ERROR
constexpr aclError kStreamRemoteError = 507057;  // ACL_ERROR_RT_SUSPECT_REMOTE_ERROR
constexpr aclError kStreamLocalError = 507899;   // ACL_ERROR_RT_DRV_INTERNAL_ERROR

constexpr aclError StreamCode(HcclResult result) {
  switch (result) {
    case HCCL_SUCCESS: return 0;
    case HCCL_E_TCP_CONNECT:
    case HCCL_E_TCP_TRANSFER:
    case HCCL_E_ROCE_CONNECT:
    case HCCL_E_ROCE_TRANSFER:
    case HCCL_E_NETWORK: return kStreamLinkError;
    case HCCL_E_REMOTE:
    case HCCL_E_TIMEOUT: return kStreamRemoteError;
    default: return kStreamLocalError;
  }
}

}  // namespace ropeway::comm
