// Models built by hand (rules/models.md 1 to 3): the order of checks, what a bound stream stores, executions, errors, abort and end.
#include <atomic>

#include "tests/conformance/graph/hand_built.h"
#include "tests/conformance/graph/model_tasks.h"

namespace ropeway_test::graph {
namespace hand_built_test {

struct Args : CallArgs {
  aclmdlRI model = nullptr;
  aclrtStream stream = nullptr;
  uint32_t flag = 0;
  void* reserve = nullptr;
  int32_t timeout = -1;
};

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM, kStale = ACL_ERROR_RT_INVALID_HANDLE, kParam = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kNoContext = ACL_ERROR_RT_CONTEXT_NULL, kOtherContext = ACL_ERROR_RT_STREAM_CONTEXT;
constexpr aclError kOtherModelContext = ACL_ERROR_RT_MODEL_CONTEXT, kBinding = ACL_ERROR_RT_STREAM_MODEL;
constexpr aclError kInternal = ACL_ERROR_RT_INTERNAL_ERROR, kRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
constexpr aclError kNotRunnable = ACL_ERROR_RT_MODEL_EXECUTE;

// What every table needs: handles of each kind that is refused.
class HandBuiltChecks : public HandBuiltTest {
 protected:
  void SetUp() override {
    HandBuiltTest::SetUp();
    stale_ = StaleModel(stream_);
    Begin(stream_);
    captured_ = End(stream_).Release();
    dead_ = Persistent();
  }
  void TearDown() override {
    EXPECT_EQ(aclmdlRIDestroy(captured_), ACL_SUCCESS);
    HandBuiltTest::TearDown();
  }
  static Check<Args> NullModel() {
    return {"model NULL", kNull, [](Args& a) { a.model = nullptr; }};
  }
  Check<Args> StaleModelCheck() {
    return {"stale model", kStale, [this](Args& a) { a.model = stale_; }};
  }
  static Check<Args> StaleStream() {
    return {"stale stream", kStale, [](Args& a) { a.stream = Nonsense(); }};
  }
  Check<Args> Captured() {
    return {"captured model", kParam, [this](Args& a) { a.model = captured_; }};
  }
  static Check<Args> NoContext() {
    return {"no context", kNoContext, [](Args& a) { a.without_context = true; }};
  }

