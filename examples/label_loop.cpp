// A loop inside a model: device memory decides how often it runs. The program builds the model once; each execution doubles a number until
// the host function that looks at it says "leave".
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "acl/acl.h"

static void Must(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "error %d: %s\n", code, text != nullptr ? text : "(no message)");
  std::exit(1);
}

// What host and device tell each other, in pinned memory.
struct Talk {
  int32_t number;  // as the device has it
  uint32_t label;  // where to go next: 0 again, 1 leave
  int rounds;
};

static const int32_t kLimit = 1000;

static void Decide(void* argument) {
  Talk* talk = static_cast<Talk*>(argument);
  ++talk->rounds;
  talk->label = talk->number < kLimit ? 0 : 1;
}

int main() {
  void *pinned, *number, *label_index;
  aclrtStream stored, executing;
  aclmdlRI model;
  aclrtLabel labels[2];
  aclrtLabelList list;
  Must(aclInit(nullptr));
  Must(aclrtSetDevice(0));
  Must(aclrtMallocHost(&pinned, sizeof(Talk)));
  Must(aclrtMalloc(&number, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Must(aclrtMalloc(&label_index, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Talk* talk = static_cast<Talk*>(pinned);

  // A stream that is bound to a model keeps its tasks. This one starts with the model (flag 0).
  Must(aclrtCreateStreamWithConfig(&stored, 0, ACL_STREAM_PERSISTENT));
  Must(aclmdlRIBuildBegin(&model, 0));
  Must(aclmdlRIBindStream(model, stored, 0));

  // Labels are put into a list before they are set; the index chooses from the list.
  for (int i = 0; i < 2; ++i) Must(aclrtCreateLabel(&labels[i]));
  Must(aclrtCreateLabelList(labels, 2, &list));

  Must(aclrtSetLabel(labels[0], stored));
  Must(aclrtReduceAsync(number, number, sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stored, nullptr));
  Must(aclrtMemcpyAsync(&talk->number, sizeof(int32_t), number, sizeof(int32_t), ACL_MEMCPY_DEVICE_TO_HOST, stored));
  Must(aclrtLaunchHostFunc(stored, &Decide, talk));
  Must(aclrtMemcpyAsync(label_index, 64, &talk->label, sizeof(uint32_t), ACL_MEMCPY_HOST_TO_DEVICE, stored));
  Must(aclrtSwitchLabelByIndex(label_index, 2, list, stored));
  Must(aclrtSetLabel(labels[1], stored));
  Must(aclmdlRIEndTask(model, stored));
  Must(aclmdlRIBuildEnd(model, nullptr));

  Must(aclrtCreateStream(&executing));
  bool right = true;
  for (int32_t start : {1, 3, 600}) {
    int32_t expected = start;
    int rounds = 0;
    for (; expected < kLimit; ++rounds) expected *= 2;
    talk->rounds = 0;
    Must(aclrtMemcpy(number, 64, &start, sizeof(start), ACL_MEMCPY_HOST_TO_DEVICE));
    Must(aclmdlRIExecuteAsync(model, executing));
    Must(aclrtSynchronizeStream(executing));
    std::printf("%d became %d in %d rounds\n", start, talk->number, talk->rounds);
    right = right && talk->number == expected && talk->rounds == rounds;
  }

  Must(aclmdlRIDestroy(model));
  Must(aclrtDestroyLabelList(list));
  for (aclrtLabel label : labels) Must(aclrtDestroyLabel(label));
  Must(aclrtDestroyStream(stored));
  Must(aclrtDestroyStream(executing));
  Must(aclrtFree(number));
  Must(aclrtFree(label_index));
  Must(aclrtFreeHost(pinned));
  return right ? 0 : 1;
}
