// ropewayGetSetting: the table of settings, by number.
#include <cstring>

#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace get_setting_test {

class GetSetting : public ropeway_test::BareTest {};

TEST_F(GetSetting, NullIsRejected) { EXPECT_EQ(ropewayGetSetting(0, nullptr, nullptr), ACL_ERROR_INVALID_PARAM); }

TEST_F(GetSetting, RowsAreCompleteAndEndSomewhere) {
  ropewaySetting setting;
  size_t count = 0;
  for (; ropewayGetSetting(count, nullptr, &setting) == ACL_SUCCESS && setting.variable != nullptr; ++count) {
    for (const char* text : {setting.variable, setting.meaning, setting.library}) EXPECT_GT(std::strlen(text), 0u) << count;
    EXPECT_GT(std::strlen(setting.wanted), 0u) << setting.variable;
    EXPECT_EQ(setting.usable, 0) << setting.variable;
  }
  EXPECT_GE(count, 20u);
  EXPECT_EQ(ropewayGetSetting(SIZE_MAX, nullptr, &setting), ACL_SUCCESS);
  EXPECT_EQ(setting.variable, nullptr);
}

TEST_F(GetSetting, ValuesAreJudged) {
  ropewaySetting setting;
  size_t index = 0;
  while (ropewayGetSetting(index, "64", &setting) == ACL_SUCCESS && setting.variable != nullptr &&
         std::strcmp(setting.variable, "ROPEWAY_DEVICES") != 0)
    ++index;
  ASSERT_STREQ(setting.variable, "ROPEWAY_DEVICES");
  EXPECT_EQ(setting.usable, 1);
  EXPECT_STREQ(setting.wanted, "a number from 1 to 64");
  EXPECT_STREQ(setting.placeholder, "N");
  EXPECT_EQ(setting.standsFor, nullptr);
  ASSERT_EQ(ropewayGetSetting(index, "65", &setting), ACL_SUCCESS);
  EXPECT_EQ(setting.usable, 0);
}

}  // namespace get_setting_test
#endif
