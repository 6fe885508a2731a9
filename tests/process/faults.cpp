// What rules of ROPEWAY_FAULTS do to a program, on each schedule, and on the CUDA engine where a stand-in for its driver is there. Every
// mode is a process of its own, since rules are read once.
#define RW_LOOKS_FOR_LEAKS 1
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace {

constexpr size_t kSize = 4096;
constexpr aclError kLost = ACL_ERROR_RT_SOCKET_CLOSE;

// A device with a stream and memory on both sides.
struct Scene {
  explicit Scene(int32_t device_id = 0) : id(device_id) {
    RW_CHECK_EQ(aclrtSetDevice(id), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMallocHost(reinterpret_cast<void**>(&host), kSize), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemset(device, kSize, 0, kSize), ACL_SUCCESS);
    std::memset(host, 'h', kSize);
    aclGetRecentErrMsg();
  }
  ~Scene() {
    aclrtDestroyStream(stream);
    aclrtFree(device);
    aclrtFreeHost(host);
    RW_CHECK_EQ(aclrtResetDevice(id), ACL_SUCCESS);
  }
  aclError Copy(size_t size = kSize) const { return aclrtMemcpyAsync(device, kSize, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream); }
  aclError Synchronize() const { return aclrtSynchronizeStream(stream); }
  // The byte that the copies fill.
  char First() const {
    char byte = '?';
    RW_CHECK_EQ(aclrtMemcpy(&byte, 1, device, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return byte;
  }

  const int32_t id;
  aclrtStream stream = nullptr;
  void* device = nullptr;
  char* host = nullptr;
};

void ExpectMessage(const char* words) {
  const char* const text = aclGetRecentErrMsg();
  RW_CHECK(text != nullptr);
  if (text == nullptr || std::strstr(text, words) == nullptr)
    process_test::Fail(__FILE__, __LINE__, std::string("\"") + words + "\" is not in: " + (text == nullptr ? "" : text));
}

// aclrtMemcpyAsync:107003:nth=2;aclrtCreateEvent:207007;aclrtRecordEvent:100000
void Answer() {
  const Scene scene;
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Copy(), ACL_ERROR_RT_STREAM_CONTEXT);
  ExpectMessage("aclrtMemcpyAsync:107003:nth=2");
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(aclrtCreateEvent(&event), ACL_ERROR_RT_NO_EVENT_RESOURCE);
  RW_CHECK(event == nullptr);
  RW_CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_NO_EVENT_RESOURCE);
  RW_CHECK_EQ(aclrtRecordEvent(event, scene.stream), ACL_ERROR_INVALID_PARAM);
  RW_CHECK_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
}

// aclrtMemcpyAsync:fail=507013:nth=2:size=64
void Fail() {
  const Scene scene;
  RW_CHECK_EQ(scene.Copy(63), ACL_SUCCESS);  // not counted
  RW_CHECK_EQ(scene.Copy(64), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.First(), 'h');
  std::memset(scene.host, 'n', kSize);
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);  // accepted; it fails when its turn comes
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_SYS_DMA);
  ExpectMessage("submitted by aclrtMemcpyAsync: a rule of ROPEWAY_FAULTS makes it fail");
  RW_CHECK_EQ(scene.First(), 'h');  // no byte moved
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.First(), 'n');
}

// *Async:...: a batch, a set, and kind 5, whose payloads are the tasks' own, and a copy of pageable memory, which the calling thread makes.
// aclrtMemcpyBatchAsync:fail=507013;aclrtMemsetAsync:fail=507001;aclrtMemcpyAsync:fail=507053;aclrtMemcpy:fail=507055;aclrtMemcpyBatch:fail=507057
void FailOfEveryKind() {
  const Scene scene;
  void* dsts[] = {scene.device, static_cast<char*>(scene.device) + 1024};
  void* srcs[] = {scene.host, scene.host + 2048};
  size_t sizes[] = {512, 512}, none = 0, index = 0;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  RW_CHECK_EQ(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &none, 1, &index, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 's', kSize, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_TS_ERROR);
  char pageable[64] = "pageable";
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, pageable, 64, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, pageable, 64, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  RW_CHECK_EQ(aclrtMemcpy(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR);
  RW_CHECK_EQ(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, &none, 1, &index), ACL_ERROR_RT_SUSPECT_REMOTE_ERROR);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  std::vector<char> back(kSize, '?');
  RW_CHECK_EQ(aclrtMemcpyAsync(back.data(), kSize, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, scene.stream),
              ACL_ERROR_RT_DEVICE_MEM_ERROR);
}

