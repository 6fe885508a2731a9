// Cache operations that this class of devices does not have (copy-and-memory.md 7.2, 7.3). The ones that it has are in
// api/cache_ops.cpp.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoBarriers =
    "cache barriers need a newer class of devices; order the work by streams and events, aclrtCmoAsync keeps its place";

Status RequireBarriers(const aclrtBarrierTaskInfo& info) {
  RW_TRY(RequireRange(Layer::kRuntime, "barrierNum", static_cast<int64_t>(info.barrierNum), 1,
                      ACL_RT_CMO_MAX_BARRIER_NUM));
  for (size_t i = 0; i < info.barrierNum; ++i) {
    if (info.cmoInfo[i].cmoType != ACL_RT_CMO_TYPE_INVALID || info.cmoInfo[i].barrierId == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "cmoInfo[%zu] has type %d and barrier %u; it must be of type INVALID with a barrier", i,
                  static_cast<int>(info.cmoInfo[i].cmoType), info.cmoInfo[i].barrierId);
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtDeviceL2CacheFlush(void* rsv) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireNull("rsv", rsv));
    RW_TRY(CurrentContext().status());
    return NotSupported("there is no device cache here to flush; memory is coherent and needs none");
  });
}

aclError aclrtCmoAsyncWithBarrier(void* src, size_t, aclrtCmoType, uint32_t, aclrtStream) {
  return Refuse(__func__, kNoBarriers, {{"src", src}});
}

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream, uint32_t) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("taskInfo", taskInfo));
    RW_TRY(RequireBarriers(*taskInfo));
    return NotSupported(kNoBarriers);
  });
}
