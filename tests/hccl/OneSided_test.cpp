// Puts and gets between ranks of one process, by address and, with HCCL_INTRA_ROCE_ENABLE=1, over the network by either link.
#include <optional>
#include <tuple>

#include "dispatcher.h"
#include "hccl/link/remote_range.h"
#include "tests/hccl/one_sided.h"

namespace one_sided_test {

using namespace ropeway_test;

// By address, or over the network by one of the links.
constexpr const char* kAddress = "address";
const std::vector<const char*> kNetwork(std::begin(kLinks), std::end(kLinks));
const std::vector<const char*> kWays = [] {
  std::vector<const char*> ways = {kAddress};
  ways.insert(ways.end(), kNetwork.begin(), kNetwork.end());
  return ways;
}();
std::string NameOfWay(const ::testing::TestParamInfo<const char*>& way) { return way.param; }

// The texts of this thread are one of this library's, and it names the call.
void ExpectOneText(const std::string& begin) {
  const std::string texts = TakeErrorText();
  const size_t first = texts.find("EI0001");
  EXPECT_NE(first, std::string::npos) << texts;
  EXPECT_EQ(texts.find("EI0001", first + 1), std::string::npos) << texts;
  EXPECT_NE(texts.find(" " + begin), std::string::npos) << texts;
}

class OneSidedBase : public RanksTest {
 protected:
  void Choose(const char* way) {
    RanksTest::SetUp();
    if (way == kAddress) return;
    link_.emplace(way);
    std::string why;
    if (!link_->there(&why)) GTEST_SKIP() << why;
  }
  std::optional<OverLink> link_;

