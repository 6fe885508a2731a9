// A kernel and an operator that are host functions: y = a * x by a kernel that is launched through a binary, z = x + alpha * y by aclnnAdd,
// all in one stream between two copies. Which functions stand in for which names is said at the top; everything below is what a program has
// on an NPU machine, too.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "ropeway/operator.h"

namespace {

void Scale(const ropewayKernelLaunch* launch, float* x, float* y, float factor, uint32_t count) {
  const float* const from = ropeway::View(launch, x, count);
  float* const to = ropeway::View(launch, y, count);
  if (from == nullptr || to == nullptr) return;  // the stream says which one is not there
  for (uint32_t i = 0; i < count; ++i) to[i] = factor * from[i];
}
ROPEWAY_KERNEL(scale, Scale);

void Add(const ropewayKernelLaunch* launch, const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out) {
  size_t count = 0;
  const float* const a = ropeway::Dense<float>(launch, self, &count);
  const float* const b = ropeway::Dense<float>(launch, other, &count);
  float* const sum = ropeway::Dense<float>(launch, out, &count);
  if (a == nullptr || b == nullptr || sum == nullptr) return;
  const auto times = static_cast<float>(ropeway::NumberOf(alpha));
  for (size_t i = 0; i < count; ++i) sum[i] = a[i] + times * b[i];
}
ROPEWAY_OPERATOR(aclnnAdd, Add, 0);

}  // namespace

ROPEWAY_ACLNN(aclnnAdd, (const aclTensor* self, const aclTensor* other, const aclScalar* alpha, aclTensor* out), (self, other, alpha, out))

namespace {

constexpr uint32_t kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

bool Good(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return true;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", call, code, text != nullptr ? text : "");
  return false;
}
#define TRY(call) \
  if (!Good(call, #call)) return false

bool LaunchScale(void* x, void* y, float factor, aclrtStream stream) {
  struct {
    void *x, *y;
    float factor;
    uint32_t count;
  } arguments = {x, y, factor, kCount};
  static const char image[] = "what the compiler for kernels made";
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle scale = nullptr;
  TRY(aclrtBinaryLoadFromData(image, sizeof(image), nullptr, &binary));
  TRY(aclrtBinaryGetFunction(binary, "scale", &scale));
  TRY(aclrtLaunchKernelWithHostArgs(scale, 8, stream, nullptr, &arguments, sizeof(arguments), nullptr, 0));
  TRY(aclrtBinaryUnLoad(binary));
  return true;
}

bool LaunchAdd(void* x, void* y, void* z, float alpha, aclrtStream stream) {
  const int64_t shape[] = {kCount};
  const auto tensor = [&](void* data) { return aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, data); };
  aclTensor *self = tensor(x), *other = tensor(y), *out = tensor(z);
  aclScalar* const scalar = aclCreateScalar(&alpha, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  TRY(aclnnAddGetWorkspaceSize(self, other, scalar, out, &size, &executor));
  TRY(aclnnAdd(nullptr, size, executor, stream));
  for (const aclTensor* one : {self, other, out}) TRY(aclDestroyTensor(one));
  TRY(aclDestroyScalar(scalar));
  return true;
}

bool Run() {
  aclrtStream stream = nullptr;
  void *x = nullptr, *y = nullptr, *z = nullptr, *input = nullptr, *output = nullptr;
  TRY(aclrtSetDevice(0));
  TRY(aclrtCreateStream(&stream));
  for (void** block : {&x, &y, &z}) TRY(aclrtMalloc(block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  for (void** block : {&input, &output}) TRY(aclrtMallocHost(block, kBytes));
  for (uint32_t i = 0; i < kCount; ++i) static_cast<float*>(input)[i] = static_cast<float>(i);

  TRY(aclrtMemcpyAsync(x, kBytes, input, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  if (!LaunchScale(x, y, 2, stream) || !LaunchAdd(x, y, z, 10, stream)) return false;
  TRY(aclrtMemcpyAsync(output, kBytes, z, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  TRY(aclrtSynchronizeStream(stream));
  for (uint32_t i = 0; i < kCount; ++i) {
    if (static_cast<float*>(output)[i] == static_cast<float>(21 * i)) continue;
    std::fprintf(stderr, "element %u is %f\n", i, static_cast<double>(static_cast<float*>(output)[i]));
    return false;
  }
  for (void* block : {x, y, z}) TRY(aclrtFree(block));
  for (void* block : {input, output}) TRY(aclrtFreeHost(block));
  TRY(aclrtDestroyStream(stream));
  TRY(aclrtResetDevice(0));
  return true;
}

}  // namespace

int main() {
  if (!Run()) return 1;
  std::printf("%u numbers, scaled and added in one stream\n", kCount);
  return 0;
}
