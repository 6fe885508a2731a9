// Objects that only hold facts: tensor descriptors, datasets, attributes of operators, and what operators take.
#include <cstring>
#include <limits>

#include "acl/acl_op_compiler.h"
#include "aclnn/aclnn_base.h"
#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace host_objects_test {

constexpr int kBad = ACL_ERROR_INVALID_PARAM;
constexpr aclnnStatus kNull = 161001, kInvalid = 161002;

using TensorDesc = BareTest;

TEST_F(TensorDesc, SizesByShapeAndType) {
  struct Row {
    aclDataType type;
    std::vector<int64_t> dims;
    size_t elements, bytes, num_dims;
  };
  const Row rows[] = {
      {ACL_FLOAT, {2, 3, 4}, 24, 96, 3},
      {ACL_FLOAT16, {}, 1, 2, 0},
      {ACL_INT8, {5, 0}, 0, 0, 2},
      {ACL_INT64, {4, -1}, 0, 0, 2},
      {ACL_FLOAT, {-2}, 0, 0, static_cast<size_t>(ACL_UNKNOWN_RANK)},
      {ACL_STRING, {7}, 7, 0, 1},
      {ACL_INT64, {std::numeric_limits<int64_t>::max(), 2}, 18446744073709551614u, 0, 2},
      {ACL_INT8, {std::numeric_limits<int64_t>::max(), 4}, 0, 0, 2},
  };
  for (const Row& row : rows) {
    aclTensorDesc* desc = aclCreateTensorDesc(row.type, static_cast<int>(row.dims.size()), row.dims.data(), ACL_FORMAT_ND);
    ASSERT_NE(desc, nullptr);
    EXPECT_EQ(aclGetTensorDescType(desc), row.type);
    EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_ND);
    EXPECT_EQ(aclGetTensorDescElementCount(desc), row.elements);
    EXPECT_EQ(aclGetTensorDescSize(desc), row.bytes);
    EXPECT_EQ(aclGetTensorDescNumDims(desc), row.num_dims);
    aclDestroyTensorDesc(desc);
  }
}

TEST_F(TensorDesc, NamesDimensionsAndRanges) {
  const int64_t dims[] = {4, -1};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_NCHW);
  EXPECT_STREQ(aclGetTensorDescName(desc), "");
  aclSetTensorDescName(desc, "x");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x");
  EXPECT_EQ(aclGetTensorDescDim(desc, 0), 4);
  EXPECT_EQ(aclGetTensorDescDim(desc, 2), -1);
  EXPECT_NE(TakeErrorText().find("index 2"), std::string::npos);
  int64_t dim = 0;
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &dim), ACL_SUCCESS);
  EXPECT_EQ(dim, -1);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 2, &dim), kBad);
  int64_t range[2] = {7, 7};
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 0, 2, range), ACL_SUCCESS);
  EXPECT_EQ(range[0], 4);
  EXPECT_EQ(range[1], 4);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 2, range), ACL_SUCCESS);
  EXPECT_EQ(range[0], 0);
  EXPECT_EQ(range[1], -1);
  int64_t ranges[2][ACL_TENSOR_SHAPE_RANGE_NUM] = {{4, 4}, {1, 9}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 2, ranges), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 2, range), ACL_SUCCESS);
  EXPECT_EQ(range[0], 1);
  EXPECT_EQ(range[1], 9);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 1, 1, range), kBad);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 0), desc);
  EXPECT_EQ(aclGetTensorDescByIndex(desc, 1), nullptr);
  EXPECT_EQ(aclGetTensorDescAddress(desc), nullptr);
  int constant = 5;
  EXPECT_EQ(aclSetTensorConst(desc, &constant, sizeof(constant)), ACL_SUCCESS);
  EXPECT_EQ(aclGetTensorDescAddress(desc), &constant);
  aclDestroyTensorDesc(desc);
}

