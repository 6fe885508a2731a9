// Typical mistakes, each in a process of its own, and what the library must say to whoever made it: the call, the argument, its value, the
// limit, and what to do. `mistakes` runs and judges all; `mistakes NAME` runs one and prints its message.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kBlock = 4096;

// What most mistakes begin with: a device, a stream, and memory of each kind.
struct Scene {
  Scene() {
    Require(aclInit(nullptr));
    Require(aclrtSetDevice(0));
    Require(aclrtGetCurrentContext(&context));
    Require(aclrtCreateStream(&stream));
    Require(aclrtMalloc(&device, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
    Require(aclrtMallocHost(&pinned, kBlock));
    pageable = std::calloc(1, kBlock);
  }
  static void Require(aclError code) {
    if (code == ACL_SUCCESS) return;
    std::fprintf(stderr, "the scene fails with %d: %s\n", code, aclGetRecentErrMsg());
    std::exit(3);
  }
  char* at(size_t offset) const { return static_cast<char*>(device) + offset; }

  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;
  void* pageable = nullptr;
};

aclError Upload(const Scene& scene, void* dst, size_t size, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, size, scene.pinned, size, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}

// One item to the device with attributes that the caller chooses.
struct Batch {
  explicit Batch(Scene& scene) : dsts{scene.device, scene.at(1024)}, srcs{scene.pinned, static_cast<char*>(scene.pinned) + 1024} {
    attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  }
  aclError Run(aclrtStream stream, size_t count = 2, size_t attributes = 1) {
    return aclrtMemcpyBatchAsync(dsts, maxima, srcs, sizes, count, &attribute, indexes, attributes, &failed, stream);
  }

  void* dsts[2];
  void* srcs[2];
  size_t maxima[2] = {1024, 1024};
  size_t sizes[2] = {1024, 1024};
  size_t indexes[2] = {0, 0};
  size_t failed = 0;
  aclrtMemcpyBatchAttr attribute{};
};

struct Mistake {
  const char* name;
  aclError (*make)();  // what the wrong call answers
  aclError code;
  std::vector<const char*> said;  // call, argument, value, limit, next step: what of these the message cannot do without
};

// A message has addresses in it: those that a test knows are written as @device, @pinned, @pageable.
std::vector<std::pair<std::string, std::string>> g_names;

void Know(const Scene& scene) {
  char text[32];
  const std::pair<const char*, void*> known[] = {{"@device", scene.device}, {"@pinned", scene.pinned}, {"@pageable", scene.pageable}};
  for (const auto& [name, address] : known) {
    std::snprintf(text, sizeof text, "%p", address);
    g_names.emplace_back(name, text);
  }
}

const Mistake kMistakes[] = {
    {"no_device",
     [] {
       void* block = nullptr;
       Scene::Require(aclInit(nullptr));
       return aclrtMalloc(&block, kBlock, ACL_MEM_MALLOC_HUGE_FIRST);
     },
     107002,
     {"aclrtMalloc", "context", "aclrtSetDevice"}},
    {"no_such_device", [] { return Scene(), aclrtSetDevice(99); }, 107001, {"aclrtSetDevice", "99", "8"}},
    {"bad_config_file", [] { return aclInit("/no/such/file.json"); }, 100003, {"aclInit", "/no/such/file.json"}},
    {"initialised_twice", [] { return Scene(), aclInit(nullptr); }, 100002, {"aclInit", "already"}},
    {"null_destination",
     [] {
       Scene s;
       return Upload(s, nullptr, 64, s.stream);
     },
     100000,
     {"aclrtMemcpyAsync", "dst", "NULL"}},
    {"null_source",
     [] {
       Scene s;
       return aclrtMemcpyAsync(s.device, 64, nullptr, 64, ACL_MEMCPY_HOST_TO_DEVICE, s.stream);
     },
     100000,
     {"aclrtMemcpyAsync", "src", "NULL"}},
    {"destination_too_small",
     [] {
       Scene s;
       return aclrtMemcpyAsync(s.device, 1024, s.pinned, 4096, ACL_MEMCPY_HOST_TO_DEVICE, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "count 4096", "destMax 1024", "copy less"}},
    {"unknown_kind",
     [] {
       Scene s;
       return aclrtMemcpyAsync(s.device, 64, s.pinned, 64, static_cast<aclrtMemcpyKind>(17), s.stream);
     },
     100000,
     {"aclrtMemcpyAsync", "kind 17", "0 to 5"}},
    {"wrong_direction",
     [] {
       Scene s;
       Know(s);
       return aclrtMemcpyAsync(s.device, 64, s.pageable, 64, ACL_MEMCPY_DEVICE_TO_HOST, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "ACL_MEMCPY_DEVICE_TO_HOST", "@pageable", "pageable", "@device"}},
    {"host_to_host",
     [] {
       Scene s;
       return aclrtMemcpyAsync(s.pinned, 64, s.pageable, 64, ACL_MEMCPY_HOST_TO_HOST, s.stream);
     },
     207000,
     {"aclrtMemcpyAsync", "host-to-host", "aclrtMemcpy"}},
    {"overrun_block",
     [] {
       Scene s;
       Know(s);
       void* big = nullptr;
       Scene::Require(aclrtMallocHost(&big, 4 << 20));
       return aclrtMemcpyAsync(s.device, 4 << 20, big, 4 << 20, ACL_MEMCPY_HOST_TO_DEVICE, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "dst", "@device", "4194304", "aclrtMalloc"}},
    {"overrun_from_inside",
     [] {
       Scene s;
       Know(s);
       return aclrtMemset(s.at(4000), 8 << 20, 0, 8 << 20);
     },
     107000,
     {"aclrtMemset", "8388608", "4000", "aclrtMalloc"}},
    {"freed_memory",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclrtFree(s.device));
       return aclrtMemcpy(s.device, 64, s.pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE);
     },
     107000,
     {"aclrtMemcpy", "dst", "@device", "freed", "aclrtFree"}},
    {"freed_memory_async",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclrtFree(s.device));
       return Upload(s, s.device, 64, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "dst", "@device", "freed", "aclrtFree"}},
    {"double_free",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclrtFree(s.device));
       return aclrtFree(s.device);
     },
     107000,
     {"aclrtFree", "@device", "4128 bytes", "aclrtMalloc", "has freed", "(called "}},
    {"free_of_host_memory",
     [] {
       Scene s;
       Know(s);
       return aclrtFree(s.pageable);
     },
     107000,
     {"aclrtFree", "@pageable"}},
    {"free_inside_a_block",
     [] {
       Scene s;
       return aclrtFree(s.at(64));
     },
     107000,
     {"aclrtFree", "byte 64", "aclrtMalloc", "where it begins"}},
    {"freed_pinned_memory",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclrtFreeHost(s.pinned));
       return Upload(s, s.device, 64, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "src", "@pinned", "pinned host memory", "aclrtMallocHost", "aclrtFreeHost", "free later"}},
    {"device_freed_as_host",
     [] {
       Scene s;
       Know(s);
       return aclrtFreeHost(s.device);
     },
     107000,
     {"aclrtFreeHost", "@device", "aclrtMalloc", "free it by aclrtFree"}},
    {"no_memory",
     [] {
       Scene s;
       void* block = nullptr;
       return aclrtMalloc(&block, size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST);
     },
     207001,
     {"aclrtMalloc", "1125899906842624", "free"}},
    {"size_zero",
     [] {
       Scene s;
       void* block = nullptr;
       return aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST);
     },
     100000,
     {"aclrtMalloc", "size", "0"}},
    {"destroyed_stream",
     [] {
       Scene s;
       Scene::Require(aclrtDestroyStream(s.stream));
       return Upload(s, s.device, 64, s.stream);
     },
     107017,
     {"aclrtMemcpyAsync", "stream", "destroyed"}},
    {"stream_destroyed_twice",
     [] {
       Scene s;
       Scene::Require(aclrtDestroyStream(s.stream));
       return aclrtDestroyStream(s.stream);
     },
     107017,
     {"aclrtDestroyStream", "stream", "destroyed"}},
    {"destroyed_event",
     [] {
       Scene s;
       aclrtEvent event = nullptr;
       Scene::Require(aclrtCreateEvent(&event));
       Scene::Require(aclrtDestroyEvent(event));
       return aclrtRecordEvent(event, s.stream);
     },
     107017,
     {"aclrtRecordEvent", "event", "destroyed"}},
    {"event_as_stream",
     [] {
       Scene s;
       aclrtEvent event = nullptr;
       Scene::Require(aclrtCreateEvent(&event));
       return aclrtSynchronizeStream(event);
     },
     107017,
     {"aclrtSynchronizeStream", "stream"}},
    {"time_of_an_unrecorded_event",
     [] {
       Scene s;
       aclrtEvent start = nullptr, end = nullptr;
       float ms = 0;
       Scene::Require(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
       Scene::Require(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));
       return aclrtEventElapsedTime(&ms, start, end);
     },
     507000,
     {"aclrtEventElapsedTime", "start", "record"}},
    {"stream_of_another_context",
     [] {
       Scene s;
       aclrtContext other = nullptr;
       Scene::Require(aclrtCreateContext(&other, 0));
       return Upload(s, s.device, 64, s.stream);
     },
     107003,
     {"aclrtMemcpyAsync", "stream 0x", "another context", "make its context current"}},
    {"stream_after_reset",
     [] {
       Scene s;
       Scene::Require(aclrtResetDevice(0));
       Scene::Require(aclrtSetDevice(0));
       return aclrtSynchronizeStream(s.stream);
     },
     107017,
     {"aclrtSynchronizeStream", "stream"}},
    {"wait_that_runs_out",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclrtMemset(s.device, kBlock, 0, kBlock));
       Scene::Require(aclrtValueWait(s.device, 1, 1, s.stream));
       return aclrtSynchronizeStreamWithTimeout(s.stream, 50);
     },
     507046,
     {"aclrtSynchronizeStreamWithTimeout", " ms, the first is ", "aclrtValueWait", "@device"}},
    {"wait_for_another_stream_that_runs_out",
     [] {
       Scene s;
       aclrtStream second = nullptr;
       aclrtEvent event = nullptr;
       Scene::Require(aclrtCreateStream(&second));
       Scene::Require(aclrtCreateEvent(&event));
       Scene::Require(aclrtMemset(s.device, kBlock, 0, kBlock));
       Scene::Require(aclrtValueWait(s.device, 1, 1, second));
       Scene::Require(aclrtRecordEvent(event, second));
       Scene::Require(aclrtStreamWaitEvent(s.stream, event));
       return aclrtSynchronizeStreamWithTimeout(s.stream, 50);
     },
     507046,
     {"aclrtSynchronizeStreamWithTimeout", " ms, the first is ", "aclrtStreamWaitEvent"}},
    {"batch_of_nothing",
     [] {
       Scene s;
       return Batch(s).Run(s.stream, 0);
     },
     100000,
     {"aclrtMemcpyBatchAsync", "numBatches", "0"}},
    {"batch_wrong_direction",
     [] {
       Scene s;
       Batch batch(s);
       std::swap(batch.attribute.dstLoc, batch.attribute.srcLoc);
       return batch.Run(s.stream);
     },
     107000,
     {"aclrtMemcpyBatchAsync", "dsts[0]", "device memory", "declares host"}},
    {"batch_item_too_large",
     [] {
       Scene s;
       Batch batch(s);
       batch.maxima[1] = 512;
       return batch.Run(s.stream);
     },
     100000,
     {"aclrtMemcpyBatchAsync", "1024", "512", "1"}},
    {"batch_without_attributes",
     [] {
       Scene s;
       return Batch(s).Run(s.stream, 2, 0);
     },
     107000,
     {"aclrtMemcpyBatchAsync", "numAttrs", "0"}},
    {"batch_indexes_fall",
     [] {
       Scene s;
       Batch batch(s);
       batch.indexes[0] = 1;
       return batch.Run(s.stream);
     },
     107000,
     {"aclrtMemcpyBatchAsync", "attrsIndexes", "1", "0"}},
    {"rows_wider_than_their_pitch",
     [] {
       Scene s;
       return aclrtMemcpy2dAsync(s.device, 64, s.pinned, 256, 128, 2, ACL_MEMCPY_HOST_TO_DEVICE, s.stream);
     },
     100000,
     {"aclrtMemcpy2dAsync", "width 128", "dpitch", "64"}},
    {"memset_over_its_limit",
     [] {
       Scene s;
       return aclrtMemset(s.device, 64, 0, 128);
     },
     107000,
     {"aclrtMemset", "128", "64"}},
    {"synchronised_in_a_capture",
     [] {
       Scene s;
       Scene::Require(aclmdlRICaptureBegin(s.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
       return aclrtSynchronizeStream(s.stream);
     },
     107027,
     {"aclrtSynchronizeStream", "captur"}},
    {"pageable_in_a_capture",
     [] {
       Scene s;
       Know(s);
       Scene::Require(aclmdlRICaptureBegin(s.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
       return aclrtMemcpyAsync(s.device, 64, s.pageable, 64, ACL_MEMCPY_HOST_TO_DEVICE, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "@pageable", "pageable", "pinned"}},
    {"registered_twice",
     [] {
       Scene s;
       void* view = nullptr;
       void* pages = std::aligned_alloc(4096, kBlock);
       Scene::Require(aclrtHostRegister(pages, kBlock, ACL_HOST_REGISTER_MAPPED, &view));
       return aclrtHostRegister(pages, kBlock, ACL_HOST_REGISTER_MAPPED, &view);
     },
     507910,
     {"aclrtHostRegister", "already"}},
    {"unregistered_what_was_not",
     [] {
       Scene s;
       Know(s);
       return aclrtHostUnregister(s.pageable);
     },
     507911,
     {"aclrtHostUnregister", "@pageable", "aclrtHostRegister"}},
    {"no_peer_access",
     [] {
       Scene s;
       void* there = nullptr;
       Scene::Require(aclrtSetDevice(1));
       Scene::Require(aclrtMalloc(&there, kBlock, ACL_MEM_MALLOC_HUGE_FIRST));
       Scene::Require(aclrtSetDevice(0));
       return aclrtMemcpyAsync(there, kBlock, s.device, kBlock, ACL_MEMCPY_DEVICE_TO_DEVICE, s.stream);
     },
     107000,
     {"aclrtMemcpyAsync", "device 1", "aclrtDeviceEnablePeerAccess"}},
    {"value_outside_its_block",
     [] {
       Scene s;
       Know(s);
       return aclrtValueWait(s.pageable, 1, 1, s.stream);
     },
     107000,
     {"aclrtValueWait", "devAddr", "@pageable"}},
    {"unknown_key",
     [] {
       Scene s;
       void* block = nullptr;
       return aclrtIpcMemImportByKey(&block, "no such key", 0);
     },
     107000,
     {"aclrtIpcMemImportByKey", "key"}},
    {"no_function",
     [] {
       Scene s;
       return aclrtLaunchHostFunc(s.stream, nullptr, nullptr);
     },
     107000,
     {"aclrtLaunchHostFunc", "fn", "NULL"}},
};

std::string WithNames(std::string text) {
  for (const auto& [name, address] : g_names)
    for (size_t at; (at = text.find(address)) != std::string::npos;) text.replace(at, address.size(), name);
  return text;
}

int Run(const Mistake& mistake, bool show) {
  const aclError code = mistake.make();
  const char* raw = aclGetRecentErrMsg();
  const std::string text = WithNames(raw == nullptr ? "(no message)" : raw);
  bool good = code == mistake.code;
  std::string missing;
  for (const char* part : mistake.said)
    if (text.find(part) == std::string::npos) missing += std::string(" '") + part + "'";
  if (text.find("\n        called ") == std::string::npos) missing += " where it was called";
  good = good && missing.empty();
  if (!good || show)
    std::printf("%s %s: code %d, not said:%s\n%s\n", good ? "good" : "FAILED", mistake.name, code, missing.c_str(), text.c_str());
  std::fflush(stdout);
  _exit(good ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  int failed = 0;
  for (const Mistake& mistake : kMistakes) {
    if (argc > 1 && std::strcmp(argv[1], "all") != 0 && std::strcmp(argv[1], mistake.name) != 0) continue;
    const pid_t child = fork();
    if (child == 0) Run(mistake, argc > 1);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) std::printf("FAILED %s: ended with %x\n", mistake.name, status);
    failed += status == 0 ? 0 : 1;
  }
  std::printf("%d of %zu messages lack something\n", failed, std::size(kMistakes));
  return failed == 0 ? 0 : 1;
}
