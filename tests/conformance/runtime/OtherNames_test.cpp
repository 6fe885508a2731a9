// The same things by the names of other libraries: the driver, older names of the runtime, management of devices and cards. And what is
// filled in before an offline model would be loaded, switches of a dump, and repairs of nothing.
#include "acl/acl_dump.h"
#include "acl/acl_mdl.h"
#include "dcmi_interface_api.h"
#include "driver/ascend_hal.h"
#include "dsmi_common_interface.h"
#include "runtime/rt.h"
#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace other_names_test {

constexpr size_t kPage = 4096;
constexpr uint32_t kNoDevice = 99;

using Driver = StreamTest;

// A program that registers memory with the driver copies through the address that it was given.
TEST_F(Driver, RegistersHostMemory) {
  alignas(kPage) static uint8_t bytes[kPage];
  for (const UINT32 flag : {UINT32{HOST_MEM_MAP_DEV}, UINT32{HOST_MEM_MAP_DEV_PCIE_TH}, HOST_MEM_MAP_DEV_V2 | MEM_REGISTER_READ_ONLY}) {
    void *on_device = nullptr, *known = nullptr;
    ASSERT_EQ(halHostRegister(bytes, kPage, flag, 0, &on_device), DRV_ERROR_NONE) << flag;
    EXPECT_EQ(aclrtHostGetDevicePointer(bytes, &known, 0), ACL_SUCCESS);
    EXPECT_EQ(on_device, known);
    EXPECT_EQ(halHostRegister(bytes, kPage, flag, 0, &on_device), DRV_ERROR_REPEATED_INIT);
    EXPECT_EQ(halHostUnregisterEx(bytes, 0, flag), DRV_ERROR_NONE);
    EXPECT_EQ(halHostUnregister(bytes, 0), DRV_ERROR_NOT_EXIST);
  }
}

