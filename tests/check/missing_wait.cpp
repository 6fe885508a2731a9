// A copy to the device and one back on another stream, which the host waits for in that order. Wrong bytes come out under some orders of
// the two; with the argument "right" an event orders them.
#include <cstdio>
#include <cstring>

#include "acl/acl.h"

int main(int argc, char**) {
  constexpr size_t kSize = 4096;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream in = nullptr, out = nullptr;
  aclrtCreateStream(&in);
  aclrtCreateStream(&out);
  void *from = nullptr, *to = nullptr, *device = nullptr;
  aclrtMallocHost(&from, kSize);
  aclrtMallocHost(&to, kSize);
  aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemset(device, kSize, 0, kSize);
  std::memset(from, 7, kSize);
  aclrtMemcpyAsync(device, kSize, from, kSize, ACL_MEMCPY_HOST_TO_DEVICE, in);
  if (argc > 1) {
    aclrtEvent copied = nullptr;
    aclrtCreateEventExWithFlag(&copied, ACL_EVENT_SYNC);
    aclrtRecordEvent(copied, in);
    aclrtStreamWaitEvent(out, copied);
  }
  aclrtMemcpyAsync(to, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, out);
  aclrtSynchronizeStream(in);
  aclrtSynchronizeStream(out);
  const bool good = std::memcmp(from, to, kSize) == 0;
  std::puts(good ? "good" : "wrong bytes");
  return good ? 0 : 1;
}
