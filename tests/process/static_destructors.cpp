// Calls from static destructors, atexit handlers and thread-local destructors: an error or a success, but no crash and
// no hang, whether the object was made before the library's first call or after it.
#include <algorithm>
#include <thread>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

struct Handles {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  void* device = nullptr;
  void* host = nullptr;
};

Handles g_handles;

// A late call may succeed or fail, but only with a code that says why.
void CheckCode(const char* call, aclError code) {
  static constexpr aclError kAllowed[] = {ACL_SUCCESS,
                                          ACL_ERROR_INVALID_PARAM,
                                          ACL_ERROR_RT_PARAM_INVALID,
                                          ACL_ERROR_RT_INVALID_DEVICEID,
                                          ACL_ERROR_RT_CONTEXT_NULL,
                                          ACL_ERROR_RT_STREAM_CONTEXT,
                                          ACL_ERROR_RT_INVALID_HANDLE,
                                          ACL_ERROR_RT_INTERNAL_ERROR,
                                          ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                                          ACL_ERROR_RT_DEV_SETUP_ERROR,
                                          ACL_ERROR_REPEAT_FINALIZE};
  if (std::find(std::begin(kAllowed), std::end(kAllowed), code) == std::end(kAllowed)) {
    std::fprintf(stderr, "%s answered %d\n", call, code);
    _exit(3);
  }
}

// Everything that wrappers do in their destructors, and some things that they should not.
void CallEverything() {
  Handles& h = g_handles;
  CheckCode("aclrtSetDevice", aclrtSetDevice(0));
  CheckCode("aclrtMemsetAsync", aclrtMemsetAsync(h.device, 64, 1, 64, h.stream));
  CheckCode("aclrtRecordEvent", aclrtRecordEvent(h.event, h.stream));
  CheckCode("aclrtStreamWaitEvent", aclrtStreamWaitEvent(h.stream, h.event));
  CheckCode("aclrtRecordNotify", aclrtRecordNotify(h.notify, h.stream));
  CheckCode("aclrtMemcpy", aclrtMemcpy(h.host, 64, h.device, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  CheckCode("aclrtSynchronizeStream", aclrtSynchronizeStream(h.stream));
  CheckCode("aclrtSynchronizeDevice", aclrtSynchronizeDevice());
  aclrtStream stream = nullptr;
  CheckCode("aclrtCreateStream", aclrtCreateStream(&stream));
  void* block = nullptr;
  CheckCode("aclrtMalloc", aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclGetRecentErrMsg();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

void ReleaseEverything() {
  Handles& h = g_handles;
  CheckCode("aclrtDestroyEvent", aclrtDestroyEvent(h.event));
  CheckCode("aclrtDestroyNotify", aclrtDestroyNotify(h.notify));
  CheckCode("aclrtDestroyStream", aclrtDestroyStream(h.stream));
  CheckCode("aclrtFree", aclrtFree(h.device));
  CheckCode("aclrtFreeHost", aclrtFreeHost(h.host));
  CheckCode("aclrtResetDevice", aclrtResetDevice(0));
  CheckCode("aclFinalize", aclFinalize());
}

struct CallsAtTheEnd {
  ~CallsAtTheEnd() { CallEverything(); }
};

struct ReleasesAtTheEnd {
  ~ReleasesAtTheEnd() { ReleaseEverything(); }
};

// Destroyed after everything else of this program.
ReleasesAtTheEnd g_releases;
CallsAtTheEnd g_calls;

void SetUp() {
  Handles& h = g_handles;
  RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&h.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEvent(&h.event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateNotify(&h.notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&h.device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&h.host, 64), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(h.device, 64, 1, 64, h.stream), ACL_SUCCESS);
}

void MadeBeforeTheLibraryStarted() { SetUp(); }

void MadeAfterTheLibraryStarted() {
  SetUp();
  static CallsAtTheEnd late;
  std::atexit(&CallEverything);
}

void RegisteredBeforeTheLibraryStarted() {
  std::atexit(&CallEverything);
  SetUp();
}

void ThreadLocal() {
  SetUp();
  std::thread([] {
    thread_local CallsAtTheEnd own;
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    static_cast<void>(&own);
  }).join();
}

void NeverUsed() {}

void All() {
  for (const char* mode : {"before", "after", "registered_before", "thread_local", "never_used"}) {
    process_test::ExpectClean(mode);
    process_test::ExpectClean(mode, {{"ROPEWAY_SCHEDULE", "latest"}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  int result = process_test::Main(argc, argv, &All,
                                  {{"before", &MadeBeforeTheLibraryStarted},
                                   {"after", &MadeAfterTheLibraryStarted},
                                   {"registered_before", &RegisteredBeforeTheLibraryStarted},
                                   {"thread_local", &ThreadLocal},
                                   {"never_used", &NeverUsed}});
  if (argc < 2) _exit(result);  // the parent only starts children
  return result;
}
