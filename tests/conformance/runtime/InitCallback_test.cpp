// The callbacks of initialise and finalise: registration, order by type, and what a failing one does.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace init_callback_test {

struct Journal {
  std::vector<int> calls;
  std::vector<std::string> configs;
  std::vector<size_t> lengths;
  aclError answer = ACL_SUCCESS;  // what the callback with the number `failing` returns
  int failing = -1;
};

template <int kNumber>
aclError OnInit(const char* config, size_t length, void* data) {
  auto* journal = static_cast<Journal*>(data);
  journal->calls.push_back(kNumber);
  journal->configs.emplace_back(config == nullptr ? "(null)" : config);
  journal->lengths.push_back(length);
  return journal->failing == kNumber ? journal->answer : ACL_SUCCESS;
}

template <int kNumber>
aclError OnFinalize(void* data) {
  auto* journal = static_cast<Journal*>(data);
  journal->calls.push_back(kNumber);
  return journal->failing == kNumber ? journal->answer : ACL_SUCCESS;
}

// Brings the count to zero around each test, and takes back every registration the test made.
class InitCallback : public BareTest {
 protected:
  void SetUp() override {
    BareTest::SetUp();
    BringCountToZero();
  }
  void TearDown() override {
    for (auto& [type, fn] : init_) EXPECT_EQ(aclInitCallbackUnRegister(type, fn), ACL_SUCCESS);
    for (auto& [type, fn] : finalize_) EXPECT_EQ(aclFinalizeCallbackUnRegister(type, fn), ACL_SUCCESS);
    BringCountToZero();
    BareTest::TearDown();
  }
  static void BringCountToZero() {
    for (int i = 0; i < 3 && aclFinalize() != ACL_ERROR_REPEAT_FINALIZE; ++i) {
    }
  }
  void Register(aclRegisterCallbackType type, aclInitCallbackFunc fn) {
    ASSERT_EQ(aclInitCallbackRegister(type, fn, &journal_), ACL_SUCCESS);
    init_.emplace_back(type, fn);
  }
  void Register(aclRegisterCallbackType type, aclFinalizeCallbackFunc fn) {
    ASSERT_EQ(aclFinalizeCallbackRegister(type, fn, &journal_), ACL_SUCCESS);
    finalize_.emplace_back(type, fn);
  }

  Journal journal_;
  std::vector<std::pair<aclRegisterCallbackType, aclInitCallbackFunc>> init_;
  std::vector<std::pair<aclRegisterCallbackType, aclFinalizeCallbackFunc>> finalize_;
};

TEST_F(InitCallback, NullFunctionIsRejected) {
  ExpectAll({
      {"init register", ACL_ERROR_INVALID_PARAM, [] { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr); }},
      {"init unregister", ACL_ERROR_INVALID_PARAM, [] { return aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr); }},
      {"finalise register", ACL_ERROR_INVALID_PARAM, [] { return aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr); }},
      {"finalise unregister", ACL_ERROR_INVALID_PARAM, [] { return aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr); }},
  });
}

TEST_F(InitCallback, UnregisteringWhatWasNotRegisteredFails) {
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, &OnInit<1>), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, &OnFinalize<1>), ACL_ERROR_INTERNAL_ERROR);
}

TEST_F(InitCallback, OnlyTypeOtherTakesSeveralFunctions) {
  Register(ACL_REG_TYPE_OTHER, &OnInit<1>);
  Register(ACL_REG_TYPE_OTHER, &OnInit<2>);
  Register(ACL_REG_TYPE_ACL_DVPP, &OnInit<3>);
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, &OnInit<4>, &journal_), ACL_ERROR_INTERNAL_ERROR);
  Register(ACL_REG_TYPE_OTHER, &OnFinalize<1>);
  Register(ACL_REG_TYPE_OTHER, &OnFinalize<2>);
  Register(ACL_REG_TYPE_ACL_DVPP, &OnFinalize<3>);
  EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_DVPP, &OnFinalize<4>, &journal_), ACL_ERROR_INTERNAL_ERROR);
}

TEST_F(InitCallback, RunsInTypeOrderAndWithoutConfigSkipsOpExecutor) {
  Register(ACL_REG_TYPE_OTHER, &OnInit<4>);
  Register(ACL_REG_TYPE_ACL_DVPP, &OnInit<3>);
  Register(ACL_REG_TYPE_ACL_OP_EXECUTOR, &OnInit<2>);
  Register(ACL_REG_TYPE_ACL_MODEL, &OnInit<1>);
  EXPECT_TRUE(journal_.calls.empty());
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(journal_.calls, (std::vector<int>{1, 3, 4}));
}

