// Two thousand threads at once, one half with a context and one without: the right answers, right data, and a process
// that still ends.
#include <atomic>
#include <thread>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

// A quarter of them under TSan, which remembers what each has done: it looks for races, not for limits.
#ifdef ROPEWAY_TSAN
constexpr int kThreads = 500;
#else
constexpr int kThreads = 2000;
#endif
std::atomic<int> g_wrong{0};

void Expect(aclError actual, aclError expected) { g_wrong += actual != expected; }

void WithContext(int number) {
  aclrtStream stream = nullptr;
  void* block = nullptr;
  uint8_t byte = 0;
  auto value = static_cast<uint8_t>(number);
  Expect(aclrtSetDevice(0), ACL_SUCCESS);
  Expect(aclrtCreateStream(&stream), ACL_SUCCESS);
  Expect(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  Expect(aclrtMemsetAsync(block, 512, value, 512, stream), ACL_SUCCESS);
  Expect(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  Expect(aclrtMemcpy(&byte, 1, static_cast<char*>(block) + 511, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  g_wrong += byte != value;
  Expect(aclrtFree(block), ACL_SUCCESS);
  Expect(aclrtDestroyStream(stream), ACL_SUCCESS);
  Expect(aclrtResetDevice(0), ACL_SUCCESS);
}

void WithoutContext() {
  aclrtStream stream = nullptr;
  int32_t device = -1;
  void* block = nullptr;
  Expect(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  Expect(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  Expect(aclrtMalloc(&block, 512, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  Expect(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
  g_wrong += aclGetRecentErrMsg() == nullptr;
}

void Run() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);  // held, so that the device stays up
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i, &go] {
      go.wait(false);
      if (i % 2 == 0) {
        WithContext(i / 2);
      } else {
        WithoutContext();
      }
    });
  }
  go = true;
  go.notify_all();
  for (auto& thread : threads) thread.join();
  RW_CHECK_EQ(g_wrong.load(), 0);
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &Run, {}); }
