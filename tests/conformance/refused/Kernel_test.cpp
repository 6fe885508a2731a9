// Device code is refused: binaries, functions, arguments, launches.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace kernel_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;

class RefusedKernel : public StreamTest {
 protected:
  // Outputs start with these values, and no refused call may change them.
  void ExpectOutputsUntouched() const {
    EXPECT_EQ(handle_out_, Nonsense());
    EXPECT_EQ(size_out_, 77u);
    EXPECT_EQ(int_out_, 77);
  }

  void* const h_ = Nonsense();
  void* handle_out_ = Nonsense();
  size_t size_out_ = 77;
  int64_t int_out_ = 77;
};

TEST_F(RefusedKernel, BinariesAreRefused) {
  int32_t compatible = 77;
  const char image[4] = {};
  ExpectRefusals(
      {
          {"aclrtDestroyBinary",
           [&] { return aclrtDestroyBinary(h_); },
           {{kNull, [&] { return aclrtDestroyBinary(nullptr); }}}},
          {"aclrtBinaryLoad",
           [&] { return aclrtBinaryLoad(h_, &handle_out_); },
           {{kNull, [&] { return aclrtBinaryLoad(nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryLoad(h_, nullptr); }}}},
          {"aclrtBinaryUnLoad",
           [&] { return aclrtBinaryUnLoad(h_); },
           {{kNull, [&] { return aclrtBinaryUnLoad(nullptr); }}}},
          {"aclrtBinaryLoadFromFile",
           [&] { return aclrtBinaryLoadFromFile("kernel.o", nullptr, &handle_out_); },
           {{kNull, [&] { return aclrtBinaryLoadFromFile(nullptr, nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryLoadFromFile("kernel.o", nullptr, nullptr); }}}},
          {"aclrtBinaryLoadFromData",
           [&] { return aclrtBinaryLoadFromData(image, sizeof(image), nullptr, &handle_out_); },
           {{kNull, [&] { return aclrtBinaryLoadFromData(nullptr, sizeof(image), nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryLoadFromData(image, 0, nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryLoadFromData(image, sizeof(image), nullptr, nullptr); }}}},
          {"aclrtBinaryGetFunction",
           [&] { return aclrtBinaryGetFunction(h_, "add", &handle_out_); },
           {{kNull, [&] { return aclrtBinaryGetFunction(nullptr, "add", &handle_out_); }},
            {kNull, [&] { return aclrtBinaryGetFunction(h_, nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryGetFunction(h_, "add", nullptr); }}}},
          {"aclrtBinaryGetFunctionByEntry",
           [&] { return aclrtBinaryGetFunctionByEntry(h_, 1, &handle_out_); },
           {{kNull, [&] { return aclrtBinaryGetFunctionByEntry(nullptr, 1, &handle_out_); }},
            {kNull, [&] { return aclrtBinaryGetFunctionByEntry(h_, 1, nullptr); }}}},
          {"aclrtBinaryGetDevAddress",
           [&] { return aclrtBinaryGetDevAddress(h_, &handle_out_, &size_out_); },
           {{kNull, [&] { return aclrtBinaryGetDevAddress(nullptr, &handle_out_, &size_out_); }},
            {kNull, [&] { return aclrtBinaryGetDevAddress(h_, nullptr, &size_out_); }},
            {kNull, [&] { return aclrtBinaryGetDevAddress(h_, &handle_out_, nullptr); }}}},
          {"aclrtBinaryGetGlobal",
           [&] { return aclrtBinaryGetGlobal(h_, "table", &handle_out_, &size_out_); },
           {{kNull, [&] { return aclrtBinaryGetGlobal(nullptr, "table", &handle_out_, &size_out_); }},
            {kNull, [&] { return aclrtBinaryGetGlobal(h_, nullptr, &handle_out_, &size_out_); }}}},
          {"aclrtCheckArchCompatibility",
           [&] { return aclrtCheckArchCompatibility("Ascend910B1", &compatible); },
           {{kNull, [&] { return aclrtCheckArchCompatibility(nullptr, &compatible); }},
            {kNull, [&] { return aclrtCheckArchCompatibility("Ascend910B1", nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(compatible, 77);
  ExpectOutputsUntouched();
}

TEST_F(RefusedKernel, CreateBinaryReturnsNullAndSaysWhy) {
  const char image[4] = {};
  EXPECT_EQ(aclrtCreateBinary(image, sizeof(image)), nullptr);
  EXPECT_NE(TakeErrorText().find("aclrtCreateBinary: "), std::string::npos);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(RefusedKernel, FunctionsAreRefused) {
  char name[16] = "unchanged";
  ExpectRefusals(
      {
          {"aclrtGetFuncBySymbol",
           [&] { return aclrtGetFuncBySymbol(h_, &handle_out_); },
           {{kNull, [&] { return aclrtGetFuncBySymbol(nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtGetFuncBySymbol(h_, nullptr); }}}},
          {"aclrtRegisterCpuFunc",
           [&] { return aclrtRegisterCpuFunc(h_, "run", "add", &handle_out_); },
           {{kNull, [&] { return aclrtRegisterCpuFunc(nullptr, "run", "add", &handle_out_); }},
            {kNull, [&] { return aclrtRegisterCpuFunc(h_, nullptr, "add", &handle_out_); }}}},
          {"aclrtGetFunctionAddr",
           [&] { return aclrtGetFunctionAddr(h_, &handle_out_, &handle_out_); },
           {{kNull, [&] { return aclrtGetFunctionAddr(nullptr, &handle_out_, &handle_out_); }},
            {kNull, [&] { return aclrtGetFunctionAddr(h_, nullptr, &handle_out_); }}}},
          {"aclrtGetFunctionSize",
           [&] { return aclrtGetFunctionSize(h_, &size_out_, &size_out_); },
           {{kNull, [&] { return aclrtGetFunctionSize(h_, nullptr, &size_out_); }}}},
          {"aclrtGetFunctionName",
           [&] { return aclrtGetFunctionName(h_, sizeof(name), name); },
           {{kNull, [&] { return aclrtGetFunctionName(h_, sizeof(name), nullptr); }}}},
          {"aclrtGetFunctionAttribute",
           [&] { return aclrtGetFunctionAttribute(h_, ACL_FUNC_ATTR_KERNEL_TYPE, &int_out_); },
           {{kNull, [&] { return aclrtGetFunctionAttribute(h_, ACL_FUNC_ATTR_KERNEL_TYPE, nullptr); }}}},
          {"aclrtFunctionGetBinary",
           [&] { return aclrtFunctionGetBinary(h_, &handle_out_); },
           {{kNull, [&] { return aclrtFunctionGetBinary(nullptr, &handle_out_); }}}},
          {"aclrtFunctionGetParamCount",
           [&] { return aclrtFunctionGetParamCount(h_, &size_out_); },
           {{kNull, [&] { return aclrtFunctionGetParamCount(h_, nullptr); }}}},
          {"aclrtFunctionGetParamInfo",
           [&] { return aclrtFunctionGetParamInfo(h_, 0, &size_out_, &size_out_); },
           {{kNull, [&] { return aclrtFunctionGetParamInfo(nullptr, 0, &size_out_, &size_out_); }}}},
          {"aclrtFunctionGetAvailDynUbufPerBlock",
           [&] { return aclrtFunctionGetAvailDynUbufPerBlock(h_, 0, &size_out_); },
           {{kNull, [&] { return aclrtFunctionGetAvailDynUbufPerBlock(h_, 0, nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_STREQ(name, "unchanged");
  ExpectOutputsUntouched();
}

TEST_F(RefusedKernel, ArgumentsAreRefused) {
  int param = 77;
  ExpectRefusals(
      {
          {"aclrtKernelArgsInit",
           [&] { return aclrtKernelArgsInit(h_, &handle_out_); },
           {{kNull, [&] { return aclrtKernelArgsInit(nullptr, &handle_out_); }},
            {kNull, [&] { return aclrtKernelArgsInit(h_, nullptr); }}}},
          {"aclrtKernelArgsInitByUserMem",
           [&] { return aclrtKernelArgsInitByUserMem(h_, h_, &param, sizeof(param)); },
           {{kNull, [&] { return aclrtKernelArgsInitByUserMem(h_, h_, nullptr, sizeof(param)); }}}},
          {"aclrtKernelArgsGetHandleMemSize",
           [&] { return aclrtKernelArgsGetHandleMemSize(h_, &size_out_); },
           {{kNull, [&] { return aclrtKernelArgsGetHandleMemSize(h_, nullptr); }}}},
          {"aclrtKernelArgsGetMemSize",
           [&] { return aclrtKernelArgsGetMemSize(h_, 8, &size_out_); },
           {{kNull, [&] { return aclrtKernelArgsGetMemSize(h_, 8, nullptr); }}}},
          {"aclrtKernelArgsAppend",
           [&] { return aclrtKernelArgsAppend(h_, &param, sizeof(param), &handle_out_); },
           {{kNull, [&] { return aclrtKernelArgsAppend(nullptr, &param, sizeof(param), &handle_out_); }},
            {kNull, [&] { return aclrtKernelArgsAppend(h_, nullptr, sizeof(param), &handle_out_); }},
            {kNull, [&] { return aclrtKernelArgsAppend(h_, &param, sizeof(param), nullptr); }}}},
          {"aclrtKernelArgsAppendPlaceHolder",
           [&] { return aclrtKernelArgsAppendPlaceHolder(h_, &handle_out_); },
           {{kNull, [&] { return aclrtKernelArgsAppendPlaceHolder(h_, nullptr); }}}},
          {"aclrtKernelArgsGetPlaceHolderBuffer",
           [&] { return aclrtKernelArgsGetPlaceHolderBuffer(h_, h_, 8, &handle_out_); },
           {{kNull, [&] { return aclrtKernelArgsGetPlaceHolderBuffer(h_, h_, 8, nullptr); }}}},
          {"aclrtKernelArgsParaUpdate",
           [&] { return aclrtKernelArgsParaUpdate(h_, h_, &param, sizeof(param)); },
           {{kNull, [&] { return aclrtKernelArgsParaUpdate(h_, h_, nullptr, sizeof(param)); }}}},
          {"aclrtKernelArgsFinalize",
           [&] { return aclrtKernelArgsFinalize(h_); },
           {{kNull, [&] { return aclrtKernelArgsFinalize(nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(param, 77);
  ExpectOutputsUntouched();
}

TEST_F(RefusedKernel, LaunchesAreRefusedAndLeaveTheStreamAlone) {
  const dim3 one = {1, 1, 1};
  const char args[8] = {};
  void* array[1] = {&size_out_};
  ExpectRefusals(
      {
          {"aclrtLaunchKernel",
           [&] { return aclrtLaunchKernel(h_, 1, args, sizeof(args), stream_); },
           {{kNull, [&] { return aclrtLaunchKernel(nullptr, 1, args, sizeof(args), stream_); }}}},
          {"aclrtLaunchKernelV2",
           [&] { return aclrtLaunchKernelV2(h_, 1, args, sizeof(args), nullptr, stream_); },
           {{kNull, [&] { return aclrtLaunchKernelV2(nullptr, 1, args, sizeof(args), nullptr, stream_); }}}},
          {"aclrtLaunchKernelWithConfig",
           [&] { return aclrtLaunchKernelWithConfig(h_, 1, stream_, nullptr, h_, nullptr); },
           {{kNull, [&] { return aclrtLaunchKernelWithConfig(nullptr, 1, stream_, nullptr, h_, nullptr); }},
            {kNull, [&] { return aclrtLaunchKernelWithConfig(h_, 1, stream_, nullptr, nullptr, nullptr); }},
            {kNull, [&] { return aclrtLaunchKernelWithConfig(h_, 1, stream_, nullptr, h_, h_); }}}},
          {"aclrtLaunchKernelWithHostArgs",
           [&] { return aclrtLaunchKernelWithHostArgs(h_, 1, stream_, nullptr, array, sizeof(array), nullptr, 0); },
           {{kNull,
             [&] { return aclrtLaunchKernelWithHostArgs(nullptr, 1, stream_, nullptr, array, 8, nullptr, 0); }}}},
          {"aclrtLaunchKernelWithArgsArray",
           [&] { return aclrtLaunchKernelWithArgsArray(h_, 1, stream_, nullptr, array); },
           {{kNull, [&] { return aclrtLaunchKernelWithArgsArray(nullptr, 1, stream_, nullptr, array); }}}},
          {"aclrtLaunchSIMTKernelWithArgsArray",
           [&] { return aclrtLaunchSIMTKernelWithArgsArray(h_, one, one, 0, stream_, nullptr, array); },
           {{kNull,
             [&] { return aclrtLaunchSIMTKernelWithArgsArray(nullptr, one, one, 0, stream_, nullptr, array); }}}},
          {"aclrtLaunchSIMTKernelWithHostArgs",
           [&] { return aclrtLaunchSIMTKernelWithHostArgs(h_, one, one, 0, stream_, nullptr, array, 8, nullptr, 0); },
           {{kNull,
             [&] {
               return aclrtLaunchSIMTKernelWithHostArgs(nullptr, one, one, 0, stream_, nullptr, array, 8, nullptr, 0);
             }}}},
      },
      LastError::kShows);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ExpectOutputsUntouched();
}

TEST_F(RefusedKernel, WhatSurroundsLaunchesIsRefused) {
  aclrtRandomNumTaskInfo random = {};
  aclrtTaskUpdateInfo update = {};
  ExpectRefusals(
      {
          {"aclrtGetHardwareSyncAddr",
           [&] { return aclrtGetHardwareSyncAddr(&handle_out_); },
           {{kNull, [&] { return aclrtGetHardwareSyncAddr(nullptr); }}}},
          {"aclrtRandomNumAsync",
           [&] { return aclrtRandomNumAsync(&random, stream_, nullptr); },
           {{kNull, [&] { return aclrtRandomNumAsync(nullptr, stream_, nullptr); }},
            {kNull, [&] { return aclrtRandomNumAsync(&random, stream_, h_); }},
            {ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtRandomNumAsync(&random, h_, nullptr); }}}},
          {"aclrtTaskUpdateAsync",
           [&] { return aclrtTaskUpdateAsync(stream_, 1, &update, stream_); },
           {{kNull, [&] { return aclrtTaskUpdateAsync(stream_, 1, nullptr, stream_); }},
            {ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtTaskUpdateAsync(h_, 1, &update, stream_); }},
            {ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtTaskUpdateAsync(stream_, 1, &update, h_); }}}},
          {"aclrtCacheLastTaskOpInfo",
           [&] { return aclrtCacheLastTaskOpInfo("add", 3); },
           {{kNull, [&] { return aclrtCacheLastTaskOpInfo(nullptr, 3); }},
            {kNull, [&] { return aclrtCacheLastTaskOpInfo("add", 0); }}}},
          {"aclrtCacheLastTaskExtendInfo",
           [&] { return aclrtCacheLastTaskExtendInfo("add", 3); },
           {{kNull, [&] { return aclrtCacheLastTaskExtendInfo(nullptr, 3); }},
            {kNull, [&] { return aclrtCacheLastTaskExtendInfo("add", 0); }}}},
      },
      LastError::kShows);
  ExpectOutputsUntouched();
}

}  // namespace kernel_test
}  // namespace ropeway_test
#endif
