// One race, or none with the argument "right": a copy to the device, read by another stream. How the program comes by its AscendCL is the
// test's: linked, or, built with -DOPENED, by dlopen and dlsym. Behind the race it ends, or does what the argument says:
//   crash  dies of a signal
//   exec   becomes the program "right"
//   fork   a child, which raced alone before, has ended
//   twice  closes its AscendCL, opens it again and races again
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#ifdef OPENED
#include <dlfcn.h>

static void* library = nullptr;
#define CALL(name) reinterpret_cast<decltype(&name)>(dlsym(library, #name))
#define OPEN() library = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL)
#define CLOSE() dlclose(library)
#else
#define CALL(name) name
#define OPEN()
#define CLOSE()
#endif
#include "acl/acl.h"

static void Race(bool right) {
  OPEN();
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
  CLOSE();
}

int main(int argc, char** argv) {
  const std::string then = argc > 1 ? argv[1] : "";
  if (then == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      Race(false);
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    Race(true);
    return status;
  }
  Race(then == "right");
  if (then == "crash") *static_cast<volatile int*>(nullptr) = 1;
  if (then == "exec") execl(argv[0], argv[0], "right", nullptr);
  if (then == "twice") {
    // Takes the place where the library was, so that it comes back at another one.
    for (int i = 0; i < 4096; ++i) mmap(nullptr, 4096, i % 2 == 0 ? PROT_NONE : PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Race(false);
  }
  std::puts("done");
  return 0;
}
