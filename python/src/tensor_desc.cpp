// acl: tensor descriptors. The library has no operators and no descriptors for them, but host programs size their
// buffers by these, so the module keeps them itself: shape, type, format and names, without anything that would
// execute.
#include <array>
#include <optional>

#include "dicts.h"
#include "live_set.h"
#include "tables.h"

namespace ropeway::python {
namespace {

using Dims = std::vector<int64_t>;
constexpr int kBad = LiveSet<int>::kInvalidParam;

struct TensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Dims dims;
  std::string name;
  std::vector<std::array<int64_t, 2>> shape_range;
  // Kept for operators, which are not there: no getter shows them.
  aclFormat storage_format = ACL_FORMAT_UNDEFINED, origin_format = ACL_FORMAT_UNDEFINED;
  Dims storage_dims, origin_dims;
  std::vector<std::array<int64_t, 2>> value_range;
  std::string dynamic_input;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  const void* constant = nullptr;
  size_t constant_length = 0;
};

LiveSet<TensorDesc>& Descs() {
  static auto* descs = new LiveSet<TensorDesc>("tensor descriptor");
  return *descs;
}

// 0 when a dimension is not known.
size_t ElementCount(const TensorDesc& desc) {
  size_t count = 1;
  for (int64_t dim : desc.dims) count = dim < 0 ? 0 : count * static_cast<size_t>(dim);
  return count;
}

aclDataType Type(const TensorDesc& desc) { return desc.type; }
aclFormat Format(const TensorDesc& desc) { return desc.format; }
size_t ByteSize(const TensorDesc& desc) { return ElementCount(desc) * aclDataTypeSize(desc.type); }
const char* Name(const TensorDesc& desc) { return desc.name.c_str(); }
void* Address(const TensorDesc&) { return nullptr; }  // only descriptors of a model's operators have one

size_t NumDims(const TensorDesc& desc) {
  const bool unknown_rank = desc.dims.size() == 1 && desc.dims[0] == -2;
  return unknown_rank ? ACL_UNKNOWN_RANK : desc.dims.size();
}

// A getter; kMissing is what a handle that is not live gets.
template <FixedString kPath, auto kRead, auto kMissing>
PyObject* Get(PyObject*, Argv argv, Py_ssize_t count) {
  TensorDesc* handle;
  if (!ReadArguments<"P">(kPath.text, argv, count, handle)) return nullptr;
  const TensorDesc* desc = Descs().Find(kPath.text, handle);
  return ToPython(desc == nullptr ? kMissing : kRead(*desc));
}

// A setter of one field.
template <FixedString kPath, char kClass, auto kField>
PyObject* Set(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kFormat[] = {'P', kClass, '\0'};
  TensorDesc* handle;
  std::conditional_t<kClass == 'S', Text, int32_t> value{};
  if (!ReadArguments<kFormat>(kPath.text, argv, count, handle, value)) return nullptr;
  TensorDesc* desc = Descs().Find(kPath.text, handle);
  if (desc == nullptr) return ToPython(kBad);
  if constexpr (kClass == 'S') {
    desc->*kField = value.get();
  } else {
    Assign(value, desc->*kField);
  }
  return ToPython(ACL_SUCCESS);
}

template <FixedString kPath, auto kField>
PyObject* SetDims(PyObject*, Argv argv, Py_ssize_t count) {
  TensorDesc* handle;
  PyObject* list;
  Dims dims;
  if (!ReadArguments<"PO">(kPath.text, argv, count, handle, list)) return nullptr;
  if (!ReadList<'L'>(kPath.text, "dims", list, &dims)) return nullptr;
  TensorDesc* desc = Descs().Find(kPath.text, handle);
  if (desc == nullptr) return ToPython(kBad);
  desc->*kField = std::move(dims);
  return ToPython(ACL_SUCCESS);
}

template <FixedString kPath, auto kField>
PyObject* SetRanges(PyObject*, Argv argv, Py_ssize_t count) {
  TensorDesc* handle;
  PyObject* list;
  std::vector<PyObject*> pairs;
  if (!ReadArguments<"PO">(kPath.text, argv, count, handle, list)) return nullptr;
  if (!ReadList<'O'>(kPath.text, "ranges", list, &pairs)) return nullptr;
  std::vector<std::array<int64_t, 2>> ranges;
  for (PyObject* pair : pairs) {
    Dims ends;
    if (!ReadList<'L'>(kPath.text, "ranges[i]", pair, &ends)) return nullptr;
    if (ends.size() != 2) {
      PyErr_Format(PyExc_ValueError, "%s: a range is a list of two", kPath.text);
      return nullptr;
    }
    ranges.push_back({ends[0], ends[1]});
  }
  TensorDesc* desc = Descs().Find(kPath.text, handle);
  if (desc == nullptr) return ToPython(kBad);
  desc->*kField = std::move(ranges);
  return ToPython(ACL_SUCCESS);
}

PyObject* Create(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.create_tensor_desc";
  TensorDesc desc;
  PyObject* dims;
  if (!ReadArguments<"IOI">(kPath, argv, count, desc.type, dims, desc.format)) return nullptr;
  if (!ReadList<'L'>(kPath, "dims", dims, &desc.dims)) return nullptr;
  return ToPython(Descs().Add(std::move(desc)));
}

PyObject* Destroy(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.destroy_tensor_desc";
  TensorDesc* handle;
  if (!ReadArguments<"P">(kPath, argv, count, handle)) return nullptr;
  Descs().Remove(kPath, handle);
  return None();
}

PyObject* SetName(PyObject* self, Argv argv, Py_ssize_t count) {
  PyObject* code = Set<"acl.set_tensor_desc_name", 'S', &TensorDesc::name>(self, argv, count);
  if (code == nullptr) return nullptr;
  Py_DECREF(code);
  return None();
}

// The descriptor, when it is live and has this dimension.
const TensorDesc* FindDim(const char* path, TensorDesc* handle, size_t index) {
  const TensorDesc* desc = Descs().Find(path, handle);
  if (desc == nullptr || index < desc->dims.size()) return desc;
  Fail(path, kBad, "index " + std::to_string(index) + " is not below " + std::to_string(desc->dims.size()));
  return nullptr;
}

PyObject* GetDim(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.get_tensor_desc_dim";
  TensorDesc* handle;
  size_t index;
  if (!ReadArguments<"PP">(kPath, argv, count, handle, index)) return nullptr;
  const TensorDesc* desc = FindDim(kPath, handle, index);
  return ToPython(desc == nullptr ? int64_t{-1} : desc->dims[index]);
}

PyObject* GetDimV2(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.get_tensor_desc_dim_v2";
  TensorDesc* handle;
  size_t index;
  if (!ReadArguments<"PP">(kPath, argv, count, handle, index)) return nullptr;
  const TensorDesc* desc = FindDim(kPath, handle, index);
  return desc == nullptr ? Tuple(ToPython(0), ToPython(kBad)) : Tuple(ToPython(desc->dims[index]), ToPython(ACL_SUCCESS));
}

PyObject* GetDimRange(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.get_tensor_desc_dim_range";
  constexpr size_t kMostNumbers = 4096;
  TensorDesc* handle;
  size_t index, numbers;
  if (!ReadArguments<"PPP">(kPath, argv, count, handle, index, numbers)) return nullptr;
  if (numbers < ACL_TENSOR_SHAPE_RANGE_NUM || numbers > kMostNumbers)
    return Tuple(None(), ToPython(Fail(kPath, kBad, "dim_range_num " + std::to_string(numbers) + " is not in 2..4096")));
  const TensorDesc* desc = FindDim(kPath, handle, index);
  if (desc == nullptr) return Tuple(None(), ToPython(kBad));
  Dims range(numbers, 0);
  if (index < desc->shape_range.size()) {
    range[0] = desc->shape_range[index][0];
    range[1] = desc->shape_range[index][1];
  } else if (desc->dims[index] < 0) {
    range[1] = -1;  // 0 to no limit
  } else {
    range[0] = range[1] = desc->dims[index];
  }
  return Tuple(ListOf(range.data(), range.size()), ToPython(ACL_SUCCESS));
}

PyObject* GetByIndex(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.get_tensor_desc_by_index";
  TensorDesc* handle;
  size_t index;
  if (!ReadArguments<"PP">(kPath, argv, count, handle, index)) return nullptr;
  TensorDesc* desc = Descs().Find(kPath, handle);
  if (desc != nullptr && index != 0) {
    Fail(kPath, kBad, "index " + std::to_string(index) + " of a single descriptor");
    desc = nullptr;
  }
  return ToPython(desc);
}

// Which axis stands where in the formats that are permutations of each other.
std::optional<std::string_view> AxesOf(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NCHW: return "NCHW";
    case ACL_FORMAT_NHWC: return "NHWC";
    case ACL_FORMAT_HWCN: return "HWCN";
    default: return std::nullopt;
  }
}

