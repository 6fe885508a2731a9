/*
 * hccl::P2PMgmtPub: leave for the current device to reach the memory of others. C++.
 */
#ifndef RW_P2P_MGMT_PUB_H
#define RW_P2P_MGMT_PUB_H

#include <functional>
#include <vector>

#include "hccl_common.h"

namespace hccl {

/*
 * Physical ids. Counted: access ends with the last Disable. The device itself may be among the ids. An id that is no device is
 * HCCL_E_PARA; without a current device, or when the runtime refuses, HCCL_E_RUNTIME. What was enabled before the failing id
 * is taken back.
 */
class RW_API P2PMgmtPub {
   public:
    static HcclResult EnableP2P(std::vector<uint32_t> remoteDevices);
    static HcclResult DisableP2P(std::vector<uint32_t> remoteDevices);
    /* Returns when the access works: HCCL_E_NOT_FOUND for a device that nobody enabled, HCCL_E_AGAIN when needStop says so. */
    static HcclResult WaitP2PEnabled(
        std::vector<uint32_t> remoteDevices, std::function<bool()> needStop = [] { return false; });
};

}  // namespace hccl

#endif /* RW_P2P_MGMT_PUB_H */
