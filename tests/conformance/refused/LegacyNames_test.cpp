// Older names: rt functions that no header declares, the older spelling of the report functions, and streams from a
// configuration.
#include <pthread.h>

#include "tests/support/acl_test.h"

#ifndef ROPEWAY_TEST_VENDOR
extern "C" {
int32_t rtDeviceGetBareTgid(uint32_t* pid);
int32_t rtGetDeviceInfo(uint32_t deviceId, int32_t moduleType, int32_t infoType, int64_t* value);
int32_t rtGetLogicDevIdByUserDevId(int32_t userDevId, int32_t* logicDevId);
int32_t rtEnableP2P(uint32_t devIdDes, uint32_t phyIdSrc, uint32_t flag);
int32_t rtDisableP2P(uint32_t devIdDes, uint32_t phyIdSrc);
int32_t rtMemcpyAsyncWithoutCheckKind(void* dst, uint64_t destMax, const void* src, uint64_t count, int32_t kind, void* stream);
int32_t rtIpcSetMemoryName(const void* ptr, uint64_t byteCount, char* name, uint32_t len);
int32_t rtIpcDestroyMemoryName(const char* name);
int32_t rtIpcOpenMemory(void** ptr, const char* name);
int32_t rtIpcCloseMemory(const void* ptr);
int32_t rtSetIpcMemorySuperPodPid(const char* name, uint32_t sdid, int32_t pid[], int32_t num);
}

