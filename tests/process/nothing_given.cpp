// Every function that the libraries let out, called with nothing but zeros in a process that has no device: none crashes, and none says
// that it did something, but for those that have nothing to do, or whose zeros mean something.
#include <filesystem>

#include "tests/process/exported.h"
#include "tests/process/process_test.h"
#include "tests/process/refused_names.h"

namespace {

using namespace process_test;

// Why a 0 is right.
const std::set<std::string> kRight = {
    // They take nothing, or 0 is a choice.
    "aclFinalize",
    "aclInit",
    "aclmdlInitDump",
    "aclnnFinalize",
    "aclnnInit",
    "aclprofFinalize",
    "aclprofStart",
    "aclprofStop",
    "aclrtDeviceGetStreamPriorityRange",
    "aclrtDeviceTaskAbort",
    "aclrtResetDeviceResLimit",
    "aclrtSetDevice",
    "aclrtSetExceptionInfoCallback",
    "aclrtSetOpExecuteTimeOut",
    "aclrtSetOpExecuteTimeOutWithMs",
    "aclrtSetOpWaitTimeout",
    "aclrtSetSysParamOpt",
    "aclrtSetTsDevice",
    "dcmi_init",
    "msptiActivityFlushAll",
    "msptiActivityFlushPeriod",
    "ropewayRequireUsable",
    "rtSetDevice",
    // Copies and sets of no bytes.
    "aclrtMemcpy",
    "aclrtMemcpy2d",
    "aclrtMemcpy2dAsync",
    "aclrtMemcpyAsync",
    "aclrtMemcpyAsyncWithCondition",
    "aclrtMemcpyAsyncWithOffset",
    "aclrtMemcpyFromSymbol",
    "aclrtMemcpyFromSymbolAsync",
    "aclrtMemcpyToSymbol",
    "aclrtMemcpyToSymbolAsync",
    "aclrtMemset",
    "aclrtMemsetAsync",
    "aclrtMemsetD32",
    "aclrtMemsetD32Async",
    "rtMemcpy",
    "rtMemcpyAsync",
    "rtMemcpyAsyncWithoutCheckKind",
    // 0 is a number, or a null where an object was asked for.
    "aclCreateScalar",
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSize",
    "aclGetDataBufferSizeV2",
    "aclGetRecentErrMsg",
    "aclGetTensorDescAddress",
    "aclGetTensorDescByIndex",
    "aclGetTensorDescElementCount",
    "aclGetTensorDescNumDims",
    "aclGetTensorDescSize",
    "aclmdlGetDatasetBuffer",
    "aclmdlGetDatasetNumBuffers",
    "aclmdlGetDatasetTensorDesc",
    "aclprofCreateConfig",
    "aclprofCreateStamp",
    "aclprofCreateSubscribeConfig",
    "aclprofGetOpAttriValue",
    "aclprofGetOpDuration",
    "aclprofGetOpEnd",
    "aclprofGetOpStart",
    "aclprofRangePop",
    "aclprofRangePushEx",
    "aclprofRegisterDeviceCallback",
    "aclrtCreateBinary",
    "ropewayKernelView",
    "aclrtGetLastError",
    "aclrtPeekAtLastError",
    "msptiActivityIsEnabled",
    "msptiUnsubscribe",
    "ropewayIsTraced",
};

// These return nothing, and what is in the register is not theirs.
const std::set<std::string> kReturnNothing = {
    "aclAppLog",           "aclDestroyTensorDesc",   "acldumpUnregCallback", "aclopDestroyAttr",  "aclopDestroyHandle",
    "aclprofDestroyStamp", "aclprofDestroyStepInfo", "aclSetTensorDescName", "ropewayFailKernel",
};

bool MayBeZero(const std::string& name) {
  return kRight.contains(name) || kReturnNothing.contains(name) || kConstants.contains(name) || kNulls.contains(name) ||
         name.starts_with("mstx") || name.starts_with("ropeway") /* ours: most of them hand out pointers and numbers */;
}

void All() {
  // A child for each function, and a sanitizer has none of them to see that it does not see elsewhere.
  if (RW_SANITIZED) return;
  // Who starts a profile without a word about its place writes it here.
  char folder[] = "/tmp/ropeway_nothing_XXXXXX";
  if (mkdtemp(folder) == nullptr || chdir(folder) != 0) std::abort();
  for (const auto& exported : ExportedFunctions("libascendcl.so")) {
    const std::string& name = exported.first;
    void* const function = exported.second;
    if (name == "ropewayStateTable") continue;  // not C: it returns a structure, to tools of ours
    const bool good = InChild([&] {
      if (std::freopen("/dev/null", "w", stderr) == nullptr) std::abort();
      if (CallWith(nullptr, function) == 0 && !MayBeZero(name)) Fail(__FILE__, __LINE__, name);
    });
    if (!good) Fail(__FILE__, __LINE__, name + " crashes, or succeeds with nothing given");
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {}); }
