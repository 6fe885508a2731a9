// What the calls answer to bad arguments, in their order.
#include <unistd.h>

#include <fstream>

#include "hccl/bootstrap/root_info.h"
#include "hccl/bootstrap/table_plan.h"
#include "hccl/membership/communicator.h"
#include "hccl/transport/socket.h"
#include "hccl_ranks/ranks.h"

namespace checks_test {

using namespace ropeway_test;
using namespace ropeway::comm;

class Checks : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    HcclRootInfo root;
    ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
    ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &comm_), HCCL_SUCCESS) << aclGetRecentErrMsg();
  }
  void TearDown() override {
    EXPECT_EQ(HcclCommDestroy(comm_), HCCL_SUCCESS);
    RanksTest::TearDown();
  }
  HcclComm comm_ = nullptr;
  HcclComm const stale_ = reinterpret_cast<HcclComm>(uintptr_t{0x1234});
};

TEST_F(Checks, RootInfo) { EXPECT_EQ(HcclGetRootInfo(nullptr), HCCL_E_PTR); }

TEST_F(Checks, InitRootInfo) {
  HcclRootInfo root, garbage;
  std::memset(&garbage, 7, sizeof garbage);
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  HcclComm comm = nullptr;
  EXPECT_EQ(HcclCommInitRootInfo(2, &root, 0, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitRootInfo(2, nullptr, 0, &comm), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitRootInfo(0, &root, 0, &comm), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitRootInfo(2, &root, 2, &comm), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitRootInfo(1, &garbage, 0, &comm), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitRootInfoConfig(1, &root, 0, nullptr, &comm), HCCL_E_PTR);
  HcclCommConfig config;
  std::memset(&config, 0, sizeof config);
  EXPECT_EQ(HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm), HCCL_E_PARA) << "HcclCommConfigInit was not called";
  EXPECT_EQ(comm, nullptr);
}

TEST_F(Checks, Config) {
  HcclConfigValue value{7};
  EXPECT_EQ(HcclGetCommConfigCapability(), 12u);
  EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_E_PARA);
  value.value = 2;
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS) << "a 910B";
  value.value = 0;
  EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, &value), HCCL_SUCCESS);
  EXPECT_EQ(value.value, 2);
  {
    const Setting variable("HCCL_DETERMINISTIC", "true");
    value.value = 7;
    EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS) << "the variable wins";
    EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, &value), HCCL_SUCCESS);
    EXPECT_EQ(value.value, 1);
  }
  value.value = 0;
  EXPECT_EQ(HcclSetConfig(HCCL_CONFIG_RESERVED, {9}), HCCL_SUCCESS) << "another one is ignored";
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, value), HCCL_SUCCESS);
}

TEST_F(Checks, DeviceMustBeSet) {
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  std::thread([&] {
    HcclComm comm = nullptr;
    EXPECT_EQ(HcclCommInitRootInfo(1, &root, 0, &comm), HCCL_E_RUNTIME);
  }).join();
}

TEST_F(Checks, SameRankTwiceIsRefused) {
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  HcclComm comm = nullptr, again = nullptr;
  ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &comm), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommInitRootInfo(1, &root, 0, &again), HCCL_E_PARA);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

TEST_F(Checks, DifferentNumbersOfRanksAreRefused) {
  Setting limit("HCCL_CONNECT_TIMEOUT", "0.2");
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  std::atomic<int> refused{0}, late{0};
  RunRanks(2, [&](uint32_t rank) {
    HcclComm comm = nullptr;
    const HcclResult result = HcclCommInitRootInfo(2 + rank, &root, rank, &comm);
    refused += result == HCCL_E_PARA;
    late += result == HCCL_E_TIMEOUT;
  });
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(late, 1);
}