// aclrtRecordEvent:fail=507001;aclrtLaunchHostFunc:fail=507001: the error is there, and nobody waits in vain.
void FailOfWhatMovesNothing() {
  const Scene scene;
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_TS_ERROR);
  std::atomic<bool> called{false};
  RW_CHECK_EQ(aclrtLaunchHostFunc(
                  scene.stream, [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }, &called),
              ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_TS_ERROR);
  RW_CHECK(called);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// aclrtMemcpyAsync:fail=507013:nth=2, in stop mode: the rest of the stream does not run.
void FailInStopMode() {
  const Scene scene;
  RW_CHECK_EQ(aclrtSetStreamFailureMode(scene.stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(scene.Copy(), ACL_ERROR_RT_SYS_DMA);
}

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// aclrtMemcpyAsync:delay=60ms:size=4096;aclrtMemcpyAsync:delay=1000s:size=100..100: a stream stands, its order stays, and others go on.
void Delay() {
  const Scene scene;
  const int64_t start = NowMs();
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 'l', kSize, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK(NowMs() - start >= 59);
  RW_CHECK_EQ(scene.First(), 'l');

  aclrtStream other = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Copy(100), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 'o', kSize, other), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  RW_CHECK_EQ(scene.First(), 'o');
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(scene.stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ExpectMessage("which a rule of ROPEWAY_FAULTS delays");
  RW_CHECK_EQ(aclrtStreamAbort(scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.First(), 'o');
  RW_CHECK_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

// aclrtMemcpyAsync:delay=300ms;aclrtMemcpy:delay=30ms: a reset waits for what is only delayed, an abort does not.
void DelayAndEnd() {
  {
    const Scene scene;
    RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtStreamAbort(scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
    const int64_t start = NowMs();
    RW_CHECK_EQ(scene.First(), '\0');
    RW_CHECK(NowMs() - start >= 29);
  }
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  char *from = nullptr, *to = nullptr;
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(reinterpret_cast<void**>(&to), kSize), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(reinterpret_cast<void**>(&from), kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemset(from, kSize, 'f', kSize), ACL_SUCCESS);
  std::memset(to, 't', kSize);
  RW_CHECK_EQ(aclrtMemcpyAsync(to, kSize, from, kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(to[kSize - 1], 'f');
}

// aclrtMemcpyAsync:delay=100us:every=3, and more tasks than a queue has room for.
void ManyDelays() {
  const Scene scene;
  for (int i = 0; i < 5000; ++i)
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, scene.host, 64, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
}

// aclrtMalloc:memory:size=1MiB..2MiB:after=1;aclrtMallocHost:memory:nth=2;*:memory:size=1GiB:device=1
void Memory() {
  const Scene scene;
  void* block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  RW_CHECK(block == nullptr);
  ExpectMessage("size 1048576 does not fit: the rule 'aclrtMalloc:memory:size=1MiB..2MiB:after=1'");
  RW_CHECK_EQ(aclrtMalloc(&block, (2 << 20) + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&block, kSize), ACL_ERROR_RT_MEMORY_ALLOCATION);
  RW_CHECK_EQ(aclrtMallocHost(&block, kSize), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&block, 1 << 30, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  const Scene second(1);
  RW_CHECK_EQ(aclrtMalloc(&block, 1 << 30, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
}

// aclrtMemcpyAsync:lost:nth=2:device=0;aclrtMemcpyAsync:delay=1000s:device=0:size=100..100
void Lost() {
  aclrtContext beside = nullptr;
  RW_CHECK_EQ(aclrtCreateContext(&beside, 0), ACL_SUCCESS);
  {
    Scene scene;
    aclrtEvent event = nullptr;
    RW_CHECK_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    RW_CHECK_EQ(scene.Copy(100), ACL_SUCCESS);  // still waiting when the device goes
    RW_CHECK_EQ(aclrtRecordEvent(event, scene.stream), ACL_SUCCESS);
    std::atomic<int> answer{-1};
    aclrtContext context = nullptr;
    RW_CHECK_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    std::thread waiter([&] {
      RW_CHECK_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      answer = aclrtSynchronizeStream(scene.stream);
    });
    RW_CHECK_EQ(scene.Copy(), kLost);
    ExpectMessage("device 0 is lost");
    waiter.join();
    RW_CHECK_EQ(answer.load(), kLost);
    // Again and again, whatever needs the device.
    void* block = nullptr;
    aclrtStream stream = nullptr;
    for (int i = 0; i < 2; ++i) {
      RW_CHECK_EQ(scene.Synchronize(), kLost);
      RW_CHECK_EQ(aclrtSynchronizeDevice(), kLost);
      RW_CHECK_EQ(scene.Copy(), kLost);
      RW_CHECK_EQ(aclrtMemcpy(scene.host, kSize, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST), kLost);
      RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 1, kSize, scene.stream), kLost);
      RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), kLost);
      RW_CHECK_EQ(aclrtCreateStream(&stream), kLost);
      RW_CHECK_EQ(aclrtRecordEvent(event, scene.stream), kLost);
      RW_CHECK_EQ(aclrtSynchronizeEvent(event), kLost);
      RW_CHECK_EQ(aclrtSetDevice(0), kLost);
      RW_CHECK_EQ(aclrtCreateContext(&block, 0), kLost);
      RW_CHECK_EQ(aclrtDeviceTaskAbort(0, 0), kLost);
      RW_CHECK_EQ(aclrtSetCurrentContext(beside), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtSynchronizeDevice(), kLost);
      // Other devices live on, and what names a stream of this one from there is told, too.
      RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtMemset(block, kSize, 1, kSize), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
      RW_CHECK_EQ(scene.Synchronize(), kLost);
      RW_CHECK_EQ(aclrtResetDevice(1), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtSetCurrentContext(beside), ACL_SUCCESS);
    }
    RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
  RW_CHECK_EQ(aclrtDestroyContext(beside), ACL_SUCCESS);
  // Reset by the scene, it is as good as new.
  const Scene scene;
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.First(), 'h');
}

// aclrtSynchronizeStream:lost=507053: whoever waits finds it gone.
void LostWhileWaiting() {
  const Scene scene;
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_ERROR_RT_DEVICE_MEM_ERROR);
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_DEVICE_MEM_ERROR);
}

// aclrtMemcpyAsync:fail=507013:chance=0.3:seed=5
void Dice() {
  const Scene scene;
  std::string all;
  for (int i = 0; i < 40; ++i) {
    RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
    all += scene.Synchronize() == ACL_SUCCESS ? '.' : 'x';
  }
  std::cout << all;
}

void Nothing() {
  const Scene scene;
  RW_CHECK_EQ(scene.Copy(), ACL_SUCCESS);
  RW_CHECK_EQ(scene.Synchronize(), ACL_SUCCESS);
}

struct Run {
  const char* mode;
  const char* rules;
};
constexpr Run kRuns[] = {
    {"answer", "aclrtMemcpyAsync:107003:nth=2;aclrtCreateEvent:207007;aclrtRecordEvent:100000"},
    {"fail", "aclrtMemcpyAsync:fail=507013:nth=2:size=64"},
    {"fail_of_every_kind",
     "aclrtMemcpyBatchAsync:fail=507013;aclrtMemsetAsync:fail=507001;aclrtMemcpyAsync:fail=507053;aclrtMemcpy:fail=507055;"
     "aclrtMemcpyBatch:fail=507057"},
    {"fail_of_what_moves_nothing", "aclrtRecordEvent:fail=507001;aclrtLaunchHostFunc:fail=507001"},
    {"fail_in_stop_mode", "aclrtMemcpyAsync:fail=507013:nth=2"},
    {"delay", "aclrtMemcpyAsync:delay=60ms:size=4096;aclrtMemcpyAsync:delay=1000s:size=100..100"},
    {"delay_and_end", "aclrtMemcpyAsync:delay=300ms;aclrtMemcpy:delay=30ms"},
    {"many_delays", "aclrtMemcpyAsync:delay=100us:every=3"},
    {"memory", "aclrtMalloc:memory:size=1MiB..2MiB:after=1;aclrtMallocHost:memory:nth=2;*:memory:size=1GiB:device=1"},
    {"lost", "aclrtMemcpyAsync:lost:nth=2:device=0;aclrtMemcpyAsync:delay=1000s:device=0:size=100..100"},
    {"lost_while_waiting", "aclrtSynchronizeStream:lost=507053"},
};

void ExpectGood(const char* mode, const process_test::Env& env) {
  const process_test::Child child = process_test::RunSelf(mode, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, std::string(mode) + " on " + env[1].second + ": " + child.Describe());
}

// The stand-in lies beside this program's folder; the engine is built where nvcc is.
std::string StandInFolder() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "fake_cuda";
  return std::filesystem::exists(folder / "libcuda.so.1") ? folder.string() : "";
}

void All() {
  for (const Run& run : kRuns)
    for (const char* schedule : {"fast", "latest", "random:3"})
      ExpectGood(run.mode, {{"ROPEWAY_FAULTS", run.rules}, {"ROPEWAY_SCHEDULE", schedule}});
  const std::string folder = StandInFolder();
  if (!folder.empty())
    for (const Run& run : kRuns)
      ExpectGood(run.mode, {{"ROPEWAY_FAULTS", run.rules},
                            {"ROPEWAY_SCHEDULE", "fast"},
                            {"LD_LIBRARY_PATH", folder.c_str()},
                            {"ROPEWAY_ENGINE", "cuda"},
                            {"ROPEWAY_DEVICES", "2"},
                            {"ROPEWAY_DEVICE_MEMORY", "8GiB"}});

  const char* const dice = "aclrtMemcpyAsync:fail=507013:chance=0.3:seed=5";
  const process_test::Child first = process_test::RunSelf("dice", {{"ROPEWAY_FAULTS", dice}});
  const process_test::Child second = process_test::RunSelf("dice", {{"ROPEWAY_FAULTS", dice}, {"ROPEWAY_SCHEDULE", "latest"}});
  RW_CHECK_EQ(first.out.size(), size_t{40});
  RW_CHECK_EQ(first.out, second.out);
  RW_CHECK(first.out.find('x') != std::string::npos && first.out.find('.') != std::string::npos);

  const process_test::Child wrong = process_test::RunSelf("nothing", {{"ROPEWAY_FAULTS", "*:lost;aclrtMemcpyAsync:fial=1"}});
  RW_CHECK(wrong.ExitedWith(0));
  RW_CHECK(wrong.err.find("ropeway: ROPEWAY_FAULTS=*:lost;aclrtMemcpyAsync:fial=1 cannot be used: in rule 2, 'aclrtMemcpyAsync:fial=1', at "
                          "'fial=1' fail=CODE") != std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, All,
                            {{"answer", Answer},
                             {"fail", Fail},
                             {"fail_of_every_kind", FailOfEveryKind},
                             {"fail_of_what_moves_nothing", FailOfWhatMovesNothing},
                             {"fail_in_stop_mode", FailInStopMode},
                             {"delay", Delay},
                             {"delay_and_end", DelayAndEnd},
                             {"many_delays", ManyDelays},
                             {"memory", Memory},
                             {"lost", Lost},
                             {"lost_while_waiting", LostWhileWaiting},
                             {"dice", Dice},
                             {"nothing", Nothing}});
}
