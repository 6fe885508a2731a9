// The calls around a communicator: by name, suspended and resumed, told of, with memory named to it; and symmetric windows. Checks as
// tables: in every row everything that is checked later is wrong, too, so the order shows.
#include <barrier>

#include "dispatcher.h"
#include "hccl/hccl_ex.h"
#include "hccl/hccl_sym_win.h"
#include "hccl_ranks/ranks.h"

namespace comm_calls_test {

using namespace ropeway_test;

constexpr size_t kBytes = 4096;

struct Row {
  const char* what;
  std::function<HcclResult()> call;
  HcclResult answer;
};
void Try(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    TakeErrorText();
    EXPECT_EQ(row.call(), row.answer) << row.what << ": " << TakeErrorText();
  }
}

// Two ranks, of which the first calls.
class CommCalls : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    int32_t devices[2] = {0, 1};
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(HcclCommInitAll(2, devices, comms_), HCCL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    memory_ = std::make_unique<DeviceBuffer>(kBytes);
  }
  void TearDown() override {
    memory_.reset();
    EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    for (HcclComm comm : comms_) EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    RanksTest::TearDown();
  }
  HcclComm comm() const { return comms_[0]; }
  char* memory() const { return static_cast<char*>(memory_->get()); }
  std::string Name() const {
    char name[COMM_NAME_MAX_LENGTH];
    EXPECT_EQ(HcclGetCommName(comm(), name), HCCL_SUCCESS);
    return name;
  }

  HcclComm comms_[2] = {};
  HcclComm const stale_ = reinterpret_cast<HcclComm>(uintptr_t{0x1234});
  aclrtStream stream_ = nullptr;
  std::unique_ptr<DeviceBuffer> memory_;
};

TEST_F(CommCalls, ByName) {
  HcclComm found = nullptr;
  HcclCommStatus status = HCCL_COMM_STATUS_READY;
  const std::string name = Name();
  Try({
      {"name", [&] { return HcclCommGetHandleWithName(nullptr, nullptr); }, HCCL_E_PTR},
      {"comm", [&] { return HcclCommGetHandleWithName("nobody", nullptr); }, HCCL_E_PTR},
      {"unknown", [&] { return HcclCommGetHandleWithName("nobody", &found); }, HCCL_E_NOT_FOUND},
      {"name", [&] { return HcclCommGetStatus(nullptr, nullptr); }, HCCL_E_PTR},
      {"status", [&] { return HcclCommGetStatus("nobody", nullptr); }, HCCL_E_PTR},
      {"unknown", [&] { return HcclCommGetStatus("nobody", &status); }, HCCL_E_NOT_FOUND},
  });
  EXPECT_EQ(status, HCCL_COMM_STATUS_INVALID);
  for (int32_t device : {0, 1}) {
    ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
    EXPECT_EQ(HcclCommGetHandleWithName(name.c_str(), &found), HCCL_SUCCESS);
    EXPECT_EQ(found, comms_[device]) << "the rank that has the device";
  }
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(CommCalls, Configuration) {
  HcclOpExpansionMode mode = HCCL_OP_EXPANSION_MODE_INVALID;
  char text[64];
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.hcclOpExpansionMode = 3;
  std::strcpy(config.hcclAlgo, "level0:NA;level1:ring");
  HcclRootInfo root;
  HcclComm made = nullptr;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitRootInfoConfig(1, &root, 0, &config, &made), HCCL_SUCCESS);
  Try({
      {"comm", [&] { return HcclConfigGetInfo(nullptr, HCCL_CONFIG_TYPE_INVALID, 0, nullptr); }, HCCL_E_PTR},
      {"info", [&] { return HcclConfigGetInfo(stale_, HCCL_CONFIG_TYPE_INVALID, 0, nullptr); }, HCCL_E_PTR},
      {"no communicator", [&] { return HcclConfigGetInfo(stale_, HCCL_CONFIG_TYPE_INVALID, 0, &mode); }, HCCL_E_PARA},
      {"type", [&] { return HcclConfigGetInfo(made, HCCL_CONFIG_TYPE_INVALID, 4, &mode); }, HCCL_E_PARA},
      {"room", [&] { return HcclConfigGetInfo(made, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 3, &mode); }, HCCL_E_PARA},
      {"room", [&] { return HcclConfigGetInfo(made, HCCL_CONFIG_TYPE_HCCL_ALGO, 21, text); }, HCCL_E_PARA},
      {"mode", [&] { return HcclConfigGetInfo(made, HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 4, &mode); }, HCCL_SUCCESS},
      {"text", [&] { return HcclConfigGetInfo(made, HCCL_CONFIG_TYPE_HCCL_ALGO, sizeof text, text); }, HCCL_SUCCESS},
  });
  EXPECT_EQ(mode, HCCL_OP_EXPANSION_MODE_AIV);
  EXPECT_STREQ(text, "level0:NA;level1:ring");
  EXPECT_EQ(HcclConfigGetInfo(comm(), HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 4, &mode), HCCL_SUCCESS);
  EXPECT_EQ(mode, HCCL_OP_EXPANSION_MODE_HOST) << "what is not set";
  EXPECT_EQ(HcclCommDestroy(made), HCCL_SUCCESS);
}

