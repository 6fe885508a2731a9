// aclmdlRIDestroy: its checks, that it waits for replays, and the callbacks that it runs.
#include <atomic>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace model_destroy_test {

class ModelDestroy : public CaptureTest {
 protected:
  aclmdlRI EmptyModel() {
    Begin(stream_);
    return End(stream_).Release();
  }
};

struct Args : CallArgs {
  aclmdlRI model = nullptr;
};

TEST_F(ModelDestroy, EarlierCheckWins) {
  ForeignContext foreign;
  aclmdlRI model = EmptyModel(), elsewhere = nullptr;
  foreign.Run([&] {
    Begin(foreign.stream());
    elsewhere = End(foreign.stream()).Release();
  });
  aclmdlRI stale = StaleModel(stream_);
  Args valid;
  valid.model = model;
  const std::vector<Check<Args>> checks = {
      {"model NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.model = nullptr; }},
      {"destroyed model", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.model = stale; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"model of another context", ACL_ERROR_RT_MODEL_CONTEXT, [&](Args& a) { a.model = elsewhere; }},
  };
  auto call = [](const Args& a) { return aclmdlRIDestroy(a.model); };
  ExpectCheckOrder("aclmdlRIDestroy", valid, checks, call, [&] {
    EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS) << "the model is still there";
    foreign.Run([&] { EXPECT_EQ(aclmdlRIExecuteAsync(elsewhere, foreign.stream()), ACL_SUCCESS); });
  });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_INVALID_HANDLE);
  foreign.Run([&] { EXPECT_EQ(aclmdlRIDestroy(elsewhere), ACL_SUCCESS); });
}

TEST_F(ModelDestroy, HandleThatIsNoModelIsRejected) {
  TestEvent event(EventKind::kEx);
  uint64_t zeros[64] = {};
  void* const handles[] = {stream_, event.get(), zeros, reinterpret_cast<void*>(uintptr_t{0x10})};
  for (void* handle : handles) EXPECT_EQ(aclmdlRIDestroy(handle), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(ModelDestroy, AnyThreadOfTheContextDestroys) {
  aclmdlRI model = EmptyModel();
  bytes::OnDeviceThreads(1, [&](int) { EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS); });
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

// The replay is held back until the destroying thread is at its call; all of it has run when that returns.
TEST_F(ModelDestroy, WaitsForReplays) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream other = NewStream(), branch = NewStream();
  Tally tally;
  Begin(stream_);
  Link(stream_, fork, branch);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(tally.Add(branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  std::atomic<bool> calling{false};
  Hold hold(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), other), ACL_SUCCESS);
  std::thread destroyer([&, handle = model.Release()] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    calling = true;
    calling.notify_all();
    EXPECT_EQ(aclmdlRIDestroy(handle), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), 600u);
  });
  calling.wait(false);
  hold.Open();
  destroyer.join();
}

TEST_F(ModelDestroy, DoesNotWaitForWorkBehindTheReplay) {
  Tally tally;
  NeverRecorded forever;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
}

using DestroyCallback = ModelDestroy;

TEST_F(DestroyCallback, NullAndStaleArgumentsAreRejected) {
  aclmdlRI model = EmptyModel(), stale = StaleModel(stream_);
  ExpectAll({
      {"register, model NULL", ACL_ERROR_RT_PARAM_INVALID, [] { return aclmdlRIDestroyRegisterCallback(nullptr, &CountUp, nullptr); }},
      {"register, function NULL", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIDestroyRegisterCallback(model, nullptr, nullptr); }},
      {"register, stale model", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIDestroyRegisterCallback(stale, &CountUp, nullptr); }},
      {"unregister, model NULL", ACL_ERROR_RT_PARAM_INVALID, [] { return aclmdlRIDestroyUnregisterCallback(nullptr, &CountUp); }},
      {"unregister, function NULL", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIDestroyUnregisterCallback(model, nullptr); }},
      {"unregister, stale model", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIDestroyUnregisterCallback(stale, &CountUp); }},
  });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

void AddTen(void* counter) { *static_cast<int*>(counter) += 10; }

TEST_F(DestroyCallback, RunsOnceWhenTheModelIsDestroyed) {
  int count = 0;
  aclmdlRI model = EmptyModel();
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model, &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model, &AddTen, &count), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(count, 11);
}

TEST_F(DestroyCallback, DoesNotRunForAnotherModelOrARefusedDestroy) {
  int count = 0;
  aclmdlRI model = EmptyModel(), other = EmptyModel();
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(other), ACL_SUCCESS);
  EXPECT_EQ(WithoutContext([&] { return aclmdlRIDestroy(model); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(DestroyCallback, DoesNotRunOnceUnregistered) {
  int count = 0;
  aclmdlRI model = EmptyModel();
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model, &CountUp, &count), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model, &AddTen, &count), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroyUnregisterCallback(model, &CountUp), ACL_SUCCESS);
  ExpectRefused("aclmdlRIDestroyUnregisterCallback", ACL_ERROR_RT_PARAM_INVALID,
                [&] { return aclmdlRIDestroyUnregisterCallback(model, &CountUp); });
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(count, 10);
}

// Libraries that lend memory to a graph register while it is captured.
TEST_F(DestroyCallback, IsRegisteredDuringTheCaptureAsWell) {
  int count = 0;
  Begin(stream_);
  EXPECT_EQ(aclmdlRIDestroyRegisterCallback(OpenModelOf(stream_), &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(OpenModelOf(stream_)), ACL_ERROR_RT_MODEL_CAPTURED);
  aclmdlRI model = End(stream_).Release();
  EXPECT_EQ(count, 0);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

// What the model used may go in the callback: no replay is left.
TEST_F(DestroyCallback, RunsWhenTheReplaysAreOver) {
  struct Seen {
    Tally tally;
    uint64_t replays = 0;
    static void Look(void* self) {
      auto* seen = static_cast<Seen*>(self);
      seen->replays = seen->tally.Get();
    }
  } seen;
  Begin(stream_);
  ASSERT_EQ(seen.tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(model.get(), &Seen::Look, &seen), ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(seen.replays, 20u);
}

}  // namespace model_destroy_test
}  // namespace ropeway_test::graph
