// Captured host functions, callbacks, notifies and words: they happen at every replay, in the order of the graph and
// between its branches. And the graph with nothing in it.
#include <pthread.h>

#include <atomic>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace captured_sync_test {

using CapturedSync = CaptureTest;

TEST_F(CapturedSync, EmptyGraphKeepsTheOrderOfTheStream) {
  Cell from{5}, to;
  PinnedBuffer source(8);
  Begin(stream_);
  Model model = End(stream_);
  for (uint64_t value : {6, 7}) {
    std::memcpy(source.get(), &value, 8);
    ASSERT_EQ(Copy(from.get(), source.get(), 8, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    ASSERT_EQ(Copy(to.get(), from.get(), 8, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(to.Get(), value);
  }
}

// Looks at what the copy in front of it has brought, and leaves something for the copy behind it.
struct Middle {
  PinnedBuffer in{64}, out{64};
  int calls = 0;
  static void Call(void* self) {
    auto* middle = static_cast<Middle*>(self);
    for (size_t i = 0; i < 64; ++i) middle->out.get()[i] = static_cast<uint8_t>(middle->in.get()[i] + 1);
    ++middle->calls;
  }
};

TEST_F(CapturedSync, HostFunctionRunsAtEveryReplayBetweenTheWorkAroundIt) {
  Middle middle;
  DeviceBuffer from(64), to(64);
  Begin(stream_);
  ASSERT_EQ(Copy(middle.in.get(), from.get(), 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &Middle::Call, &middle), ACL_SUCCESS);
  ASSERT_EQ(Copy(to.get(), middle.out.get(), 64, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(middle.calls, 0);
  for (uint8_t value : {10, 20}) {
    from.Write(std::vector<uint8_t>(64, value));
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(to.Read(64), std::vector<uint8_t>(64, static_cast<uint8_t>(value + 1)));
  }
  EXPECT_EQ(middle.calls, 2);
}

TEST_F(CapturedSync, HostFunctionsOfTwoBranchesRun) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  int here = 0, there = 0;
  Begin(stream_);
  Link(stream_, fork, branch);
  ASSERT_EQ(aclrtLaunchHostFunc(branch, &CountUp, &there), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &here), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  for (int replay = 1; replay <= 3; ++replay) {
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(here, replay);
    EXPECT_EQ(there, replay);
  }
}

// A thread that serves callbacks until it is gone.
class CallbackServer {
 public:
  CallbackServer() : thread_([this] { Loop(); }) { id_.wait(0); }
  ~CallbackServer() {
    stop_ = true;
    thread_.join();
  }
  uint64_t id() const { return id_; }

 private:
  void Loop() {
    id_ = static_cast<uint64_t>(pthread_self());
    id_.notify_all();
    // 107012 until the stream is subscribed, 507012 when nothing came.
    while (!stop_) aclrtProcessReport(20);
  }
  std::atomic<uint64_t> id_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(CapturedSync, CallbackRunsAtEveryReplayOnTheThreadOfItsStream) {
  struct Seen {
    int calls = 0;
    uint64_t thread = 0;
    static void Call(void* self) {
      auto* seen = static_cast<Seen*>(self);
      ++seen->calls;
      seen->thread = static_cast<uint64_t>(pthread_self());
    }
  } seen;
  CallbackServer server;
  Tally behind;
  ASSERT_EQ(aclrtSubscribeReport(server.id(), stream_), ACL_SUCCESS);
  {
    Begin(stream_);
    ASSERT_EQ(aclrtLaunchCallback(&Seen::Call, &seen, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
    ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
    Model model = End(stream_);
    for (int replay = 1; replay <= 2; ++replay) {
      EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
      EXPECT_EQ(seen.calls, replay);
      EXPECT_EQ(behind.Get(), static_cast<uint64_t>(replay));
    }
  }
  EXPECT_EQ(seen.thread, server.id());
  EXPECT_EQ(aclrtUnSubscribeReport(server.id(), stream_), ACL_SUCCESS);
}

TEST_F(CapturedSync, NotifyIsSetAndClearedAtEveryReplay) {
  TestNotify notify;
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (int replay = 0; replay < 3; ++replay) EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 3u);
  aclrtStream waiter = NewStream();
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), waiter, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "no record is left over";
  ASSERT_EQ(aclrtRecordNotify(notify.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiter), ACL_SUCCESS);
}

TEST_F(CapturedSync, NotifyOfTheOutsideLetsAReplayGoOn) {
  TestNotify notify;
  aclrtStream outside = NewStream();
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint64_t replay = 0; replay < 2; ++replay) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(tally.Get(), replay);
    ASSERT_EQ(aclrtRecordNotify(notify.get(), outside), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), replay + 1);
  }
}

// Two branches and something that makes one wait for the other; the wait is captured in front of what ends it.
class CapturedBranches : public CaptureTest {
 protected:
  void ExpectOrdered(const Callable<void(aclrtStream)>& wait, const Callable<void(aclrtStream)>& release) {
    TestEvent fork(EventKind::kEx), join(EventKind::kEx);
    aclrtStream branch = NewStream();
    PinnedBuffer source(8), target(8);
    Cell word;
    Begin(stream_);
    Link(stream_, fork, branch);
    wait(branch);
    ASSERT_EQ(Copy(target.get(), word.get(), 8, branch), ACL_SUCCESS);
    ASSERT_EQ(Copy(word.get(), source.get(), 8, stream_), ACL_SUCCESS);
    release(stream_);
    Link(branch, join, stream_);
    ASSERT_EQ(aclrtMemsetAsync(word.get(), 8, 0, 8, stream_), ACL_SUCCESS);
    Model model = End(stream_);
    for (uint32_t seed : {1, 2, 3}) {
      Fill(source, Pattern(8, seed));
      EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
      EXPECT_EQ(BytesAt(target.get(), 8), Pattern(8, seed));
    }
  }
};

TEST_F(CapturedBranches, WaitForEachOthersNotify) {
  TestNotify notify;
  ExpectOrdered([&](aclrtStream stream) { ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream, 0), ACL_SUCCESS); },
                [&](aclrtStream stream) { ASSERT_EQ(aclrtRecordNotify(notify.get(), stream), ACL_SUCCESS); });
}

TEST_F(CapturedBranches, WaitForEachOthersWord) {
  Cell word;
  ExpectOrdered(
      [&](aclrtStream stream) {
        ASSERT_EQ(aclrtValueWait(word.get(), 7, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtValueWrite(word.get(), 0, 0, stream), ACL_SUCCESS) << "for the next replay";
      },
      [&](aclrtStream stream) { ASSERT_EQ(aclrtValueWrite(word.get(), 7, 0, stream), ACL_SUCCESS); });
  EXPECT_EQ(word.Get(), 0u);
}

TEST_F(CapturedSync, WordIsWrittenAtEveryReplay) {
  Cell word;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWrite(word.get(), 0x123456789ABCDEF0, 0, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(word.Get(), 0u);
  for (int replay = 0; replay < 2; ++replay) {
    word.Set(5);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(word.Get(), 0x123456789ABCDEF0u);
  }
}

TEST_F(CapturedSync, WordIsComparedAgainAtEveryReplay) {
  Cell word;
  aclrtStream outside = NewStream();
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(aclrtValueWait(word.get(), 3, ACL_STREAM_WAIT_VALUE_EQ, stream_), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint64_t replay = 0; replay < 2; ++replay) {
    word.Set(2);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(tally.Get(), replay);
    ASSERT_EQ(aclrtValueWrite(word.get(), 3, 0, outside), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(tally.Get(), replay + 1);
  }
}

}  // namespace captured_sync_test
}  // namespace ropeway_test::graph
