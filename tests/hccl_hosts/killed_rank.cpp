// killed_rank RANK 4 FOLDER MICROSECONDS: rank 1 is killed so long after it has joined, somewhere between its first word and the middle of
// a transfer. Rank 0 must see a documented error wherever that meets it, and must be able to destroy everything; it prints how many
// milliseconds after the death it knew. Ranks 2 and 3 are not concerned: they exchange bytes meanwhile, and still do so when the folder
// says that all of it is over.
#include "tests/hccl_hosts/death.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 8 << 20;  // of each of three parts: what puts read and write, what gets read, and what gets write
constexpr char kGot = 'g';

bool IsLoss(long code) {
  return code == HCCL_E_REMOTE || code == HCCL_E_TCP_CONNECT || code == HCCL_E_TCP_TRANSFER || code == HCCL_E_ROCE_CONNECT ||
         code == HCCL_E_ROCE_TRANSFER;
}

// False when the peer has gone meanwhile, for which the call has one code.
bool Exchange(const Rank& self, void* memory, HcclMemDesc* offered) {
  HcclMemDesc own{};
  RW_MUST(HcclRegisterMem(self.comm, 1 - self.rank, COMM_MEM_TYPE_HOST, memory, 3 * kBytes, &own));
  HcclMemDescs send{&own, 1}, receive{offered, 1};
  u32 count = 0;
  const HcclResult result = HcclExchangeMemDesc(self.comm, 1 - self.rank, &send, 0, &receive, &count);
  if (result != HCCL_SUCCESS && result != HCCL_E_RUNTIME) Die("HcclExchangeMemDesc", __LINE__, result);
  return result == HCCL_SUCCESS;
}

// Puts and gets in turns. A get that is good has brought its bytes.
void MoveUntilItFails(const Rank& self, char* memory, HcclMemDesc offered) {
  CommMem there{};
  RW_MUST(HcclEnableMemAccess(self.comm, &offered, &there));
  char* const got = memory + 2 * kBytes;
  aclError error = 0;
  for (size_t i = 0, bytes = 1; error == 0; ++i, bytes = bytes * 3 % kBytes) {
    const bool put = i % 2 == 0;
    got[0] = got[bytes - 1] = 0;
    HcclOneSideOpDesc item{put ? memory : got, static_cast<char*>(there.addr) + (put ? 0 : kBytes), bytes, HCCL_DATA_TYPE_UINT8};
    RW_MUST((put ? HcclBatchPut : HcclBatchGet)(self.comm, 1 - self.rank, &item, 1, self.stream));
    error = aclrtSynchronizeStream(self.stream);
    RW_EXPECT(put || error != 0 || (got[0] == kGot && got[bytes - 1] == kGot));
  }
  if (error != 507056 && error != 507057) Die("aclrtSynchronizeStream", __LINE__, error);
}

// Puts into the partner's memory and gets it back, of all sizes.
void Stand(Rank& self, const Folder& folder) {
  constexpr size_t kMost = 300'000;
  constexpr int kRoundsAfterwards = 10;
  const uint32_t partner = 5 - self.rank;
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, 3 * kMost));  // the partner's, what is put, what is got
  const CommMem there = Open(self, partner, {{COMM_MEM_TYPE_HOST, memory, 3 * kMost}});
  char* const put = memory + kMost;
  char* const got = memory + 2 * kMost;
  int afterwards = 0;
  for (size_t i = 1; afterwards < kRoundsAfterwards; ++i) {
    afterwards += folder.Has("over");
    const size_t bytes = 1 + i * 7919 % kMost;
    memset(put, static_cast<int>(i % 251), bytes);
    HcclOneSideOpDesc away{put, there.addr, bytes, HCCL_DATA_TYPE_UINT8}, back{got, there.addr, bytes, HCCL_DATA_TYPE_UINT8};
    RW_MUST(HcclBatchPut(self.comm, partner, &away, 1, self.stream));
    RW_MUST(HcclBatchGet(self.comm, partner, &back, 1, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
    RW_EXPECT(memcmp(put, got, bytes) == 0);
  }
  folder.Write("stood" + std::to_string(self.rank), "");
  folder.Await("stood" + std::to_string(partner));
  self.Leave();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 4, folder);
  if (self.rank > 1) {
    Stand(self, folder);
    return 0;
  }
  if (self.rank == 1) DieAfter(atol(argv[4]), folder);
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, 3 * kBytes));
  memset(memory + kBytes, kGot, kBytes);
  HcclMemDesc offered{};
  if (Exchange(self, memory, &offered)) MoveUntilItFails(self, memory, offered);
  HcclResult why = HCCL_SUCCESS;
  // What ends the exchange is told to the communicator a moment later.
  do RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  while (why == HCCL_SUCCESS);
  const long known = Now();
  if (!IsLoss(why)) Die("HcclGetCommAsyncError", __LINE__, why);
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  self.Leave();
  printf("known after %ld ms\n", (known - DeathOf(folder)) / 1000);
}
