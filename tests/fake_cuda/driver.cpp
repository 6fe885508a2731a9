// A stand-in for NVIDIA's libcuda.so.1: one GPU, or FAKE_CUDA_GPUS of them, whose memory is this machine's, whose work is done when a call
// returns, and whose calls fail when a test says so. With it the host side of the CUDA engine runs on machines without a GPU. Only what the
// engine calls is here.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "kernels.h"

namespace {

constexpr size_t kMemory = size_t{64} << 30;  // committed when touched
constexpr CUresult kNoMemory = CUDA_ERROR_OUT_OF_MEMORY;

struct Order {
  int result = 0;
  int after = 0;  // calls that still work
  int times = 0;  // calls that fail then; negative: all
};
std::mutex g_mutex;
std::map<std::string, Order> g_orders;  // by function, guarded by g_mutex

// As the driver 580 was seen to: pinned memory asked for without a file descriptor is given, and nothing works from then on.
std::atomic<bool> g_spoilt{false};

// What a call of this name answers instead of working.
CUresult Ordered(const char* function) {
  if (g_spoilt) return CUDA_ERROR_OPERATING_SYSTEM;
  std::string name(function);
  name = name.substr(0, name.find("_v"));
  std::lock_guard lock(g_mutex);
  auto found = g_orders.find(name);
  if (found == g_orders.end()) return CUDA_SUCCESS;
  Order& order = found->second;
  if (order.after > 0) return --order.after, CUDA_SUCCESS;
  if (order.times == 0) return CUDA_SUCCESS;
  if (order.times > 0) --order.times;
  return static_cast<CUresult>(order.result);
}

#define RW_OBEY \
  if (const CUresult ordered = Ordered(__func__); ordered != CUDA_SUCCESS) return ordered

void* At(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// An allocation is a file of memory, whose name says whose it is; its handle is the file's number, which is never 0.
constexpr char kGpuFile[] = "stand-in GPU", kHostFile[] = "stand-in host";
CUmemGenericAllocationHandle HandleOf(int file) { return static_cast<CUmemGenericAllocationHandle>(file) + 1; }
int FileOf(CUmemGenericAllocationHandle handle) { return static_cast<int>(handle) - 1; }
std::string NameOf(int file) {
  char name[64] = {};
  return readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof(name) - 1) < 0 ? "" : name;
}
bool IsOfHost(CUmemGenericAllocationHandle handle) { return NameOf(FileOf(handle)).find(kHostFile) != std::string::npos; }
struct Mapped {
  size_t size;
  bool of_host;
};
std::map<CUdeviceptr, Mapped> g_mapped;  // guarded by g_mutex

CUresult Answer(bool good, CUresult otherwise) { return good ? CUDA_SUCCESS : otherwise; }

struct Error {
  CUresult code;
  const char* name;
  const char* text;
};
constexpr Error kErrors[] = {{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
                             {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
                             {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
                             {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
                             {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed"},
                             {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is busy or unavailable"}};

const Error* Find(CUresult code) {
  for (const Error& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

// A GPU, which its context stands for too, with the kernels that the engine loads, by the handles that stand for them, and what its
// streams have done.
constexpr int kMostGpus = 8;
struct StandInGpu;
struct StandInFunction {
  StandInGpu* gpu;
  StandInKernel kernel;
};
struct StandInGpu {
  std::map<std::string, StandInFunction> functions;  // that were asked for
  std::atomic<long> tasks;
} g_gpus[kMostGpus];
thread_local StandInGpu* t_current = nullptr;
int GpuCount() {
  const char* count = std::getenv("FAKE_CUDA_GPUS");
  return count == nullptr ? 1 : std::atoi(count);
}

struct StandInStream {
  StandInGpu* gpu;
};
struct StandInEvent {
  StandInGpu* gpu;
  std::atomic<int> held_back{0};
};
std::atomic<int> g_held_back{0};
std::atomic<long> g_followed{0};

// A task of a stream, on a thread that has its GPU's context.
CUresult Enter(CUstream stream) {
  StandInGpu* const gpu = reinterpret_cast<StandInStream*>(stream)->gpu;
  if (gpu != t_current) return CUDA_ERROR_INVALID_CONTEXT;
  ++gpu->tasks;
  return CUDA_SUCCESS;
}
#define RW_ENTER(stream) \
  if (const CUresult entered = Enter(stream); entered != CUDA_SUCCESS) return entered

}  // namespace

extern "C" {

// For tests: the calls of `function` behind the next `after` answer `result`, `times` of them or, below 0, all.
void fake_cuda_fail(const char* function, int result, int after, int times) {
  std::lock_guard lock(g_mutex);
  g_orders[function] = {result, after, times};
}
// How many tasks the streams of a GPU have had.
long fake_cuda_tasks(int gpu) { return g_gpus[gpu].tasks; }
// Events that are recorded from now on are over behind so many looks at them.
void fake_cuda_hold_back(int looks) { g_held_back = looks; }
// How often a stream was made to wait for an event.
long fake_cuda_followed() { return g_followed; }
void fake_cuda_work() {
  std::lock_guard lock(g_mutex);
  g_orders.clear();
}

// --- Devices ------------------------------------------------------------------------------------------------------------
CUresult cuInit(unsigned) {
  RW_OBEY;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = GpuCount(), CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) { return *can = 1, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int size, CUdevice) { return strncpy(name, "stand-in GPU", static_cast<size_t>(size)), CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  return *value = attribute == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID ? 0 : 9, CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) { return *bytes = kMemory, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  RW_OBEY;
  return *context = reinterpret_cast<CUcontext>(&g_gpus[device]), CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) { return t_current = reinterpret_cast<StandInGpu*>(context), CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult code, const char** name) {
  const Error* error = Find(code);
  *name = error == nullptr ? nullptr : error->name;
  return Answer(error != nullptr, CUDA_ERROR_INVALID_VALUE);
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  const Error* error = Find(code);
  *text = error == nullptr ? nullptr : error->text;
  return Answer(error != nullptr, CUDA_ERROR_INVALID_VALUE);
}

// --- Memory -------------------------------------------------------------------------------------------------------------
CUresult cuMemAddressReserve(CUdeviceptr* base, size_t size, size_t, CUdeviceptr wanted, unsigned long long) {
  RW_OBEY;
  void* range = mmap(At(wanted), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *base = reinterpret_cast<CUdeviceptr>(range);
  return Answer(range != MAP_FAILED, kNoMemory);
}
CUresult cuMemAddressFree(CUdeviceptr base, size_t size) { return Answer(munmap(At(base), size) == 0, CUDA_ERROR_INVALID_VALUE); }
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* traits, unsigned long long) {
  RW_OBEY;
  const bool host = traits->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  const int file = memfd_create(host ? kHostFile : kGpuFile, MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return kNoMemory;
  return *handle = HandleOf(file), CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) { return Answer(close(FileOf(handle)) == 0, CUDA_ERROR_INVALID_VALUE); }
CUresult cuMemExportToShareableHandle(void* exported, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType, unsigned long long) {
  RW_OBEY;
  const int file = dup(FileOf(handle));
  return std::memcpy(exported, &file, sizeof(file)), Answer(file >= 0, CUDA_ERROR_INVALID_VALUE);
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* exported, CUmemAllocationHandleType) {
  RW_OBEY;
  const int given = static_cast<int>(reinterpret_cast<intptr_t>(exported));
  if (NameOf(given).find("stand-in") == std::string::npos) return CUDA_ERROR_UNKNOWN;
  return *handle = HandleOf(fcntl(given, F_DUPFD_CLOEXEC, 0)), CUDA_SUCCESS;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* traits, CUmemGenericAllocationHandle handle) {
  traits->location = {IsOfHost(handle) ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return CUDA_SUCCESS;
}
// All of an allocation or nothing, as the driver has it.
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long) {
  RW_OBEY;
  struct stat file {};
  if (offset != 0 || fstat(FileOf(handle), &file) != 0 || static_cast<size_t>(file.st_size) != size) return CUDA_ERROR_NOT_SUPPORTED;
  std::lock_guard lock(g_mutex);
  if (!g_mapped.emplace(address, Mapped{size, IsOfHost(handle)}).second) return CUDA_ERROR_INVALID_VALUE;
  void* there = mmap(At(address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, FileOf(handle), 0);
  return Answer(there != MAP_FAILED, CUDA_ERROR_INVALID_VALUE);
}
CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  std::lock_guard lock(g_mutex);
  const auto mapped = g_mapped.find(address);
  if (mapped == g_mapped.end() || mapped->second.size != size) return CUDA_ERROR_INVALID_VALUE;
  g_mapped.erase(mapped);
  void* there = mmap(At(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return Answer(there != MAP_FAILED, CUDA_ERROR_INVALID_VALUE);
}
CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count) {
  RW_OBEY;
  std::lock_guard lock(g_mutex);
  const auto mapped = g_mapped.find(address);
  if (mapped == g_mapped.end() || mapped->second.size != size) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE && !mapped->second.of_host) return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void*, size_t, unsigned) {
  RW_OBEY;
  return CUDA_SUCCESS;
}
CUresult cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult cuMemHostAlloc(void** block, size_t size, unsigned) {
  RW_OBEY;
  const int file = dup(STDERR_FILENO);
  if (file < 0) g_spoilt = true;
  close(file);
  *block = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return Answer(*block != nullptr, kNoMemory);
}
CUresult cuMemFreeHost(void* block) { return std::free(block), CUDA_SUCCESS; }

// --- Work ---------------------------------------------------------------------------------------------------------------
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
  RW_OBEY;
  RW_ENTER(stream);
  std::memmove(At(dst), At(src), size);
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* rows, CUstream stream) {
  RW_OBEY;
  RW_ENTER(stream);
  for (size_t row = 0; row < rows->Height; ++row)
    std::memmove(static_cast<char*>(At(rows->dstDevice)) + row * rows->dstPitch,
                 static_cast<char*>(At(rows->srcDevice)) + row * rows->srcPitch, rows->WidthInBytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  RW_OBEY;
  RW_ENTER(stream);
  return std::memset(At(dst), value, count), CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  RW_OBEY;
  RW_ENTER(stream);
  for (size_t i = 0; i < count; ++i) std::memcpy(static_cast<char*>(At(dst)) + i * sizeof(value), &value, sizeof(value));
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  RW_OBEY;
  return *stream = reinterpret_cast<CUstream>(new StandInStream{t_current}), CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) { return delete reinterpret_cast<StandInStream*>(stream), CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) {
  RW_OBEY;
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream) {
  RW_OBEY;
  return CUDA_SUCCESS;
}
// An event that is held back is not over until it was asked for so many times: time enough for what others order behind it.
CUresult cuEventCreate(CUevent* event, unsigned) {
  RW_OBEY;
  return *event = reinterpret_cast<CUevent>(new StandInEvent{t_current}), CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) { return delete reinterpret_cast<StandInEvent*>(event), CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent event, CUstream stream) {
  RW_OBEY;
  RW_ENTER(stream);
  reinterpret_cast<StandInEvent*>(event)->held_back = g_held_back.load();
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  RW_OBEY;
  return reinterpret_cast<StandInEvent*>(event)->held_back-- > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  RW_OBEY;
  RW_ENTER(stream);
  if (reinterpret_cast<StandInEvent*>(event)->gpu != t_current) return CUDA_ERROR_INVALID_CONTEXT;
  ++g_followed;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  RW_OBEY;
  return *module = reinterpret_cast<CUmodule>(t_current), CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  auto* const gpu = reinterpret_cast<StandInGpu*>(module);
  const StandInKernel kernel = FindKernel(name);
  if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
  StandInFunction& known = gpu->functions[name] = {gpu, kernel};
  return *function = reinterpret_cast<CUfunction>(&known), CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void**) {
  RW_OBEY;
  RW_ENTER(config->hStream);
  const auto& known = *reinterpret_cast<const StandInFunction*>(function);
  if (known.gpu != t_current) return CUDA_ERROR_INVALID_HANDLE;
  return known.kernel(arguments), CUDA_SUCCESS;
}
}
