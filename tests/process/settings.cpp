// The ROPEWAY_ variables that change what a program sees: alignment rule, host access, number of devices, their memory.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace {

struct Buffers {
  char* device = nullptr;
  char* host = nullptr;
};

Buffers Allocate(size_t size) {
  Buffers buffers;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(reinterpret_cast<void**>(&buffers.device), size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(reinterpret_cast<void**>(&buffers.host), size), ACL_SUCCESS);
  return buffers;
}

aclError CopyAt(const Buffers& buffers, size_t device_offset, size_t host_offset) {
  aclError result =
      aclrtMemcpyAsync(buffers.device + device_offset, 64, buffers.host + host_offset, 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  return result;
}

constexpr size_t kNoItem = SIZE_MAX;

// Both items of a batch by each of the four calls: the code, and the item that failIndex names.
void CheckBatch(char* device, char* host, size_t second, aclError code, size_t item) {
  size_t none = 0, index = 7;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  void* dsts[] = {device, device + 128};
  void* srcs[] = {host, host + second};
  size_t sizes[] = {64, 64};
  RW_CHECK_EQ(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, &none, 1, &index), code);
  RW_CHECK_EQ(index, item);
  RW_CHECK_EQ(aclrtMemcpyBatchV2(dsts, sizes, srcs, sizes, 2, &attr, &none, 1), code);
  index = 7;
  RW_CHECK_EQ(aclrtMemcpyBatchAsync(dsts, sizes, srcs, sizes, 2, &attr, &none, 1, &index, nullptr), code);
  RW_CHECK_EQ(index, item);
  RW_CHECK_EQ(aclrtMemcpyBatchAsyncV2(dsts, sizes, srcs, sizes, 2, &attr, &none, 1, nullptr), code);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

// Pageable memory and batches, where `wrong` is the answer to addresses that are not aligned.
void CheckAlignmentEverywhere(const Buffers& buffers, aclError wrong) {
  alignas(64) static char pageable[1024];
  const Buffers with_pageable{buffers.device, pageable};
  for (const Buffers& pair : {buffers, with_pageable}) {
    RW_CHECK_EQ(CopyAt(pair, 0, 64), ACL_SUCCESS);
    RW_CHECK_EQ(CopyAt(pair, 0, 8), wrong);
    RW_CHECK_EQ(CopyAt(pair, 8, 0), wrong);
    CheckBatch(pair.device, pair.host, 128, ACL_SUCCESS, kNoItem);
    CheckBatch(pair.device, pair.host, 136, wrong, wrong == ACL_SUCCESS ? kNoItem : 1);
    CheckBatch(pair.device + 8, pair.host, 128, wrong, wrong == ACL_SUCCESS ? kNoItem : 0);
  }
  // A synchronous copy has no such rule.
  RW_CHECK_EQ(aclrtMemcpy(buffers.device + 1, 64, pageable + 1, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

void StrictAlignment() {
  Buffers buffers = Allocate(1024);
  CheckAlignmentEverywhere(buffers, ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(CopyAt(buffers, 0, 0), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 64, 128), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(CopyAt(buffers, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(CopyAt(buffers, 32, 32), ACL_ERROR_RT_PARAM_INVALID);
}

void LaxAlignment() {
  Buffers buffers = Allocate(1024);
  CheckAlignmentEverywhere(buffers, ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 1, 0), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 0, 1), ACL_SUCCESS);
  RW_CHECK_EQ(CopyAt(buffers, 32, 32), ACL_SUCCESS);
}

void HostAccess() {
  Buffers buffers = Allocate(4096);
  RW_CHECK_EQ(aclrtMemset(buffers.device, 4096, 0x5A, 4096), ACL_SUCCESS);
  bool good = true;
  for (size_t i = 0; i < 4096; ++i) good = good && buffers.device[i] == 0x5A;
  RW_CHECK(good);
  buffers.device[100] = 7;
  char back = 0;
  RW_CHECK_EQ(aclrtMemcpy(&back, 1, buffers.device + 100, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  RW_CHECK_EQ(static_cast<int>(back), 7);
}

// The alias of registered memory is that memory, whatever it is: heap, stack, a file.
void AliasAccess() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::vector<char> heap(10000);
  char stack[10000];
  std::FILE* file = std::tmpfile();
  RW_CHECK(file != nullptr && ftruncate(fileno(file), 10000) == 0);
  void* mapped = mmap(nullptr, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  RW_CHECK(mapped != MAP_FAILED);
  for (char* memory : {heap.data(), stack, static_cast<char*>(mapped)}) {
    void* out = nullptr;
    RW_CHECK_EQ(aclrtHostRegister(memory + 3, 9000, ACL_HOST_REGISTER_MAPPED, &out), ACL_SUCCESS);
    char* const alias = static_cast<char*>(out);
    for (int i = 0; i < 9000; ++i) memory[3 + i] = static_cast<char>(i);
    bool same = true;
    for (int i = 0; i < 9000; ++i) same = same && alias[i] == static_cast<char>(i);
    RW_CHECK(same);
    alias[4096] = 99;
    RW_CHECK_EQ(static_cast<int>(memory[3 + 4096]), 99);
    void* view = nullptr;
    RW_CHECK_EQ(ropewayHostView(alias + 1, 8999, &view), ACL_SUCCESS);
    RW_CHECK(view == memory + 4);
    // A second registration is refused, and leaves the first one as it is.
    RW_CHECK_EQ(aclrtHostRegister(memory + 3, 9000, ACL_HOST_REGISTER_MAPPED, &out), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    RW_CHECK_EQ(ropewayHostView(alias, 9000, &view), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtHostUnregister(memory + 3), ACL_SUCCESS);
    RW_CHECK_EQ(ropewayHostView(alias, 9000, &view), ACL_ERROR_RT_PARAM_INVALID);
  }
  munmap(mapped, 10000);
  std::fclose(file);
}

void TwoDevices() {
  uint32_t count = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  RW_CHECK_EQ(count, 2u);
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(2), ACL_ERROR_RT_INVALID_DEVICEID);
}

constexpr size_t kGiB = size_t{1} << 30, kPiece = size_t{64} << 20;

void CheckMemory(size_t expected_free) {
  size_t free = 0, total = 0;
  RW_CHECK_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  RW_CHECK_EQ(total, kGiB);
  RW_CHECK_EQ(free, expected_free);
}

void OneGiB() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  CheckMemory(kGiB);
  std::vector<void*> blocks;
  void* block = &blocks;
  aclError result = ACL_SUCCESS;
  while (blocks.size() <= 16 && (result = aclrtMalloc(&block, kPiece, ACL_MEM_MALLOC_HUGE_FIRST)) == ACL_SUCCESS) {
    blocks.push_back(block);
  }
  RW_CHECK_EQ(result, ACL_ERROR_RT_MEMORY_ALLOCATION);
  RW_CHECK_EQ(blocks.size(), size_t{15});  // each takes 32 bytes more than asked for
  RW_CHECK(blocks.empty() || block == blocks.back());
  for (void* each : blocks) RW_CHECK_EQ(aclrtFree(each), ACL_SUCCESS);
  CheckMemory(kGiB);
  RW_CHECK_EQ(aclrtMalloc(&block, kGiB - 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  CheckMemory(kGiB);
}

// What a program sees of wrong values: one line each, from the library that reads them, however often it looks and whatever the log level.
void UseEverything() {
  for (int round = 0; round < 2; ++round) {
    RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* library = dlopen("libhccl.so", RTLD_NOW);
    RW_CHECK(library != nullptr);
    HcclComm comm = nullptr;
    int32_t device = 0;
    RW_CHECK_EQ(static_cast<int>(reinterpret_cast<decltype(&HcclCommInitAll)>(dlsym(library, "HcclCommInitAll"))(1, &device, &comm)), 0);
    RW_CHECK_EQ(static_cast<int>(reinterpret_cast<decltype(&HcclCommDestroy)>(dlsym(library, "HcclCommDestroy"))(comm)), 0);
    RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
  }
}

void CheckWrongValues() {
  const process_test::Child child = process_test::RunSelf("everything", {{"ROPEWAY_SCHEDULE", "LATEST"},
                                                                         {"ROPEWAY_DEVICE_MEMORY", "12"},
                                                                         {"ROPEWAY_LOG_LEVEL", "4"},
                                                                         {"ASCEND_GLOBAL_LOG_LEVEL", "quiet"},
                                                                         {"ROPEWAY_PYTHON_EXTENSIONS", "no"},
                                                                         {"HCCL_EXEC_TIMEOUT", "-1"},
                                                                         {"ROPEWAY_HCCL_LINK_TIMEOUT", "abc"}});
  RW_CHECK(child.ExitedWith(0));
  std::multiset<std::string> lines;
  std::istringstream said(child.err);
  for (std::string line; std::getline(said, line);) lines.insert(line);
  const std::multiset<std::string> expected = {
      "ropeway: ROPEWAY_SCHEDULE=LATEST cannot be used: fast, earliest, latest or random:SEED is wanted; used instead: fast",
      "ropeway: ROPEWAY_DEVICE_MEMORY=12 cannot be used: a size from 2MiB to 1TiB (such as 64GiB) is wanted; used instead: 64GiB, or its "
      "share of the GPU's",
      "ropeway: ASCEND_GLOBAL_LOG_LEVEL=quiet cannot be used: a number from 0 to 4 is wanted; used instead: 3",
      "ropeway: ROPEWAY_PYTHON_EXTENSIONS=no cannot be used: 0 or 1 is wanted; used instead: 1",
      "ropeway: HCCL_EXEC_TIMEOUT=-1 cannot be used: a time from 0 to 1000000000 seconds (such as 0.5) is wanted; used instead: 1836",
      "ropeway: ROPEWAY_HCCL_LINK_TIMEOUT=abc cannot be used: a number from 1 to 3600 is wanted; used instead: 15"};
  if (lines != expected) process_test::Fail(__FILE__, __LINE__, "said: " + child.err);
}

bool IsLoaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

// Logs, texts and answers that need no device do not open a GPU's driver; the first question about devices does, where the plugin was
// built.
void PluginIsLeftAlone() {
  aclAppLog(ACL_ERROR, "here", __FILE__, __LINE__, "a %s", "line");
  RW_CHECK_EQ(aclrtGetVersion(nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  RW_CHECK(aclrtGetSocName() != nullptr && aclGetRecentErrMsg() != nullptr);
  RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
  RW_CHECK(!IsLoaded("libropeway_cuda.so"));
  Dl_info library;
  RW_CHECK(dladdr(reinterpret_cast<const void*>(&aclInit), &library) != 0);
  const bool built = std::filesystem::exists(std::filesystem::path(library.dli_fname).replace_filename("libropeway_cuda.so"));
  uint32_t count = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  RW_CHECK_EQ(IsLoaded("libropeway_cuda.so"), built);
}

// Without a GPU, whoever insists on one is told by the first call that needs a device, and by each later one.
void NoGpu() {
  const auto expect_refused = [](aclError answer) {
    RW_CHECK_EQ(answer, ACL_ERROR_RT_NO_DEVICE);
    const char* text = aclGetRecentErrMsg();
    RW_CHECK(text != nullptr && std::strstr(text, "ROPEWAY_ENGINE=cuda, but ") != nullptr);
  };
  uint32_t count = 7;
  for (int round = 0; round < 2; ++round) {
    expect_refused(aclInit(nullptr));
    expect_refused(aclrtSetDevice(0));
    expect_refused(aclrtGetDeviceCount(&count));
  }
  RW_CHECK_EQ(count, 7u);
  RW_CHECK_EQ(std::string(ropewayGetEngineName()), std::string("none"));
  RW_CHECK(aclrtGetSocName() != nullptr);
}

void Engine() { std::cout << ropewayGetEngineName() << aclInit(nullptr) << aclrtSetDevice(0) << std::flush; }

void CheckMissingGpu() {
  const process_test::Child child = process_test::RunSelf("engine", {{"ROPEWAY_ENGINE", nullptr}});
  RW_CHECK_EQ(child.err, std::string());
  if (child.out == "cuda00") return;  // there is one
  RW_CHECK_EQ(child.out, std::string("cpu00"));
  process_test::ExpectClean("no_gpu", {{"ROPEWAY_ENGINE", "cuda"}});
}

void All() {
  CheckMissingGpu();
  CheckWrongValues();
  process_test::ExpectClean("plugin", {{"ROPEWAY_ENGINE", nullptr}, {"ROPEWAY_LOG_LEVEL", "0"}});
  process_test::ExpectClean("strict", {{"ROPEWAY_STRICT_ALIGNMENT", "1"}});
  process_test::ExpectClean("lax", {{"ROPEWAY_STRICT_ALIGNMENT", nullptr}});
  process_test::ExpectClean("host_access", {{"ROPEWAY_HOST_ACCESS", "1"}});
  process_test::ExpectClean("alias_access", {{"ROPEWAY_HOST_ACCESS", "1"}});
  process_test::ExpectClean("two_devices", {{"ROPEWAY_DEVICES", "2"}});
  process_test::ExpectClean("one_gib", {{"ROPEWAY_DEVICE_MEMORY", "1GiB"}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"everything", &UseEverything},
                             {"engine", &Engine},
                             {"no_gpu", &NoGpu},
                             {"plugin", &PluginIsLeftAlone},
                             {"strict", &StrictAlignment},
                             {"lax", &LaxAlignment},
                             {"host_access", &HostAccess},
                             {"alias_access", &AliasAccess},
                             {"two_devices", &TwoDevices},
                             {"one_gib", &OneGiB}});
}
