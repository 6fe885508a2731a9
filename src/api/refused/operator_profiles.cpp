// aclprof: operators of offline models. None is ever loaded, so there is nothing to subscribe to and no record that could be read.
#include <memory>

#include "acl/acl_prof.h"
#include "api/entry.h"
#include "base/error_log.h"
#include "profile/aclprof.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kOperatorRecord = 80;

Status NoModel(uint32_t id) {
  return Reject(ACL_ERROR_INVALID_MODEL_ID, "modelId %u is not loaded; offline models cannot be loaded here", id);
}

// Whatever is given, it is not what a subscription wrote.
Status NoRecords(const void* records, size_t length, const void* answer) {
  RW_TRY(RequirePointer("opInfo", records));
  RW_TRY(RequirePointer("the answer's pointer", answer));
  if (length == 0 || length % kOperatorRecord != 0)
    return Reject(ACL_ERROR_INVALID_PARAM, "opInfoLen %zu is not a multiple of a record's %zu bytes", length, kOperatorRecord);
  return Reject(ACL_ERROR_INVALID_PARAM, "opInfo %p holds no records of operators: no model can be subscribed to here", records);
}

}  // namespace
}  // namespace ropeway::api

aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig*) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(Aclprof::Get().RequireNotCommanded());
    return NoModel(modelId);
  });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  return Entry(__func__, [&]() -> Status { return NoModel(modelId); });
}

aclError aclprofGetOpDescSize(size_t* opDescSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("opDescSize", opDescSize));
    *opDescSize = kOperatorRecord;
    return Ok();
  });
}

aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber) {
  return Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opNumber); });
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t, size_t* opTypeLen) {
  return Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opTypeLen); });
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t, char* opType, size_t) {
  return Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opType); });
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t, size_t* opNameLen) {
  return Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opNameLen); });
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t, char* opName, size_t) {
  return Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opName); });
}

uint64_t aclprofGetOpStart(const void*, size_t, uint32_t) { return 0; }
uint64_t aclprofGetOpEnd(const void*, size_t, uint32_t) { return 0; }
uint64_t aclprofGetOpDuration(const void*, size_t, uint32_t) { return 0; }

// The code is the answer.
size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t) {
  return static_cast<size_t>(Entry(__func__, [&]() -> Status { return NoRecords(opInfo, opInfoLen, opInfo); }));
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void*, size_t, uint32_t) { return ACL_SUBSCRIBE_NONE; }
const char* aclprofGetOpAttriValue(const void*, size_t, uint32_t, aclprofSubscribeOpAttri) { return nullptr; }
