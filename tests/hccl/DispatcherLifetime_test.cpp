// Dispatchers come and go: types, devices, handles, and every setting.
#include "dispatcher_test_util.h"

namespace hccl_dispatcher_lifetime_test {

using namespace dispatcher_test;
using ropeway_test::bytes::OnFreshThread;

class HcclDispatcherLifetime : public ropeway_test::BareTest {};
class HcclDispatcherSettings : public DispatcherTest {};

constexpr auto kNormal = DispatcherType::DISPATCHER_NORMAL;

TEST_F(HcclDispatcherLifetime, ChecksComeInOrderAndTheOutputIsLeftAlone) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* const untouched = this;
  HcclDispatcher dispatcher = untouched;
  EXPECT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 4711, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 4711, &dispatcher), HCCL_E_RUNTIME);
  EXPECT_EQ(HcclDispatcherInit(kNormal, -2, &dispatcher), HCCL_E_RUNTIME);
  EXPECT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_AICPU, 0, &dispatcher), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclDispatcherInit(static_cast<DispatcherType>(3), HOST_DEVICE_ID, &dispatcher), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclDispatcherAicpuInit(nullptr, 0, 0), HCCL_E_PTR);
  EXPECT_EQ(HcclDispatcherAicpuInit(&dispatcher, 0, 0), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(dispatcher, untouched);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

TEST_F(HcclDispatcherLifetime, AHostDispatcherNeedsNoDevice) {
  OnFreshThread([] {
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(kNormal, HOST_DEVICE_ID, &dispatcher), HCCL_SUCCESS);
    int from = 5;
    int to = 0;
    hccl::Stream none;
    EXPECT_EQ(HcclMemcpyAsync(dispatcher, &to, sizeof(to), &from, sizeof(from), kH2D, none, kNoRank, kOnChip), HCCL_SUCCESS);
    EXPECT_EQ(to, 5);
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  });
}

TEST_F(HcclDispatcherLifetime, AThreadWithoutAContextGetsTheDeviceForTheTime) {
  OnFreshThread([] {
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(kNormal, 0, &dispatcher), HCCL_SUCCESS);
    int32_t active = 0;
    EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
    EXPECT_EQ(active, 1);
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
    EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
    EXPECT_EQ(active, 0);
  });
}

TEST_F(HcclDispatcherLifetime, AContextThatIsThereIsLeftAlone) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  HcclDispatcher dispatcher = nullptr;
  ASSERT_EQ(HcclDispatcherInit(kNormal, 1, &dispatcher), HCCL_SUCCESS);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

TEST_F(HcclDispatcherLifetime, TheOlderFormTakesALogicalIdAndAProfiler) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  HcclDispatcher dispatcher = nullptr;
  const std::shared_ptr<hccl::ProfilerManager> profiler;
  EXPECT_EQ(HcclDispatcherInit(kNormal, 0, profiler, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclDispatcherInit(kNormal, 4711, profiler, &dispatcher), HCCL_E_RUNTIME);
  EXPECT_EQ(HcclDispatcherInit(kNormal, 0, profiler, &dispatcher), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherInit(kNormal, HOST_DEVICE_ID, profiler, &dispatcher), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

TEST_F(HcclDispatcherSettings, DestroyWaitsForNothingAndQueuedCopiesComplete) {
  HcclDispatcher passing = nullptr;
  ASSERT_EQ(HcclDispatcherInit(kNormal, 0, &passing), HCCL_SUCCESS);
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(Pattern(64, 1));
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  EXPECT_EQ(HcclMemcpyAsync(passing, b.get(), 64, a.get(), 64, kD2D, wrapped_, kNoRank, kOnChip), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherDestroy(passing), HCCL_SUCCESS);
  gate.Open();
  Sync();
  EXPECT_EQ(b.Read(64), Pattern(64, 1));
}

TEST_F(HcclDispatcherSettings, DestroyAcceptsNullAndRefusesAStaleHandle) {
  EXPECT_EQ(HcclDispatcherDestroy(nullptr), HCCL_SUCCESS);
  HcclDispatcher gone = nullptr;
  ASSERT_EQ(HcclDispatcherInit(kNormal, 0, &gone), HCCL_SUCCESS);
  ASSERT_EQ(HcclDispatcherDestroy(gone), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherDestroy(gone), HCCL_E_PARA);
  int word = 0;
  EXPECT_EQ(HcclMemcpyAsync(gone, &word, 4, &word, 4, kH2D, wrapped_, kNoRank, kOnChip), HCCL_E_PARA);
  EXPECT_EQ(HcclMemcpyAsync(&word, &word, 4, &word, 4, kH2D, wrapped_, kNoRank, kOnChip), HCCL_E_PARA);
  EXPECT_NE(TakeErrorText().find("not a live dispatcher"), std::string::npos);
}

TEST_F(HcclDispatcherSettings, EveryFunctionRefusesNull) {
  std::vector<void*> list;
  std::vector<hccl::Stream> subs;
  SyncMode mode = DEFAULT_TIMEWAITSYNCMODE;
  u32 qos = 0;
  bool open = false;
  HcclDispatcher none = nullptr;
  const std::vector<HcclResult> answers = {HcclSetGlobalWorkSpace(none, list),
                                           HcclSetNotifyWaitMode(none, mode),
                                           HcclGetNotifyWaitMode(none, &mode),
                                           HcclSetExecTimeOut(none, 1),
                                           SetMultiQpMode(none, true),
                                           SetNormalMode(none),
                                           HcclGetCallbackResult(none),
                                           HcclDispatcherWaitValue(none, wrapped_, 0, 0, false),
                                           HcclDispatcherWriteValue(none, wrapped_, 0, 0),
                                           InitTask(none, wrapped_, false, ""),
                                           LaunchTask(none, wrapped_),
                                           LaunchTaskExtend(none, wrapped_, subs),
                                           AddRetryPreamble(none, wrapped_),
                                           StreamSync(none, wrapped_),
                                           RegisterLoadTaskCallBack(none, nullptr, nullptr),
                                           ForceProfOn(none, true),
                                           HcclSetOpExecStatusCallback(none, nullptr),
                                           HcclSetSqeTimeOut(none, 1),
                                           HcclSetSqFullWaitTimeOut(none, 1),
                                           HcclSetOpRingBufferIdx(none, 1),
                                           HcclSetQosCfg(none, 1),
                                           HcclResetQosCfg(none),
                                           HcclGetQosCfg(none, &qos),
                                           IsCtxInitialized(none, &open),
                                           HcclGetNotifyWaitMode(dispatcher_, nullptr),
                                           HcclGetQosCfg(dispatcher_, nullptr),
                                           IsCtxInitialized(dispatcher_, nullptr)};
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i], HCCL_E_PTR) << "number " << i;
  TakeErrorText();
}