  // Rank 0 acts on what both have offered; rank 1 waits and is then asked what it sees.
  void RunPair(
      CommMemType active, CommMemType passive, const std::function<void(Side&)>& act,
      const std::function<void(Side&)>& see = [](Side&) {}) {
    std::barrier<> step(2);
    RunCommunicator(2, [&](Rank& self) {
      Side side(self, 1 - self.rank, self.rank == 0 ? active : passive);
      side.Open();
      if (self.rank == 0 && !::testing::Test::HasFailure()) act(side);
      step.arrive_and_wait();
      if (self.rank == 1) see(side);
      step.arrive_and_wait();
      side.Close();
    });
  }
};

class OneSided : public OneSidedBase, public ::testing::WithParamInterface<const char*> {
  void SetUp() override { Choose(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Ways, OneSided, ::testing::ValuesIn(kWays), NameOfWay);

// What an address does not have: a range of its own, and an owner who can take it back.
class OneSidedNetwork : public OneSided {};
INSTANTIATE_TEST_SUITE_P(Ways, OneSidedNetwork, ::testing::ValuesIn(kNetwork), NameOfWay);

// Every kind of memory on both sides.
class OneSidedKinds : public OneSidedBase, public ::testing::WithParamInterface<std::tuple<const char*, CommMemType, CommMemType>> {
  void SetUp() override { Choose(std::get<0>(GetParam())); }

 protected:
  CommMemType active() const { return std::get<1>(GetParam()); }
  CommMemType passive() const { return std::get<2>(GetParam()); }
};
constexpr CommMemType kTypes[] = {COMM_MEM_TYPE_DEVICE, COMM_MEM_TYPE_HOST};
INSTANTIATE_TEST_SUITE_P(Ways, OneSidedKinds,
                         ::testing::Combine(::testing::ValuesIn(kWays), ::testing::ValuesIn(kTypes), ::testing::ValuesIn(kTypes)));

TEST_P(OneSidedKinds, PutIsVisibleAtTheTargetWhenTheStreamHasPassedIt) {
  const auto put = [](Side& side) {
    HcclOneSideOpDesc items[] = {side.Item(0, 100, 50), side.Item(7, 1000, 200'001)};
    ASSERT_EQ(HcclBatchPut(side.rank.comm, 1, items, 2, side.rank.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSynchronizeStream(side.rank.stream), ACL_SUCCESS);
  };
  RunPair(active(), passive(), put, [](Side& side) {
    std::vector<uint8_t> expected(kRegion, 1);
    memset(expected.data() + 100, 0, 50);
    memset(expected.data() + 1000, 0, 200'001);
    EXPECT_TRUE(side.Read() == expected);
  });
}

TEST_P(OneSidedKinds, GetReadsTheTarget) {
  RunPair(active(), passive(), [](Side& side) {
    HcclOneSideOpDesc item{static_cast<char*>(side.memory) + 8, side.there.addr, 50'000, HCCL_DATA_TYPE_INT32};
    ASSERT_EQ(HcclBatchGet(side.rank.comm, 1, &item, 1, side.rank.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSynchronizeStream(side.rank.stream), ACL_SUCCESS);
    std::vector<uint8_t> expected(kRegion, 0);
    memset(expected.data() + 8, 1, 200'000);
    EXPECT_TRUE(side.Read() == expected);
  });
}

TEST_P(OneSided, BatchesKeepTheOrderOfTheStream) {
  RunPair(COMM_MEM_TYPE_DEVICE, COMM_MEM_TYPE_DEVICE, [](Side& side) {
    StreamGate gate;
    ASSERT_EQ(gate.Close(side.rank.stream), ACL_SUCCESS);
    HcclOneSideOpDesc out = side.Item(0, 0, kRegion / 2);
    HcclOneSideOpDesc back = side.Item(kRegion / 2, 0, kRegion / 2);
    EXPECT_EQ(aclrtMemsetAsync(side.memory, kRegion, 42, kRegion, side.rank.stream), ACL_SUCCESS);
    EXPECT_EQ(HcclBatchPut(side.rank.comm, 1, &out, 1, side.rank.stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtMemsetAsync(side.memory, kRegion, 43, kRegion, side.rank.stream), ACL_SUCCESS);
    EXPECT_EQ(HcclBatchGet(side.rank.comm, 1, &back, 1, side.rank.stream), HCCL_SUCCESS);
    EXPECT_EQ(side.Read(), std::vector<uint8_t>(kRegion, 0)) << "something ran in front of the gate";
    gate.Open();
    EXPECT_EQ(aclrtSynchronizeStream(side.rank.stream), ACL_SUCCESS);
    std::vector<uint8_t> expected(kRegion, 43);
    memset(expected.data() + kRegion / 2, 42, kRegion / 2);
    EXPECT_TRUE(side.Read() == expected);
  });
}

TEST_P(OneSidedNetwork, CopiesReachWhatEnablingReturned) {
  RunPair(COMM_MEM_TYPE_DEVICE, COMM_MEM_TYPE_DEVICE, [](Side& side) {
    char* const there = static_cast<char*>(side.there.addr);
    HcclResult result = HCCL_E_RESERVED;
    const auto route = [&](void* to, const void* from, uint64_t size) {
      ropeway::comm::Status status;
      const bool routed = ropeway::comm::RouteRemote(to, from, size, side.rank.stream, &status);
      result = static_cast<HcclResult>(status.code());
      return routed;
    };
    ASSERT_TRUE(route(there + 10, side.memory, 1000));  // zeros
    EXPECT_EQ(result, HCCL_SUCCESS);
    std::vector<uint8_t> pageable(1020, 9);
    ASSERT_TRUE(route(pageable.data(), there, 1020));  // pageable: over when the call returns
    EXPECT_EQ(result, HCCL_SUCCESS);
    std::vector<uint8_t> expected(1020, 1);
    memset(expected.data() + 10, 0, 1000);
    EXPECT_EQ(pageable, expected);
    ASSERT_TRUE(route(there, there + 1, 1));
    EXPECT_EQ(result, HCCL_E_PARA);
    ASSERT_TRUE(route(there + 1, side.memory, kRegion));
    EXPECT_EQ(result, HCCL_E_PARA);
    EXPECT_FALSE(route(side.memory, pageable.data(), 1));
  });
}

TEST_P(OneSidedNetwork, SynchronousCopiesOfWhatEnablingReturnedAreRefused) {
  RunPair(COMM_MEM_TYPE_DEVICE, COMM_MEM_TYPE_DEVICE, [](Side& side) {
    void* const there = side.there.addr;
    std::vector<uint8_t> bytes(100);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), 100, there, 100, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtMemcpy(there, 100, side.memory, 100, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(hrtMemSyncCopy(bytes.data(), 100, there, 100, HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST), HCCL_E_RUNTIME);
    EXPECT_NE(TakeErrorText().find("memory of another host"), std::string::npos);
    // Without a stream the call is a bounded copy, which clears what it cannot fill.
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher), HCCL_SUCCESS);
    hccl::Stream none;
    const auto copy = [&](void* dst, uint64_t room, const void* src) {
      return HcclMemcpyAsync(dispatcher, dst, room, src, 100, HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST, none, 1, hccl::LinkType::LINK_ROCE);
    };
    EXPECT_EQ(copy(there, 50, bytes.data()), HCCL_E_RUNTIME);
    EXPECT_EQ(copy(there, 100, static_cast<char*>(there) + 1), HCCL_E_RUNTIME);
    EXPECT_EQ(copy(bytes.data(), 100, there), HCCL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(bytes, std::vector<uint8_t>(100, 1));
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  });
}

TEST_P(OneSidedNetwork, ARefusedCopyIsFiledOnceUnderItsOwnName) {
  RunPair(COMM_MEM_TYPE_DEVICE, COMM_MEM_TYPE_DEVICE, [](Side& side) {
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher), HCCL_SUCCESS);
    char* const there = static_cast<char*>(side.there.addr);
    hccl::DeviceMem to = hccl::DeviceMem::create(there, 8), from = hccl::DeviceMem::create(there + 8, 8);
    hccl::Stream stream(side.rank.stream);
    TakeErrorText();
    EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher, to, from, stream), HCCL_E_PARA);
    ExpectOneText("HcclD2DMemcpyAsync: dst and src are both");
    EXPECT_EQ(
        HcclMemcpyAsync(dispatcher, there, 8, there + 8, 8, HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE, stream, 1, hccl::LinkType::LINK_ROCE),
        HCCL_E_PARA);
    ExpectOneText("HcclMemcpyAsync: dst and src are both");
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  });
}

TEST_P(OneSidedNetwork, MemoryThatWasTakenBackFailsTheStreamAndIsAnAsynchronousError) {
  std::barrier<> step(2);
  RunCommunicator(2, [&](Rank& self) {
    Side side(self, 1 - self.rank, COMM_MEM_TYPE_DEVICE);
    side.Open();
    step.arrive_and_wait();
    if (self.rank == 1) {
      EXPECT_EQ(HcclDeregisterMem(self.comm, &side.own), HCCL_SUCCESS);
    }
    step.arrive_and_wait();
    HcclResult error = HCCL_E_RESERVED;
    if (self.rank == 0) {
      HcclOneSideOpDesc item = side.Item(0, 0, 10);
      EXPECT_EQ(HcclBatchPut(self.comm, 1, &item, 1, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057) << aclGetRecentErrMsg();
      EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
      EXPECT_EQ(error, HCCL_E_REMOTE);
    } else {
      EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
      EXPECT_EQ(error, HCCL_SUCCESS);
      EXPECT_EQ(side.Read(), std::vector<uint8_t>(kRegion, 1));
    }
    step.arrive_and_wait();
  });
}

TEST_P(OneSided, PrepareOpensBoundMemoryByThePeersOwnAddresses) {
  void* memory[3] = {};
  std::barrier<> step(3);
  RunCommunicator(3, [&](Rank& self) {
    ASSERT_EQ(aclrtMalloc(&memory[self.rank], kRegion, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(memory[self.rank], kRegion, static_cast<int>(self.rank) + 1, kRegion), ACL_SUCCESS);
    const CommMem region{COMM_MEM_TYPE_DEVICE, memory[self.rank], kRegion};
    void* handle = nullptr;
    ASSERT_EQ(HcclRegisterGlobalMem(&region, &handle), HCCL_SUCCESS);
    ASSERT_EQ(HcclCommBindMem(self.comm, handle), HCCL_SUCCESS);
    const HcclPrepareConfig config{};
    ASSERT_EQ(HcclCommPrepare(self.comm, &config, 0), HCCL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(HcclCommPrepare(self.comm, &config, 0), HCCL_SUCCESS) << "the second one does nothing";
    // Everybody writes its number into its slice of everybody else.
    for (uint32_t peer = 0; peer < 3; ++peer) {
      if (peer == self.rank) continue;
      char* const there = static_cast<char*>(memory[peer]) + self.rank * 1000;
      HcclOneSideOpDesc item{static_cast<char*>(memory[self.rank]) + 5000, there, 1000, HCCL_DATA_TYPE_UINT8};
      EXPECT_EQ(HcclBatchPut(self.comm, peer, &item, 1, self.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
    }
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS);
    step.arrive_and_wait();
    std::vector<uint8_t> bytes(3000);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), 3000, memory[self.rank], 3000, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    for (size_t i = 0; i < 3000; ++i) ASSERT_EQ(bytes[i], i / 1000 + 1);
    TakeErrorText();
    EXPECT_EQ(HcclCommDestroy(self.comm), HCCL_E_PARA) << "memory is bound";
    ExpectOneText("HcclCommDestroy: memory is bound");
    EXPECT_EQ(HcclDeregisterGlobalMem(handle), HCCL_E_PARA) << "it is bound";
    step.arrive_and_wait();
    EXPECT_EQ(HcclCommUnbindMem(self.comm, handle), HCCL_SUCCESS);
    EXPECT_EQ(HcclDeregisterGlobalMem(handle), HCCL_SUCCESS);
    EXPECT_EQ(HcclDeregisterGlobalMem(handle), HCCL_E_PARA);
    EXPECT_EQ(aclrtFree(memory[self.rank]), ACL_SUCCESS);
  });
}

}  // namespace one_sided_test