  aclmdlRI stale_ = nullptr;
  aclmdlRI captured_ = nullptr;
  aclrtStream dead_ = nullptr;
};

TEST_F(HandBuiltChecks, BuildBegin) {
  struct Out : CallArgs {
    bool null = false;
    uint32_t flag = 0;
  };
  aclmdlRI model = nullptr;
  const std::vector<Check<Out>> checks = {
      {"output NULL", kNull, [](Out& a) { a.null = true; }},
      {"flag", kParam, [](Out& a) { a.flag = 1; }},
      {"no context", kNoContext, [](Out& a) { a.without_context = true; }},
  };
  ExpectCheckOrder(
      "aclmdlRIBuildBegin", Out(), checks, [&](const Out& a) { return aclmdlRIBuildBegin(a.null ? nullptr : &model, a.flag); },
      [&] { EXPECT_EQ(model, nullptr); });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(HandBuiltChecks, BindStream) {
  ForeignModel foreign;
  aclrtStream stop = Persistent(), fast = Persistent(ACL_STREAM_FAST_LAUNCH), captured = Persistent();
  aclmdlRI other = NewModel();
  aclrtStream bound = Bound(other);
  Begin(captured);
  ASSERT_EQ(aclrtSetStreamFailureMode(stop, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  Args valid;
  valid.model = NewModel();
  valid.stream = Persistent();
  const std::vector<Check<Args>> checks = {
      NullModel(),
      {"flag", kParam, [](Args& a) { a.flag = 1; }},
      StaleModelCheck(),
      StaleStream(),
      {"not persistent", kParam, [this](Args& a) { a.stream = stream_; }},
      {"bound already", kBinding, [&](Args& a) { a.stream = bound; }},
      Captured(),
      {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = captured; }},
      {"stops on failure", kRefused, [&](Args& a) { a.stream = stop; }},
      {"fast launch", kRefused, [&](Args& a) { a.stream = fast; }},
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
  };
  ExpectCheckOrder(
      "aclmdlRIBindStream", valid, checks, [](const Args& a) { return aclmdlRIBindStream(a.model, a.stream, a.flag); },
      [&] { EXPECT_EQ(aclmdlRIUnbindStream(valid.model, valid.stream), kBinding) << "nothing was bound"; });
  EXPECT_EQ(aclmdlRIBindStream(valid.model, valid.stream, kHead), kBinding) << "to this model, too";
  EXPECT_EQ(aclmdlRIBindStream(valid.model, nullptr, kHead), kParam);
  aclrtStream elsewhere = nullptr;
  ForeignContext another;
  another.Run([&] { ASSERT_EQ(aclrtCreateStreamWithConfig(&elsewhere, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS); });
  EXPECT_EQ(aclmdlRIBindStream(valid.model, elsewhere, kHead), kOtherContext);
  Finish(valid.model, valid.stream);
  EXPECT_EQ(aclmdlRIBindStream(valid.model, Persistent(), kHead), kParam) << "it is built";
}

TEST_F(HandBuiltChecks, EndTask) {
  ForeignModel foreign;
  aclrtStream captured = Persistent(), loose = Persistent();
  Begin(captured);
  Args valid;
  valid.model = NewModel();
  valid.stream = Bound(valid.model);
  const std::vector<Check<Args>> checks = {
      NullModel(),
      StaleModelCheck(),
      StaleStream(),
      Captured(),
      {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = captured; }},
      NoContext(),
      {"stream of another context", kOtherContext, [&](Args& a) { a.stream = foreign.stream(); }},
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"not bound", kInternal, [&](Args& a) { a.stream = loose; }},
  };
  ExpectCheckOrder(
      "aclmdlRIEndTask", valid, checks, [](const Args& a) { return aclmdlRIEndTask(a.model, a.stream); },
      [&] { EXPECT_EQ(aclmdlRIBuildEnd(valid.model, nullptr), kNotRunnable) << "no end was stored"; });
  EXPECT_EQ(aclmdlRIEndTask(valid.model, nullptr), kInternal) << "the default stream is bound to nothing";
  EXPECT_EQ(aclmdlRIEndTask(valid.model, valid.stream), kInternal) << "one is enough";
}

TEST_F(HandBuiltChecks, BuildEnd) {
  ForeignModel foreign;
  aclmdlRI empty = NewModel(), endless = NewModel();
  Bound(endless);
  Args valid;
  valid.model = NewModel();
  ASSERT_EQ(aclmdlRIEndTask(valid.model, Bound(valid.model)), ACL_SUCCESS);
  const std::vector<Check<Args>> checks = {
      NullModel(),
      {"reserve", kNull, [](Args& a) { a.reserve = &a; }},
      StaleModelCheck(),
      Captured(),
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"nothing bound", kBinding, [&](Args& a) { a.model = empty; }},
      {"no end", kNotRunnable, [&](Args& a) { a.model = endless; }},
  };
  ExpectCheckOrder(
      "aclmdlRIBuildEnd", valid, checks, [](const Args& a) { return aclmdlRIBuildEnd(a.model, a.reserve); },
      [&] { EXPECT_EQ(aclmdlRIExecuteAsync(valid.model, stream_), kNotRunnable) << "it is not built"; });
  EXPECT_EQ(aclmdlRIBuildEnd(valid.model, nullptr), ACL_SUCCESS) << "again";
}

TEST_F(HandBuiltChecks, UnbindStream) {
  ForeignModel foreign;
  aclrtStream captured = Persistent(), loose = Persistent();
  Begin(captured);
  aclmdlRI other = NewModel();
  Args valid;
  valid.model = NewModel();
  valid.stream = Bound(valid.model);
  const std::vector<Check<Args>> checks = {
      NullModel(),
      StaleModelCheck(),
      StaleStream(),
      Captured(),
      {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = captured; }},
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"bound to another model", kBinding, [&](Args& a) { a.model = other; }},
      {"not bound", kBinding, [&](Args& a) { a.stream = loose; }},
  };
  ExpectCheckOrder(
      "aclmdlRIUnbindStream", valid, checks, [](const Args& a) { return aclmdlRIUnbindStream(a.model, a.stream); },
      [&] { EXPECT_EQ(aclrtDestroyStream(valid.stream), kBinding) << "it is still bound"; });
}

