// Messages that carry their bytes: to a rank that is late, gives up, or stands still.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "hccl/p2p/messages.h"
#include "hccl_ranks/process/roles.h"
#include "ropeway/ropeway.h"

namespace processes_test {

using namespace ropeway_test;

// Messages from rank 0 to rank 1 that lie one behind the other and are on their way together: in calls of so few that they are carried,
// each with a stream of its own.
class Messages {
 public:
  static constexpr size_t kOfACall = 4;

  Messages(const RoleCall& role, const RankState& state, char* first, size_t bytes, size_t count) : call(role) {
    for (size_t i = 0; i < count; ++i)
      items_.push_back({call.rank == 0 ? HCCL_SEND : HCCL_RECV, first + i * bytes, bytes, HCCL_DATA_TYPE_UINT8, 1 - call.rank});
    for (size_t i = 0; i < count; i += kOfACall) {
      streams_.emplace_back();
      RW_ROLE_EXPECT(aclrtCreateStream(&streams_.back()) == ACL_SUCCESS);
      const auto some = static_cast<uint32_t>(std::min(kOfACall, count - i));
      RW_ROLE_EXPECT(HcclBatchSendRecv(&items_[i], some, state.comm, streams_.back()) == HCCL_SUCCESS);
    }
  }
  // The first failure, when all are over.
  aclError Wait() {
    aclError first = ACL_SUCCESS;
    for (const aclrtStream stream : streams_) {
      const aclError code = aclrtSynchronizeStream(stream);
      if (first == ACL_SUCCESS) first = code;
      RW_ROLE_EXPECT(aclrtDestroyStream(stream) == ACL_SUCCESS);
    }
    return first;
  }

