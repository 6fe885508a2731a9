// Numbers that describe a device, as an Ascend910B1 has them. No kernel runs here, so they only inform.
#pragma once

#include <cstdint>
#include <optional>

#include "acl/acl_rt.h"

namespace ropeway::api {

inline constexpr uint32_t kCubeCores = 24;
inline constexpr uint32_t kVectorCores = 48;
inline constexpr int64_t kL2Bytes = int64_t{192} << 20;

// An attribute of a device by its physical id; nothing for attributes that this product does not have.
std::optional<int64_t> DeviceAttribute(int physical_id, aclrtDevAttr attr);

}  // namespace ropeway::api