TEST_F(TensorDesc, ChecksItsArguments) {
  const int64_t dims[] = {1};
  int64_t range[1][2] = {{1, 1}};
  int64_t number = 0;
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND), nullptr);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 1, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(TakeErrorText().find("dims is NULL"), std::string::npos);
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  const int codes[] = {
      aclSetTensorShapeRange(nullptr, 1, range),
      aclSetTensorShapeRange(desc, 1, nullptr),
      aclSetTensorValueRange(nullptr, 1, range),
      aclSetTensorValueRange(desc, 1, nullptr),
      aclSetTensorStorageFormat(nullptr, ACL_FORMAT_ND),
      aclSetTensorFormat(nullptr, ACL_FORMAT_ND),
      aclSetTensorOriginFormat(nullptr, ACL_FORMAT_ND),
      aclSetTensorStorageShape(nullptr, 1, dims),
      aclSetTensorStorageShape(desc, -1, dims),
      aclSetTensorShape(desc, 1, nullptr),
      aclSetTensorOriginShape(nullptr, 1, dims),
      aclSetTensorDynamicInput(desc, nullptr),
      aclSetTensorConst(desc, nullptr, 1),
      aclSetTensorConst(desc, &number, 0),
      aclSetTensorPlaceMent(desc, static_cast<aclMemType>(3)),
      aclSetTensorPlaceMent(nullptr, ACL_MEMTYPE_HOST),
      aclGetTensorDescDimV2(nullptr, 0, &number),
      aclGetTensorDescDimV2(desc, 0, nullptr),
      aclGetTensorDescDimRange(desc, 0, 2, nullptr),
  };
  for (size_t i = 0; i < std::size(codes); ++i) EXPECT_EQ(codes[i], kBad) << "row " << i;
  EXPECT_EQ(aclGetTensorDescType(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescFormat(nullptr), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescSize(nullptr), 0u);
  EXPECT_EQ(aclGetTensorDescNumDims(nullptr), 0u);
  EXPECT_EQ(aclSetTensorStorageShape(desc, 1, dims), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorValueRange(desc, 1, range), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, ACL_MEMTYPE_HOST), ACL_SUCCESS);
  EXPECT_EQ(aclSetTensorDynamicInput(desc, "d"), ACL_SUCCESS);
  aclDestroyTensorDesc(desc);
  aclDestroyTensorDesc(nullptr);
}

using Dataset = BareTest;

TEST_F(Dataset, HoldsBuffersAndCopiesOfDescriptors) {
  char bytes[8];
  aclDataBuffer* first = aclCreateDataBuffer(bytes, 4);
  aclDataBuffer* second = aclCreateDataBuffer(bytes + 4, 4);
  aclmdlDataset* dataset = aclmdlCreateDataset();
  EXPECT_EQ(aclmdlAddDatasetBuffer(dataset, first), ACL_SUCCESS);
  EXPECT_EQ(aclmdlAddDatasetBuffer(dataset, second), ACL_SUCCESS);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(dataset), 2u);
  EXPECT_EQ(aclmdlGetDatasetBuffer(dataset, 1), second);
  EXPECT_EQ(aclmdlGetDatasetBuffer(dataset, 2), nullptr);
  EXPECT_NE(TakeErrorText().find("index 2"), std::string::npos);
  EXPECT_EQ(aclmdlGetDatasetTensorDesc(dataset, 1), nullptr);
  const int64_t dims[] = {4};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_INT8, 1, dims, ACL_FORMAT_ND);
  EXPECT_EQ(aclmdlSetDatasetTensorDesc(dataset, desc, 1), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetDatasetTensorDesc(dataset, desc, 2), kBad);
  aclDestroyTensorDesc(desc);
  ASSERT_NE(aclmdlGetDatasetTensorDesc(dataset, 1), nullptr);
  EXPECT_EQ(aclGetTensorDescSize(aclmdlGetDatasetTensorDesc(dataset, 1)), 4u);
  EXPECT_EQ(aclmdlSetDatasetTensorDesc(dataset, nullptr, 1), kBad);
  EXPECT_EQ(aclmdlAddDatasetBuffer(dataset, nullptr), kBad);
  EXPECT_EQ(aclmdlAddDatasetBuffer(nullptr, first), kBad);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(nullptr), 0u);
  EXPECT_EQ(aclmdlDestroyDataset(dataset), ACL_SUCCESS);
  EXPECT_EQ(aclmdlDestroyDataset(nullptr), kBad);
  EXPECT_EQ(aclDestroyDataBuffer(first), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(second), ACL_SUCCESS);
}

using OperatorAttributes = BareTest;

