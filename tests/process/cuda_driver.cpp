// What the CUDA engine makes of a driver that refuses or fails, with a stand-in for the driver (tests/fake_cuda): the code that
// AscendCL documents, with the driver's own words in the message, and a runtime that goes on working where the driver does.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace {

// Results of the driver.
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kUnavailable = 46, kEcc = 214, kIllegalAddress = 700;
constexpr size_t kSize = 4096, kMiB = 1 << 20;

struct StandIn {
  void (*fail)(const char* function, int result, int after, int times);
  void (*work)();
  long (*tasks)(int gpu);
  void (*hold_back)(int looks);
  long (*followed)();
};

StandIn TheStandIn() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  RW_CHECK(library != nullptr);
  return {reinterpret_cast<decltype(StandIn::fail)>(dlsym(library, "fake_cuda_fail")),
          reinterpret_cast<decltype(StandIn::work)>(dlsym(library, "fake_cuda_work")),
          reinterpret_cast<decltype(StandIn::tasks)>(dlsym(library, "fake_cuda_tasks")),
          reinterpret_cast<decltype(StandIn::hold_back)>(dlsym(library, "fake_cuda_hold_back")),
          reinterpret_cast<decltype(StandIn::followed)>(dlsym(library, "fake_cuda_followed"))};
}

