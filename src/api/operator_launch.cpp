// Operators by stand-in (ropeway/operator.h): executors, which hold copies of an operator's arguments, and what stand-ins see of
// containers.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/checks.h"
#include "api/kernel_launch.h"
#include "api/operator_objects.h"
#include "base/no_destroy.h"
#include "base/slab.h"
#include "profile/markers.h"
#include "ropeway/operator.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

using Copies = std::vector<std::shared_ptr<const void>>;

// An operator's arguments on their way from GetWorkspaceSize to the launch.
struct Executor final : SlabObject {
  StandIn stand_in;
  uint64_t workspace_size = 0;
  std::vector<unsigned char> bytes;
  std::shared_ptr<const Copies> copies;
  std::atomic<bool> repeatable{false};
  void Recycle() {
    bytes.clear();
    copies = nullptr;
    repeatable = false;
  }
};
using ExecutorSlab = Slab<Executor, 0x27>;
using ExecutorHold = SlabRef<ExecutorSlab, Executor>;

ExecutorSlab& Executors() {
  static constinit NoDestroy<ExecutorSlab> slab;
  return slab.get();
}

Result<ExecutorHold> HoldExecutor(aclOpExecutor* handle) {
  if (handle == nullptr) return Reject(kNullPointer, "executor is NULL");
  ExecutorHold executor(Executors(), Executors().Acquire(handle));
  if (!executor)
    return Reject(kInvalidValue, "executor %p is not one of a GetWorkspaceSize (launched without being repeatable, destroyed, or none)",
                  static_cast<void*>(handle));
  return executor;
}

// One caller wins when several end it.
bool EndExecutor(Executor& executor, aclOpExecutor* handle) {
  if (!Executors().Retire(&executor, ExecutorSlab::GenerationOf(handle))) return false;
  Executors().Release(&executor);  // the handle's
  return true;
}

// --- Copies of containers ---------------------------------------------------------------------------------------------------

template <typename Container>
std::shared_ptr<const void> CopyOf(const Container& container) {
  return std::make_shared<Container>(container);
}
std::shared_ptr<const void> CopyOf(const aclBoolArray& array) {
  auto copy = std::make_shared<aclBoolArray>();
  copy->values = std::make_unique<bool[]>(array.size);
  std::copy(array.values.get(), array.values.get() + array.size, copy->values.get());
  copy->size = array.size;
  return copy;
}
template <typename List>
std::shared_ptr<const void> CopyList(const List& list) {
  auto copy = std::make_shared<List>();
  for (const auto& member : list.members) copy->members.emplace_back(new std::decay_t<decltype(*member)>(*member));
  return copy;
}
std::shared_ptr<const void> CopyOf(const aclTensorList& list) { return CopyList(list); }
std::shared_ptr<const void> CopyOf(const aclScalarList& list) { return CopyList(list); }

template <typename Container>
std::shared_ptr<const void> CopyAs(const void* object) {
  return CopyOf(*static_cast<const Container*>(object));
}

std::shared_ptr<const void> CopyText(const void* object) {
  const auto text = std::make_shared<std::string>(static_cast<const char*>(object));
  return {text, text->c_str()};
}

std::shared_ptr<const void> CopyArgument(const ropewayOperatorArgument& argument) {
  switch (argument.kind) {
    case ROPEWAY_ARGUMENT_TEXT: return CopyText(argument.object);
    case ROPEWAY_ARGUMENT_TENSOR: return CopyAs<aclTensor>(argument.object);
    case ROPEWAY_ARGUMENT_SCALAR: return CopyAs<aclScalar>(argument.object);
    case ROPEWAY_ARGUMENT_INT_ARRAY: return CopyAs<aclIntArray>(argument.object);
    case ROPEWAY_ARGUMENT_FLOAT_ARRAY: return CopyAs<aclFloatArray>(argument.object);
    case ROPEWAY_ARGUMENT_BOOL_ARRAY: return CopyAs<aclBoolArray>(argument.object);
    case ROPEWAY_ARGUMENT_TENSOR_LIST: return CopyAs<aclTensorList>(argument.object);
    case ROPEWAY_ARGUMENT_SCALAR_LIST: return CopyAs<aclScalarList>(argument.object);
    default: return nullptr;
  }
}