TEST_F(OperatorAttributes, TakeEveryKindOfValueAndCheckIt) {
  const uint8_t bools[] = {1, 0};
  const int64_t ints[] = {1, 2};
  const float floats[] = {1, 2};
  const char* texts[] = {"a", "b"};
  const char* holes[] = {"a", nullptr};
  const aclDataType types[] = {ACL_FLOAT, ACL_INT8};
  const int lengths[] = {2, 0};
  const int negative[] = {2, -1};
  const int64_t* lists[] = {ints, nullptr};
  const int64_t* no_lists[] = {nullptr, nullptr};
  aclopAttr* attr = aclopCreateAttr();
  ASSERT_NE(attr, nullptr);
  const int good[] = {
      aclopSetAttrBool(attr, "n", 1),
      aclopSetAttrInt(attr, "n", 1),
      aclopSetAttrFloat(attr, "n", 1),
      aclopSetAttrString(attr, "n", "v"),
      aclopSetAttrDataType(attr, "n", ACL_FLOAT),
      aclopSetAttrListBool(attr, "n", 2, bools),
      aclopSetAttrListInt(attr, "n", 2, ints),
      aclopSetAttrListFloat(attr, "n", 2, floats),
      aclopSetAttrListString(attr, "n", 2, texts),
      aclopSetAttrListDataType(attr, "n", 2, types),
      aclopSetAttrListListInt(attr, "n", 2, lengths, lists),
      aclopSetAttrListInt(attr, "n", 0, nullptr),
  };
  for (size_t i = 0; i < std::size(good); ++i) EXPECT_EQ(good[i], ACL_SUCCESS) << "row " << i;
  const int bad[] = {
      aclopSetAttrBool(nullptr, "n", 1),
      aclopSetAttrInt(attr, nullptr, 1),
      aclopSetAttrFloat(nullptr, "n", 1),
      aclopSetAttrString(attr, "n", nullptr),
      aclopSetAttrDataType(attr, nullptr, ACL_FLOAT),
      aclopSetAttrListBool(attr, "n", -1, bools),
      aclopSetAttrListInt(attr, "n", 2, nullptr),
      aclopSetAttrListFloat(nullptr, "n", 2, floats),
      aclopSetAttrListString(attr, "n", 2, holes),
      aclopSetAttrListDataType(attr, "n", 2, nullptr),
      aclopSetAttrListListInt(attr, "n", 2, negative, lists),
      aclopSetAttrListListInt(attr, "n", 2, lengths, no_lists),
      aclopSetAttrListListInt(attr, "n", 2, nullptr, lists),
      aclopSetAttrListListInt(attr, "n", -1, lengths, lists),
  };
  for (size_t i = 0; i < std::size(bad); ++i) EXPECT_EQ(bad[i], kBad) << "row " << i;
  aclopDestroyAttr(attr);
  aclopDestroyAttr(nullptr);
  aclopDestroyHandle(nullptr);
}

TEST_F(OperatorAttributes, CompileOptionsAreKept) {
  char value[16] = "?";
  EXPECT_EQ(aclGetCompileoptSize(ACL_ALLOW_HF32), 1u);
  EXPECT_EQ(aclGetCompileopt(ACL_ALLOW_HF32, value, sizeof(value)), ACL_SUCCESS);
  EXPECT_STREQ(value, "");
  EXPECT_EQ(aclSetCompileopt(ACL_ALLOW_HF32, "enable"), ACL_SUCCESS);
  EXPECT_EQ(aclGetCompileoptSize(ACL_ALLOW_HF32), 7u);
  EXPECT_EQ(aclGetCompileopt(ACL_ALLOW_HF32, value, 6), kBad);
  EXPECT_EQ(aclGetCompileopt(ACL_ALLOW_HF32, value, 7), ACL_SUCCESS);
  EXPECT_STREQ(value, "enable");
  EXPECT_EQ(aclSetCompileopt(ACL_ALLOW_HF32, ""), ACL_SUCCESS);
  const auto none = static_cast<aclCompileOpt>(ACL_OP_DEBUG_OPTION + 1);
  EXPECT_EQ(aclSetCompileopt(none, "x"), kBad);
  EXPECT_EQ(aclSetCompileopt(ACL_ALLOW_HF32, nullptr), kBad);
  EXPECT_EQ(aclGetCompileoptSize(none), 0u);
  EXPECT_EQ(aclGetCompileopt(none, value, 7), kBad);
  EXPECT_EQ(aclGetCompileopt(ACL_ALLOW_HF32, nullptr, 7), kBad);
  aclGraphDumpOption* dump = aclCreateGraphDumpOpt();
  EXPECT_EQ(aclDestroyGraphDumpOpt(dump), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyGraphDumpOpt(nullptr), kBad);
}