TEST_F(HandBuiltChecks, PersistentTaskClean) {
  ForeignModel foreign;
  aclrtStream loose = Persistent();
  aclmdlRI open = NewModel();
  aclrtStream of_open = Bound(open);
  Args valid;
  valid.model = NewModel();
  valid.stream = Bound(valid.model);
  Finish(valid.model, valid.stream);
  const std::vector<Check<Args>> checks = {
      {"stream NULL", kParam, [](Args& a) { a.stream = nullptr; }},
      StaleStream(),
      {"not persistent", kInternal, [this](Args& a) { a.stream = stream_; }},
      {"not bound", kInternal, [&](Args& a) { a.stream = loose; }},
      {"model not built", kInternal, [&](Args& a) { a.stream = of_open; }},
      NoContext(),
      {"stream of another context", kOtherContext, [&](Args& a) { a.stream = foreign.stream(); }},
  };
  ExpectCheckOrder(
      "aclrtPersistentTaskClean", valid, checks, [](const Args& a) { return aclrtPersistentTaskClean(a.stream); },
      [&] { EXPECT_EQ(Run(valid.model), ACL_SUCCESS) << "its end is still there"; });
  EXPECT_EQ(Run(valid.model), kNotRunnable) << "its end is gone";
}

TEST_F(HandBuiltChecks, Execute) {
  ForeignModel foreign;
  aclmdlRI open = NewModel();
  ASSERT_EQ(aclmdlRIEndTask(open, Bound(open)), ACL_SUCCESS);
  Tally tally;
  Args valid;
  valid.model = NewModel();
  aclrtStream stream = Bound(valid.model);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(valid.model, stream);
  const std::vector<Check<Args>> checks = {
      NullModel(),
      StaleModelCheck(),
      {"timeout 0", kParam, [](Args& a) { a.timeout = 0; }},
      {"timeout below -1", kParam, [](Args& a) { a.timeout = -2; }},
      Captured(),
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"not built", kNotRunnable, [&](Args& a) { a.model = open; }},
  };
  ExpectCheckOrder(
      "aclmdlRIExecute", valid, checks, [](const Args& a) { return aclmdlRIExecute(a.model, a.timeout); },
      [&] { EXPECT_EQ(tally.Get(), 0u); });
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(HandBuiltChecks, ExecuteAsync) {
  ForeignModel foreign;
  aclmdlRI open = NewModel();
  aclrtStream of_open = Bound(open), capturing = NewStream(), loose = Persistent(), scheduled = NewStream(ACL_STREAM_CPU_SCHEDULE);
  Begin(capturing);
  Tally tally;
  Args valid;
  valid.model = NewModel();
  aclrtStream stream = Bound(valid.model);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(valid.model, stream);
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      NullModel(),
      StaleModelCheck(),
      StaleStream(),
      {"bound stream", kParam, [&](Args& a) { a.stream = of_open; }},
      {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = capturing; }},
      {"persistent", kParam, [&](Args& a) { a.stream = loose; }},
      {"scheduled by a CPU", kParam, [&](Args& a) { a.stream = scheduled; }},
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"stream of another context", kOtherContext, [&](Args& a) { a.stream = foreign.plain(); }},
      {"not built", kNotRunnable, [&](Args& a) { a.model = open; }},
  };
  ExpectCheckOrder(
      "aclmdlRIExecuteAsync", valid, checks, [](const Args& a) { return aclmdlRIExecuteAsync(a.model, a.stream); },
      [&] { EXPECT_EQ(tally.Get(), 0u); });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
  ASSERT_EQ(aclmdlRIExecuteAsync(valid.model, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u) << "on the default stream";
}

