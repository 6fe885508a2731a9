// What the library knows and does not do: collectives and the device-side layer. NULL is found first, and a text says what to
// use.
#include "hccl/hccl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_ex.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_sym_win.h"
#include "hcomm/hcomm_primitives.h"
#include "support/acl_test.h"

namespace refused_test {

using ropeway_test::TakeErrorText;

constexpr HcclDataType kType = HCCL_DATA_TYPE_FP32;
constexpr HcclReduceOp kSum = HCCL_REDUCE_SUM;

struct Collective {
  const char* name;
  HcclResult (*call)(void* send, void* receive, HcclComm comm);
};

const Collective kCollectives[] = {
    {"HcclAllReduce", [](void* s, void* r, HcclComm c) { return HcclAllReduce(s, r, 1, kType, kSum, c, nullptr); }},
    {"HcclReduceScatter", [](void* s, void* r, HcclComm c) { return HcclReduceScatter(s, r, 1, kType, kSum, c, nullptr); }},
    {"HcclReduceScatterV",
     [](void* s, void* r, HcclComm c) { return HcclReduceScatterV(s, s, s, r, 1, kType, kSum, c, nullptr); }},
    {"HcclAllGather", [](void* s, void* r, HcclComm c) { return HcclAllGather(s, r, 1, kType, c, nullptr); }},
    {"HcclAllGatherV", [](void* s, void* r, HcclComm c) { return HcclAllGatherV(s, 1, r, r, r, kType, c, nullptr); }},
    {"HcclReduce", [](void* s, void* r, HcclComm c) { return HcclReduce(s, r, 1, kType, kSum, 0, c, nullptr); }},
    {"HcclAlltoAll", [](void* s, void* r, HcclComm c) { return HcclAlltoAll(s, 1, kType, r, 1, kType, c, nullptr); }},
    {"HcclAlltoAllV", [](void* s, void* r, HcclComm c) { return HcclAlltoAllV(s, s, s, kType, r, r, r, kType, c, nullptr); }},
    {"HcclAlltoAllVC", [](void* s, void* r, HcclComm c) { return HcclAlltoAllVC(s, s, kType, r, kType, c, nullptr); }},
};

TEST(HcclRefused, CollectivesCheckPointersAndThenRefuse) {
  int word = 0;
  for (const Collective& collective : kCollectives) {
    SCOPED_TRACE(collective.name);
    EXPECT_EQ(collective.call(&word, &word, nullptr), HCCL_E_PTR);
    EXPECT_EQ(collective.call(nullptr, &word, &word), HCCL_E_PTR);
    EXPECT_EQ(collective.call(&word, nullptr, &word), HCCL_E_PTR);
    TakeErrorText();
    EXPECT_EQ(collective.call(&word, &word, &word), HCCL_E_NOT_SUPPORT);
    const std::string text = TakeErrorText();
    EXPECT_NE(text.find(collective.name), std::string::npos) << text;
    EXPECT_NE(text.find("HcclSend"), std::string::npos) << text;
  }
}

TEST(HcclRefused, BroadcastHasOneBufferAndScatterNeedsOnlyTheReceiver) {
  int word = 0;
  EXPECT_EQ(HcclBroadcast(nullptr, 1, kType, 0, &word, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclBroadcast(&word, 1, kType, 0, nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclBroadcast(&word, 1, kType, 0, &word, nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclScatter(nullptr, nullptr, 1, kType, 0, &word, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclScatter(nullptr, &word, 1, kType, 0, &word, nullptr), HCCL_E_NOT_SUPPORT);
  TakeErrorText();
}

TEST(HcclRefused, TheDeviceSideLayerIsNotThere) {
  EXPECT_EQ(HcclCommMemReg(nullptr, nullptr, nullptr, nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclChannelGetRemoteMems(nullptr, 0, nullptr, nullptr, nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcommLocalCopyOnThread(0, nullptr, nullptr, 0), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcommWriteOnThread(0, 0, nullptr, nullptr, 0), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcommReadOnThread(0, 0, nullptr, nullptr, 0), HCCL_E_NOT_SUPPORT);
  EXPECT_NE(TakeErrorText().find("HcommReadOnThread"), std::string::npos);
}

TEST(HcclRefused, MemoryForCollectivesChecksItsArgumentsAndThenRefuses) {
  uint32_t word = 0;
  void* handle = nullptr;
  EXPECT_EQ(HcclCommRegister(nullptr, &word, 4, &handle, 0), HCCL_E_PTR);
  EXPECT_EQ(HcclCommRegister(&word, nullptr, 4, &handle, 0), HCCL_E_PTR);
  EXPECT_EQ(HcclCommRegister(&word, &word, 4, nullptr, 0), HCCL_E_PTR);
  EXPECT_EQ(HcclCommRegister(&word, &word, 0, &handle, 0), HCCL_E_PARA);
  EXPECT_EQ(HcclCommRegister(&word, &word, 4, &handle, 0), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(HcclCommDeregister(nullptr, &word), HCCL_E_PTR);
  EXPECT_EQ(HcclCommDeregister(&word, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclCommDeregister(&word, &word), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclCommExchangeMem(nullptr, &word, &word, 1), HCCL_E_PTR);
  EXPECT_EQ(HcclCommExchangeMem(&word, nullptr, &word, 1), HCCL_E_PTR);
  EXPECT_EQ(HcclCommExchangeMem(&word, &word, nullptr, 1), HCCL_E_PTR);
  EXPECT_EQ(HcclCommExchangeMem(&word, &word, &word, 0), HCCL_E_PARA);
  TakeErrorText();
  EXPECT_EQ(HcclCommExchangeMem(&word, &word, &word, 1), HCCL_E_NOT_SUPPORT);
  EXPECT_NE(TakeErrorText().find("HcclRegisterMem"), std::string::npos);
}

TEST(HcclRefused, SymmetricWindowsAreNotThere) {
  EXPECT_EQ(HcclCommSymWinRegister(nullptr, nullptr, 0, nullptr, 1), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclCommSymWinDeregister(nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclCommSymWinGet(nullptr, nullptr, 0, nullptr, nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclSymWinGetPeerPointer(nullptr, 0, 0, nullptr), HCCL_E_NOT_SUPPORT);
  EXPECT_NE(TakeErrorText().find("HcclSymWinGetPeerPointer: symmetric windows"), std::string::npos);
}

TEST(HcclErrorString, EveryResultHasATextOfItsOwn) {
  std::vector<std::string> seen;
  for (int code = 0; code <= HCCL_E_RESERVED; ++code) {
    if (code > HCCL_E_OOM && code < HCCL_E_IN_STATUS) continue;
    const std::string text = HcclGetErrorString(static_cast<HcclResult>(code));
    EXPECT_FALSE(text.empty());
    for (const std::string& other : seen) EXPECT_NE(text, other) << code;
    seen.push_back(text);
  }
  EXPECT_STREQ(HcclGetErrorString(static_cast<HcclResult>(99)), HcclGetErrorString(HCCL_E_RESERVED));
}

}  // namespace refused_test
