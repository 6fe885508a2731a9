// Two arrays go to the device, a kernel adds them, and the sum comes back: started by the function beside the kernel, and, where the path
// of a binary is given, by a function of that binary.
//
//   add [FATBIN]
#include <cstdio>
#include <vector>

#include "acl/acl.h"

void AddDo(uint32_t blocks, void* stream, void* x, void* y, void* z);  // beside the kernel

namespace {

constexpr uint32_t kBlocks = 8;
constexpr size_t kCount = kBlocks * 2048, kBytes = kCount * sizeof(float);

bool Good(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return true;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", call, code, text != nullptr ? text : "");
  return false;
}
#define TRY(call) \
  if (!Good(call, #call)) return 1

int Compare(const float* sum) {
  for (size_t i = 0; i < kCount; ++i) {
    if (sum[i] == static_cast<float>(3 * i)) continue;
    std::fprintf(stderr, "element %zu is %f\n", i, static_cast<double>(sum[i]));
    return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  TRY(aclInit(nullptr));
  TRY(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  TRY(aclrtCreateStream(&stream));
  void *x = nullptr, *y = nullptr, *z = nullptr, *result = nullptr;
  for (void** block : {&x, &y, &z}) TRY(aclrtMalloc(block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  TRY(aclrtMallocHost(&result, kBytes));
  std::vector<float> once(kCount), twice(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    once[i] = static_cast<float>(i);
    twice[i] = static_cast<float>(2 * i);
  }
  TRY(aclrtMemcpy(x, kBytes, once.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  TRY(aclrtMemcpy(y, kBytes, twice.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));

  AddDo(kBlocks, stream, x, y, z);
  TRY(aclrtMemcpyAsync(result, kBytes, z, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  TRY(aclrtSynchronizeStream(stream));
  if (Compare(static_cast<const float*>(result)) != 0) return 1;

  if (count > 1) {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle add = nullptr;
    TRY(aclrtBinaryLoadFromFile(arguments[1], nullptr, &binary));
    TRY(aclrtBinaryGetFunction(binary, "add_custom", &add));
    void* pointers[] = {y, x, z};
    TRY(aclrtMemset(z, kBytes, 0, kBytes));
    TRY(aclrtLaunchKernelWithHostArgs(add, kBlocks, stream, nullptr, pointers, sizeof(pointers), nullptr, 0));
    TRY(aclrtMemcpyAsync(result, kBytes, z, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    TRY(aclrtSynchronizeStream(stream));
    TRY(aclrtBinaryUnLoad(binary));
    if (Compare(static_cast<const float*>(result)) != 0) return 1;
  }
  for (void* block : {x, y, z}) TRY(aclrtFree(block));
  TRY(aclrtFreeHost(result));
  TRY(aclrtDestroyStream(stream));
  TRY(aclrtResetDevice(0));
  TRY(aclFinalize());
  std::printf("%zu sums are right\n", kCount);
  return 0;
}
