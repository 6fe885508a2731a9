// aclInit, aclFinalize, aclFinalizeReference: the count and its codes. Configuration files stay out of here: the
// content of the first one binds the whole process, so they have their own processes (tests/process).
#include <atomic>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace init_test {

class Init : public BareTest {
 protected:
  void SetUp() override {
    BareTest::SetUp();
    BringCountToZero();
  }
  void TearDown() override {
    BringCountToZero();
    BareTest::TearDown();
  }
  // aclFinalize succeeds once even when nothing was initialised; the one after it is refused.
  static void BringCountToZero() {
    for (int i = 0; i < 3 && aclFinalize() != ACL_ERROR_REPEAT_FINALIZE; ++i) {
    }
  }
};

TEST_F(Init, NullAndEmptyPathMeanDefaults) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclInit(""), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(Init, RepeatedCallIsReportedAndCounted) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  for (uint64_t left : {2u, 1u, 0u}) {
    uint64_t count = 77;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, left);
  }
}

TEST_F(Init, RepeatedCallDoesNotOpenItsConfig) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_REPEAT_INITIALIZE);
}

TEST_F(Init, LibraryMayBeInitialisedAgainAfterFinalise) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
}

TEST_F(Init, ConcurrentCallsAreAllCounted) {
  constexpr int kThreads = 16;
  std::atomic<int> first{0}, repeated{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      aclError result = aclInit(nullptr);
      first += result == ACL_SUCCESS;
      repeated += result == ACL_ERROR_REPEAT_INITIALIZE;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(repeated, kThreads - 1);

  std::atomic<int> last{0}, released{0};
  threads.clear();
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      uint64_t count = 77;
      released += aclFinalizeReference(&count) == ACL_SUCCESS;
      last += count == 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(released, kThreads);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(Init, RuntimeCallsWorkWithoutIt) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

using Finalize = Init;

TEST_F(Finalize, OneCallUndoesAnyNumberOfInits) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  uint64_t count = 77;
  EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(count, 0u);
}

TEST_F(Finalize, SecondCallInARowIsRefused) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(Finalize, DevicesStreamsAndMemoryKeepWorking) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    TestStream stream;
    DeviceBuffer block(256);
    PinnedBuffer host(256);
    auto bytes = Pattern(256, 1);
    block.Write(bytes);
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(host.get(), 256, block.get(), 256, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    EXPECT_EQ(std::memcmp(host.get(), bytes.data(), bytes.size()), 0);
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

using FinalizeReference = Init;

TEST_F(FinalizeReference, CountAlreadyZeroIsRefusedAndZeroIsStored) {
  uint64_t count = 77;
  EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(count, 0u);
}

TEST_F(FinalizeReference, NullCountIsAllowed) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(FinalizeReference, LastOneMakesInitAFirstCallAgain) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

}  // namespace init_test
}  // namespace ropeway_test
