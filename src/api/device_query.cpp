// What a program can ask about devices, and the settings of devices that only device code would feel
// (rules/devices.md 2, 4, 6). Ids and names of devices are in device_identity.cpp.
#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

#include "api/device_facts.h"
#include "api/entry.h"
#include "runtime/device_limits.h"
#include "runtime/state_callbacks.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uint32_t kLongestAbortMs = 36 * 60 * 1000;
constexpr uint32_t kMeshSize = 8;  // devices of one server that are linked with each other directly

// By physical id. A2 begins with infinity and NaN.
std::array<std::atomic<bool>, kMaxDevices> g_saturates{};

Status RequireLimit(aclrtDeviceLimit limit) {
  if (static_cast<uint32_t>(limit) > ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE)
    return Reject(ACL_ERROR_INVALID_PARAM, "limit %d is not in 0..%d", static_cast<int>(limit),
                  static_cast<int>(ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE));
  return Ok();
}

Status RequireSupportedLimit(aclrtDeviceLimit limit) {
  if (DeviceLimitSupported(limit)) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "limit %d belongs to SIMT units, which %s does not have", static_cast<int>(limit),
              GetConfig().soc_name.c_str());
}

// Which operations are atomic. Nothing that runs here can issue one, so none is.
Status AnswerAtomics(uint32_t* capabilities, const aclrtAtomicOperation* operations, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (static_cast<uint32_t>(operations[i]) > ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "operations[%u] %d is not in 0..%d", i, static_cast<int>(operations[i]),
                  static_cast<int>(ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH));
  }
  std::fill_n(capabilities, count, 0u);
  return Ok();
}

Status RequireAtomicArrays(const uint32_t* capabilities, const aclrtAtomicOperation* operations, uint32_t count) {
  RW_TRY(RequirePointer("capabilities", capabilities));
  RW_TRY(RequirePointer("operations", operations));
  if (count == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "count is 0");
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetDeviceCount(uint32_t* count) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("count", count));
    RW_TRY(Runtime::RequireEngine());
    const int visible = Runtime::VisibleCount();
    if (visible == 0)
      return Fail(ACL_ERROR_RT_NO_DEVICE, "ASCEND_RT_VISIBLE_DEVICES leaves no device visible; it wants rising ids such as 0,1,3");
    *count = static_cast<uint32_t>(visible);
    return Ok();
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("runMode", runMode));
    *runMode = ACL_HOST;
    return Ok();
  });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("deviceStatus", deviceStatus));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return Ok();
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY_SET(int device, FindAskedDevice(deviceId));
    const std::optional<int64_t> found = DeviceAttribute(device, attr);
    if (!found && (attr == ACL_DEV_ATTR_HD_CONNECT_TYPE || attr == ACL_DEV_ATTR_DEVICE_FORM_FACTOR))
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s does not tell attribute %d", GetConfig().soc_name.c_str(), static_cast<int>(attr));
    if (!found) return Fail(ACL_ERROR_RT_PARAM_INVALID, "attr %d is not a device attribute", static_cast<int>(attr));
    *value = *found;
    return Ok();
  });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV && devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "devFeatureType %d is not a feature; they are 1 and 21", static_cast<int>(devFeatureType));
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;  // both are about kernels and queues
    return Ok();
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    if (deviceId >= static_cast<uint32_t>(Runtime::VisibleCount()))
      return Reject(ACL_ERROR_INVALID_PARAM, "deviceId %u is not one of the %d visible devices", deviceId, Runtime::VisibleCount());
    static constexpr int64_t kValues[] = {kCubeCores, kVectorCores, kL2Bytes};  // in the order of the enum
    const auto index = static_cast<uint32_t>(deviceInfo);
    if (index >= std::size(kValues)) return Reject(ACL_ERROR_INVALID_PARAM, "deviceInfo %d is not in 0..2", static_cast<int>(deviceInfo));
    *value = kValues[index];
    return Ok();
  });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("utilizationInfo", utilizationInfo));
    if (utilizationInfo->utilizationExtend != nullptr)
      return Reject(ACL_ERROR_INVALID_PARAM, "utilizationInfo->utilizationExtend is reserved and must be NULL");
    // Cores that run nothing are idle; a device that does not exist is not an error here.
    const int32_t rate = Runtime::PhysicalId(deviceId) < 0 ? -1 : 0;
    *utilizationInfo = {rate, rate, rate, -1, nullptr};
    return Ok();
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  return PlainEntry(__func__, [&]() -> Status {
    if (leastPriority != nullptr) *leastPriority = 7;
    if (greatestPriority != nullptr) *greatestPriority = 0;
    return Ok();
  });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return Entry(__func__, [&]() -> Status {
    if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR)
      return Reject(ACL_ERROR_INVALID_PARAM, "tsId %d is neither 0 nor 1", static_cast<int>(tsId));
    return Ok();
  });
}

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireLimit(limit));
    if (value > UINT32_MAX) return Reject(ACL_ERROR_INVALID_PARAM, "value %zu does not fit 32 bits", value);
    RW_TRY(RequireSupportedLimit(limit));
    SetDeviceLimit(limit, value);
    return Ok();
  });
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(RequireLimit(limit));
    RW_TRY(RequireSupportedLimit(limit));
    *value = GetDeviceLimit(limit);
    return Ok();
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return Entry(__func__, [&]() -> Status {
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "mode %d is neither saturation (0) nor infinity and NaN (1)", static_cast<int>(mode));
    RW_TRY_SET(Context * context, CurrentContext());
    g_saturates[static_cast<size_t>(context->device())] = mode == ACL_RT_OVERFLOW_MODE_SATURATION;
    return Ok();
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("mode", mode));
    RW_TRY_SET(Context * context, CurrentContext());
    const bool saturates = g_saturates[static_cast<size_t>(context->device())];
    *mode = saturates ? ACL_RT_OVERFLOW_MODE_SATURATION : ACL_RT_OVERFLOW_MODE_INFNAN;
    return Ok();
  });
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY_SET(int one, FindDevice("deviceId", deviceId));
    RW_TRY_SET(int other, FindDevice("otherDeviceId", otherDeviceId));
    const bool same_server = static_cast<uint32_t>(one) / kMeshSize == static_cast<uint32_t>(other) / kMeshSize;
    *value = same_server ? ACL_RT_DEVS_TOPOLOGY_HCCS : ACL_RT_DEVS_TOPOLOGY_SYS;
    return Ok();
  });
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
                                              int32_t deviceId) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireAtomicArrays(capabilities, operations, count));
    RW_TRY(FindDevice("deviceId", deviceId).status());
    return AnswerAtomics(capabilities, operations, count);
  });
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities, const aclrtAtomicOperation* operations, const uint32_t count,
                                             int32_t srcDeviceId, int32_t dstDeviceId) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireAtomicArrays(capabilities, operations, count));
    RW_TRY(FindDevice("srcDeviceId", srcDeviceId).status());
    RW_TRY(FindDevice("dstDeviceId", dstDeviceId).status());
    return AnswerAtomics(capabilities, operations, count);
  });
}

aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback, void* args) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("regName", regName));
    return RegisterDeviceState(regName, callback, args);
  });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback, void* args) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("regName", regName));
    return RegisterStreamState(regName, callback, args);
  });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback, void* args) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("regName", regName));
    return RegisterTaskAbort(regName, callback, args);
  });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    if (timeout > kLongestAbortMs)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "timeout %u ms is more than %u ms (36 minutes)", timeout, kLongestAbortMs);
    RW_TRY_SET(Device * device, Runtime::BringUp(deviceId));
    return device->AbortTasks(timeout);
  });
}
