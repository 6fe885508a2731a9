// What programs that profile themselves are told of sends and receives.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "acl/acl_prof.h"
#include "hccl_ranks/ranks.h"
#include "mspti/mspti.h"

namespace profiles_test {

using namespace ropeway_test;

constexpr uint64_t kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(int32_t);

// One of each call: a send and its receive, and an exchange with elements of two sizes.
void Communicate(Rank& self) {
  DeviceBuffer buffer(kBytes), other(kBytes);
  if (self.rank == 0) {
    EXPECT_EQ(HcclSend(buffer.get(), kCount, HCCL_DATA_TYPE_INT32, 1, self.comm, self.stream), HCCL_SUCCESS);
  } else {
    EXPECT_EQ(HcclRecv(buffer.get(), kCount, HCCL_DATA_TYPE_INT32, 0, self.comm, self.stream), HCCL_SUCCESS);
  }
  HcclSendRecvItem items[] = {{HCCL_SEND, buffer.get(), 7, HCCL_DATA_TYPE_INT32, 1 - self.rank},
                              {HCCL_RECV, other.get(), 28, HCCL_DATA_TYPE_INT8, 1 - self.rank}};
  EXPECT_EQ(HcclBatchSendRecv(items, 2, self.comm, self.stream), HCCL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
}

// --- mspti --------------------------------------------------------------------------------------------------------------

std::mutex g_mutex;
std::vector<msptiActivityCommunication> g_records;

void Request(uint8_t** buffer, size_t* size, size_t* most) {
  *size = 8192;
  *most = 0;
  *buffer = new uint8_t[*size];
}

void Complete(uint8_t* buffer, size_t, size_t valid) {
  msptiActivity* record = nullptr;
  const std::lock_guard<std::mutex> lock(g_mutex);
  while (msptiActivityGetNextRecord(buffer, valid, &record) == MSPTI_SUCCESS) {
    EXPECT_EQ(record->kind, MSPTI_ACTIVITY_KIND_COMMUNICATION);
    std::memcpy(&g_records.emplace_back(), record, sizeof(msptiActivityCommunication));
  }
  delete[] buffer;
}

class Profiles : public RanksTest {};

TEST_F(Profiles, EachCallOfACommunicatorIsARecordOfMspti) {
  g_records.clear();
  ASSERT_EQ(msptiActivityRegisterCallbacks(&Request, &Complete), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_COMMUNICATION), MSPTI_SUCCESS);
  RunCommunicator(2, &Communicate);
  ASSERT_EQ(msptiActivityFlushAll(1), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_COMMUNICATION), MSPTI_SUCCESS);
  std::multiset<std::string> calls;
  std::set<uint64_t> correlations;
  for (const msptiActivityCommunication& record : g_records) {
    const std::string name = record.name;
    calls.insert(name + " of device " + std::to_string(record.ds.deviceId));
    correlations.insert(record.correlationId);
    const bool batch = name == "HcclBatchSendRecv";
    EXPECT_EQ(static_cast<int>(record.dataType), batch ? HCCL_DATA_TYPE_INT8 : HCCL_DATA_TYPE_INT32) << "of several types: bytes";
    EXPECT_EQ(record.count, batch ? 56 : kCount) << name;
    EXPECT_GT(record.start, 0u);
    EXPECT_LT(record.start, record.end);
    EXPECT_STREQ(record.commName, g_records[0].commName) << "one text for one communicator";
    EXPECT_STRNE(record.commName, "");
    EXPECT_STRNE(record.algType, "");
  }
  EXPECT_EQ(calls, (std::multiset<std::string>{"HcclSend of device 0", "HcclRecv of device 1", "HcclBatchSendRecv of device 0",
                                               "HcclBatchSendRecv of device 1"}));
  EXPECT_EQ(correlations.size(), 4u);
  EXPECT_EQ(correlations.count(0), 0u);
}

// --- aclprof ------------------------------------------------------------------------------------------------------------

TEST_F(Profiles, EachCallOfACommunicatorIsARowOfAclprof) {
  std::string folder = testing::TempDir() + "ropeway_communication_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  uint32_t devices[] = {0, 1};
  aclprofConfig* const config = aclprofCreateConfig(devices, 2, ACL_AICORE_NONE, nullptr, ACL_PROF_HCCL_TRACE);
  ASSERT_NE(config, nullptr);
  ASSERT_EQ(aclprofInit(folder.c_str(), folder.size()), ACL_SUCCESS);
  ASSERT_EQ(aclprofStart(config), ACL_SUCCESS);
  RunCommunicator(2, &Communicate);
  ASSERT_EQ(aclprofStop(config), ACL_SUCCESS);
  ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  ASSERT_EQ(aclprofDestroyConfig(config), ACL_SUCCESS);
  const std::filesystem::path profile = *std::filesystem::directory_iterator(folder);
  for (const char* const row : {"device_0/communication.csv HcclSend", "device_1/communication.csv HcclRecv"}) {
    const std::string words = row, name = words.substr(0, words.find(' ')), call = words.substr(words.find(' ') + 1);
    std::ifstream file(profile / name);
    std::string columns, first, second, third;
    std::getline(file, columns);
    std::getline(file, first);
    std::getline(file, second);
    EXPECT_EQ(columns, "call,group,data_type,count,stream,submit_ns,start_ns,end_ns,code,correlation");
    EXPECT_EQ(first.rfind(call + ",", 0), 0u) << first;
    EXPECT_NE(first.find(",2,1000,"), std::string::npos) << first;
    EXPECT_EQ(second.rfind("HcclBatchSendRecv,", 0), 0u) << second;
    EXPECT_NE(second.find(",0,56,"), std::string::npos) << second;
    EXPECT_FALSE(std::getline(file, third)) << third;
  }
  EXPECT_FALSE(std::filesystem::exists(profile / "device_0/task.csv")) << "nobody asked for it";
  std::filesystem::remove_all(folder);
}

}  // namespace profiles_test