TEST_F(CommCalls, WorkingNic) {
  uint32_t ranks[2] = {0, 1}, wrong[1] = {2};
  bool first[2] = {false, false}, second[2] = {false, true};
  Try({
      {"comm", [&] { return HcclCommWorkingDevNicSet(nullptr, nullptr, nullptr, 0); }, HCCL_E_PTR},
      {"ranks", [&] { return HcclCommWorkingDevNicSet(stale_, nullptr, nullptr, 0); }, HCCL_E_PTR},
      {"useBackup", [&] { return HcclCommWorkingDevNicSet(stale_, ranks, nullptr, 0); }, HCCL_E_PTR},
      {"no communicator", [&] { return HcclCommWorkingDevNicSet(stale_, ranks, second, 2); }, HCCL_E_PARA},
      {"none", [&] { return HcclCommWorkingDevNicSet(comm(), ranks, second, 0); }, HCCL_E_PARA},
      {"too many", [&] { return HcclCommWorkingDevNicSet(comm(), ranks, second, 3); }, HCCL_E_PARA},
      {"no rank", [&] { return HcclCommWorkingDevNicSet(comm(), wrong, second + 1, 1); }, HCCL_E_PARA},
      {"a second card", [&] { return HcclCommWorkingDevNicSet(comm(), ranks, second, 2); }, HCCL_E_NOT_SUPPORT},
      {"the first", [&] { return HcclCommWorkingDevNicSet(comm(), ranks, first, 2); }, HCCL_SUCCESS},
  });
}

TEST_F(CommCalls, Suspended) {
  HcclCommStatus status = HCCL_COMM_STATUS_INVALID;
  HcclSendRecvItem item{HCCL_SEND, memory(), 1, HCCL_DATA_TYPE_INT8, 1};
  Try({
      {"comm", [&] { return HcclCommSuspend(nullptr); }, HCCL_E_PTR},
      {"no communicator", [&] { return HcclCommSuspend(stale_); }, HCCL_E_PARA},
      {"comm", [&] { return HcclCommResume(nullptr); }, HCCL_E_PTR},
      {"no communicator", [&] { return HcclCommResume(stale_); }, HCCL_E_PARA},
      {"suspend", [&] { return HcclCommSuspend(comm()); }, HCCL_SUCCESS},
      {"send", [&] { return HcclSend(memory(), 1, HCCL_DATA_TYPE_INT8, 1, comm(), stream_); }, HCCL_E_SUSPENDING},
      {"batch", [&] { return HcclBatchSendRecv(&item, 1, comm(), stream_); }, HCCL_E_SUSPENDING},
      {"barrier", [&] { return HcclBarrier(comm(), stream_); }, HCCL_E_SUSPENDING},
      {"collective", [&] { return HcclBroadcast(memory(), 1, HCCL_DATA_TYPE_INT8, 0, comm(), stream_); }, HCCL_E_SUSPENDING},
      {"a mistake", [&] { return HcclBroadcast(memory(), 1, HCCL_DATA_TYPE_INT8, 2, comm(), stream_); }, HCCL_E_PARA},
      {"status", [&] { return HcclCommGetStatus(Name().c_str(), &status); }, HCCL_SUCCESS},
  });
  EXPECT_EQ(status, HCCL_COMM_STATUS_SUSPENDING);
  EXPECT_EQ(HcclCommResume(comm()), HCCL_SUCCESS);
  EXPECT_EQ(HcclCommGetStatus(Name().c_str(), &status), HCCL_SUCCESS);
  EXPECT_EQ(status, HCCL_COMM_STATUS_READY);
}