namespace ropeway_test {
namespace legacy_names_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;

using LegacyNames = StreamTest;

TEST_F(LegacyNames, BareTgidIsTheSameAsOfTheSuccessor) {
  uint32_t older = 0;
  int32_t newer = 0;
  EXPECT_EQ(rtDeviceGetBareTgid(&older), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceGetBareTgid(&newer), ACL_SUCCESS);
  EXPECT_EQ(older, static_cast<uint32_t>(newer));
  EXPECT_EQ(rtDeviceGetBareTgid(nullptr), kNull);
}

TEST_F(LegacyNames, DeviceInfoAgreesWithTheSuccessor) {
  struct Pair {
    int32_t module, info;
    aclrtDevAttr attribute;
  };
  const Pair pairs[] = {
      {1, 3, ACL_DEV_ATTR_AICPU_CORE_NUM}, {4, 3, ACL_DEV_ATTR_AICORE_CORE_NUM},      {7, 3, ACL_DEV_ATTR_VECTOR_CORE_NUM},
      {0, 18, ACL_DEV_ATTR_PHY_CHIP_ID},   {0, 26, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID}, {0, 27, ACL_DEV_ATTR_SUPER_POD_SERVER_ID},
      {0, 29, ACL_DEV_ATTR_SUPER_POD_ID},  {0, 19, ACL_DEV_ATTR_PHY_CHIP_ID},
  };
  for (const Pair& pair : pairs) {
    int64_t older = -77, newer = -78;
    EXPECT_EQ(rtGetDeviceInfo(0, pair.module, pair.info, &older), ACL_SUCCESS) << pair.attribute;
    EXPECT_EQ(aclrtGetDeviceInfo(0, pair.attribute, &newer), ACL_SUCCESS) << pair.attribute;
    EXPECT_EQ(older, newer) << pair.attribute;
  }
  int64_t value = 77;
  EXPECT_EQ(rtGetDeviceInfo(0, 0, 18, nullptr), kNull);
  EXPECT_EQ(rtGetDeviceInfo(0, 0, 999, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(rtGetDeviceInfo(99, 0, 18, &value), kRange) << "as aclrtGetDeviceInfo";
  EXPECT_EQ(value, 77);
}

TEST_F(LegacyNames, LogicDeviceId) {
  int32_t logic = 77;
  EXPECT_EQ(rtGetLogicDevIdByUserDevId(0, &logic), ACL_SUCCESS);
  int32_t newer = 78;
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(0, &newer), ACL_SUCCESS);
  EXPECT_EQ(logic, newer);
  EXPECT_EQ(rtGetLogicDevIdByUserDevId(0, nullptr), kNull);
  EXPECT_EQ(rtGetLogicDevIdByUserDevId(99, &logic), ACL_ERROR_RT_INVALID_DEVICEID);
}

int32_t PeerAccess(int32_t from, int32_t to) {
  int32_t status = -1;
  EXPECT_EQ(aclrtDevicePeerAccessStatus(from, to, &status), ACL_SUCCESS);
  return status;
}

TEST_F(LegacyNames, PeerAccessHasOneDirection) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  ASSERT_GE(count, 2u) << "the suite runs with several devices";
  int32_t peer = -1;
  ASSERT_EQ(aclrtGetPhyDevIdByUserDevId(1, &peer), ACL_SUCCESS);
  const auto peer_id = static_cast<uint32_t>(peer);
  EXPECT_EQ(rtEnableP2P(0, peer_id, 0), ACL_SUCCESS);
  EXPECT_EQ(PeerAccess(0, 1), 1);
  EXPECT_EQ(PeerAccess(1, 0), 0);
  EXPECT_EQ(rtDisableP2P(0, peer_id), ACL_SUCCESS);
  EXPECT_EQ(PeerAccess(0, 1), 0);
}

TEST_F(LegacyNames, PeerAccessChecks) {
  int32_t own = -1;
  ASSERT_EQ(aclrtGetPhyDevIdByUserDevId(0, &own), ACL_SUCCESS);
  EXPECT_EQ(rtEnableP2P(0, 1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
  EXPECT_EQ(rtEnableP2P(0, static_cast<uint32_t>(own), 0), kNull);
  EXPECT_EQ(rtEnableP2P(0, 0xFFFFFFFFu, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(rtEnableP2P(0xFFFFFFFFu, 1, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(rtDisableP2P(0xFFFFFFFFu, 1), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LegacyNames, CopyTakesItsDirectionFromTheAddresses) {
  DeviceBuffer device(64);
  PinnedBuffer in(64), out(64);
  const auto bytes = Pattern(64, 3);
  std::memcpy(in.get(), bytes.data(), 64);
  const int32_t nonsense = 1000;
  EXPECT_EQ(rtMemcpyAsyncWithoutCheckKind(device.get(), 64, in.get(), 64, nonsense, stream_), ACL_SUCCESS);
  EXPECT_EQ(rtMemcpyAsyncWithoutCheckKind(out.get(), 64, device.get(), 64, nonsense, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(std::vector<uint8_t>(out.get(), out.get() + 64), bytes);
  EXPECT_EQ(rtMemcpyAsyncWithoutCheckKind(nullptr, 64, in.get(), 64, 0, stream_), kNull);
  EXPECT_EQ(rtMemcpyAsyncWithoutCheckKind(device.get(), 63, in.get(), 64, 0, stream_), kRange);
}

TEST_F(LegacyNames, MemoryIsSharedByName) {
  char name[65] = "no name";
  void* out = nullptr;
  int32_t pid = 1;
  DeviceBuffer block(64);
  EXPECT_EQ(rtIpcSetMemoryName(nullptr, 64, name, sizeof(name)), kRange);
  EXPECT_EQ(rtIpcSetMemoryName(block.get(), 64, nullptr, sizeof(name)), kRange);
  EXPECT_EQ(rtIpcSetMemoryName(block.get(), 0, name, sizeof(name)), kRange);
  EXPECT_EQ(rtIpcSetMemoryName(block.get(), 64, name, 0), kRange);
  EXPECT_STREQ(name, "no name");
  ASSERT_EQ(rtIpcSetMemoryName(block.get(), 64, name, sizeof(name)), ACL_SUCCESS);
  EXPECT_EQ(rtSetIpcMemorySuperPodPid(nullptr, 0, &pid, 1), kRange);
  EXPECT_EQ(rtSetIpcMemorySuperPodPid(name, 0, nullptr, 1), kRange);
  EXPECT_EQ(rtSetIpcMemorySuperPodPid(name, 0, &pid, 0), kRange);
  EXPECT_EQ(rtSetIpcMemorySuperPodPid(name, 0, &pid, 1), ACL_SUCCESS);
  EXPECT_EQ(rtIpcOpenMemory(nullptr, name), kRange);
  EXPECT_EQ(rtIpcOpenMemory(&out, nullptr), kRange);
  EXPECT_EQ(rtIpcOpenMemory(&out, "no name"), kRange);
  EXPECT_EQ(out, nullptr);
  ASSERT_EQ(rtIpcOpenMemory(&out, name), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(out, 64, 1, 64), ACL_SUCCESS);
  EXPECT_EQ(rtIpcCloseMemory(nullptr), kRange);
  EXPECT_EQ(rtIpcCloseMemory(out), ACL_SUCCESS);
  EXPECT_EQ(rtIpcCloseMemory(out), kRange);
  EXPECT_EQ(rtIpcDestroyMemoryName(nullptr), kRange);
  EXPECT_EQ(rtIpcDestroyMemoryName(name), ACL_SUCCESS);
  EXPECT_EQ(rtIpcOpenMemory(&out, name), kRange);
}

void SetTrue(void* flag) { *static_cast<bool*>(flag) = true; }

TEST_F(LegacyNames, ReportsUnderTheirOlderNames) {
  const auto me = static_cast<uint64_t>(pthread_self());
  EXPECT_EQ(aclrtProcessHostFunc(100), ACL_ERROR_RT_THREAD_SUBSCRIBE) << "nobody subscribed yet";
  ASSERT_EQ(aclrtSubscribeHostFunc(me, stream_), ACL_SUCCESS);
  bool called = false;
  EXPECT_EQ(aclrtLaunchCallback(SetTrue, &called, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessHostFunc(-1), ACL_SUCCESS);
  EXPECT_TRUE(called);
  EXPECT_EQ(aclrtUnSubscribeHostFunc(me, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessHostFunc(0), kNull);
}

TEST_F(LegacyNames, StreamFromAConfiguration) {
  aclrtStreamConfigHandle* config = aclrtCreateStreamConfigHandle();
  ASSERT_NE(config, nullptr);
  const uint32_t priority = 3;
  const size_t flag = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC, work_size = 4096;
  void* work = Nonsense();
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_ADDR_PTR, &work, sizeof(work)), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_SIZE, &work_size, sizeof(work_size)), ACL_SUCCESS);
  aclrtStream made = nullptr;
  ASSERT_EQ(aclrtCreateStreamV2(&made, config), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(config), ACL_SUCCESS) << "the stream does not need it";
  uint32_t seen_priority = 77, seen_flags = 77;
  EXPECT_EQ(aclrtStreamGetPriority(made, &seen_priority), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(made, &seen_flags), ACL_SUCCESS);
  EXPECT_EQ(seen_priority, priority);
  EXPECT_EQ(seen_flags, flag);
  EXPECT_EQ(aclrtDestroyStream(made), ACL_SUCCESS);
}

TEST_F(LegacyNames, ConfigurationChecks) {
  aclrtStreamConfigHandle* config = aclrtCreateStreamConfigHandle();
  ASSERT_NE(config, nullptr);
  const uint32_t number = 1;
  EXPECT_EQ(aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_PRIORITY, &number, sizeof(number)), kNull);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, nullptr, sizeof(number)), kNull);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &number, 1), kNull);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, static_cast<aclrtStreamConfigAttr>(4), &number, sizeof(number)), kNull);
  EXPECT_EQ(config->priority, 0u);
  aclrtStream made = nullptr;
  EXPECT_EQ(aclrtCreateStreamV2(nullptr, config), kNull);
  EXPECT_EQ(aclrtCreateStreamV2(&made, nullptr), kNull);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(nullptr), kNull);
  aclrtStreamConfigHandle own = {};
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(&own), kRange) << "not one of ours";
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(config), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(config), kRange);
}

}  // namespace legacy_names_test
}  // namespace ropeway_test
#endif
