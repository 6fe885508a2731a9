// A model built by hand out of three streams. The first starts with the model and activates the second, which works beside it; both meet
// again by a notify. A number in device memory then decides whether the third stream takes over, which adds a bonus, or the first one ends
// as it is.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "acl/acl.h"

static const uint32_t kStartsWithTheModel = 0;
static const uint32_t kIsStartedByATask = 0x7FFFFFFF;

static void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "error %d: %s\n", code, text != nullptr ? text : "(no message)");
  std::exit(1);
}

static void* NumberOnDevice(int32_t value) {
  void* address;
  Must(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Must(aclrtMemcpy(address, 64, &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
  return address;
}

static void Add(void* sum, void* number, aclrtStream stream) {
  Must(aclrtReduceAsync(sum, number, sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr));
}

int main() {
  aclrtStream first, second, third, last, executing;
  aclrtNotify second_done, all_done;
  aclmdlRI model;
  Must(aclInit(nullptr));
  Must(aclrtSetDevice(0));
  void* const left = NumberOnDevice(0);
  void* const right = NumberOnDevice(0);
  void* const one = NumberOnDevice(1);
  void* const bonus = NumberOnDevice(100);
  void* const wants_bonus = NumberOnDevice(0);

  Must(aclrtCreateNotify(&second_done, ACL_NOTIFY_DEFAULT));
  Must(aclrtCreateNotify(&all_done, ACL_NOTIFY_DEFAULT));
  Must(aclmdlRIBuildBegin(&model, 0));
  for (aclrtStream* stream : {&first, &second, &third, &last}) {
    const bool head = stream == &first || stream == &last;
    Must(aclrtCreateStreamWithConfig(stream, 0, ACL_STREAM_PERSISTENT));
    Must(aclmdlRIBindStream(model, *stream, head ? kStartsWithTheModel : kIsStartedByATask));
  }

  Must(aclrtActiveStream(second, first));
  Add(left, one, first);
  Add(right, one, second);
  Must(aclrtRecordNotify(second_done, second));
  Must(aclrtWaitAndResetNotify(second_done, first, 0));
  Add(left, right, first);
  // If the number is 1, the third stream runs in the place of the rest of the first.
  Must(aclrtSwitchStream(wants_bonus, ACL_RT_EQUAL, one, ACL_RT_SWITCH_INT32, third, nullptr, first));
  Must(aclrtRecordNotify(all_done, first));
  Add(left, bonus, third);
  Must(aclrtRecordNotify(all_done, third));
  // The model is over when this mark is reached, so it waits for whichever of the two came to its end.
  Must(aclrtWaitAndResetNotify(all_done, last, 0));
  Must(aclmdlRIEndTask(model, last));
  Must(aclmdlRIBuildEnd(model, nullptr));

  Must(aclrtCreateStream(&executing));
  const int32_t choices[] = {0, 1, 0};
  const int32_t expected[] = {2, 105, 109};  // one each, and the right sum (1, 2, 3) on top; the bonus once
  bool same = true;
  for (int i = 0; i < 3; ++i) {
    int32_t result = 0;
    Must(aclrtMemcpy(wants_bonus, 64, &choices[i], sizeof(int32_t), ACL_MEMCPY_HOST_TO_DEVICE));
    Must(aclmdlRIExecuteAsync(model, executing));
    Must(aclrtSynchronizeStream(executing));
    Must(aclrtMemcpy(&result, sizeof(result), left, sizeof(result), ACL_MEMCPY_DEVICE_TO_HOST));
    std::printf("execution %d, %s bonus: %d\n", i + 1, choices[i] != 0 ? "with" : "without", result);
    same = same && result == expected[i];
  }

  Must(aclmdlRIDestroy(model));  // its streams are ordinary again
  for (aclrtStream stream : {first, second, third, last, executing}) Must(aclrtDestroyStream(stream));
  for (aclrtNotify notify : {second_done, all_done}) Must(aclrtDestroyNotify(notify));
  for (void* number : {left, right, one, bonus, wants_bonus}) Must(aclrtFree(number));
  return same ? 0 : 1;
}
