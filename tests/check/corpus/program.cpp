#include "tests/check/corpus/program.h"

#include <unistd.h>

#include <cstdio>
#include <vector>

namespace corpus {
namespace {

constexpr int kCallFailed = 3;

void Batch(std::initializer_list<Item> items, aclrtStream stream, size_t size, bool load) {
  std::vector<void*> dsts, srcs;
  for (const Item& item : items) {
    dsts.push_back(item.dst);
    srcs.push_back(item.src);
  }
  std::vector<size_t> sizes(items.size(), size);
  const aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST}, device{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = load ? device : host;
  attr.srcLoc = load ? host : device;
  size_t first = 0, failed = 0;
  MUST(aclrtMemcpyBatchAsync(dsts.data(), sizes.data(), srcs.data(), sizes.data(), items.size(), &attr, &first, 1, &failed, stream));
}

}  // namespace

void FailCall(const char* text, const char* file, int line, aclError code) {
  std::fprintf(stderr, "%s:%d: %s answered %d\n", file, line, text, code);
  _exit(kCallFailed);
}

char* Device(size_t size) {
  void* block = nullptr;
  MUST(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<char*>(block);
}

char* Pinned(size_t size) {
  void* block = nullptr;
  MUST(aclrtMallocHost(&block, size));
  return static_cast<char*>(block);
}

aclrtStream Stream() {
  aclrtStream stream = nullptr;
  MUST(aclrtCreateStream(&stream));
  return stream;
}

aclrtEvent Event() {
  aclrtEvent event = nullptr;
  MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

aclrtEvent Flag() {
  aclrtEvent event = nullptr;
  MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  return event;
}

aclrtNotify Notify() {
  aclrtNotify notify = nullptr;
  MUST(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  return notify;
}

uint64_t* Word() {
  char* const word = Device(64);
  MUST(aclrtMemset(word, 64, 0, 64));
  return reinterpret_cast<uint64_t*>(word);
}

void Load(void* block, const void* host, aclrtStream stream, size_t size) {
  MUST(aclrtMemcpyAsync(block, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

void Store(void* host, const void* block, aclrtStream stream, size_t size) {
  MUST(aclrtMemcpyAsync(host, size, block, size, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

void Move(void* to, const void* from, aclrtStream stream, size_t size) {
  MUST(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

void Record(aclrtEvent event, aclrtStream stream) { MUST(aclrtRecordEvent(event, stream)); }

void Wait(aclrtStream stream, aclrtEvent event) { MUST(aclrtStreamWaitEvent(stream, event)); }

void Order(aclrtStream earlier, aclrtStream later) {
  const aclrtEvent event = Event();
  Record(event, earlier);
  Wait(later, event);
}

void Finish(std::initializer_list<aclrtStream> streams) {
  for (const aclrtStream stream : streams) MUST(aclrtSynchronizeStream(stream));
}

void LoadBatch(std::initializer_list<Item> items, aclrtStream stream, size_t size) { Batch(items, stream, size, true); }

void StoreBatch(std::initializer_list<Item> items, aclrtStream stream, size_t size) { Batch(items, stream, size, false); }

void Hold(aclrtStream stream, uint64_t* word) { MUST(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_GEQ, stream)); }

void Open(uint64_t* word) { MUST(aclrtValueWrite(word, 1, 0, nullptr)); }

}  // namespace corpus
