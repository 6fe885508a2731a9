// The shortest whole program: one MiB travels to the device and back through a stream, and comes home unchanged.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

static void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "error %d: %s\n", code, text != nullptr ? text : "(no message)");
  std::exit(1);
}

int main() {
  const size_t size = 1 << 20;
  void *host, *back, *device;
  aclrtStream stream;
  Must(aclInit(nullptr));
  Must(aclrtSetDevice(0));
  Must(aclrtCreateStream(&stream));
  Must(aclrtMallocHost(&host, size));
  Must(aclrtMallocHost(&back, size));
  Must(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
  std::memset(host, 42, size);
  Must(aclrtMemcpyAsync(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  Must(aclrtMemcpyAsync(back, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  Must(aclrtSynchronizeStream(stream));
  const bool same = std::memcmp(host, back, size) == 0;
  std::puts(same ? "1 MiB went to the device and came back unchanged" : "the bytes differ");
  return same ? 0 : 1;
}
