// no_link RANK 2 FOLDER TEXT: two hosts that have no link in common (the script sees to that). Sends and memory of the other host are
// refused with documented codes and a reason that has TEXT in it, small messages still arrive.
#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 5'000'001;

aclError SendAndReceive(const Rank& self, char* memory, size_t bytes) {
  const uint32_t peer = 1 - self.rank;
  HcclSendRecvItem items[2] = {{HCCL_SEND, memory, bytes, HCCL_DATA_TYPE_UINT8, peer},
                               {HCCL_RECV, memory + kBytes, bytes, HCCL_DATA_TYPE_UINT8, peer}};
  RW_MUST(HcclBatchSendRecv(items, 2, self.comm, self.stream));
  return aclrtSynchronizeStream(self.stream);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  const uint32_t peer = 1 - self.rank;
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, 2 * kBytes));
  RW_MUST(SendAndReceive(self, memory, 100));
  HcclMemDesc own{}, offered{};
  RW_MUST(HcclRegisterMem(self.comm, peer, COMM_MEM_TYPE_DEVICE, memory, kBytes, &own));
  HcclMemDescs send{&own, 1}, receive{&offered, 1};
  u32 count = 0;
  RW_EXPECT(HcclExchangeMemDesc(self.comm, peer, &send, 0, &receive, &count) == HCCL_E_NOT_SUPPORT);
  const char* text = aclGetRecentErrMsg();
  RW_EXPECT(text != nullptr && strstr(text, argv[4]) != nullptr);
  const aclError error = SendAndReceive(self, memory, kBytes);
  RW_EXPECT(error == 507899 || error == 507057);  // here, or there in the same moment
  HcclResult why = HCCL_SUCCESS;
  RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  RW_EXPECT(why == HCCL_E_NOT_SUPPORT || why == HCCL_E_REMOTE);
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  self.Leave();
  printf("rank %u: refused\n", self.rank);
}
