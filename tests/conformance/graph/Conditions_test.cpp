// Conditions in captured graphs (rules/graphs.md 8): the order of checks, which body runs, loops, nesting, and what becomes of captures
// that are not complete.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace conditions_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM, kStale = ACL_ERROR_RT_INVALID_HANDLE, kParam = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kNoContext = ACL_ERROR_RT_CONTEXT_NULL, kOtherContext = ACL_ERROR_RT_STREAM_CONTEXT;
constexpr aclError kOtherModelContext = ACL_ERROR_RT_MODEL_CONTEXT, kBinding = ACL_ERROR_RT_STREAM_MODEL;
constexpr aclError kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT, kIncomplete = ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING;
constexpr auto kKeep = static_cast<aclmdlRICondHandleFlag>(0);
constexpr auto kAssign = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
constexpr auto kIf = ACL_MODEL_RI_COND_TYPE_IF;
constexpr auto kWhile = ACL_MODEL_RI_COND_TYPE_WHILE;
constexpr auto kSwitch = ACL_MODEL_RI_COND_TYPE_SWITCH;

class ConditionTest : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    inner_ = NewStream();
  }

  struct Variable {
    aclmdlRICondHandle handle = nullptr;
    uint64_t* address = nullptr;
  };
  static Variable NewVariable(aclmdlRI model, uint32_t initial = 0, aclmdlRICondHandleFlag flag = kAssign) {
    Variable made;
    EXPECT_EQ(aclmdlRICondHandleCreate(model, initial, flag, &made.handle), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICondHandleGetCondPtr(made.handle, &made.address), ACL_SUCCESS);
    return made;
  }
  // The task on `stream`, and the models of its bodies.
  static std::vector<aclmdlRI> AddTask(aclrtStream stream, const Variable& variable, aclmdlRICondTaskType type, uint32_t size) {
    std::vector<aclmdlRI> bodies(size);
    EXPECT_EQ(aclmdlRIAddCondTask({variable.handle, type, size, bodies.data()}, stream, 0), ACL_SUCCESS);
    return bodies;
  }
  template <typename Work>
  static void CaptureBody(aclrtStream stream, aclmdlRI body, Work work) {
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(stream, body, kRelaxed), ACL_SUCCESS);
    EXPECT_EQ(OpenModelOf(stream), body);
    work();
    aclmdlRI ended = nullptr;
    ASSERT_EQ(aclmdlRICaptureEnd(stream, &ended), ACL_SUCCESS);
    EXPECT_EQ(ended, body);
  }

  aclrtStream inner_ = nullptr;
};

// --- Checks -------------------------------------------------------------------------------------------------------------

using ConditionChecks = ConditionTest;

struct Args : CallArgs {
  aclmdlRI model = nullptr;
  aclmdlRICondHandle handle = nullptr;
  aclrtStream stream = nullptr;
  int flag = 0;
  bool no_output = false;
  uint32_t type = kIf;
  uint32_t size = 1;
  uint32_t flags = 0;
  int mode = kRelaxed;
};

