// InitTask to LaunchTask: what is recorded, in which order it runs, and who is told.
#include "dispatcher_test_util.h"

namespace hccl_recording_test {

using namespace dispatcher_test;
using hccl::DeviceMem;

HcclDispatcher g_seen_dispatcher = nullptr;
std::vector<std::string> g_calls;
HcclResult g_answer = HCCL_SUCCESS;

HcclResult OnInit(const HcclDispatcher& dispatcher, hccl::Stream&) {
  g_seen_dispatcher = dispatcher;
  g_calls.push_back("init");
  return g_answer;
}
HcclResult OnLaunch(const HcclDispatcher& dispatcher, hccl::Stream&) {
  g_seen_dispatcher = dispatcher;
  g_calls.push_back("launch");
  return g_answer;
}

class HcclRecording : public DispatcherTest {
 protected:
  void SetUp() override {
    DispatcherTest::SetUp();
    g_calls.clear();
    g_answer = HCCL_SUCCESS;
    a_ = std::make_unique<DeviceBuffer>(64);
    b_ = std::make_unique<DeviceBuffer>(64);
    c_ = std::make_unique<DeviceBuffer>(64);
    a_->Write(Pattern(64, 1));
    b_->Write(Pattern(64, 2));
    c_->Write(Pattern(64, 3));
  }
  void TearDown() override {
    RegisterInitTaskCallBack(nullptr);
    RegisterLaunchTaskCallBack(nullptr);
    a_.reset();
    b_.reset();
    c_.reset();
    DispatcherTest::TearDown();
  }
  HcclResult D2D(const DeviceBuffer& dst, const DeviceBuffer& src, hccl::Stream& stream) {
    DeviceMem to = DeviceMem::create(dst.get(), dst.size());
    return HcclD2DMemcpyAsync(dispatcher_, to, DeviceMem::create(src.get(), src.size()), stream);
  }
  HcclResult Begin() { return InitTask(dispatcher_, wrapped_, false, ""); }
  bool Open() {
    bool open = false;
    EXPECT_EQ(IsCtxInitialized(dispatcher_, &open), HCCL_SUCCESS);
    return open;
  }
  std::unique_ptr<DeviceBuffer> a_, b_, c_;
};

TEST_F(HcclRecording, ANewDispatcherPassesThrough) {
  EXPECT_FALSE(Open());
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 1));
}

TEST_F(HcclRecording, RecordedCopiesRunAtLaunch) {
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_TRUE(Open());
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*c_, *b_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 2));
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  EXPECT_FALSE(Open());
  Sync();
  EXPECT_EQ(c_->Read(64), Pattern(64, 1));
}

// rules/hccl-copy.md 4.
TEST_F(HcclRecording, HcclMemcpyAsyncIsNotRecordedAndOvertakes) {
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(Copy(c_->get(), 64, b_->get(), 64, kD2D), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(c_->Read(64), Pattern(64, 2)) << "b before the recorded copy";
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 1));
}

TEST_F(HcclRecording, ReductionsAndSignalsAreRecorded) {
  Notify notify;
  SubStream sub;
  a_->Write(std::vector<uint8_t>(64, 1));
  b_->Write(std::vector<uint8_t>(64, 2));
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  // The wait is recorded before the signal that it waits for: only side by side can they run.
  EXPECT_EQ(HcclSignalWait(dispatcher_, notify.handle, wrapped_, 0, 0, -1, true), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*c_, *b_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(HcclReduceAsync(dispatcher_, a_->get(), 64, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, sub.wrapped, b_->get(), 0, kOnChip, 1),
            HCCL_SUCCESS);
  EXPECT_EQ(HcclSignalRecord(dispatcher_, notify.handle, sub.wrapped, 0, 0, -1, true, 0), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), std::vector<uint8_t>(64, 2));
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(c_->Read(64), std::vector<uint8_t>(64, 3));
}

TEST_F(HcclRecording, TheSubgraphStartsBehindTheLaunchingStream) {
  SubStream sub;
  PinnedBuffer host(64);
  PinnedBuffer back(64);
  memset(host.get(), 9, 64);
  memset(back.get(), 0, 64);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  EXPECT_EQ(Copy(a_->get(), 64, host.get(), 64, kH2D), HCCL_SUCCESS);
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, sub.wrapped), HCCL_SUCCESS);
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(Copy(back.get(), 64, b_->get(), 64, kD2H), HCCL_SUCCESS);
  // However long one waits for the sub-stream, it does not come to its copy before the gate is open.
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(sub.handle, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.Open();
  Sync();
  EXPECT_EQ(back.get()[63], 9);
}

TEST_F(HcclRecording, LaterWorkWaitsForEverySubStream) {
  SubStream sub;
  StreamGate gate;
  ASSERT_EQ(gate.Close(sub.handle), ACL_SUCCESS);
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, sub.wrapped), HCCL_SUCCESS);
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(Copy(c_->get(), 64, b_->get(), 64, kD2D), HCCL_SUCCESS);
  gate.AwaitArrival();
  EXPECT_EQ(c_->Read(64), Pattern(64, 3));
  gate.Open();
  Sync();
  EXPECT_EQ(c_->Read(64), Pattern(64, 1));
}

