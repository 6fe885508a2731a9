// Where the prohibitions of a capture end: at the context, with the capture, and at everything that is no unsafe call.
// With several captures the strictest counts.
#include "tests/conformance/graph/unsafe_calls.h"

namespace ropeway_test::graph {
namespace capture_scope_test {

using CaptureScope = CaptureTest;

TEST_F(CaptureScope, CaptureInAnotherContextRestrictsNothing) {
  ForeignContext foreign;
  UnsafeCalls calls(NewStream());
  DeviceWorker here;
  Worker there;
  there.Do([&] {
    ASSERT_EQ(aclrtSetCurrentContext(foreign.context()), ACL_SUCCESS);
    Begin(foreign.stream(), kGlobal);
  });
  calls.ExpectAllForbidden(false, here);
  there.Do([&] {
    DeviceBuffer block(64);
    EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
    Model model = End(foreign.stream());
  });
}

TEST_F(CaptureScope, CapturingThreadIsFreeInAnotherContext) {
  ForeignContext foreign;
  aclrtContext home = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), ACL_SUCCESS);
  DeviceBuffer block(64);
  for (auto mode : {kGlobal, kThreadLocal}) {
    Begin(stream_, mode);
    ASSERT_EQ(aclrtSetCurrentContext(foreign.context()), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS) << Name(mode);
    ASSERT_EQ(aclrtSetCurrentContext(home), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT) << Name(mode);
    Model model = End(stream_);
  }
}

// Two captures at once, by threads A and B; and a thread C without one.
TEST_F(CaptureScope, StrictestRunningModeCounts) {
  enum Who { kA, kB, kC };
  struct Row {
    aclmdlRICaptureMode a, b;
    Who who;
    aclmdlRICaptureMode own;
    bool forbidden;
  };
  constexpr Row kTable[] = {
      {kRelaxed, kGlobal, kC, kGlobal, true},       {kRelaxed, kGlobal, kC, kThreadLocal, false},
      {kRelaxed, kGlobal, kC, kRelaxed, false},     {kRelaxed, kGlobal, kA, kGlobal, true},
      {kRelaxed, kGlobal, kA, kThreadLocal, false}, {kRelaxed, kGlobal, kB, kThreadLocal, true},
      {kThreadLocal, kRelaxed, kA, kGlobal, true},  {kThreadLocal, kRelaxed, kB, kGlobal, false},
      {kThreadLocal, kRelaxed, kC, kGlobal, false}, {kThreadLocal, kGlobal, kA, kThreadLocal, true},
      {kThreadLocal, kGlobal, kC, kGlobal, true},   {kThreadLocal, kGlobal, kC, kThreadLocal, false},
      {kGlobal, kThreadLocal, kB, kGlobal, true},   {kGlobal, kThreadLocal, kB, kRelaxed, false},
  };
  aclrtStream second = NewStream();
  UnsafeCalls calls(NewStream());
  DeviceWorker workers[3];
  for (const Row& row : kTable) {
    SCOPED_TRACE(std::string("A ") + Name(row.a) + ", B " + Name(row.b) + ", thread " + "ABC"[row.who] + " in " + Name(row.own));
    workers[kA].Begin(stream_, row.a);
    workers[kB].Begin(second, row.b);
    workers[row.who].SetMode(row.own);
    calls.ExpectAllForbidden(row.forbidden, workers[row.who]);
    workers[row.who].SetMode(kGlobal);
    workers[kA].End(stream_);
    workers[kB].End(second);
  }
}

TEST_F(CaptureScope, ThreadThatCapturesTwiceIsHeldByTheStricterOne) {
  aclrtStream second = NewStream();
  UnsafeCalls calls(NewStream());
  DeviceWorker worker;
  worker.Begin(stream_, kRelaxed);
  calls.ExpectAllForbidden(false, worker);
  worker.Begin(second, kThreadLocal);
  calls.ExpectAllForbidden(true, worker);
  worker.End(second);
  calls.ExpectAllForbidden(false, worker);
  worker.End(stream_);
}

