// Communicators of threads: how they come about, what they say about themselves, barriers, and their end.
#include <set>

#include "hccl_ranks/ranks.h"

namespace communicator_test {

using namespace ropeway_test;

class Communicators : public RanksTest {};

TEST_F(Communicators, EveryRankKnowsItsPlace) {
  for (const uint32_t size : {1u, 2u, 3u, 8u}) {
    RunCommunicator(size, [](Rank& self) {
      uint32_t rank = 99, count = 99;
      EXPECT_EQ(HcclGetRankId(self.comm, &rank), HCCL_SUCCESS);
      EXPECT_EQ(HcclGetRankSize(self.comm, &count), HCCL_SUCCESS);
      EXPECT_EQ(rank, self.rank);
      EXPECT_EQ(count, self.size);
      HcclResult error = HCCL_E_INTERNAL;
      EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
      EXPECT_EQ(error, HCCL_SUCCESS);
    });
  }
}

TEST_F(Communicators, BarrierMeets) {
  RunCommunicator(4, [](Rank& self) {
    for (int i = 0; i < 20; ++i) ASSERT_EQ(HcclBarrier(self.comm, self.stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
  });
}

}  // namespace communicator_test