TEST_F(Checks, ClusterInfo) {
  HcclComm comm = nullptr;
  EXPECT_EQ(HcclCommInitClusterInfo(nullptr, 0, &comm), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitClusterInfo("/nowhere", 0, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitClusterInfo("/nowhere/table.json", 0, &comm), HCCL_E_OPEN_FILE_FAILURE);
  EXPECT_EQ(HcclCommInitClusterInfo(std::string(4096, 'x').c_str(), 0, &comm), HCCL_E_PARA);
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  EXPECT_EQ(HcclCommInitClusterInfoMemConfig("{}", 0, &config, &comm), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitClusterInfoMemConfig("{}", 0, nullptr, &comm), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitClusterInfoConfig("/nowhere/table.json", 0, nullptr, &comm), HCCL_E_PTR);
}

TEST_F(Checks, ClusterInfoTextMakesACommunicator) {
  const std::string port = std::to_string(20000 + getpid() % 20000);
  const std::string text =
      R"({"status":"completed","version":"1.0","server_count":"1","server_list":[{"server_id":"a","device":[
      {"device_id":"0","device_port":")" +
      port + R"(","rank_id":"0"}]}]})";
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclCommName, "by text");
  HcclComm comm = nullptr, again = nullptr;
  EXPECT_EQ(HcclCommInitClusterInfoMemConfig(text.c_str(), 1, &config, &comm), HCCL_E_PARA) << "no such rank";
  ASSERT_EQ(HcclCommInitClusterInfoMemConfig(text.c_str(), 0, &config, &comm), HCCL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(HcclCommInitClusterInfoMemConfig(text.c_str(), 0, &config, &again), HCCL_E_PARA) << "repeated initialisation";
  char name[128];
  EXPECT_EQ(HcclGetCommName(comm, name), HCCL_SUCCESS);
  EXPECT_STREQ(name, "by text");
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitClusterInfoMemConfig(text.c_str(), 0, &config, &comm), HCCL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

// Another job with the very same table has the meeting point already.
TEST_F(Checks, AMeetingPointThatIsTakenIsNamed) {
  const std::string text = R"({"status":"completed","version":"1.0","server_count":"1","server_list":[{"server_id":")" +
                           std::to_string(getpid()) + R"(","device":[{"device_id":"0","rank_id":"0"}]}]})";
  RankTable table;
  ASSERT_EQ(ParseRankTable(text, &table), "");
  Plan plan;
  PlanByTable(table, text, 0, &plan);
  Address point = plan.roots.at(0);
  std::string why;
  const ropeway::FileDescriptor other = Listen(&point, &why);
  ASSERT_TRUE(other) << why;
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  HcclComm comm = nullptr;
  EXPECT_EQ(HcclCommInitClusterInfoMemConfig(text.c_str(), 0, &config, &comm), HCCL_E_TCP_CONNECT);
  const std::string said = TakeErrorText();
  EXPECT_THAT(said, testing::HasSubstr(point.Text() + ": Address already in use"));
  EXPECT_THAT(said, testing::HasSubstr("ROPEWAY_HCCL_SECRET"));
}

// A process listens at the first free one of the ports that the user allows, and says so when there is none.
TEST_F(Checks, PortsAreTheOnesThatTheUserAllows) {
  // Addresses that nobody else uses at this moment.
  const auto address = [](const char* last) {
    return "127." + std::to_string(1 + getpid() / 250 % 250) + "." + std::to_string(1 + getpid() % 250) + "." + last;
  };
  constexpr uint16_t kBase = 20000;
  std::vector<ropeway::FileDescriptor> taken;
  const auto take = [&](const std::string& ip, int port) {
    std::string why;
    Address wanted = *Address::Parse(ip, static_cast<uint16_t>(port));
    taken.push_back(Listen(&wanted, &why));
    EXPECT_TRUE(taken.back()) << why;
  };
  for (int i = 0; i < 16; ++i) {
    if (i != 14) take(address("1"), kBase + i);
    take(address("2"), kBase + i);
  }
  const Setting ports("HCCL_IF_BASE_PORT", std::to_string(kBase));
  HcclRootInfo root;
  {
    const Setting one_is_free("HCCL_IF_IP", address("1"));
    ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS) << aclGetRecentErrMsg();
    RootTicket ticket;
    ASSERT_TRUE(ReadRootInfo(root, &ticket));
    EXPECT_EQ(ticket.root.port, kBase + 14);
  }
  const Setting none_is_free("HCCL_IF_IP", address("2"));
  EXPECT_EQ(HcclGetRootInfo(&root), HCCL_E_TCP_CONNECT);
  EXPECT_THAT(TakeErrorText(), testing::HasSubstr("HCCL_IF_BASE_PORT=20000"));
}

