// Tensor descriptors (acl_base_mdl.h): what programs size their buffers by.
#include "api/tensor_desc.h"

#include <memory>

#include "api/checks.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr int64_t kUnknownRank = -2;

Status ReadDims(int num_dims, const int64_t* dims, aclTensorDesc::Dims* read) {
  RW_TRY(RequireRange(Layer::kOuter, "numDims", num_dims, 0, INT32_MAX));
  if (num_dims > 0) RW_TRY(RequirePointer("dims", dims));
  read->assign(dims, dims + num_dims);
  return Ok();
}

Status ReadRanges(const char* name, size_t count, int64_t (*ranges)[2], aclTensorDesc::Ranges* read) {
  if (count > 0) RW_TRY(RequirePointer(name, ranges));
  read->clear();
  for (size_t i = 0; i < count; ++i) read->push_back({ranges[i][0], ranges[i][1]});
  return Ok();
}

// 0 when a dimension is not known, or the product is too large.
size_t ElementCountOf(const aclTensorDesc& desc) {
  size_t count = 1;
  for (const int64_t dim : desc.dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) return 0;
  }
  return count;
}

Status RequireDim(const aclTensorDesc* desc, size_t index) {
  RW_TRY(RequirePointer("desc", desc));
  if (index < desc->dims.size()) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "index %zu is not below the descriptor's %zu dimensions", index, desc->dims.size());
}

// `change` is what a setter does to a descriptor that is there.
template <typename Change>
aclError ChangeDesc(const char* call, aclTensorDesc* desc, Change&& change) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    return change();
  });
}

aclError SetText(const char* call, aclTensorDesc* desc, const char* name, const char* text, std::string aclTensorDesc::*field) {
  return ChangeDesc(call, desc, [&]() -> Status {
    RW_TRY(RequirePointer(name, text));
    desc->*field = text;
    return Ok();
  });
}

aclError SetDims(const char* call, aclTensorDesc* desc, int num_dims, const int64_t* dims, aclTensorDesc::Dims aclTensorDesc::*field) {
  return ChangeDesc(call, desc, [&] { return ReadDims(num_dims, dims, &(desc->*field)); });
}

aclError SetFormat(const char* call, aclTensorDesc* desc, aclFormat format, aclFormat aclTensorDesc::*field) {
  return ChangeDesc(call, desc, [&] {
    desc->*field = format;
    return Ok();
  });
}

}  // namespace
}  // namespace ropeway::api

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format) {
  aclTensorDesc* made = nullptr;
  PlainEntry(__func__, [&]() -> Status {
    auto desc = std::make_unique<aclTensorDesc>();
    desc->type = dataType;
    desc->format = format;
    RW_TRY(ReadDims(numDims, dims, &desc->dims));
    made = desc.release();
    return Ok();
  });
  return made;
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) { return desc == nullptr ? ACL_DT_UNDEFINED : desc->type; }
aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) { return desc == nullptr ? ACL_FORMAT_UNDEFINED : desc->format; }
size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) { return desc == nullptr ? 0 : ElementCountOf(*desc); }
void* aclGetTensorDescAddress(const aclTensorDesc* desc) { return desc == nullptr ? nullptr : desc->constant; }
const char* aclGetTensorDescName(aclTensorDesc* desc) { return desc == nullptr ? "" : desc->name.c_str(); }

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  size_t bytes = 0;
  if (desc == nullptr || __builtin_mul_overflow(ElementCountOf(*desc), aclDataTypeSize(desc->type), &bytes)) return 0;
  return bytes;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  if (desc == nullptr) return 0;
  const bool unknown = desc->dims.size() == 1 && desc->dims[0] == kUnknownRank;
  return unknown ? static_cast<size_t>(ACL_UNKNOWN_RANK) : desc->dims.size();
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  int64_t dim = -1;
  PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireDim(desc, index));
    dim = desc->dims[index];
    return Ok();
  });
  return dim;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireDim(desc, index));
    RW_TRY(RequirePointer("dimSize", dimSize));
    *dimSize = desc->dims[index];
    return Ok();
  });
}

aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum, int64_t* dimRange) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireDim(desc, index));
    RW_TRY(RequirePointer("dimRange", dimRange));
    if (dimRangeNum < ACL_TENSOR_SHAPE_RANGE_NUM)
      return Reject(ACL_ERROR_INVALID_PARAM, "dimRangeNum %zu is below %d", dimRangeNum, ACL_TENSOR_SHAPE_RANGE_NUM);
    const int64_t dim = desc->dims[index];
    const bool told = index < desc->shape_range.size();
    dimRange[0] = told ? desc->shape_range[index][0] : dim < 0 ? 0 : dim;
    dimRange[1] = told ? desc->shape_range[index][1] : dim < 0 ? -1 : dim;
    return Ok();
  });
}

aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index) {
  const aclError code = ChangeDesc(__func__, desc, [&]() -> Status {
    return index == 0 ? Ok() : Reject(ACL_ERROR_INVALID_PARAM, "index %zu of a descriptor that stands alone", index);
  });
  return code == ACL_SUCCESS ? desc : nullptr;
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  static_cast<void>(SetText(__func__, desc, "name", name, &aclTensorDesc::name));
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return SetText(__func__, desc, "dynamicInputName", dynamicInputName, &aclTensorDesc::dynamic_input);
}

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount, int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]) {
  return ChangeDesc(__func__, desc, [&] { return ReadRanges("dimsRange", dimsCount, dimsRange, &desc->shape_range); });
}

aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount, int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]) {
  return ChangeDesc(__func__, desc, [&] { return ReadRanges("valueRange", valueCount, valueRange, &desc->value_range); });
}

aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return SetFormat(__func__, desc, format, &aclTensorDesc::storage_format);
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return SetFormat(__func__, desc, format, &aclTensorDesc::storage_format);
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return SetFormat(__func__, desc, format, &aclTensorDesc::origin_format);
}

aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return SetDims(__func__, desc, numDims, dims, &aclTensorDesc::storage_dims);
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return SetDims(__func__, desc, numDims, dims, &aclTensorDesc::storage_dims);
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return SetDims(__func__, desc, numDims, dims, &aclTensorDesc::origin_dims);
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return ChangeDesc(__func__, desc, [&]() -> Status {
    RW_TRY(RequirePointer("dataBuffer", dataBuffer));
    RW_TRY(RequireSome(Layer::kOuter, "length", length));
    desc->constant = dataBuffer;
    desc->constant_length = length;
    return Ok();
  });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return ChangeDesc(__func__, desc, [&]() -> Status {
    RW_TRY(RequireRange(Layer::kOuter, "memType", memType, ACL_MEMTYPE_DEVICE, ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT));
    desc->placement = memType;
    return Ok();
  });
}
