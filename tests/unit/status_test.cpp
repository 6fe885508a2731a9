#include "base/status.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace ropeway {
namespace status_test {

TEST(StatusTest, OkIsAWordThatSaysNothing) {
  const Status status = Ok();
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), 0);
  EXPECT_STREQ(status.text(), "");
  EXPECT_FALSE(status.sets_last_error());
  static_assert(sizeof(Status) == sizeof(void*));
}

TEST(StatusTest, EachLayerHasItsWayToFail) {
  const Status rejected = Reject(100000, "dst is %s", "NULL");
  const Status failed = Fail(107017, "stream %d is gone", 7);
  const Status declined = Decline(107002, "no context");
  EXPECT_EQ(rejected.code(), 100000);
  EXPECT_STREQ(rejected.text(), "dst is NULL");
  EXPECT_FALSE(rejected.sets_last_error());
  EXPECT_EQ(failed.code(), 107017);
  EXPECT_STREQ(failed.text(), "stream 7 is gone");
  EXPECT_TRUE(failed.sets_last_error());
  EXPECT_FALSE(declined.sets_last_error());
}

// Two failures at once: neither takes the other's text.
TEST(StatusTest, ATextStaysWithItsFailure) {
  Status first = Fail(1, "the first");
  const Status second = Fail(2, "the second, about %s", first.text());
  const Status moved = std::move(first);
  EXPECT_STREQ(moved.text(), "the first");
  EXPECT_STREQ(second.text(), "the second, about the first");
  EXPECT_TRUE(first.ok());  // NOLINT: what is moved away leaves nothing
}

TEST(StatusTest, ATextCrossesThreads) {
  Status status;
  std::thread([&] { status = Fail(507000, "from over there"); }).join();
  EXPECT_STREQ(status.text(), "from over there");
}

TEST(StatusTest, BareFailuresKeepTheirCodes) {
  for (const int code : {1, -1, 507018, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(Status::Bare(code, true).code(), code);
    EXPECT_TRUE(Status::Bare(code, true).sets_last_error());
    EXPECT_FALSE(Status::Bare(code, false).sets_last_error());
    EXPECT_STREQ(Status::Bare(code, true).text(), "");
  }
}

TEST(StatusTest, QuietKeepsCodeAndText) {
  const Status quiet = Fail(107001, "device 9").Quiet();
  EXPECT_EQ(quiet.code(), 107001);
  EXPECT_STREQ(quiet.text(), "device 9");
  EXPECT_FALSE(quiet.sets_last_error());
  EXPECT_TRUE(Ok().Quiet().ok());
}

TEST(StatusTest, ALongTextIsCut) {
  const Status status = Fail(1, "%s", std::string(5000, 'x').c_str());
  EXPECT_EQ(std::string(status.text()), std::string(1023, 'x'));
}

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(3, "%d is odd", number);
  return number / 2;
}

Status Quarter(int number, int* quarter) {
  RW_TRY_SET(const int half, Half(number));
  RW_TRY_SET(*quarter, Half(half));
  return Ok();
}

TEST(StatusTest, TriesPassTheFailureOn) {
  int quarter = 0;
  EXPECT_TRUE(Quarter(8, &quarter).ok());
  EXPECT_EQ(quarter, 2);
  const Status status = Quarter(6, &quarter);
  EXPECT_EQ(status.code(), 3);
  EXPECT_STREQ(status.text(), "3 is odd");
}

}  // namespace status_test
}  // namespace ropeway
