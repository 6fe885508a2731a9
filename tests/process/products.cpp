// The product is a setting of the whole process: a table of names, of what each product answers, and of what is said about a
// name that is none.
#include <algorithm>

#include "acl/acl.h"
#include "tests/process/shared_physical.h"

extern "C" int32_t rtGetDeviceInfo(uint32_t deviceId, int32_t moduleType, int32_t infoType, int64_t* value);

namespace {

using namespace process_test;

constexpr size_t kBytes = 64;

// Code of a batch of one copy between two blocks of a device.
aclError TryBatch(void* dst, void* host) {
  aclrtMemcpyBatchAttr attribute = {};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  size_t size = kBytes, first = 0, failed = 0;
  return aclrtMemcpyBatch(&dst, &size, &host, &size, 1, &attribute, &first, 1, &failed);
}

// The size of a descriptor that copies, or a code.
std::string TryDescriptor(char* block) {
  size_t size = 0;
  if (const aclError code = aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size); code != ACL_SUCCESS) {
    RW_CHECK_EQ(aclrtSetMemcpyDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, block, block + kBytes, kBytes, nullptr), code);
    RW_CHECK_EQ(aclrtMemcpyAsyncWithDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, block), code);
    return std::to_string(code);
  }
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  char* descriptor = block + 2 * kBytes;
  RW_CHECK_EQ(aclrtMemset(block, kBytes, 0x5A, kBytes), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemset(descriptor, 2 * kBytes, 0x77, 2 * kBytes), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, block, block + kBytes, kBytes, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  char copied = 0;
  RW_CHECK_EQ(aclrtMemcpy(&copied, 1, block + 2 * kBytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK_EQ(copied, char{0x5A});
  char around[2 * kBytes];
  RW_CHECK_EQ(aclrtMemcpy(around, sizeof(around), descriptor, sizeof(around), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK(around[size - 1] != 0x77 && around[size] == 0x77);  // as long as it says
  return std::to_string(size);
}

aclError TryValues(void* word) {
  const aclError code = aclrtValueWrite(word, 7, 0, nullptr);
  RW_CHECK_EQ(aclrtValueWait(word, 7, 0, nullptr), code);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  return code;
}

aclError TryFabric() {
  const Memory memory(0);
  aclrtMemFabricHandle fabric = {};
  int32_t pid = getpid();
  const aclError code = aclrtMemExportToShareableHandleV2(memory.handle, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric);
  RW_CHECK_EQ(aclrtMemSetPidToShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &pid, 1), code);
  return code;
}

// By a descriptor, what other copies are refused fails when it runs.
void TryPeerByDescriptor(void* desc, void* other, aclError peer) {
  size_t size = 0;
  if (aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size) != ACL_SUCCESS) return;
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  char* const to = static_cast<char*>(other) + kBytes / 2;
  RW_CHECK_EQ(aclrtSetMemcpyDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, other, to, kBytes / 2, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsyncWithDesc(desc, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), peer == ACL_SUCCESS ? ACL_SUCCESS : ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// A copy to device 1 while nobody has enabled it.
aclError TryPeer(void* block) {
  void* other = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST_P2P), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclError code = aclrtMemcpy(other, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE);
  RW_CHECK_EQ(aclrtMemcpyAsync(other, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr), code);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  TryPeerByDescriptor(block, other, code);
  return code;
}

// 1: one range of addresses for all devices.
int64_t AddressMode() {
  constexpr int32_t kSystem = 0, kAddressMode = 30;
  int64_t mode = -1;
  RW_CHECK_EQ(rtGetDeviceInfo(0, kSystem, kAddressMode, &mode), ACL_SUCCESS);
  return mode;
}

void Probe() {
  void* block = nullptr;
  void* host = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&host, kBytes), ACL_SUCCESS);
  std::cout << aclrtGetSocName() << ": " << TryDescriptor(static_cast<char*>(block)) << ' ' << TryBatch(block, host) << ' '
            << TryValues(block) << ' ' << TryFabric() << ' ' << TryPeer(block) << ' ' << AddressMode();
}

// What a process with this setting answers, as Probe prints it; it says nothing else.
void Expect(const char* name, const std::string& answers, const char* variable = "ROPEWAY_SOC") {
  const Child child = RunSelf("probe", {{"ROPEWAY_SOC", nullptr}, {"SOC_VERSION", nullptr}, {variable, name}, {"ROPEWAY_ENGINE", "cpu"}});
  if (!child.ExitedWith(0)) Fail(__FILE__, __LINE__, std::string(name) + ": " + child.Describe());
  RW_CHECK_EQ(child.out, name + (": " + answers));
  RW_CHECK_EQ(child.err, "");
}

// The columns of the table of products (docs/products.md), with 207000 where a product lacks something and 107000 where peers
// want enabling. All names of a family are in the unit test of products; here are two spellings of each.
void Table() {
  struct Row {
    const char *name, *spelling, *answers;  // descriptor copies, batches, value waits, fabric handles, copies between peers, address mode
  };
  constexpr Row kRows[] = {
      {"Ascend910A", "910 pro b", "207000 207000 207000 207000 107000 0"},
      {"Ascend910B1", "ascend910b1", "32 0 0 207000 107000 0"},
      {"Ascend910_9391", "Ascend 910C", "32 0 0 0 0 1"},
      {"ascend910_9391", "ASCEND910_9362", "32 0 0 0 0 1"},
      {"Ascend950PR_9589", "ascend-950", "64 0 0 207000 107000 0"},
      {"Ascend910_9589", "Ascend950DT", "64 0 0 207000 107000 0"},
      {"Ascend310P3", "310p", "207000 207000 207000 207000 107000 0"},
      {"Ascend310B4", "310b", "32 207000 207000 207000 107000 0"},
      {"Ascend310", "310rc", "207000 207000 207000 207000 107000 0"},
  };
  for (const Row& row : kRows) {
    Expect(row.name, row.answers);
    Expect(row.spelling, row.answers, "SOC_VERSION");
  }
}

// Said once, with the names that there are; everything is as on the default product, but the name is given back.
void Unknown() {
  const Child child = RunSelf("probe", {{"ROPEWAY_SOC", "Ascend777"}, {"ROPEWAY_ENGINE", "cpu"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}});
  RW_CHECK(child.ExitedWith(0));
  RW_CHECK_EQ(child.out, "Ascend777: 32 0 0 207000 107000 0");
  RW_CHECK_EQ(std::count(child.err.begin(), child.err.end(), '\n'), 1);
  for (const char* part : {"'Ascend777'", "ROPEWAY_SOC", "Ascend910B1", "910B*", "910C 910_93*", "950* 910_95*", "310RC"}) {
    if (child.err.find(part) == std::string::npos) Fail(__FILE__, __LINE__, std::string(part) + " is not in: " + child.err);
  }
}

void All() {
  Table();
  Unknown();
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"probe", &Probe}}); }