TEST_F(HcclRecording, SetNormalModeDropsTheRecording) {
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  ASSERT_EQ(SetNormalMode(dispatcher_), HCCL_SUCCESS);
  EXPECT_FALSE(Open());
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 2));
}

TEST_F(HcclRecording, ARecordingIsLaunchedOnceUnlessRecordedAgain) {
  ASSERT_EQ(InitTask(dispatcher_, wrapped_, true, "key"), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  std::vector<hccl::Stream> subs;
  ASSERT_EQ(LaunchTaskExtend(dispatcher_, wrapped_, subs), HCCL_SUCCESS);
  Sync();
  b_->Write(Pattern(64, 2));
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 2));
  ASSERT_EQ(InitTask(dispatcher_, wrapped_, true, "key", true), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*c_, *a_, wrapped_), HCCL_SUCCESS);
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(c_->Read(64), Pattern(64, 1)) << "the arguments of this time";
  EXPECT_EQ(b_->Read(64), Pattern(64, 2));
}

TEST_F(HcclRecording, ARefusedNodeComesOutOfLaunchAndEarlierOnesRun) {
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  DeviceMem to = DeviceMem::create(c_->get(), 1u << 30);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, to, DeviceMem::create(a_->get(), 1u << 30), wrapped_), HCCL_SUCCESS);
  TakeErrorText();
  EXPECT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_E_RUNTIME);
  EXPECT_NE(TakeErrorText().find("LaunchTask: "), std::string::npos);
  EXPECT_FALSE(Open());
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 1));
}

TEST_F(HcclRecording, RecordedTasksAreReportedWithTheirNumber) {
  TaskLog log(dispatcher_);
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*c_, *b_, wrapped_), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 2u);
  EXPECT_TRUE(log.tasks[1].isFftsDispatcher);
  EXPECT_EQ(log.tasks[0].dma.ctxId, 0u);
  EXPECT_EQ(log.tasks[1].dma.ctxId, 1u);
  ASSERT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 3u);
  EXPECT_EQ(log.tasks[2].type, hccl::TaskType::TASK_GRAPH_LAUNCH);
  Sync();
}

TEST_F(HcclRecording, CallbacksOfTheProcessAreToldInTurn) {
  RegisterInitTaskCallBack(&OnInit);
  RegisterLaunchTaskCallBack(&OnLaunch);
  EXPECT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(g_seen_dispatcher, dispatcher_);
  EXPECT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(InitTask(virtual_, wrapped_, false, ""), HCCL_SUCCESS);
  EXPECT_EQ(g_seen_dispatcher, virtual_);
  EXPECT_EQ(LaunchTask(virtual_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(g_calls, (std::vector<std::string>{"init", "launch", "init", "launch"}));
}

TEST_F(HcclRecording, ALaunchCallbackThatFailsComesFirst) {
  RegisterLaunchTaskCallBack(&OnLaunch);
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  g_answer = HCCL_E_UNAVAIL;
  EXPECT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_E_UNAVAIL);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 2));
  g_answer = HCCL_SUCCESS;
  EXPECT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 1));
  TakeErrorText();
}

TEST_F(HcclRecording, OnAVirtualDispatcherBothAreWithoutEffect) {
  EXPECT_EQ(InitTask(virtual_, wrapped_, false, ""), HCCL_SUCCESS);
  bool open = true;
  EXPECT_EQ(IsCtxInitialized(virtual_, &open), HCCL_SUCCESS);
  EXPECT_FALSE(open);
  EXPECT_EQ(LaunchTask(virtual_, empty_), HCCL_SUCCESS);
}

TEST_F(HcclRecording, HostTsTurnsRecordingOff) {
  ASSERT_EQ(setenv("HCCL_OP_EXPANSION_MODE", "HOST_TS", 1), 0);
  HcclDispatcher plain = nullptr;
  EXPECT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &plain), HCCL_SUCCESS);
  ASSERT_EQ(unsetenv("HCCL_OP_EXPANSION_MODE"), 0);
  EXPECT_EQ(InitTask(plain, wrapped_, false, ""), HCCL_SUCCESS);
  DeviceMem to = DeviceMem::create(b_->get(), 64);
  EXPECT_EQ(HcclD2DMemcpyAsync(plain, to, DeviceMem::create(a_->get(), 64), wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b_->Read(64), Pattern(64, 1));
  EXPECT_EQ(HcclDispatcherDestroy(plain), HCCL_SUCCESS);
}

TEST_F(HcclRecording, ALaunchNeedsAStream) {
  ASSERT_EQ(Begin(), HCCL_SUCCESS);
  EXPECT_EQ(D2D(*b_, *a_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(LaunchTask(dispatcher_, empty_), HCCL_E_PTR);
  EXPECT_TRUE(Open());
  TakeErrorText();
}

}  // namespace hccl_recording_test
