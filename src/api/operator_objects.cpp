// The containers that operators take (aclnn/acl_meta.h).
#include "api/operator_objects.h"

#include <algorithm>
#include <cstring>

#include "aclnn/aclnn_base.h"
#include "api/checks.h"
#include "runtime/init_config.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status RequireGiven(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (argument.pointer == nullptr) return Reject(kNullPointer, "%s is NULL", argument.name);
  }
  return Ok();
}

// An array may be missing when it is empty.
Status RequireArray(const char* name, const void* array, uint64_t size) { return size == 0 ? Ok() : RequireGiven({{name, array}}); }

// The maker of a container: null when `fill` says no.
template <typename Container, typename Fill>
Container* Make(const char* call, Fill&& fill) {
  Container* made = nullptr;
  PlainEntry(call, [&]() -> Status {
    auto container = std::make_unique<Container>();
    RW_TRY(fill(*container));
    made = container.release();
    return Ok();
  });
  return made;
}

template <typename Container>
aclnnStatus Destroy(const char* call, const char* name, const Container* container) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequireGiven({{name, container}}));
    delete container;
    return Ok();
  });
}

template <typename Container, typename Answer, typename Read>
aclnnStatus Get(const char* call, const Container* container, Answer* answer, Read&& read) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequireGiven({{"the object", container}, {"the answer's pointer", answer}}));
    *answer = read(*container);
    return Ok();
  });
}

// Strides of elements that lie one behind the other.
aclTensor::Dims DenseStrides(const aclTensor::Dims& dims) {
  aclTensor::Dims strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    if (__builtin_mul_overflow(step, dims[i], &step)) step = INT64_MAX;
  }
  return strides;
}

Status RequireDims(const char* name, const int64_t* dims, uint64_t count) {
  RW_TRY(RequireArray(name, dims, count));
  for (uint64_t i = 0; i < count; ++i) {
    if (dims[i] < 0)
      return Reject(kInvalidValue, "%s[%llu] is %lld", name, static_cast<unsigned long long>(i), static_cast<long long>(dims[i]));
  }
  return Ok();
}

struct TensorShape {
  const int64_t *view_dims, *stride, *storage_dims;
  uint64_t view_count, storage_count;
  int64_t offset;
};

Status FillTensor(const TensorShape& shape, aclDataType type, aclFormat format, void* data, aclTensor& tensor) {
  RW_TRY(RequireDims("viewDims", shape.view_dims, shape.view_count));
  RW_TRY(RequireDims("storageDims", shape.storage_dims, shape.storage_count));
  if (shape.offset < 0) return Reject(kInvalidValue, "offset %lld is negative", static_cast<long long>(shape.offset));
  aclTensor filled;
  filled.view_dims.assign(shape.view_dims, shape.view_dims + shape.view_count);
  filled.storage_dims.assign(shape.storage_dims, shape.storage_dims + shape.storage_count);
  if (shape.stride != nullptr)
    filled.strides.assign(shape.stride, shape.stride + shape.view_count);
  else
    filled.strides = DenseStrides(filled.view_dims);
  filled.offset = shape.offset;
  filled.type = type;
  filled.format = format;
  filled.data = data;
  tensor = std::move(filled);
  return Ok();
}

// The caller ends the copy by delete[].
aclnnStatus CopyDims(const char* call, const aclTensor* tensor, const aclTensor::Dims aclTensor::*field, int64_t** dims, uint64_t* count) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequireGiven({{"tensor", tensor}, {"the array's pointer", dims}, {"the number's pointer", count}}));
    const aclTensor::Dims& kept = tensor->*field;
    *dims = new int64_t[kept.size()];
    std::copy(kept.begin(), kept.end(), *dims);
    *count = kept.size();
    return Ok();
  });
}

