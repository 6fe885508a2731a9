// The rest of what is refused: core groups, overflow flags, message buffers, snapshots, profiler marks, cache barriers.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace misc_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;

class RefusedMisc : public StreamTest {
 protected:
  void* const p_ = Nonsense();
  void* out_ = Nonsense();
  size_t size_ = 77;
  uint32_t number_ = 77;
  void ExpectOutputsUntouched() const {
    EXPECT_EQ(out_, Nonsense());
    EXPECT_EQ(size_, 77u);
    EXPECT_EQ(number_, 77u);
  }
};

TEST_F(RefusedMisc, CoreGroups) {
  auto* group = static_cast<aclrtGroupInfo*>(p_);
  ExpectRefusals(
      {
          {"aclrtSetGroup", [] { return aclrtSetGroup(0); }},
          {"aclrtGetGroupCount",
           [&] { return aclrtGetGroupCount(&number_); },
           {{kNull, [] { return aclrtGetGroupCount(nullptr); }}}},
          {"aclrtDestroyGroupInfo",
           [&] { return aclrtDestroyGroupInfo(group); },
           {{kNull, [] { return aclrtDestroyGroupInfo(nullptr); }}}},
          {"aclrtGetAllGroupInfo",
           [&] { return aclrtGetAllGroupInfo(group); },
           {{kNull, [] { return aclrtGetAllGroupInfo(nullptr); }}}},
          {"aclrtGetGroupInfoDetail",
           [&] { return aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AICORE_INT, &number_, sizeof(number_), &size_); },
           {{kNull, [&] { return aclrtGetGroupInfoDetail(nullptr, 0, ACL_GROUP_AICORE_INT, &number_, 4, &size_); }},
            {kNull, [&] { return aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AICORE_INT, nullptr, 4, &size_); }},
            {kNull, [&] { return aclrtGetGroupInfoDetail(group, 0, ACL_GROUP_AICORE_INT, &number_, 4, nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(aclrtCreateGroupInfo(), nullptr);
  EXPECT_NE(TakeErrorText().find("aclrtCreateGroupInfo: "), std::string::npos);
  ExpectOutputsUntouched();
}

TEST_F(RefusedMisc, OverflowFlags) {
  DeviceBuffer flags(64);
  ExpectRefusals(
      {
          {"aclrtGetOverflowStatus",
           [&] { return aclrtGetOverflowStatus(flags.get(), 64, stream_); },
           {{kNull, [&] { return aclrtGetOverflowStatus(nullptr, 64, p_); }},
            {kStale, [&] { return aclrtGetOverflowStatus(flags.get(), 64, p_); }}}},
          {"aclrtGetFloatOverflowStatus",
           [&] { return aclrtGetFloatOverflowStatus(flags.get(), 64, stream_); },
           {{kNull, [&] { return aclrtGetFloatOverflowStatus(nullptr, 64, stream_); }}}},
          {"aclrtNpuGetFloatOverFlowStatus",
           [&] { return aclrtNpuGetFloatOverFlowStatus(flags.get(), 64, 0, stream_); },
           {{kNull, [&] { return aclrtNpuGetFloatOverFlowStatus(nullptr, 64, 0, stream_); }}}},
          {"aclrtResetOverflowStatus",
           [&] { return aclrtResetOverflowStatus(stream_); },
           {{kStale, [&] { return aclrtResetOverflowStatus(p_); }}}},
          {"aclrtResetFloatOverflowStatus",
           [&] { return aclrtResetFloatOverflowStatus(nullptr); },
           {{kStale, [&] { return aclrtResetFloatOverflowStatus(p_); }}}},
          {"aclrtNpuClearFloatOverFlowStatus",
           [&] { return aclrtNpuClearFloatOverFlowStatus(0, stream_); },
           {{kStale, [&] { return aclrtNpuClearFloatOverFlowStatus(0, p_); }}}},
      },
      LastError::kHides);
  ExpectRefusals({{"aclrtCtxGetFloatOverflowAddr",
                   [&] { return aclrtCtxGetFloatOverflowAddr(&out_); },
                   {{kNull, [] { return aclrtCtxGetFloatOverflowAddr(nullptr); }}}}},
                 LastError::kShows);
  ExpectOutputsUntouched();
}

TEST_F(RefusedMisc, MessageBuffers) {
  ExpectRefusals(
      {
          {"aclrtAllocBuf",
           [&] { return aclrtAllocBuf(&out_, 64); },
           {{kNull, [] { return aclrtAllocBuf(nullptr, 64); }}}},
          {"aclrtFreeBuf", [&] { return aclrtFreeBuf(p_); }, {{kNull, [] { return aclrtFreeBuf(nullptr); }}}},
          {"aclrtSetBufDataLen",
           [&] { return aclrtSetBufDataLen(p_, 64); },
           {{kNull, [] { return aclrtSetBufDataLen(nullptr, 64); }}}},
          {"aclrtGetBufDataLen",
           [&] { return aclrtGetBufDataLen(p_, &size_); },
           {{kNull, [&] { return aclrtGetBufDataLen(nullptr, &size_); }},
            {kNull, [&] { return aclrtGetBufDataLen(p_, nullptr); }}}},
          {"aclrtGetBufData",
           [&] { return aclrtGetBufData(p_, &out_, &size_); },
           {{kNull, [&] { return aclrtGetBufData(p_, nullptr, &size_); }},
            {kNull, [&] { return aclrtGetBufData(p_, &out_, nullptr); }}}},
          {"aclrtSetBufUserData",
           [&] { return aclrtSetBufUserData(p_, &number_, 4, 0); },
           {{kNull, [&] { return aclrtSetBufUserData(p_, nullptr, 4, 0); }}}},
          {"aclrtGetBufUserData",
           [&] { return aclrtGetBufUserData(p_, &number_, 4, 0); },
           {{kNull, [&] { return aclrtGetBufUserData(p_, nullptr, 4, 0); }}}},
          {"aclrtCopyBufRef",
           [&] { return aclrtCopyBufRef(p_, &out_); },
           {{kNull, [&] { return aclrtCopyBufRef(nullptr, &out_); }},
            {kNull, [&] { return aclrtCopyBufRef(p_, nullptr); }}}},
          {"aclrtAppendBufChain",
           [&] { return aclrtAppendBufChain(p_, p_); },
           {{kNull, [&] { return aclrtAppendBufChain(nullptr, p_); }},
            {kNull, [&] { return aclrtAppendBufChain(p_, nullptr); }}}},
          {"aclrtGetBufChainNum",
           [&] { return aclrtGetBufChainNum(p_, &number_); },
           {{kNull, [&] { return aclrtGetBufChainNum(p_, nullptr); }}}},
          {"aclrtGetBufFromChain",
           [&] { return aclrtGetBufFromChain(p_, 0, &out_); },
           {{kNull, [&] { return aclrtGetBufFromChain(p_, 0, nullptr); }}}},
      },
      LastError::kShows);
  ExpectOutputsUntouched();
}

uint32_t Snapped(int32_t, void*) { return 0; }

TEST_F(RefusedMisc, Snapshots) {
  const auto bad_stage = static_cast<aclrtSnapShotStage>(6);
  aclrtSnapShotBackupArgs backup = {};
  aclrtSnapShotRestoreArgs restore = {};
  ExpectRefusals(
      {
          {"aclrtSnapShotProcessLock",
           [] { return aclrtSnapShotProcessLock(1, nullptr); },
           {{kNull, [&] { return aclrtSnapShotProcessLock(1, p_); }}}},
          {"aclrtSnapShotProcessUnlock",
           [] { return aclrtSnapShotProcessUnlock(1, nullptr); },
           {{kNull, [&] { return aclrtSnapShotProcessUnlock(1, p_); }}}},
          {"aclrtSnapShotProcessBackup", [&] { return aclrtSnapShotProcessBackup(1, &backup); }},
          {"aclrtSnapShotProcessRestore", [&] { return aclrtSnapShotProcessRestore(1, &restore); }},
          {"aclrtSnapShotCallbackRegister",
           [] { return aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, Snapped, nullptr); },
           {{kNull, [] { return aclrtSnapShotCallbackRegister(ACL_RT_SNAPSHOT_LOCK_PRE, nullptr, nullptr); }},
            {kNull, [&] { return aclrtSnapShotCallbackRegister(bad_stage, Snapped, nullptr); }}}},
          {"aclrtSnapShotCallbackUnregister",
           [] { return aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, Snapped); },
           {{kNull, [] { return aclrtSnapShotCallbackUnregister(ACL_RT_SNAPSHOT_LOCK_PRE, nullptr); }}}},
      },
      LastError::kShows);
}

TEST_F(RefusedMisc, ProfilerMarks) {
  char mark[] = "step";
  ExpectRefusals({{"aclrtProfTrace",
                   [&] { return aclrtProfTrace(mark, sizeof(mark), stream_); },
                   {{kNull, [&] { return aclrtProfTrace(nullptr, sizeof(mark), stream_); }},
                    {kRange, [&] { return aclrtProfTrace(mark, 0, stream_); }},
                    {kStale, [&] { return aclrtProfTrace(mark, sizeof(mark), p_); }}}}},
                 LastError::kShows);
}

TEST_F(RefusedMisc, CacheBarriersAndFlush) {
  aclrtBarrierTaskInfo barriers = {};
  barriers.barrierNum = 1;
  barriers.cmoInfo[0] = {ACL_RT_CMO_TYPE_INVALID, 1};
  aclrtBarrierTaskInfo none = barriers, many = barriers, prefetch = barriers, no_id = barriers;
  none.barrierNum = 0;
  many.barrierNum = ACL_RT_CMO_MAX_BARRIER_NUM + 1;
  prefetch.cmoInfo[0].cmoType = ACL_RT_CMO_TYPE_PREFETCH;
  no_id.cmoInfo[0].barrierId = 0;
  ExpectRefusals(
      {
          {"aclrtDeviceL2CacheFlush",
           [] { return aclrtDeviceL2CacheFlush(nullptr); },
           {{kNull, [&] { return aclrtDeviceL2CacheFlush(p_); }}}},
          {"aclrtCmoAsyncWithBarrier",
           [&] { return aclrtCmoAsyncWithBarrier(p_, 64, ACL_RT_CMO_TYPE_INVALID, 1, stream_); },
           {{kNull, [&] { return aclrtCmoAsyncWithBarrier(nullptr, 64, ACL_RT_CMO_TYPE_INVALID, 1, stream_); }}}},
          {"aclrtCmoWaitBarrier",
           [&] { return aclrtCmoWaitBarrier(&barriers, stream_, 0); },
           {{kRange, [&] { return aclrtCmoWaitBarrier(nullptr, stream_, 0); }},
            {kRange, [&] { return aclrtCmoWaitBarrier(&none, stream_, 0); }},
            {kRange, [&] { return aclrtCmoWaitBarrier(&many, stream_, 0); }},
            {kRange, [&] { return aclrtCmoWaitBarrier(&prefetch, stream_, 0); }},
            {kRange, [&] { return aclrtCmoWaitBarrier(&no_id, stream_, 0); }}}},
      },
      LastError::kShows);
}

using RefusedWithoutDevice = BareTest;

TEST_F(RefusedWithoutDevice, CacheFlushAsksForAContext) {
  EXPECT_EQ(aclrtDeviceL2CacheFlush(Nonsense()), kNull);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
}

}  // namespace misc_test
}  // namespace ropeway_test
#endif