TEST_F(InitCallback, GetsAnEmptyStringWithoutConfig) {
  Register(ACL_REG_TYPE_OTHER, &OnInit<1>);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(journal_.calls.size(), 1u);
  EXPECT_EQ(journal_.configs[0], "");
  EXPECT_EQ(journal_.lengths[0], 0u);
}

TEST_F(InitCallback, RepeatedInitDoesNotRunItAgain) {
  Register(ACL_REG_TYPE_OTHER, &OnInit<1>);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(journal_.calls.size(), 1u);
}

TEST_F(InitCallback, RegisteringWhileInitialisedCallsAtOnceAndIgnoresTheResult) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  journal_.failing = 1;
  journal_.answer = 4711;
  Register(ACL_REG_TYPE_OTHER, &OnInit<1>);
  EXPECT_EQ(journal_.calls, std::vector<int>{1});
}

TEST_F(InitCallback, FailureStopsInitAndIsReturned) {
  Register(ACL_REG_TYPE_ACL_MODEL, &OnInit<1>);
  Register(ACL_REG_TYPE_ACL_DVPP, &OnInit<2>);
  Register(ACL_REG_TYPE_OTHER, &OnInit<3>);
  journal_.failing = 2;
  journal_.answer = 4711;
  EXPECT_EQ(aclInit(nullptr), 4711);
  EXPECT_EQ(journal_.calls, (std::vector<int>{1, 2}));
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);

  journal_.failing = -1;
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

TEST_F(InitCallback, UnregisteredFunctionIsNotCalled) {
  ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &OnInit<1>, &journal_), ACL_SUCCESS);
  ASSERT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, &OnInit<1>), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(journal_.calls.empty());
}

// What another thread is told that calls aclInit while a callback waits for it.
aclError WaitForAnotherInit(const char*, size_t, void* data) {
  auto* journal = static_cast<Journal*>(data);
  std::thread([journal] { journal->calls.push_back(aclInit(nullptr)); }).join();
  return journal->answer;
}

TEST_F(InitCallback, MayWaitForAThreadThatInitialises) {
  Register(ACL_REG_TYPE_OTHER, &WaitForAnotherInit);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(journal_.calls, std::vector<int>{ACL_ERROR_REPEAT_INITIALIZE});
  uint64_t left = 0;
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 1u);
}

TEST_F(InitCallback, MayWaitForAThreadThatInitialisesWhenItIsRegisteredLate) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  Register(ACL_REG_TYPE_OTHER, &WaitForAnotherInit);
  EXPECT_EQ(journal_.calls, std::vector<int>{ACL_ERROR_REPEAT_INITIALIZE});
}

TEST_F(InitCallback, FailureUndoesWhatOthersCountedMeanwhile) {
  journal_.answer = 4711;
  Register(ACL_REG_TYPE_OTHER, &WaitForAnotherInit);
  EXPECT_EQ(aclInit(nullptr), 4711);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
}

using FinalizeCallback = InitCallback;

TEST_F(FinalizeCallback, RunsInTypeOrder) {
  Register(ACL_REG_TYPE_OTHER, &OnFinalize<4>);
  Register(ACL_REG_TYPE_ACL_DVPP, &OnFinalize<3>);
  Register(ACL_REG_TYPE_ACL_MODEL, &OnFinalize<2>);
  Register(ACL_REG_TYPE_ACL_OP_COMPILER, &OnFinalize<1>);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(journal_.calls.empty());
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(journal_.calls, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(FinalizeCallback, LastReferenceRunsItAndEarlierOnesDoNot) {
  Register(ACL_REG_TYPE_OTHER, &OnFinalize<1>);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  ASSERT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(journal_.calls.empty());
  ASSERT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
  EXPECT_EQ(journal_.calls, std::vector<int>{1});
}

TEST_F(FinalizeCallback, FailureIsReturnedAndTheCountStays) {
  Register(ACL_REG_TYPE_OTHER, &OnFinalize<1>);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  journal_.failing = 1;
  journal_.answer = 4711;
  EXPECT_EQ(aclFinalize(), 4711);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);

  journal_.failing = -1;
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace init_callback_test
}  // namespace ropeway_test