TEST_F(ConditionChecks, HandleCreate) {
  ForeignContext foreign;
  aclmdlRI elsewhere = nullptr, by_hand = nullptr;
  foreign.Run([&] {
    Begin(foreign.stream());
    elsewhere = OpenModelOf(foreign.stream());
  });
  ASSERT_EQ(aclmdlRIBuildBegin(&by_hand, 0), ACL_SUCCESS);
  Begin(stream_);
  Model ended = End(stream_);
  aclmdlRI stale = StaleModel(stream_);
  Begin(stream_);
  Args valid;
  valid.model = OpenModelOf(stream_);
  aclmdlRICondHandle made = nullptr;
  const std::vector<Check<Args>> checks = {
      {"model NULL", kNull, [](Args& a) { a.model = nullptr; }},
      {"output NULL", kNull, [](Args& a) { a.no_output = true; }},
      {"stale model", kStale, [&](Args& a) { a.model = stale; }},
      {"flag", kParam, [](Args& a) { a.flag = 2; }},
      {"built by hand", kRefused, [&](Args& a) { a.model = by_hand; }},
      {"not capturing", kParam, [&](Args& a) { a.model = ended.get(); }},
      {"no context", kNoContext, [](Args& a) { a.without_context = true; }},
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = elsewhere; }},
  };
  auto call = [&](const Args& a) {
    return aclmdlRICondHandleCreate(a.model, 0, static_cast<aclmdlRICondHandleFlag>(a.flag), a.no_output ? nullptr : &made);
  };
  ExpectCheckOrder("aclmdlRICondHandleCreate", valid, checks, call, [&] { EXPECT_EQ(made, nullptr); });
  uint64_t *first = nullptr, *second = nullptr;
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(nullptr, nullptr), kNull);
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(Nonsense(), nullptr), kNull);
  EXPECT_EQ(WithoutContext([&] { return aclmdlRICondHandleGetCondPtr(Nonsense(), &first); }), kStale);
  EXPECT_EQ(WithoutContext([&] { return aclmdlRICondHandleGetCondPtr(made, &first); }), kNoContext);
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(made, &first), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(made, &second), ACL_SUCCESS);
  EXPECT_EQ(first, second);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(made, &first), kStale) << "it went with the model";
  EXPECT_EQ(aclmdlRIDestroy(by_hand), ACL_SUCCESS);
}

TEST_F(ConditionChecks, AddCondTask) {
  ForeignContext foreign;
  aclrtStream other = NewStream();
  Begin(other);
  Begin(stream_);
  aclmdlRI root = OpenModelOf(stream_);
  const Variable of_other = NewVariable(OpenModelOf(other)), used = NewVariable(root);
  CaptureBody(inner_, AddTask(stream_, used, kIf, 1)[0], [] {});
  Args valid;
  valid.handle = NewVariable(root).handle;
  valid.stream = stream_;
  aclmdlRI bodies[4] = {};
  const std::vector<Check<Args>> checks = {
      {"stream NULL", kNull, [](Args& a) { a.stream = nullptr; }},
      {"stale handle", kStale, [](Args& a) { a.handle = Nonsense(); }},
      {"stale stream", kStale, [](Args& a) { a.stream = Nonsense(); }},
      {"type", kParam, [](Args& a) { a.type = 3; }},
      {"flags", kParam, [](Args& a) { a.flags = 1; }},
      {"handle NULL", kParam, [](Args& a) { a.handle = nullptr; }},
      {"array NULL", kParam, [](Args& a) { a.no_output = true; }},
      {"handle used", kParam, [&](Args& a) { a.handle = used.handle; }},
      {"no context", kNoContext, [](Args& a) { a.without_context = true; }},
      {"stream of another context", kOtherContext, [&](Args& a) { a.stream = foreign.stream(); }},
      {"not capturing", ACL_ERROR_RT_STREAM_NOT_CAPTURED, [&](Args& a) { a.stream = inner_; }},
      {"handle of another model", kParam, [&](Args& a) { a.handle = of_other.handle; }},
      {"size", kParam, [](Args& a) { a.size = 3; }},
  };
  auto call = [&](const Args& a) {
    return aclmdlRIAddCondTask({a.handle, static_cast<aclmdlRICondTaskType>(a.type), a.size, a.no_output ? nullptr : bodies}, a.stream,
                               a.flags);
  };
  ExpectCheckOrder("aclmdlRIAddCondTask", valid, checks, call, [&] { EXPECT_EQ(bodies[0], nullptr); });
  const std::pair<aclmdlRICondTaskType, uint32_t> sizes[] = {{kIf, 0}, {kWhile, 0}, {kWhile, 2}, {kSwitch, 0}};
  for (auto [type, size] : sizes) {
    const Variable fresh = NewVariable(root);
    EXPECT_EQ(aclmdlRIAddCondTask({fresh.handle, type, size, bodies}, stream_, 0), kParam) << type << ", " << size;
  }
  CaptureBody(inner_, bodies[0], [] {});
  End(stream_);
}