Status RequireArgument(const ropewayOperatorArgument& argument, size_t index) {
  if (argument.kind < ROPEWAY_ARGUMENT_VALUE || argument.kind > ROPEWAY_ARGUMENT_SCALAR_LIST)
    return Reject(kInvalidValue, "arguments[%zu] is of kind %d, which there is not", index, static_cast<int>(argument.kind));
  if (argument.kind != ROPEWAY_ARGUMENT_VALUE) return Ok();
  if (argument.object == nullptr) return Reject(kNullPointer, "arguments[%zu] is a value at NULL", index);
  const size_t alignment = argument.alignment;
  if (alignment == 0 || alignment > 8 || (alignment & (alignment - 1)) != 0)
    return Reject(kInvalidValue, "arguments[%zu] has alignment %zu; it is 1, 2, 4 or 8", index, alignment);
  return Ok();
}

// Behind the others, as a kernel's arguments lie.
void AppendBytes(std::vector<unsigned char>& bytes, const void* value, size_t size, size_t alignment) {
  const size_t at = (bytes.size() + alignment - 1) / alignment * alignment;
  bytes.resize(at + size);
  memcpy(bytes.data() + at, value, size);
}

Status ReadOperatorArguments(const ropewayOperatorArgument* arguments, size_t count, std::vector<unsigned char>* bytes, Copies* copies) {
  for (size_t i = 0; i < count; ++i) {
    RW_TRY(RequireArgument(arguments[i], i));
    if (arguments[i].kind == ROPEWAY_ARGUMENT_VALUE) {
      AppendBytes(*bytes, arguments[i].object, arguments[i].size, arguments[i].alignment);
      continue;
    }
    const void* address = nullptr;
    if (arguments[i].object != nullptr) {
      copies->push_back(CopyArgument(arguments[i]));
      address = copies->back().get();
    }
    AppendBytes(*bytes, &address, sizeof(address), alignof(void*));
  }
  return Ok();
}

std::optional<StandIns::Operator> FindOperator(const char* name) {
  StandIns& all = StandIns::All();
  LockGuard lock(all.mutex);
  const auto it = all.operators.find(std::string_view(name));
  if (it == all.operators.end()) return std::nullopt;
  return it->second;
}

Status Prepare(const char* name, const ropewayOperatorArgument* arguments, size_t count, uint64_t* workspace_size,
               aclOpExecutor** executor) {
  const std::optional<StandIns::Operator> found = FindOperator(name);
  if (!found) return UnknownOperator(name);
  std::vector<unsigned char> bytes;
  auto copies = std::make_shared<Copies>();
  RW_TRY(ReadOperatorArguments(arguments, count, &bytes, copies.get()));
  const char* const lasting = LastingText(name);
  Executor* const made = Executors().Take();
  if (made == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no room for another executor");
  made->stand_in = {lasting, found->function};
  made->workspace_size = found->workspace_size;
  made->bytes = std::move(bytes);
  made->copies = std::move(copies);
  *workspace_size = found->workspace_size;
  *executor = static_cast<aclOpExecutor*>(Executors().Publish(made));
  return Ok();
}

Status RunOperator(const char* name, void* workspace, uint64_t workspace_size, aclOpExecutor* handle, aclrtStream stream) {
  RW_TRY_SET(ExecutorHold executor, HoldExecutor(handle));
  if (strcmp(executor->stand_in.name, name) != 0)
    return Reject(kInvalidValue, "executor %p is one of %s, not of %s", static_cast<void*>(handle), executor->stand_in.name, name);
  if (workspace_size < executor->workspace_size || (workspace == nullptr && executor->workspace_size > 0))
    return Reject(kInvalidValue, "%s wants a workspace of %llu bytes, and has %llu at %p", name,
                  static_cast<unsigned long long>(executor->workspace_size), static_cast<unsigned long long>(workspace_size), workspace);
  const bool repeatable = executor->repeatable.load(std::memory_order_acquire);
  if (!repeatable && !EndExecutor(*executor, handle)) return Reject(kInvalidValue, "the executor was launched by another thread");
  RW_TRY_SET(ArgumentBlock arguments, ArgumentBlock::Copy(executor->bytes.data(), executor->bytes.size()));
  arguments.keeps = executor->copies;
  arguments.workspace = workspace;
  arguments.workspace_size = workspace_size;
  return LaunchStandIn(executor->stand_in, ShapeOf(1), std::move(arguments), stream);
}

// --- What stand-ins see -----------------------------------------------------------------------------------------------------

// From the first to behind the last byte that a tensor's strides reach, and where its first element is in between. False: no size_t has
// them.
struct TensorReach {
  int64_t begin, end, first;  // in bytes from the tensor's address
};
bool ReachOf(const aclTensor& tensor, TensorReach* reach) {
  int64_t low = tensor.offset, high = tensor.offset;
  for (size_t i = 0; i < tensor.view_dims.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(tensor.view_dims[i] - 1, tensor.strides[i], &step)) return false;
    if (__builtin_add_overflow(step < 0 ? low : high, step, step < 0 ? &low : &high)) return false;
  }
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.type));
  return size > 0 && !__builtin_add_overflow(high, 1, &high) && !__builtin_mul_overflow(low, size, &reach->begin) &&
         !__builtin_mul_overflow(high, size, &reach->end) && !__builtin_mul_overflow(tensor.offset, size, &reach->first);
}

