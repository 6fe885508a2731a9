/*
 * Two processes and a ring of slots in the consumer's device memory. The producer copies blocks from its own device memory straight
 * into the slots; two notifies per slot keep the order: "filled" releases the consumer, "emptied" gives the slot back. Neither host
 * waits for a block: both queue their work and the streams wait for each other across the processes. Where device memory cannot be
 * shared, the ring is host memory that both have registered.
 *
 *   gcc ipc_ring.c -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lascendcl -o ipc_ring && ./ipc_ring
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

enum { SLOTS = 4, BLOCKS = 64, BLOCK_BYTES = 1 << 20, KEY_BYTES = 65, DEFAULT = 0, ANY_PROCESS = 1, ANY_PROCESS_NOTIFY = 2 };

#define CHECK(call)                                                       \
  do {                                                                    \
    aclError error_ = (call);                                             \
    if (error_ != ACL_SUCCESS) {                                          \
      fprintf(stderr, "%s: %d\n%s", #call, error_, aclGetRecentErrMsg()); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

enum { RING_BYTES = SLOTS * BLOCK_BYTES };
static const size_t ALL_BYTES = (size_t)BLOCKS * BLOCK_BYTES;

/* What the producer needs to reach the consumer. */
typedef struct Keys {
  char memory[KEY_BYTES]; /* empty: the ring is the host memory that both processes have */
  char filled[SLOTS][KEY_BYTES];
  char emptied[SLOTS][KEY_BYTES];
} Keys;

static void fill(uint8_t* block, int number) {
  for (size_t i = 0; i < BLOCK_BYTES; ++i) block[i] = (uint8_t)(i * 7 + (size_t)number * 31);
}

/* The copies below are of kind DEFAULT: where the ring lies makes no difference to them. */
static uint8_t* use_host_ring(uint8_t* shared) {
  void* of_device;
  CHECK(aclrtHostRegister(shared, RING_BYTES, ACL_HOST_REGISTER_MAPPED, &of_device));
  return shared;
}

static aclrtNotify make_notify(char* key) {
  aclrtNotify notify;
  CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  CHECK(aclrtNotifyGetExportKey(notify, key, KEY_BYTES, ANY_PROCESS_NOTIFY));
  return notify;
}

