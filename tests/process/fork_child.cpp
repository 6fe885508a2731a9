// fork: before any device came up the child uses the library as its own; afterwards every device call answers 507033,
// plain queries go on, and the parent notices nothing. fork and exec is a fresh start. Every function there is: fork_calls.cpp.
#include <spawn.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/busy.h"
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

std::atomic<int> g_exceptions{0};
void CountException(aclrtExceptionInfo*) {
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // whoever does not wait for it is through before
  ++g_exceptions;
}

// The callbacks that the parent registered are the child's, too.
void FailATask() {
  static char pageable[64];
  aclrtStream stream = nullptr;
  void* device = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(device, kSize, pageable, sizeof(pageable), ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(g_exceptions.load(), 1);
  // Nobody asks for the second error; finalizing does not lose the report either.
  RW_CHECK_EQ(aclrtMemcpyAsync(device, kSize, pageable, sizeof(pageable), ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  for (auto status = ACL_STREAM_STATUS_NOT_READY; status != ACL_STREAM_STATUS_COMPLETE;)
    RW_CHECK_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
  RW_CHECK_EQ(g_exceptions.load(), 2);
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

void BeforeAnyDevice() {
  uint32_t count = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);  // the library is started, but no device is up
  RW_CHECK_EQ(aclrtExceptionInfoCallbackRegister(&CountException), ACL_SUCCESS);
  RW_CHECK(process_test::InChild([] {
    CheckPlainQueries();
    RoundTrip();
    FailATask();
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
  void *to = p.device, *from = p.host;
  size_t size = kSize, index = 0, failed = 0;
  aclrtMemcpyBatchAttr attribute{{0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
  RW_CHECK_EQ(aclrtMemcpyBatch(&to, &size, &from, &size, 1, &attribute, &index, 1, &failed), kRefused);
  RW_CHECK_EQ(aclrtFree(p.device), kRefused);
  RW_CHECK_EQ(aclrtFreeHost(p.host), kRefused);
  RW_CHECK_EQ(aclrtDestroyEvent(p.event), kRefused);
  RW_CHECK_EQ(aclrtDestroyStream(p.stream), kRefused);
  RW_CHECK_EQ(aclrtResetDevice(0), kRefused);
  const char* text = aclGetRecentErrMsg();
  RW_CHECK(text != nullptr && std::strstr(text, "aclrtFree: this process was forked") != nullptr);
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

void FailOnce() {
  RW_CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  aclGetRecentErrMsg();
}

void AllocateAndCreate() {
  aclrtStream stream = nullptr;
  void* block = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(block, kSize, 1, kSize, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  FailOnce();
}

// The forking thread does not know which locks the others hold at that moment.
void WhileOthersWork() {
  const Parent p = BringUp();
  const process_test::Busy busy({&AllocateAndCreate, &AllocateAndCreate, &AllocateAndCreate});
  for (int i = 0; i < 30 && process_test::g_failures == 0; ++i) {
    RW_CHECK(process_test::InChild([&] {
      CheckPlainQueries();
      CheckRefusedInChild(p);
    }));
  }
}

// Texts that all threads share have a lock, too.
void WhileOthersFail() {
  char path[] = "/tmp/ropeway_fork_XXXXXX";
  close(mkstemp(path));
  std::ofstream(path) << R"({"err_msg_mode":"1"})";
  RW_CHECK_EQ(aclInit(path), ACL_SUCCESS);
  unlink(path);
  const process_test::Busy busy({&FailOnce, &FailOnce, &FailOnce});
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  for (int i = 0; i < 30 && process_test::g_failures == 0; ++i) {
    RW_CHECK(process_test::InChild([&] {
      RW_CHECK_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
      const char* text = aclGetRecentErrMsg();
      RW_CHECK(text != nullptr && std::strstr(text, "forked") != nullptr);
    }));
  }
}

// Either the child was there before the devices, and uses its own, or it is refused.
void WhileAnotherBringsUp() {
  for (int i = 0; i < 10 && process_test::g_failures == 0; ++i) {
    RW_CHECK(process_test::InChild([] {
      std::thread other([] { RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
      for (int j = 0; j < 3; ++j) {
        RW_CHECK(process_test::InChild([] {
          const aclError code = aclrtSetDevice(0);
          if (code != ACL_ERROR_RT_DEV_SETUP_ERROR) RoundTrip();
        }));
      }
      other.join();
    }));
  }
}

// A block that another thread makes, hands to other processes, and frees; its bytes move when it is handed on.
std::atomic<volatile char*> g_view{nullptr};

void Share() {
  constexpr size_t kChunk = 2 << 20;
  void *block = nullptr, *view = nullptr;
  char key[65] = {};
  RW_CHECK_EQ(aclrtMalloc(&block, kChunk, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemset(block, kChunk, 1, kChunk), ACL_SUCCESS);
  RW_CHECK_EQ(ropewayHostView(block, kChunk, &view), ACL_SUCCESS);
  g_view = static_cast<volatile char*>(view);
  RW_CHECK_EQ(aclrtIpcMemGetExportKey(block, kChunk, key, sizeof(key), 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

// The status of a child that writes to `address`.
int WriteInChild(volatile char* address) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    *address = 1;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// A child that touches what it should not dies of it as anybody does; a move of the parent that it would wait for has no end there.
void TouchesDeviceMemory() {
  const Parent p = BringUp();
  const int status = WriteInChild(static_cast<volatile char*>(p.device));
  RW_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  const process_test::Busy busy({&Share});
  while (g_view.load() == nullptr) std::this_thread::yield();
  for (int i = 0; i < 50 && process_test::g_failures == 0; ++i) {
    const int ended = WriteInChild(g_view);
    RW_CHECK(ended == 0 || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSEGV));
  }
}

void CheckFault() {
  const process_test::Child child = process_test::RunSelf("touches");
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  RW_CHECK(child.err.find("in a forked child, which has no devices") != std::string::npos);
}

// What starts other programs by the system's shorter ways.
void ThenSpawn() {
  Parent p = BringUp();
  const process_test::Busy busy({&AllocateAndCreate, &AllocateAndCreate});
  for (int i = 0; i < 10 && process_test::g_failures == 0; ++i) {
    RW_CHECK_EQ(WEXITSTATUS(std::system("exit 7")), 7);
    pid_t child = -1;
    int status = -1;
    const char* const arguments[] = {"sh", "-c", "exit 8", nullptr};
    RW_CHECK_EQ(posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(arguments), environ), 0);
    RW_CHECK_EQ(waitpid(child, &status, 0), child);
    RW_CHECK_EQ(WEXITSTATUS(status), 8);
    child = vfork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", "exit 9", nullptr);
      _exit(127);
    }
    RW_CHECK_EQ(waitpid(child, &status, 0), child);
    RW_CHECK_EQ(WEXITSTATUS(status), 9);
    RW_CHECK_EQ(aclrtMemsetAsync(p.device, kSize, 1, kSize, p.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
  }
}

void ThenExec() {
  Parent p = BringUp();
  RW_CHECK_EQ(aclrtMemsetAsync(p.device, kSize, 1, kSize, p.stream), ACL_SUCCESS);
  process_test::ExpectClean("round_trip");
  RW_CHECK_EQ(aclrtSynchronizeStream(p.stream), ACL_SUCCESS);
}

void All() {
  for (const char* mode : {"before", "after", "exec", "spawn"}) process_test::ExpectClean(mode);
  // The children of a threaded process inherit a sanitizer's locks in any state; that is not ours to test.
  if (RW_SANITIZED) return;
  for (const char* mode : {"busy", "texts", "bring_up"}) process_test::ExpectClean(mode);
  CheckFault();
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"before", &BeforeAnyDevice},
                             {"after", &AfterBringUp},
                             {"busy", &WhileOthersWork},
                             {"texts", &WhileOthersFail},
                             {"bring_up", &WhileAnotherBringsUp},
                             {"touches", &TouchesDeviceMemory},
                             {"spawn", &ThenSpawn},
                             {"exec", &ThenExec},
                             {"round_trip", &RoundTrip}});
}