TEST_F(HandBuiltChecks, Abort) {
  ForeignModel foreign;
  Args valid;
  valid.model = NewModel();
  const std::vector<Check<Args>> checks = {
      {"model NULL", kParam, [](Args& a) { a.model = nullptr; }},
      StaleModelCheck(),
      NoContext(),
      {"model of another context", kOtherModelContext, [&](Args& a) { a.model = foreign.get(); }},
      {"captured model", kRefused, [&](Args& a) { a.model = captured_; }},
  };
  ExpectCheckOrder(
      "aclmdlRIAbort", valid, checks, [](const Args& a) { return aclmdlRIAbort(a.model); }, [] {});
}

void Count(void* count) { ++*static_cast<int*>(count); }

TEST_F(HandBuiltChecks, DestroyCallbacks) {
  aclmdlRI model = NewModel();
  int count = 0;
  ExpectAll({
      {"register, model NULL", kParam, [&] { return aclmdlRIDestroyRegisterCallback(nullptr, nullptr, nullptr); }},
      {"register, function NULL", kParam, [&] { return aclmdlRIDestroyRegisterCallback(stale_, nullptr, nullptr); }},
      {"register, stale", kStale, [&] { return aclmdlRIDestroyRegisterCallback(stale_, &Count, &count); }},
      {"unregister, unknown", kParam, [&] { return aclmdlRIDestroyUnregisterCallback(model, &Count); }},
      {"register", ACL_SUCCESS, [&] { return aclmdlRIDestroyRegisterCallback(model, &Count, &count); }},
      {"register twice", kParam, [&] { return aclmdlRIDestroyRegisterCallback(model, &Count, &count); }},
  });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

// --- What is stored -----------------------------------------------------------------------------------------------------

using HandBuilt = HandBuiltTest;

TEST_F(HandBuilt, EveryExecutionReplaysAllStoredWork) {
  PinnedBuffer host(64), back(64);
  DeviceBuffer device(64), other(64);
  Tally tally;
  Cell cell;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(Copy(device.get(), host.get(), 64, stream), ACL_SUCCESS);
  ASSERT_EQ(Copy(other.get(), device.get(), 64, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device.get(), 64, 7, 64, stream), ACL_SUCCESS);
  ASSERT_EQ(Copy(back.get(), other.get(), 64, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(cell.get(), 9, 0, stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << "nothing to wait for";
  EXPECT_EQ(tally.Get(), 0u);
  Finish(model, stream);
  for (uint8_t round = 1; round < 4; ++round) {
    std::memset(host.get(), round, 64);
    ASSERT_EQ(Run(model), ACL_SUCCESS);
    EXPECT_EQ(back.get()[63], round) << "the bytes of now";
    EXPECT_EQ(device.Read(1)[0], 7);
    EXPECT_EQ(tally.Get(), round);
  }
  EXPECT_EQ(cell.Get(), 9u);
}

TEST_F(HandBuilt, WorkKeptBeforeTheBindingCounts) {
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Persistent();
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBindStream(model, stream, kHead), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(HandBuilt, PageableCopiesHappenAtOnce) {
  uint8_t bytes[16] = {5}, back[16] = {};
  DeviceBuffer device(16);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(Copy(device.get(), bytes, 16, stream), ACL_SUCCESS);
  ASSERT_EQ(Copy(back, device.get(), 16, stream), ACL_SUCCESS);
  EXPECT_EQ(back[0], 5);
  Finish(model, stream);
  uint32_t count = 0;
  EXPECT_EQ(aclmdlRIGetTasksByStream(stream, nullptr, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 1u) << "the end alone was stored";
}

TEST_F(HandBuilt, ItsStreamsAndTasksAreListed) {
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model, kNotHead), listed[3] = {nullptr, nullptr, stream_};
  uint32_t count = 1;
  EXPECT_EQ(aclmdlRIGetStreams(model, listed, &count), ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(listed[0], first);
  count = 3;
  EXPECT_EQ(aclmdlRIGetStreams(model, listed, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(listed[1], second);
  EXPECT_EQ(listed[2], nullptr) << "the rest is emptied";
  EXPECT_EQ(aclmdlRIGetTasksByStream(Persistent(), nullptr, &count), kParam);
  EXPECT_EQ(aclmdlRIUpdate(model), kRefused);
  EXPECT_EQ(aclmdlRIUpdate(nullptr), kParam);
}

TEST_F(HandBuilt, ABoundStreamRefusesWhatItCannotStore) {
  TestEvent ex(EventKind::kEx), plain(EventKind::kDefault), classic(EventKind::kClassic);
  aclmdlRI model = NewModel(), runnable = NewModel();
  aclrtStream stream = Bound(model), other = Bound(runnable);
  Finish(runnable, other);
  Begin(stream_);
  aclrtTaskGrp group = nullptr;
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group), ACL_SUCCESS);
  Model captured = End(stream_);
  ExpectAll({
      {"record an Ex event", kRefused, [&] { return aclrtRecordEvent(ex.get(), stream); }},
      {"wait for an Ex event", kRefused, [&] { return aclrtStreamWaitEvent(stream, ex.get()); }},
      {"record a default event", kRefused, [&] { return aclrtRecordEvent(plain.get(), stream); }},
      {"wait for a default event", kRefused, [&] { return aclrtStreamWaitEvent(stream, plain.get()); }},
      {"reset a default event", kRefused, [&] { return aclrtResetEvent(plain.get(), stream); }},
      {"record a classic event", ACL_SUCCESS, [&] { return aclrtRecordEvent(classic.get(), stream); }},
      {"synchronise it", kParam, [&] { return aclrtSynchronizeEvent(classic.get()); }},
      {"capture", kBinding, [&] { return aclmdlRICaptureBegin(stream, kRelaxed); }},
      {"failure mode", kRefused, [&] { return aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE); }},
      {"execute on it", kParam, [&] { return aclmdlRIExecuteAsync(runnable, stream); }},
      {"task update", kBinding, [&] { return aclmdlRICaptureTaskUpdateBegin(stream, group); }},
      {"destroy", kBinding, [&] { return aclrtDestroyStream(stream); }},
      {"destroy by force", kBinding, [&] { return aclrtDestroyStreamForce(stream); }},
  });
  DeviceBuffer device(16);
  EXPECT_EQ(aclrtMemsetAsync(device.get(), 16, 0, 16, other), kParam) << "it is built";
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(HandBuilt, AClassicEventJoinsAndIsResetByTheModel) {
  TestEvent event(EventKind::kClassic);
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model);
  ASSERT_EQ(aclrtStreamWaitEvent(first, event.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(event.get(), first), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(second), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), second), ACL_SUCCESS);
  Finish(model, first);
  for (uint64_t round = 1; round < 4; ++round) {
    ASSERT_EQ(Run(model), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), round);
  }
}

TEST_F(HandBuilt, HostFunctionsRunInEveryExecution) {
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  int count = 0;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Count, &count), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_SUCCESS);
  EXPECT_EQ(count, 3);
}

// --- Executions ---------------------------------------------------------------------------------------------------------

TEST_F(HandBuilt, SeveralHeadsJoinByNotifies) {
  TestNotify from_second, from_third;
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model), third = Bound(model);
  for (aclrtStream stream : {first, second, third}) ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(from_second.get(), second), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(from_third.get(), third), ACL_SUCCESS);
  for (aclrtNotify notify : {from_second.get(), from_third.get()}) ASSERT_EQ(aclrtWaitAndResetNotify(notify, first, 0), ACL_SUCCESS);
  Finish(model, first);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 30u);
}

