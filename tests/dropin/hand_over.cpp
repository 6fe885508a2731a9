// A user's program that is built with a sanitizer and runs on the ordinary library. It hands plain variables from thread to thread in every
// way that the API orders: a host function sees what was written before its launch, who waits sees what the function wrote, and so on
// through events, notifies, queries, callbacks and a graph. The sanitizer must have nothing to say; a way whose order it is not told of
// shows up as a race. With the argument `race` the program has a race of its own, which must be found.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace {

#define MUST(call)                                                                                \
  do {                                                                                            \
    const aclError code = (call);                                                                 \
    if (code != ACL_SUCCESS) {                                                                    \
      std::fprintf(stderr, "%s: %d, line %d: %s\n", #call, code, __LINE__, aclGetRecentErrMsg()); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

constexpr int kRounds = 200;

void Increment(void* argument) { ++*static_cast<int*>(argument); }

void Require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  MUST(aclrtCreateStream(&stream));
  return stream;
}

void HostFunctions() {
  aclrtStream stream = NewStream();
  int value = 0;
  for (int round = 0; round < kRounds; ++round) {
    ++value;
    MUST(aclrtLaunchHostFunc(stream, &Increment, &value));
    MUST(aclrtSynchronizeStream(stream));
    ++value;
  }
  Require(value == 3 * kRounds, "host functions");
  MUST(aclrtDestroyStream(stream));
}

void Queries() {
  aclrtStream stream = NewStream();
  int value = 0;
  for (int round = 0; round < kRounds; ++round) {
    MUST(aclrtLaunchHostFunc(stream, &Increment, &value));
    for (aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY; status != ACL_STREAM_STATUS_COMPLETE; std::this_thread::yield())
      MUST(aclrtStreamQuery(stream, &status));
    ++value;
  }
  Require(value == 2 * kRounds, "stream queries");
  MUST(aclrtDestroyStream(stream));
}

// From the host function of one stream to that of another, and to a thread that waits for the event or asks for it.
void Events(bool extended) {
  aclrtStream first = NewStream();
  aclrtStream second = NewStream();
  aclrtEvent events[2];
  for (aclrtEvent& event : events) MUST(extended ? aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) : aclrtCreateEvent(&event));
  int value = 0;
  for (int round = 0; round < kRounds; ++round) {
    MUST(aclrtLaunchHostFunc(first, &Increment, &value));
    MUST(aclrtRecordEvent(events[0], first));
    MUST(aclrtStreamWaitEvent(second, events[0]));
    if (!extended) MUST(aclrtResetEvent(events[0], second));
    MUST(aclrtLaunchHostFunc(second, &Increment, &value));
    MUST(aclrtRecordEvent(events[1], second));
    std::thread waiter([&] {
      MUST(aclrtSetDevice(0));
      if (round % 2 == 0) {
        MUST(aclrtSynchronizeEvent(events[1]));
      } else {
        for (aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY; status != ACL_EVENT_RECORDED_STATUS_COMPLETE;
             std::this_thread::yield())
          MUST(aclrtQueryEventStatus(events[1], &status));
      }
      ++value;
    });
    waiter.join();
  }
  Require(value == 3 * kRounds, "events");
  for (aclrtEvent event : events) MUST(aclrtDestroyEvent(event));
  MUST(aclrtDestroyStream(first));
  MUST(aclrtDestroyStream(second));
}

void Notifies() {
  aclrtStream first = NewStream();
  aclrtStream second = NewStream();
  aclrtNotify notify = nullptr;
  MUST(aclrtCreateNotify(&notify, 0));
  int value = 0;
  for (int round = 0; round < kRounds; ++round) {
    MUST(aclrtWaitAndResetNotify(notify, second, 0));
    MUST(aclrtLaunchHostFunc(second, &Increment, &value));
    MUST(aclrtLaunchHostFunc(first, &Increment, &value));
    MUST(aclrtRecordNotify(notify, first));
    MUST(aclrtSynchronizeDevice());
  }
  Require(value == 2 * kRounds, "notifies");
  MUST(aclrtDestroyNotify(notify));
  MUST(aclrtDestroyStream(first));
  MUST(aclrtDestroyStream(second));
}

// Callbacks that a thread of the program serves.
void Callbacks() {
  aclrtStream stream = NewStream();
  std::atomic<bool> stop{false};
  std::thread server([&] {
    MUST(aclrtSetDevice(0));
    while (!stop) aclrtProcessReport(100);
  });
  const auto id = static_cast<uint64_t>(server.native_handle());
  MUST(aclrtSubscribeReport(id, stream));
  int value = 0;
  for (int round = 0; round < kRounds; ++round) {
    ++value;
    MUST(aclrtLaunchCallback(&Increment, &value, ACL_CALLBACK_BLOCK, stream));
    MUST(aclrtSynchronizeStream(stream));
    ++value;
  }
  Require(value == 3 * kRounds, "callbacks");
  MUST(aclrtUnSubscribeReport(id, stream));
  stop = true;
  server.join();
  MUST(aclrtDestroyStream(stream));
}

void Graphs() {
  aclrtStream stream = NewStream();
  aclmdlRI model = nullptr;
  int value = 0;
  MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  MUST(aclrtLaunchHostFunc(stream, &Increment, &value));
  MUST(aclrtLaunchHostFunc(stream, &Increment, &value));
  MUST(aclmdlRICaptureEnd(stream, &model));
  for (int round = 0; round < kRounds; ++round) {
    ++value;
    MUST(aclmdlRIExecuteAsync(model, stream));
    MUST(aclrtSynchronizeStream(stream));
  }
  Require(value == 3 * kRounds, "graphs");
  MUST(aclmdlRIDestroy(model));
  MUST(aclrtDestroyStream(stream));
}

// Bytes, pinned and pageable, large enough for several lanes; written and read by different threads.
void Copies() {
  constexpr size_t kSize = size_t{3} << 20;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      MUST(aclrtSetDevice(0));
      aclrtStream stream = NewStream();
      for (int round = 0; round < 8; ++round) {
        void* pinned = nullptr;
        void* device = nullptr;
        MUST(aclrtMallocHost(&pinned, kSize));
        MUST(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
        std::vector<char> pageable(kSize);
        std::memset(pinned, number + round, kSize);
        MUST(aclrtMemcpyAsync(device, kSize, pinned, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        MUST(aclrtMemcpyAsync(pageable.data(), kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        MUST(aclrtSynchronizeStream(stream));
        Require(std::memcmp(pinned, pageable.data(), kSize) == 0, "copies");
        MUST(aclrtMemcpyAsync(pinned, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        MUST(aclrtSynchronizeStream(stream));
        MUST(aclrtFreeHost(pinned));
        MUST(aclrtFree(device));
      }
      MUST(aclrtDestroyStream(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What a program forgets to destroy is reachable for the leak checker: the runtime still knows it.
void LeaveThingsBehind() {
  void* pointer = nullptr;
  aclrtEvent event = nullptr;
  MUST(aclrtMalloc(&pointer, 1000, ACL_MEM_MALLOC_NORMAL_ONLY));
  MUST(aclrtMallocHost(&pointer, 1000));
  MUST(aclrtCreateEvent(&event));
  MUST(aclrtRecordEvent(event, NewStream()));
}

// Nothing orders what comes between the launch of a host function and the wait for it; a relaxed flag does not, either.
int Race() {
  static int value = 0;
  static std::atomic<bool> written{false};
  aclrtStream stream = NewStream();
  MUST(aclrtLaunchHostFunc(
      stream,
      [](void*) {
        ++value;
        written.store(true, std::memory_order_relaxed);
      },
      nullptr));
  while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
  ++value;
  MUST(aclrtSynchronizeStream(stream));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  MUST(aclInit(nullptr));
  MUST(aclrtSetDevice(0));
  if (count > 1 && std::strcmp(arguments[1], "race") == 0) return Race();
  HostFunctions();
  Queries();
  Events(false);
  Events(true);
  Notifies();
  Callbacks();
  Graphs();
  Copies();
  LeaveThingsBehind();
  aclrtMemcpy(nullptr, 1, nullptr, 1, ACL_MEMCPY_HOST_TO_HOST);  // an error text, too
  std::puts("good");
}
