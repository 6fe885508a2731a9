// What the one-sided service refuses, in the order of its checks.
#include "tests/hccl/one_sided.h"

namespace one_sided_checks_test {

using namespace ropeway_test;

using OneSidedChecks = RanksTest;

constexpr u64 kGiB = 1ull << 30;

// A handle that was never given out: not NULL, so the checks behind it are reached.
HcclComm Unknown() { return reinterpret_cast<HcclComm>(uintptr_t{0x12340}); }

void ExpectText(const char* call) {
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find(call), std::string::npos) << text;
}

TEST_F(OneSidedChecks, RegisterMem) {
  RunCommunicator(2, [](Rank& self) {
    if (self.rank != 0) return;
    const DeviceBuffer buffer(1 << 20);
    void* const addr = buffer.get();
    HcclMemDesc desc;
    EXPECT_EQ(HcclRegisterMem(nullptr, 1, 0, addr, 100, &desc), HCCL_E_PTR);
    EXPECT_EQ(HcclRegisterMem(Unknown(), 1, 0, nullptr, 100, &desc), HCCL_E_PTR);
    EXPECT_EQ(HcclRegisterMem(Unknown(), 1, 0, addr, 100, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclRegisterMem(Unknown(), 1, 0, addr, 100, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 2, 0, addr, 100, &desc), HCCL_E_PARA);
    memset(&desc, 77, sizeof desc);
    EXPECT_EQ(HcclRegisterMem(self.comm, 0, 5, addr, 0, &desc), HCCL_SUCCESS) << "the own rank: nothing is looked at";
    EXPECT_EQ(desc.desc[0], 77) << "and nothing written";
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, -1, addr, 100, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 2, addr, 100, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, addr, 0, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, addr, 64 * kGiB + 1, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 1, addr, 1024 * kGiB + 1, &desc), HCCL_E_PARA);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 1, reinterpret_cast<void*>(UINTPTR_MAX - 5), 100, &desc), HCCL_E_PARA);
    ExpectText("HcclRegisterMem");
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(0), 4ull << 20, &desc), HCCL_E_RUNTIME) << "leaves its block";
    char host[100];
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, host, 100, &desc), HCCL_E_RUNTIME) << "not device memory";
  });
}

TEST_F(OneSidedChecks, RegionsMayBeTheSameButNotOverlapInPart) {
  RunCommunicator(2, [](Rank& self) {
    if (self.rank != 0) return;
    const DeviceBuffer buffer(1 << 20);
    HcclMemDesc first, second, other;
    EXPECT_EQ(HcclDeregisterMem(self.comm, &first), HCCL_E_NOT_FOUND);
    ASSERT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(100), 100, &first), HCCL_SUCCESS);
    ASSERT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(100), 100, &second), HCCL_SUCCESS);
    EXPECT_EQ(memcmp(&first, &second, sizeof first), 0);
    u32 ranks[2];
    memcpy(ranks, first.desc, sizeof ranks);
    EXPECT_EQ(ranks[0], 0u) << "the exporter";
    EXPECT_EQ(ranks[1], 1u) << "the peer";
    for (const auto& [at, size] : {std::pair{99, 2}, {199, 2}, {100, 99}, {99, 102}, {150, 10}})
      EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(at), size, &other), HCCL_E_INTERNAL) << at;
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(200), 100, &other), HCCL_SUCCESS) << "a neighbour";
    HcclMemDesc garbage;
    memset(&garbage, 0x5a, sizeof garbage);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &garbage), HCCL_E_INTERNAL);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &first), HCCL_SUCCESS);
    EXPECT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.at(150), 10, &garbage), HCCL_E_INTERNAL) << "one reference is left";
    EXPECT_EQ(HcclDeregisterMem(self.comm, &first), HCCL_SUCCESS);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &first), HCCL_E_INTERNAL);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &other), HCCL_SUCCESS);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &other), HCCL_E_NOT_FOUND);
    EXPECT_EQ(HcclDeregisterMem(nullptr, &other), HCCL_E_PTR);
    EXPECT_EQ(HcclDeregisterMem(self.comm, nullptr), HCCL_E_PTR);
  });
}

