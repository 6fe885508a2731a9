// How a row of no_memory.cpp is run: what it finds, what is looked at when a call has failed, and what may come of it.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"
#include "tests/support/failing_memory.h"

namespace failing_memory {

// What the C library and the C++ runtime ask for themselves is theirs to lose.
inline bool OfTheLibrary(const void* caller) {
  static const void* const base = [] {
    Dl_info ours{};
    dladdr(dlsym(RTLD_DEFAULT, "aclrtMalloc"), &ours);
    return static_cast<const void*>(ours.dli_fbase);
  }();
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_fbase == base;
}

}  // namespace failing_memory

// What the library asks of the C library is null then.
// NOLINTBEGIN: these are the global ones
extern "C" __attribute__((visibility("default"))) void* calloc(size_t count, size_t size) noexcept {
  static const auto real = reinterpret_cast<decltype(&calloc)>(dlsym(RTLD_NEXT, "calloc"));
  using namespace failing_memory;
  const bool alarm = g_threads.load(std::memory_order_relaxed) != Threads::kNone;
  return alarm && OfTheLibrary(__builtin_return_address(0)) && ShallFail() ? nullptr : real(count, size);
}
extern "C" __attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t size) noexcept {
  static const auto real = reinterpret_cast<decltype(&aligned_alloc)>(dlsym(RTLD_NEXT, "aligned_alloc"));
  using namespace failing_memory;
  const bool alarm = g_threads.load(std::memory_order_relaxed) != Threads::kNone;
  return alarm && OfTheLibrary(__builtin_return_address(0)) && ShallFail() ? nullptr : real(alignment, size);
}
// NOLINTEND

namespace no_memory {

using failing_memory::Threads;

inline const char* g_step = "";

inline void Complain(const char* what, long number) {
  process_test::Fail(g_step, static_cast<int>(failing_memory::g_places.failures()),
                     std::string(what) + " (" + std::to_string(number) + ")");
}
// A call with all the memory it wants.
inline void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  Complain(text != nullptr ? text : "no text", code);
}

// What rows work with: two streams and a block of each kind. The rest is the row's own.
struct World {
  aclrtStream stream = nullptr, other = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;
  alignas(4096) char pageable[4096] = {};

  void* made = nullptr;
  void* back = nullptr;
  void* gate = nullptr;
  void* imported = nullptr;
  aclrtMemPool pool = nullptr;
  aclrtDrvMemHandle physical = nullptr;
  aclmdlRI model = nullptr;
  uint64_t shareable = 0;
  char key[65] = {};
  uint32_t device_id = 0;  // of pools and physical memory
  aclrtIpcEventHandle handle{};
  std::atomic<ropewayOperation> operation{nullptr};
  std::string path;
  const char* text = nullptr;
  std::vector<void*> batch_dsts, batch_srcs;
  std::vector<size_t> batch_sizes;
};

inline void Drain(World& world) {
  for (aclrtStream stream : {world.stream, world.other}) Must(aclrtSynchronizeStream(stream));
}

// Without helping, so that the work is left to the threads of the runtime; then the stream's error.
inline aclError AwaitByQuery(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (aclrtStreamQuery(stream, &status) == ACL_SUCCESS && status != ACL_STREAM_STATUS_COMPLETE) sched_yield();
  return aclrtSynchronizeStream(stream);
}

inline aclError AwaitBoth(World& world) {
  const aclError first = AwaitByQuery(world.stream), second = AwaitByQuery(world.other);
  return first != ACL_SUCCESS ? first : second;
}

enum Kind : unsigned {
  kNone,
  kBare,       // before any device is set
  kRefused,    // the call is refused for another reason, and with that code, memory or not
  kTaskFails,  // likewise, by its task
  kOrGone,     // the other side may be gone: 107000 and 507022, too, and the row may be over by then
  kCaptured,   // a capture that cannot store a task becomes invalid; the next one has it
};

struct Row {
  const char* name;
  Kind kind;
  void (*prepare)(World&);
  aclError (*call)(World&);
  void (*undo)(World&);
  bool (*intact)(World&) = nullptr;  // whether a call that failed left alone what the counts do not show
};

// What can be seen from outside.
struct Sight {
  ropewayLiveCounts counts{};
  uint32_t streams_left = 0, events_left = 0;
  int capture[2] = {};
  bool operator==(const Sight& other) const { return std::memcmp(this, &other, sizeof(*this)) == 0; }
};