/* The consumer owns memory and notifies. Blocks leave the ring in order and are checked at the end. */
static int consume(int to_producer, uint8_t* shared) {
  Keys keys;
  uint8_t *ring, *received, *fetched = malloc(BLOCK_BYTES), *expected = malloc(BLOCK_BYTES);
  aclrtNotify filled[SLOTS], emptied[SLOTS];
  aclrtStream stream;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc((void**)&received, ALL_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc((void**)&ring, RING_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  aclError exported = aclrtIpcMemGetExportKey(ring, RING_BYTES, keys.memory, KEY_BYTES, ANY_PROCESS);
  int on_host = exported == ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (on_host) {
    CHECK(aclrtFree(ring));
    keys.memory[0] = '\0';
    ring = use_host_ring(shared);
  } else {
    CHECK(exported);
  }
  for (int slot = 0; slot < SLOTS; ++slot) {
    filled[slot] = make_notify(keys.filled[slot]);
    emptied[slot] = make_notify(keys.emptied[slot]);
  }
  if (write(to_producer, &keys, sizeof(keys)) != sizeof(keys)) return 1;
  for (int block = 0; block < BLOCKS; ++block) {
    int slot = block % SLOTS;
    CHECK(aclrtWaitAndResetNotify(filled[slot], stream, 0));
    CHECK(aclrtMemcpyAsync(received + (size_t)block * BLOCK_BYTES, BLOCK_BYTES, ring + (size_t)slot * BLOCK_BYTES, BLOCK_BYTES,
                           ACL_MEMCPY_DEFAULT, stream));
    CHECK(aclrtRecordNotify(emptied[slot], stream));
  }
  CHECK(aclrtSynchronizeStream(stream));
  int wrong = 0;
  for (int block = 0; block < BLOCKS; ++block) {
    fill(expected, block);
    CHECK(aclrtMemcpy(fetched, BLOCK_BYTES, received + (size_t)block * BLOCK_BYTES, BLOCK_BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    wrong += memcmp(expected, fetched, BLOCK_BYTES) != 0;
  }
  printf("consumer: %d blocks of 1 MiB through %d slots of %s memory, %d wrong\n", BLOCKS, SLOTS, on_host ? "host" : "device", wrong);
  char done = 1;
  if (write(to_producer, &done, 1) != 1) return 1;
  for (int slot = 0; slot < SLOTS; ++slot) {
    CHECK(aclrtDestroyNotify(filled[slot]));
    CHECK(aclrtDestroyNotify(emptied[slot]));
  }
  if (on_host) {
    CHECK(aclrtHostUnregister(ring));
  } else {
    CHECK(aclrtIpcMemClose(keys.memory));
    CHECK(aclrtFree(ring));
  }
  CHECK(aclrtFree(received));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  free(fetched);
  free(expected);
  return wrong == 0 ? 0 : 1;
}

/* The producer writes into memory that it imported. A wait for "emptied" is a wait for the notify of another process: its device
 * must be current here, too, so the producer works on the consumer's device. */
static int produce(int from_consumer, uint8_t* shared) {
  Keys keys;
  uint8_t *ring, *source, *made = malloc(BLOCK_BYTES);
  aclrtNotify filled[SLOTS], emptied[SLOTS];
  aclrtStream stream;
  if (recv(from_consumer, &keys, sizeof(keys), MSG_WAITALL) != sizeof(keys)) return 1;
  int on_host = keys.memory[0] == '\0';
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc((void**)&source, ALL_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  if (on_host) {
    ring = use_host_ring(shared);
  } else {
    CHECK(aclrtIpcMemImportByKey((void**)&ring, keys.memory, DEFAULT));
  }
  for (int slot = 0; slot < SLOTS; ++slot) {
    CHECK(aclrtNotifyImportByKey(&filled[slot], keys.filled[slot], DEFAULT));
    CHECK(aclrtNotifyImportByKey(&emptied[slot], keys.emptied[slot], DEFAULT));
  }
  for (int block = 0; block < BLOCKS; ++block) {
    int slot = block % SLOTS;
    fill(made, block);
    CHECK(aclrtMemcpy(source + (size_t)block * BLOCK_BYTES, BLOCK_BYTES, made, BLOCK_BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
    if (block >= SLOTS) CHECK(aclrtWaitAndResetNotify(emptied[slot], stream, 0));
    CHECK(aclrtMemcpyAsync(ring + (size_t)slot * BLOCK_BYTES, BLOCK_BYTES, source + (size_t)block * BLOCK_BYTES, BLOCK_BYTES,
                           ACL_MEMCPY_DEFAULT, stream));
    CHECK(aclrtRecordNotify(filled[slot], stream));
  }
  CHECK(aclrtSynchronizeStream(stream));
  char done = 0;
  if (recv(from_consumer, &done, 1, MSG_WAITALL) != 1) return 1;
  for (int slot = 0; slot < SLOTS; ++slot) {
    CHECK(aclrtDestroyNotify(filled[slot]));
    CHECK(aclrtDestroyNotify(emptied[slot]));
  }
  CHECK(on_host ? aclrtHostUnregister(ring) : aclrtIpcMemClose(keys.memory));
  CHECK(aclrtFree(source));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  free(made);
  return 0;
}

int main(void) {
  int ends[2];
  void* shared = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  /* Processes part before either of them touches a device. */
  pid_t consumer = fork();
  if (consumer == 0) return consume(ends[1], shared);
  int produced = produce(ends[0], shared);
  int status = 0;
  waitpid(consumer, &status, 0);
  return produced == 0 && status == 0 ? 0 : 1;
}
