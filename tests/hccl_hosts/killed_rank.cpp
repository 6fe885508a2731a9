// killed_rank RANK 2 FOLDER MICROSECONDS: rank 1 is killed so long after it has joined, somewhere between its first word and the middle of
// a transfer. Rank 0 must see a documented error wherever that meets it, and must be able to destroy everything.
#include <sys/time.h>

#include <csignal>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 8 << 20;  // of each of three parts: what puts read and write, what gets read, and what gets write
constexpr char kGot = 'g';

void DieAfter(long microseconds) {
  signal(SIGALRM, [](int) { raise(SIGKILL); });
  const itimerval timer{{0, 0}, {microseconds / 1'000'000, microseconds % 1'000'000 + 1}};
  RW_MUST(setitimer(ITIMER_REAL, &timer, nullptr));
}

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  if (self.rank == 1) DieAfter(atol(argv[4]));
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, 3 * kBytes));
  memset(memory + kBytes, kGot, kBytes);
  HcclMemDesc offered{};
  if (Exchange(self, memory, &offered)) MoveUntilItFails(self, memory, offered);
  HcclResult why = HCCL_SUCCESS;
  // What ends the exchange is told to the communicator a moment later.
  do RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  while (why == HCCL_SUCCESS);
  if (!IsLoss(why)) Die("HcclGetCommAsyncError", __LINE__, why);
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  self.Leave();
}
