// Kernels by stand-in: registration, binaries and functions, arguments, launches in stream order, capture and replay, failures.
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "tests/conformance/runtime/runtime_test_util.h"

#ifndef ROPEWAY_TEST_VENDOR
#include "ropeway/kernel.h"

namespace ropeway_test {
namespace kernel_test {

constexpr int kOuter = ACL_ERROR_INVALID_PARAM, kRuntime = ACL_ERROR_RT_PARAM_INVALID, kStale = ACL_ERROR_RT_INVALID_HANDLE;
constexpr uint32_t kBlocks = 8;
constexpr size_t kCount = 1024;

struct AddArguments {
  void *x, *y, *z;
  uint32_t count;
};

// z = x + y.
void Add(const ropewayKernelLaunch* launch, const int32_t* x, const int32_t* y, int32_t* z, uint32_t count) {
  const int32_t* const a = ropeway::View(launch, x, count);
  const int32_t* const b = ropeway::View(launch, y, count);
  int32_t* const sum = ropeway::View(launch, z, count);
  if (a == nullptr || b == nullptr || sum == nullptr) return;
  for (uint32_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}
ROPEWAY_KERNEL(rw_test_add, Add);

// Adds `step` to the first word behind a pointer that is a placeholder's.
struct Step {
  int32_t by;
};
void AddStep(const ropewayKernelLaunch* launch, int32_t* word, const Step* step) {
  int32_t* const at = ropeway::View(launch, word, 1);
  const Step* const read = ropeway::View(launch, step, 1);
  if (at != nullptr && read != nullptr) *at += read->by;
}
ROPEWAY_KERNEL(rw_test_step, AddStep);

void Broken(const ropewayKernelLaunch* launch) { ropewayFailKernel(launch, "this one never works"); }
ROPEWAY_KERNEL(rw_test_broken_7, Broken);

// Says what it was launched with.
struct Seen {
  std::atomic<int> runs{0};
  std::atomic<uint32_t> blocks{0};
  std::atomic<size_t> size{0};
};
void Look(const ropewayKernelLaunch* launch, Seen* seen) {
  seen->runs.fetch_add(1);
  seen->blocks = launch->numBlocks;
  seen->size = launch->argsSize;
}
ROPEWAY_KERNEL(rw_test_look, Look);

// Writes down its shape: blocks, threads of a block, bytes.
void Shape(const ropewayKernelLaunch* launch, uint64_t* out) {
  ropewayKernelShape shape = {};
  ropewayKernelGetShape(launch, &shape);
  uint64_t* const at = ropeway::View(launch, out, 8);
  if (at == nullptr) return;
  for (int i = 0; i < 3; ++i) {
    at[i] = shape.grid[i];
    at[3 + i] = shape.block[i];
  }
  at[6] = shape.dynamicBytes;
  at[7] = launch->numBlocks;
}
ROPEWAY_KERNEL(rw_test_shape, Shape);

class Kernel : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(aclrtBinaryLoadFromData("any bytes", 9, nullptr, &binary_), ACL_SUCCESS);
  }
  void TearDown() override {
    if (binary_ != nullptr) {
      EXPECT_EQ(aclrtBinaryUnLoad(binary_), ACL_SUCCESS);
    }
    StreamTest::TearDown();
  }
  aclrtFuncHandle Function(const char* name) {
    aclrtFuncHandle function = nullptr;
    EXPECT_EQ(aclrtBinaryGetFunction(binary_, name, &function), ACL_SUCCESS);
    return function;
  }
  aclrtBinHandle binary_ = nullptr;
};

// Three blocks of numbers: what is added, and the sum.
struct Numbers {
  DeviceBuffer x{kCount * 4}, y{kCount * 4}, z{kCount * 4};
  std::vector<int32_t> a, b;
  Numbers() : a(kCount), b(kCount) {
    std::iota(a.begin(), a.end(), 1);
    std::iota(b.begin(), b.end(), 1000);
    Put(x, a);
    Put(y, b);
  }
  static void Put(DeviceBuffer& block, const std::vector<int32_t>& numbers) {
    ASSERT_EQ(aclrtMemcpy(block.get(), kCount * 4, numbers.data(), kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  AddArguments arguments() const { return {x.get(), y.get(), z.get(), kCount}; }
  void ExpectSum() const {
    std::vector<int32_t> sum(kCount);
    ASSERT_EQ(aclrtMemcpy(sum.data(), kCount * 4, z.get(), kCount * 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(sum[i], a[i] + b[i]) << i;
  }
};

TEST_F(Kernel, EveryLaunchAdds) {
  const aclrtFuncHandle add = Function("rw_test_add");
  aclrtLaunchKernelAttr attribute = {};
  attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
  aclrtLaunchKernelCfg cfg = {&attribute, 1};
  using Launch = std::function<aclError(AddArguments&)>;
  DeviceBuffer on_device(sizeof(AddArguments));
  const std::pair<const char*, Launch> launches[] = {
      {"host arguments", [&](AddArguments& a) { return aclrtLaunchKernel(add, kBlocks, &a, sizeof(a), stream_); }},
      {"device arguments",
       [&](AddArguments& a) {
         EXPECT_EQ(aclrtMemcpy(on_device.get(), sizeof(a), &a, sizeof(a), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
         return aclrtLaunchKernel(add, kBlocks, on_device.get(), sizeof(a), stream_);
       }},
      {"V2", [&](AddArguments& a) { return aclrtLaunchKernelV2(add, kBlocks, &a, sizeof(a), &cfg, stream_); }},
      {"host args", [&](AddArguments& a) { return aclrtLaunchKernelWithHostArgs(add, kBlocks, stream_, &cfg, &a, sizeof(a), nullptr, 0); }},
      {"array",
       [&](AddArguments& a) {
         void* addresses[] = {&a.x, &a.y, &a.z, &a.count};
         return aclrtLaunchKernelWithArgsArray(add, kBlocks, stream_, &cfg, addresses);
       }},
      {"SIMT array",
       [&](AddArguments& a) {
         void* addresses[] = {&a.x, &a.y, &a.z, &a.count};
         return aclrtLaunchSIMTKernelWithArgsArray(add, kBlocks, 32, 0, stream_, &cfg, addresses);
       }},
      {"by name", [&](AddArguments& a) { return ropewayLaunchKernel("rw_test_add", kBlocks, &a, sizeof(a), stream_); }},
      {"default stream",
       [&](AddArguments& a) {
         const aclError code = aclrtLaunchKernel(add, kBlocks, &a, sizeof(a), nullptr);
         EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
         return code;
       }},
  };
  for (const auto& [name, launch] : launches) {
    SCOPED_TRACE(name);
    Numbers numbers;
    AddArguments arguments = numbers.arguments();
    ASSERT_EQ(launch(arguments), ACL_SUCCESS);
    arguments = {};  // they were the call's only
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
    numbers.ExpectSum();
  }
}

// ROPEWAY_KERNEL says what parameters there are; a plain registration does not, until somebody describes them.
TEST_F(Kernel, ParametersAreKnownOnceTheyAreDescribed) {
  const aclrtFuncHandle add = Function("rw_test_add");
  size_t count = 0, offset = 0, size = 0;
  ASSERT_EQ(aclrtFunctionGetParamCount(add, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 4u);
  ASSERT_EQ(aclrtFunctionGetParamInfo(add, 3, &offset, &size), ACL_SUCCESS);
  EXPECT_EQ(offset, offsetof(AddArguments, count));
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(aclrtFunctionGetParamInfo(add, 4, &offset, &size), kRuntime);
  EXPECT_EQ(aclrtFunctionGetParamCount(nullptr, &count), kOuter);
  EXPECT_EQ(aclrtFunctionGetParamCount(add, nullptr), kOuter);
  EXPECT_EQ(aclrtFunctionGetParamInfo(&count, 0, &offset, &size), kStale);
  void* addresses[] = {&count, &count, &count, nullptr};
  EXPECT_EQ(aclrtLaunchKernelWithArgsArray(add, 1, stream_, nullptr, addresses), kOuter) << "one of them is missing";
  EXPECT_EQ(aclrtLaunchKernelWithArgsArray(add, 1, stream_, nullptr, nullptr), kOuter);

  const auto plain = [](const ropewayKernelLaunch*) {};
  ASSERT_EQ(ropewayRegisterKernel("rw_test_plain", plain), ACL_SUCCESS);
  const aclrtFuncHandle function = Function("rw_test_plain");
  EXPECT_EQ(aclrtFunctionGetParamCount(function, &count), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtLaunchKernelWithArgsArray(function, 1, stream_, nullptr, addresses), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  const ropewayKernelParameter byte_and_word[] = {{1, 1}, {8, 8}}, nothing[] = {{0, 1}}, odd[] = {{8, 3}};
  EXPECT_EQ(ropewayDescribeKernel("rw_test_plain", nothing, 1), kOuter);
  EXPECT_EQ(ropewayDescribeKernel("rw_test_plain", odd, 1), kOuter);
  EXPECT_EQ(ropewayDescribeKernel("rw_test_plain", nullptr, 1), kOuter);
  EXPECT_EQ(ropewayDescribeKernel("rw_test_nobody", byte_and_word, 2), ACL_ERROR_KERNEL_NOT_FOUND);
  EXPECT_EQ(ropewayDescribeKernel("rw_test_plain", byte_and_word, 2), ACL_SUCCESS);
  ASSERT_EQ(aclrtFunctionGetParamInfo(function, 1, &offset, &size), ACL_SUCCESS);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_plain", nullptr), ACL_SUCCESS);
  ASSERT_EQ(ropewayRegisterKernel("rw_test_plain", plain), ACL_SUCCESS);
  EXPECT_EQ(aclrtFunctionGetParamCount(function, &count), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << "it went with the stand-in";
  EXPECT_EQ(ropewayRegisterKernel("rw_test_plain", nullptr), ACL_SUCCESS);
}

// What a stream keeps for a model is judged when the model runs.
TEST_F(Kernel, KeptKernelTouchesNoMemoryThatIsGone) {
  void* word = nullptr;
  ASSERT_EQ(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtStream kept = nullptr;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&kept, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBuildBegin(&model, 0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBindStream(model, kept, 0), ACL_SUCCESS);
  EXPECT_EQ(ropewayLaunchKernel("rw_test_shape", 1, &word, sizeof(word), kept), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIEndTask(model, kept), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIBuildEnd(model, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(word), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(kept), ACL_SUCCESS);
}

TEST_F(Kernel, KnowsItsShape) {
  const aclrtFuncHandle function = Function("rw_test_shape");
  DeviceBuffer out(64);
  void* argument = out.get();
  const auto seen = [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    std::vector<uint64_t> shape(8);
    EXPECT_EQ(aclrtMemcpy(shape.data(), 64, out.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return shape;
  };
  const auto launch = [&](dim3 grid, dim3 block) {
    return aclrtLaunchSIMTKernelWithHostArgs(function, grid, block, 4096, stream_, nullptr, &argument, sizeof(argument), nullptr, 0);
  };
  ASSERT_EQ(launch({2, 3, 4}, {32, 2, 1}), ACL_SUCCESS);
  EXPECT_EQ(seen(), (std::vector<uint64_t>{2, 3, 4, 32, 2, 1, 4096, 24}));
  ASSERT_EQ(aclrtLaunchKernel(function, 5, &argument, sizeof(argument), stream_), ACL_SUCCESS);
  EXPECT_EQ(seen(), (std::vector<uint64_t>{5, 1, 1, 1, 1, 1, 0, 5}));
  EXPECT_EQ(launch({2, 0, 4}, {32, 1, 1}), kRuntime) << "no blocks";
  EXPECT_EQ(launch({1, 1, 1}, {32, 1, 0}), kRuntime) << "no threads";
  EXPECT_EQ(launch({1u << 16, 1u << 16, 1}, {1, 1, 1}), kRuntime) << "more blocks than can be counted";
  EXPECT_EQ(aclrtLaunchSIMTKernelWithHostArgs(nullptr, 1, 1, 0, stream_, nullptr, &argument, 8, nullptr, 0), kOuter);
  EXPECT_EQ(aclrtLaunchSIMTKernelWithHostArgs(function, 1, 1, 0, stream_, nullptr, nullptr, 8, nullptr, 0), kOuter);
  EXPECT_EQ(aclrtLaunchSIMTKernelWithHostArgs(&argument, 1, 1, 0, stream_, nullptr, &argument, 8, nullptr, 0), kStale);
}

TEST_F(Kernel, RunsInTheOrderOfItsStream) {
  Numbers numbers;
  PinnedBuffer out(kCount * 4), in(kCount * 4);
  std::memcpy(in.get(), numbers.a.data(), kCount * 4);
  EXPECT_EQ(aclrtMemset(numbers.x.get(), kCount * 4, 0, kCount * 4), ACL_SUCCESS);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(numbers.x.get(), kCount * 4, in.get(), kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  const AddArguments arguments = numbers.arguments();
  ASSERT_EQ(ropewayLaunchKernel("rw_test_add", 1, &arguments, sizeof(arguments), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(out.get(), kCount * 4, numbers.z.get(), kCount * 4, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const auto* sum = reinterpret_cast<const int32_t*>(out.get());
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(sum[i], numbers.a[i] + numbers.b[i]) << i;
}

// A host function that waits for a kernel of another stream is no deadlock.
TEST_F(Kernel, AHostFunctionMayWaitForOne) {
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  StreamGate gate;
  ASSERT_EQ(gate.Close(other), ACL_SUCCESS);
  gate.AwaitArrival();
  Seen seen;
  Seen* argument = &seen;
  ASSERT_EQ(ropewayLaunchKernel("rw_test_look", 3, &argument, sizeof(argument), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.runs, 1);
  EXPECT_EQ(seen.blocks, 3u);
  EXPECT_EQ(seen.size, sizeof(argument));
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(Kernel, ListsOfArguments) {
  DeviceBuffer word(4);
  word.Write({0, 0, 0, 0});
  const aclrtFuncHandle step = Function("rw_test_step");
  size_t list_size = 0, bytes_size = 0;
  ASSERT_EQ(aclrtKernelArgsGetHandleMemSize(step, &list_size), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsGetMemSize(step, 2 * sizeof(void*) + sizeof(Step), &bytes_size), ACL_SUCCESS);
  std::vector<uint64_t> list_memory(list_size / 8 + 1), bytes_memory(bytes_size / 8 + 1);
  aclrtArgsHandle ours = nullptr, users = list_memory.data();
  ASSERT_EQ(aclrtKernelArgsInit(step, &ours), ACL_SUCCESS);
  ASSERT_EQ(aclrtKernelArgsInitByUserMem(step, users, bytes_memory.data(), bytes_size), ACL_SUCCESS);
  int expected = 0;
  for (aclrtArgsHandle list : {ours, users}) {
    void* address = nullptr;
    aclrtParamHandle first = nullptr, second = nullptr;
    void* buffer = nullptr;
    ASSERT_EQ(aclrtKernelArgsAppend(list, &address, sizeof(address), &first), ACL_SUCCESS);
    ASSERT_EQ(aclrtKernelArgsAppendPlaceHolder(list, &second), ACL_SUCCESS);
    EXPECT_EQ(aclrtKernelArgsFinalize(list), kRuntime) << "the placeholder has no data";
    ASSERT_EQ(aclrtKernelArgsGetPlaceHolderBuffer(list, second, sizeof(Step), &buffer), ACL_SUCCESS);
    static_cast<Step*>(buffer)->by = 5;
    address = word.get();
    ASSERT_EQ(aclrtKernelArgsParaUpdate(list, first, &address, sizeof(address)), ACL_SUCCESS);
    EXPECT_EQ(aclrtKernelArgsParaUpdate(list, first, &address, 4), kRuntime);
    EXPECT_EQ(aclrtKernelArgsParaUpdate(list, second, &address, 8), kRuntime);
    EXPECT_EQ(aclrtKernelArgsGetPlaceHolderBuffer(list, first, 8, &buffer), kRuntime);
    EXPECT_EQ(aclrtKernelArgsGetPlaceHolderBuffer(list, second, 8, &buffer), kRuntime) << "it has one";
    EXPECT_EQ(aclrtKernelArgsParaUpdate(list, Nonsense(), &address, 8), kStale);
    EXPECT_EQ(aclrtLaunchKernelWithConfig(step, 1, stream_, nullptr, list, nullptr), kRuntime) << "not closed yet";
    ASSERT_EQ(aclrtKernelArgsFinalize(list), ACL_SUCCESS);
    EXPECT_EQ(aclrtKernelArgsAppend(list, &address, 8, &first), kRuntime) << "closed";
    EXPECT_EQ(aclrtLaunchKernelWithConfig(Function("rw_test_add"), 1, stream_, nullptr, list, nullptr), kRuntime) << "another's list";
    for (int i = 0; i < 2; ++i) ASSERT_EQ(aclrtLaunchKernelWithConfig(step, 1, stream_, nullptr, list, nullptr), ACL_SUCCESS);
    expected += 10;
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(word.Read(1)[0], expected);
  }
  EXPECT_EQ(aclrtKernelArgsAppend(Nonsense(), &expected, 4, &ours), kStale);
  uint64_t large[300] = {};
  aclrtParamHandle none = nullptr;
  ASSERT_EQ(aclrtKernelArgsInit(step, &ours), ACL_SUCCESS);
  EXPECT_EQ(aclrtKernelArgsAppend(ours, large, sizeof(large), &none), kRuntime);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(aclrtKernelArgsAppend(ours, large, 1, &none), ACL_SUCCESS);
  EXPECT_EQ(aclrtKernelArgsAppend(ours, large, 1, &none), kRuntime);
}

TEST_F(Kernel, PlaceholdersOfHostArguments) {
  DeviceBuffer word(4);
  word.Write({1, 0, 0, 0});
  struct {
    void* word;
    void* step;
    Step data;
  } arguments = {word.get(), nullptr, {41}};
  const aclrtFuncHandle step = Function("rw_test_step");
  aclrtPlaceHolderInfo place = {8, 16};
  ASSERT_EQ(aclrtLaunchKernelWithHostArgs(step, 1, stream_, nullptr, &arguments, sizeof(arguments), &place, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Read(1)[0], 42);
  for (const aclrtPlaceHolderInfo bad : {aclrtPlaceHolderInfo{8, 24}, {20, 0}, {UINT32_MAX, 0}}) {
    place = bad;
    EXPECT_EQ(aclrtLaunchKernelWithHostArgs(step, 1, stream_, nullptr, &arguments, sizeof(arguments), &place, 1), kRuntime);
  }
}

TEST_F(Kernel, EarlierCheckWins) {
  const aclrtFuncHandle look = Function("rw_test_look");
  Seen seen;
  Seen* argument = &seen;
  aclrtStream stale = StaleStream();
  ForeignContext foreign;
  aclrtLaunchKernelAttr attribute = {};
  aclrtLaunchKernelCfg bad_id = {&attribute, 1}, no_list = {nullptr, 1};
  const auto launch = [&](const void* function, uint32_t blocks, const void* args, size_t size, aclrtStream stream) {
    return aclrtLaunchKernel(const_cast<void*>(function), blocks, args, size, stream);
  };
  ExpectAll({
      {"null function", kOuter, [&] { return launch(nullptr, 0, nullptr, 8, stale); }},
      {"null arguments", kOuter, [&] { return launch(look, 0, nullptr, 8, stale); }},
      {"no such function", kStale, [&] { return launch(Nonsense(), 0, Nonsense(), 8, stale); }},
      {"no blocks", kRuntime, [&] { return launch(look, 0, &argument, 8, stale); }},
      {"stale stream", kStale, [&] { return launch(look, 1, &argument, 8, stale); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return WithoutContext([&] { return launch(look, 1, &argument, 8, nullptr); }); }},
      {"other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return launch(look, 1, &argument, 8, foreign.stream()); }},
      {"attribute", kRuntime, [&] { return aclrtLaunchKernelV2(look, 1, &argument, 8, &bad_id, stream_); }},
      {"attributes", kOuter, [&] { return aclrtLaunchKernelV2(look, 1, &argument, 8, &no_list, stream_); }},
      {"null list", kOuter, [&] { return aclrtLaunchKernelWithConfig(look, 1, stream_, nullptr, nullptr, nullptr); }},
      {"reserve", kOuter, [&] { return aclrtLaunchKernelWithConfig(look, 1, stream_, nullptr, Nonsense(), Nonsense()); }},
      {"null host arguments", kOuter, [&] { return aclrtLaunchKernelWithHostArgs(look, 1, stream_, nullptr, nullptr, 8, nullptr, 0); }},
      {"null places", kOuter, [&] { return aclrtLaunchKernelWithHostArgs(look, 1, stream_, nullptr, &argument, 8, nullptr, 1); }},
      {"name", kOuter, [&] { return ropewayLaunchKernel(nullptr, 1, nullptr, 0, stream_); }},
      {"unknown name", ACL_ERROR_RT_KERNEL_LOOKUP, [&] { return ropewayLaunchKernel("rw_test_none", 1, nullptr, 0, stream_); }},
  });
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(seen.runs, 0);
}

TEST_F(Kernel, FewerArgumentsThanItTakes) {
  Seen seen;
  uint32_t half = 0;
  ASSERT_EQ(ropewayLaunchKernel("rw_test_look", 1, &half, sizeof(half), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(TakeErrorText().find("fewer bytes of arguments"), std::string::npos);
  EXPECT_EQ(seen.runs, 0);
}

TEST_F(Kernel, FailuresAreTheStreams) {
  ASSERT_EQ(ropewayLaunchKernel("rw_test_broken_7", 1, nullptr, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find("rw_test_broken_7: this one never works"), std::string::npos) << text;
}

TEST_F(Kernel, AViewOfWhatIsNotThereIsAFailure) {
  DeviceBuffer word(4);
  Step step{1};
  for (void* address : {Nonsense(), static_cast<void*>(word.at(word.size() + (64u << 20)))}) {
    struct {
      void* word;
      void* step;
    } arguments = {address, &step};
    ASSERT_EQ(ropewayLaunchKernel("rw_test_step", 1, &arguments, sizeof(arguments), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_NE(TakeErrorText().find("not inside one live block"), std::string::npos);
  }
}

TEST_F(Kernel, CapturedAndReplayed) {
  DeviceBuffer word(4);
  word.Write({0, 0, 0, 0});
  struct {
    void* word;
    void* step;
    Step data;
  } arguments = {word.get(), nullptr, {3}};
  aclrtPlaceHolderInfo place = {8, 16};
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchKernelWithHostArgs(Function("rw_test_step"), 1, stream_, nullptr, &arguments, sizeof(arguments), &place, 1),
            ACL_SUCCESS);
  arguments = {};
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(word.Read(1)[0], 0) << "captured, and not run";
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(word.Read(1)[0], 3 * i);
  }
  aclrtStream inside = nullptr;
  aclmdlRITask task = nullptr;
  aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
  uint32_t one = 1;
  ASSERT_EQ(aclmdlRIGetStreams(model, &inside, &one), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIGetTasksByStream(inside, &task, &one), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRITaskGetType(task, &type), ACL_SUCCESS);
  EXPECT_EQ(type, ACL_MODEL_RI_TASK_KERNEL);
  EXPECT_EQ(aclrtBinaryUnLoad(binary_), ACL_SUCCESS);
  binary_ = nullptr;
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS) << "a graph has what it captured";
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(word.Read(1)[0], 12);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(Kernel, AFailureInAGraphIsTheStreams) {
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(ropewayLaunchKernel("rw_test_broken_7", 1, nullptr, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(Kernel, UnloadingLeavesWhatIsQueued) {
  Seen seen;
  Seen* argument = &seen;
  const aclrtFuncHandle look = Function("rw_test_look");
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchKernel(look, 1, &argument, sizeof(argument), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtBinaryUnLoad(binary_), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchKernel(look, 1, &argument, sizeof(argument), stream_), kStale);
  aclrtFuncHandle function = nullptr;
  EXPECT_EQ(aclrtBinaryGetFunction(binary_, "rw_test_look", &function), kStale);
  EXPECT_EQ(aclrtBinaryUnLoad(binary_), kStale);
  binary_ = nullptr;
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.runs, 1);
}

TEST_F(Kernel, AStreamThatEndsDropsWhatWasNotBegun) {
  Seen seen;
  Seen* argument = &seen;
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  StreamGate gate;
  ASSERT_EQ(gate.Close(other), ACL_SUCCESS);
  gate.AwaitArrival();
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(ropewayLaunchKernel("rw_test_look", 1, &argument, sizeof(argument), other), ACL_SUCCESS);
  }
  std::thread opens([&] { gate.Open(); });
  EXPECT_EQ(aclrtStreamAbort(other), ACL_SUCCESS);
  opens.join();
  EXPECT_EQ(aclrtDestroyStreamForce(other), ACL_SUCCESS);
  EXPECT_LE(seen.runs, 10) << "and nothing is leaked";
}

TEST_F(Kernel, Binaries) {
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr, again = nullptr;
  aclrtBinary image = aclrtCreateBinary("image", 5);
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(aclrtCreateBinary(nullptr, 5), nullptr);
  EXPECT_EQ(aclrtCreateBinary("image", 0), nullptr);
  EXPECT_EQ(aclrtBinaryLoad(nullptr, &binary), kOuter);
  EXPECT_EQ(aclrtBinaryLoad(image, nullptr), kOuter);
  ASSERT_EQ(aclrtBinaryLoad(image, &binary), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyBinary(image), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyBinary(image), kStale);
  EXPECT_EQ(aclrtDestroyBinary(nullptr), kOuter);
  EXPECT_EQ(aclrtBinaryLoad(image, &binary), kStale);
  EXPECT_EQ(aclrtBinaryLoadFromFile("/no/such/kernel.o", nullptr, &binary), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclrtBinaryLoadFromFile(nullptr, nullptr, &binary), kOuter);
  EXPECT_EQ(aclrtBinaryLoadFromData(nullptr, 1, nullptr, &binary), kOuter);
  EXPECT_EQ(aclrtBinaryLoadFromData("x", 0, nullptr, &binary), kOuter);
  aclrtBinaryLoadOption option = {};
  aclrtBinaryLoadOptions options = {&option, 1};
  EXPECT_EQ(aclrtBinaryLoadFromData("x", 1, &options, &binary), kOuter) << "type 0";
  option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
  aclrtBinHandle lazy = nullptr;
  ASSERT_EQ(aclrtBinaryLoadFromData("x", 1, &options, &lazy), ACL_SUCCESS);
  EXPECT_EQ(aclrtBinaryUnLoad(lazy), ACL_SUCCESS);

  ASSERT_EQ(aclrtBinaryGetFunction(binary, "rw_test_add", &function), ACL_SUCCESS);
  ASSERT_EQ(aclrtBinaryGetFunction(binary, "rw_test_add", &again), ACL_SUCCESS);
  EXPECT_EQ(function, again);
  EXPECT_NE(function, Function("rw_test_add")) << "of another binary";
  EXPECT_EQ(aclrtBinaryGetFunctionByEntry(binary, 7, &function), ACL_SUCCESS);
  char name[32] = {};
  EXPECT_EQ(aclrtGetFunctionName(function, sizeof(name), name), ACL_SUCCESS);
  EXPECT_STREQ(name, "rw_test_broken_7");
  EXPECT_EQ(aclrtGetFunctionName(function, 16, name), kRuntime) << "no room for its end";
  EXPECT_EQ(aclrtBinaryGetFunctionByEntry(binary, 8, &function), ACL_ERROR_RT_KERNEL_LOOKUP);
  EXPECT_EQ(aclrtRegisterCpuFunc(binary, "rw_test_look", "Look", &function), ACL_SUCCESS);
  aclrtBinHandle owner = nullptr;
  EXPECT_EQ(aclrtFunctionGetBinary(function, &owner), ACL_SUCCESS);
  EXPECT_EQ(owner, binary);
  int64_t value = -1;
  EXPECT_EQ(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_RATIO, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);
  EXPECT_EQ(aclrtFunctionGetBinary(function, &owner), kStale);
  EXPECT_EQ(aclrtGetFunctionName(function, sizeof(name), name), kStale);
  EXPECT_EQ(aclrtKernelArgsInit(function, &again), kStale);
  EXPECT_EQ(aclrtKernelArgsFinalize(Nonsense()), kStale);
  EXPECT_EQ(aclrtBinaryLoadFromData(Nonsense(), 4096, nullptr, &binary), ACL_SUCCESS) << "nobody looks into it";
  EXPECT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);
}

TEST_F(Kernel, AnUnknownOneIsNamedWithTheWayOut) {
  aclrtFuncHandle function = nullptr;
  EXPECT_EQ(aclrtBinaryGetFunction(binary_, "rw_test_none", &function), ACL_ERROR_RT_KERNEL_LOOKUP);
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find("rw_test_none"), std::string::npos) << text;
  EXPECT_NE(text.find("ropewayRegisterKernel"), std::string::npos) << text;
  EXPECT_NE(text.find("rw_test_add"), std::string::npos) << "what there is: " << text;
}

TEST_F(Kernel, Registration) {
  const auto first = [](const ropewayKernelLaunch*) {};
  const auto second = [](const ropewayKernelLaunch* launch) { ropewayFailKernel(launch, nullptr); };
  EXPECT_EQ(ropewayRegisterKernel(nullptr, first), kOuter);
  EXPECT_EQ(ropewayRegisterKernel("", first), kOuter);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", nullptr), ACL_ERROR_KERNEL_NOT_FOUND);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", first), ACL_SUCCESS);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", first), ACL_SUCCESS) << "the same again";
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", second), ACL_ERROR_KERNEL_ALREADY_REGISTERED);
  const aclrtFuncHandle mine = Function("rw_test_mine");
  EXPECT_EQ(aclrtLaunchKernel(mine, 1, nullptr, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchKernel(mine, 1, nullptr, 0, stream_), ACL_ERROR_RT_KERNEL_LOOKUP) << "taken back";
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", second), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchKernel(mine, 1, nullptr, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(ropewayRegisterKernel("rw_test_mine", nullptr), ACL_SUCCESS);
}

TEST_F(Kernel, ManyThreadsRegisterLoadAndLaunch) {
  constexpr int kThreads = 4, kRounds = 50;
  Seen seen;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      const std::string own = "rw_test_thread_" + std::to_string(t);
      Seen* argument = &seen;
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(ropewayRegisterKernel(own.c_str(), [](const ropewayKernelLaunch*) {}), ACL_SUCCESS);
        aclrtBinHandle binary = nullptr;
        aclrtFuncHandle function = nullptr;
        ASSERT_EQ(aclrtBinaryLoadFromData("x", 1, nullptr, &binary), ACL_SUCCESS);
        ASSERT_EQ(aclrtBinaryGetFunction(binary, own.c_str(), &function), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchKernel(function, 1, nullptr, 0, stream_), ACL_SUCCESS);
        ASSERT_EQ(aclrtBinaryGetFunction(binary, "rw_test_look", &function), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchKernel(function, 1, &argument, sizeof(argument), stream_), ACL_SUCCESS);
        ASSERT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);
        ASSERT_EQ(ropewayRegisterKernel(own.c_str(), nullptr), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.runs, kThreads * kRounds);
}

// --- Views in host functions --------------------------------------------------------------------------------------------
// Adds 1 to all numbers but the last, and 100 to the second by a view inside that view.
struct Counting {
  int32_t* numbers;
  size_t count;
  aclError whole = -1, inner = -1, across = -1;
  static void Run(void* argument) {
    auto* const self = static_cast<Counting*>(argument);
    void *all = nullptr, *second = nullptr;
    self->whole = ropewayHostView(self->numbers, (self->count - 1) * sizeof(int32_t), &all);
    self->inner = ropewayHostView(self->numbers + 1, sizeof(int32_t), &second);
    if (self->whole != ACL_SUCCESS || self->inner != ACL_SUCCESS) return;
    for (size_t i = 0; i + 1 < self->count; ++i) static_cast<int32_t*>(all)[i] += 1;
    *static_cast<int32_t*>(second) += 100;
    self->across = ropewayHostView(self->numbers + self->count - 2, 2 * sizeof(int32_t), &second);
  }
  void Expect() const {
    EXPECT_EQ(whole, ACL_SUCCESS);
    EXPECT_EQ(inner, ACL_SUCCESS);
    EXPECT_EQ(across, EngineHasHostViews() ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID) << "a copy beside a copy of the same byte";
  }
};

std::vector<int32_t> NumbersIn(const DeviceBuffer& block) {
  std::vector<int32_t> numbers(block.size() / 4);
  EXPECT_EQ(aclrtMemcpy(numbers.data(), block.size(), block.get(), block.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return numbers;
}

// Written once for all engines: what stands in front of the function is in the view, and what it writes is there for what stands behind.
TEST_F(Kernel, AHostFunctionHasViewsOfItsStreamsMemory) {
  DeviceBuffer block(16), copy(16);
  Counting counting{static_cast<int32_t*>(static_cast<void*>(block.get())), 4};
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 16, 0, 16, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Counting::Run, &counting), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(copy.get(), 16, block.get(), 16, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Counting::Run, &counting), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  counting.Expect();
  EXPECT_EQ(NumbersIn(copy), (std::vector<int32_t>{1, 101, 1, 0}));
  EXPECT_EQ(NumbersIn(block), (std::vector<int32_t>{2, 202, 2, 0}));
}

TEST_F(Kernel, ACapturedHostFunctionHasViewsAtEveryReplay) {
  DeviceBuffer block(16);
  Counting counting{static_cast<int32_t*>(static_cast<void*>(block.get())), 4};
  ASSERT_EQ(aclrtMemset(block.get(), 16, 0, 16), ACL_SUCCESS);
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Counting::Run, &counting), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  counting.Expect();
  EXPECT_EQ(NumbersIn(block), (std::vector<int32_t>{3, 303, 3, 0}));
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(Kernel, OutsideOfFunctionsAViewIsRefusedWhereItWouldBeACopy) {
  DeviceBuffer block(16);
  void* view = nullptr;
  if (EngineHasHostViews()) {
    EXPECT_EQ(ropewayHostView(block.get(), 16, &view), ACL_SUCCESS);
    return;
  }
  EXPECT_EQ(ropewayHostView(block.get(), 16, &view), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclrtLaunchHostFunc"), std::string::npos);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "who only asks has not failed";
}

}  // namespace kernel_test
}  // namespace ropeway_test
#endif
