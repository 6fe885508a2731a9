// What the roles share: a rank's device, stream and communicator, and checks that end the process with a message.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"
#include "hccl_ranks/process/rank_process.h"

// In a role: a value that is not the expected one ends the process with status 1.
#define RW_ROLE_EXPECT(condition)                                                                                                    \
  do {                                                                                                                               \
    if (!(condition)) {                                                                                                              \
      const char* rw_text = aclGetRecentErrMsg();                                                                                    \
      std::fprintf(stderr, "%s:%d: rank %u: not true: %s\n%s\n", __FILE__, __LINE__, call.rank, #condition, rw_text ? rw_text : ""); \
      std::exit(1);                                                                                                                  \
    }                                                                                                                                \
  } while (false)

namespace ropeway_test {

struct RankState {
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
};

inline HcclResult JoinByRoot(RoleCall& call, RankState* state) {
  RW_ROLE_EXPECT(aclrtSetDevice(static_cast<int32_t>(call.rank) % 8) == ACL_SUCCESS);
  HcclRootInfo root;
  if (call.rank == 0) {
    RW_ROLE_EXPECT(HcclGetRootInfo(&root) == HCCL_SUCCESS);
    call.parent.Say(ToHex(&root, sizeof root));
  } else {
    const std::string bytes = FromHex(call.parent.Hear());
    RW_ROLE_EXPECT(bytes.size() == sizeof root);
    std::memcpy(&root, bytes.data(), sizeof root);
  }
  const HcclResult result = HcclCommInitRootInfo(call.size, &root, call.rank, &state->comm);
  if (result == HCCL_SUCCESS) {
    RW_ROLE_EXPECT(aclrtCreateStream(&state->stream) == ACL_SUCCESS);
  }
  return result;
}

inline void Leave(RoleCall& call, RankState& state) {
  RW_ROLE_EXPECT(HcclCommDestroy(state.comm) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtDestroyStreamForce(state.stream) == ACL_SUCCESS);
}

inline std::vector<uint8_t> PatternOf(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

// Sends to the right and receives from the left, and looks at every byte.
inline void RingOnce(RoleCall& call, RankState& state, size_t size, uint32_t seed) {
  const uint32_t right = (call.rank + 1) % call.size, left = (call.rank + call.size - 1) % call.size;
  void *out = nullptr, *in = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&out, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMalloc(&in, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const std::vector<uint8_t> mine = PatternOf(size, seed + call.rank), theirs = PatternOf(size, seed + left);
  RW_ROLE_EXPECT(aclrtMemcpy(out, size, mine.data(), size, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
  HcclSendRecvItem items[2] = {{HCCL_SEND, out, size, HCCL_DATA_TYPE_UINT8, right}, {HCCL_RECV, in, size, HCCL_DATA_TYPE_UINT8, left}};
  RW_ROLE_EXPECT(HcclBatchSendRecv(items, 2, state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  std::vector<uint8_t> got(size);
  RW_ROLE_EXPECT(aclrtMemcpy(got.data(), size, in, size, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(got == theirs);
  RW_ROLE_EXPECT(aclrtFree(out) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtFree(in) == ACL_SUCCESS);
}

inline bool IsLoss(HcclResult result) { return result == HCCL_E_REMOTE || result == HCCL_E_TCP_TRANSFER; }
inline bool IsLossOnStream(aclError code) { return code == 507056 || code == 507057; }

inline void ExpectAllGood(std::vector<RankProcess>& ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(ranks[rank].Wait(), 0) << "rank " << rank;
}

// As between hosts.
inline const std::map<std::string, std::string> kOverNetwork = {{"HCCL_INTRA_ROCE_ENABLE", "1"}};

}  // namespace ropeway_test