TEST_F(ConditionChecks, CaptureToModelRIBegin) {
  ForeignContext foreign;
  aclmdlRI by_hand = nullptr;
  aclrtStream bound = NewStream(ACL_STREAM_PERSISTENT), scheduled = NewStream(ACL_STREAM_CPU_SCHEDULE), capturing = NewStream();
  ASSERT_EQ(aclmdlRIBuildBegin(&by_hand, 0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBindStream(by_hand, bound, 0), ACL_SUCCESS);
  Begin(capturing);
  Begin(stream_);
  aclmdlRI root = OpenModelOf(stream_);
  const auto bodies = AddTask(stream_, NewVariable(root), kIf, 2);
  CaptureBody(inner_, bodies[0], [] {});
  Args valid;
  valid.stream = inner_;
  valid.model = bodies[1];
  const std::vector<Check<Args>> checks = {
      {"stream NULL", kNull, [](Args& a) { a.stream = nullptr; }},
      {"model NULL", kNull, [](Args& a) { a.model = nullptr; }},
      {"stale model", kStale, [](Args& a) { a.model = Nonsense(); }},
      {"stale stream", kStale, [](Args& a) { a.stream = Nonsense(); }},
      {"mode", kParam, [](Args& a) { a.mode = 3; }},
      {"kind of stream", ACL_ERROR_RT_INTERNAL_ERROR, [&](Args& a) { a.stream = scheduled; }},
      {"not a body", kParam, [&](Args& a) { a.model = root; }},
      {"no context", kNoContext, [](Args& a) { a.without_context = true; }},
      {"stream of another context", kOtherContext, [&](Args& a) { a.stream = foreign.stream(); }},
      {"bound", kBinding, [&](Args& a) { a.stream = bound; }},
      {"captured before", ACL_ERROR_RT_MODEL_CAPTURED, [&](Args& a) { a.model = bodies[0]; }},
      {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = capturing; }},
  };
  auto call = [&](const Args& a) { return aclmdlRICaptureToModelRIBegin(a.stream, a.model, static_cast<aclmdlRICaptureMode>(a.mode)); };
  ExpectCheckOrder("aclmdlRICaptureToModelRIBegin", valid, checks, call, [&] { EXPECT_EQ(CaptureStatusOf(inner_), kIdle); });
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(NewStream(), bodies[1], kRelaxed), ACL_ERROR_RT_MODEL_CAPTURED) << "now";
  EXPECT_EQ(aclmdlRICaptureEnd(inner_, nullptr), ACL_SUCCESS) << "a body's output may be null";
  End(stream_);
  EXPECT_EQ(aclmdlRIDestroy(by_hand), ACL_SUCCESS);
}

TEST_F(ConditionChecks, ABodyIsNothingByItself) {
  TestEvent external(EventKind::kEx), classic(EventKind::kClassic, ACL_EVENT_EXTERNAL);
  Begin(stream_);
  aclmdlRI body = AddTask(stream_, NewVariable(OpenModelOf(stream_)), kIf, 1)[0];
  CaptureBody(inner_, body, [&] {
    EXPECT_EQ(aclrtRecordEventWithFlag(external.get(), inner_, ACL_EVENT_RECORD_EXTERNAL), kRefused);
    EXPECT_EQ(aclrtRecordEvent(classic.get(), inner_), kRefused);
    EXPECT_EQ(aclrtStreamWaitEvent(inner_, classic.get()), kRefused);
    EXPECT_EQ(aclrtResetEvent(classic.get(), inner_), kRefused);
  });
  Model model = End(stream_);
  uint32_t count = 0;
  int called = 0;
  const auto callback = [](void*) {};
  ExpectAll({
      {"execute", kRefused, [&] { return aclmdlRIExecuteAsync(body, stream_); }},
      {"execute and wait", kRefused, [&] { return aclmdlRIExecute(body, -1); }},
      {"destroy", kRefused, [&] { return aclmdlRIDestroy(body); }},
      {"abort", kRefused, [&] { return aclmdlRIAbort(body); }},
      {"register", kRefused, [&] { return aclmdlRIDestroyRegisterCallback(body, callback, &called); }},
      {"unregister", kRefused, [&] { return aclmdlRIDestroyUnregisterCallback(body, callback); }},
      {"streams", kRefused, [&] { return aclmdlRIGetStreams(body, nullptr, &count); }},
      {"update", kRefused, [&] { return aclmdlRIUpdate(body); }},
  });
  EXPECT_EQ(aclmdlRIGetStreams(model.get(), nullptr, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u) << "streams of bodies are not the model's";
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(body, stream_), kStale) << "it went with its root";
}

