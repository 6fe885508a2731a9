// Cache maintenance (rules/memory.md 4). Memory is coherent here, so an operation is a task that keeps its place
// in the stream and does nothing. What this class of devices does not have is in refused/cache.cpp.
#include "api/entry.h"
#include "runtime/transfer.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// What the device would read when the task runs. Programs move descriptors with ordinary copies, so the size counts.
struct CmoDescriptor {
  uint8_t launch_header[8];
  uint16_t outer_count;
  uint16_t inner_count;
  uint32_t length;
  uint64_t address;
  uint32_t outer_stride;
  uint32_t inner_stride;
};
static_assert(sizeof(CmoDescriptor) == 32);

Status RequireRuntimeArgument(const char* name, const void* pointer) {
  if (pointer != nullptr) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is NULL", name);
}

Status RequireCmoType(aclrtCmoType cmoType) {
  if (static_cast<unsigned>(cmoType) <= ACL_RT_CMO_TYPE_FLUSH) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "cmoType %d is unknown; use ACL_RT_CMO_TYPE_PREFETCH", static_cast<int>(cmoType));
}

Status SubmitNothing(const char* call, aclrtCmoType cmoType, aclrtStream stream) {
  RW_TRY(RequireCmoType(cmoType));
  RW_TRY_SET(StreamRef target, FindStream(stream));
  RW_TRY_SET(Context * context, CurrentContext());
  Task task{};
  task.kind = TaskKind::kNothing;
  task.call = call;
  return Submit(target, *context, task);
}

// At once and not ordered with any stream, like a synchronous copy.
Status WriteDescriptor(void* cmoDesc, const CmoDescriptor& descriptor) {
  RW_TRY_SET(Context * context, CurrentContext());
  SyncOperation in_progress;
  Transfer transfer;
  RW_TRY(Locate(cmoDesc, sizeof(descriptor), &descriptor, sizeof(descriptor), &transfer));
  RW_TRY(RequireReach(transfer, context->device()));
  return RunNow(CopyTask(Runtime::Get(), cmoDesc, &descriptor, sizeof(descriptor), "aclrtCmoSetDesc"));
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("src", src));
    if (size == 0) return Reject(ACL_ERROR_INVALID_PARAM, "size is 0, and there is nothing to do");
    return SubmitNothing("aclrtCmoAsync", cmoType, stream);
  });
}

aclError aclrtCmoGetDescSize(size_t* size) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("size", size));
    *size = sizeof(CmoDescriptor);
    return Ok();
  });
}

aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireRuntimeArgument("cmoDesc", cmoDesc));
    RW_TRY(RequireRuntimeArgument("src", src));
    if (size == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "size is 0, and there is nothing to do");
    CmoDescriptor descriptor{};
    descriptor.outer_count = descriptor.inner_count = 1;
    descriptor.length = static_cast<uint32_t>(size);  // the field has no more room
    descriptor.address = reinterpret_cast<uintptr_t>(src);
    return WriteDescriptor(cmoDesc, descriptor);
  });
}

aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void* reserve) {
  return Entry(__func__, [&]() -> Status {
    if (reserve != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "reserve is %p, but it must be NULL", reserve);
    RW_TRY(RequireRuntimeArgument("cmoDesc", cmoDesc));
    return SubmitNothing("aclrtCmoAsyncWithDesc", cmoType, stream);
  });
}