TEST_F(Driver, ChecksWhatItRegisters) {
  alignas(kPage) static uint8_t bytes[kPage];
  void* on_device = nullptr;
  EXPECT_EQ(halHostRegister(nullptr, kPage, 0, 0, &on_device), DRV_ERROR_PARA_ERROR);
  EXPECT_EQ(halHostRegister(bytes, kPage, 0, 0, nullptr), DRV_ERROR_PARA_ERROR);
  EXPECT_EQ(halHostRegister(bytes, 0, 0, 0, &on_device), DRV_ERROR_PARA_ERROR);
  EXPECT_EQ(halHostRegister(bytes, kPage, 0, kNoDevice, &on_device), DRV_ERROR_INVALID_DEVICE);
  EXPECT_EQ(halHostRegister(bytes, kPage, DEV_SVM_MAP_HOST, 0, &on_device), DRV_ERROR_NOT_SUPPORT);
  EXPECT_EQ(halHostUnregister(bytes, kNoDevice), DRV_ERROR_INVALID_DEVICE);
  uint32_t capability = HOST_MEM_MAP_NOT_SUPPORTED;
  EXPECT_EQ(halHostRegisterCapabilities(0, ACL_RT_HAC_TYPE_AIC, &capability), DRV_ERROR_NONE);
  EXPECT_EQ(capability, static_cast<uint32_t>(HOST_MEM_MAP_SUPPORTED));
  EXPECT_EQ(halHostRegisterCapabilities(0, 77, &capability), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(halHostRegisterCapabilities(0, 0, nullptr), DRV_ERROR_PARA_ERROR);
}

constexpr drv_mem_prop kOnDevice = {MEM_DEV_SIDE, 0, RUNTIME_MODULE_ID, MEM_HUGE_PAGE_TYPE, MEM_HBM_TYPE, 0};

TEST_F(Driver, MapsPhysicalMemory) {
  size_t granularity = 0;
  ASSERT_EQ(halMemGetAllocationGranularity(&kOnDevice, MEM_ALLOC_GRANULARITY_RECOMMENDED, &granularity), DRV_ERROR_NONE);
  void* address = nullptr;
  drv_mem_handle_t *memory = nullptr, *again = nullptr;
  ASSERT_EQ(halMemAddressReserve(&address, granularity, 0, nullptr, 0), DRV_ERROR_NONE);
  ASSERT_EQ(halMemCreate(&memory, granularity, &kOnDevice, 0), DRV_ERROR_NONE);
  ASSERT_EQ(halMemMap(address, granularity, 0, memory, 0), DRV_ERROR_NONE);
  drv_mem_access_desc access = {MEM_ACCESS_TYPE_READWRITE, {0, MEM_DEV_SIDE}, {}};
  EXPECT_EQ(halMemSetAccess(address, granularity, &access, 1), DRV_ERROR_NONE);
  EXPECT_EQ(halMemSetAccess(address, granularity, &access, 0), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(halMemSetAccess(address, granularity, nullptr, 1), DRV_ERROR_PARA_ERROR);
  const auto sent = Pattern(kPage, 3);
  std::vector<uint8_t> received(kPage);
  EXPECT_EQ(rtMemcpy(address, granularity, sent.data(), kPage, RT_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(rtMemcpy(received.data(), kPage, address, kPage, RT_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(halMemRetainAllocationHandle(&again, address), DRV_ERROR_NONE);
  EXPECT_EQ(again, memory);
  EXPECT_EQ(halMemRelease(again), DRV_ERROR_NONE);
  EXPECT_EQ(halMemUnmap(address), DRV_ERROR_NONE);
  EXPECT_EQ(halMemAddressFree(address), DRV_ERROR_NONE);
  EXPECT_EQ(halMemRelease(memory), DRV_ERROR_NONE);
}

TEST_F(Driver, ChecksPhysicalMemory) {
  drv_mem_handle_t* memory = nullptr;
  drv_mem_prop other = kOnDevice;
  other.side = MEM_MAX_SIDE;
  EXPECT_EQ(halMemCreate(&memory, kPage, nullptr, 0), DRV_ERROR_PARA_ERROR);
  EXPECT_EQ(halMemCreate(&memory, kPage, &other, 0), DRV_ERROR_INVALID_VALUE);
  other = kOnDevice;
  other.mem_type = MEM_TS_DDR_TYPE;
  EXPECT_EQ(halMemCreate(&memory, kPage, &other, 0), DRV_ERROR_INVALID_VALUE);
  other = kOnDevice;
  other.devid = kNoDevice;
  EXPECT_EQ(halMemCreate(&memory, size_t{2} << 20, &other, 0), DRV_ERROR_INVALID_DEVICE);
}

// A number is in the bytes of a handle, and everybody can be let in later. Other processes import it (process_shared_physical).
TEST_F(Driver, SharesPhysicalMemoryByNumbers) {
  drv_mem_handle_t *memory = nullptr, *imported = nullptr;
  ASSERT_EQ(halMemCreate(&memory, size_t{2} << 20, &kOnDevice, 0), DRV_ERROR_NONE);
  MemShareHandle handle;
  std::memset(&handle, 0xEE, sizeof(handle));
  ASSERT_EQ(halMemExportToShareableHandleV2(memory, MEM_HANDLE_TYPE_NONE, 0, &handle), DRV_ERROR_NONE);
  EXPECT_EQ(handle.share_info[MEM_SHARE_HANDLE_LEN - 1], 0);
  uint32_t server = 7;
  uint64_t number = 0;
  EXPECT_EQ(halMemTransShareableHandle(MEM_HANDLE_TYPE_NONE, &handle, &server, &number), DRV_ERROR_NONE);
  int64_t this_server = -1;
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SUPER_POD_SERVER_ID, &this_server), ACL_SUCCESS);
  EXPECT_EQ(server, static_cast<uint32_t>(this_server));
  EXPECT_NE(number, 0u);
  EXPECT_EQ(halMemTransShareableHandle(MEM_HANDLE_TYPE_FABRIC, &handle, &server, &number), DRV_ERROR_NOT_SUPPORT);
  EXPECT_EQ(halMemExportToShareableHandle(memory, MEM_HANDLE_TYPE_NONE, 0, &number), DRV_ERROR_INVALID_VALUE) << "exported before";
  EXPECT_EQ(halMemShareHandleSetAttribute(number, SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER, {1, {}}), DRV_ERROR_NONE);
  EXPECT_EQ(halMemShareHandleSetAttribute(number, SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER, {0, {}}), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(halMemShareHandleSetAttribute(number + 1, SHR_HANDLE_ATTR_NO_WLIST_IN_SERVER, {1, {}}), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(halMemImportFromShareableHandle(number, 0, &imported), DRV_ERROR_INVALID_VALUE) << "it is this process's own";
  EXPECT_EQ(halMemImportFromShareableHandleV2(MEM_HANDLE_TYPE_NONE, &handle, 0, &imported), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(halMemImportFromShareableHandleV2(MEM_HANDLE_TYPE_NONE, &handle, kNoDevice, &imported), DRV_ERROR_INVALID_DEVICE);
  EXPECT_EQ(halMemRelease(memory), DRV_ERROR_NONE);
}

TEST_F(Driver, KnowsTheDevices) {
  uint32_t count = 0, driver_count = 0, local = 7;
  int version = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(drvGetDevNum(&driver_count), DRV_ERROR_NONE);
  EXPECT_EQ(driver_count, count);
  EXPECT_EQ(drvGetLocalDevIDByHostDevID(0, &local), DRV_ERROR_NONE);
  EXPECT_EQ(local, 0u);
  EXPECT_EQ(drvGetLocalDevIDByHostDevID(kNoDevice, &local), DRV_ERROR_INVALID_DEVICE);
  EXPECT_EQ(halGetAPIVersion(&version), DRV_ERROR_NONE);
  EXPECT_GT(version, 0);
  EXPECT_EQ(halGetAPIVersion(nullptr), DRV_ERROR_PARA_ERROR);
}

using OlderNames = StreamTest;

TEST_F(OlderNames, AllocateAndCopy) {
  void *block = nullptr, *pinned = nullptr;
  for (const uint32_t type : {RT_MEMORY_DEFAULT, RT_MEMORY_HBM, RT_MEMORY_HBM | RT_MEMORY_POLICY_HUGE_PAGE_ONLY,
                              RT_MEMORY_DDR | RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P}) {
    ASSERT_EQ(rtMalloc(&block, kPage, type, 0), RT_ERROR_NONE) << type;
    EXPECT_EQ(rtFree(block), RT_ERROR_NONE);
  }
  for (const uint32_t type : {RT_MEMORY_HOST, RT_MEMORY_SVM, RT_MEMORY_TS, RT_MEMORY_SPM})
    EXPECT_EQ(rtMalloc(&block, kPage, type, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << type;
  EXPECT_EQ(rtMalloc(&block, kPage, RT_MEMORY_POLICY_HUGE_PAGE_ONLY | RT_MEMORY_POLICY_HUGE_PAGE_FIRST, 0), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(rtMalloc(&block, kPage, RT_MEMORY_HBM, 0), RT_ERROR_NONE);
  ASSERT_EQ(rtMallocHost(&pinned, kPage, 0), RT_ERROR_NONE);
  std::memset(pinned, 0x5A, kPage);
  EXPECT_EQ(rtMemcpyAsync(block, kPage, pinned, kPage, RT_MEMCPY_HOST_TO_DEVICE_EX, stream_), RT_ERROR_NONE);
  EXPECT_EQ(rtStreamSynchronize(stream_), RT_ERROR_NONE);
  std::vector<uint8_t> received(kPage);
  EXPECT_EQ(rtMemcpy(received.data(), kPage, block, kPage, RT_MEMCPY_DEFAULT), RT_ERROR_NONE);
  EXPECT_EQ(received, std::vector<uint8_t>(kPage, 0x5A));
  EXPECT_EQ(rtMemcpy(received.data(), kPage, block, kPage, RT_MEMCPY_ADDR_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(rtMemcpyAsync(block, kPage, pinned, kPage, RT_MEMCPY_RESERVED, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(rtFreeHost(pinned), RT_ERROR_NONE);
  EXPECT_EQ(rtFree(block), RT_ERROR_NONE);
}

TEST_F(OlderNames, TellWhereMemoryIs) {
  DeviceBuffer block(kPage);
  rtPointerAttributes_t attributes{};
  ASSERT_EQ(rtPointerGetAttributes(&attributes, block.get()), RT_ERROR_NONE);
  EXPECT_EQ(attributes.memoryType, RT_MEMORY_TYPE_DEVICE);
  EXPECT_EQ(attributes.locationType, RT_MEMORY_LOC_DEVICE);
  EXPECT_EQ(attributes.deviceID, 0u);
  uint8_t pageable[16];
  ASSERT_EQ(rtPointerGetAttributes(&attributes, pageable), RT_ERROR_NONE);
  EXPECT_EQ(attributes.memoryType, RT_MEMORY_TYPE_USER);
  EXPECT_EQ(attributes.locationType, RT_MEMORY_LOC_UNREGISTERED);
  EXPECT_EQ(rtPointerGetAttributes(nullptr, block.get()), ACL_ERROR_INVALID_PARAM);
}

TEST_F(OlderNames, DevicesAndStreams) {
  EXPECT_EQ(rtSetDevice(0), RT_ERROR_NONE);
  EXPECT_EQ(rtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  uint32_t physical = 7;
  EXPECT_EQ(rtGetDevicePhyIdByIndex(0, &physical), RT_ERROR_NONE);
  EXPECT_EQ(physical, 0u);
  char name[64] = "";
  EXPECT_EQ(rtGetSocVersion(name, sizeof(name)), RT_ERROR_NONE);
  EXPECT_STREQ(name, aclrtGetSocName());
  EXPECT_EQ(rtGetSocVersion(name, 3), ACL_ERROR_RT_PARAM_INVALID);
  rtStream_t stream = nullptr;
  ASSERT_EQ(rtStreamCreate(&stream, 0), RT_ERROR_NONE);
  EXPECT_EQ(rtStreamSynchronize(stream), RT_ERROR_NONE);
  EXPECT_EQ(rtStreamDestroy(stream), RT_ERROR_NONE);
  EXPECT_EQ(rtStreamDestroy(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(rtDeviceReset(0), RT_ERROR_NONE);
}

using Management = BareTest;

TEST_F(Management, DevicesAndCards) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  int devices = 0, cards = 0;
  EXPECT_EQ(dsmi_get_device_count(&devices), 0);
  EXPECT_EQ(devices, static_cast<int>(count));
  ASSERT_EQ(dcmi_init(), 0);
  std::vector<int> list(count, -1);
  EXPECT_EQ(dcmi_get_card_num_list(&cards, list.data(), static_cast<int>(count) - 1), -8001);
  ASSERT_EQ(dcmi_get_card_num_list(&cards, list.data(), static_cast<int>(count)), 0);
  EXPECT_EQ(cards, static_cast<int>(count));
  EXPECT_EQ(list.back(), cards - 1);
  int most = 0, controller = 0, cpu = 0;
  EXPECT_EQ(dcmi_get_device_id_in_card(0, &most, &controller, &cpu), 0);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(dcmi_get_device_id_in_card(cards, &most, &controller, &cpu), -8007);
}

TEST_F(Management, VersionAndBus) {
  char version[32] = "";
  unsigned int length = 0;
  EXPECT_EQ(dsmi_get_version(0, version, sizeof(version), &length), 0);
  EXPECT_STREQ(version, ropewayGetVersion());
  EXPECT_EQ(length, std::strlen(version));
  EXPECT_EQ(dsmi_get_version(0, version, 2, &length), DRV_ERROR_INVALID_VALUE);
  EXPECT_EQ(dsmi_get_version(kNoDevice, version, sizeof(version), &length), DRV_ERROR_INVALID_DEVICE);
  dcmi_pcie_info_all bus;
  ASSERT_EQ(dcmi_get_device_pcie_info_v2(0, 0, &bus), 0);
  char told[16], expected[16];
  std::snprintf(told, sizeof(told), "%04x:%02x:%02x.%x", static_cast<unsigned>(bus.domain), bus.bdf_busid, bus.bdf_deviceid,
                bus.bdf_funcid);
  ASSERT_EQ(aclrtDeviceGetPCIBusId(0, expected, sizeof(expected)), ACL_SUCCESS);
  EXPECT_STREQ(told, expected);
  EXPECT_EQ(dcmi_get_device_pcie_info_v2(0, 1, &bus), -8001);
  EXPECT_EQ(dcmi_get_device_pcie_info_v2(0, 0, nullptr), -8001);
}

using OfflineModels = BareTest;

TEST_F(OfflineModels, SettingsAreCheckedAndDescriptionsAreEmpty) {
  aclmdlDesc* description = aclmdlCreateDesc();
  ASSERT_NE(description, nullptr);
  EXPECT_EQ(aclmdlGetNumInputs(description), 0u);
  EXPECT_STREQ(aclmdlGetInputNameByIndex(description, 0), "");
  EXPECT_EQ(aclmdlDestroyDesc(description), ACL_SUCCESS);
  EXPECT_EQ(aclmdlDestroyDesc(nullptr), ACL_ERROR_INVALID_PARAM);
  aclmdlBundleQueryInfo* info = aclmdlBundleCreateQueryInfo();
  EXPECT_EQ(aclmdlBundleDestroyQueryInfo(info), ACL_SUCCESS);

  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  const int32_t priority = 1;
  const size_t size = 1;
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_PRIORITY_INT32, &priority, sizeof(priority)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_MEM_SIZET, &size, sizeof(size)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_MEM_SIZET, &priority, sizeof(priority)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetConfigOpt(config, static_cast<aclmdlConfigAttr>(30), &size, sizeof(size)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetConfigOpt(nullptr, ACL_MDL_MEM_SIZET, &size, sizeof(size)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlSetConfigOpt(config, ACL_MDL_MEM_SIZET, nullptr, sizeof(size)), ACL_ERROR_INVALID_PARAM);
  uint32_t model = 0;
  EXPECT_EQ(aclmdlLoadWithConfig(config, &model), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclmdlDestroyConfigHandle(config), ACL_SUCCESS);

  aclmdlExecConfigHandle* execution = aclmdlCreateExecConfigHandle();
  EXPECT_EQ(aclmdlSetExecConfigOpt(execution, ACL_MDL_STREAM_SYNC_TIMEOUT, &priority, sizeof(priority)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetExecConfigOpt(execution, ACL_MDL_WORK_SIZET, &size, sizeof(size)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlSetExecConfigOpt(execution, static_cast<aclmdlExecConfigAttr>(10), &size, sizeof(size)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlDestroyExecConfigHandle(execution), ACL_SUCCESS);
}

// The switches are turned as in the original, and one line says that nothing comes of it.
TEST_F(OfflineModels, ADumpIsASwitchWithoutEffect) {
  EXPECT_EQ(aclmdlSetDump("dump.json"), ACL_ERROR_DUMP_NOT_RUN);
  EXPECT_EQ(aclmdlFinalizeDump(), ACL_ERROR_DUMP_NOT_RUN);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclmdlInitDump(), ACL_SUCCESS);
    EXPECT_EQ(aclmdlInitDump(), ACL_ERROR_DUMP_ALREADY_RUN);
    EXPECT_EQ(aclmdlSetDump(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclmdlSetDump("dump.json"), ACL_SUCCESS);
    EXPECT_EQ(aclmdlFinalizeDump(), ACL_SUCCESS);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("aclmdlInitDump"), said.rfind("aclmdlInitDump")) << said;
  acldumpUnregCallback();
}

TEST_F(OfflineModels, NothingIsRepairedAtOnce) {
  aclrtErrorInfo error;
  ASSERT_EQ(aclrtGetErrorVerbose(0, &error), ACL_SUCCESS);
  EXPECT_EQ(aclrtRepairError(0, &error), ACL_SUCCESS);
  error.errorType = ACL_RT_ERROR_AICORE;
  EXPECT_EQ(aclrtRepairError(0, &error), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtRepairError(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRepairError(kNoDevice, &error), ACL_ERROR_RT_INVALID_DEVICEID);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);

  aclrtMemUceInfo ranges[2] = {};
  size_t count = 7;
  ASSERT_EQ(aclrtGetMemUceInfo(0, ranges, 2, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemUceRepair(0, ranges, count), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemUceRepair(0, ranges, 2), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemUceRepair(0, nullptr, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemUceRepair(0, ranges, MAX_MEM_UCE_INFO_ARRAY_SIZE + 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemUceRepair(kNoDevice, ranges, 2), ACL_ERROR_RT_INVALID_DEVICEID);
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  ranges[1] = {Nonsense(), 8, {}};
  EXPECT_EQ(aclrtMemUceRepair(0, ranges, 2), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "a quiet refusal";
}

}  // namespace other_names_test
}  // namespace ropeway_test
#endif
