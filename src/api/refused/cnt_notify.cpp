// Counting notifies (runtime.md 6.2). They exist on a newer class of devices only, so 207000 is the original's answer,
// too.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoCounters = "counting notifies need a newer class of devices; use aclrtCreateNotify, or events";

}  // namespace

aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    RW_TRY(RequireZero(Layer::kRuntime, "flag", flag));
    return NotSupported(kNoCounters);
  });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    return NotSupported(kNoCounters);
  });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo* info) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    RW_TRY(RequireLiveStream(stream));
    if (info->mode != ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE)
      RW_TRY(RequireRange(Layer::kRuntime, "info->mode", info->mode, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE,
                          ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE));
    return NotSupported(kNoCounters);
  });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo* info) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY(RequireRange(Layer::kRuntime, "info->mode", info->mode, ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE,
                        ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE));
    return NotSupported(kNoCounters);
  });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    RW_TRY(RequireLiveStream(stream));
    return NotSupported(kNoCounters);
  });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("notifyId", notifyId));
    RW_TRY(RequireRuntimePointer("cntNotify", cntNotify));
    return NotSupported(kNoCounters);
  });
}
