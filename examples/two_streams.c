/*
 * Host -> device -> device -> host through two streams and an event, from 64 bytes up to 1 GiB, in plain C.
 * Nothing here knows what runs underneath: the same source builds against any library that speaks AscendCL.
 *
 *   two_streams [MAX_BYTES]        the largest size to try; 1073741824 when absent
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define SMALLEST_SIZE ((size_t)64)
#define LARGEST_SIZE ((size_t)1 << 30)

static int Failed(aclError code, const char* call, int line) {
  const char* text;
  if (code == ACL_SUCCESS) {
    return 0;
  }
  text = aclGetRecentErrMsg();
  fprintf(stderr, "two_streams.c:%d: %s returned %d\n%s\n", line, call, code, text != NULL ? text : "(no message)");
  return 1;
}

/* Leaves the function at the first call that fails: the process exits with an error and the system cleans up. */
#define TRY(call)                          \
  do {                                     \
    if (Failed((call), #call, __LINE__)) { \
      return 1;                            \
    }                                      \
  } while (0)

typedef struct Buffers {
  uint64_t* source; /* pinned host memory */
  uint64_t* result; /* pinned host memory */
  void* first;      /* device memory, filled by the first stream */
  void* second;     /* device memory, filled by the second stream */
} Buffers;

static void FillPattern(uint64_t* words, size_t size, uint64_t seed) {
  size_t i;
  uint64_t x = seed | 1u;
  for (i = 0; i < size / sizeof(uint64_t); ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    words[i] = x;
  }
}

/* The first stream uploads; the second waits for it, copies inside the device and downloads. */
static int CopyThroughBoth(const Buffers* buffers, size_t size, aclrtStream upload, aclrtStream download, aclrtEvent uploaded) {
  TRY(aclrtMemcpyAsync(buffers->first, size, buffers->source, size, ACL_MEMCPY_HOST_TO_DEVICE, upload));
  TRY(aclrtRecordEvent(uploaded, upload));

  TRY(aclrtStreamWaitEvent(download, uploaded));
  TRY(aclrtMemcpyAsync(buffers->second, size, buffers->first, size, ACL_MEMCPY_DEVICE_TO_DEVICE, download));
  TRY(aclrtMemcpyAsync(buffers->result, size, buffers->second, size, ACL_MEMCPY_DEVICE_TO_HOST, download));
  TRY(aclrtSynchronizeStream(download));
  return 0;
}

static int TrySize(size_t size, aclrtStream upload, aclrtStream download, aclrtEvent uploaded) {
  Buffers buffers;
  void* block;
  int same;

  TRY(aclrtMallocHost(&block, size));
  buffers.source = (uint64_t*)block;
  TRY(aclrtMallocHost(&block, size));
  buffers.result = (uint64_t*)block;
  TRY(aclrtMalloc(&buffers.first, size, ACL_MEM_MALLOC_HUGE_FIRST));
  TRY(aclrtMalloc(&buffers.second, size, ACL_MEM_MALLOC_HUGE_FIRST));

  FillPattern(buffers.source, size, size);
  memset(buffers.result, 0, size);
  if (CopyThroughBoth(&buffers, size, upload, download, uploaded) != 0) {
    return 1;
  }
  same = memcmp(buffers.source, buffers.result, size) == 0;
  printf("%10zu bytes  host -> device -> device -> host  %s\n", size, same ? "same bytes" : "BYTES DIFFER");

  TRY(aclrtFree(buffers.second));
  TRY(aclrtFree(buffers.first));
  TRY(aclrtFreeHost(buffers.result));
  TRY(aclrtFreeHost(buffers.source));
  return same ? 0 : 1;
}

static int Run(size_t largest) {
  aclrtStream upload;
  aclrtStream download;
  aclrtEvent uploaded;
  size_t size;

  TRY(aclInit(NULL));
  TRY(aclrtSetDevice(0));
  TRY(aclrtCreateStream(&upload));
  TRY(aclrtCreateStream(&download));
  TRY(aclrtCreateEvent(&uploaded));

  for (size = SMALLEST_SIZE; size <= largest; size *= 4) {
    if (TrySize(size, upload, download, uploaded) != 0) {
      return 1;
    }
  }

  TRY(aclrtDestroyEvent(uploaded));
  TRY(aclrtDestroyStream(download));
  TRY(aclrtDestroyStream(upload));
  TRY(aclrtResetDevice(0));
  TRY(aclFinalize());
  return 0;
}

int main(int argc, char** argv) {
  size_t largest = LARGEST_SIZE;
  char* end = NULL;
  if (argc > 2) {
    fprintf(stderr, "usage: %s [MAX_BYTES]\n", argv[0]);
    return 2;
  }
  if (argc == 2) {
    largest = (size_t)strtoull(argv[1], &end, 10);
    if (end == argv[1] || *end != '\0' || largest < SMALLEST_SIZE || largest > LARGEST_SIZE) {
      fprintf(stderr, "usage: %s [MAX_BYTES]   (%zu to %zu)\n", argv[0], SMALLEST_SIZE, LARGEST_SIZE);
      return 2;
    }
  }
  return Run(largest);
}
