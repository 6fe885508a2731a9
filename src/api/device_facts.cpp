#include "api/device_facts.h"

#include "runtime/runtime.h"

namespace ropeway::api {
namespace {

struct AttributeRow {
  int id;
  int64_t (*read)(int physical_id);
};

int64_t Zero(int) { return 0; }
int64_t Itself(int physical_id) { return physical_id; }

constexpr AttributeRow kAttributeRows[] = {
    {ACL_DEV_ATTR_AICPU_CORE_NUM, [](int) -> int64_t { return 8; }},
    {ACL_DEV_ATTR_AICORE_CORE_NUM, [](int) -> int64_t { return kCubeCores; }},
    {ACL_DEV_ATTR_CUBE_CORE_NUM, [](int) -> int64_t { return kCubeCores; }},
    {ACL_DEV_ATTR_VECTOR_CORE_NUM, [](int) -> int64_t { return kVectorCores; }},
    {ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE,
     [](int) -> int64_t {
       Runtime* runtime = Runtime::GetIfStarted();
       return static_cast<int64_t>(runtime == nullptr ? ThisMachine().device_memory : runtime->memory().device_memory());
     }},
    {ACL_DEV_ATTR_L2_CACHE_SIZE, [](int) -> int64_t { return kL2Bytes; }},
    {ACL_DEV_ATTR_SMP_ID, &Zero},
    {ACL_DEV_ATTR_PHY_CHIP_ID, &Itself},
    {ACL_DEV_ATTR_SUPER_POD_DEVICE_ID, &Itself},
    {ACL_DEV_ATTR_SUPER_POD_SERVER_ID, &Zero},
    {ACL_DEV_ATTR_SUPER_POD_ID, &Zero},
    {ACL_DEV_ATTR_CUST_OP_PRIVILEGE, &Zero},
    {ACL_DEV_ATTR_MAINBOARD_ID, &Zero},
    {ACL_DEV_ATTR_IS_VIRTUAL, &Zero},
    {ACL_DEV_ATTR_NPU_ARCH, [](int) -> int64_t { return 2201; }},
};

}  // namespace

Result<int> FindAskedDevice(uint32_t deviceId) {
  const int visible = Runtime::VisibleCount();
  if (deviceId < static_cast<uint32_t>(visible)) return Runtime::PhysicalId(static_cast<int>(deviceId));
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "deviceId %u is not one of the %d visible devices", deviceId, visible);
}

std::optional<int64_t> DeviceAttribute(int physical_id, aclrtDevAttr attr) {
  // Thread and grid sizes are known to the product and mean nothing on it.
  if (attr >= ACL_DEV_ATTR_WARP_SIZE && attr <= ACL_DEV_ATTR_MAX_BLOCK_DIM_Z) return 0;
  for (const AttributeRow& attribute : kAttributeRows) {
    if (attribute.id == attr) return attribute.read(physical_id);
  }
  return std::nullopt;
}

}  // namespace ropeway::api