TEST_F(HandBuilt, AnExecutionIsOneUnitOfItsStream) {
  Cell value(1), seen;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(Copy(seen.get(), value.get(), 8, stream), ACL_SUCCESS);
  Finish(model, stream);
  bytes::HeldStream held(stream_);
  ASSERT_EQ(aclrtValueWrite(value.get(), 2, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(value.get(), 3, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.Get(), 0u) << "what is in front of it has not run";
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(seen.Get(), 2u) << "behind the first write and in front of the second";
}

// The first stream waits for what comes behind the second one's execution: who is submitted first need not run first.
TEST_F(HandBuilt, ExecutionsOnTwoStreamsDoNotHoldEachOtherUp) {
  Tally tally;
  TestNotify notify;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model), other = NewStream();
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(HandBuilt, TheMarkEndsItAndTheNextOneWaitsForWhatIsLeft) {
  TestNotify go;
  Tally head, rest;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model), releaser = NewStream();
  ASSERT_EQ(head.Add(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(go.get(), second, 0), ACL_SUCCESS);
  ASSERT_EQ(rest.Add(second), ACL_SUCCESS);
  Finish(model, first);
  ASSERT_EQ(Run(model), ACL_SUCCESS) << "the other stream is not waited for";
  EXPECT_EQ(head.Get(), 1u);
  EXPECT_EQ(rest.Get(), 0u);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "what is left of the first one is in the way";
  EXPECT_EQ(head.Get(), 1u);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtRecordNotify(go.get(), releaser), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(releaser), ACL_SUCCESS);
    if (i == 0) EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
  EXPECT_EQ(head.Get(), 2u);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS) << "it waits for what is left";
  models_.clear();
  EXPECT_EQ(rest.Get(), 2u);
}