TEST_F(OneSidedChecks, ExchangeMemDesc) {
  std::barrier<> step(2);
  RunCommunicator(2, [&](Rank& self) {
    HcclMemDesc none{}, room{};
    HcclMemDescs local{&none, 0}, remote{&room, 1};
    u32 count = 99;
    const u32 peer = 1 - self.rank;
    if (self.rank == 0) {
      EXPECT_EQ(HcclExchangeMemDesc(nullptr, peer, &local, 0, &remote, &count), HCCL_E_PTR);
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, nullptr, 0, &remote, &count), HCCL_E_PTR);
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &local, 0, nullptr, &count), HCCL_E_PTR);
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &local, 0, &remote, nullptr), HCCL_E_PTR);
      HcclMemDescs missing{nullptr, 1};
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &missing, 0, &remote, &count), HCCL_E_PTR);
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, 2, &local, 0, &remote, &count), HCCL_E_PARA);
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, 0, &local, -2, &remote, &count), HCCL_SUCCESS) << "the own rank";
      EXPECT_EQ(count, 99u) << "writes nothing";
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &local, -2, &remote, &count), HCCL_E_PARA);
      HcclMemDescs forged{&none, 1};
      EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &forged, 0, &remote, &count), HCCL_E_INTERNAL);
      ExpectText("HcclExchangeMemDesc");
    }
    step.arrive_and_wait();
    // Nothing to tell, on both sides: still a connection.
    EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &local, -1, &remote, &count), HCCL_SUCCESS);
    EXPECT_EQ(count, 0u);
    // More than there is room for: the original writes past the end.
    const DeviceBuffer buffer(64);
    HcclMemDesc own;
    ASSERT_EQ(HcclRegisterMem(self.comm, peer, 0, buffer.get(), 64, &own), HCCL_SUCCESS);
    local = {&own, 1};
    remote.arrayLength = 0;
    EXPECT_EQ(HcclExchangeMemDesc(self.comm, peer, &local, 0, &remote, &count), HCCL_E_PARA);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &own), HCCL_SUCCESS);
    step.arrive_and_wait();
  });
}

TEST_F(OneSidedChecks, ADescriptorOpensNothingUnlessThePeerSentIt) {
  std::barrier<> step(2);
  HcclMemDesc exported[2];
  RunCommunicator(2, [&](Rank& self) {
    const u32 peer = 1 - self.rank;
    Side side(self, peer, COMM_MEM_TYPE_DEVICE);
    HcclMemDesc unsent;
    CommMem memory{};
    const DeviceBuffer secret(64);
    ASSERT_EQ(HcclRegisterMem(self.comm, peer, 0, secret.get(), 64, &unsent), HCCL_SUCCESS);
    exported[self.rank] = unsent;
    step.arrive_and_wait();
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &exported[peer], &memory), HCCL_E_INTERNAL) << "no connection";
    side.Open();
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &exported[peer], &memory), HCCL_E_INTERNAL) << "found elsewhere";
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &side.own, &memory), HCCL_E_INTERNAL) << "its own";
    HcclMemDesc changed = side.offered;
    changed.desc[24] = static_cast<char>(changed.desc[24] + 1);
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &changed, &memory), HCCL_E_INTERNAL) << "tampered with";
    EXPECT_EQ(HcclDisableMemAccess(self.comm, &changed), HCCL_E_INTERNAL);
    EXPECT_EQ(HcclEnableMemAccess(nullptr, &side.offered, &memory), HCCL_E_PTR);
    EXPECT_EQ(HcclEnableMemAccess(self.comm, nullptr, &memory), HCCL_E_PTR);
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &side.offered, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclDisableMemAccess(nullptr, &side.offered), HCCL_E_PTR);
    EXPECT_EQ(HcclDisableMemAccess(self.comm, nullptr), HCCL_E_PTR);
    // Twice enabled, twice disabled.
    EXPECT_EQ(HcclEnableMemAccess(self.comm, &side.offered, &memory), HCCL_SUCCESS);
    EXPECT_EQ(memory.addr, side.there.addr);
    EXPECT_EQ(HcclDisableMemAccess(self.comm, &side.offered), HCCL_SUCCESS);
    step.arrive_and_wait();
    side.Close();
    EXPECT_EQ(HcclDisableMemAccess(self.comm, &side.offered), HCCL_E_NOT_FOUND);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &unsent), HCCL_SUCCESS);
  });
}