PyObject* TransFormat(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.trans_tensor_desc_format";
  TensorDesc* handle;
  aclFormat wanted;
  if (!ReadArguments<"PI">(kPath, argv, count, handle, wanted)) return nullptr;
  const TensorDesc* desc = Descs().Find(kPath, handle);
  if (desc == nullptr) return Tuple(ToPython(0), ToPython(kBad));
  TensorDesc result = *desc;
  result.format = wanted;
  const auto from = AxesOf(desc->format), to = AxesOf(wanted);
  if (wanted != desc->format) {
    if (!from || !to || desc->dims.size() != from->size())
      return Tuple(ToPython(0), ToPython(Fail(kPath, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                              "only NCHW, NHWC and HWCN of four dimensions are turned into each other here")));
    for (size_t i = 0; i < to->size(); ++i) result.dims[i] = desc->dims[from->find((*to)[i])];
  }
  return Tuple(ToPython(Descs().Add(std::move(result))), ToPython(ACL_SUCCESS));
}

PyObject* SetConst(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.set_tensor_const";
  TensorDesc* handle;
  const void* data;
  size_t length;
  if (!ReadArguments<"PPP">(kPath, argv, count, handle, data, length)) return nullptr;
  TensorDesc* desc = Descs().Find(kPath, handle);
  if (desc == nullptr) return ToPython(kBad);
  desc->constant = data;
  desc->constant_length = length;
  return ToPython(ACL_SUCCESS);
}