// A rank that aborts in the middle has called more, or less, than the others. Resumed, they meet again.
TEST_F(CommCalls, ResumedRanksMeetAgain) {
  const auto receive = [&](HcclComm comm, aclrtStream stream) { return HcclRecv(memory(), 8, HCCL_DATA_TYPE_INT8, 1, comm, stream); };
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(receive(comm(), stream_), HCCL_SUCCESS);
    ASSERT_EQ(HcclBroadcast(memory(), 8, HCCL_DATA_TYPE_INT8, 1, comm(), stream_), HCCL_SUCCESS);
    ASSERT_EQ(HcclBarrier(comm(), stream_), HCCL_SUCCESS);
  }
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  for (HcclComm comm : comms_) ASSERT_EQ(HcclCommResume(comm), HCCL_SUCCESS) << TakeErrorText();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  DeviceBuffer bytes(8);
  ASSERT_EQ(aclrtMemset(bytes.get(), 8, 7, 8), ACL_SUCCESS);
  ASSERT_EQ(HcclSend(bytes.get(), 8, HCCL_DATA_TYPE_INT8, 0, comms_[1], other), HCCL_SUCCESS);
  ASSERT_EQ(HcclBarrier(comms_[1], other), HCCL_SUCCESS);
  ASSERT_EQ(HcclBroadcast(bytes.get(), 8, HCCL_DATA_TYPE_INT8, 1, comms_[1], other), HCCL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(receive(comm(), stream_), HCCL_SUCCESS);
  ASSERT_EQ(HcclBarrier(comm(), stream_), HCCL_SUCCESS);
  ASSERT_EQ(HcclBroadcast(memory() + 8, 8, HCCL_DATA_TYPE_INT8, 1, comm(), stream_), HCCL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << TakeErrorText();
  std::vector<char> got(16);
  ASSERT_EQ(aclrtMemcpy(got.data(), 16, memory(), 16, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(got, std::vector<char>(16, 7));
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(CommCalls, ResumeForgetsAnErrorAndMissesARankThatIsGone) {
  HcclResult error = HCCL_SUCCESS;
  ASSERT_EQ(HcclRecv(memory(), 8, HCCL_DATA_TYPE_INT8, 1, comm(), stream_), HCCL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  DeviceBuffer bytes(16);
  ASSERT_EQ(HcclSend(bytes.get(), 16, HCCL_DATA_TYPE_INT8, 0, comms_[1], other), HCCL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(other), ACL_SUCCESS) << "16 bytes are no 8";
  EXPECT_EQ(aclrtDestroyStreamForce(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(HcclGetCommAsyncError(comm(), &error), HCCL_SUCCESS);
  EXPECT_NE(error, HCCL_SUCCESS);
  EXPECT_EQ(HcclCommResume(comm()), HCCL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(HcclGetCommAsyncError(comm(), &error), HCCL_SUCCESS);
  EXPECT_EQ(error, HCCL_SUCCESS);
  EXPECT_EQ(HcclCommDestroy(comms_[1]), HCCL_SUCCESS);
  comms_[1] = nullptr;
  EXPECT_EQ(HcclCommResume(comm()), HCCL_E_REMOTE);
  EXPECT_THAT(TakeErrorText(), testing::HasSubstr("rank 1 is gone"));
}

struct Told {
  std::vector<std::pair<HcclComm, int>> phases;
  HcclResult answer = HCCL_SUCCESS;
};
HcclResult Note(HcclComm comm, HcclCommStatePhase phase, void* args) {
  auto& told = *static_cast<Told*>(args);
  told.phases.emplace_back(comm, phase);
  return told.answer;
}

TEST_F(CommCalls, Callbacks) {
  Told told;
  Try({
      {"name", [&] { return HcclCommRegCommStateCallback(nullptr, nullptr, nullptr); }, HCCL_E_PTR},
      {"nothing to end", [&] { return HcclCommRegCommStateCallback("test", nullptr, nullptr); }, HCCL_E_NOT_FOUND},
      {"register", [&] { return HcclCommRegCommStateCallback("test", &Note, &told); }, HCCL_SUCCESS},
      {"again", [&] { return HcclCommRegCommStateCallback("test", &Note, &told); }, HCCL_SUCCESS},
      {"resume", [&] { return HcclCommResume(comm()); }, HCCL_SUCCESS},
  });
  const HcclComm second = comms_[1];
  told.answer = HCCL_E_UNAVAIL;
  EXPECT_EQ(HcclCommDestroy(second), HCCL_E_UNAVAIL);
  EXPECT_THAT(TakeErrorText(), testing::HasSubstr("the callback test"));
  told.answer = HCCL_SUCCESS;
  EXPECT_EQ(HcclCommDestroy(second), HCCL_SUCCESS) << "it was still there";
  comms_[1] = nullptr;
  EXPECT_EQ(HcclCommRegCommStateCallback("test", nullptr, nullptr), HCCL_SUCCESS);
  const std::vector<std::pair<HcclComm, int>> expected = {
      {comm(), HCCL_COMM_STATE_PHASE_RESUME_PRE},   {comm(), HCCL_COMM_STATE_PHASE_RESUME_POST},
      {second, HCCL_COMM_STATE_PHASE_DESTROY_PRE},  {second, HCCL_COMM_STATE_PHASE_DESTROY_PRE},
      {second, HCCL_COMM_STATE_PHASE_DESTROY_POST},
  };
  EXPECT_EQ(told.phases, expected);
}

// --- Memory that is named to a communicator -------------------------------------------------------------------------------

TEST_F(CommCalls, Registered) {
  void* handle = nullptr;
  uint32_t peers[2] = {1, 0}, wrong[1] = {2};
  std::vector<char> host(64);
  Try({
      {"comm", [&] { return HcclCommRegister(nullptr, nullptr, 0, nullptr, 0); }, HCCL_E_PTR},
      {"addr", [&] { return HcclCommRegister(stale_, nullptr, 0, nullptr, 0); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommRegister(stale_, memory(), 0, nullptr, 0); }, HCCL_E_PTR},
      {"size", [&] { return HcclCommRegister(stale_, memory(), 0, &handle, 0); }, HCCL_E_PARA},
      {"no communicator", [&] { return HcclCommRegister(stale_, memory(), kBytes, &handle, 0); }, HCCL_E_PARA},
      {"host memory", [&] { return HcclCommRegister(comm(), host.data(), 64, &handle, 0); }, HCCL_E_PARA},
      {"leaves its block", [&] { return HcclCommRegister(comm(), memory(), kBytes * 1000, &handle, 0); }, HCCL_E_PARA},
      {"register", [&] { return HcclCommRegister(comm(), memory(), kBytes, &handle, 0); }, HCCL_SUCCESS},
      {"comm", [&] { return HcclCommExchangeMem(nullptr, nullptr, nullptr, 0); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommExchangeMem(stale_, nullptr, nullptr, 0); }, HCCL_E_PTR},
      {"ranks", [&] { return HcclCommExchangeMem(stale_, handle, nullptr, 0); }, HCCL_E_PTR},
      {"none", [&] { return HcclCommExchangeMem(comm(), handle, peers, 0); }, HCCL_E_PARA},
      {"too many", [&] { return HcclCommExchangeMem(comm(), handle, peers, 3); }, HCCL_E_PARA},
      {"no handle", [&] { return HcclCommExchangeMem(comm(), memory(), peers, 2); }, HCCL_E_PARA},
      {"no rank", [&] { return HcclCommExchangeMem(comm(), handle, wrong, 1); }, HCCL_E_PARA},
      {"exchange", [&] { return HcclCommExchangeMem(comm(), handle, peers, 2); }, HCCL_SUCCESS},
      {"comm", [&] { return HcclCommDeregister(nullptr, nullptr); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommDeregister(comm(), nullptr); }, HCCL_E_PTR},
      {"of another", [&] { return HcclCommDeregister(comms_[1], handle); }, HCCL_E_PARA},
      {"deregister", [&] { return HcclCommDeregister(comm(), handle); }, HCCL_SUCCESS},
      {"twice", [&] { return HcclCommDeregister(comm(), handle); }, HCCL_E_PARA},
  });
}

TEST_F(CommCalls, ExchangeMissesARankThatIsGone) {
  void* handle = nullptr;
  uint32_t peer = 1;
  ASSERT_EQ(HcclCommRegister(comm(), memory(), kBytes, &handle, 0), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommDestroy(comms_[1]), HCCL_SUCCESS);
  comms_[1] = nullptr;
  EXPECT_EQ(HcclCommExchangeMem(comm(), handle, &peer, 1), HCCL_E_REMOTE);
}

TEST_F(CommCalls, ReservedRanges) {
  constexpr size_t kChunk = 2 << 20;
  void* range = nullptr;
  aclrtDrvMemHandle pages = nullptr;
  const aclrtPhysicalMemProp property{
      ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_HBM_MEM_HUGE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0};
  ASSERT_EQ(aclrtReserveMemAddress(&range, 4 * kChunk, 0, nullptr, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocPhysical(&pages, kChunk, &property, 0), ACL_SUCCESS);
  char* const begin = static_cast<char*>(range);
  char* const at = begin + kChunk;
  ASSERT_EQ(aclrtMapMem(at, kChunk, 0, pages, 0), ACL_SUCCESS);
  Try({
      {"comm", [&] { return HcclCommSetMemoryRange(nullptr, nullptr, 0, 1, 1); }, HCCL_E_PTR},
      {"base", [&] { return HcclCommSetMemoryRange(stale_, nullptr, 0, 1, 1); }, HCCL_E_PTR},
      {"size", [&] { return HcclCommSetMemoryRange(stale_, begin, 0, 1, 1); }, HCCL_E_PARA},
      {"alignment", [&] { return HcclCommSetMemoryRange(comm(), begin, kChunk, 1, 0); }, HCCL_E_PARA},
      {"flags", [&] { return HcclCommSetMemoryRange(comm(), begin, kChunk, 0, 1); }, HCCL_E_PARA},
      {"no communicator", [&] { return HcclCommSetMemoryRange(stale_, begin, kChunk, 0, 0); }, HCCL_E_PARA},
      {"not set", [&] { return HcclCommActivateCommMemory(comm(), at, kChunk, 0, pages, 0); }, HCCL_E_PARA},
      {"set", [&] { return HcclCommSetMemoryRange(comm(), begin, 4 * kChunk, 0, 0); }, HCCL_SUCCESS},
      {"inside another", [&] { return HcclCommSetMemoryRange(comm(), at, kChunk, 0, 0); }, HCCL_E_PARA},
      {"around another", [&] { return HcclCommSetMemoryRange(comm(), begin - 1, 5 * kChunk, 0, 0); }, HCCL_E_PARA},
      {"comm", [&] { return HcclCommActivateCommMemory(nullptr, nullptr, 0, 0, nullptr, 1); }, HCCL_E_PTR},
      {"address", [&] { return HcclCommActivateCommMemory(stale_, nullptr, 0, 0, nullptr, 1); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommActivateCommMemory(stale_, at, 0, 0, nullptr, 1); }, HCCL_E_PTR},
      {"size", [&] { return HcclCommActivateCommMemory(stale_, at, 0, 0, pages, 1); }, HCCL_E_PARA},
      {"flags", [&] { return HcclCommActivateCommMemory(comm(), at, kChunk, 0, pages, 1); }, HCCL_E_PARA},
      {"nothing mapped", [&] { return HcclCommActivateCommMemory(comm(), begin, kChunk, 0, pages, 0); }, HCCL_E_PARA},
      {"outside", [&] { return HcclCommActivateCommMemory(comm(), memory(), kBytes, 0, pages, 0); }, HCCL_E_PARA},
      {"activate", [&] { return HcclCommActivateCommMemory(comm(), at, kChunk, 0, pages, 0); }, HCCL_SUCCESS},
      {"twice", [&] { return HcclCommActivateCommMemory(comm(), at, kChunk, 0, pages, 0); }, HCCL_E_PARA},
      {"comm", [&] { return HcclCommUnsetMemoryRange(nullptr, nullptr); }, HCCL_E_PTR},
      {"base", [&] { return HcclCommUnsetMemoryRange(comm(), nullptr); }, HCCL_E_PTR},
      {"no range", [&] { return HcclCommUnsetMemoryRange(comm(), at); }, HCCL_E_PARA},
      {"in use", [&] { return HcclCommUnsetMemoryRange(comm(), begin); }, HCCL_E_PARA},
      {"comm", [&] { return HcclCommDeactivateCommMemory(nullptr, nullptr); }, HCCL_E_PTR},
      {"address", [&] { return HcclCommDeactivateCommMemory(comm(), nullptr); }, HCCL_E_PTR},
      {"not active", [&] { return HcclCommDeactivateCommMemory(comm(), begin); }, HCCL_E_PARA},
      {"deactivate", [&] { return HcclCommDeactivateCommMemory(comm(), at); }, HCCL_SUCCESS},
      {"unset", [&] { return HcclCommUnsetMemoryRange(comm(), begin); }, HCCL_SUCCESS},
  });
  // Collectives do work there: what the calls are for.
  HcclRootInfo root;
  HcclComm alone = nullptr;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &alone), HCCL_SUCCESS);
  ASSERT_EQ(aclrtMemset(memory(), kBytes, 3, kBytes), ACL_SUCCESS);
  EXPECT_EQ(HcclAllGather(memory(), at, kBytes, HCCL_DATA_TYPE_INT8, alone, stream_), HCCL_SUCCESS) << TakeErrorText();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  char last = 0;
  ASSERT_EQ(aclrtMemcpy(&last, 1, at + kBytes - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(last, 3);
  EXPECT_EQ(HcclCommDestroy(alone), HCCL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(at), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(pages), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
}

// --- Symmetric windows -----------------------------------------------------------------------------------------------------

TEST_F(CommCalls, WindowChecks) {
  HcclCommSymWindow window = nullptr;
  size_t offset = 0;
  void* there = nullptr;
  std::vector<char> host(64);
  Try({
      {"comm", [&] { return HcclCommSymWinRegister(nullptr, nullptr, 0, nullptr, 0); }, HCCL_E_PTR},
      {"addr", [&] { return HcclCommSymWinRegister(stale_, nullptr, 0, nullptr, 0); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommSymWinRegister(stale_, memory(), 0, nullptr, 0); }, HCCL_E_PTR},
      {"size", [&] { return HcclCommSymWinRegister(stale_, memory(), 0, &window, 0); }, HCCL_E_PARA},
      {"flag", [&] { return HcclCommSymWinRegister(comm(), memory(), kBytes, &window, 0); }, HCCL_E_PARA},
      {"no communicator", [&] { return HcclCommSymWinRegister(stale_, memory(), kBytes, &window, 1); }, HCCL_E_PARA},
      {"host memory", [&] { return HcclCommSymWinRegister(comm(), host.data(), 64, &window, 1); }, HCCL_E_RUNTIME},
      {"handle", [&] { return HcclCommSymWinDeregister(nullptr); }, HCCL_E_PTR},
      {"no window", [&] { return HcclCommSymWinDeregister(memory()); }, HCCL_E_PARA},
      {"comm", [&] { return HcclCommSymWinGet(nullptr, nullptr, 0, nullptr, nullptr); }, HCCL_E_PTR},
      {"ptr", [&] { return HcclCommSymWinGet(stale_, nullptr, 0, nullptr, nullptr); }, HCCL_E_PTR},
      {"handle", [&] { return HcclCommSymWinGet(stale_, memory(), 0, nullptr, nullptr); }, HCCL_E_PTR},
      {"offset", [&] { return HcclCommSymWinGet(stale_, memory(), 0, &window, nullptr); }, HCCL_E_PTR},
      {"size", [&] { return HcclCommSymWinGet(stale_, memory(), 0, &window, &offset); }, HCCL_E_PARA},
      {"no communicator", [&] { return HcclCommSymWinGet(stale_, memory(), 1, &window, &offset); }, HCCL_E_PARA},
      {"in none", [&] { return HcclCommSymWinGet(comm(), memory(), 1, &window, &offset); }, HCCL_E_NOT_FOUND},
      {"handle", [&] { return HcclSymWinGetPeerPointer(nullptr, 0, 0, nullptr); }, HCCL_E_PTR},
      {"ptr", [&] { return HcclSymWinGetPeerPointer(memory(), 0, 0, nullptr); }, HCCL_E_PTR},
      {"no window", [&] { return HcclSymWinGetPeerPointer(memory(), 0, 0, &there); }, HCCL_E_PARA},
  });
}

// Every rank writes its number into its place of everybody's window.
void FillWindows(uint32_t ranks) {
  std::barrier together(ranks);
  RunCommunicator(ranks, [&](Rank& self) {
    DeviceBuffer memory(kBytes), own(64);
    EXPECT_EQ(aclrtMemset(own.get(), 64, static_cast<int>(self.rank + 1), 64), ACL_SUCCESS);
    HcclCommSymWindow window = nullptr, found = nullptr;
    size_t offset = 0;
    void* there = nullptr;
    ASSERT_EQ(HcclCommSymWinRegister(self.comm, memory.get(), kBytes, &window, 1), HCCL_SUCCESS) << TakeErrorText();
    HcclDispatcher dispatcher = nullptr;
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, static_cast<s32>(self.rank), &dispatcher), HCCL_SUCCESS);
    hccl::Stream stream(self.stream);
    for (uint32_t peer = 0; peer < ranks; ++peer) {
      ASSERT_EQ(HcclSymWinGetPeerPointer(window, 64 * self.rank, peer, &there), HCCL_SUCCESS);
      EXPECT_EQ(HcclMemcpyAsync(dispatcher, there, 64, own.get(), 64, HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE, stream, peer,
                                hccl::LinkType::LINK_STANDARD_ROCE),
                HCCL_SUCCESS)
          << TakeErrorText();
    }
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << TakeErrorText();
    together.arrive_and_wait();
    std::vector<char> got(64 * ranks), expected;
    for (uint32_t peer = 0; peer < ranks; ++peer) expected.insert(expected.end(), 64, static_cast<char>(peer + 1));
    ASSERT_EQ(aclrtMemcpy(got.data(), got.size(), memory.get(), got.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(got, expected);
    char* const inside = static_cast<char*>(memory.get()) + 100;
    EXPECT_EQ(HcclCommSymWinGet(self.comm, inside, kBytes - 100, &found, &offset), HCCL_SUCCESS);
    EXPECT_EQ(found, window);
    EXPECT_EQ(offset, 100u);
    EXPECT_EQ(HcclCommSymWinGet(self.comm, inside, kBytes - 99, &found, &offset), HCCL_E_NOT_FOUND);
    EXPECT_EQ(HcclSymWinGetPeerPointer(window, kBytes, 0, &there), HCCL_E_PARA);
    EXPECT_EQ(HcclSymWinGetPeerPointer(window, 0, ranks, &there), HCCL_E_PARA);
    together.arrive_and_wait();
    EXPECT_EQ(HcclCommSymWinDeregister(window), HCCL_SUCCESS) << TakeErrorText();
    EXPECT_EQ(HcclCommSymWinDeregister(window), HCCL_E_PARA);
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher), HCCL_SUCCESS);
  });
}

TEST_F(RanksTest, WindowsOfOneProcess) { FillWindows(3); }

class NetworkWindows : public NetworkRanksTest {};
TEST_P(NetworkWindows, OverTheNetwork) { FillWindows(2); }
RW_OVER_EVERY_LINK(NetworkWindows);

TEST_F(RanksTest, WindowsAreEquallyLarge) {
  RunCommunicator(3, [&](Rank& self) {
    DeviceBuffer memory(kBytes);
    HcclCommSymWindow window = nullptr;
    EXPECT_EQ(HcclCommSymWinRegister(self.comm, memory.get(), self.rank == 1 ? kBytes : kBytes / 2, &window, 1), HCCL_E_PARA);
    EXPECT_THAT(TakeErrorText(), testing::HasSubstr("2048"));
  });
}

TEST_F(RanksTest, WindowsEndWithTheirCommunicator) {
  HcclCommSymWindow window = nullptr;
  RunCommunicator(1, [&](Rank& self) {
    DeviceBuffer memory(kBytes);
    EXPECT_EQ(HcclCommSymWinRegister(self.comm, memory.get(), kBytes, &window, 1), HCCL_SUCCESS) << TakeErrorText();
  });
  void* there = nullptr;
  EXPECT_EQ(HcclSymWinGetPeerPointer(window, 0, 0, &there), HCCL_E_PARA);
}

}  // namespace comm_calls_test
