// killed_in_collective RANK SIZE FOLDER VICTIM MICROSECONDS: ranks carry out collectives of all sizes, and one of them is killed so long
// after it has joined. The others must see a documented error wherever that meets them, and must be able to destroy everything. They print
// how many milliseconds after the death they knew.
#include "tests/hccl_hosts/death.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 2 << 20;

HcclResult Call(const Rank& self, uint32_t round, char* in, char* out) {
  static constexpr size_t kSizes[] = {64, 20'000, kBytes, 4096, 300'000};
  const size_t bytes = kSizes[round % std::size(kSizes)], each = bytes / self.size;
  switch (round % 4) {
    case 0: return HcclAllReduce(in, out, bytes, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, self.comm, self.stream);
    case 1: return HcclAllGather(in, out, each, HCCL_DATA_TYPE_INT8, self.comm, self.stream);
    case 2: return HcclAlltoAll(in, each, HCCL_DATA_TYPE_INT8, out, each, HCCL_DATA_TYPE_INT8, self.comm, self.stream);
    default: return HcclBroadcast(in, bytes, HCCL_DATA_TYPE_INT8, round / 4 % self.size, self.comm, self.stream);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), static_cast<uint32_t>(atoi(argv[2])), folder);
  char* const in = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kBytes));
  char* const out = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kBytes));
  if (self.rank == static_cast<uint32_t>(atoi(argv[4]))) DieAfter(atol(argv[5]), folder);
  aclError error = 0;
  for (uint32_t round = 0; error == 0; ++round) {
    RW_MUST(Call(self, round, in, out));
    error = aclrtSynchronizeStream(self.stream);
  }
  const long known = Now();
  if (error != 507056 && error != 507057) Die("aclrtSynchronizeStream", __LINE__, error);
  HcclResult why = HCCL_SUCCESS;
  RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  if (why != HCCL_E_REMOTE && why != HCCL_E_TCP_TRANSFER && why != HCCL_E_TCP_CONNECT && why != HCCL_E_ROCE_TRANSFER)
    Die("HcclGetCommAsyncError", __LINE__, why);
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  self.Leave();
  printf("known after %ld ms\n", (known - DeathOf(folder)) / 1000);
}
