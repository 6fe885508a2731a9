/*
 * What callgrind_submit.sh counts: 1000 submits of 4 KiB, pinned, to a stream that is busy. A host function holds the
 * stream while they are made, so every count is of a submit alone, whatever the scheduler does.
 */
#include <semaphore.h>
#include <stdio.h>

#include "acl/acl.h"

enum { SUBMITS = 1000, BLOCK = 4096 };

static sem_t g_open;

static void WaitUntilOpen(void* unused) {
  (void)unused;
  while (sem_wait(&g_open) != 0) {
    continue;
  }
}

#define TRY(call)                                        \
  do {                                                   \
    aclError code_ = (call);                             \
    if (code_ != ACL_SUCCESS) {                          \
      fprintf(stderr, "%s returned %d\n", #call, code_); \
      return 1;                                          \
    }                                                    \
  } while (0)

int main(void) {
  aclrtStream stream;
  void* host;
  void* device;
  int i;

  sem_init(&g_open, 0, 0);
  TRY(aclrtSetDevice(0));
  TRY(aclrtCreateStream(&stream));
  TRY(aclrtMallocHost(&host, BLOCK));
  TRY(aclrtMalloc(&device, BLOCK, ACL_MEM_MALLOC_HUGE_FIRST));
  TRY(aclrtLaunchHostFunc(stream, WaitUntilOpen, NULL));
  for (i = 0; i < SUBMITS; ++i) {
    TRY(aclrtMemcpyAsync(device, BLOCK, host, BLOCK, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  }
  sem_post(&g_open);
  TRY(aclrtSynchronizeStream(stream));
  TRY(aclrtResetDevice(0));
  printf("%d\n", SUBMITS);
  return 0;
}
