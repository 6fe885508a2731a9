// A capture for which memory runs out: the call that could not be stored answers 207001, the capture is invalid from then on, and nothing
// of it is left behind.
#include <functional>
#include <vector>

#include "acl/acl.h"
#include "tests/process/process_test.h"
#include "tests/support/failing_memory.h"

namespace {

using failing_memory::FailNth;

constexpr size_t kSize = 64;

struct Objects {
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent crossing = nullptr, external = nullptr, outside = nullptr;
  aclrtNotify notify = nullptr;
  void* block = nullptr;
  void* pinned = nullptr;

  Objects() {
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateEventExWithFlag(&crossing, ACL_EVENT_SYNC), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateEventExWithFlag(&external, ACL_EVENT_SYNC), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateEventWithFlag(&outside, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMallocHost(&pinned, kSize), ACL_SUCCESS);
  }
  ~Objects() {
    for (aclrtStream made : {stream, other}) RW_CHECK_EQ(aclrtDestroyStream(made), ACL_SUCCESS);
    for (aclrtEvent event : {crossing, external, outside}) RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
};

struct Call {
  const char* name;
  std::function<aclError(Objects&)> prepare;  // what is captured in front of it
  std::function<aclError(Objects&)> submit;
};

aclError Nothing(Objects&) { return ACL_SUCCESS; }

const std::vector<Call>& Calls() {
  static const std::vector<Call> calls = {
      {"copy", &Nothing, [](Objects& o) { return aclrtMemcpyAsync(o.block, kSize, o.pinned, kSize, ACL_MEMCPY_HOST_TO_DEVICE, o.stream); }},
      {"memset", &Nothing, [](Objects& o) { return aclrtMemsetAsync(o.block, kSize, 1, kSize, o.stream); }},
      {"value", &Nothing, [](Objects& o) { return aclrtValueWrite(o.block, 1, 0, o.stream); }},
      {"notify", &Nothing, [](Objects& o) { return aclrtRecordNotify(o.notify, o.stream); }},
      {"record", &Nothing, [](Objects& o) { return aclrtRecordEvent(o.crossing, o.stream); }},
      {"join", [](Objects& o) { return aclrtRecordEvent(o.crossing, o.stream); },
       [](Objects& o) { return aclrtStreamWaitEvent(o.other, o.crossing); }},
      {"external record", &Nothing, [](Objects& o) { return aclrtRecordEventWithFlag(o.external, o.stream, ACL_EVENT_RECORD_EXTERNAL); }},
      {"external wait", &Nothing,
       [](Objects& o) { return aclrtStreamWaitEventWithFlag(o.stream, o.external, 0, ACL_EVENT_WAIT_EXTERNAL); }},
      {"classic record", &Nothing, [](Objects& o) { return aclrtRecordEvent(o.outside, o.stream); }},
      {"classic wait", &Nothing, [](Objects& o) { return aclrtStreamWaitEvent(o.stream, o.outside); }},
      {"classic reset", &Nothing, [](Objects& o) { return aclrtResetEvent(o.outside, o.stream); }},
  };
  return calls;
}

aclmdlRICaptureStatus StatusOf(aclrtStream stream) {
  auto status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  RW_CHECK_EQ(aclmdlRICaptureGetInfo(stream, &status, nullptr), ACL_SUCCESS);
  return status;
}

// One capture in which the nth allocation of the call fails. False: it has fewer.
bool FailsAt(const Call& call, int64_t nth) {
  Objects objects;
  aclmdlRI model = nullptr;
  RW_CHECK_EQ(aclmdlRICaptureBegin(objects.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  RW_CHECK_EQ(call.prepare(objects), ACL_SUCCESS);
  aclError code;
  bool failed;
  {
    FailNth failing(nth);
    code = call.submit(objects);
    failed = failing.failed();
  }
  if (failed) {
    RW_CHECK_EQ(code, ACL_ERROR_RT_MEMORY_ALLOCATION);
    RW_CHECK_EQ(StatusOf(objects.stream), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    RW_CHECK_EQ(aclrtMemsetAsync(objects.block, kSize, 1, kSize, objects.stream), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    RW_CHECK_EQ(aclmdlRICaptureEnd(objects.stream, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    RW_CHECK(model == nullptr);
  } else {
    RW_CHECK_EQ(code, ACL_SUCCESS);
    RW_CHECK_EQ(StatusOf(objects.stream), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    if (aclmdlRICaptureEnd(objects.stream, &model) == ACL_SUCCESS) RW_CHECK_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  }
  RW_CHECK_EQ(static_cast<int>(StatusOf(objects.other)), static_cast<int>(ACL_MODEL_RI_CAPTURE_STATUS_NONE));
  for (aclrtStream stream : {objects.stream, objects.other}) RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  return failed;
}

void Run() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  for (const Call& call : Calls()) {
    const int before = process_test::g_failures;
    int64_t nth = 1;
    while (FailsAt(call, nth)) ++nth;
    if (nth == 1) process_test::Fail(__FILE__, __LINE__, "the call allocates nothing");
    if (process_test::g_failures != before) std::cerr << "  the call was: " << call.name << std::endl;
  }
  RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  if (!failing_memory::ReachesLibrary([] { aclrtSetDevice(0); })) return process_test::Skip(failing_memory::kOutOfReach);
  return process_test::Main(argc, argv, &Run, {});
}