TEST_F(HcclDispatcherSettings, WaitModesAreKeptAndBadOnesRefused) {
  SyncMode mode = UNLIMITED_TIMEWAITSYNCMODE;
  EXPECT_EQ(HcclGetNotifyWaitMode(dispatcher_, &mode), HCCL_SUCCESS);
  EXPECT_EQ(mode, DEFAULT_TIMEWAITSYNCMODE);
  EXPECT_EQ(HcclSetNotifyWaitMode(dispatcher_, UNLIMITED_TIMEWAITSYNCMODE), HCCL_SUCCESS);
  EXPECT_EQ(HcclSetNotifyWaitMode(dispatcher_, static_cast<SyncMode>(3)), HCCL_E_PARA);
  EXPECT_EQ(HcclSetNotifyWaitMode(dispatcher_, static_cast<SyncMode>(-1)), HCCL_E_PARA);
  EXPECT_EQ(HcclGetNotifyWaitMode(dispatcher_, &mode), HCCL_SUCCESS);
  EXPECT_EQ(mode, UNLIMITED_TIMEWAITSYNCMODE);
  EXPECT_EQ(HcclSetExecTimeOut(dispatcher_, -1), HCCL_E_PARA);
  EXPECT_EQ(HcclSetExecTimeOut(dispatcher_, 0), HCCL_SUCCESS);
  TakeErrorText();
}

TEST_F(HcclDispatcherSettings, QualityOfServiceIsUnsetUntilSet) {
  u32 qos = 0;
  EXPECT_EQ(HcclGetQosCfg(dispatcher_, &qos), HCCL_SUCCESS);
  EXPECT_EQ(qos, INVALID_QOSCFG);
  EXPECT_EQ(HcclSetQosCfg(dispatcher_, 6), HCCL_SUCCESS);
  EXPECT_EQ(HcclGetQosCfg(dispatcher_, &qos), HCCL_SUCCESS);
  EXPECT_EQ(qos, 6u);
  EXPECT_EQ(HcclResetQosCfg(dispatcher_), HCCL_SUCCESS);
  EXPECT_EQ(HcclGetQosCfg(dispatcher_, &qos), HCCL_SUCCESS);
  EXPECT_EQ(qos, INVALID_QOSCFG);
}

TEST_F(HcclDispatcherSettings, DeviceSideSettingsAreInternalErrorsOnTheHost) {
  EXPECT_EQ(HcclSetOpExecStatusCallback(dispatcher_, [] { return HCCL_SUCCESS; }), HCCL_E_INTERNAL);
  EXPECT_EQ(HcclSetSqeTimeOut(dispatcher_, 1), HCCL_E_INTERNAL);
  EXPECT_EQ(HcclSetSqFullWaitTimeOut(dispatcher_, 1), HCCL_E_INTERNAL);
  EXPECT_EQ(HcclSetOpRingBufferIdx(dispatcher_, 1), HCCL_E_INTERNAL);
  TakeErrorText();
}

// rules/hccl-copy.md 5.
TEST_F(HcclDispatcherSettings, SomeCallsSucceedAndDoNothing) {
  std::vector<void*> list;
  EXPECT_EQ(HcclSetGlobalWorkSpace(dispatcher_, list), HCCL_SUCCESS);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(HcclDispatcherWaitValue(dispatcher_, wrapped_, 1, 1, true), HCCL_SUCCESS);
  EXPECT_EQ(HcclDispatcherWriteValue(dispatcher_, wrapped_, 1, 1), HCCL_SUCCESS);
  EXPECT_EQ(AddRetryPreamble(dispatcher_, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(HcclGetCallbackResult(dispatcher_), HCCL_SUCCESS);
  EXPECT_EQ(SetMultiQpMode(dispatcher_, true), HCCL_SUCCESS);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  EXPECT_EQ(StreamSync(dispatcher_, wrapped_), HCCL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "it does not wait";
  gate.Open();
  Sync();
}

}  // namespace hccl_dispatcher_lifetime_test
