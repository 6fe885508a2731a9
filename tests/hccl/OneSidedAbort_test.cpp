// Puts and gets whose stream is aborted in the middle: the program may use its local memory for something else at once.
#include <algorithm>
#include <optional>

#include "tests/hccl/abort.h"
#include "tests/hccl/one_sided.h"

namespace one_sided_abort_test {

using namespace ropeway_test;

constexpr size_t kLarge = 8 << 20;

class OneSidedNetworkAbort : public NetworkRanksTest {
 protected:
  // Rank 0 acts on two regions of the same size, full of 1 there and of 0 here, and may not move a byte of 2.
  void RunPair(const std::function<void(Side& here, const SeenMemory& there)>& act) {
    std::barrier<> step(2);
    std::optional<SeenMemory> seen[2];
    RunCommunicator(2, [&](Rank& self) {
      Side side(self, 1 - self.rank, COMM_MEM_TYPE_DEVICE, kLarge);
      side.Open();
      seen[self.rank].emplace(side.memory, kLarge);
      step.arrive_and_wait();
      if (self.rank == 0) act(side, *seen[1]);
      step.arrive_and_wait();
      side.Close();
    });
  }

  // One byte behind all that went over the link before.
  static void PassMark(Side& side) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    HcclOneSideOpDesc last = side.Item(kLarge - 1, kLarge - 1, 1);
    EXPECT_EQ(HcclBatchPut(side.rank.comm, side.peer_rank, &last, 1, stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  }

  static void Fill(void* memory, int byte) { ASSERT_EQ(aclrtMemset(memory, kLarge, byte, kLarge), ACL_SUCCESS); }
};

RW_OVER_EVERY_LINK(OneSidedNetworkAbort);

TEST_P(OneSidedNetworkAbort, AbortedPutReadsItsMemoryNoMore) {
  RunPair([](Side& here, const SeenMemory& target) {
    Fill(here.memory, 3);
    target.SetFirst(0);
    HcclOneSideOpDesc item = here.Item(0, 0, kLarge);
    ASSERT_EQ(HcclBatchPut(here.rank.comm, 1, &item, 1, here.rank.stream), HCCL_SUCCESS);
    AbortInTheMiddle(here.rank.stream, target);
    Fill(here.memory, 2);
    PassMark(here);
    EXPECT_EQ(target.Count(2, kLarge - 1), 0);
    HcclResult error = HCCL_E_RESERVED;
    EXPECT_EQ(HcclGetCommAsyncError(here.rank.comm, &error), HCCL_SUCCESS);
    EXPECT_EQ(error, HCCL_SUCCESS);  // what a program gives up is no error
  });
}

TEST_P(OneSidedNetworkAbort, AbortedGetWritesItsMemoryNoMore) {
  RunPair([](Side& here, const SeenMemory&) {
    const SeenMemory target(here.memory, kLarge);
    HcclOneSideOpDesc item = here.Item(0, 0, kLarge);
    ASSERT_EQ(HcclBatchGet(here.rank.comm, 1, &item, 1, here.rank.stream), HCCL_SUCCESS);
    AbortInTheMiddle(here.rank.stream, target);
    Fill(here.memory, 2);
    PassMark(here);
    EXPECT_EQ(target.Count(2, kLarge), static_cast<long>(kLarge));
  });
}

}  // namespace one_sided_abort_test
