// A captured graph with a loop in it: a number in device memory says how often the loop's body runs. Inside, an IF adds a bonus while a
// flag is set. What runs is decided on the device, at every replay anew.
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

static void* NumberOnDevice(int64_t value) {
  void* address;
  Must(aclrtMalloc(&address, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  Must(aclrtMemcpy(address, 64, &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE));
  return address;
}

static void Add(void* sum, void* number, aclrtStream stream) {
  Must(aclrtReduceAsync(sum, number, sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr));
}

// A condition of `model` that is zero whenever the graph starts, and the place of its 64 bits.
static aclmdlRICondHandle Condition(aclmdlRI model, uint64_t** variable) {
  aclmdlRICondHandle handle;
  Must(aclmdlRICondHandleCreate(model, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle));
  Must(aclmdlRICondHandleGetCondPtr(handle, variable));
  return handle;
}

// The one body of a condition, to be captured.
static aclmdlRI Body(aclmdlRICondHandle handle, aclmdlRICondTaskType type, aclrtStream stream) {
  aclmdlRI body;
  const aclmdlRICondTaskParams task = {handle, type, 1, &body};
  Must(aclmdlRIAddCondTask(task, stream, 0));
  return body;
}

int main() {
  aclrtStream stream, in_loop, in_if;
  aclmdlRI model;
  uint64_t *rounds_left, *flag;
  Must(aclInit(nullptr));
  Must(aclrtSetDevice(0));
  for (aclrtStream* each : {&stream, &in_loop, &in_if}) Must(aclrtCreateStream(each));
  void* const sum = NumberOnDevice(0);
  void* const one = NumberOnDevice(1);
  void* const minus_one = NumberOnDevice(-1);
  void* const bonus = NumberOnDevice(10);
  void* const rounds = NumberOnDevice(0);
  void* const wants_bonus = NumberOnDevice(0);

  Must(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  Must(aclmdlRICaptureGetInfo(stream, nullptr, &model));
  const aclmdlRICondHandle loop = Condition(model, &rounds_left);
  Must(aclrtMemcpyAsync(rounds_left, 8, rounds, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  const aclmdlRI loop_body = Body(loop, ACL_MODEL_RI_COND_TYPE_WHILE, stream);

  // A body is captured on another stream while the graph itself is still open, and may have conditions of its own.
  Must(aclmdlRICaptureToModelRIBegin(in_loop, loop_body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  Add(sum, one, in_loop);
  const aclmdlRICondHandle choice = Condition(loop_body, &flag);
  Must(aclrtMemcpyAsync(flag, 8, wants_bonus, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, in_loop));
  const aclmdlRI if_body = Body(choice, ACL_MODEL_RI_COND_TYPE_IF, in_loop);
  Must(aclmdlRICaptureToModelRIBegin(in_if, if_body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  Add(sum, bonus, in_if);
  Must(aclmdlRICaptureEnd(in_if, nullptr));
  Add(rounds_left, minus_one, in_loop);  // without it the loop would never end
  Must(aclmdlRICaptureEnd(in_loop, nullptr));
  Must(aclmdlRICaptureEnd(stream, &model));

  const int64_t cases[][2] = {{3, 0}, {2, 1}, {0, 1}, {4, 0}};
  int32_t expected = 0;
  bool same = true;
  for (const auto& each : cases) {
    int32_t result = 0;
    Must(aclrtMemcpy(rounds, 64, &each[0], 8, ACL_MEMCPY_HOST_TO_DEVICE));
    Must(aclrtMemcpy(wants_bonus, 64, &each[1], 8, ACL_MEMCPY_HOST_TO_DEVICE));
    Must(aclmdlRIExecuteAsync(model, stream));
    Must(aclrtSynchronizeStream(stream));
    Must(aclrtMemcpy(&result, sizeof(result), sum, sizeof(result), ACL_MEMCPY_DEVICE_TO_HOST));
    expected += static_cast<int32_t>(each[0] * (each[1] != 0 ? 11 : 1));
    std::printf("%d rounds, %s bonus: the sum is %d\n", static_cast<int>(each[0]), each[1] != 0 ? "with" : "without", result);
    same = same && result == expected;
  }

  Must(aclmdlRIDestroy(model));
  for (aclrtStream each : {stream, in_loop, in_if}) Must(aclrtDestroyStream(each));
  for (void* number : {sum, one, minus_one, bonus, rounds, wants_bonus}) Must(aclrtFree(number));
  return same ? 0 : 1;
}