// A device with a stream and memory on both sides, on the stand-in.
struct Scene {
  Scene() {
    RW_CHECK_EQ(std::string(ropewayGetEngineName()), std::string("cuda"));
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(&device, kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMallocHost(reinterpret_cast<void**>(&host), kMiB), ACL_SUCCESS);
    std::memset(host, 'a', kMiB);
    driver = TheStandIn();
    aclGetRecentErrMsg();
  }
  aclError CopyUp(size_t size = kSize) const { return aclrtMemcpyAsync(device, kMiB, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream); }
  // A copy that arrives: the runtime is as good as new.
  void ExpectWorking() const {
    driver.work();
    std::memset(host, 'b', kSize);
    RW_CHECK_EQ(CopyUp(), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    char back[kSize] = {};
    RW_CHECK_EQ(aclrtMemcpy(back, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    RW_CHECK(std::memcmp(back, host, kSize) == 0);
  }

  aclrtStream stream = nullptr;
  void* device = nullptr;
  char* host = nullptr;
  StandIn driver;
};

void ExpectMessage(const char* words) {
  const char* message = aclGetRecentErrMsg();
  const std::string text = message == nullptr ? "" : message;
  if (text.find(words) == std::string::npos) process_test::Fail(__FILE__, __LINE__, "no '" + std::string(words) + "' in: " + text);
}

// A task that fails on the device is reported by the next synchronise, once.
void ExpectTaskFailure(const Scene& scene, int result, aclError code, const char* words) {
  scene.driver.fail("cuMemcpyAsync", result, 0, 1);
  RW_CHECK_EQ(scene.CopyUp(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), code);
  ExpectMessage(words);
  scene.ExpectWorking();
}

void Tasks() {
  const Scene scene;
  ExpectTaskFailure(scene, kIllegalAddress, ACL_ERROR_RT_SYS_DMA, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ExpectTaskFailure(scene, kIllegalAddress, ACL_ERROR_RT_SYS_DMA, "start the process again");
  ExpectTaskFailure(scene, kInvalidValue, ACL_ERROR_RT_SYS_DMA, "CUDA_ERROR_INVALID_VALUE");
  ExpectTaskFailure(scene, kOutOfMemory, ACL_ERROR_RT_MEMORY_ALLOCATION, "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  ExpectTaskFailure(scene, kEcc, ACL_ERROR_RT_DEVICE_MEM_ERROR, "CUDA_ERROR_ECC_UNCORRECTABLE");
  ExpectTaskFailure(scene, kUnavailable, ACL_ERROR_RT_DRV_INTERNAL_ERROR, "CUDA_ERROR_DEVICE_UNAVAILABLE");
}

// A GPU that is gone answers every call so: each synchronise says it again, nothing hangs.
void LostDevice() {
  const Scene scene;
  for (const char* call : {"cuMemcpyAsync", "cuLaunchKernelEx", "cuStreamQuery", "cuMemCreate", "cuMemsetD8Async", "cuMemHostRegister"})
    scene.driver.fail(call, kUnavailable, 0, -1);
  for (int round = 0; round < 2; ++round) {
    RW_CHECK_EQ(scene.CopyUp(), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    ExpectMessage("CUDA_ERROR_DEVICE_UNAVAILABLE");
  }
  RW_CHECK_EQ(aclrtMemcpy(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("CUDA_ERROR_DEVICE_UNAVAILABLE");
  RW_CHECK_EQ(aclrtMemset(scene.device, kSize, 0, kSize), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  void* block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, 8 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("CUDA_ERROR_DEVICE_UNAVAILABLE");
  RW_CHECK_EQ(aclrtDestroyStream(scene.stream), ACL_SUCCESS);
}

void Memory() {
  const Scene scene;
  void* block = nullptr;
  scene.driver.fail("cuMemCreate", kOutOfMemory, 0, -1);
  RW_CHECK_EQ(aclrtMalloc(&block, 8 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ExpectMessage("CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  scene.driver.fail("cuMemHostRegister", kOutOfMemory, 0, -1);
  RW_CHECK_EQ(aclrtMallocHost(&block, 8 * kMiB), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ExpectMessage("CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  std::vector<char> own(2 * kSize);
  void* alias = nullptr;
  RW_CHECK_EQ(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &alias), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ExpectMessage("CUDA_ERROR_OUT_OF_MEMORY");
  scene.driver.fail("cuMemHostRegister", kInvalidValue, 0, -1);
  RW_CHECK_EQ(aclrtHostRegister(own.data(), own.size(), ACL_HOST_REGISTER_MAPPED, &alias), ACL_ERROR_RT_PARAM_INVALID);
  ExpectMessage("CUDA_ERROR_INVALID_VALUE (invalid argument)");
  scene.driver.work();
  RW_CHECK_EQ(aclrtMalloc(&block, 8 * kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  scene.ExpectWorking();
}

aclError SubmitBatch(const Scene& scene, size_t blocks) {
  std::vector<void*> dsts, srcs;
  std::vector<size_t> sizes(blocks, 64);
  for (size_t i = 0; i < blocks; ++i) {
    dsts.push_back(static_cast<char*>(scene.device) + i * 128);
    srcs.push_back(scene.host + i * 128);
  }
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  way.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  size_t first = 0, failed = 0;
  return aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), blocks, &way, &first, 1, &failed, scene.stream);
}

// By the launch's arguments, by one list, and by several of which the second fails.
void Batches() {
  const Scene scene;
  for (size_t blocks : {size_t{16}, size_t{1000}, size_t{4096}}) {
    scene.driver.fail("cuLaunchKernelEx", kIllegalAddress, blocks == 4096 ? 1 : 0, 1);
    RW_CHECK_EQ(SubmitBatch(scene, blocks), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_SYS_DMA);
    ExpectMessage("CUDA_ERROR_ILLEGAL_ADDRESS");
    scene.ExpectWorking();
    RW_CHECK_EQ(SubmitBatch(scene, blocks), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
  }
  scene.driver.fail("cuMemHostAlloc", kOutOfMemory, 0, -1);  // a fresh line has no room for lists yet
  aclrtStream fresh = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&fresh), ACL_SUCCESS);
  Scene on_fresh = scene;
  on_fresh.stream = fresh;
  RW_CHECK_EQ(SubmitBatch(on_fresh, 1000), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(fresh), ACL_ERROR_RT_MEMORY_ALLOCATION);
  ExpectMessage("CUDA_ERROR_OUT_OF_MEMORY");
  on_fresh.ExpectWorking();
}

// The driver would give pinned memory without a descriptor, and nothing would work from then on.
void Files() {
  const Scene scene;
  rlimit before{};
  RW_CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto allow = [&](rlim_t files) {
    const rlimit limit{files, before.rlim_max};
    RW_CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  };
  allow(0);
  RW_CHECK_EQ(SubmitBatch(scene, 1000), ACL_SUCCESS);  // by a line that has no room for lists yet
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("ulimit -n");
  std::vector<char> own(kMiB);
  RW_CHECK_EQ(aclrtMemcpy(scene.device, kMiB, own.data(), kMiB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("ulimit -n");
  RW_CHECK_EQ(aclrtMemcpy(own.data(), kMiB, scene.device, kMiB, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("ulimit -n");
  allow(before.rlim_cur);
  scene.ExpectWorking();
  RW_CHECK_EQ(SubmitBatch(scene, 1000), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

// What a descriptor says is not known when it cannot be read: the driver's failure is reported, not a bad descriptor.
void Descriptors() {
  const Scene scene;
  void* descriptor = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&descriptor, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  char* half = static_cast<char*>(scene.device) + kMiB / 2;
  RW_CHECK_EQ(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, scene.device, half, kSize, nullptr), ACL_SUCCESS);
  scene.driver.fail("cuMemcpyAsync", kUnavailable, 0, 1);
  RW_CHECK_EQ(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  ExpectMessage("CUDA_ERROR_DEVICE_UNAVAILABLE");
  scene.ExpectWorking();
  RW_CHECK_EQ(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

// Two GPUs: what a stream does happens where its device is, and behind what it has done elsewhere.
void SeveralGpus() {
  const Scene scene;
  RW_CHECK_EQ(scene.CopyUp(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
  const long before = scene.driver.tasks(0);
  RW_CHECK(before > 0);
  RW_CHECK_EQ(scene.driver.tasks(1), 0L);
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  void* there = nullptr;
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&there, kMiB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::vector<char> pageable(kMiB, 'p');
  RW_CHECK_EQ(aclrtMemcpy(there, kMiB, pageable.data(), kMiB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(there, kMiB, 's', kSize, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.host, kMiB, there, kMiB, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK(scene.driver.tasks(1) > 0);
  RW_CHECK_EQ(scene.driver.tasks(0), before);
  RW_CHECK(scene.host[0] == 's' && scene.host[kSize] == 'p');
  // To the other one and back, in one stream.
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kMiB, there, kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(there, kMiB, 'z', kMiB, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(there, kMiB, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.host, kMiB, there, kMiB, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK(scene.driver.tasks(0) > before);
  RW_CHECK(scene.host[0] == 's' && scene.host[kSize] == 'z');
}

void Pageable() {
  const Scene scene;
  std::vector<char> own(kMiB);
  scene.driver.fail("cuMemcpyAsync", kIllegalAddress, 0, -1);
  scene.driver.fail("cuLaunchKernelEx", kIllegalAddress, 0, -1);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kMiB, own.data(), kMiB, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_ERROR_RT_SYS_DMA);
  ExpectMessage("CUDA_ERROR_ILLEGAL_ADDRESS");
  RW_CHECK_EQ(aclrtMemcpy(own.data(), kMiB, scene.device, kMiB, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_SYS_DMA);
  scene.ExpectWorking();
}

// A reduction is a kernel, too.
void Reductions() {
  const Scene scene;
  const auto reduce = [&] {
    return aclrtReduceAsync(scene.device, static_cast<char*>(scene.device) + kSize, kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                            scene.stream, nullptr);
  };
  scene.driver.fail("cuLaunchKernelEx", kIllegalAddress, 0, 1);
  RW_CHECK_EQ(reduce(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_SYS_DMA);
  ExpectMessage("CUDA_ERROR_ILLEGAL_ADDRESS");
  scene.ExpectWorking();
  RW_CHECK_EQ(reduce(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

// A host function's view is a copy: one that cannot be made is no view, and one that cannot be written back is the stream's failure.
void Views() {
  const Scene scene;
  struct Look {
    const Scene& scene;
    int copies;  // that still work
    aclError code = -1;
    static void Run(void* argument) {
      auto* const self = static_cast<Look*>(argument);
      for (const char* way : {"cuMemcpyAsync", "cuLaunchKernelEx"}) self->scene.driver.fail(way, kIllegalAddress, self->copies, -1);
      void* view = nullptr;
      self->code = ropewayHostView(self->scene.device, kSize, &view);
    }
  };
  for (const int copies : {0, 1}) {
    Look look{scene, copies};
    RW_CHECK_EQ(aclrtLaunchHostFunc(scene.stream, &Look::Run, &look), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), copies == 0 ? ACL_SUCCESS : ACL_ERROR_RT_SYS_DMA);
    if (copies == 1) ExpectMessage("written back");
    RW_CHECK_EQ(look.code, copies == 0 ? ACL_ERROR_RT_SYS_DMA : ACL_SUCCESS);
    scene.ExpectWorking();
  }
}

// A stream that waits for a record of another follows it on the GPU, by the driver's events; where those fail, the host sends it on.
void HandOvers() {
  const Scene scene;
  aclrtStream second = nullptr;
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&second), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  const auto hand_over = [&] {
    RW_CHECK_EQ(scene.CopyUp(), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtRecordEvent(event, scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.host + kSize, kSize, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, second), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(second), ACL_SUCCESS);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    RW_CHECK_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    RW_CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    RW_CHECK(std::memcmp(scene.host, scene.host + kSize, kSize) == 0);
  };
  scene.driver.hold_back(1000);
  while (scene.driver.followed() == 0) hand_over();
  for (const char* call : {"cuStreamWaitEvent", "cuEventRecord"}) {
    scene.driver.fail(call, kUnavailable, 0, -1);
    for (int round = 0; round < 20; ++round) hand_over();
    scene.ExpectWorking();
  }
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

std::string Folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

constexpr std::initializer_list<process_test::Mode> kModes = {
    {"tasks", Tasks},         {"lost", LostDevice},  {"memory", Memory},     {"batches", Batches},       {"descriptors", Descriptors},
    {"files", Files},         {"gpus", SeveralGpus}, {"pageable", Pageable}, {"reductions", Reductions}, {"views", Views},
    {"hand_overs", HandOvers}};

void RunModes() {
  const std::string libraries = Folder() + "/../fake_cuda";
  for (const process_test::Mode& mode : kModes)
    process_test::ExpectClean(mode.name, {{"LD_LIBRARY_PATH", libraries.c_str()},
                                          {"ROPEWAY_ENGINE", "cuda"},
                                          {"ROPEWAY_SCHEDULE", nullptr},
                                          {"FAKE_CUDA_GPUS", mode.run == SeveralGpus ? "2" : "1"}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 && !std::filesystem::exists(Folder() + "/../fake_cuda/libcuda.so.1"))
    return process_test::Skip("the CUDA plugin is not part of this build (no nvcc, or a sanitizer)");
  return process_test::Main(argc, argv, RunModes, kModes);
}