using OperatorObjects = BareTest;

// What a getter of dimensions hands out.
using GetDims = aclnnStatus (*)(const aclTensor*, int64_t**, uint64_t*);
std::vector<int64_t> DimsOf(GetDims get, const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(get(tensor, &dims, &count), OK);
  std::vector<int64_t> copy(dims, dims + count);
  delete[] dims;
  return copy;
}

TEST_F(OperatorObjects, TensorsKeepShapeAndBytes) {
  using Dims = std::vector<int64_t>;
  const int64_t view[] = {2, 3}, storage[] = {8}, strides[] = {1, 2}, negative[] = {2, -1};
  float bytes[8];
  aclTensor* tensor = aclCreateTensor(view, 2, ACL_FLOAT, strides, 1, ACL_FORMAT_ND, storage, 1, bytes);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(DimsOf(&aclGetViewShape, tensor), (Dims{2, 3}));
  EXPECT_EQ(DimsOf(&aclGetViewStrides, tensor), (Dims{1, 2}));
  EXPECT_EQ(DimsOf(&aclGetStorageShape, tensor), (Dims{8}));
  int64_t offset = 0;
  aclFormat format;
  aclDataType type;
  void* address = nullptr;
  EXPECT_EQ(aclGetViewOffset(tensor, &offset), OK);
  EXPECT_EQ(offset, 1);
  EXPECT_EQ(aclGetFormat(tensor, &format), OK);
  EXPECT_EQ(format, ACL_FORMAT_ND);
  EXPECT_EQ(aclGetDataType(tensor, &type), OK);
  EXPECT_EQ(type, ACL_FLOAT);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), OK);
  EXPECT_EQ(address, bytes);
  EXPECT_EQ(aclSetRawTensorAddr(tensor, bytes + 1), OK);
  EXPECT_EQ(aclGetRawTensorAddr(tensor, &address), OK);
  EXPECT_EQ(address, bytes + 1);
  EXPECT_EQ(aclInitTensor(tensor, view, 2, ACL_INT8, nullptr, 0, ACL_FORMAT_NCHW, view, 2, nullptr), OK);
  EXPECT_EQ(DimsOf(&aclGetViewStrides, tensor), (Dims{3, 1})) << "elements one behind the other";
  EXPECT_EQ(aclInitTensor(tensor, negative, 2, ACL_INT8, nullptr, 0, ACL_FORMAT_NCHW, view, 2, nullptr), kInvalid);
  EXPECT_EQ(DimsOf(&aclGetViewShape, tensor), (Dims{2, 3})) << "a failed call changes nothing";
  EXPECT_EQ(aclInitTensor(tensor, view, 2, ACL_INT8, nullptr, -1, ACL_FORMAT_NCHW, view, 2, nullptr), kInvalid);
  EXPECT_EQ(aclInitTensor(nullptr, view, 2, ACL_INT8, nullptr, 0, ACL_FORMAT_NCHW, view, 2, nullptr), kNull);
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, storage, 1, bytes), nullptr);
  EXPECT_NE(TakeErrorText().find("viewDims is NULL"), std::string::npos);
  EXPECT_EQ(aclCreateTensor(view, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 1, bytes), nullptr);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
  aclTensor* scalar = aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, bytes);
  EXPECT_EQ(DimsOf(&aclGetViewShape, scalar), Dims{});
  EXPECT_EQ(aclDestroyTensor(scalar), OK);
}

