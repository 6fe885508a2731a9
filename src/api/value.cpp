// Value write and value wait (rules/signals.md 3): a 64-bit store in stream order, and a stream that waits for one.
#include "api/entry.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status RequireValueProduct() {
  if (ThisProduct().has_value_waits) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no value write and wait; use events or notifies", GetConfig().soc_name.c_str());
}

Status RequireWord(const void* devAddr, Location* location) {
  RW_TRY(LocateAnytime("devAddr", devAddr, sizeof(uint64_t), location));
  if (location->place == Place::kDevice) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "devAddr %p is %s memory; it must be device memory", devAddr, PlaceName(location->place));
}

Status SubmitWordTask(const void* devAddr, StreamRef found, Task& task) {
  Location location;
  RW_TRY(RequireWord(devAddr, &location));
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef target = OrDefault(found, *context);
  RW_TRY(target.stream->RequireContext(&context->scope()));
  RW_TRY(TheMemory().RequireRoom("devAddr", devAddr, sizeof(uint64_t), location));
  return Submit(target, *context, task);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devAddr", devAddr));
    RW_TRY(RequireValueProduct());
    RW_TRY_SET(StreamRef found, FindStream(stream));
    if (flag != 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag %u must be 0", flag);
    Task task{};
    task.kind = TaskKind::kStore;
    task.call = "aclrtValueWrite";
    task.store = {devAddr, value};
    return SubmitWordTask(devAddr, found, task);
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devAddr", devAddr));
    RW_TRY(RequireValueProduct());
    RW_TRY_SET(StreamRef found, FindStream(stream));
    if (flag > ACL_STREAM_WAIT_VALUE_NOR)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "flag %u is not 0 (at least), 1 (equal), 2 (and) or 3 (nor)", flag);
    Task task{};
    task.kind = TaskKind::kAwaitValue;
    task.call = "aclrtValueWait";
    task.await_value = {devAddr, value, static_cast<ValueTest>(flag)};
    return SubmitWordTask(devAddr, found, task);
  });
}
