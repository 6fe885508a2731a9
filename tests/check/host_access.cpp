// Host code beside queued copies, built with -fsanitize=thread. The argument says which mistake is made, 0 none.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

constexpr size_t kSize = 4096;

int main(int argc, char** argv) {
  const int mistake = argc > 1 ? std::atoi(argv[1]) : 0;
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream a = nullptr, b = nullptr;
  aclrtCreateStream(&a);
  aclrtCreateStream(&b);
  void* memory[3] = {};
  for (void*& one : memory) aclrtMallocHost(&one, kSize);
  char *const in = static_cast<char*>(memory[0]), *const out = static_cast<char*>(memory[1]), *const late = static_cast<char*>(memory[2]);
  void* device = nullptr;
  aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtEvent copied = nullptr;
  aclrtCreateEventExWithFlag(&copied, ACL_EVENT_SYNC);

  std::memset(in, 1, kSize);
  aclrtMemcpyAsync(device, kSize, in, kSize, ACL_MEMCPY_HOST_TO_DEVICE, a);
  if (mistake == 1) in[5] = 2;  // the copy may not have read it
  aclrtMemcpyAsync(out, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, a);
  aclrtRecordEvent(copied, a);
  aclrtMemcpyAsync(late, kSize, device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, a);
  if (mistake == 2) std::printf("%d\n", out[7]);  // nor written it
  aclrtSynchronizeEvent(copied);
  std::printf("%d\n", out[7]);
  if (mistake == 3) std::printf("%d\n", late[7]);  // it is behind the event
  aclrtSynchronizeStream(a);
  std::printf("%d\n", late[7]);
  aclrtMemcpyAsync(device, kSize, in, kSize, ACL_MEMCPY_HOST_TO_DEVICE, b);
  aclrtSynchronizeStream(a);
  if (mistake == 4) in[9] = 3;  // the other stream reads it
  aclrtSynchronizeStream(b);
  in[9] = 4;
  // What is behind a function uses what the function leaves.
  aclrtLaunchHostFunc(
      a, [](void* buffer) { std::memset(buffer, 5, kSize); }, in);
  aclrtMemcpyAsync(device, kSize, in, kSize, ACL_MEMCPY_HOST_TO_DEVICE, a);
  aclrtSynchronizeStream(a);
  in[9] = 6;
  return 0;
}
