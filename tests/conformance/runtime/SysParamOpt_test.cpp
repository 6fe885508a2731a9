// System options of the process and of a context.
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace sys_param_opt_test {

const auto kPastLast = static_cast<aclSysParamOpt>(ACL_OPT_ENABLE_KERNEL_EARLY_START + 1);
const auto kNegative = static_cast<aclSysParamOpt>(-1);

using SysParamOpt = DeviceTest;

TEST_F(SysParamOpt, ProcessScopeKnowsFourOptions) {
  for (int opt = ACL_OPT_DETERMINISTIC; opt <= ACL_OPT_ENABLE_KERNEL_EARLY_START; ++opt) {
    auto option = static_cast<aclSysParamOpt>(opt);
    int64_t value = -1;
    EXPECT_EQ(aclrtSetSysParamOpt(option, 1), ACL_SUCCESS) << opt;
    EXPECT_EQ(aclrtGetSysParamOpt(option, &value), ACL_SUCCESS) << opt;
    EXPECT_EQ(value, 1) << opt;
    EXPECT_EQ(aclrtSetSysParamOpt(option, 0), ACL_SUCCESS) << opt;
    EXPECT_EQ(aclrtGetSysParamOpt(option, &value), ACL_SUCCESS) << opt;
    EXPECT_EQ(value, 0) << opt;
  }
}

TEST_F(SysParamOpt, BadOptionAndNullAreRejected) {
  int64_t value = -1;
  for (auto option : {kPastLast, kNegative}) {
    EXPECT_EQ(aclrtSetSysParamOpt(option, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetSysParamOpt(option, &value), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, -1);
}

TEST_F(SysParamOpt, ContextScopeKnowsThreeOptions) {
  int64_t value = -1;
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, &value), ACL_ERROR_INVALID_PARAM);
  for (auto option : {ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL, ACL_OPT_STRONG_CONSISTENCY}) {
    EXPECT_EQ(aclrtCtxSetSysParamOpt(option, 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_SUCCESS);
    EXPECT_EQ(value, 1);
  }
}

TEST_F(SysParamOpt, ContextOptionNeverSetIsReported) {
  ForeignContext fresh;
  fresh.Run([] {
    int64_t value = -1;
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(value, -1);
  });
}

TEST_F(SysParamOpt, ContextsDoNotShareOptions) {
  ForeignContext one, two;
  int64_t value = -1;
  one.Run([] { EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS); });
  two.Run([&] { EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET); });
  one.Run([&] { EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS); });
  EXPECT_EQ(value, 1);
}

TEST_F(SysParamOpt, ContextScopeNeedsAContext) {
  int64_t value = -1;
  EXPECT_EQ(WithoutContext([] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(WithoutContext([&] { return aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value); }), ACL_SUCCESS);
}

}  // namespace sys_param_opt_test
}  // namespace ropeway_test
