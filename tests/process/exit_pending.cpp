// A process may end at any moment: with copies queued, with a stream blocked for good, while a host function does not
// return, while other threads are inside calls. It must end at once, with its own exit status, and not crash.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

aclrtStream MakeStream() {
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  return stream;
}

void QueueCopies(aclrtStream stream, int count) {
  constexpr size_t kSize = size_t{4} << 20;
  void *device = nullptr, *host = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&host, kSize), ACL_SUCCESS);
  for (int i = 0; i < count; ++i) {
    RW_CHECK_EQ(aclrtMemcpyAsync(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  }
}

void BlockForever(aclrtStream stream) {
  aclrtEvent never = nullptr;
  RW_CHECK_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, never), ACL_SUCCESS);
}

// Leaked on purpose: the host function still uses it while the process ends.
struct Forever {
  std::mutex mutex;
  std::condition_variable changed;
  bool arrived = false;
};

void WaitForever(void* data) {
  auto* forever = static_cast<Forever*>(data);
  std::unique_lock<std::mutex> lock(forever->mutex);
  forever->arrived = true;
  forever->changed.notify_all();
  forever->changed.wait(lock, [] { return false; });
}

void StartEndlessHostFunction(aclrtStream stream) {
  auto* forever = new Forever;
  RW_CHECK_EQ(aclrtLaunchHostFunc(stream, &WaitForever, forever), ACL_SUCCESS);
  std::unique_lock<std::mutex> lock(forever->mutex);
  forever->changed.wait(lock, [&] { return forever->arrived; });
}

void Copies() { QueueCopies(MakeStream(), 500); }

void InitialisedButNotFinalised() {
  RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
  QueueCopies(MakeStream(), 100);
}

void BlockedStream() {
  aclrtStream stream = MakeStream();
  BlockForever(stream);
  QueueCopies(stream, 10);
}

void HostFunction() {
  aclrtStream stream = MakeStream();
  StartEndlessHostFunction(stream);
  QueueCopies(stream, 10);
}

void WaitingThread() {
  aclrtStream stream = MakeStream();
  BlockForever(stream);
  std::atomic<bool> started{false};
  std::thread([&started, stream] {
    aclrtSetDevice(0);
    started = true;
    started.notify_all();
    aclrtSynchronizeStream(stream);
  }).detach();
  started.wait(false);
}

void BusyThreads() {
  MakeStream();
  auto* running = new std::atomic<int>{0};
  for (int i = 0; i < 4; ++i) {
    std::thread([running] {
      aclrtSetDevice(0);
      for (bool first = true;; first = false) {
        aclrtStream stream = nullptr;
        aclrtEvent event = nullptr;
        void* block = nullptr;
        aclrtCreateStream(&stream);
        aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC);
        aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemsetAsync(block, 4096, 1, 4096, stream);
        aclrtRecordEvent(event, stream);
        aclrtSynchronizeEvent(event);
        aclrtFree(block);
        aclrtDestroyEvent(event);
        aclrtDestroyStream(stream);
        if (first) ++*running, running->notify_all();
      }
    }).detach();
  }
  for (int now = *running; now < 4; now = *running) running->wait(now);
}

void SetAndLeft() { MakeStream(); }

void MainThreadLeavesFirst() {
  aclrtStream stream = MakeStream();
  QueueCopies(stream, 50);
  std::thread([stream] {
    aclrtSetDevice(0);
    RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    std::exit(process_test::g_failures == 0 ? 0 : 1);
  }).detach();
  pthread_exit(nullptr);
}

void All() {
  for (const char* mode : {"copies", "not_finalised", "blocked_stream", "host_function", "waiting_thread", "busy_threads", "set_and_left",
                           "main_thread_leaves_first"}) {
    process_test::ExpectClean(mode);
    process_test::ExpectClean(mode, {{"ROPEWAY_SCHEDULE", "latest"}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"copies", &Copies},
                             {"not_finalised", &InitialisedButNotFinalised},
                             {"blocked_stream", &BlockedStream},
                             {"host_function", &HostFunction},
                             {"waiting_thread", &WaitingThread},
                             {"busy_threads", &BusyThreads},
                             {"set_and_left", &SetAndLeft},
                             {"main_thread_leaves_first", &MainThreadLeavesFirst}});
}
