/* An AscendCL of another house, as far as a small program needs one: some forty functions that do everything inside the call. It shares no
 * line with Ropeway and includes none of its headers; the checking layer has to work on top of it all the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default"))) int

static int device;
static int next_handle = 1;

static void* block(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }
static void* handle(void) { return (void*)(intptr_t)(next_handle++ * 16); }

API aclInit(const char* config) { return config == (const char*)1; }
API aclFinalize(void) { return 0; }
API aclrtSetDevice(int32_t id) {
  device = id;
  return 0;
}
API aclrtGetDevice(int32_t* id) {
  *id = device;
  return 0;
}
API aclrtResetDevice(int32_t id) { return id < 0; }
API aclrtGetDeviceCount(uint32_t* count) {
  *count = 1;
  return 0;
}
API aclrtSynchronizeDevice(void) { return 0; }
API aclrtSynchronizeDeviceWithTimeout(int32_t limit) { return limit < -1; }
API aclrtCreateContext(void** context, int32_t id) {
  device = id;
  *context = handle();
  return 0;
}
API aclrtDestroyContext(void* context) { return context == 0; }
API aclrtSetCurrentContext(void* context) { return context == 0; }
API aclrtGetCurrentContext(void** context) {
  *context = (void*)8;
  return 0;
}
API aclrtCreateStream(void** stream) {
  *stream = handle();
  return 0;
}
API aclrtCreateStreamWithConfig(void** stream, uint32_t priority, uint32_t flag) {
  *stream = handle();
  return priority > 7 && flag > 64;
}
API aclrtDestroyStream(void* stream) { return stream == 0; }
API aclrtDestroyStreamForce(void* stream) { return stream == 0; }
API aclrtSynchronizeStream(void* stream) {
  (void)stream;
  return 0;
}
API aclrtSynchronizeStreamWithTimeout(void* stream, int32_t limit) {
  (void)stream;
  return limit < -1;
}
API aclrtStreamQuery(void* stream, int* status) {
  (void)stream;
  *status = 0;
  return 0;
}
API aclrtCreateEvent(void** event) {
  *event = handle();
  return 0;
}
API aclrtCreateEventWithFlag(void** event, uint32_t flag) {
  *event = handle();
  return flag == 0;
}
API aclrtCreateEventExWithFlag(void** event, uint32_t flag) {
  *event = handle();
  return flag == 0;
}
API aclrtDestroyEvent(void* event) { return event == 0; }
API aclrtRecordEvent(void* event, void* stream) {
  (void)stream;
  return event == 0;
}
API aclrtResetEvent(void* event, void* stream) {
  (void)stream;
  return event == 0;
}
API aclrtStreamWaitEvent(void* stream, void* event) {
  (void)stream;
  return event == 0;
}
API aclrtSynchronizeEvent(void* event) { return event == 0; }
API aclrtQueryEventStatus(void* event, int* status) {
  *status = 1;
  return event == 0;
}
API aclrtEventElapsedTime(float* ms, void* start, void* end) {
  *ms = 0;
  return start == 0 || end == 0;
}
API aclrtMalloc(void** memory, size_t size, int policy) {
  (void)policy;
  *memory = block(size);
  return *memory == 0;
}
API aclrtFree(void* memory) {
  free(memory);
  return 0;
}
API aclrtMallocHost(void** memory, size_t size) {
  *memory = block(size);
  return *memory == 0;
}
API aclrtFreeHost(void* memory) {
  free(memory);
  return 0;
}
API aclrtHostRegister(void* memory, uint64_t size, int type, void** mapped) {
  *mapped = memory;
  return size == 0 || type != 0;
}
API aclrtHostUnregister(void* memory) { return memory == 0; }
API aclrtMemcpy(void* to, size_t room, const void* from, size_t count, int kind) {
  if (count > room || kind > 5) return 107000;
  memcpy(to, from, count);
  return 0;
}
API aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t count, int kind, void* stream) {
  (void)stream;
  return aclrtMemcpy(to, room, from, count, kind);
}
API aclrtMemset(void* memory, size_t room, int32_t value, size_t count) {
  if (count > room) return 107000;
  memset(memory, value, count);
  return 0;
}
API aclrtMemsetAsync(void* memory, size_t room, int32_t value, size_t count, void* stream) {
  (void)stream;
  return aclrtMemset(memory, room, value, count);
}
API aclrtLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  (void)stream;
  function(argument);
  return 0;
}
API aclrtGetRunMode(int* mode) {
  *mode = 1;
  return 0;
}
__attribute__((visibility("default"))) const char* aclrtGetSocName(void) { return "mini"; }
