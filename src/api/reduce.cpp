// Reduction copy (rules/copies.md 8).
#include "engine/cpu/kernels/reduce.h"

#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

struct TypeRow {
  aclDataType type;
  ReduceType reduce;
  size_t alignment;  // of both operands; 1: not checked
};

constexpr TypeRow kTypes[] = {
    {ACL_FLOAT, ReduceType::kFloat32, 4}, {ACL_FLOAT16, ReduceType::kFloat16, 2}, {ACL_INT16, ReduceType::kInt16, 2},
    {ACL_INT4, ReduceType::kInt4, 1},     {ACL_INT8, ReduceType::kInt8, 1},       {ACL_INT32, ReduceType::kInt32, 4},
    {ACL_BF16, ReduceType::kBFloat16, 2}, {ACL_UINT8, ReduceType::kUInt8, 1},     {ACL_UINT16, ReduceType::kUInt16, 2},
    {ACL_UINT32, ReduceType::kUInt32, 4},
};

const TypeRow* FindType(aclDataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

constexpr uint64_t kMaxSumBytes = uint64_t{4} << 30;

Status RequireCountAndKind(uint64_t count, aclrtReduceKind kind) {
  if (count == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "count is 0");
  if (kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %d is not one of 10 (sum), 11 (max), 12 (min), 13 (equal)", static_cast<int>(kind));
  if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM && count > kMaxSumBytes)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "count %llu exceeds the 4 GiB that one sum may have", static_cast<unsigned long long>(count));
  return Ok();
}

Status RequireOperand(const char* name, const void* address, size_t count, const Context& context) {
  Location location;
  RW_TRY(TheMemory().Locate(name, address, count, &location));
  if (location.place != Place::kDevice || location.device != context.device())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is not memory of the stream's device", name, address);
  return TheMemory().RequireRoom(name, address, count, location);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream stream,
                          void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("src", src));
    if (reserve != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "reserve %p must be NULL", reserve);
    const TypeRow* row = FindType(type);
    if (row == nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "type %d cannot be reduced", static_cast<int>(type));
    RW_TRY_SET(StreamRef target, FindStream(stream));
    RW_TRY(RequireCountAndKind(count, kind));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY(OrDefault(target, *context).stream->RequireContext(&context->scope()));
    const auto op = static_cast<ReduceOp>(kind - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM);
    if (!cpu::CanReduce(op, row->reduce))
      return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind %d of type %d is not supported by this product", static_cast<int>(kind),
                  static_cast<int>(type));
    const uintptr_t both = reinterpret_cast<uintptr_t>(dst) | reinterpret_cast<uintptr_t>(src);
    if (both % row->alignment != 0)
      return Fail(ACL_ERROR_RT_ADDR_UNALIGNED, "dst %p and src %p must be aligned to %zu bytes for type %d", dst, src, row->alignment,
                  static_cast<int>(type));
    RW_TRY(RequireOperand("dst", dst, count, *context));
    RW_TRY(RequireOperand("src", src, count, *context));
    Task task{};
    task.kind = TaskKind::kReduce;
    task.call = "aclrtReduceAsync";
    task.reduce = {dst, src, count, op, row->reduce};
    return Submit(target, *context, task);
  });
}
