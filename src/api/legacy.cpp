// Names that live on beside their successors: six of the eleven rt names of legacy.h (the other five are refused, see
// refused/ipc.cpp), the older spelling of the report functions (rules/callbacks.md 3), and streams made from a configuration
// (rules/streams.md 1). Each stands for a function that is defined elsewhere.
#include "api/legacy.h"

#include <memory>
#include <unordered_set>

#include "api/device_facts.h"
#include "api/entry.h"
#include "base/mutex.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// --- rtGetDeviceInfo: pairs of module and kind, as the driver numbers them
// -----------------------------------------------

struct DeviceFact {
  int32_t module;
  int32_t kind;
  int64_t (*read)(int physical_id);
};

template <aclrtDevAttr kAttribute>
int64_t Attribute(int physical_id) {
  return DeviceAttribute(physical_id, kAttribute).value_or(0);
}

int64_t AddressMode(int) { return ThisProduct().unified_addresses ? 1 : 0; }

constexpr int32_t kSystem = 0, kAiCpu = 1, kAiCore = 4, kVectorCore = 7;
constexpr int32_t kCoreCount = 3, kPhysicalChip = 18, kPhysicalDie = 19, kSuperPodDevice = 26, kServer = 27, kSuperPod = 29,
                  kAddressMode = 30;
constexpr DeviceFact kDeviceFacts[] = {
    {kAiCpu, kCoreCount, &Attribute<ACL_DEV_ATTR_AICPU_CORE_NUM>},
    {kAiCore, kCoreCount, &Attribute<ACL_DEV_ATTR_AICORE_CORE_NUM>},
    {kVectorCore, kCoreCount, &Attribute<ACL_DEV_ATTR_VECTOR_CORE_NUM>},
    {kSystem, kPhysicalChip, &Attribute<ACL_DEV_ATTR_PHY_CHIP_ID>},
    {kSystem, kPhysicalDie, &Attribute<ACL_DEV_ATTR_PHY_CHIP_ID>},  // a device is one die
    {kSystem, kSuperPodDevice, &Attribute<ACL_DEV_ATTR_SUPER_POD_DEVICE_ID>},
    {kSystem, kServer, &Attribute<ACL_DEV_ATTR_SUPER_POD_SERVER_ID>},
    {kSystem, kSuperPod, &Attribute<ACL_DEV_ATTR_SUPER_POD_ID>},
    {kSystem, kAddressMode, &AddressMode},
};

Result<const DeviceFact*> FindFact(int32_t moduleType, int32_t infoType) {
  for (const DeviceFact& fact : kDeviceFacts) {
    if (fact.module == moduleType && fact.kind == infoType) return &fact;
  }
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "module %d has no information of kind %d here; aclrtGetDeviceInfo knows more", moduleType,
              infoType);
}

// --- Peer access between two named devices
// -------------------------------------------------------------------------------

Status SetAccess(uint32_t devIdDes, uint32_t phyIdSrc, bool on) {
  if (phyIdSrc >= static_cast<uint32_t>(ThisMachine().devices))
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "phyIdSrc %u is not one of the %d devices of this machine", phyIdSrc, ThisMachine().devices);
  RW_TRY(FindDevice("devIdDes", devIdDes).status());
  RW_TRY_SET(Device * device, Runtime::BringUp(static_cast<int>(devIdDes)));
  if (device->id() == static_cast<int>(phyIdSrc))
    return Reject(ACL_ERROR_INVALID_PARAM, "devIdDes %u and phyIdSrc %u are the same device", devIdDes, phyIdSrc);
  device->SetPeer(static_cast<int>(phyIdSrc), on);
  return Ok();
}

// --- Stream configurations: public structures, of which only those that we made may be destroyed
// ------------------------

struct StreamConfigs {
  Mutex mutex{LockRank::kStreamConfigs};
  std::unordered_set<aclrtStreamConfigHandle*> alive RW_GUARDED_BY(mutex);
};

// Never destroyed: calls come from static destructors, too.
StreamConfigs& Configs() {
  static auto* configs = new StreamConfigs;
  return *configs;
}

