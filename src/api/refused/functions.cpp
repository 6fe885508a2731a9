// The functions of table.inc, which says what each word means, and one whose checks look further than at their arguments. Never a silent
// success: docs/coverage.md lists what is defined in this folder as "refuses".
#include <cstdint>

#include "acl/acl_dump.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_platform.h"
#include "acl/acl_sk.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "aclnn/acl_meta.h"
#include "api/checks.h"
#include "api/other_codes.h"
#include "runtime/config.h"
#include "runtime/dev.h"
#include "runtime/kernel.h"
#include "runtime/rt_external_event.h"
#include "runtime/rt_ffts.h"
#include "runtime/stream.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr Layer kOuter = Layer::kOuter, kRuntime = Layer::kRuntime;

Status NotSupported(const char* why) { return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

Status NotSupportedQuietly(const char* why) { return Decline(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s", why); }

}  // namespace
}  // namespace ropeway::api

// clang-format off
#define TEXT(name, text) static constexpr const char* name = text;
#define GIVEN(pointer) RW_TRY(RequirePointer(#pointer, reinterpret_cast<const void*>(pointer)));
#define GIVEN_BELOW(pointer) RW_TRY(RequireRuntimePointer(#pointer, pointer));
#define RESERVED(pointer) RW_TRY(RequireNull(#pointer, pointer));
#define LIVE_STREAM(stream) RW_TRY(RequireLiveStream(stream));
#define SOME(layer, number) RW_TRY(RequireSome(layer, #number, number));
#define ZERO(layer, number) RW_TRY(RequireZero(layer, #number, number));
#define RANGE(layer, number, least, most) RW_TRY(RequireRange(layer, #number, static_cast<int64_t>(number), least, most));
#define DEVICE(number) RW_TRY(FindDevice(#number, number).status());
#define CONTEXT() RW_TRY(CurrentContext().status());
#define REFUSED(call, parameters, text, checks) \
  aclError call parameters { return Entry(#call, [&]() -> Status { checks return NotSupported(text); }); }
#define REFUSED_QUIETLY(call, parameters, text, checks) \
  aclError call parameters { return Entry(#call, [&]() -> Status { checks return NotSupportedQuietly(text); }); }
#define REFUSED_WITH_NULL(type, call, parameters, text) \
  type call parameters { static_cast<void>(Entry(#call, [] { return NotSupported(text); })); return nullptr; }
#define REFUSED_BY(library, call, parameters, text, checks) \
  library::Code call parameters { return library::Of(Entry(#call, [&]() -> Status { checks return NotSupported(text); })); }
#define CONSTANT(type, call, parameters, value) \
  type call parameters { return value; }
#include "api/refused/table.inc"
// clang-format on

namespace ropeway::api {
namespace {

Status RequireBarriers(const aclrtBarrierTaskInfo& info) {
  RW_TRY(RequireRange(kRuntime, "barrierNum", static_cast<int64_t>(info.barrierNum), 1, ACL_RT_CMO_MAX_BARRIER_NUM));
  for (size_t i = 0; i < info.barrierNum; ++i) {
    if (info.cmoInfo[i].cmoType != ACL_RT_CMO_TYPE_INVALID || info.cmoInfo[i].barrierId == 0)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "cmoInfo[%zu] has type %d and barrier %u; it must be of type INVALID with a barrier", i,
                  static_cast<int>(info.cmoInfo[i].cmoType), info.cmoInfo[i].barrierId);
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream, uint32_t) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimePointer("taskInfo", taskInfo));
    RW_TRY(RequireBarriers(*taskInfo));
    return NotSupported(kNoBarriers);
  });
}