// --- Which body runs ----------------------------------------------------------------------------------------------------

using Conditional = ConditionTest;

TEST_F(Conditional, IfChoosesOneOfTwo) {
  Tally first, second, behind;
  Cell value;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_));
  ASSERT_EQ(Copy(variable.address, value.get(), 8, stream_), ACL_SUCCESS);
  const auto bodies = AddTask(stream_, variable, kIf, 2);
  CaptureBody(inner_, bodies[0], [&] { ASSERT_EQ(first.Add(inner_), ACL_SUCCESS); });
  CaptureBody(inner_, bodies[1], [&] { ASSERT_EQ(second.Add(inner_), ACL_SUCCESS); });
  ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  uint64_t ones = 0, zeros = 0;
  for (uint64_t each : {uint64_t{1}, uint64_t{0}, uint64_t{1} << 63, uint64_t{0}, uint64_t{0}}) {
    value.Set(each);
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    ++(each != 0 ? ones : zeros);
    EXPECT_EQ(first.Get(), ones);
    EXPECT_EQ(second.Get(), zeros);
    EXPECT_EQ(behind.Get(), ones + zeros);
  }
}

TEST_F(Conditional, IfWithOneBodyMayRunNothing) {
  Tally body, behind;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_), 0, kKeep);
  CaptureBody(inner_, AddTask(stream_, variable, kIf, 1)[0], [&] { ASSERT_EQ(body.Add(inner_), ACL_SUCCESS); });
  ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(body.Get(), 0u) << "a new variable is zero";
  ASSERT_EQ(aclrtValueWrite(variable.address, 1, 0, stream_), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(body.Get(), 2u) << "the value stays";
  EXPECT_EQ(behind.Get(), 3u);
}

TEST_F(Conditional, TheDefaultIsAssignedByEveryReplay) {
  Tally body;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_), 0xFFFFFFFF);
  const auto bodies = AddTask(stream_, variable, kIf, 1);
  CaptureBody(inner_, bodies[0], [&] {
    ASSERT_EQ(body.Add(inner_), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWrite(variable.address, 0, 0, inner_), ACL_SUCCESS);
  });
  Model model = End(stream_);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclrtValueWrite(variable.address, 0, 0, stream_), ACL_SUCCESS);  // lost
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  }
  EXPECT_EQ(body.Get(), 3u);
}

TEST_F(Conditional, SwitchChoosesByNumber) {
  Cell value, chosen;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_));
  ASSERT_EQ(Copy(variable.address, value.get(), 8, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(chosen.get(), 9, 0, stream_), ACL_SUCCESS);
  const auto bodies = AddTask(stream_, variable, kSwitch, 3);
  for (size_t i = 0; i < 3; ++i)
    CaptureBody(inner_, bodies[i], [&] { ASSERT_EQ(aclrtValueWrite(chosen.get(), i, 0, inner_), ACL_SUCCESS); });
  Model model = End(stream_);
  const std::pair<uint64_t, uint64_t> cases[] = {{0, 0}, {1, 1}, {2, 2}, {3, 9}, {~uint64_t{0}, 9}, {uint64_t{1} << 32, 9}};
  for (auto [each, expected] : cases) {
    value.Set(each);
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(chosen.Get(), expected) << each;
  }
}