TEST_F(OperatorObjects, ArraysAndListsKnowTheirSize) {
  const int64_t ints[] = {1, 2};
  const float floats[] = {1, 2, 3};
  const bool bools[] = {true};
  float value = 2;
  aclIntArray* int_array = aclCreateIntArray(ints, 2);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 3);
  aclBoolArray* bool_array = aclCreateBoolArray(bools, 1);
  const aclTensor* tensors[] = {aclCreateTensor(ints, 2, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, ints, 2, nullptr),
                                aclCreateTensor(ints, 1, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, ints, 1, nullptr)};
  const aclScalar* scalars[] = {aclCreateScalar(&value, ACL_FLOAT)};
  aclTensorList* tensor_list = aclCreateTensorList(tensors, 2);
  aclScalarList* scalar_list = aclCreateScalarList(scalars, 1);
  std::vector<uint64_t> sizes(5);
  EXPECT_EQ(aclGetIntArraySize(int_array, &sizes[0]), OK);
  EXPECT_EQ(aclGetFloatArraySize(float_array, &sizes[1]), OK);
  EXPECT_EQ(aclGetBoolArraySize(bool_array, &sizes[2]), OK);
  EXPECT_EQ(aclGetTensorListSize(tensor_list, &sizes[3]), OK);
  EXPECT_EQ(aclGetScalarListSize(scalar_list, &sizes[4]), OK);
  EXPECT_EQ(sizes, (std::vector<uint64_t>{2, 3, 1, 2, 1}));
  EXPECT_EQ(aclDestroyIntArray(int_array), OK);
  EXPECT_EQ(aclDestroyFloatArray(float_array), OK);
  EXPECT_EQ(aclDestroyBoolArray(bool_array), OK);
  EXPECT_EQ(aclDestroyTensorList(tensor_list), OK) << "and its tensors: else the leak checker finds them";
  EXPECT_EQ(aclDestroyScalarList(scalar_list), OK);
}

TEST_F(OperatorObjects, CheckTheirArguments) {
  int64_t number = 0;
  int64_t* dims = nullptr;
  uint64_t size = 0;
  void* address = nullptr;
  const int64_t one[] = {1};
  const aclTensor* holes[] = {nullptr};
  const aclScalar* no_scalars[] = {nullptr};
  aclTensor* tensor = aclCreateTensor(one, 1, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, one, 1, nullptr);
  const aclnnStatus codes[] = {
      aclDestroyTensor(nullptr),
      aclDestroyScalar(nullptr),
      aclDestroyIntArray(nullptr),
      aclDestroyFloatArray(nullptr),
      aclDestroyBoolArray(nullptr),
      aclDestroyTensorList(nullptr),
      aclDestroyScalarList(nullptr),
      aclGetViewShape(nullptr, &dims, &size),
      aclGetViewShape(tensor, nullptr, &size),
      aclGetStorageShape(tensor, &dims, nullptr),
      aclGetViewStrides(nullptr, &dims, &size),
      aclGetViewOffset(tensor, nullptr),
      aclGetViewOffset(nullptr, &number),
      aclGetFormat(tensor, nullptr),
      aclGetDataType(tensor, nullptr),
      aclGetIntArraySize(nullptr, &size),
      aclGetFloatArraySize(nullptr, &size),
      aclGetBoolArraySize(nullptr, &size),
      aclGetTensorListSize(nullptr, &size),
      aclGetScalarListSize(nullptr, &size),
      aclSetRawTensorAddr(nullptr, &number),
      aclGetRawTensorAddr(nullptr, &address),
      aclGetRawTensorAddr(tensor, nullptr),
  };
  for (size_t i = 0; i < std::size(codes); ++i) EXPECT_EQ(codes[i], kNull) << "row " << i;
  EXPECT_EQ(aclCreateIntArray(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateFloatArray(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateBoolArray(nullptr, 1), nullptr);
  EXPECT_EQ(aclCreateTensorList(holes, 1), nullptr);
  EXPECT_EQ(aclCreateScalarList(no_scalars, 1), nullptr);
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  EXPECT_EQ(aclCreateScalar(&number, ACL_STRING), nullptr);
  EXPECT_EQ(aclDestroyTensor(tensor), OK);
}

TEST_F(OperatorObjects, BeginAndEndNeedNoDevice) {
  EXPECT_EQ(aclnnInit(nullptr), OK);
  EXPECT_EQ(aclnnInit("/no/such/file.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclnnFinalize(), OK);
}

}  // namespace host_objects_test
}  // namespace ropeway_test
#endif
