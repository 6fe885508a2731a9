// broken_link RANK 2 FOLDER put|send|wait [ERRORS]: rank 0 puts into rank 1, sends to it, or waits for what does not come after it has
// sent, until the script breaks something (the link, or rank 1 itself). Whoever waits must fail with a documented code, the communicator
// must know why (one of ERRORS, as "13,14"), and everything must still be destroyed.
#include <functional>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBytes = 8 << 20;

const char* wanted = nullptr;  // ERRORS

// `queue` puts the next transfer into the stream.
void MoveUntilItFails(const Rank& self, const Folder& folder, const std::function<void()>& queue) {
  aclError error = 0;
  for (int i = 0; error == 0; ++i) {
    queue();
    error = aclrtSynchronizeStream(self.stream);
    if (i == 2 && self.rank == 0) folder.Write("moving", "x");
  }
  RW_EXPECT(error == 507056 || error == 507057);  // link error, remote error
  HcclResult why = HCCL_SUCCESS;
  RW_MUST(HcclGetCommAsyncError(self.comm, &why));
  RW_EXPECT(why == HCCL_E_ROCE_TRANSFER || why == HCCL_E_TCP_TRANSFER || why == HCCL_E_REMOTE);
  RW_EXPECT(wanted == nullptr || (strstr(wanted, std::to_string(why).c_str()) != nullptr && error == 507056));
  const char* text = aclGetRecentErrMsg();
  printf("failed as it should: %d, %d, %s\n", error, static_cast<int>(why), text == nullptr ? "" : text);
}

void Put(const Rank& self, const Folder& folder, void* memory) {
  const CommMem there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, memory, kBytes}});
  if (self.rank == 1) {
    folder.Await("failed");
    return;
  }
  HcclOneSideOpDesc item{memory, there.addr, kBytes, HCCL_DATA_TYPE_UINT8};
  MoveUntilItFails(self, folder, [&] { RW_MUST(HcclBatchPut(self.comm, 1, &item, 1, self.stream)); });
  folder.Write("failed", "x");
}

void Send(const Rank& self, const Folder& folder, void* memory) {
  const auto call = self.rank == 0 ? HcclSend : HcclRecv;
  const uint32_t peer = 1 - self.rank;
  MoveUntilItFails(self, folder, [&] { RW_MUST(call(memory, kBytes, HCCL_DATA_TYPE_UINT8, peer, self.comm, self.stream)); });
}

// All connections are there, and nothing moves over them any more. Rank 1 is killed.
void Wait(const Rank& self, const Folder& folder, void* memory) {
  RW_MUST((self.rank == 0 ? HcclSend : HcclRecv)(memory, kBytes, HCCL_DATA_TYPE_UINT8, 1 - self.rank, self.comm, self.stream));
  RW_MUST(aclrtSynchronizeStream(self.stream));
  if (self.rank == 1) folder.Await("never");
  folder.Write("moving", "x");
  MoveUntilItFails(self, folder, [&] { RW_MUST(HcclRecv(memory, kBytes, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream)); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  if (argc == 6) wanted = argv[5];
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  void* const memory = Allocate(COMM_MEM_TYPE_DEVICE, kBytes);
  if (strcmp(argv[4], "send") == 0)
    Send(self, folder, memory);
  else if (strcmp(argv[4], "wait") == 0)
    Wait(self, folder, memory);
  else
    Put(self, folder, memory);
  RW_MUST(aclrtDestroyStreamForce(self.stream));
  self.Leave();
  printf("rank %u: destroyed\n", self.rank);
}
