// ropewayCopyBy: one copy in a way that is named, for who measures them.
#include <string>
#include <vector>

#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace copy_by_test {

class CopyBy : public ropeway_test::BareTest {};

TEST_F(CopyBy, MovesTheBytesInEveryWayThatThisCpuHas) {
  int ways = 0;
  for (const char* method : {"avx512", "avx2", "sse2", "rep_movsb", "neon", "libc"}) {
    const std::string words = std::string("stream=") + method + " cached=" + method + " ahead=2048 ahead_span=16384";
    char one = 0, other = 0;
    if (ropewayCopyBy(words.c_str(), 0, &one, &other, 1) != ACL_SUCCESS) continue;
    ++ways;
    for (int through_cache : {0, 1}) {
      for (size_t size : {0, 1, 4096, 70001}) {
        std::vector<char> from(size + 1), to(size + 1, 3);
        for (size_t i = 0; i < size; ++i) from[i] = static_cast<char>(i * 7 + 1);
        from[size] = 3;  // what is behind stays
        EXPECT_EQ(ropewayCopyBy(words.c_str(), through_cache, to.data(), from.data(), size), ACL_SUCCESS);
        EXPECT_EQ(to, from) << words << ", " << size;
      }
    }
  }
  EXPECT_GE(ways, 2) << "libc, and what the CPU has";
}

TEST_F(CopyBy, WordsThatCannotBeUsedAreExplained) {
  char from = 1, to = 0;
  ropeway_test::TakeErrorText();
  for (const char* words : {"stream=abacus", "cpu=unknown", "ahead", "ahead=x", "\xff"}) {
    EXPECT_EQ(ropewayCopyBy(words, 0, &to, &from, 1), ACL_ERROR_RT_PARAM_INVALID) << words;
    EXPECT_NE(ropeway_test::TakeErrorText().find("name no way to copy that this CPU has"), std::string::npos);
  }
  EXPECT_EQ(to, 0);
  EXPECT_EQ(ropewayCopyBy("", 0, &to, &from, 1), ACL_SUCCESS) << "as for a CPU that is not known";
  EXPECT_EQ(to, 1);
}

TEST_F(CopyBy, NullPointersAreRefused) {
  char byte = 0;
  EXPECT_EQ(ropewayCopyBy(nullptr, 0, &byte, &byte, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCopyBy("", 0, nullptr, &byte, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(ropewayCopyBy("", 0, &byte, nullptr, 1), ACL_ERROR_INVALID_PARAM);
}

}  // namespace copy_by_test
#endif
