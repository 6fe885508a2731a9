// One race, or none with the argument "right": a copy to the device, read by another stream. How the program comes by its AscendCL is the
// test's: linked, or, built with -DOPENED, by dlopen and dlsym.
#include <cstdio>
#include <cstring>
#ifdef OPENED
#include <dlfcn.h>

static void* library = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
#define CALL(name) reinterpret_cast<decltype(&name)>(dlsym(library, #name))
#else
#define CALL(name) name
#endif
#include "acl/acl.h"

int main(int argc, char** argv) {
  const bool right = argc > 1 && std::strcmp(argv[1], "right") == 0;
  constexpr size_t kSize = 4096;
  CALL(aclInit)(nullptr);
  CALL(aclrtSetDevice)(0);
  aclrtStream in = nullptr, out = nullptr;
  CALL(aclrtCreateStream)(&in);
  CALL(aclrtCreateStream)(&out);
  void *from = nullptr, *device = nullptr, *to = nullptr;
  CALL(aclrtMallocHost)(&from, kSize);
  CALL(aclrtMallocHost)(&to, kSize);
  CALL(aclrtMalloc)(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  CALL(aclrtMemcpyAsync)(device, kSize, from, kSize, ACL_MEMCPY_HOST_TO_DEVICE, in);
  aclrtEvent copied = nullptr;
  CALL(aclrtCreateEventExWithFlag)(&copied, ACL_EVENT_SYNC);
  CALL(aclrtRecordEvent)(copied, right ? in : out);
  CALL(aclrtStreamWaitEvent)(out, copied);
  CALL(aclrtMemcpyAsync)(to, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, out);
  CALL(aclrtSynchronizeStream)(in);
  CALL(aclrtSynchronizeStream)(out);
  std::puts("done");
  return 0;
}
