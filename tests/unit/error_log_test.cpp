// The thread's last error and its texts.
#include "base/error_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "base/status.h"

namespace ropeway {
namespace error_log_test {

class ErrorLogTest : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override {
    ShareTextsAcrossThreads(false);
    Clear();
  }
  static void Clear() {
    ShareTextsAcrossThreads(true);
    TakeRecentTexts();
    ShareTextsAcrossThreads(false);
    TakeRecentTexts();
    TakeLastError();
  }
  static void File(const char* call, const Status& status) { LogFailure(call, status, nullptr); }
  static std::string Texts() {
    const char* texts = TakeRecentTexts();
    return texts == nullptr ? "" : texts;
  }
};

TEST_F(ErrorLogTest, StartsEmpty) {
  EXPECT_EQ(PeekLastError(), 0);
  EXPECT_EQ(TakeRecentTexts(), nullptr);
}

TEST_F(ErrorLogTest, FailSetsTheLastErrorAndPeekKeepsIt) {
  File("aclrtFoo", Fail(107000, "x %d", 1));
  EXPECT_EQ(PeekLastError(), 107000);
  EXPECT_EQ(PeekLastError(), 107000);
  EXPECT_EQ(TakeLastError(), 107000);
  EXPECT_EQ(PeekLastError(), 0);
}

TEST_F(ErrorLogTest, RejectAndDeclineLeaveTheLastErrorAlone) {
  File("aclrtFoo", Fail(107000, "first"));
  File("aclrtFoo", Reject(100000, "second"));
  File("aclrtFoo", Decline(207000, "third"));
  EXPECT_EQ(PeekLastError(), 107000);
  const std::string texts = Texts();
  for (const char* word : {"first", "second", "third"}) EXPECT_NE(texts.find(word), std::string::npos) << word;
}

TEST_F(ErrorLogTest, ATextEndsWithItsPlaceAndAStrangersIsNotBelieved) {
  const void* const here = reinterpret_cast<const void*>(&TakeRecentTexts);
  LogFailure("aclrtFoo", Fail(107000, "x"), here);
  TellSite(here, "train.py:12");
  TellSite(here, "later.py:1");
  EXPECT_TRUE(Texts().ends_with("aclrtFoo: x\n        called at train.py:12\n"));
  LogFailure("aclrtFoo", Fail(107000, "x"), here);
  TellSite(reinterpret_cast<const void*>(&getppid), "other.py:1");
  EXPECT_TRUE(Texts().ends_with("aclrtFoo: x\n"));  // a place in this library is none of the program's
  TellSite(here, "nothing.py:1");
  EXPECT_EQ(Texts(), "");
}

TEST_F(ErrorLogTest, ATextHasTheCallTheArgumentsTheCodeAndItsName) {
  File("aclrtFoo", Fail(107000, "count %zu exceeds destMax %zu", size_t{7}, size_t{5}));
  const std::string text = Texts();
  for (const char* word : {"aclrtFoo: count 7 exceeds destMax 5", "107000", "EE1001", "ACL_ERROR_RT_PARAM_INVALID", "PID"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  }
}

TEST_F(ErrorLogTest, TheOuterLayerHasItsOwnFamily) {
  File("aclrtFoo", Reject(100000, "dst is NULL"));
  EXPECT_EQ(Texts().rfind("EH", 0), 0u);
  File("aclrtFoo", Fail(507000, "x"));
  EXPECT_EQ(Texts().rfind("EE", 0), 0u);
}

TEST_F(ErrorLogTest, AFailureWithoutATextGetsItsMeaning) {
  File("aclrtFoo", Status::Bare(107000, true));
  EXPECT_GT(Texts().size(), std::string("aclrtFoo: \n").size() + 40);
}

TEST_F(ErrorLogTest, NewestFirstAndTakenOnce) {
  File("aclrtOne", Fail(107000, "older"));
  File("aclrtTwo", Fail(107001, "newer"));
  const std::string texts = Texts();
  EXPECT_LT(texts.find("newer"), texts.find("older"));
  EXPECT_EQ(TakeRecentTexts(), nullptr);
}

TEST_F(ErrorLogTest, ThePointerIsGoodUntilTheNextCall) {
  File("aclrtOne", Fail(107000, "first text"));
  const char* texts = TakeRecentTexts();
  File("aclrtTwo", Fail(107001, "second text"));
  EXPECT_NE(std::string(texts).find("first text"), std::string::npos);
}

TEST_F(ErrorLogTest, OldTextsAreForgottenNotPiledUp) {
  for (int i = 0; i < 1000; ++i) File("aclrtOne", Fail(107000, "number %d.", i));
  const std::string texts = Texts();
  EXPECT_NE(texts.find("number 999."), std::string::npos);
  EXPECT_EQ(texts.find("number 0."), std::string::npos);
  EXPECT_LT(texts.size(), 64u * 512u);
}

TEST_F(ErrorLogTest, LongTextsAreCutNotOverrun) {
  File("aclrtOne", Fail(107000, "%s", std::string(5000, 'x').c_str()));
  EXPECT_LT(Texts().size(), 2000u);
}

TEST_F(ErrorLogTest, ThreadsHaveTheirOwn) {
  File("aclrtOne", Fail(107000, "mine"));
  std::thread([&] {
    EXPECT_EQ(PeekLastError(), 0);
    EXPECT_EQ(TakeRecentTexts(), nullptr);
    File("aclrtTwo", Fail(107001, "theirs"));
  }).join();
  EXPECT_EQ(PeekLastError(), 107000);
  EXPECT_EQ(Texts().find("theirs"), std::string::npos);
}

TEST_F(ErrorLogTest, SharedTextsAreSeenByAllThreadsButTheCodeIsNot) {
  ShareTextsAcrossThreads(true);
  std::thread([&] { File("aclrtTwo", Fail(107001, "theirs")); }).join();
  EXPECT_EQ(PeekLastError(), 0);
  EXPECT_NE(Texts().find("theirs"), std::string::npos);
  EXPECT_EQ(TakeRecentTexts(), nullptr);
}

TEST_F(ErrorLogTest, ManyThreadsMayShareTexts) {
  ShareTextsAcrossThreads(true);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        File("aclrtOne", Fail(107000, "round %d", round));
        if (round % 7 == 0) TakeRecentTexts();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(Texts(), "");
}

}  // namespace error_log_test
}  // namespace ropeway