TEST_F(OneSidedChecks, Batches) {
  std::barrier<> step(2);
  RunCommunicator(2, [&](Rank& self) {
    Side side(self, 1 - self.rank, COMM_MEM_TYPE_DEVICE);
    HcclOneSideOpDesc item{side.memory, side.memory, 1, HCCL_DATA_TYPE_INT8};
    for (const auto batch : {HcclBatchPut, HcclBatchGet}) {
      EXPECT_EQ(batch(nullptr, 1, &item, 1, self.stream), HCCL_E_PTR);
      EXPECT_EQ(batch(self.comm, 1, &item, 1, nullptr), HCCL_E_PTR);
      EXPECT_EQ(batch(self.comm, 1, nullptr, 1, self.stream), HCCL_E_PTR);
      EXPECT_EQ(batch(self.comm, 2, &item, 257, self.stream), HCCL_E_PARA);
      EXPECT_EQ(batch(self.comm, 2, &item, 1, self.stream), HCCL_E_PARA);
      EXPECT_EQ(batch(self.comm, self.rank, &item, 1, self.stream), HCCL_E_PARA);
      EXPECT_EQ(batch(self.comm, 1 - self.rank, &item, 1, self.stream), HCCL_E_NOT_FOUND) << "no connection";
      EXPECT_EQ(batch(self.comm, 7, &item, 0, self.stream), HCCL_E_NOT_FOUND) << "no items: the rank is not looked at";
    }
    step.arrive_and_wait();
    side.Open();
    const u32 peer = side.peer_rank;
    for (const auto batch : {HcclBatchPut, HcclBatchGet}) {
      EXPECT_EQ(batch(self.comm, peer, &item, 0, self.stream), HCCL_SUCCESS);
      item = side.Item(0, 1, kRegion);
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_INTERNAL) << "leaves the remote region";
      item = side.Item(1, 0, kRegion);
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_INTERNAL) << "leaves the local region";
      item = side.Item(0, 0, 0);
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_PARA) << "empty, inside";
      item = side.Item(0, kRegion, 0);
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_INTERNAL) << "empty, outside";
      item = side.Item(0, 0, 1);
      item.dataType = static_cast<HcclDataType>(13);
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_PARA) << "no data type";
      item = side.Item(0, 0, UINT64_MAX / 2);
      item.dataType = HCCL_DATA_TYPE_INT64;
      EXPECT_EQ(batch(self.comm, peer, &item, 1, self.stream), HCCL_E_INTERNAL) << "more than 64 bits of bytes";
      // Nothing of a batch is queued when one item is wrong.
      HcclOneSideOpDesc items[] = {side.Item(0, 0, 8), side.Item(0, kRegion, 1)};
      EXPECT_EQ(batch(self.comm, peer, items, 2, self.stream), HCCL_E_INTERNAL);
    }
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS);
    EXPECT_EQ(side.Read(), std::vector<uint8_t>(kRegion, static_cast<uint8_t>(self.rank)));
    step.arrive_and_wait();
    side.Close();
  });
}

