// Numbers that describe a device, as an Ascend910B1 has them. No kernel runs here, so they only inform.
#pragma once

#include <cstdint>
#include <optional>

#include "acl/acl_rt.h"
#include "base/status.h"

namespace ropeway::api {

inline constexpr uint32_t kCubeCores = 24;
inline constexpr uint32_t kVectorCores = 48;
inline constexpr int64_t kL2Bytes = int64_t{192} << 20;

// The physical id of the device that is asked about; 107000 for one that is not visible, unlike most calls.
Result<int> FindAskedDevice(uint32_t deviceId);

// An attribute of a device by its physical id; nothing for attributes that this product does not have.
std::optional<int64_t> DeviceAttribute(int physical_id, aclrtDevAttr attr);

}  // namespace ropeway::api
