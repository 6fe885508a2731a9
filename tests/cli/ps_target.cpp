// A process that stands still in ways that are known, for `ropeway ps` and gdb to look at: says "ready", and ends when its input does.
// `ps_target idle` never uses a device; `ps_target busy` submits all the time.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "acl/acl.h"

namespace {

constexpr size_t kBytes = 1 << 20;

void Require(aclError code) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "%d: %s\n", code, aclGetRecentErrMsg());
  std::exit(3);
}

void AwaitEndOfInput() {
  while (std::getchar() != EOF) {
  }
}

}  // namespace

extern "C" void StandStill(void*) { AwaitEndOfInput(); }

namespace {

aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  Require(aclrtCreateStream(&stream));
  return stream;
}

struct Buffers {
  Buffers() {
    Require(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    Require(aclrtMallocHost(&pinned, kBytes));
  }
  void Upload(aclrtStream stream, int times) const {
    for (int i = 0; i < times; ++i) Require(aclrtMemcpyAsync(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void* device = nullptr;
  void* pinned = nullptr;
};

// Each stream stands in front of something else; all of it ends with the input.
void StandInManyWays() {
  const Buffers buffers;
  Require(aclrtMemset(buffers.device, kBytes, 0, kBytes));
  const aclrtStream function = NewStream(), event = NewStream(), value = NewStream(), notify = NewStream();
  Require(aclrtLaunchHostFunc(function, &StandStill, nullptr));
  buffers.Upload(function, 3);
  aclrtEvent recorded = nullptr;
  Require(aclrtCreateEventExWithFlag(&recorded, ACL_EVENT_SYNC));
  Require(aclrtRecordEvent(recorded, function));
  Require(aclrtStreamWaitEvent(event, recorded));
  buffers.Upload(event, 2);
  Require(aclrtValueWait(buffers.device, 7, 0, value));
  buffers.Upload(value, 1);
  aclrtNotify flag = nullptr;
  Require(aclrtCreateNotify(&flag, 0));
  Require(aclrtWaitAndResetNotify(flag, notify, 0));
  std::puts("ready");
  std::fflush(stdout);
  Require(aclrtSynchronizeStream(function));
  std::_Exit(0);  // the others stand as they stood
}

void SubmitAllTheTime() {
  const Buffers buffers;
  std::thread reader([] {
    AwaitEndOfInput();
    std::_Exit(0);
  });
  std::puts("ready");
  std::fflush(stdout);
  for (const aclrtStream stream = NewStream();;) {
    buffers.Upload(stream, 5);
    Require(aclrtSynchronizeStream(stream));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  Require(aclInit(nullptr));
  if (way == "idle") {
    std::puts("ready");
    std::fflush(stdout);
    AwaitEndOfInput();
    return 0;
  }
  Require(aclrtSetDevice(0));
  if (way == "busy") SubmitAllTheTime();
  StandInManyWays();
}
