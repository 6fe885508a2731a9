// Fences: behind the work that is queued, and behind synchronous operations of other threads.
#include "stream/fence.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <deque>

#include "unit/stream_fixture.h"

namespace ropeway_unit {
namespace fence_test {

class FenceTest : public testing::Test {
 protected:
  FailureScope scope_;
  Gate gate_;
  CountingMarker marker_;
};

TEST_F(FenceTest, WithNothingToDoItIsPassed) {
  Fence fence = Fence::BehindAll();
  EXPECT_TRUE(fence.Passed());
  EXPECT_TRUE(fence.Passed());
}

TEST_F(FenceTest, IdleStreamsDoNotHoldItUp) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(MarkTask(&marker_)).ok());
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  EXPECT_TRUE(Fence::BehindAll().Passed());
}

TEST_F(FenceTest, QueuedWorkHoldsItUpAndLaterWorkDoesNot) {
  TestStream stream(&scope_);
  Gate later;
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  Fence fence = Fence::BehindAll();
  EXPECT_FALSE(fence.Passed());
  ASSERT_TRUE(stream.Submit(AwaitTask(&later, &marker_)).ok());
  gate_.Open();
  while (!fence.Passed()) sched_yield();
  EXPECT_EQ(stream->Query(), false);
  later.Open();
}

TEST_F(FenceTest, AllStreamsCount) {
  TestStream first(&scope_), second(&scope_);
  Gate other;
  ASSERT_TRUE(first.Submit(AwaitTask(&gate_, &marker_)).ok());
  ASSERT_TRUE(second.Submit(AwaitTask(&other, &marker_)).ok());
  Fence fence = Fence::BehindAll();
  gate_.Open();
  ASSERT_TRUE(first->Synchronize(Deadline::Never()).ok());
  EXPECT_FALSE(fence.Passed());
  other.Open();
  ASSERT_TRUE(second->Synchronize(Deadline::Never()).ok());
  EXPECT_TRUE(fence.Passed());
}

// More than there are periods at a time; each is passed behind its own work, and none for good.
TEST_F(FenceTest, AnyNumberMayBePending) {
  TestStream stream(&scope_);
  std::deque<Gate> gates(20);
  std::vector<Fence> fences;
  for (Gate& gate : gates) {
    ASSERT_TRUE(stream.Submit(AwaitTask(&gate, &marker_)).ok());
    fences.push_back(Fence::BehindAll());
  }
  for (size_t i = 0; i < gates.size(); ++i) {
    for (size_t later = i; later < gates.size(); ++later) EXPECT_FALSE(fences[later].Passed()) << later << " behind gate " << i;
    gates[i].Open();
    if (i < FenceMarks::kPeriods) {
      while (!fences[i].Passed()) sched_yield();
    }
  }
  ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
  for (const Fence& fence : fences) EXPECT_TRUE(fence.Passed());
}

// Streams at rest are left out, and asked again when they get work.
TEST_F(FenceTest, AStreamThatRestedIsAskedAgain) {
  TestStream stream(&scope_);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(stream.Submit(MarkTask(&marker_)).ok());
    ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(Fence::BehindAll().Passed());
    gate_.Close();
    ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
    const Fence fence = Fence::BehindAll();
    EXPECT_FALSE(fence.Passed());
    gate_.Open();
    ASSERT_TRUE(stream->Synchronize(Deadline::Never()).ok());
    EXPECT_TRUE(fence.Passed());
  }
}

// Threads that submit to streams at rest while others make fences: none is passed before the work in front of it is done.
TEST_F(FenceTest, NoFenceMissesAStreamThatIsJustRoused) {
  constexpr int kThreads = 3;
  std::atomic<int> early{0};
  const auto work = [&] {
    TestStream stream(&scope_);
    CountingMarker marker;
    std::deque<Gate> gates(300);
    for (Gate& gate : gates) {
      EXPECT_TRUE(stream.Submit(AwaitTask(&gate, &marker)).ok());
      const Fence fence = Fence::BehindAll();
      early += fence.Passed();
      gate.Open();
      EXPECT_TRUE(stream->Synchronize(Deadline::Never()).ok());
      for (int i = 0; i < 3; ++i) Fence::BehindAll().Passed();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(early, 0);
}

TEST_F(FenceTest, AnAbortedStreamLetsItPass) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  Fence fence = Fence::BehindAll();
  ASSERT_TRUE(stream->Abort().ok());
  EXPECT_TRUE(fence.Passed());
}

TEST_F(FenceTest, AStreamThatIsBeingDestroyedStillCounts) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  std::thread destroyer([&] { stream.Destroy(false); });
  // The handle becomes stale first; whether it has or not, the work counts.
  Fence fence = Fence::BehindAll();
  EXPECT_FALSE(fence.Passed());
  gate_.Open();
  destroyer.join();
  EXPECT_TRUE(fence.Passed());
}

