// Replays that do not come to a good end: tasks that fail when they run, and streams that are aborted under a replay.
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace execute_errors_test {

constexpr size_t kSize = 256;

class ExecuteErrors : public CaptureTest {
 protected:
  // The error is the executing stream's, once; stream_, on which the work was captured, knows nothing of it.
  void ExpectOneFailure(const Model& model) {
    aclrtStream executing = NewStream();
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), executing), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(executing), ACL_ERROR_RT_SYS_DMA);
    EXPECT_EQ(aclrtSynchronizeStream(executing), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
};

TEST_F(ExecuteErrors, DescriptorThatWasNeverSetFailsAndMovesNothing) {
  DeviceBuffer descriptor(64), source(kSize), target(kSize);
  source.Write(Pattern(kSize, 1));
  target.Write(Pattern(kSize, 2));
  descriptor.Write(std::vector<uint8_t>(64, 0));
  Begin(stream_);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ExpectOneFailure(model);
  ExpectOneFailure(model);
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, source.get(), target.get(), kSize, nullptr), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(target.Read(kSize), Pattern(kSize, 1));
}

TEST_F(ExecuteErrors, MemoryFreedSinceTheCaptureFailsAndMovesNothing) {
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  DeviceBuffer target(kSize);
  target.Write(Pattern(kSize, 3));
  Begin(stream_);
  ASSERT_EQ(Copy(target.get(), freed, kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  ExpectOneFailure(model);
  EXPECT_EQ(target.Read(kSize), Pattern(kSize, 3));
}

TEST_F(ExecuteErrors, FreedTargetsFailInEveryKindOfWork) {
  void* freed = nullptr;
  DeviceBuffer source(kSize);
  PinnedBuffer pinned(kSize);
  struct Kind {
    const char* what;
    Callable<aclError()> submit;
  };
  const Kind kinds[] = {
      {"copy on the device", [&] { return Copy(freed, source.get(), kSize, stream_); }},
      {"copy from the host", [&] { return Copy(freed, pinned.get(), kSize, stream_); }},
      {"rows", [&] { return aclrtMemcpy2dAsync(freed, 16, pinned.get(), 16, 16, 16, ACL_MEMCPY_HOST_TO_DEVICE, stream_); }},
      {"set", [&] { return aclrtMemsetAsync(freed, kSize, 1, kSize, stream_); }},
      {"reduction",
       [&] { return aclrtReduceAsync(freed, source.get(), kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream_, nullptr); }},
      {"batch",
       [&] {
         size_t fail = 0;
         return Batch(Batch::kToDevice).Add(freed, pinned.get(), kSize).Submit(stream_, &fail);
       }},
  };
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.what);
    ASSERT_EQ(aclrtMalloc(&freed, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    Begin(stream_);
    ASSERT_EQ(kind.submit(), ACL_SUCCESS);
    Model model = End(stream_);
    ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
    ExpectOneFailure(model);
  }
}

TEST_F(ExecuteErrors, PinnedMemoryFreedSinceTheCaptureFailsToo) {
  void* freed = nullptr;
  ASSERT_EQ(aclrtMallocHost(&freed, kSize), ACL_SUCCESS);
  DeviceBuffer target(kSize);
  target.Write(Pattern(kSize, 4));
  Begin(stream_);
  ASSERT_EQ(Copy(target.get(), freed, kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclrtFreeHost(freed), ACL_SUCCESS);
  ExpectOneFailure(model);
  EXPECT_EQ(target.Read(kSize), Pattern(kSize, 4));
}

// Continue mode: the rest of the replay, and of the stream, runs.
TEST_F(ExecuteErrors, WorkBehindAFailedTaskRuns) {
  DeviceBuffer descriptor(64);
  descriptor.Write(std::vector<uint8_t>(64, 0));
  Tally inside, behind;
  Begin(stream_);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream_), ACL_SUCCESS);
  ASSERT_EQ(inside.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(behind.Add(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  EXPECT_EQ(inside.Get(), 1u);
  EXPECT_EQ(behind.Get(), 1u);
}

TEST_F(ExecuteErrors, ErrorOfABranchIsTheExecutingStreamsToo) {
  TestEvent fork(EventKind::kEx), join(EventKind::kEx);
  aclrtStream branch = NewStream();
  DeviceBuffer descriptor(64);
  descriptor.Write(std::vector<uint8_t>(64, 0));
  Begin(stream_);
  Link(stream_, fork, branch);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, branch), ACL_SUCCESS);
  Link(branch, join, stream_);
  Model model = End(stream_);
  ExpectOneFailure(model);
  EXPECT_EQ(aclrtSynchronizeStream(branch), ACL_SUCCESS);
}

// A model that marks its start, waits for a word that the host must set, and counts.
class ExecuteAbort : public CaptureTest {
 protected:
  struct Parts {
    Cell started, word;
    Tally tally;
    TestEvent fork{EventKind::kEx}, join{EventKind::kEx};
  };

  Model Capture(Parts& parts, aclrtStream waiting) {
    Begin(stream_);
    EXPECT_EQ(aclrtValueWrite(parts.started.get(), 1, 0, stream_), ACL_SUCCESS);
    if (waiting != stream_) Link(stream_, parts.fork, waiting);
    EXPECT_EQ(aclrtValueWait(parts.word.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, waiting), ACL_SUCCESS);
    if (waiting != stream_) Link(waiting, parts.join, stream_);
    EXPECT_EQ(parts.tally.Add(stream_), ACL_SUCCESS);
    return End(stream_);
  }

  // The model is as good as new, and so is `stream`.
  static void ExpectUsable(Parts& parts, const Model& model, aclrtStream stream) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(parts.tally.Get(), 0u) << "the rest of the replay was thrown away";
    parts.word.Set(1);
    EXPECT_EQ(Replay(model, stream), ACL_SUCCESS);
    EXPECT_EQ(parts.tally.Get(), 1u);
  }
};

TEST_F(ExecuteAbort, PendingReplayIsThrownAway) {
  Parts parts;
  NeverRecorded forever;
  Model model = Capture(parts, stream_);
  ASSERT_EQ(forever.Block(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(parts.started.Get(), 0u);
  ExpectUsable(parts, model, stream_);
}

TEST_F(ExecuteAbort, RunningReplayIsCutOff) {
  Parts parts;
  Model model = Capture(parts, stream_);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  AwaitCell(parts.started, 1);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  ExpectUsable(parts, model, stream_);
}

TEST_F(ExecuteAbort, RunningReplayIsCutOffInItsBranch) {
  Parts parts;
  aclrtStream branch = NewStream();
  Model model = Capture(parts, branch);
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  AwaitCell(parts.started, 1);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  ExpectUsable(parts, model, stream_);
  EXPECT_EQ(aclrtSynchronizeStream(branch), ACL_SUCCESS);
}

TEST_F(ExecuteAbort, ForcedDestroyOfTheStreamEndsTheReplay) {
  Parts parts;
  Model model = Capture(parts, NewStream());
  TestStream executing;
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), executing.get()), ACL_SUCCESS);
  AwaitCell(parts.started, 1);
  EXPECT_EQ(aclrtDestroyStreamForce(executing.Release()), ACL_SUCCESS);
  ExpectUsable(parts, model, stream_);
}

TEST_F(ExecuteAbort, ModelOfAnAbortedReplayCanBeDestroyed) {
  Parts parts;
  Model model = Capture(parts, NewStream());
  ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
  AwaitCell(parts.started, 1);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(parts.tally.Get(), 0u);
}

}  // namespace execute_errors_test
}  // namespace ropeway_test::graph
