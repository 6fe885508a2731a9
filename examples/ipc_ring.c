/*
 * Two processes, one device each, and a ring of slots in the consumer's device memory. The producer copies blocks straight into the
 * slots; two notifies per slot keep the order: "filled" releases the consumer, "emptied" gives the slot back. Neither host waits
 * for a block: both queue their work and the streams wait for each other across the processes.
 *
 *   gcc ipc_ring.c -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lascendcl -o ipc_ring && ./ipc_ring
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

enum { SLOTS = 4, BLOCKS = 64, BLOCK_BYTES = 1 << 20, KEY_BYTES = 65, DEFAULT = 0, ANY_PROCESS = 1, ANY_PROCESS_NOTIFY = 2 };

#define CHECK(call)                                                             \
    do {                                                                        \
        aclError error_ = (call);                                               \
        if (error_ != ACL_SUCCESS) {                                            \
            fprintf(stderr, "%s: %d\n%s", #call, error_, aclGetRecentErrMsg()); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

/* What the producer needs to reach the consumer. */
typedef struct Keys {
    char memory[KEY_BYTES];
    char filled[SLOTS][KEY_BYTES];
    char emptied[SLOTS][KEY_BYTES];
} Keys;

static void fill(uint8_t* block, int number) {
    for (size_t i = 0; i < BLOCK_BYTES; ++i) block[i] = (uint8_t)(i * 7 + (size_t)number * 31);
}

static aclrtNotify make_notify(char* key) {
    aclrtNotify notify;
    CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    CHECK(aclrtNotifyGetExportKey(notify, key, KEY_BYTES, ANY_PROCESS_NOTIFY));
    return notify;
}

/* The consumer owns memory and notifies. Blocks leave the ring in order and are checked at the end. */
static int consume(int to_producer) {
    Keys keys;
    uint8_t *ring, *received, *expected = malloc(BLOCK_BYTES);
    aclrtNotify filled[SLOTS], emptied[SLOTS];
    aclrtStream stream;
    CHECK(aclrtSetDevice(1));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc((void**)&ring, SLOTS * BLOCK_BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMallocHost((void**)&received, (size_t)BLOCKS * BLOCK_BYTES));
    CHECK(aclrtIpcMemGetExportKey(ring, SLOTS * BLOCK_BYTES, keys.memory, KEY_BYTES, ANY_PROCESS));
    for (int slot = 0; slot < SLOTS; ++slot) {
        filled[slot] = make_notify(keys.filled[slot]);
        emptied[slot] = make_notify(keys.emptied[slot]);
    }
    if (write(to_producer, &keys, sizeof(keys)) != sizeof(keys)) return 1;
    for (int block = 0; block < BLOCKS; ++block) {
        int slot = block % SLOTS;
        CHECK(aclrtWaitAndResetNotify(filled[slot], stream, 0));
        CHECK(aclrtMemcpyAsync(received + (size_t)block * BLOCK_BYTES, BLOCK_BYTES, ring + (size_t)slot * BLOCK_BYTES, BLOCK_BYTES,
                               ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtRecordNotify(emptied[slot], stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    int wrong = 0;
    for (int block = 0; block < BLOCKS; ++block) {
        fill(expected, block);
        wrong += memcmp(expected, received + (size_t)block * BLOCK_BYTES, BLOCK_BYTES) != 0;
    }
    printf("consumer: %d blocks of 1 MiB through %d slots, %d wrong\n", BLOCKS, SLOTS, wrong);
    char done = 1;
    if (write(to_producer, &done, 1) != 1) return 1;
    for (int slot = 0; slot < SLOTS; ++slot) {
        CHECK(aclrtDestroyNotify(filled[slot]));
        CHECK(aclrtDestroyNotify(emptied[slot]));
    }
    CHECK(aclrtIpcMemClose(keys.memory));
    CHECK(aclrtFree(ring));
    CHECK(aclrtFreeHost(received));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(1));
    free(expected);
    return wrong == 0 ? 0 : 1;
}

/* The producer writes into memory that it imported. A wait for "emptied" is a wait for the notify of another process: its device
 * must be current here, too, so the producer works on the consumer's device. */
static int produce(int from_consumer) {
    Keys keys;
    uint8_t *ring, *source;
    aclrtNotify filled[SLOTS], emptied[SLOTS];
    aclrtStream stream;
    if (recv(from_consumer, &keys, sizeof(keys), MSG_WAITALL) != sizeof(keys)) return 1;
    CHECK(aclrtSetDevice(1));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMallocHost((void**)&source, (size_t)BLOCKS * BLOCK_BYTES));
    CHECK(aclrtIpcMemImportByKey((void**)&ring, keys.memory, DEFAULT));
    for (int slot = 0; slot < SLOTS; ++slot) {
        CHECK(aclrtNotifyImportByKey(&filled[slot], keys.filled[slot], DEFAULT));
        CHECK(aclrtNotifyImportByKey(&emptied[slot], keys.emptied[slot], DEFAULT));
    }
    for (int block = 0; block < BLOCKS; ++block) {
        int slot = block % SLOTS;
        fill(source + (size_t)block * BLOCK_BYTES, block);
        if (block >= SLOTS) CHECK(aclrtWaitAndResetNotify(emptied[slot], stream, 0));
        CHECK(aclrtMemcpyAsync(ring + (size_t)slot * BLOCK_BYTES, BLOCK_BYTES, source + (size_t)block * BLOCK_BYTES, BLOCK_BYTES,
                               ACL_MEMCPY_HOST_TO_DEVICE, stream));
        CHECK(aclrtRecordNotify(filled[slot], stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    char done = 0;
    if (recv(from_consumer, &done, 1, MSG_WAITALL) != 1) return 1;
    for (int slot = 0; slot < SLOTS; ++slot) {
        CHECK(aclrtDestroyNotify(filled[slot]));
        CHECK(aclrtDestroyNotify(emptied[slot]));
    }
    CHECK(aclrtIpcMemClose(keys.memory));
    CHECK(aclrtFreeHost(source));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(1));
    return 0;
}

int main(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    /* Processes part before either of them touches a device. */
    pid_t consumer = fork();
    if (consumer == 0) return consume(ends[1]);
    int produced = produce(ends[0]);
    int status = 0;
    waitpid(consumer, &status, 0);
    return produced == 0 && status == 0 ? 0 : 1;
}
