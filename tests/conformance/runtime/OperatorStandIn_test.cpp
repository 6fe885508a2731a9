// Operators by stand-in: pairs made by a macro, executors, containers inside the function, capture, and what is refused.
#include <numeric>

#include "tests/conformance/runtime/runtime_test_util.h"

#ifndef ROPEWAY_TEST_VENDOR
#include "ropeway/operator.h"

namespace ropeway_test {
namespace operator_stand_in_test {

constexpr aclnnStatus kNull = 161001, kInvalid = 161002;

// out = self + alpha * other, for elements one behind the other.
void Add(const ropewayKernelLaunch* launch, const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out) {
  size_t count = 0;
  const float* const a = ropeway::Dense<float>(launch, self, &count);
  const float* const b = ropeway::Dense<float>(launch, other, &count);
  float* const sum = ropeway::Dense<float>(launch, out, &count);
  if (a == nullptr || b == nullptr || sum == nullptr) return;
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + static_cast<float>(ropeway::NumberOf(alpha)) * b[i];
}
ROPEWAY_OPERATOR(aclnnRwTestAdd, Add, 0);
ROPEWAY_ACLNN(aclnnRwTestAdd, (const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out),
              (self, other, alpha, out))

// Says what arrived of every kind of argument.
struct Seen {
  bool flag = false;
  int64_t number = 0;
  std::string text;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<bool> bools;
  std::vector<float> tensors, scalars;
  bool left_out = false;
  uint64_t workspace_size = 0;
  uint8_t workspace_byte = 0;
};
void Look(const ropewayKernelLaunch* launch, bool flag, Seen* seen, int32_t number, const char* text, const aclIntArray* ints,
          const aclFloatArray* floats, const aclBoolArray* bools, const aclTensorList* tensors, const aclScalarList* scalars,
          const aclTensor* left_out) {
  size_t count = 0;
  seen->flag = flag;
  seen->number = number;
  seen->text = text;
  const int64_t* const i = ropewayIntArrayValues(ints, &count);
  seen->ints.assign(i, i + count);
  const float* const f = ropewayFloatArrayValues(floats, &count);
  seen->floats.assign(f, f + count);
  const bool* const b = ropewayBoolArrayValues(bools, &count);
  seen->bools.assign(b, b + count);
  for (size_t at = 0; const aclTensor* tensor = ropewayTensorListItem(tensors, at); ++at) {
    // Every second element, backwards: strides are the stand-in's to follow.
    const auto* first = static_cast<const float*>(ropewayTensorView(launch, tensor));
    if (first == nullptr) return;
    for (int64_t e = 0; e < *ropewayTensorShape(tensor, nullptr); ++e)
      seen->tensors.push_back(first[e * *ropewayTensorStrides(tensor, nullptr)]);
  }
  for (size_t at = 0; const aclScalar* scalar = ropewayScalarListItem(scalars, at); ++at)
    seen->scalars.push_back(static_cast<float>(ropeway::NumberOf(scalar)));
  seen->left_out = left_out == nullptr;
  void* const workspace = ropewayKernelWorkspace(launch, &seen->workspace_size);
  if (const auto* view = static_cast<const uint8_t*>(ropewayKernelView(launch, workspace, 1))) seen->workspace_byte = *view;
}
ROPEWAY_OPERATOR(aclnnRwTestLook, Look, 64);
ROPEWAY_ACLNN(aclnnRwTestLook,
              (bool flag, Seen* seen, int32_t number, const char* text, const aclIntArray* ints, const aclFloatArray* floats,
               const aclBoolArray* bools, const aclTensorList* tensors, const aclScalarList* scalars, const aclTensor* leftOut),
              (flag, seen, number, text, ints, floats, bools, tensors, scalars, leftOut))

ROPEWAY_ACLNN(aclnnRwTestNone, (const aclTensor* self), (self))

class OperatorStandIn : public StreamTest {
 protected:
  static constexpr int64_t kCount = 100;
  // A tensor of floats that are `first` and counted up.
  aclTensor* Tensor(DeviceBuffer& block, float first) {
    std::vector<float> numbers(kCount);
    std::iota(numbers.begin(), numbers.end(), first);
    EXPECT_EQ(aclrtMemcpy(block.get(), kCount * 4, numbers.data(), kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    const int64_t dims[] = {4, kCount / 4};
    return aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, block.get());
  }
  float At(const DeviceBuffer& block, size_t index) {
    float value = 0;
    EXPECT_EQ(aclrtMemcpy(&value, 4, block.at(index * 4), 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return value;
  }
};

TEST_F(OperatorStandIn, AddsAndForgetsItsContainers) {
  DeviceBuffer x(kCount * 4), y(kCount * 4), z(kCount * 4);
  aclTensor *self = Tensor(x, 1), *other = Tensor(y, 10), *out = Tensor(z, 0);
  float two = 2;
  aclScalar* alpha = aclCreateScalar(&two, ACL_FLOAT);
  uint64_t size = 1;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnRwTestAddGetWorkspaceSize(self, other, alpha, out, &size, &executor), OK);
  EXPECT_EQ(size, 0u);
  for (const aclTensor* tensor : {self, other, out}) EXPECT_EQ(aclDestroyTensor(tensor), OK);
  EXPECT_EQ(aclDestroyScalar(alpha), OK);
  ASSERT_EQ(aclnnRwTestAdd(nullptr, 0, executor, stream_), OK);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
  for (size_t i : {size_t{0}, size_t{99}}) EXPECT_EQ(At(z, i), static_cast<float>(1 + i + 2 * (10 + i)));
  EXPECT_EQ(aclnnRwTestAdd(nullptr, 0, executor, stream_), kInvalid) << "an executor is for one launch";
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), kInvalid);
}

TEST_F(OperatorStandIn, ARepeatableExecutorIsCapturedAndRunAgain) {
  DeviceBuffer x(kCount * 4), y(kCount * 4);
  aclTensor *self = Tensor(x, 0), *other = Tensor(y, 1);
  int32_t three = 3;
  aclScalar* alpha = aclCreateScalar(&three, ACL_INT32);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnRwTestAddGetWorkspaceSize(self, other, alpha, self, &size, &executor), OK);
  ASSERT_EQ(aclSetAclOpExecutorRepeatable(executor), OK);
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclnnRwTestAdd(nullptr, 0, executor, stream_), OK);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  ASSERT_EQ(aclnnRwTestAdd(nullptr, 0, executor, stream_), OK);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), kInvalid);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(At(x, 5), 5.f + 3 * 3 * 6) << "three runs, each with three times the other";
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  for (const aclTensor* tensor : {self, other}) EXPECT_EQ(aclDestroyTensor(tensor), OK);
  EXPECT_EQ(aclDestroyScalar(alpha), OK);
}