constexpr const char* kNoName = nullptr;
constexpr size_t kNone = 0;
constexpr void* kNoAddress = nullptr;

}  // namespace

Table kTensorDescFunctions[] = {
    RW_SPECIAL("acl.create_tensor_desc", &Create, "data_type, dims: list[int], format, /", "handle",
               "A tensor descriptor; dims is a list, -1 for a dimension that is not known."),
    RW_SPECIAL("acl.destroy_tensor_desc", &Destroy, "desc, /", "None", "Ends a tensor descriptor."),
    RW_SPECIAL("acl.get_tensor_desc_type", (&Get<"acl.get_tensor_desc_type", &Type, ACL_DT_UNDEFINED>), "desc, /", "int",
               "The data type, -1 for none."),
    RW_SPECIAL("acl.get_tensor_desc_format", (&Get<"acl.get_tensor_desc_format", &Format, ACL_FORMAT_UNDEFINED>), "desc, /", "int",
               "The format, -1 for none."),
    RW_SPECIAL("acl.get_tensor_desc_size", (&Get<"acl.get_tensor_desc_size", &ByteSize, kNone>), "desc, /", "int",
               "Bytes of the tensor; 0 when a dimension is not known."),
    RW_SPECIAL("acl.get_tensor_desc_element_count", (&Get<"acl.get_tensor_desc_element_count", &ElementCount, kNone>), "desc, /", "int",
               "Elements of the tensor; 0 when a dimension is not known."),
    RW_SPECIAL("acl.get_tensor_desc_num_dims", (&Get<"acl.get_tensor_desc_num_dims", &NumDims, kNone>), "desc, /", "int",
               "The number of dimensions."),
    RW_SPECIAL("acl.get_tensor_desc_name", (&Get<"acl.get_tensor_desc_name", &Name, kNoName>), "desc, /", "str or None",
               "The name that set_tensor_desc_name gave."),
    RW_SPECIAL("acl.get_tensor_desc_address", (&Get<"acl.get_tensor_desc_address", &Address, kNoAddress>), "desc, /", "addr",
               "The address of the tensor, which only descriptors of a model's operators have; otherwise 0."),
    RW_SPECIAL("acl.get_tensor_desc_dim", &GetDim, "desc, index, /", "int", "One dimension, -1 when there is none."),
    RW_SPECIAL("acl.get_tensor_desc_dim_v2", &GetDimV2, "desc, index, /", "(dim, ret)", "One dimension, and whether there is one."),
    RW_SPECIAL("acl.get_tensor_desc_dim_range", &GetDimRange, "desc, index, dim_range_num, /", "(list[int] or None, ret)",
               "Least and greatest value of a dimension, -1 for no limit."),
    RW_SPECIAL("acl.get_tensor_desc_by_index", &GetByIndex, "desc, index, /", "handle",
               "The descriptor behind another one; here each stands alone."),
    RW_SPECIAL("acl.set_tensor_desc_name", &SetName, "desc, name: str, /", "None", "Gives a name."),
    RW_SPECIAL("acl.trans_tensor_desc_format", &TransFormat, "src_desc, dst_format, /", "(dst_desc, ret)",
               "A new descriptor with the dimensions in the order of another format (NCHW, NHWC, HWCN)."),
    RW_SPECIAL("acl.set_tensor_storage_format", (&Set<"acl.set_tensor_storage_format", 'I', &TensorDesc::storage_format>),
               "desc, format, /", "ret", "The format in memory."),
    RW_SPECIAL("acl.set_tensor_format", (&Set<"acl.set_tensor_format", 'I', &TensorDesc::storage_format>), "desc, format, /", "ret",
               "The same as set_tensor_storage_format."),
    RW_SPECIAL("acl.set_tensor_origin_format", (&Set<"acl.set_tensor_origin_format", 'I', &TensorDesc::origin_format>), "desc, format, /",
               "ret", "The format before a change."),
    RW_SPECIAL("acl.set_tensor_dynamic_input", (&Set<"acl.set_tensor_dynamic_input", 'S', &TensorDesc::dynamic_input>),
               "desc, name: str, /", "ret", "The name of a dynamic input."),
    RW_SPECIAL("acl.set_tensor_storage_shape", (&SetDims<"acl.set_tensor_storage_shape", &TensorDesc::storage_dims>),
               "desc, dims: list[int], /", "ret", "The shape in memory."),
    RW_SPECIAL("acl.set_tensor_shape", (&SetDims<"acl.set_tensor_shape", &TensorDesc::storage_dims>), "desc, dims: list[int], /", "ret",
               "The same as set_tensor_storage_shape."),
    RW_SPECIAL("acl.set_tensor_origin_shape", (&SetDims<"acl.set_tensor_origin_shape", &TensorDesc::origin_dims>),
               "desc, dims: list[int], /", "ret", "The shape before a change."),
    RW_SPECIAL("acl.set_tensor_shape_range", (&SetRanges<"acl.set_tensor_shape_range", &TensorDesc::shape_range>),
               "desc, ranges: list[list[int]], /", "ret", "A [least, greatest] for each dimension."),
    RW_SPECIAL("acl.set_tensor_value_range", (&SetRanges<"acl.set_tensor_value_range", &TensorDesc::value_range>),
               "desc, ranges: list[list[int]], /", "ret", "A [least, greatest] for the values."),
    RW_SPECIAL("acl.set_tensor_place_ment", (&Set<"acl.set_tensor_place_ment", 'I', &TensorDesc::placement>), "desc, mem_type, /", "ret",
               "Where the tensor lies: 0 device, 1 host."),
    RW_SPECIAL("acl.set_tensor_const", &SetConst, "desc, data, length, /", "ret", "Marks the tensor as constant."),
    {}};

}  // namespace ropeway::python