template <typename List, typename Item>
List* MakeList(const char* call, const Item* const* value, uint64_t size) {
  return Make<List>(call, [&](List& list) -> Status {
    RW_TRY(RequireArray("value", value, size));
    for (uint64_t i = 0; i < size; ++i) {
      if (value[i] == nullptr) return Reject(kNullPointer, "value[%llu] is NULL", static_cast<unsigned long long>(i));
    }
    list.members.reserve(size);
    for (uint64_t i = 0; i < size; ++i) list.members.emplace_back(value[i]);
    return Ok();
  });
}

}  // namespace
}  // namespace ropeway::api

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride, int64_t offset,
                           aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  return Make<aclTensor>(__func__, [&](aclTensor& tensor) {
    return FillTensor({viewDims, stride, storageDims, viewDimsNum, storageDimsNum, offset}, dataType, format, tensorData, tensor);
  });
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                          int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum, void* tensorDataAddr) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireGiven({{"tensor", tensor}}));
    return FillTensor({viewDims, stride, storageDims, viewDimsNum, storageDimsNum, offset}, dataType, format, tensorDataAddr, *tensor);
  });
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  return Make<aclScalar>(__func__, [&](aclScalar& scalar) -> Status {
    RW_TRY(RequireGiven({{"value", value}}));
    const size_t size = aclDataTypeSize(dataType);
    if (size == 0) return Reject(kInvalidValue, "dataType %d has no size in bytes", static_cast<int>(dataType));
    scalar.type = dataType;
    memcpy(scalar.bytes.data(), value, size);
    return Ok();
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return Make<aclIntArray>(__func__, [&](aclIntArray& array) -> Status {
    RW_TRY(RequireArray("value", value, size));
    array.values.assign(value, value + size);
    return Ok();
  });
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return Make<aclFloatArray>(__func__, [&](aclFloatArray& array) -> Status {
    RW_TRY(RequireArray("value", value, size));
    array.values.assign(value, value + size);
    return Ok();
  });
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return Make<aclBoolArray>(__func__, [&](aclBoolArray& array) -> Status {
    RW_TRY(RequireArray("value", value, size));
    array.values = std::make_unique<bool[]>(size);
    std::copy(value, value + size, array.values.get());
    array.size = size;
    return Ok();
  });
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) { return MakeList<aclTensorList>(__func__, value, size); }
aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) { return MakeList<aclScalarList>(__func__, value, size); }

aclnnStatus aclDestroyTensor(const aclTensor* tensor) { return Destroy(__func__, "tensor", tensor); }
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return Destroy(__func__, "scalar", scalar); }
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return Destroy(__func__, "array", array); }
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return Destroy(__func__, "array", array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return Destroy(__func__, "array", array); }
aclnnStatus aclDestroyTensorList(const aclTensorList* array) { return Destroy(__func__, "array", array); }
aclnnStatus aclDestroyScalarList(const aclScalarList* array) { return Destroy(__func__, "array", array); }

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  return CopyDims(__func__, tensor, &aclTensor::view_dims, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  return CopyDims(__func__, tensor, &aclTensor::storage_dims, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  return CopyDims(__func__, tensor, &aclTensor::strides, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return Get(__func__, tensor, offset, [](const aclTensor& one) { return one.offset; });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return Get(__func__, tensor, format, [](const aclTensor& one) { return one.format; });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  return Get(__func__, tensor, dataType, [](const aclTensor& one) { return one.type; });
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return Get(__func__, array, size, [](const aclIntArray& one) { return one.values.size(); });
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return Get(__func__, array, size, [](const aclFloatArray& one) { return one.values.size(); });
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return Get(__func__, array, size, [](const aclBoolArray& one) { return one.size; });
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return Get(__func__, tensorList, size, [](const aclTensorList& one) { return one.members.size(); });
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return Get(__func__, scalarList, size, [](const aclScalarList& one) { return one.members.size(); });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireGiven({{"tensor", tensor}}));
    tensor->data = addr;
    return Ok();
  });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return Get(__func__, tensor, addr, [](const aclTensor& one) { return one.data; });
}

aclnnStatus aclnnInit(const char* configPath) {
  return PlainEntry(__func__, [&]() -> Status {
    if (configPath == nullptr) return Ok();
    std::string text;
    InitConfig config;
    RW_TRY(ReadInitFile(configPath, &text));
    return ParseInitConfig(text, &config);
  });
}

aclnnStatus aclnnFinalize() { return OK; }
