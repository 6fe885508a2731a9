// fork: before any device came up the child uses the library as its own; afterwards every device call answers 507033,
// plain queries go on, and the parent notices nothing. fork and exec is a fresh start.
#include <atomic>
#include <thread>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

constexpr size_t kSize = 4096;

// A copy there and back, from bring-up to reset.
void RoundTrip() {
  aclrtStream stream = nullptr;
  void *device = nullptr, *in = nullptr, *out = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&in, kSize), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&out, kSize), ACL_SUCCESS);
  if (process_test::g_failures != 0) return;
  std::memset(in, 0x5A, kSize);
  std::memset(out, 0, kSize);
  RW_CHECK_EQ(aclrtMemcpyAsync(device, kSize, in, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(out, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(std::memcmp(in, out, kSize), 0);
  RW_CHECK_EQ(aclrtFreeHost(in), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFreeHost(out), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

void CheckPlainQueries() {
  uint32_t count = 0;
  int32_t major = 0, minor = 0, patch = 0;
  aclrtRunMode mode = ACL_DEVICE;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  RW_CHECK_EQ(count, 8u);
  RW_CHECK_EQ(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
  RW_CHECK_EQ(major, ACL_MAJOR_VERSION);
  RW_CHECK_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
  RW_CHECK(aclrtGetSocName() != nullptr);
}

void BeforeAnyDevice() {
  uint32_t count = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);  // the library is started, but no device is up
  RW_CHECK(process_test::InChild([] {
    CheckPlainQueries();
    RoundTrip();
  }));
  RoundTrip();
}

struct Parent {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void* device = nullptr;
  void* host = nullptr;
};

Parent BringUp() {
  Parent p;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&p.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&p.event, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&p.device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&p.host, kSize), ACL_SUCCESS);
  return p;
}

void CheckRefusedInChild(const Parent& p) {
  void* block = nullptr;
  aclrtStream stream = nullptr;
  aclrtContext context = nullptr;
  const aclError kRefused = ACL_ERROR_RT_DEV_SETUP_ERROR;
  RW_CHECK_EQ(aclrtSetDevice(0), kRefused);
  RW_CHECK_EQ(aclrtSetDevice(1), kRefused);
  RW_CHECK_EQ(aclrtCreateContext(&context, 0), kRefused);
  RW_CHECK_EQ(aclrtCreateStream(&stream), kRefused);
  RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), kRefused);
  RW_CHECK_EQ(aclrtMemsetAsync(p.device, kSize, 1, kSize, p.stream), kRefused);
  RW_CHECK_EQ(aclrtMemcpyAsync(p.device, kSize, p.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, p.stream), kRefused);
  RW_CHECK_EQ(aclrtRecordEvent(p.event, p.stream), kRefused);
  RW_CHECK_EQ(aclrtSynchronizeStream(p.stream), kRefused);
  RW_CHECK_EQ(aclrtSynchronizeDevice(), kRefused);
}

void AfterBringUp() {
  Parent p = BringUp();
  std::memset(p.host, 7, kSize);
  for (int i = 0; i < 100; ++i) {
    RW_CHECK_EQ(aclrtMemcpyAsync(p.device, kSize, p.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, p.stream), ACL_SUCCESS);
  }
  RW_CHECK(process_test::InChild([&] {
    CheckPlainQueries();
    CheckRefusedInChild(p);
    CheckPlainQueries();
  }));
  std::vector<uint8_t> back(kSize);
  RW_CHECK_EQ(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpy(back.data(), kSize, p.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK(back == std::vector<uint8_t>(kSize, 7));
  RW_CHECK_EQ(aclrtDestroyStream(p.stream), ACL_SUCCESS);
}

// The forking thread does not know which locks the others hold at that moment.
void WhileOthersWork() {
  BringUp();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&stop] {
      aclrtSetDevice(0);
      while (!stop) {
        aclrtStream stream = nullptr;
        void* block = nullptr;
        RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtMemsetAsync(block, kSize, 1, kSize, stream), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
        aclGetRecentErrMsg();
      }
    });
  }
  for (int i = 0; i < 30 && process_test::g_failures == 0; ++i) {
    RW_CHECK(process_test::InChild([] {
      CheckPlainQueries();
      RW_CHECK_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
      aclGetRecentErrMsg();
    }));
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}

void ThenExec() {
  Parent p = BringUp();
  RW_CHECK_EQ(aclrtMemsetAsync(p.device, kSize, 1, kSize, p.stream), ACL_SUCCESS);
  process_test::ExpectClean("round_trip");
  RW_CHECK_EQ(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
}

void All() {
  for (const char* mode : {"before", "after", "exec"}) process_test::ExpectClean(mode);
  // The children of a threaded process inherit a sanitizer's locks in any state; that is not ours to test.
  if (!RW_SANITIZED) process_test::ExpectClean("busy");
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"before", &BeforeAnyDevice},
                             {"after", &AfterBringUp},
                             {"busy", &WhileOthersWork},
                             {"exec", &ThenExec},
                             {"round_trip", &RoundTrip}});
}