template <typename T>
Status SetField(T* field, const void* value, size_t valueSize) {
  if (valueSize != sizeof(T))
    return Reject(ACL_ERROR_INVALID_PARAM, "valueSize %zu does not fit this attribute, which takes %zu bytes", valueSize, sizeof(T));
  *field = *static_cast<const T*>(value);
  return Ok();
}

Status SetOption(aclrtStreamConfigHandle& config, aclrtStreamConfigAttr attr, const void* value, size_t valueSize) {
  switch (attr) {
    case ACL_RT_STREAM_WORK_ADDR_PTR: return SetField(&config.workptr, value, valueSize);
    case ACL_RT_STREAM_WORK_SIZE: return SetField(&config.workSize, value, valueSize);
    case ACL_RT_STREAM_FLAG: return SetField(&config.flag, value, valueSize);
    case ACL_RT_STREAM_PRIORITY: return SetField(&config.priority, value, valueSize);
  }
  return Reject(ACL_ERROR_INVALID_PARAM, "attr %d is not a setting of streams (0 to 3)", static_cast<int>(attr));
}

}  // namespace
}  // namespace ropeway::api

// --- rt names
// -----------------------------------------------------------------------------------------------------------

int32_t rtDeviceGetBareTgid(uint32_t* pid) { return aclrtDeviceGetBareTgid(reinterpret_cast<int32_t*>(pid)); }

int32_t rtGetDeviceInfo(uint32_t deviceId, int32_t moduleType, int32_t infoType, int64_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY_SET(const DeviceFact* fact, FindFact(moduleType, infoType));
    RW_TRY_SET(int device, FindAskedDevice(deviceId));
    *value = fact->read(device);
    return Ok();
  });
}

int32_t rtGetLogicDevIdByUserDevId(int32_t userDevId, int32_t* logicDevId) { return aclrtGetLogicDevIdByUserDevId(userDevId, logicDevId); }

int32_t rtEnableP2P(uint32_t devIdDes, uint32_t phyIdSrc, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    if (flag != 0) return Reject(ACL_ERROR_FEATURE_UNSUPPORTED, "flag is 0x%x, but it must be 0", flag);
    return SetAccess(devIdDes, phyIdSrc, true);
  });
}

int32_t rtDisableP2P(uint32_t devIdDes, uint32_t phyIdSrc) {
  return Entry(__func__, [&] { return SetAccess(devIdDes, phyIdSrc, false); });
}

// The direction comes from the addresses alone.
int32_t rtMemcpyAsyncWithoutCheckKind(void* dst, uint64_t destMax, const void* src, uint64_t count, int32_t, void* stream) {
  return aclrtMemcpyAsync(dst, destMax, src, count, ACL_MEMCPY_DEFAULT, stream);
}

// --- Report functions by their older names
// ------------------------------------------------------------------------------

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return aclrtSubscribeReport(hostFuncThreadId, exeStream);
}

aclError aclrtProcessHostFunc(int32_t timeout) { return aclrtProcessReport(timeout); }

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
  return aclrtUnSubscribeReport(hostFuncThreadId, exeStream);
}

// --- Streams from a configuration
// ---------------------------------------------------------------------------------------

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void) {
  aclrtStreamConfigHandle* config = nullptr;
  Entry(__func__, [&]() -> Status {
    auto made = std::make_unique<aclrtStreamConfigHandle>();
    LockGuard lock(Configs().mutex);
    Configs().alive.insert(made.get());
    config = made.release();
    return Ok();
  });
  return config;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    LockGuard lock(Configs().mutex);
    if (Configs().alive.erase(handle) == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "handle %p did not come from aclrtCreateStreamConfigHandle, or is destroyed already",
                  static_cast<void*>(handle));
    delete handle;
    return Ok();
  });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr, const void* attrValue, size_t valueSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequirePointer("attrValue", attrValue));
    return SetOption(*handle, attr, attrValue, valueSize);
  });
}

// The work area is for queues in device memory; ours need none.
aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
  const aclError checked = Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    return RequirePointer("handle", handle);
  });
  return checked != ACL_SUCCESS ? checked : aclrtCreateStreamWithConfig(stream, handle->priority, static_cast<uint32_t>(handle->flag));
}