TEST_F(Checks, InitAll) {
  HcclComm comms[3] = {};
  int32_t devices[3] = {2, 0, 1};
  int32_t twice[2] = {1, 1};
  int32_t missing[1] = {1000};
  EXPECT_EQ(HcclCommInitAll(2, nullptr, comms), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitAll(2, devices, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclCommInitAll(0, devices, comms), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitAll(2, twice, comms), HCCL_E_PARA);
  EXPECT_EQ(HcclCommInitAll(1, missing, comms), HCCL_E_PARA);
  ASSERT_EQ(HcclCommInitAll(3, devices, comms), HCCL_SUCCESS) << aclGetRecentErrMsg();
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t rank = 99;
    EXPECT_EQ(HcclGetRankId(comms[i], &rank), HCCL_SUCCESS);
    EXPECT_EQ(rank, i);
    EXPECT_EQ(HcclCommDestroy(comms[i]), HCCL_SUCCESS);
  }
}

TEST_F(Checks, Queries) {
  uint32_t number = 0;
  char name[128];
  HcclResult error;
  EXPECT_EQ(HcclGetRankSize(nullptr, &number), HCCL_E_PTR);
  EXPECT_EQ(HcclGetRankSize(comm_, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclGetRankSize(stale_, &number), HCCL_E_PARA);
  EXPECT_EQ(HcclGetRankId(nullptr, &number), HCCL_E_PTR);
  EXPECT_EQ(HcclGetRankId(comm_, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclGetCommName(nullptr, name), HCCL_E_PTR);
  EXPECT_EQ(HcclGetCommName(comm_, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclGetCommAsyncError(nullptr, &error), HCCL_E_PTR);
  EXPECT_EQ(HcclGetCommAsyncError(comm_, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclBarrier(nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclBarrier(stale_, nullptr), HCCL_E_PARA);
}

TEST_F(Checks, Destroy) {
  EXPECT_EQ(HcclCommDestroy(nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommDestroy(stale_), HCCL_E_PARA);
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  HcclComm comm = nullptr;
  ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &comm), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommDestroy(comm), HCCL_E_PARA) << "it is gone";
}

// What every call holds while it runs.
TEST_F(Checks, CommunicatorInUseIsNotDestroyed) {
  const auto use = ropeway::comm::FindCommunicator(comm_);
  ASSERT_TRUE(use);
  EXPECT_EQ(HcclCommDestroy(comm_), HCCL_E_AGAIN);
}

TEST_F(Checks, SubCommunicator) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  HcclComm sub = nullptr, none = nullptr;
  uint32_t ranks[2] = {0, 7};
  EXPECT_EQ(HcclCreateSubCommConfig(nullptr, 1, ranks, 1, 0, &config, &sub), HCCL_E_PTR);
  EXPECT_EQ(HcclCreateSubCommConfig(&none, 1, ranks, 1, 0, &config, &sub), HCCL_E_PTR);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 1, ranks, 1, 0, nullptr, &sub), HCCL_E_PTR);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 1, ranks, 1, 0, &config, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 1, nullptr, 1, 0, &config, &sub), HCCL_E_PTR);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 1, nullptr, 0xffffffff, 0, &config, &sub), HCCL_SUCCESS) << "takes no part";
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 0, ranks, 1, 0, &config, &sub), HCCL_E_PARA);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 1, ranks, 1, 1, &config, &sub), HCCL_E_PARA);
  EXPECT_EQ(HcclCreateSubCommConfig(&comm_, 2, ranks, 1, 0, &config, &sub), HCCL_E_PARA) << "rank 7 is none of the parent";
  ASSERT_EQ(HcclCreateSubCommConfig(&comm_, 1, ranks, 1, 0, &config, &sub), HCCL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(HcclCommDestroy(sub), HCCL_SUCCESS);
}

