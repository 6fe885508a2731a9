// Two or more ranks as threads that have offered a region to each other, for the tests of the one-sided service.
#pragma once

#include <barrier>

#include "hccl/hccl_one_sided_services.h"
#include "hccl_ranks/ranks.h"

namespace ropeway_test {

constexpr size_t kRegion = 300'000;  // several chunks of the link and a rest

// One rank with one region, registered for and enabled by one peer.
struct Side {
  Side(Rank& self, uint32_t peer, CommMemType memory_type, size_t bytes = kRegion)
      : rank(self), peer_rank(peer), type(memory_type), size(bytes) {
    if (type == COMM_MEM_TYPE_DEVICE) {
      EXPECT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemset(memory, size, static_cast<int>(self.rank), size), ACL_SUCCESS);
    } else {
      EXPECT_EQ(aclrtMallocHost(&memory, size), ACL_SUCCESS);
      memset(memory, static_cast<int>(self.rank), size);
    }
  }
  ~Side() { EXPECT_EQ(type == COMM_MEM_TYPE_DEVICE ? aclrtFree(memory) : aclrtFreeHost(memory), ACL_SUCCESS); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void Open() {
    ASSERT_EQ(HcclRegisterMem(rank.comm, peer_rank, type, memory, size, &own), HCCL_SUCCESS) << aclGetRecentErrMsg();
    HcclMemDescs local{&own, 1};
    HcclMemDescs remote{&offered, 1};
    u32 count = 0;
    ASSERT_EQ(HcclExchangeMemDesc(rank.comm, peer_rank, &local, 0, &remote, &count), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(count, 1u);
    ASSERT_EQ(HcclEnableMemAccess(rank.comm, &offered, &there), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(there.size, size);
  }
  void Close() {
    EXPECT_EQ(HcclDisableMemAccess(rank.comm, &offered), HCCL_SUCCESS);
    EXPECT_EQ(HcclDeregisterMem(rank.comm, &own), HCCL_SUCCESS);
  }
  HcclOneSideOpDesc Item(size_t local, size_t remote, size_t bytes) const {
    return {static_cast<char*>(memory) + local, static_cast<char*>(there.addr) + remote, bytes, HCCL_DATA_TYPE_INT8};
  }
  std::vector<uint8_t> Read() const {
    std::vector<uint8_t> bytes(size);
    const auto kind = type == COMM_MEM_TYPE_DEVICE ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
    EXPECT_EQ(aclrtMemcpy(bytes.data(), size, memory, size, kind), ACL_SUCCESS);
    return bytes;
  }

  Rank& rank;
  const uint32_t peer_rank;
  const CommMemType type;
  const size_t size;
  void* memory = nullptr;
  HcclMemDesc own{};
  HcclMemDesc offered{};
  CommMem there{};
};

}  // namespace ropeway_test