TEST_F(OperatorStandIn, EveryKindOfArgumentArrives) {
  const int64_t ints[] = {5, 6};
  const float floats[] = {1.5f};
  const bool bools[] = {true, false, true};
  const int64_t dims[] = {3}, backwards[] = {-2}, storage[] = {kCount};
  DeviceBuffer block(kCount * 4), workspace(64);
  EXPECT_EQ(aclDestroyTensor(Tensor(block, 0)), OK);
  workspace.Write(std::vector<uint8_t>(64, 9));
  const aclTensor* tensors[] = {aclCreateTensor(dims, 1, ACL_FLOAT, backwards, 6, ACL_FORMAT_ND, storage, 1, block.get())};
  double value = 0.5;
  const aclScalar* scalars[] = {aclCreateScalar(&value, ACL_DOUBLE)};
  aclIntArray* int_array = aclCreateIntArray(ints, 2);
  aclFloatArray* float_array = aclCreateFloatArray(floats, 1);
  aclBoolArray* bool_array = aclCreateBoolArray(bools, 3);
  aclTensorList* tensor_list = aclCreateTensorList(tensors, 1);
  aclScalarList* scalar_list = aclCreateScalarList(scalars, 1);
  Seen seen;
  std::string text = "mode";
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnRwTestLookGetWorkspaceSize(true, &seen, -7, text.c_str(), int_array, float_array, bool_array, tensor_list, scalar_list,
                                            nullptr, &size, &executor),
            OK);
  EXPECT_EQ(size, 64u);
  text = "gone";
  EXPECT_EQ(aclDestroyIntArray(int_array), OK);
  EXPECT_EQ(aclDestroyFloatArray(float_array), OK);
  EXPECT_EQ(aclDestroyBoolArray(bool_array), OK);
  EXPECT_EQ(aclDestroyTensorList(tensor_list), OK);
  EXPECT_EQ(aclDestroyScalarList(scalar_list), OK);
  EXPECT_EQ(aclnnRwTestLook(nullptr, 64, executor, stream_), kInvalid) << "no workspace";
  EXPECT_EQ(aclnnRwTestLook(workspace.get(), 63, executor, stream_), kInvalid) << "too small a workspace";
  ASSERT_EQ(aclnnRwTestLook(workspace.get(), 64, executor, stream_), OK);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
  EXPECT_TRUE(seen.flag);
  EXPECT_EQ(seen.number, -7);
  EXPECT_EQ(seen.text, "mode");
  EXPECT_EQ(seen.ints, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(seen.floats, std::vector<float>{1.5f});
  EXPECT_EQ(seen.bools, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(seen.tensors, (std::vector<float>{6, 4, 2}));
  EXPECT_EQ(seen.scalars, std::vector<float>{0.5f});
  EXPECT_TRUE(seen.left_out);
  EXPECT_EQ(seen.workspace_size, 64u);
  EXPECT_EQ(seen.workspace_byte, 9);
}

TEST_F(OperatorStandIn, FailuresOfTheFunctionAreTheStreams) {
  const int64_t dims[] = {4}, apart[] = {2};
  DeviceBuffer block(64);
  aclTensor* gaps = aclCreateTensor(dims, 1, ACL_FLOAT, apart, 0, ACL_FORMAT_ND, dims, 1, block.get());
  aclTensor* nowhere = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, Nonsense());
  const std::pair<aclTensor*, const char*> rows[] = {{gaps, "one behind the other"}, {nowhere, "not inside one live block"}};
  for (const auto& [tensor, words] : rows) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnRwTestAddGetWorkspaceSize(tensor, tensor, nullptr, tensor, &size, &executor), OK);
    ASSERT_EQ(aclnnRwTestAdd(nullptr, 0, executor, stream_), OK);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
    const std::string text = TakeErrorText();
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(aclDestroyTensor(tensor), OK);
  }
}