TEST_F(Checks, SendAndRecv) {
  RunCommunicator(2, [&](Rank& self) {
    DeviceBuffer buffer(64);
    PinnedBuffer pinned(64);
    const uint32_t other = 1 - self.rank;
    const auto send = [&](void* buf, uint64_t count, int type, uint32_t rank, HcclComm comm) {
      const HcclResult result = HcclSend(buf, count, static_cast<HcclDataType>(type), rank, comm, self.stream);
      EXPECT_EQ(HcclRecv(buf, count, static_cast<HcclDataType>(type), rank, comm, self.stream), result);
      return result;
    };
    EXPECT_EQ(send(nullptr, 0, 99, 99, nullptr), HCCL_SUCCESS) << "a count of 0 comes before everything else";
    EXPECT_EQ(send(buffer.get(), 8, 0, other, nullptr), HCCL_E_PTR);
    EXPECT_EQ(send(nullptr, 8, 0, other, self.comm), HCCL_E_PTR);
    EXPECT_EQ(send(buffer.get(), 0x800000000, 0, other, self.comm), HCCL_E_PARA);
    EXPECT_EQ(send(buffer.get(), 8, 13, other, self.comm), HCCL_E_PARA);
    EXPECT_EQ(send(buffer.get(), 8, 255, other, self.comm), HCCL_E_PARA);
    EXPECT_EQ(send(buffer.get(), 8, 0, 2, self.comm), HCCL_E_PARA);
    EXPECT_EQ(send(buffer.get(), 8, 0, self.rank, self.comm), HCCL_E_NOT_SUPPORT);
    EXPECT_EQ(send(buffer.get(), size_t{1} << 34, 5, other, self.comm), HCCL_E_PARA) << "leaves its block";
    EXPECT_EQ(send(pinned.get(), 8, 0, other, self.comm), HCCL_E_PARA) << "host memory";
    HcclSendRecvItem item = {HCCL_SEND, buffer.get(), 8, HCCL_DATA_TYPE_INT8, other};
    EXPECT_EQ(HcclBatchSendRecv(nullptr, 0, self.comm, self.stream), HCCL_E_PTR);
    EXPECT_EQ(HcclBatchSendRecv(&item, 0, nullptr, self.stream), HCCL_E_PTR);
    EXPECT_EQ(HcclBatchSendRecv(&item, 0, self.comm, nullptr), HCCL_E_PTR);
    EXPECT_EQ(HcclBatchSendRecv(&item, 0, self.comm, self.stream), HCCL_SUCCESS);
    item.remoteRank = 2;
    EXPECT_EQ(HcclBatchSendRecv(&item, 1, self.comm, self.stream), HCCL_E_PARA);
    item = {HCCL_SEND, nullptr, 8, HCCL_DATA_TYPE_INT8, other};
    EXPECT_EQ(HcclBatchSendRecv(&item, 1, self.comm, self.stream), HCCL_E_PTR);
    item.sendRecvType = HCCL_SEND_RECV_RESERVED;
    EXPECT_EQ(HcclBatchSendRecv(&item, 1, self.comm, self.stream), HCCL_E_PARA);
    HcclSendRecvItem pair[2] = {{HCCL_SEND, buffer.get(), 8, HCCL_DATA_TYPE_INT8, self.rank},
                                {HCCL_RECV, buffer.at(8), 8, HCCL_DATA_TYPE_UINT8, self.rank}};
    EXPECT_EQ(HcclBatchSendRecv(pair, 1, self.comm, self.stream), HCCL_E_PARA) << "no receive";
    EXPECT_EQ(HcclBatchSendRecv(pair, 2, self.comm, self.stream), HCCL_E_PARA) << "another type";
    pair[1] = {HCCL_RECV, buffer.at(8), 7, HCCL_DATA_TYPE_INT8, self.rank};
    EXPECT_EQ(HcclBatchSendRecv(pair, 2, self.comm, self.stream), HCCL_E_PARA) << "another count";
    pair[1] = {HCCL_RECV, pinned.get(), 8, HCCL_DATA_TYPE_INT8, self.rank};
    EXPECT_EQ(HcclBatchSendRecv(pair, 2, self.comm, self.stream), HCCL_E_PARA) << "host memory";
    pair[0].buf = pair[1].buf = nullptr;
    EXPECT_EQ(HcclBatchSendRecv(pair, 2, self.comm, self.stream), HCCL_SUCCESS) << "skipped";
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << "nothing was queued";
  });
}

}  // namespace checks_test