inline Sight Look(const World& world) {
  Sight sight;
  std::memset(static_cast<void*>(&sight), 0, sizeof(sight));
  Must(ropewayGetLiveCounts(&sight.counts));
  if (world.stream == nullptr) return sight;
  static_cast<void>(aclrtGetStreamAvailableNum(&sight.streams_left));  // a row may have left the thread without a context
  static_cast<void>(aclrtGetEventAvailNum(&sight.events_left));
  const aclrtStream streams[] = {world.stream, world.other};
  for (int i = 0; i < 2; ++i) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    static_cast<void>(aclmdlRICaptureGetInfo(streams[i], &status, &model));
    sight.capture[i] = static_cast<int>(status);
  }
  return sight;
}

inline void Expect(const Sight& seen, const Sight& expected, const char* when) {
  if (seen == expected) return;
  std::string text = std::string(when) + ":";
  const auto* one = reinterpret_cast<const uint64_t*>(&seen);
  const auto* other = reinterpret_cast<const uint64_t*>(&expected);
  for (size_t i = 0; i < sizeof(Sight) / sizeof(uint64_t); ++i) {
    if (one[i] != other[i]) text += " word " + std::to_string(i) + " is " + std::to_string(one[i]) + ", not " + std::to_string(other[i]);
  }
  process_test::Fail(g_step, static_cast<int>(failing_memory::g_places.failures()), text);
}

inline bool IsExpected(const Row& row, aclError code, aclError without_failure) {
  if (code == without_failure) return true;
  if (row.kind == kRefused) return false;
  if (row.kind == kOrGone && (code == ACL_ERROR_RT_IPC_ERROR || code == ACL_ERROR_RT_PARAM_INVALID)) return true;
  return code == ACL_ERROR_RT_MEMORY_ALLOCATION;
}

inline void GiveUpCapture(World& world) {
  const aclError ended = aclmdlRICaptureEnd(world.stream, &world.model);
  if (ended == ACL_SUCCESS) Must(aclmdlRIDestroy(world.model));
  if (ended != ACL_SUCCESS && ended != ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED) Complain("the end of the capture answered", ended);
  for (aclrtEvent* event : {&world.made, &world.back}) {
    if (*event != nullptr) Must(aclrtDestroyEvent(*event));
    *event = nullptr;
  }
}

// One try, with the next place failing. False: no place is left.
inline bool Try(const Row& row, Threads threads, World& world) {
  const aclError good = row.kind == kRefused ? ACL_ERROR_RT_PARAM_INVALID : row.kind == kTaskFails ? ACL_ERROR_RT_SYS_DMA : ACL_SUCCESS;
  const Sight at_first = Look(world);
  if (row.prepare != nullptr) row.prepare(world);
  const Sight before = Look(world);
  failing_memory::Arm(threads);
  const aclError code = row.call(world);
  const bool hit = failing_memory::Disarm();
  if (!IsExpected(row, code, good)) Complain("the call answered", code);
  if (!hit && code != good) Complain("the call answered without a failure", code);
  if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) {
    if (row.kind != kBare && aclGetRecentErrMsg() == nullptr) Complain("no text", code);
  }
  if (code != good && row.kind == kCaptured) {
    GiveUpCapture(world);
    Expect(Look(world), at_first, "after the failed capture");
    row.prepare(world);
  } else if (code != good) {
    Expect(Look(world), before, "after the failure");
    if (row.intact != nullptr && !row.intact(world)) Complain("the call left something else behind", code);
  }
  if (code != good) {
    if (const aclError again = row.call(world); again != good) Complain("the next call answered", again);
  }
  if (row.undo != nullptr) row.undo(world);
  Expect(Look(world), at_first, "in the end");
  return hit;
}

inline void RunTries(const Row& row, Threads threads) {
  World world;
  if (row.kind != kBare) {
    Must(aclrtSetDevice(0));
    for (aclrtStream* stream : {&world.stream, &world.other}) Must(aclrtCreateStream(stream));
    Must(aclrtMalloc(&world.device, sizeof(world.pageable), ACL_MEM_MALLOC_NORMAL_ONLY));
    Must(aclrtMallocHost(&world.pinned, sizeof(world.pageable)));
  }
  while (process_test::g_failures < 8 && Try(row, threads, world)) {
    if (world.stream != nullptr) Drain(world);
  }
  if (row.kind != kBare) Must(aclrtResetDeviceForce(0));
}

inline void RunRow(const Row& row, Threads threads) {
  const char* only = getenv("ROPEWAY_TEST_ROW");  // for people: rows with this in their names
  if (only != nullptr && strstr(row.name, only) == nullptr) return;
  g_step = row.name;
  if (!process_test::InChild([&] { RunTries(row, threads); }))
    process_test::Fail(row.name, threads == Threads::kThis ? 0 : 1, "the row failed");
}

}  // namespace no_memory
