// Labels and lists of them as handles; what they do in a model is in HandBuiltControl_test.cpp.
#include <thread>

#include "tests/support/acl_test.h"

namespace ropeway_test {
namespace label_test {

constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;

using Label = StreamTest;

TEST_F(Label, CreateAndDestroy) {
  aclrtLabel first = nullptr, second = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateLabel(&second), ACL_SUCCESS);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(aclrtDestroyLabel(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyLabel(second), ACL_SUCCESS);
}

TEST_F(Label, NullsAndMissingContext) {
  EXPECT_EQ(aclrtCreateLabel(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyLabel(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyLabelList(nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtLabel label = nullptr;
  aclError without_context = ACL_SUCCESS;
  std::thread([&] { without_context = aclrtCreateLabel(&label); }).join();
  EXPECT_EQ(without_context, ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(label, nullptr);
}

TEST_F(Label, StaleHandlesAreNoticed) {
  aclrtLabel label = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyLabel(label), kStale);
  EXPECT_EQ(aclrtDestroyLabel(stream_), kStale) << "a stream is not a label";
  EXPECT_EQ(aclrtDestroyLabel(&label), kStale) << "neither is an address";
  aclrtLabel next = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&next), ACL_SUCCESS);
  EXPECT_NE(next, label) << "a handle is not used again";
  EXPECT_EQ(aclrtDestroyLabel(next), ACL_SUCCESS);
}

TEST_F(Label, ListOfLabels) {
  aclrtLabel labels[2] = {};
  aclrtLabelList list = nullptr;
  for (auto& label : labels) ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateLabelList(labels, 2, &list), ACL_SUCCESS);
  EXPECT_NE(list, nullptr);
  EXPECT_EQ(aclrtDestroyLabel(list), kStale) << "a list is not a label";
  EXPECT_EQ(aclrtDestroyLabelList(labels[0]), kStale) << "and a label is not a list";
  for (auto& label : labels) EXPECT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyLabelList(list), ACL_SUCCESS) << "its labels need not be alive any more";
  EXPECT_EQ(aclrtDestroyLabelList(list), kStale);
}

TEST_F(Label, ListChecks) {
  aclrtLabel label = nullptr;
  aclrtLabelList list = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateLabelList(nullptr, 1, &list), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateLabelList(&label, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateLabelList(&label, 0, &list), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCreateLabelList(&label, 65536, &list), ACL_ERROR_RT_PARAM_INVALID);
  aclrtLabel with_null[2] = {label, nullptr};
  EXPECT_EQ(aclrtCreateLabelList(with_null, 2, &list), kStale);
  EXPECT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateLabelList(&label, 1, &list), kStale);
  EXPECT_EQ(list, nullptr);
}

}  // namespace label_test
}  // namespace ropeway_test
