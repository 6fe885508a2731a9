// Host code beside queued copies, for `ropeway check --host-access=on`. host_pages CASE: runs one; host_pages --list: "CASE RULE BASIC",
// with - for right ones, and whether a small AscendCL has all that it needs. Ends with 3 when something is not as it is without the
// checker.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl.h"

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSize = 16 * kPage;

#define MUST(...)                                                                    \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      _exit(3);                                                                      \
    }                                                                                \
  } while (false)
#define OK(...) MUST((__VA_ARGS__) == ACL_SUCCESS)

struct World {
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  char* in = nullptr;
  char* out = nullptr;
  char* device = nullptr;

  World() {
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    in = Pinned(kSize);
    out = Pinned(kSize);
    OK(aclrtMalloc(reinterpret_cast<void**>(&device), kSize, ACL_MEM_MALLOC_HUGE_FIRST));
    std::memset(in, 7, kSize);
    std::memset(out, 0, kSize);
  }
  static char* Pinned(size_t size) {
    void* memory = nullptr;
    OK(aclrtMallocHost(&memory, size));
    return static_cast<char*>(memory);
  }
  void Load(size_t offset = 0, size_t size = kSize) {
    OK(aclrtMemcpyAsync(device + offset, kSize - offset, in + offset, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  void Store(size_t offset = 0, size_t size = kSize) {
    OK(aclrtMemcpyAsync(out + offset, kSize - offset, device + offset, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  }
  void Finish() { OK(aclrtSynchronizeStream(stream)); }
};

volatile char sink;

void ReadsWhatIsStored(World& world) {
  world.Store();
  sink = world.out[5 * kPage + 3];
  world.Finish();
}
void WritesWhatIsLoaded(World& world) {
  world.Load();
  world.in[9] = 8;
  world.Finish();
}
void WritesWhatIsStored(World& world) {
  world.Store();
  world.out[9] = 8;
  world.Finish();
}
void CopiesWhatIsStored(World& world) {
  volatile size_t size = kPage;
  world.Store();
  std::memcpy(world.in, world.out + kPage, size);  // in the C library
  world.Finish();
}
void WaitsForTheOtherStream(World& world) {
  world.Load();
  OK(aclrtSynchronizeStream(world.other));
  world.in[9] = 8;
  world.Finish();
}
void WritesOnAThread(World& world) {
  world.Load();
  std::thread([&] { world.in[9] = 8; }).join();
  world.Finish();
}
// Most libraries start their threads so.
void WritesWithAllSignalsBlocked(World& world) {
  world.Load();
  std::thread([&] {
    sigset_t all;
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_SETMASK, &all, nullptr) == 0);
    world.in[9] = 8;
  }).join();
  world.Finish();
}
void RefillsInALoop(World& world) {
  for (int i = 0; i < 50; ++i) {
    world.in[i] = static_cast<char>(i);
    world.Load();
  }
  world.Finish();
}
void ReadsTheEndOfABlock(World& world) {
  char* const odd = World::Pinned(kPage + 100);
  OK(aclrtMemcpyAsync(odd, kPage + 100, world.device, kPage + 100, ACL_MEMCPY_DEVICE_TO_HOST, world.stream));
  sink = odd[kPage + 50];
  world.Finish();
  OK(aclrtFreeHost(odd));
}
void WritesRowsUnderACopy(World& world) {
  OK(aclrtMemcpy2dAsync(world.device, 4 * kPage, world.in, 4 * kPage, 2 * kPage, 3, ACL_MEMCPY_HOST_TO_DEVICE, world.stream));
  world.in[2 * kPage] = 1;  // between the rows
  world.in[4 * kPage] = 1;
  world.Finish();
}
void WritesAnItemOfABatch(World& world) {
  void *dsts[] = {world.device, world.device + 4 * kPage}, *srcs[] = {world.in, world.in + 8 * kPage};
  size_t sizes[] = {kPage, 2 * kPage}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  OK(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, &failed, world.stream));
  world.in[4 * kPage] = 1;
  world.in[9 * kPage] = 1;
  world.Finish();
}
void WritesWhatAReplayLoads(World& world) {
  aclmdlRI graph = nullptr;
  OK(aclmdlRICaptureBegin(world.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  world.Load();
  OK(aclmdlRICaptureEnd(world.stream, &graph));
  world.in[8] = 1;  // nothing is pending
  OK(aclmdlRIExecuteAsync(graph, world.stream));
  world.in[9] = 8;
  world.Finish();
  OK(aclmdlRIDestroy(graph));
}
void WritesBehindAWaitThatHolds(World& world) {
  void* word = nullptr;
  OK(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemset(word, 64, 0, 64));
  OK(aclrtValueWait(word, 1, 0, world.stream));
  world.Load();
  world.in[9] = 8;
  OK(aclrtValueWrite(word, 1, 0, world.other));
  world.Finish();
  OK(aclrtSynchronizeStream(world.other));
}
void ReadsInAFunctionOfAnotherStream(World& world) {
  world.Store();
  OK(aclrtLaunchHostFunc(
      world.other, [](void* out) { sink = static_cast<char*>(out)[kPage]; }, world.out));
  OK(aclrtSynchronizeStream(world.other));
  world.Finish();
}

void WaitsForItsStream(World& world) {
  world.Load();
  world.Store();
  sink = world.in[5];  // copies read it, too
  world.Finish();
  MUST(world.out[5 * kPage] == 7 && world.out[kSize - 1] == 7);
  world.in[9] = 8;
}
void WaitsForAnEvent(World& world) {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  world.Load();
  OK(aclrtRecordEvent(event, world.stream));
  world.Store();
  OK(aclrtSynchronizeEvent(event));
  world.in[9] = 8;
  world.Finish();
  MUST(world.out[5] == 7);
  OK(aclrtDestroyEvent(event));
}
// Both ends of the copy lie inside of pages.
void TouchesNeighbours(World& world) {
  world.Load(100, 2 * kPage);
  world.in[99] = world.in[100 + 2 * kPage] = 1;
  world.Finish();
  world.Store(100, 2 * kPage);
  sink = static_cast<char>(world.out[99] + world.out[100 + 2 * kPage]);
  world.Finish();
  MUST(world.out[100] == 7 && world.out[99] == 0);
}
void SmallBlocks(World& world) {
  char *const one = World::Pinned(256), *const two = World::Pinned(256);
  OK(aclrtMemcpyAsync(world.device, kSize, one, 256, ACL_MEMCPY_HOST_TO_DEVICE, world.stream));
  std::memset(two, 1, 256);
  world.Finish();
  OK(aclrtFreeHost(one));
  OK(aclrtFreeHost(two));
}
void FunctionsInOrder(World& world) {
  world.Store();
  OK(aclrtLaunchHostFunc(
      world.stream, [](void* own) { sink = static_cast<World*>(own)->out[kPage]; }, &world));
  OK(aclrtLaunchHostFunc(
      world.stream, [](void* own) { std::memset(static_cast<World*>(own)->in, 9, kSize); }, &world));
  world.Load();
  world.Store();
  world.Finish();
  MUST(world.out[kPage] == 9);
}

int handled = 0;
char* own_page = nullptr;
void OpenOwnPage(int, siginfo_t* info, void*) {
  MUST(info->si_addr == own_page);
  ++handled;
  mprotect(own_page, kPage, PROT_READ | PROT_WRITE);
}
void InstallOwnHandler() {
  own_page = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action {
  }, before{};
  action.sa_sigaction = &OpenOwnPage;
  action.sa_flags = SA_SIGINFO;
  MUST(sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGSEGV, nullptr, &before) == 0);
  MUST(before.sa_sigaction == &OpenOwnPage);
}
void OwnHandler(World& world) {
  InstallOwnHandler();
  world.Load();
  *own_page = 1;
  world.Finish();
  MUST(handled == 1);
}
void OwnHandlerBesideAMistake(World& world) {
  InstallOwnHandler();
  world.Load();
  world.in[9] = 8;
  *own_page = 1;
  world.Finish();
  MUST(handled == 1);
}

sigjmp_buf way_back;
void JumpBack(int) { siglongjmp(way_back, 1); }
void HandlerThatJumps(World& world) {
  MUST(signal(SIGSEGV, &JumpBack) != SIG_ERR);
  for (volatile int i = 0; i < 3; ++i) {
    world.Load();
    if (sigsetjmp(way_back, 1) == 0) *reinterpret_cast<volatile char*>(16) = 1;
    world.Finish();
  }
  MUST(signal(SIGSEGV, SIG_DFL) == &JumpBack);
}

// The child's copy of the process is its own business.
void Forks(World& world) {
  world.Load();
  world.Store();
  const pid_t child = fork();
  if (child == 0) {
    sink = world.out[kPage];
    world.in[kPage] = 7;
    _exit(0);
  }
  int status = 0;
  MUST(waitpid(child, &status, 0) == child && status == 0);
  world.Finish();
  MUST(world.out[kPage] == 7);
}
void ForksBesideAMistake(World& world) {
  Forks(world);
  world.Load();
  world.in[9] = 8;
  world.Finish();
}

void ManyThreads(World&) {
  std::thread threads[8];
  for (std::thread& thread : threads)
    thread = std::thread([] {
      OK(aclrtSetDevice(0));
      aclrtStream stream = nullptr;
      OK(aclrtCreateStream(&stream));
      void* block = nullptr;
      OK(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
      for (int i = 0; i < 30; ++i) {
        char* const memory = World::Pinned(kSize);
        std::memset(memory, i, kSize);
        OK(aclrtMemcpyAsync(block, kSize, memory, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        OK(aclrtSynchronizeStream(stream));
        std::memset(memory, 99, kSize);
        OK(aclrtMemcpyAsync(memory, kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        OK(aclrtSynchronizeStream(stream));
        MUST(memory[0] == i && memory[kSize - 1] == i);
        OK(aclrtFreeHost(memory));
      }
      OK(aclrtDestroyStream(stream));
      OK(aclrtFree(block));
    });
  for (std::thread& thread : threads) thread.join();
}

// What the library tells of a block is what it tells without the checker.
void AsksForItsBlock(World& world) {
  aclrtPtrAttributes attributes = {};
  OK(aclrtPointerGetAttributes(world.in + 5, &attributes));
  MUST(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  void *base = nullptr, *device = nullptr;
  size_t size = 0;
  OK(aclrtMemGetAddressRange(world.in + 5, &base, &size));
  MUST(base == world.in && size == kSize);
  MUST(aclrtHostUnregister(world.in) == ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  MUST(aclrtHostRegisterV2(world.in, kSize, ACL_HOST_REG_PINNED) == ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(aclrtHostRegister(world.in, kSize, ACL_HOST_REGISTER_MAPPED, &device));
  MUST(aclrtHostRegister(world.in, kPage, ACL_HOST_REGISTER_MAPPED, &device) == ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(aclrtHostGetDevicePointer(world.in, &device, 0));
  world.Load();
  world.Finish();
  OK(aclrtHostUnregister(world.in));
  MUST(aclrtHostUnregister(world.in) == ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  MUST(aclrtHostGetDevicePointer(world.in, &device, 0) != ACL_SUCCESS);
  OK(aclrtPointerGetAttributes(world.in, &attributes));
  MUST(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
  OK(aclrtFreeHostWithDevSync(world.in));
  MUST(aclrtFreeHost(world.in) != ACL_SUCCESS);
}
void FreesUnderACopy(World& world) {
  for (int i = 0; i < 20; ++i) {
    char* const memory = World::Pinned(kSize);
    OK(aclrtMemcpyAsync(world.device, kSize, memory, kSize, ACL_MEMCPY_HOST_TO_DEVICE, world.stream));
    OK(aclrtFreeHost(memory));
  }
  world.Finish();
}
void Crashes(World& world) {
  world.Load();
  world.in[9] = 8;
  *reinterpret_cast<volatile char*>(16) = 1;
}

struct Case {
  const char* name;
  const char* rule;
  bool basic;
  void (*run)(World& world);
};
#define CASE(name, rule, basic) \
  { #name, rule, basic, &name }
constexpr Case kCases[] = {
    CASE(ReadsWhatIsStored, "RW-HOST-001", true),
    CASE(WritesWhatIsLoaded, "RW-HOST-002", true),
    CASE(WritesWhatIsStored, "RW-HOST-002", true),
    CASE(CopiesWhatIsStored, "RW-HOST-001", true),
    CASE(WaitsForTheOtherStream, "RW-HOST-002", true),
    CASE(WritesOnAThread, "RW-HOST-002", true),
    CASE(WritesWithAllSignalsBlocked, "RW-HOST-002", true),
    CASE(RefillsInALoop, "RW-HOST-002", true),
    CASE(ReadsTheEndOfABlock, "RW-HOST-001", true),
    CASE(WritesRowsUnderACopy, "RW-HOST-002", false),
    CASE(WritesAnItemOfABatch, "RW-HOST-002", false),
    CASE(WritesWhatAReplayLoads, "RW-HOST-002", false),
    CASE(WritesBehindAWaitThatHolds, "RW-HOST-002", false),
    CASE(ReadsInAFunctionOfAnotherStream, "RW-HOST-001", false),
    CASE(WaitsForItsStream, "-", true),
    CASE(WaitsForAnEvent, "-", true),
    CASE(TouchesNeighbours, "-", true),
    CASE(SmallBlocks, "-", true),
    CASE(FunctionsInOrder, "-", true),
    CASE(OwnHandler, "-", true),
    CASE(OwnHandlerBesideAMistake, "RW-HOST-002", true),
    CASE(HandlerThatJumps, "-", true),
    CASE(Forks, "-", true),
    CASE(ForksBesideAMistake, "RW-HOST-002", true),
    CASE(ManyThreads, "-", true),
    CASE(AsksForItsBlock, "-", false),
    CASE(FreesUnderACopy, "RW-LIFE-001", true),
    CASE(Crashes, "RW-HOST-002", true),
};

}  // namespace

int main(int, char** words) {
  for (const Case& one : kCases) {
    if (std::string(words[1]) == "--list") std::printf("%s %s %s\n", one.name, one.rule, one.basic ? "basic" : "full");
    if (std::string(words[1]) != one.name) continue;
    World world;
    one.run(world);
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
  }
  return 0;
}
