// Operations: work of somebody else in a stream's order, whose end races with time limits and aborts.
#include "stream/operation.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "acl/error_codes/rt_error_codes.h"
#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace operation_test {

class CountedOperation final : public Operation {
 public:
  void Start() override { ++started; }
  void Abandoned(bool) override { ++abandoned; }
  static void Forget() { started = abandoned = 0; }
  static inline std::atomic<int> started{0}, abandoned{0};
};

class OperationTest : public testing::Test {
 protected:
  void SetUp() override { CountedOperation::Forget(); }
  std::shared_ptr<CountedOperation> Launch(TestStream& stream, int64_t timeout_ns = 0) {
    auto operation = std::make_shared<CountedOperation>();
    EXPECT_TRUE(operation->LaunchOn(stream.ref(), &scope_, timeout_ns, "test").ok());
    return operation;
  }
  // The last reference but the stream's.
  void End(std::shared_ptr<CountedOperation> operation) {
    if (operation->Finish(0, "")) ++ended_;
  }
  FailureScope scope_;
  std::atomic<int> ended_{0};
};

TEST_F(OperationTest, TheStreamWaitsForItsEnd) {
  TestStream stream(&scope_);
  auto operation = Launch(stream);
  EXPECT_EQ(stream->Synchronize(Deadline::AfterMs(1)).code(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(CountedOperation::started, 1);
  EXPECT_TRUE(operation->Finish(0, ""));
  EXPECT_FALSE(operation->Finish(0, "")) << "only the first counts";
  EXPECT_TRUE(stream->Synchronize(Deadline::Never()).ok());
}

// The two below end each operation at the moment at which a timer or an abort looks for the stream at its gate. What is judged
// besides the counts is the memory: a sanitizer sees a gate that went with its operation.

TEST_F(OperationTest, ALimitThatPassesAtTheEndMeetsAGateThatIsStillThere) {
  constexpr int kRounds = 300;
  constexpr int64_t kLimitNs = 200000;
  for (int round = 0; round < kRounds; ++round) {
    FailureScope scope;
    TestStream stream(&scope);
    auto operation = std::make_shared<CountedOperation>();
    ASSERT_TRUE(operation->LaunchOn(stream.ref(), &scope, kLimitNs, "test").ok());
    std::thread ending([this, operation = std::move(operation)]() mutable {
      const Deadline limit = Deadline::AfterNs(kLimitNs);
      while (NowNs() < limit.at_ns()) sched_yield();
      End(std::move(operation));
    });
    const int code = stream->Synchronize(Deadline::Never()).code();
    EXPECT_TRUE(code == 0 || code == ACL_ERROR_RT_TASK_TIMEOUT) << code;
    ending.join();
  }
  EXPECT_EQ(CountedOperation::started, kRounds);
  EXPECT_EQ(ended_ + CountedOperation::abandoned, kRounds);
}

TEST_F(OperationTest, AnAbortAtTheEndMeetsAGateThatIsStillThere) {
  constexpr int kRounds = 2000;
  TestStream stream(&scope_);
  for (int round = 0; round < kRounds; ++round) {
    auto operation = Launch(stream);
    std::atomic<bool> go{false};
    std::thread ending([this, &go, operation = std::move(operation)]() mutable {
      while (!go) sched_yield();
      End(std::move(operation));
    });
    go = true;
    EXPECT_TRUE(stream->queue().Abort());
    ending.join();
    EXPECT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  }
  EXPECT_EQ(ended_ + CountedOperation::abandoned, kRounds);
}

}  // namespace operation_test
}  // namespace ropeway_unit
