// A program that profiles itself: marks by mstx, records by mspti, and, in the folder that it is given, tables by aclprof. Prints what its
// copies took, and fails when one of them is missing.
//
//   g++ self_profile.cpp -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 -lascendcl -lmsprofiler -lms_tools_ext -lmspti
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "mspti/mspti.h"
#include "mstx/ms_tools_ext.h"

#define CHECK(call)                                                           \
  do {                                                                        \
    const int code = (call);                                                  \
    if (code != 0) {                                                          \
      std::fprintf(stderr, "%s: %d %s\n", #call, code, aclGetRecentErrMsg()); \
      return 1;                                                               \
    }                                                                         \
  } while (0)

namespace {

const int kCopies = 100;
int copies = 0, marks = 0;
uint64_t busy_ns = 0;

void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most) {
  *size = size_t{1} << 20;
  *most = 0;
  *buffer = static_cast<uint8_t*>(std::malloc(*size));
}

void TakeBuffer(uint8_t* buffer, size_t, size_t valid) {
  msptiActivity* record = nullptr;
  while (msptiActivityGetNextRecord(buffer, valid, &record) == MSPTI_SUCCESS) {
    if (record->kind == MSPTI_ACTIVITY_KIND_MARKER) ++marks;
    if (record->kind != MSPTI_ACTIVITY_KIND_MEMCPY) continue;
    const msptiActivityMemcpy* copy = reinterpret_cast<const msptiActivityMemcpy*>(record);
    ++copies;
    busy_ns += copy->end - copy->start;
  }
  std::free(buffer);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t size = 1 << 20;
  void *device = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&host, size));

  uint32_t devices[] = {0};
  aclprofConfig* config =
      aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
  if (argc > 1) {
    CHECK(aclprofInit(argv[1], std::strlen(argv[1])));
    CHECK(aclprofStart(config));
  }
  CHECK(msptiActivityRegisterCallbacks(&GiveBuffer, &TakeBuffer));
  CHECK(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MEMCPY));
  CHECK(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MARKER));

  const mstxRangeId range = mstxRangeStartA("copies", stream);
  for (int i = 0; i < kCopies; ++i) CHECK(aclrtMemcpyAsync(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  mstxRangeEnd(range);
  CHECK(aclrtSynchronizeStream(stream));

  CHECK(msptiActivityFlushAll(0));
  if (argc > 1) CHECK(aclprofStop(config));
  CHECK(aclprofDestroyConfig(config));
  CHECK(aclprofFinalize());
  CHECK(aclrtFreeHost(host));
  CHECK(aclrtFree(device));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("%d copies of 1 MiB in %.3f ms, %d marks\n", copies, static_cast<double>(busy_ns) / 1e6, marks);
  return copies == kCopies && marks == 4 ? 0 : 1;
}