TEST_F(CaptureScope, ProhibitionEndsWithTheCaptureThatBroughtIt) {
  TestEvent fork(EventKind::kEx);
  aclrtStream second = NewStream();
  UnsafeCalls calls(NewStream());
  DeviceWorker capturer, other;
  capturer.Begin(stream_, kRelaxed);
  capturer.Begin(second, kGlobal);
  calls.ExpectAllForbidden(true, other);
  capturer.End(second);
  calls.ExpectAllForbidden(false, other);
  capturer.Begin(second, kGlobal);
  capturer.Do([&] {
    Link(second, fork, NewStream());
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(second, &model), ACL_ERROR_RT_STREAM_UNJOINED);
  });
  calls.ExpectAllForbidden(false, other);
  calls.ExpectAllForbidden(false, capturer);
  capturer.End(stream_);
}

class FreeCalls : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    other_ = NewStream();
  }
  // The strictest there is: a GLOBAL capture on this very thread.
  void Capture(const Callable<void()>& body) {
    Begin(stream_, kGlobal);
    body();
    EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
    Model model = End(stream_);
  }
  aclrtStream other_ = nullptr;
};

TEST_F(FreeCalls, SyncBatchSetD32AndDescriptorsHaveNoCheck) {
  DeviceBuffer by_batch(64), by_batch_v2(64), by_set(64), descriptor(64), target(64);
  const auto bytes = Pattern(64, 5);
  Capture([&] {
    size_t fail = 77;
    EXPECT_EQ(Batch(Batch::kToDevice).Add(by_batch.get(), bytes.data(), 64).Run(&fail), ACL_SUCCESS);
    EXPECT_EQ(fail, SIZE_MAX);
    EXPECT_EQ(aclrtMemsetD32(by_set.get(), 64, 0x05050505, 16), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, by_batch.get(), target.get(), 64, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, other_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  });
  EXPECT_EQ(by_batch.Read(64), bytes);
  EXPECT_EQ(by_set.Read(64), std::vector<uint8_t>(64, 5));
  EXPECT_EQ(target.Read(64), bytes);
}

TEST_F(FreeCalls, WorkOnOtherStreamsRunsWhenNothingIsPageable) {
  DeviceBuffer device(64), copy(64);
  PinnedBuffer pinned(64), back(64);
  std::vector<uint8_t> set_at_once(64);
  Fill(pinned, Pattern(64, 7));
  TestEvent event(EventKind::kDefault);
  for (aclrtStream stream : {other_, aclrtStream{nullptr}}) {
    std::memset(back.get(), 0, 64);
    Capture([&] {
      EXPECT_EQ(Copy(device.get(), pinned.get(), 64, stream), ACL_SUCCESS);
      EXPECT_EQ(Copy(copy.get(), device.get(), 64, stream), ACL_SUCCESS);
      EXPECT_EQ(Copy(back.get(), copy.get(), 64, stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemsetAsync(copy.get(), 64, 3, 64, stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemsetAsync(set_at_once.data(), 64, 3, 64, stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    });
    EXPECT_EQ(BytesAt(back.get(), 64), Pattern(64, 7));
    EXPECT_EQ(copy.Read(64), std::vector<uint8_t>(64, 3));
    EXPECT_EQ(set_at_once, std::vector<uint8_t>(64, 3));
  }
}

// Kind 5 takes the bytes during the call, but queues the copy: it is no synchronous copy in disguise.
TEST_F(FreeCalls, StagedCopyOfPageableMemoryIsNotUnsafe) {
  DeviceBuffer device(64);
  const auto bytes = Pattern(64, 8);
  Capture([&] {
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, other_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  });
  EXPECT_EQ(device.Read(64), bytes);
}

TEST_F(FreeCalls, ObjectsAndMemoryAreMadeAndDestroyed) {
  std::vector<uint8_t> pageable(4096);
  Capture([&] {
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostRegisterV2(pageable.data(), pageable.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
    EXPECT_EQ(aclrtHostUnregister(pageable.data()), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    aclrtNotify notify = nullptr;
    EXPECT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    for (EventKind kind : {EventKind::kDefault, EventKind::kClassic, EventKind::kEx}) TestEvent event(kind);
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(other_, &status), ACL_SUCCESS);
  });
}

}  // namespace capture_scope_test
}  // namespace ropeway_test::graph
