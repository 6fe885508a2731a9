// ropewayFileErrorText: how libraries on top of the runtime hand out texts of their own.
#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace file_error_text_test {

class FileErrorText : public ropeway_test::BareTest {};

TEST_F(FileErrorText, TheNewestComesFirstAndTheLastErrorStays) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(ropewayFileErrorText("first\n"), ACL_SUCCESS);
  EXPECT_EQ(ropewayFileErrorText("second\n"), ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string texts = ropeway_test::TakeErrorText();
  EXPECT_EQ(texts.find("second\nfirst\n"), 0u) << texts;
  EXPECT_NE(texts.find("aclrtSetDevice"), std::string::npos) << texts;
  EXPECT_EQ(ropeway_test::TakeErrorText(), "");
}

TEST_F(FileErrorText, NullIsRejected) { EXPECT_EQ(ropewayFileErrorText(nullptr), ACL_ERROR_INVALID_PARAM); }

}  // namespace file_error_text_test
#endif
