#include "api/malloc_config.h"

namespace ropeway::api {

Status RequireDeviceAttributes(const aclrtMallocConfig* cfg, int current_user_id) {
  if (cfg == nullptr) return Ok();
  int64_t device = current_user_id;
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    const aclrtMallocAttribute& attribute = cfg->attrs[i];
    switch (attribute.attr) {
      case ACL_RT_MEM_ATTR_RSV:
      case ACL_RT_MEM_ATTR_MODULE_ID: break;
      case ACL_RT_MEM_ATTR_DEVICE_ID:
        device = attribute.value.deviceId;  // a repeated attribute: the last one wins
        break;
      default:
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs[%zu].attr %d is not for device memory; use 0, 1 or 2", i,
                    static_cast<int>(attribute.attr));
    }
  }
  if (device == current_user_id) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "the device id %lld in cfg is not the current device %d", static_cast<long long>(device),
              current_user_id);
}

Status RequireHostAttributes(const aclrtMallocConfig* cfg) {
  if (cfg == nullptr) return Ok();
  if (cfg->attrs == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs is NULL; pass NULL for no configuration");
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    const aclrtMallocAttrType type = cfg->attrs[i].attr;
    if (type == ACL_RT_MEM_ATTR_MODULE_ID || type == ACL_RT_MEM_ATTR_VA_FLAG) continue;
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs[%zu].attr %d is not for host memory; use 1 or 3", i, static_cast<int>(type));
  }
  return Ok();
}

bool WantsEqualAddresses(const aclrtMallocConfig* cfg) {
  bool wanted = false;
  for (size_t i = 0; cfg != nullptr && i < cfg->numAttrs; ++i) {
    if (cfg->attrs[i].attr == ACL_RT_MEM_ATTR_VA_FLAG) wanted = cfg->attrs[i].value.vaFlag != 0;
  }
  return wanted;
}

}  // namespace ropeway::api
