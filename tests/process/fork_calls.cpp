// Every function that the libraries let out, in a child that was forked when devices were up and other threads held whatever locks
// there are: each is refused or answers, each files its text, and each child ends in order. None hangs.
#include <set>

#include "acl/acl.h"
#include "driver/ascend_hal.h"
#include "hccl/hccl_comm.h"
#include "tests/process/busy.h"
#include "tests/process/exported.h"
#include "tests/process/process_test.h"
#include "tests/process/refused_names.h"

namespace {

using namespace process_test;

constexpr size_t kSize = 4096;

// --- What goes on in the parent -----------------------------------------------------------------------------------------

void Memory() {
  void *block = nullptr, *pinned = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&pinned, kSize), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

void Streams() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

void Registrations() {
  alignas(kSize) static thread_local char bytes[kSize];
  void* on_device = nullptr;
  RW_CHECK_EQ(aclrtHostRegister(bytes, kSize, ACL_HOST_REGISTER_MAPPED, &on_device), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtHostUnregister(bytes), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRegDeviceStateCallback(
                  "fork", [](int32_t, aclrtDeviceState, void*) {}, nullptr),
              ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRegDeviceStateCallback("fork", nullptr, nullptr), ACL_SUCCESS);
}

// A notify that another process could import, imported here.
void Sharing() {
  aclrtNotify notify = nullptr, imported = nullptr;
  char key[65] = {};
  RW_CHECK_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtNotifyGetExportKey(notify, key, sizeof(key), ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtNotifyImportByKey(&imported, key, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(imported), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

void InitAndTexts() {
  aclInit(nullptr);
  aclFinalize();
  RW_CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  aclGetRecentErrMsg();
  ACL_APP_LOG(ACL_ERROR, "said by a thread");
}

const std::map<std::string, void*>& HcclFunctions() {
  static const std::map<std::string, void*> functions = ExportedFunctions("libhccl.so");
  return functions;
}

void Ranks() {
  static const auto init = reinterpret_cast<decltype(&HcclCommInitAll)>(HcclFunctions().at("HcclCommInitAll"));
  static const auto destroy = reinterpret_cast<decltype(&HcclCommDestroy)>(HcclFunctions().at("HcclCommDestroy"));
  int32_t device = 0;
  HcclComm comm = nullptr;
  RW_CHECK_EQ(init(1, &device, &comm), HCCL_SUCCESS);
  RW_CHECK_EQ(destroy(comm), HCCL_SUCCESS);
}

// --- What the child asks ------------------------------------------------------------------------------------------------

// Counts, versions, names, ids; values that are the caller's alone; and the error texts.
const std::set<std::string> kPlain = {
    "aclAppLog",
    "aclrtCheckArchCompatibility",
    "ropewayHelpWaiters",
    "aclCreateTensorDesc",
    "aclDestroyTensorDesc",
    "aclSetTensorShapeRange",
    "aclSetTensorValueRange",
    "aclGetTensorDescType",
    "aclGetTensorDescFormat",
    "aclGetTensorDescSize",
    "aclGetTensorDescElementCount",
    "aclGetTensorDescNumDims",
    "aclGetTensorDescDim",
    "aclGetTensorDescDimV2",
    "aclGetTensorDescDimRange",
    "aclSetTensorDescName",
    "aclGetTensorDescName",
    "aclSetTensorStorageFormat",
    "aclSetTensorStorageShape",
    "aclSetTensorFormat",
    "aclSetTensorShape",
    "aclSetTensorOriginFormat",
    "aclSetTensorOriginShape",
    "aclGetTensorDescByIndex",
    "aclGetTensorDescAddress",
    "aclSetTensorDynamicInput",
    "aclSetTensorConst",
    "aclSetTensorPlaceMent",
    "aclopCreateAttr",
    "aclopDestroyAttr",
    "aclopSetAttrBool",
    "aclopSetAttrInt",
    "aclopSetAttrFloat",
    "aclopSetAttrString",
    "aclopSetAttrDataType",
    "aclopSetAttrListDataType",
    "aclopSetAttrListBool",
    "aclopSetAttrListInt",
    "aclopSetAttrListFloat",
    "aclopSetAttrListString",
    "aclopSetAttrListListInt",
    "aclopDestroyHandle",
    "aclCreateGraphDumpOpt",
    "aclDestroyGraphDumpOpt",
    "aclmdlCreateDataset",
    "aclmdlDestroyDataset",
    "aclmdlAddDatasetBuffer",
    "aclmdlSetDatasetTensorDesc",
    "aclmdlGetDatasetTensorDesc",
    "aclmdlGetDatasetNumBuffers",
    "aclmdlGetDatasetBuffer",
    "aclCreateTensor",
    "aclInitTensor",
    "aclCreateScalar",
    "aclCreateIntArray",
    "aclCreateFloatArray",
    "aclCreateBoolArray",
    "aclCreateTensorList",
    "aclCreateScalarList",
    "aclDestroyTensor",
    "aclDestroyScalar",
    "aclDestroyIntArray",
    "aclDestroyFloatArray",
    "aclDestroyBoolArray",
    "aclDestroyTensorList",
    "aclDestroyScalarList",
    "aclGetViewShape",
    "aclGetStorageShape",
    "aclGetViewStrides",
    "aclGetViewOffset",
    "aclGetFormat",
    "aclGetDataType",
    "aclGetIntArraySize",
    "aclGetFloatArraySize",
    "aclGetBoolArraySize",
    "aclGetTensorListSize",
    "aclGetScalarListSize",
    "aclSetRawTensorAddr",
    "aclGetRawTensorAddr",
    "aclnnInit",
    "aclnnFinalize",
    "ropewayKernelGetShape",
    "ropewayKernelView",
    "ropewayKernelWorkspace",
    "ropewayTensorView",
    "ropewayTensorShape",
    "ropewayTensorStrides",
    "ropewayScalarValue",
    "ropewayIntArrayValues",
    "ropewayFloatArrayValues",
    "ropewayBoolArrayValues",
    "ropewayTensorListItem",
    "ropewayScalarListItem",
    "ropewayFailKernel",
    "aclCreateDataBuffer",
    "aclDataTypeSize",
    "aclDestroyDataBuffer",
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclGetCannAttribute",
    "aclGetCannAttributeList",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSize",
    "aclGetDataBufferSizeV2",
    "aclGetDeviceCapability",
    "aclGetRecentErrMsg",
    "aclUpdateDataBuffer",
    "aclprofCreateStamp",
    "aclprofDestroyStamp",
    "aclprofDestroyStepInfo",
    "aclprofGetOpAttriValue",
    "aclprofGetOpDuration",
    "aclprofGetOpEnd",
    "aclprofGetOpFlag",
    "aclprofGetOpStart",
    "aclprofMark",
    "aclprofMarkEx",
    "aclprofPop",
    "aclprofPush",
    "aclprofRangePop",
    "aclprofRangePushEx",
    "aclprofRangeStart",
    "aclprofRangeStop",
    "aclprofRegisterDeviceCallback",
    "aclprofSetStampTraceMessage",
    "aclprofStr2Id",
    "aclrtDeviceGetBareTgid",
    "aclrtDeviceGetByPCIBusId",
    "aclrtDeviceGetHostAtomicCapabilities",
    "aclrtDeviceGetP2PAtomicCapabilities",
    "aclrtDeviceGetPCIBusId",
    "aclrtDeviceGetStreamPriorityRange",
    "aclrtDeviceGetUuid",
    "aclrtGetDeviceCapability",
    "aclrtGetDeviceCount",
    "aclrtGetDeviceIdFromExceptionInfo",
    "aclrtGetDeviceInfo",
    "aclrtGetDevicesTopo",
    "aclrtGetErrorCodeFromExceptionInfo",
    "aclrtGetLastError",
    "aclrtGetLogicDevIdByPhyDevId",
    "aclrtGetLogicDevIdByUserDevId",
    "aclrtGetPhyDevIdByLogicDevId",
    "aclrtGetPhyDevIdByUserDevId",
    "aclrtGetRunMode",
    "aclrtGetSocName",
    "aclrtGetStreamIdFromExceptionInfo",
    "aclrtGetTaskIdFromExceptionInfo",
    "aclrtGetThreadIdFromExceptionInfo",
    "aclrtGetUserDevIdByLogicDevId",
    "aclrtGetUserDevIdByPhyDevId",
    "aclrtGetVersion",
    "aclrtPeekAtLastError",
    "aclsysGetCANNVersion",
    "aclsysGetVersionNum",
    "aclsysGetVersionStr",
    "ropewayBeginAccess",
    "ropewayEndAccess",
    "ropewayFileErrorText",
    "ropewayIsIdle",
    "ropewayIsTraced",
    "ropewayTellCaller",
    "ropewayTellCommunication",
    "ropewayTellErrorSite",
    "ropewayTellMessage",
    "ropewayTellPlace",
    "ropewayTellRank",
    "ropewayTellTransfer",
    "ropewayTellWait",
    "ropewayGetAddressReason",
    "ropewayGetEngineName",
    "ropewayGetEngineReason",
    "ropewayCopyBy",
    "ropewayGetCopyProfile",
    "ropewayGetCopyProfilePath",
    "ropewayGetCpuSignature",
    "ropewayGetSetting",
    "ropewayGetVersion",
    "acldumpUnregCallback",
    "dcmi_get_card_num_list",
    "dcmi_get_device_id_in_card",
    "dcmi_get_device_pcie_info_v2",
    "dcmi_init",
    "drvGetDevNum",
    "drvGetLocalDevIDByHostDevID",
    "dsmi_get_device_count",
    "dsmi_get_version",
    "halGetAPIVersion",
    "rtDeviceGetBareTgid",
    "rtGetDeviceInfo",
    "rtGetDevicePhyIdByIndex",
    "rtGetLogicDevIdByUserDevId",
    "rtGetSocVersion",
    "HcclGetCommConfigCapability",
    "HcclGetErrorString",
    "RegisterInitTaskCallBack",
    "RegisterLaunchTaskCallBack",
};

// Those of profiles have answers of their own for whoever has none, and file nothing.
bool IsPlain(const std::string& name) {
  return kPlain.contains(name) || kConstants.contains(name) || name.starts_with("mspti") || name.starts_with("mstx");
}

// Refused like the others; what they return is a pointer.
const std::set<std::string> kMake = {
    "aclprofCreateConfig",
    "aclprofCreateStepInfo",
    "aclprofCreateSubscribeConfig",
    "aclrtAllocatorCreateDesc",
    "aclrtCreateStreamConfigHandle",
    "aclmdlBundleCreateQueryInfo",
    "aclmdlCreateConfigHandle",
    "aclmdlCreateDesc",
    "aclmdlCreateExecConfigHandle",
    "aclGetCompileoptSize",
    "aclrtCreateBinary",
};

// What libraries with codes of their own say for a refusal.
int32_t RefusedBy(const std::string& name, int32_t refused) {
  if (name.starts_with("hal") || name.starts_with("drv") || name.starts_with("dsmi_")) return DRV_ERROR_INNER_ERR;
  return name.starts_with("dcmi_") ? -8005 : refused;
}

void CheckText(const char* expected = "this process was forked from one that had a device set") {
  const char* text = aclGetRecentErrMsg();
  if (text == nullptr || std::strstr(text, expected) == nullptr)
    Fail(__FILE__, __LINE__, std::string("the text is ") + (text == nullptr ? "missing" : text));
}

void Check(const std::string& name, void* function, int32_t refused) {
  void* handle = nullptr;
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);                                                // of the one before
  const int32_t answer = CallWith(name == "ForceProfOn" ? &handle : nullptr, function);  // it takes a reference
  if (IsPlain(name)) {
    RW_CHECK(answer != refused);
  } else {
    if (answer != (kMake.contains(name) || kNulls.contains(name) ? 0 : RefusedBy(name, refused)))
      Fail(__FILE__, __LINE__, name + " answers " + std::to_string(answer));
    CheckText();
  }
}

// A few functions in each child, which ends through exit.
void CheckAll(const std::map<std::string, void*>& functions, int32_t refused) {
  constexpr size_t kAtATime = 3;
  for (auto next = functions.begin(); next != functions.end();) {
    const auto first = next;
    for (size_t i = 0; i < kAtATime && next != functions.end(); ++i) ++next;
    const bool good = InChild([&] {
      for (auto one = first; one != next; ++one) {
        Check(one->first, one->second, refused);
        if (g_failures != 0) return Fail(__FILE__, __LINE__, one->first);
      }
    });
    if (!good) Fail(__FILE__, __LINE__, "of the functions from " + first->first + " to " + std::prev(next)->first);
  }
}

void Runtime() {
  if (std::freopen("/dev/null", "w", stdout) == nullptr) std::abort();  // for the log
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);                          // before the first fork, however busy the machine is
  const Busy busy({&Memory, &Streams, &Registrations, &Sharing, &InitAndTexts});
  CheckAll(ExportedFunctions("libascendcl.so"), ACL_ERROR_RT_DEV_SETUP_ERROR);
}

void Hccl() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const Busy busy({&Memory, &Ranks, &InitAndTexts});
  CheckAll(HcclFunctions(), HCCL_E_RUNTIME);
}

// Without devices the library is as good as new in a child, unless the parent had used it.
void HcclBeforeAnyDevice() {
  const auto get_root_info = reinterpret_cast<decltype(&HcclGetRootInfo)>(HcclFunctions().at("HcclGetRootInfo"));
  HcclRootInfo info;
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(get_root_info(&info), HCCL_SUCCESS);
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Ranks();
  }));
  RW_CHECK_EQ(get_root_info(&info), HCCL_SUCCESS);
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(get_root_info(&info), HCCL_E_RUNTIME);
    CheckText("this process was forked from one that had used libhccl");
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }));
}

void All() {
  // The children of a threaded process inherit a sanitizer's locks in any state; that is not ours to test.
  if (RW_SANITIZED) return;
  ExpectClean("runtime", {{"ROPEWAY_LOG_LEVEL", "0"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}});
  ExpectClean("hccl");
  ExpectClean("hccl_before");
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All, {{"runtime", &Runtime}, {"hccl", &Hccl}, {"hccl_before", &HcclBeforeAnyDevice}});
}
