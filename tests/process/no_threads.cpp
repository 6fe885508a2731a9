// A process that gets no more threads, as under a container's limit: calls that need one refuse with a code, nothing ends the process, and
// everything works again once there are threads. pthread_create stands here, in front of the real one.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

std::atomic<int> g_threads_left{1 << 30};

void Increment(void* number) { ++*static_cast<int*>(number); }

// A call that needs a thread refuses, twice in a row, and succeeds as soon as there is one.
template <typename Call>
void RefusesAtFirst(aclError expected, const Call& call) {
  g_threads_left = 0;
  RW_CHECK_EQ(call(), expected);
  RW_CHECK_EQ(call(), expected);
  RW_CHECK(aclGetRecentErrMsg() != nullptr);
  g_threads_left = 1 << 30;
  RW_CHECK_EQ(call(), ACL_SUCCESS);
}

void SetDevice() {
  RefusesAtFirst(ACL_ERROR_RT_DEV_SETUP_ERROR, [] { return aclrtSetDevice(0); });
}

// The device comes up with one lane, too. Whatever a stream may need later is there: limits, values, copies of any size.
void WorkWithoutNewThreads() {
  g_threads_left = 0;
  aclrtStream stream = nullptr;
  aclrtEvent never = nullptr;
  aclrtNotify notify = nullptr;
  void* word = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&word, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(word, 4 << 20, 0, 4 << 20, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  // A wait with a limit of one millisecond, which nobody ends.
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 1), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_TASK_TIMEOUT);
  // A wait for a value that another stream writes.
  aclrtStream writer = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&writer), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtValueWait(word, 7, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtValueWrite(word, 7, 0, writer), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(writer), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(word), ACL_SUCCESS);
  for (aclrtStream made : {stream, writer}) RW_CHECK_EQ(aclrtDestroyStream(made), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(never), ACL_SUCCESS);
  g_threads_left = 1 << 30;
}

void HostFunctions() {
  aclrtStream stream = nullptr;
  int calls = 0;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RefusesAtFirst(ACL_ERROR_RT_INTERNAL_ERROR, [&] { return aclrtLaunchHostFunc(stream, &Increment, &calls); });
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(calls, 1);
  // From now on the context has its thread.
  g_threads_left = 0;
  RW_CHECK_EQ(aclrtLaunchHostFunc(stream, &Increment, &calls), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(calls, 2);
  g_threads_left = 1 << 30;
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

void ExceptionCallbacks() {
  RefusesAtFirst(ACL_ERROR_RT_INTERNAL_ERROR, [] { return aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) {}); });
}

void OtherProcesses() {
  void* block = nullptr;
  char key[65] = {};
  RW_CHECK_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  RefusesAtFirst(ACL_ERROR_RT_IPC_ERROR, [&] { return aclrtIpcMemGetExportKey(block, 4096, key, sizeof(key), 0); });
  RW_CHECK_EQ(aclrtIpcMemClose(key), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
}

void Run() {
  SetDevice();
  WorkWithoutNewThreads();
  HostFunctions();
  ExceptionCallbacks();
  OtherProcesses();
  RW_CHECK_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                                     void* (*function)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (g_threads_left.fetch_sub(1) <= 0) {
    ++g_threads_left;
    return EAGAIN;
  }
  return real(thread, attributes, function, argument);
}

int main(int argc, char** argv) {
  setenv("ROPEWAY_ENGINE", "cpu", 1);  // a GPU's driver has threads of its own
  return process_test::Main(argc, argv, &Run, {});
}