TEST_F(OneSidedChecks, GlobalMemory) {
  RunCommunicator(1, [](Rank& self) {
    const DeviceBuffer buffer(4096);
    void* handle = nullptr;
    CommMem memory{COMM_MEM_TYPE_DEVICE, nullptr, 64};
    EXPECT_EQ(HcclRegisterGlobalMem(nullptr, &handle), HCCL_E_PTR);
    EXPECT_EQ(HcclRegisterGlobalMem(&memory, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclRegisterGlobalMem(&memory, &handle), HCCL_E_PARA) << "no address";
    memory = {COMM_MEM_TYPE_DEVICE, buffer.get(), 0};
    EXPECT_EQ(HcclRegisterGlobalMem(&memory, &handle), HCCL_E_PARA) << "no bytes";
    memory = {COMM_MEM_TYPE_INVALID, buffer.get(), 64};
    EXPECT_EQ(HcclRegisterGlobalMem(&memory, &handle), HCCL_E_PARA) << "no type";
    memory.type = COMM_MEM_TYPE_DEVICE;
    ASSERT_EQ(HcclRegisterGlobalMem(&memory, &handle), HCCL_SUCCESS);
    void* const unknown = reinterpret_cast<void*>(uintptr_t{1} << 40);
    EXPECT_EQ(HcclDeregisterGlobalMem(nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclDeregisterGlobalMem(unknown), HCCL_E_PARA);
    EXPECT_EQ(HcclCommBindMem(nullptr, handle), HCCL_E_PTR);
    EXPECT_EQ(HcclCommBindMem(self.comm, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclCommBindMem(self.comm, unknown), HCCL_E_PARA);
    EXPECT_EQ(HcclCommUnbindMem(nullptr, handle), HCCL_E_PTR);
    EXPECT_EQ(HcclCommUnbindMem(self.comm, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclCommUnbindMem(self.comm, handle), HCCL_E_PARA) << "not bound";
    EXPECT_EQ(HcclCommBindMem(self.comm, handle), HCCL_SUCCESS);
    EXPECT_EQ(HcclCommBindMem(self.comm, handle), HCCL_E_PARA) << "bound already";
    EXPECT_EQ(HcclCommUnbindMem(self.comm, handle), HCCL_SUCCESS);
    HcclPrepareConfig config{};
    EXPECT_EQ(HcclCommPrepare(nullptr, &config, 0), HCCL_E_PTR);
    EXPECT_EQ(HcclCommPrepare(self.comm, nullptr, 0), HCCL_E_PTR);
    EXPECT_EQ(HcclCommPrepare(self.comm, &config, -2), HCCL_E_PARA);
    config.topoType = HCCL_TOPO_NUM;
    EXPECT_EQ(HcclCommPrepare(self.comm, &config, 0), HCCL_E_PARA);
    ExpectText("HcclCommPrepare");
    EXPECT_EQ(HcclDeregisterGlobalMem(handle), HCCL_SUCCESS);
  });
}

TEST_F(OneSidedChecks, RemapRegistedMemory) {
  RunCommunicator(2, [](Rank& self) {
    if (self.rank != 0) return;
    const DeviceBuffer buffer(4096);
    HcclMemDesc desc;
    ASSERT_EQ(HcclRegisterMem(self.comm, 1, 0, buffer.get(), 64, &desc), HCCL_SUCCESS);
    CommMem memory{COMM_MEM_TYPE_DEVICE, buffer.get(), 64};
    EXPECT_EQ(HcclRemapRegistedMemory(nullptr, &memory, 1, 1), HCCL_E_PTR);
    EXPECT_EQ(HcclRemapRegistedMemory(&self.comm, nullptr, 1, 1), HCCL_E_PTR);
    EXPECT_EQ(HcclRemapRegistedMemory(&self.comm, &memory, 0, 1), HCCL_E_PARA);
    EXPECT_EQ(HcclRemapRegistedMemory(&self.comm, &memory, 1, 0), HCCL_E_PARA);
    EXPECT_EQ(HcclRemapRegistedMemory(&self.comm, &memory, 1, 1), HCCL_SUCCESS);
    memory.size = 65;
    EXPECT_EQ(HcclRemapRegistedMemory(&self.comm, &memory, 1, 1), HCCL_E_NOT_FOUND);
    EXPECT_EQ(HcclDeregisterMem(self.comm, &desc), HCCL_SUCCESS);
  });
}

}  // namespace one_sided_checks_test