TEST_F(FenceTest, ASynchronousOperationInProgressHoldsItUp) {
  Latch begun, may_end;
  std::thread thread([&] {
    SyncOperation operation;
    begun.Release();
    may_end.Await();
  });
  begun.Await();
  Fence fence = Fence::BehindAll();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(fence.Passed());
  may_end.Release();
  thread.join();
  EXPECT_TRUE(fence.Passed());
}

TEST_F(FenceTest, ASynchronousOperationThatBeginsLaterDoesNot) {
  auto first = std::make_unique<SyncOperation>();
  Fence fence = Fence::BehindAll();
  EXPECT_FALSE(fence.Passed());
  SyncOperation later;
  first.reset();
  EXPECT_TRUE(fence.Passed());
}

TEST_F(FenceTest, OperationsThatComeAndGoAllTheTimeDoNotStarveIt) {
  std::atomic<bool> stop{false};
  auto work = [&] {
    while (!stop) SyncOperation operation;
  };
  std::thread first(work), second(work);
  for (int i = 0; i < 200; ++i) {
    Fence fence = Fence::BehindAll();
    while (!fence.Passed()) sched_yield();
  }
  stop = true;
  first.join();
  second.join();
}

// What an operation looked up stays until the operation ends: the flag stands for the memory.
TEST_F(FenceTest, NobodyIsInsideWhenAFencePasses) {
  std::atomic<std::atomic<int>*> current{new std::atomic<int>(1)};
  std::atomic<bool> stop{false};
  std::atomic<int> dead_reads{0};
  auto read = [&] {
    while (!stop) {
      SyncOperation operation;
      std::atomic<int>* value = current;
      for (int i = 0; i < 20; ++i) dead_reads += *value != 1;
    }
  };
  std::thread first(read), second(read);
  std::vector<std::unique_ptr<std::atomic<int>>> kept;
  for (int round = 0; round < 500; ++round) {
    std::atomic<int>* old = current.exchange(new std::atomic<int>(1));
    Fence fence = Fence::BehindAll();
    while (!fence.Passed()) sched_yield();
    *old = 0;  // dead: any reader that still looks is wrong
    kept.emplace_back(old);
  }
  stop = true;
  first.join();
  second.join();
  delete current.load();
  EXPECT_EQ(dead_reads, 0);
}

// An engine that lets the test look at the moment in which a stream is half made.
class NosyEngine : public Engine {
 public:
  const Traits& traits() const override { return SharedEngine().traits(); }
  EngineMemory& memory() override { return SharedEngine().memory(); }
  std::unique_ptr<Queue> CreateQueue() override {
    asked = true;
    EXPECT_TRUE(Fence::BehindAll().Passed());
    return SharedEngine().CreateQueue();
  }
  void SetJudge(const AddressJudge*) override {}
  int RunNow(const Task&, TaskFailure*) override { return 0; }
  void Stop() override {}
  bool asked = false;
};

// Memory is freed on one thread while another creates the first stream of a slab object. In a child process, because the
// answer may be a crash.
TEST_F(FenceTest, AStreamThatIsJustBeingMadeDoesNotDisturbIt) {
  SharedEngine();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    NosyEngine engine;
    while (!engine.asked) Stream::Create({&engine, &scope_, 0, 0, 0, false});
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with status " << status;
}

TEST_F(FenceTest, AwaitReturnsWhenTheWorkIsDone) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(MarkTask(&marker_)).ok());
  EXPECT_TRUE(Fence::BehindAll().Await());
  EXPECT_TRUE(Fence::BehindAll().Await()) << "nothing to wait for";
}

TEST_F(FenceTest, AwaitGivesUpOnWorkThatStandsStill) {
  TestStream stream(&scope_);
  ASSERT_TRUE(stream.Submit(AwaitTask(&gate_, &marker_)).ok());
  Fence fence = Fence::BehindAll();
  EXPECT_FALSE(fence.Await());
  gate_.Open();
  EXPECT_TRUE(fence.Await());
}

}  // namespace fence_test
}  // namespace ropeway_unit
