/*
 * The C side of python_submit.py: what aclrtMemcpyAsync of 4 KiB costs in a loop. Prints the median of ROUNDS rounds of
 * COPIES submits, in nanoseconds a submit; the synchronise between the rounds is not counted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

enum { kSize = 4096 };

static int64_t NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int CompareDoubles(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  fprintf(stderr, "python_submit: error %d\n", code);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s ROUNDS COPIES\n", argv[0]), 2;
  const int rounds = atoi(argv[1]), copies = atoi(argv[2]);
  double* per_submit = malloc(sizeof(double) * (size_t)rounds);
  void *host, *device;
  aclrtStream stream;
  Must(aclrtSetDevice(0));
  Must(aclrtCreateStream(&stream));
  Must(aclrtMallocHost(&host, kSize));
  Must(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int round = 0; round < rounds; ++round) {
    const int64_t start = NowNs();
    for (int i = 0; i < copies; ++i) Must(aclrtMemcpyAsync(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    per_submit[round] = (double)(NowNs() - start) / copies;
    Must(aclrtSynchronizeStream(stream));
  }
  qsort(per_submit, (size_t)rounds, sizeof(double), CompareDoubles);
  printf("%.1f\n", per_submit[rounds / 2]);
  free(per_submit);
  return 0;
}
