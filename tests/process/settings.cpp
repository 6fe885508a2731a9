// The ROPEWAY_ variables that change what a program sees: alignment rule, host access, number of devices, their memory.
#include <vector>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

struct Buffers {
  char* device = nullptr;
  char* host = nullptr;
};

Buffers Allocate(size_t size) {
  Buffers buffers;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(reinterpret_cast<void**>(&buffers.device), size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(reinterpret_cast<void**>(&buffers.host), size), ACL_SUCCESS);
  return buffers;
}

aclError CopyAt(const Buffers& buffers, size_t device_offset, size_t host_offset) {
  aclError result = aclrtMemcpyAsync(buffers.device + device_offset, 64, buffers.host + host_offset, 64,
                                     ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  return result;
}

void StrictAlignment() {
  Buffers buffers = Allocate(1024);
  RW_CHECK_EQ(CopyAt(buffers, 0, 0), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 64, 128), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(CopyAt(buffers, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(CopyAt(buffers, 32, 32), ACL_ERROR_RT_PARAM_INVALID);
}

void LaxAlignment() {
  Buffers buffers = Allocate(1024);
  RW_CHECK_EQ(CopyAt(buffers, 1, 0), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 0, 1), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 32, 32), ACL_SUCCESS);
}

void HostAccess() {
  Buffers buffers = Allocate(4096);
  RW_CHECK_EQ(aclrtMemset(buffers.device, 4096, 0x5A, 4096), ACL_SUCCESS);
  bool good = true;
  for (size_t i = 0; i < 4096; ++i) good = good && buffers.device[i] == 0x5A;
  RW_CHECK(good);
  buffers.device[100] = 7;
  char back = 0;
  RW_CHECK_EQ(aclrtMemcpy(&back, 1, buffers.device + 100, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK_EQ(static_cast<int>(back), 7);
}

void TwoDevices() {
  uint32_t count = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  RW_CHECK_EQ(count, 2u);
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
}

constexpr size_t kGiB = size_t{1} << 30, kPiece = size_t{64} << 20;

void CheckMemory(size_t expected_free) {
  size_t free = 0, total = 0;
  RW_CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  RW_CHECK_EQ(total, kGiB);
  RW_CHECK_EQ(free, expected_free);
}

void OneGiB() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  CheckMemory(kGiB);
  std::vector<void*> blocks;
  void* block = &blocks;
  aclError result = ACL_SUCCESS;
  while (blocks.size() <= 16 && (result = aclrtMalloc(&block, kPiece, ACL_MEM_MALLOC_HUGE_FIRST)) == ACL_SUCCESS) {
    blocks.push_back(block);
  }
  RW_CHECK_EQ(result, ACL_ERROR_RT_MEMORY_ALLOCATION);
  RW_CHECK_EQ(blocks.size(), size_t{15});  // each takes 32 bytes more than asked for
  RW_CHECK(blocks.empty() || block == blocks.back());
  for (void* each : blocks) RW_CHECK_EQ(aclrtFree(each), ACL_SUCCESS);
  CheckMemory(kGiB);
  RW_CHECK_EQ(aclrtMalloc(&block, kGiB - 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  CheckMemory(kGiB);
}

void All() {
  process_test::ExpectClean("strict", {{"ROPEWAY_STRICT_ALIGNMENT", "1"}});
  process_test::ExpectClean("lax", {{"ROPEWAY_STRICT_ALIGNMENT", nullptr}});
  process_test::ExpectClean("host_access", {{"ROPEWAY_HOST_ACCESS", "1"}});
  process_test::ExpectClean("two_devices", {{"ROPEWAY_DEVICES", "2"}});
  process_test::ExpectClean("one_gib", {{"ROPEWAY_DEVICE_MEMORY", "1GiB"}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"strict", &StrictAlignment},
                             {"lax", &LaxAlignment},
                             {"host_access", &HostAccess},
                             {"two_devices", &TwoDevices},
                             {"one_gib", &OneGiB}});
}