// Counts down in device memory: the variable itself, by adding -1.
class DeviceCountdown {
 public:
  aclError Add(void* variable, aclrtStream stream) {
    return aclrtReduceAsync(variable, minus_one_.get(), sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr);
  }

 private:
  Cell minus_one_{0xFFFFFFFF};
};

TEST_F(Conditional, WhileRunsUntilTheBodyMakesItZero) {
  Tally rounds, behind;
  DeviceCountdown countdown;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_), 5);
  CaptureBody(inner_, AddTask(stream_, variable, kWhile, 1)[0], [&] {
    ASSERT_EQ(rounds.Add(inner_), ACL_SUCCESS);
    ASSERT_EQ(countdown.Add(variable.address, inner_), ACL_SUCCESS);
  });
  ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint64_t i = 1; i < 4; ++i) {
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(rounds.Get(), 5 * i);
    EXPECT_EQ(behind.Get(), i);
  }
}

// A loop whose body forks onto another stream, joins, and calls the host: edges and functions are good for every round.
TEST_F(Conditional, BodiesForkAndJoinInEveryRound) {
  Tally first, second;
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  DeviceCountdown countdown;
  aclrtStream other = NewStream();
  int calls = 0;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_), 4);
  CaptureBody(inner_, AddTask(stream_, variable, kWhile, 1)[0], [&] {
    Link(inner_, fork, other);
    ASSERT_EQ(first.Add(inner_), ACL_SUCCESS);
    ASSERT_EQ(second.Add(other), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(
                  other, [](void* count) { ++*static_cast<int*>(count); }, &calls),
              ACL_SUCCESS);
    Link(other, join, inner_);
    ASSERT_EQ(countdown.Add(variable.address, inner_), ACL_SUCCESS);
  });
  Model model = End(stream_);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(first.Get(), 8u);
  EXPECT_EQ(second.Get(), 8u);
  EXPECT_EQ(calls, 8);
}

TEST_F(Conditional, BodiesNest) {
  Tally outer_rounds, inner_rounds, picked;
  DeviceCountdown countdown;
  Cell three(3);
  aclrtStream innermost = NewStream();
  Begin(stream_);
  aclmdlRI root = OpenModelOf(stream_);
  const Variable outer = NewVariable(root, 2);
  aclmdlRI body = AddTask(stream_, outer, kWhile, 1)[0];
  CaptureBody(inner_, body, [&] {
    ASSERT_EQ(outer_rounds.Add(inner_), ACL_SUCCESS);
    const Variable loop = NewVariable(body, 0), choice = NewVariable(body, 1);
    ASSERT_EQ(Copy(loop.address, three.get(), 8, inner_), ACL_SUCCESS);
    CaptureBody(innermost, AddTask(inner_, loop, kWhile, 1)[0], [&] {
      ASSERT_EQ(inner_rounds.Add(innermost), ACL_SUCCESS);
      ASSERT_EQ(countdown.Add(loop.address, innermost), ACL_SUCCESS);
    });
    const auto choices = AddTask(inner_, choice, kIf, 2);
    CaptureBody(innermost, choices[0], [&] { ASSERT_EQ(picked.Add(innermost), ACL_SUCCESS); });
    CaptureBody(innermost, choices[1], [] {});
    ASSERT_EQ(countdown.Add(outer.address, inner_), ACL_SUCCESS);
  });
  Model model = End(stream_);
  for (uint64_t i = 1; i < 4; ++i) {
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(outer_rounds.Get(), 2 * i);
    EXPECT_EQ(inner_rounds.Get(), 6 * i);
    EXPECT_EQ(picked.Get(), 2 * i);
  }
}

