// One dispatcher in many hands: copies, settings, recordings and the end of another dispatcher at the same time.
#include <atomic>
#include <thread>

#include "dispatcher_test_util.h"

namespace hccl_threads_test {

using namespace dispatcher_test;

class HcclThreads : public DispatcherTest {};

void Count(void* counter, void*, u32) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST_F(HcclThreads, EveryThreadsCopiesArriveAndAreReported) {
  constexpr int kThreads = 4;
  constexpr int kCopies = 40;
  std::atomic<int> reports{0};
  ASSERT_EQ(RegisterLoadTaskCallBack(dispatcher_, &reports, &Count), HCCL_SUCCESS);
  ropeway_test::bytes::OnDeviceThreads(kThreads, [&](int number) {
    hccl::Stream stream(hccl::StreamType::STREAM_TYPE_ONLINE);
    DeviceBuffer a(64);
    DeviceBuffer b(64);
    for (int i = 0; i < kCopies; ++i) {
      a.Write(Pattern(64, static_cast<uint32_t>(number * 100 + i)));
      EXPECT_EQ(HcclMemcpyAsync(dispatcher_, b.get(), 64, a.get(), 64, kD2D, stream, kNoRank, kOnChip), HCCL_SUCCESS);
      EXPECT_EQ(HcclSetQosCfg(dispatcher_, static_cast<u32>(i)), HCCL_SUCCESS);
      EXPECT_EQ(ForceProfOn(dispatcher_, i % 2 == 0), HCCL_SUCCESS);
      EXPECT_EQ(hcclStreamSynchronize(stream.ptr()), HCCL_SUCCESS);
      EXPECT_EQ(b.Read(64), Pattern(64, static_cast<uint32_t>(number * 100 + i)));
    }
  });
  EXPECT_EQ(reports.load(), kThreads * kCopies);
}

TEST_F(HcclThreads, RecordingWhileOthersLaunchLosesNothing) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20;
  DeviceBuffer sum(4);
  DeviceBuffer one(4);
  sum.Write({0, 0, 0, 0});
  one.Write({1, 0, 0, 0});
  // Whoever launches takes what all have recorded so far; reductions outside of a recording are queued at once.
  ropeway_test::bytes::OnDeviceThreads(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_EQ(HcclReduceAsync(dispatcher_, one.get(), 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, wrapped_, sum.get(), 0, kOnChip, 1),
                HCCL_SUCCESS);
      EXPECT_EQ(LaunchTask(dispatcher_, wrapped_), HCCL_SUCCESS);
    }
  });
  Sync();
  EXPECT_EQ(sum.Read(4), (std::vector<uint8_t>{kThreads * kRounds, 0, 0, 0}));
}

TEST_F(HcclThreads, DispatchersComeAndGoBesideEachOther) {
  ropeway_test::bytes::OnDeviceThreads(4, [&](int) {
    for (int i = 0; i < 50; ++i) {
      HcclDispatcher dispatcher = nullptr;
      EXPECT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher), HCCL_SUCCESS);
      EXPECT_EQ(StreamSync(dispatcher, empty_), HCCL_SUCCESS);
      EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
      EXPECT_EQ(StreamSync(dispatcher, empty_), HCCL_E_PARA);
    }
    TakeErrorText();
  });
}

}  // namespace hccl_threads_test
