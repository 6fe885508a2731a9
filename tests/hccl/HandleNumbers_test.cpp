// Programs keep handles in an int64_t: those of HCCL are positive ones, too.
#include "dispatcher_test_util.h"
#include "one_sided.h"

namespace hccl_handle_numbers_test {

using namespace ropeway_test;

class HcclHandleNumbers : public RanksTest {};

void ExpectPositive(const char* what, const void* handle) {
  EXPECT_GT(static_cast<int64_t>(reinterpret_cast<uintptr_t>(handle)), 0) << what;
}

TEST_F(HcclHandleNumbers, FitInt64) {
  RunCommunicator(1, [](Rank& self) {
    ExpectPositive("communicator", self.comm);
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher), HCCL_SUCCESS);
    ExpectPositive("dispatcher", dispatcher);
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
    Side side(self, 0, COMM_MEM_TYPE_HOST, 4096);
    const CommMem memory{side.type, side.memory, side.size};
    void* registered = nullptr;
    ASSERT_EQ(HcclRegisterGlobalMem(&memory, &registered), HCCL_SUCCESS);
    ExpectPositive("global memory", registered);
    EXPECT_EQ(HcclDeregisterGlobalMem(registered), HCCL_SUCCESS);
  });
}

}  // namespace hccl_handle_numbers_test