bool IsEmpty(const aclTensor& tensor) { return std::find(tensor.view_dims.begin(), tensor.view_dims.end(), 0) != tensor.view_dims.end(); }

template <typename Object, typename Values>
auto* ValuesOf(const Object* object, size_t* count, const Values Object::*values) {
  if (count != nullptr) *count = object == nullptr ? 0 : (object->*values).size();
  return object == nullptr ? nullptr : (object->*values).data();
}

}  // namespace
}  // namespace ropeway::api

aclnnStatus ropewayPrepareOperator(const char* name, const ropewayOperatorArgument* arguments, size_t count, uint64_t* workspaceSize,
                                   aclOpExecutor** executor) {
  return Entry(__func__, [&]() -> Status {
    if (name == nullptr || workspaceSize == nullptr || executor == nullptr || (arguments == nullptr && count > 0))
      return Reject(kNullPointer, "name, workspaceSize, executor or arguments is NULL");
    return Prepare(name, arguments, count, workspaceSize, executor);
  });
}

aclnnStatus ropewayRunOperator(const char* name, void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    if (name == nullptr) return Reject(kNullPointer, "name is NULL");
    return RunOperator(name, workspace, workspaceSize, executor, stream);
  });
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(ExecutorHold found, HoldExecutor(executor));
    found->repeatable.store(true, std::memory_order_release);
    return Ok();
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(ExecutorHold found, HoldExecutor(executor));
    return EndExecutor(*found, executor) ? Ok() : Reject(kInvalidValue, "the executor was ended by another thread");
  });
}

void* ropewayTensorView(const ropewayKernelLaunch* launch, const aclTensor* tensor) {
  if (launch == nullptr || tensor == nullptr) return nullptr;
  static unsigned char nothing[16];
  if (IsEmpty(*tensor)) return nothing;
  TensorReach reach;
  if (!ReachOf(*tensor, &reach)) {
    ropewayFailKernel(launch, "a tensor's elements have no size in bytes, or its strides reach too far");
    return nullptr;
  }
  auto* const begin = static_cast<unsigned char*>(tensor->data) + reach.begin;
  auto* const view = static_cast<unsigned char*>(ropewayKernelView(launch, begin, static_cast<size_t>(reach.end - reach.begin)));
  return view == nullptr ? nullptr : view + (reach.first - reach.begin);
}

const int64_t* ropewayTensorShape(const aclTensor* tensor, size_t* count) { return ValuesOf(tensor, count, &aclTensor::view_dims); }
const int64_t* ropewayTensorStrides(const aclTensor* tensor, size_t* count) { return ValuesOf(tensor, count, &aclTensor::strides); }
const int64_t* ropewayIntArrayValues(const aclIntArray* array, size_t* count) { return ValuesOf(array, count, &aclIntArray::values); }
const float* ropewayFloatArrayValues(const aclFloatArray* array, size_t* count) { return ValuesOf(array, count, &aclFloatArray::values); }

const bool* ropewayBoolArrayValues(const aclBoolArray* array, size_t* count) {
  if (count != nullptr) *count = array == nullptr ? 0 : array->size;
  return array == nullptr ? nullptr : array->values.get();
}

const void* ropewayScalarValue(const aclScalar* scalar, aclDataType* dataType) {
  if (dataType != nullptr) *dataType = scalar == nullptr ? ACL_DT_UNDEFINED : scalar->type;
  return scalar == nullptr ? nullptr : scalar->bytes.data();
}

const aclTensor* ropewayTensorListItem(const aclTensorList* list, size_t index) {
  return list != nullptr && index < list->members.size() ? list->members[index].get() : nullptr;
}

const aclScalar* ropewayScalarListItem(const aclScalarList* list, size_t index) {
  return list != nullptr && index < list->members.size() ? list->members[index].get() : nullptr;
}
