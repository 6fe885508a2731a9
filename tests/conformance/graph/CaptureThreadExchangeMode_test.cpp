// aclmdlRICaptureThreadExchangeMode: a value per thread, GLOBAL at first. What it allows is tested in
// CaptureModes_test.cpp.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace capture_thread_exchange_mode_test {

using CaptureThreadExchangeMode = CaptureTest;

struct Args : CallArgs {
  aclmdlRICaptureMode* mode = nullptr;
};

// What the calling thread had; it has `mode` now.
aclmdlRICaptureMode Exchange(aclmdlRICaptureMode mode) {
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
  return mode;
}

TEST_F(CaptureThreadExchangeMode, EarlierCheckWins) {
  auto mode = kGlobal;
  auto bad = static_cast<aclmdlRICaptureMode>(3);
  Args valid;
  valid.mode = &mode;
  const std::vector<Check<Args>> checks = {
      {"mode NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.mode = nullptr; }},
      {"mode 3", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.mode = &bad; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
  };
  auto call = [](const Args& a) { return aclmdlRICaptureThreadExchangeMode(a.mode); };
  ExpectCheckOrder("aclmdlRICaptureThreadExchangeMode", valid, checks, call, [&] {
    EXPECT_EQ(mode, kGlobal);
    EXPECT_EQ(bad, static_cast<aclmdlRICaptureMode>(3));
  });
}

TEST_F(CaptureThreadExchangeMode, ModeOutsideZeroToTwoChangesNothing) {
  OnFreshThread([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Exchange(kThreadLocal);
    for (int value : {-1, 3, 1000}) {
      auto mode = static_cast<aclmdlRICaptureMode>(value);
      EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_ERROR_RT_PARAM_INVALID) << value;
      EXPECT_EQ(mode, static_cast<aclmdlRICaptureMode>(value)) << value;
    }
    EXPECT_EQ(Exchange(kGlobal), kThreadLocal);
  });
}

TEST_F(CaptureThreadExchangeMode, GivesTheOldValueBack) {
  OnFreshThread([] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(Exchange(kRelaxed), kGlobal) << "every thread starts with GLOBAL";
    EXPECT_EQ(Exchange(kThreadLocal), kRelaxed);
    EXPECT_EQ(Exchange(kThreadLocal), kThreadLocal);
    EXPECT_EQ(Exchange(kGlobal), kThreadLocal);
    EXPECT_EQ(Exchange(kGlobal), kGlobal);
  });
}

TEST_F(CaptureThreadExchangeMode, EveryThreadHasItsOwn) {
  Worker one, two;
  for (Worker* worker : {&one, &two}) worker->Do([] { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  one.Do([] { EXPECT_EQ(Exchange(kRelaxed), kGlobal); });
  two.Do([] { EXPECT_EQ(Exchange(kThreadLocal), kGlobal); });
  EXPECT_EQ(Exchange(kGlobal), kGlobal);
  one.Do([] { EXPECT_EQ(Exchange(kGlobal), kRelaxed); });
  two.Do([] { EXPECT_EQ(Exchange(kGlobal), kThreadLocal); });
}

TEST_F(CaptureThreadExchangeMode, CapturesAndContextsDoNotChangeIt) {
  ForeignContext foreign;
  Worker worker;
  worker.Do([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Exchange(kThreadLocal);
    Begin(stream_, kRelaxed);
    EXPECT_EQ(Exchange(kThreadLocal), kThreadLocal);
    End(stream_);
    EXPECT_EQ(Exchange(kThreadLocal), kThreadLocal);
    ASSERT_EQ(aclrtSetCurrentContext(foreign.context()), ACL_SUCCESS);
    EXPECT_EQ(Exchange(kGlobal), kThreadLocal);
  });
}

}  // namespace capture_thread_exchange_mode_test
}  // namespace ropeway_test::graph