// As frameworks do it: eight bytes are cleared, and one byte of a flag is copied into them.
TEST_F(Conditional, AFlagOfOneByteIsCopiedIn) {
  DeviceBuffer flag(1);
  Tally body;
  Begin(stream_);
  const Variable variable = NewVariable(OpenModelOf(stream_));
  ASSERT_EQ(aclrtMemsetAsync(variable.address, 8, 0, 8, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(variable.address, 8, flag.get(), 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  CaptureBody(inner_, AddTask(stream_, variable, kIf, 1)[0], [&] { ASSERT_EQ(body.Add(inner_), ACL_SUCCESS); });
  Model model = End(stream_);
  for (uint8_t each : {uint8_t{1}, uint8_t{0}, uint8_t{1}}) {
    flag.Write({each});
    ASSERT_EQ(Replay(model, stream_), ACL_SUCCESS);
  }
  EXPECT_EQ(body.Get(), 2u);
}

TEST_F(Conditional, AFailureInABodyIsTheExecutingStreams) {
  FailingCopy failing;
  Tally behind;
  Begin(stream_);
  CaptureBody(inner_, AddTask(stream_, NewVariable(OpenModelOf(stream_), 1), kIf, 1)[0], [&] {
    ASSERT_EQ(failing.Submit(inner_), ACL_SUCCESS);
    ASSERT_EQ(behind.Add(inner_), ACL_SUCCESS);
  });
  ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(behind.Get(), 2u);
}

TEST_F(Conditional, AnAbortEndsALoopThatNeverEnds) {
  Cell reached;
  Begin(stream_);
  CaptureBody(inner_, AddTask(stream_, NewVariable(OpenModelOf(stream_), 1), kWhile, 1)[0],
              [&] { ASSERT_EQ(aclrtValueWait(reached.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, inner_), ACL_SUCCESS); });
  Model model = End(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

// --- Captures that are not complete -------------------------------------------------------------------------------------

using ConditionCaptures = ConditionTest;

TEST_F(ConditionCaptures, ABodyThatWasNeverBegunFailsTheRoot) {
  Begin(stream_);
  aclmdlRI body = AddTask(stream_, NewVariable(OpenModelOf(stream_)), kIf, 1)[0], model = Nonsense();
  ExpectRefused("aclmdlRICaptureEnd", kIncomplete, [&] { return aclmdlRICaptureEnd(stream_, &model); });
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(CaptureStatusOf(stream_), kIdle);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(inner_, body, kRelaxed), kStale);
}

TEST_F(ConditionCaptures, ABodyThatIsStillCapturedIsGivenUpWithTheRoot) {
  Begin(stream_);
  aclmdlRI body = AddTask(stream_, NewVariable(OpenModelOf(stream_)), kIf, 1)[0], model = nullptr;
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(inner_, body, kRelaxed), ACL_SUCCESS);
  Tally tally;
  ASSERT_EQ(tally.Add(inner_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), kIncomplete);
  EXPECT_EQ(CaptureStatusOf(inner_), kIdle) << "its stream is free";
  ASSERT_EQ(tally.Add(inner_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(inner_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(ConditionCaptures, ABodyThatFailedFailsTheRoot) {
  Begin(stream_);
  aclmdlRI body = AddTask(stream_, NewVariable(OpenModelOf(stream_)), kIf, 1)[0], model = nullptr;
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(inner_, body, kRelaxed), ACL_SUCCESS);
  Invalidate(inner_);
  EXPECT_EQ(aclmdlRICaptureEnd(inner_, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(inner_, body, kRelaxed), ACL_ERROR_RT_MODEL_CAPTURED) << "once";
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), kIncomplete);
}

TEST_F(ConditionCaptures, AContextThatGoesTakesThemAlong) {
  ForeignContext foreign;
  foreign.Run([&] {
    aclrtStream other = nullptr;
    ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    Begin(foreign.stream());
    const auto bodies = AddTask(foreign.stream(), NewVariable(OpenModelOf(foreign.stream())), kIf, 2);
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(other, bodies[0], kRelaxed), ACL_SUCCESS);
  });
}

}  // namespace conditions_test
}  // namespace ropeway_test::graph
