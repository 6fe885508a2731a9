// The link over which imported memory is reached (copy-and-memory.md 10.3): other products have several.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("key", key));
    RW_TRY(RequireRange(Layer::kRuntime, "type", type, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK));
    RW_TRY(RequireRange(Layer::kRuntime, "attr", static_cast<int64_t>(attr), ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO,
                        ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH));
    return NotSupported("this product has one link between devices, so there is none to choose");
  });
}