TEST_F(HandBuilt, OverTimeTheWorkGoesOn) {
  Cell cell;
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(aclrtValueWait(cell.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(aclmdlRIExecute(model, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(tally.Get(), 0u);
  ASSERT_EQ(aclrtValueWrite(cell.get(), 1, 0, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_SUCCESS) << "behind the one that took so long";
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(HandBuilt, CleanedStreamsTakeOtherWork) {
  Tally before, after;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(before.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(Run(model), ACL_SUCCESS);
  ASSERT_EQ(aclrtPersistentTaskClean(stream), ACL_SUCCESS);
  ASSERT_EQ(after.Add(stream), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIEndTask(model, stream), ACL_SUCCESS);
  ASSERT_EQ(Run(model), ACL_SUCCESS);
  EXPECT_EQ(before.Get(), 1u);
  EXPECT_EQ(after.Get(), 1u);
  EXPECT_EQ(after.Add(stream), kParam) << "it has run";
}

TEST_F(HandBuilt, AnUnboundStreamKeepsItsWork) {
  Tally tally;
  aclmdlRI model = NewModel(), next = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(Run(model), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIUnbindStream(model, stream), ACL_SUCCESS);
  EXPECT_EQ(Run(model), kNotRunnable);
  ASSERT_EQ(aclmdlRIBindStream(next, stream, kHead), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBuildEnd(next, nullptr), ACL_SUCCESS) << "its end came along";
  ASSERT_EQ(Run(next), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(HandBuilt, AStreamStoresSixtyThousandTasks) {
  Cell cell;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  for (int i = 0; i < 60000; ++i) ASSERT_EQ(aclrtValueWrite(cell.get(), static_cast<uint64_t>(i), 0, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWrite(cell.get(), 0, 0, stream), ACL_ERROR_RT_STREAM_TASK_FULL);
}

// --- Errors, abort, end -------------------------------------------------------------------------------------------------

TEST_F(HandBuilt, AFailureIsTheExecutingStreamsAndTheRestRuns) {
  FailingCopy failing;
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(failing.Submit(stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "once";
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(tally.Get(), 2u);
}

std::atomic<int> g_exceptions;
void CountException(aclrtExceptionInfo*) { ++g_exceptions; }

TEST_F(HandBuilt, ExceptionCallbacksHearOfAFailureOnce) {
  FailingCopy failing;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(failing.Submit(stream), ACL_SUCCESS);
  Finish(model, stream);
  g_exceptions = 0;
  ASSERT_EQ(aclrtSetExceptionInfoCallback(&CountException), ACL_SUCCESS);
  EXPECT_EQ(Run(model), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(g_exceptions, 1);
  EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(g_exceptions, 2);
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
}

TEST_F(HandBuilt, AbortDropsWhatIsLeftAndTheModelRunsAgain) {
  Cell cell, reached;
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(aclrtValueWrite(reached.get(), 1, 0, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(cell.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(aclmdlRIAbort(model), ACL_SUCCESS) << "nothing runs";
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  AwaitCell(reached, 1);
  ASSERT_EQ(aclmdlRIAbort(model), ACL_SUCCESS);
  cell.Set(1);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "once";
  EXPECT_EQ(tally.Get(), 1u) << "the second one ran";
  EXPECT_EQ(Run(model), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 2u);
}

TEST_F(HandBuilt, AMarkThatIsNeverReachedIsAborted) {
  Cell reached;
  aclmdlRI model = NewModel();
  aclrtStream head = Bound(model), never = Bound(model, kNotHead);
  ASSERT_EQ(aclrtValueWrite(reached.get(), 1, 0, head), ACL_SUCCESS);
  Finish(model, never);
  EXPECT_EQ(aclmdlRIExecute(model, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  AwaitCell(reached, 1);
  ASSERT_EQ(aclmdlRIAbort(model), ACL_SUCCESS);
  reached.Set(0);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  AwaitCell(reached, 1);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclmdlRIAbort(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_MODEL_ABORT_NORMAL);
}

TEST_F(HandBuilt, AbortOfTheExecutingStreamEndsTheExecution) {
  Cell cell, reached;
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(aclrtValueWrite(reached.get(), 1, 0, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(cell.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  AwaitCell(reached, 1);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  cell.Set(1);
  EXPECT_EQ(Run(model), ACL_SUCCESS) << "nothing of the others is in the way";
  EXPECT_EQ(tally.Get(), 1u);
}

TEST_F(HandBuilt, DestroyWaitsForARunningExecution) {
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  std::thread opener([&] {
    gate.AwaitArrival();
    gate.Open();
  });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  opener.join();
  models_.clear();
  EXPECT_EQ(tally.Get(), 1u);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUnbindStream(model, stream), kStale);
}

TEST_F(HandBuilt, AReplayOfFreedMemoryFails) {
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  {
    DeviceBuffer gone(64);
    ASSERT_EQ(aclrtMemsetAsync(gone.get(), 64, 1, 64, stream), ACL_SUCCESS);
  }
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(tally.Get(), 1u);
}

// A device that goes takes models along that wait for ever.
TEST_F(HandBuilt, AContextThatGoesTakesItsModelsAlong) {
  {
    ForeignContext foreign;
    foreign.Run([&] {
      aclmdlRI model = nullptr;
      aclrtStream stream = nullptr;
      TestNotify never;
      EXPECT_EQ(aclmdlRIBuildBegin(&model, 0), ACL_SUCCESS);
      EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRIBindStream(model, stream, kHead), ACL_SUCCESS);
      EXPECT_EQ(aclrtWaitAndResetNotify(never.get(), stream, 0), ACL_SUCCESS);
      Finish(model, stream);
      EXPECT_EQ(aclmdlRIExecuteAsync(model, foreign.stream()), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRIBuildBegin(&model, 0), ACL_SUCCESS);
    });
  }
}

TEST_F(HandBuilt, ManyThreadsExecuteOneModel) {
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  constexpr int kThreads = 4, kRounds = 20;
  bytes::OnDeviceThreads(kThreads, [&](int) {
    TestStream own;
    for (int i = 0; i < kRounds; ++i) EXPECT_EQ(aclmdlRIExecuteAsync(model, own.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(own.get()), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRIExecute(model, -1), ACL_SUCCESS);
  });
  EXPECT_EQ(tally.Get(), static_cast<uint64_t>(kThreads * (kRounds + 1)));
}

}  // namespace hand_built_test
}  // namespace ropeway_test::graph
