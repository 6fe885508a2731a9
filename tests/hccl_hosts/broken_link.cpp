// broken_link RANK 2 FOLDER: rank 0 puts until the script breaks something (the link, or rank 1 itself); the stream must fail with
// a documented code, the communicator must know why, and everything must still be destroyed.
#include "bench/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 8 << 20;

void PutUntilItFails(const Rank& self, void* memory, const CommMem& there, const Folder& folder) {
  HcclOneSideOpDesc item{memory, there.addr, kBytes, HCCL_DATA_TYPE_UINT8};
  aclError error = 0;
  for (int i = 0; error == 0; ++i) {
    RW_MUST(HcclBatchPut(self.comm, 1, &item, 1, self.stream));
    error = aclrtSynchronizeStream(self.stream);
    if (i == 2) folder.Write("moving", "x");
  }
  RW_EXPECT(error == 507056 || error == 507057);  // link error, remote error
  HcclResult why = HCCL_SUCCESS;
  RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  RW_EXPECT(why == HCCL_E_ROCE_TRANSFER || why == HCCL_E_TCP_TRANSFER || why == HCCL_E_REMOTE);
  const char* text = aclGetRecentErrMsg();
  printf("failed as it should: %d, %d, %s\n", error, static_cast<int>(why), text == nullptr ? "" : text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  void* const memory = Allocate(COMM_MEM_TYPE_DEVICE, kBytes);
  const CommMem there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, memory, kBytes}});
  if (self.rank == 0) {
    PutUntilItFails(self, memory, there, folder);
    folder.Write("failed", "x");
  } else {
    folder.Await("failed");
  }
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  RW_MUST(HcclCommDestroy(self.comm));
  RW_MUST(aclrtResetDeviceForce(0));
  printf("rank %u: destroyed\n", self.rank);
}