 private:
  const RoleCall& call;  // RW_ROLE_EXPECT's
  std::vector<HcclSendRecvItem> items_;
  std::vector<aclrtStream> streams_;
};

// Rank 1 is late for all that rank 0 has to send, more than it keeps: three times, so that what was kept counts no more when it is taken.
// Sends and receives first, then a collective whose parts are asked for.
int ComeLate(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kMessages = 100, kBytes = 250'001, kPart = 1'000'001;
  static_assert(kMessages * kBytes > ropeway::comm::kKeptInAll && kBytes <= ropeway::comm::kKeptBytes &&
                Messages::kOfACall * kBytes <= ropeway::comm::kMostTogether && kPart > ropeway::comm::kKeptBytes &&
                kPart <= ropeway::comm::kCarriedBytes);
  char *mine = nullptr, *all = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(&mine), kMessages * kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(&all), 2 * kPart, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto write = [&](const std::vector<uint8_t>& bytes) {
    RW_ROLE_EXPECT(aclrtMemcpy(mine, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
  };
  const auto expect = [&](const char* where, const std::vector<uint8_t>& bytes) {
    std::vector<uint8_t> got(bytes.size());
    RW_ROLE_EXPECT(aclrtMemcpy(got.data(), got.size(), where, got.size(), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    RW_ROLE_EXPECT(got == bytes);
  };
  for (uint32_t round = 0; round < 3; ++round) {
    const std::vector<uint8_t> sent = PatternOf(kMessages * kBytes, round);
    write(call.rank == 0 ? sent : std::vector<uint8_t>(sent.size()));
    if (call.rank == 1) RW_ROLE_EXPECT(call.parent.Hear() == "sent");
    Messages messages(call, state, mine, kBytes, kMessages);
    if (call.rank == 0) call.parent.Say("sent");
    RW_ROLE_EXPECT(messages.Wait() == ACL_SUCCESS);
    expect(mine, sent);

    write(PatternOf(kPart, 10 * round + call.rank));
    if (call.rank == 1) RW_ROLE_EXPECT(call.parent.Hear() == "sent");
    RW_ROLE_EXPECT(HcclAllGather(mine, all, kPart, HCCL_DATA_TYPE_INT8, state.comm, state.stream) == HCCL_SUCCESS);
    if (call.rank == 0) call.parent.Say("sent");
    RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
    for (uint32_t rank = 0; rank < 2; ++rank) expect(all + rank * kPart, PatternOf(kPart, 10 * round + rank));
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kComeLate("come_late", &ComeLate);

// Either side gives messages up before the other one has come to them, more of them than are kept: the other one hears of each, and what
// comes next is right.
int GiveUp(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kBytes = 250'000;
  constexpr int kRounds = 80;
  static_assert(kRounds * kBytes > ropeway::comm::kKeptInAll);
  void* buffer = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&buffer, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto begin = [&] {
    const auto function = call.rank == 0 ? HcclSend : HcclRecv;
    RW_ROLE_EXPECT(function(buffer, kBytes, HCCL_DATA_TYPE_UINT8, 1 - call.rank, state.comm, state.stream) == HCCL_SUCCESS);
  };
  for (const uint32_t gives_up : {0u, 1u}) {
    for (int round = 0; round < kRounds; ++round) {
      if (call.rank == gives_up) {
        begin();
        RW_ROLE_EXPECT(aclrtStreamAbort(state.stream) == ACL_SUCCESS);
        call.parent.Say("aborted");
      } else {
        RW_ROLE_EXPECT(call.parent.Hear() == "aborted");
        begin();
        const aclError code = aclrtSynchronizeStream(state.stream);
        RW_ROLE_EXPECT(IsLossOnStream(code) || (gives_up == 0 && code == ACL_SUCCESS));  // all was through before
      }
    }
    for (uint32_t round = 0; round < 3; ++round) RingOnce(call, state, kBytes, round);
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kGiveUp("give_up", &GiveUp);

// Rank 1 is stopped, and rank 0 sends it more than the sockets take.
int SendToOneThatStandsStill(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  RingOnce(call, state, 100'000, 1);
  call.parent.Say("met");
  RW_ROLE_EXPECT(call.parent.Hear() == "it is stopped");
  constexpr size_t kMessages = 64, kBytes = 250'000;
  char* buffer = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(&buffer), kMessages * kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(IsLossOnStream(Messages(call, state, buffer, kBytes, kMessages).Wait()));
  RW_ROLE_EXPECT(aclrtFree(buffer) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kSendToOneThatStandsStill("send_to_one_that_stands_still", &SendToOneThatStandsStill);

// Messages of up to 256 KiB between hosts, if there are few, go behind their offers, and wait at a rank that is late; parts of collectives
// of up to 1 MiB when it has come.
TEST(Processes, WhatIsCarriedToALateRankIsKeptWithinBounds) {
  auto ranks = StartRanks("come_late", 2, kOverNetwork);
  for (int i = 0; i < 6; ++i) ranks[1].Say(ranks[0].Hear());
  ExpectAllGood(ranks);
}

TEST(Processes, WhatIsCarriedMayBeGivenUpByEitherSide) {
  auto ranks = StartRanks("give_up", 2, kOverNetwork);
  for (const int gives_up : {0, 1})
    for (int i = 0; i < 80; ++i) ranks[1 - gives_up].Say(ranks[gives_up].Hear());
  ExpectAllGood(ranks);
}

TEST(Processes, ARankThatStandsStillCountsAsCutOff) {
  if (std::string_view(ropewayGetEngineName()) != "cpu") GTEST_SKIP() << "what the host cannot reach waits for an answer";
  std::map<std::string, std::string> settings = kOverNetwork;
  settings["ROPEWAY_HCCL_LINK_TIMEOUT"] = "1";
  auto ranks = StartRanks("send_to_one_that_stands_still", 2, settings);
  for (auto& rank : ranks) EXPECT_EQ(rank.Hear(), "met");
  ranks[1].Stop();
  ranks[0].Say("it is stopped");
  EXPECT_EQ(ranks[0].Wait(), 0);
  ranks[1].Kill();
  EXPECT_EQ(ranks[1].Wait(), 1009);
}

}  // namespace processes_test
