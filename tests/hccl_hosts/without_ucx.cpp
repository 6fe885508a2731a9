// without_ucx RANK 2 FOLDER: one of two hosts, or both, cannot use UCX (the script sees to that). Sends arrive all the same;
// memory of the other host is refused with a documented code.
#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  const uint32_t peer = 1 - self.rank;
  constexpr size_t kBytes = 5'000'001;
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, 2 * kBytes));
  for (int round = 1; round <= 4; ++round) {
    RW_MUST(aclrtMemset(memory, kBytes, round * 10 + static_cast<int>(self.rank), kBytes));
    HcclSendRecvItem items[2] = {{HCCL_SEND, memory, kBytes, HCCL_DATA_TYPE_UINT8, peer},
                                 {HCCL_RECV, memory + kBytes, kBytes, HCCL_DATA_TYPE_UINT8, peer}};
    RW_MUST(HcclBatchSendRecv(items, 2, self.comm, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
    std::vector<char> got(kBytes);
    RW_MUST(aclrtMemcpy(got.data(), kBytes, memory + kBytes, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    RW_EXPECT(got == std::vector<char>(kBytes, static_cast<char>(round * 10 + static_cast<int>(peer))));
  }
  HcclMemDesc own{}, offered{};
  RW_MUST(HcclRegisterMem(self.comm, peer, COMM_MEM_TYPE_DEVICE, memory, kBytes, &own));
  HcclMemDescs send{&own, 1}, receive{&offered, 1};
  u32 count = 0;
  RW_EXPECT(HcclExchangeMemDesc(self.comm, peer, &send, 0, &receive, &count) == HCCL_E_NOT_SUPPORT);
  const char* text = aclGetRecentErrMsg();
  RW_EXPECT(text != nullptr && strstr(text, "UCX") != nullptr);
  self.Barrier();
  self.Leave();
  printf("rank %u: sent without UCX\n", self.rank);
}
