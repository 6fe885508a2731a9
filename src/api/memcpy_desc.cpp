// Copies whose addresses lie in device memory and are read when the copy runs: by descriptor and by two-level pointers
// (rules/descriptors.md).
#include "api/entry.h"
#include "engine/copy_descriptor.h"
#include "runtime/product.h"
#include "runtime/transfer.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr uintptr_t kDescriptorAlignment = 64;
constexpr size_t kMaxBytes = size_t{4} << 30;
constexpr size_t kMaxOffset = 0xFFFFFFFFFFFF;

// Numbers outside the enumeration; the outer layer knows no others.
Status RequireKnownKind(aclrtMemcpyKind kind) {
  if (static_cast<unsigned>(kind) <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "kind %d is not one of 0 to 7", static_cast<int>(kind));
}

Status RequireInnerKind(aclrtMemcpyKind kind) {
  if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind %s: descriptors copy inside one device, by ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
              KindName(kind));
}

Status RequireDescriptors() {
  if (ThisProduct().copy_descriptor_size != 0) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no copy descriptors; use aclrtMemcpyAsync", GetConfig().soc_name.c_str());
}

Status RequireAligned(const void* desc) {
  if (reinterpret_cast<uintptr_t>(desc) % kDescriptorAlignment == 0) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "desc %p is not aligned to %zu bytes", desc, static_cast<size_t>(kDescriptorAlignment));
}

Status RequireDevice(const char* name, const void* address, const Location& location) {
  if (location.place == Place::kDevice) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is %s memory; it must be device memory", name, address, PlaceName(location.place));
}

Status RequireCopyPair(const void* srcAddr, const Location& from, const void* dstAddr, const Location& to) {
  RW_TRY(RequireDevice("srcAddr", srcAddr, from));
  RW_TRY(RequireDevice("dstAddr", dstAddr, to));
  if (from.device == to.device) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "srcAddr is on device %d and dstAddr on device %d; a descriptor copies inside one device",
              Runtime::UserIdOf(from.device), Runtime::UserIdOf(to.device));
}

struct OffsetCopy {
  void** dst;
  size_t destMax, dstDataOffset;
  const void** src;
  size_t count, srcDataOffset;
};

Status RequireCellArguments(const OffsetCopy& copy) {
  if (copy.dst == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "dst is NULL");
  if (copy.src == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "src is NULL");
  if (copy.count > copy.destMax)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %zu exceeds destMax %zu; copy less, or pass all the room that dst has", copy.count,
                copy.destMax);
  if (copy.count > kMaxBytes) return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %zu exceeds 4 GiB", copy.count);
  if (copy.srcDataOffset > kMaxOffset)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "srcDataOffset 0x%zx exceeds 0x%zx", copy.srcDataOffset, kMaxOffset);
  if (copy.dstDataOffset > kMaxOffset)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "dstDataOffset 0x%zx exceeds 0x%zx", copy.dstDataOffset, kMaxOffset);
  if (copy.dstDataOffset >= copy.destMax || copy.count > copy.destMax - copy.dstDataOffset)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "dstDataOffset %zu and count %zu do not fit destMax %zu", copy.dstDataOffset, copy.count,
                copy.destMax);
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("descSize", descSize));
    RW_TRY(RequireKnownKind(kind));
    RW_TRY(RequireDescriptors());
    RW_TRY(RequireInnerKind(kind));
    *descSize = ThisProduct().copy_descriptor_size;
    return Ok();
  });
}

// A blocking write that no stream orders: whoever rewrites a descriptor synchronises first.
aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count, void* config) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY(RequireKnownKind(kind));
    RW_TRY(RequirePointer("srcAddr", srcAddr));
    RW_TRY(RequirePointer("dstAddr", dstAddr));
    if (count == 0) return Reject(ACL_ERROR_INVALID_PARAM, "count is 0");
    if (config != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "config is %p, but it must be NULL", config);
    RW_TRY(RequireDescriptors());
    RW_TRY(RequireInnerKind(kind));
    if (count > kMaxBytes) return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %zu exceeds the 4 GiB of one descriptor", count);
    RW_TRY(RequireAligned(desc));
    const size_t size = ThisProduct().copy_descriptor_size;
    SyncOperation in_progress;
    Location at, to, from;
    RW_TRY(LocateAnytime("desc", desc, size, &at));
    RW_TRY(LocateAnytime("dstAddr", dstAddr, count, &to));
    RW_TRY(LocateAnytime("srcAddr", srcAddr, count, &from));
    RW_TRY(RequireDevice("desc", desc, at));
    RW_TRY(RequireCopyPair(srcAddr, from, dstAddr, to));
    RW_TRY(CurrentContext().status());
    RW_TRY(TheMemory().RequireRoom("desc", desc, size, at));
    char bytes[descriptor_layout::kLargest];
    WriteDescriptor(bytes, size, {dstAddr, srcAddr, count});
    return RunNow(CopyTask(Runtime::Get(), desc, bytes, size, "aclrtSetMemcpyDesc"));
  });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY(RequireKnownKind(kind));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY(RequireDescriptors());
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY(RequireInnerKind(kind));
    const size_t size = ThisProduct().copy_descriptor_size;
    Location at;
    RW_TRY(LocateAnytime("desc", desc, size, &at));
    RW_TRY(RequireDevice("desc", desc, at));
    RW_TRY(RequireAligned(desc));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(target.stream->RequireContext(&context->scope()));
    RW_TRY(TheMemory().RequireRoom("desc", desc, size, at));
    Task task{};
    task.kind = TaskKind::kCopyByDesc;
    task.call = "aclrtMemcpyAsyncWithDesc";
    task.device = static_cast<uint8_t>(context->device());
    task.by_desc = {desc, static_cast<uint32_t>(size)};
    return Submit(target, *context, task);
  });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %d is not for this call; use ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
                  static_cast<int>(kind));
    if (!ThisProduct().copies_by_cells)
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no copies through two-level pointers", GetConfig().soc_name.c_str());
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY(RequireCellArguments({dst, destMax, dstDataOffset, src, count, srcDataOffset}));
    RW_TRY_SET(Context * context, CurrentContext());
    Task task{};
    task.kind = TaskKind::kCopyByCells;
    task.call = "aclrtMemcpyAsyncWithOffset";
    task.device = static_cast<uint8_t>(context->device());
    task.by_cells = {dst, src, dstDataOffset, srcDataOffset, count, FreeClock::Now()};
    return Submit(target, *context, task);
  });
}