TEST_F(OperatorStandIn, WithoutOneItIsRefusedByName) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnRwTestNoneGetWorkspaceSize(nullptr, &size, &executor), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find("aclnnRwTestNone"), std::string::npos) << text;
  EXPECT_NE(text.find("ropewayRegisterOperator"), std::string::npos) << text;
  EXPECT_NE(text.find("aclnnRwTestAdd"), std::string::npos) << "what there is: " << text;
}

TEST_F(OperatorStandIn, ArgumentsAreChecked) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  int64_t number = 0;
  const auto prepare = [&](const ropewayOperatorArgument& argument) {
    return ropewayPrepareOperator("aclnnRwTestAdd", &argument, 1, &size, &executor);
  };
  const auto function = [](const ropewayKernelLaunch*) {};
  const aclnnStatus codes[][2] = {
      {ropewayPrepareOperator(nullptr, nullptr, 0, &size, &executor), kNull},
      {ropewayPrepareOperator("aclnnRwTestAdd", nullptr, 1, &size, &executor), kNull},
      {ropewayPrepareOperator("aclnnRwTestAdd", nullptr, 0, nullptr, &executor), kNull},
      {ropewayPrepareOperator("aclnnRwTestAdd", nullptr, 0, &size, nullptr), kNull},
      {prepare({static_cast<ropewayArgumentKind>(9), &number, 8, 8}), kInvalid},
      {prepare({ROPEWAY_ARGUMENT_VALUE, nullptr, 8, 8}), kNull},
      {prepare({ROPEWAY_ARGUMENT_VALUE, &number, 8, 3}), kInvalid},
      {ropewayRunOperator(nullptr, nullptr, 0, nullptr, stream_), kNull},
      {ropewayRunOperator("aclnnRwTestAdd", nullptr, 0, nullptr, stream_), kNull},
      {ropewayRunOperator("aclnnRwTestAdd", nullptr, 0, static_cast<aclOpExecutor*>(Nonsense()), stream_), kInvalid},
      {aclSetAclOpExecutorRepeatable(nullptr), kNull},
      {aclDestroyAclOpExecutor(nullptr), kNull},
      {ropewayRegisterOperator(nullptr, function, 0), ACL_ERROR_INVALID_PARAM},
      {ropewayRegisterOperator("", function, 0), ACL_ERROR_INVALID_PARAM},
      {ropewayRegisterOperator("aclnnRwTestAdd", function, 0), ACL_ERROR_KERNEL_ALREADY_REGISTERED},
      {ropewayRegisterOperator("aclnnRwTestNone", nullptr, 0), ACL_ERROR_KERNEL_NOT_FOUND},
  };
  for (size_t i = 0; i < std::size(codes); ++i) EXPECT_EQ(codes[i][0], codes[i][1]) << "row " << i;
  ASSERT_EQ(aclnnRwTestAddGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, &size, &executor), OK);
  EXPECT_EQ(aclnnRwTestLook(nullptr, 64, executor, stream_), kInvalid) << "another operator's";
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
}

}  // namespace operator_stand_in_test
}  // namespace ropeway_test
#endif
