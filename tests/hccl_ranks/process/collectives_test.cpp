// Collectives of processes: over the board, in place, and over the network inside a host; in other orders, given up, and with a rank that
// disagrees or dies.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "hccl/p2p/messages.h"
#include "hccl_ranks/collective_storm.h"
#include "hccl_ranks/process/roles.h"

namespace processes_test {

using namespace ropeway_test;

// Collectives by chance, every bit compared.
int StormOfCollectives(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  const uint32_t calls = std::getenv("RW_LONG") != nullptr ? 1200 : 24;
  const std::string wrong = RunStorm(call.size, calls, 1 << 19, call.rank, call.size, state.comm, state.stream);
  if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
  RW_ROLE_EXPECT(wrong.empty());
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kStormOfCollectives("storm_of_collectives", &StormOfCollectives);

// Rank 1 comes with another size than the others: one that goes the same way inside the host, or another way. All learn of it, and what
// comes next is right again.
int Disagree(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kMost = 8 << 20;
  void *in = nullptr, *out = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&in, kMost, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMalloc(&out, kMost, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMemset(in, kMost, 1, kMost) == ACL_SUCCESS);
  const auto reduce = [&](size_t bytes) {
    RW_ROLE_EXPECT(HcclAllReduce(in, out, bytes, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, state.comm, state.stream) == HCCL_SUCCESS);
    return aclrtSynchronizeStream(state.stream);
  };
  const size_t pairs[][2] = {{1000, 2000}, {1000, kMost}, {kMost, 1000}, {100'000, 600'000}};
  for (const auto& [others, mine] : pairs) {
    RW_ROLE_EXPECT(reduce(5000) == ACL_SUCCESS);
    RW_ROLE_EXPECT(reduce(call.rank == 1 ? mine : others) != ACL_SUCCESS);
    for (const size_t bytes : {size_t{3000}, size_t{70'000}, kMost, size_t{64}}) {
      RW_ROLE_EXPECT(reduce(bytes) == ACL_SUCCESS);
      std::vector<int8_t> got(bytes);
      RW_ROLE_EXPECT(aclrtMemcpy(got.data(), bytes, out, bytes, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
      RW_ROLE_EXPECT(got == std::vector<int8_t>(bytes, static_cast<int8_t>(call.size)));
    }
  }
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kDisagree("disagree", &Disagree);

// Among them blocks so large that they are read where they are. What a rank writes there once its own part is over, nobody sees.
int ReadInPlace(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kMost = 10 << 20;
  char *in = nullptr, *out = nullptr;
  for (char** buffer : {&in, &out})
    RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(buffer), kMost, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  for (int round = 0; round < 72; ++round) {
    const bool gathers = round % 2 == 0, in_place = round % 6 == 4;
    // The first ones are copied into a slot, the last fit into none, and the very last are not read in place at all.
    const size_t bytes =
                     (size_t{16} << 10) + static_cast<size_t>(round) * 1777 + (round < 60 ? 0 : static_cast<size_t>(round - 59) * 190'000),
                 all = bytes * call.size, sent = gathers ? bytes : all;
    char* const from = in_place ? out + call.rank * bytes : in;
    RW_ROLE_EXPECT(aclrtMemset(from, sent, static_cast<int>(round + 10 * call.rank), sent) == ACL_SUCCESS);
    const HcclResult called =
        gathers ? HcclAllGather(from, out, bytes, HCCL_DATA_TYPE_INT8, state.comm, state.stream)
                : HcclAlltoAll(from, bytes, HCCL_DATA_TYPE_INT8, out, bytes, HCCL_DATA_TYPE_INT8, state.comm, state.stream);
    RW_ROLE_EXPECT(called == HCCL_SUCCESS && aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
    RW_ROLE_EXPECT(aclrtMemset(in, kMost, 0xEE, kMost) == ACL_SUCCESS);
    std::vector<char> got(all), expected;
    for (uint32_t rank = 0; rank < call.size; ++rank) expected.insert(expected.end(), bytes, static_cast<char>(round + 10 * rank));
    RW_ROLE_EXPECT(aclrtMemcpy(got.data(), all, out, all, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS && got == expected);
    RW_ROLE_EXPECT(aclrtMemset(out, kMost, 0xDD, kMost) == ACL_SUCCESS);
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kReadInPlace("read_in_place", &ReadInPlace);

// The same of all-reduces that fit into no slot, whose parts and results are read where they are; the last ones are too large for that.
// Every element is another one.
int ReduceInPlace(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kMost = (9 << 20) / sizeof(int32_t);
  int32_t *in = nullptr, *out = nullptr;
  for (int32_t** buffer : {&in, &out})
    RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(buffer), 4 * kMost, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto ranks = static_cast<int32_t>(call.size);
  for (int round = 0; round < 36; ++round) {
    const bool in_place = round % 3 == 2;
    const size_t count = 120'000 + static_cast<size_t>(round) * 63'001;
    std::vector<int32_t> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int32_t>(i + 1000 * call.rank) + round;
    int32_t* const from = in_place ? out : in;
    RW_ROLE_EXPECT(aclrtMemcpy(from, 4 * count, numbers.data(), 4 * count, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    RW_ROLE_EXPECT(HcclAllReduce(from, out, count, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, state.comm, state.stream) == HCCL_SUCCESS);
    RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
    RW_ROLE_EXPECT(aclrtMemcpy(numbers.data(), 4 * count, out, 4 * count, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    for (int32_t* buffer : {in, out}) RW_ROLE_EXPECT(aclrtMemset(buffer, 4 * kMost, 0xDD, 4 * kMost) == ACL_SUCCESS);
    for (size_t i = 0; i < count; ++i) RW_ROLE_EXPECT(numbers[i] == ranks * (static_cast<int32_t>(i) + round) + 500 * ranks * (ranks - 1));
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kReduceInPlace("reduce_in_place", &ReduceInPlace);

// Of three collectives the second has a stream of its own. There it waits until the third is over, which needs what the first had; at
// all ranks, or at one, so that others are done with them in another order.
int Overtake(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  aclrtStream other = nullptr;
  aclrtNotify go = nullptr;
  RW_ROLE_EXPECT(aclrtCreateStream(&other) == ACL_SUCCESS && aclrtCreateNotify(&go, 0) == ACL_SUCCESS);
  constexpr size_t kNumbers = 3;
  int32_t* numbers = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(reinterpret_cast<void**>(&numbers), 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const auto sum = [&](size_t place, aclrtStream stream) {
    int32_t* const at = numbers + 100 * place;
    RW_ROLE_EXPECT(HcclAllReduce(at, at, 1, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, state.comm, stream) == HCCL_SUCCESS);
  };
  for (int32_t round = 0; round < 300; ++round) {
    for (size_t place = 0; place < kNumbers; ++place) {
      const int32_t mine = round + static_cast<int32_t>(call.rank) + static_cast<int32_t>(place);
      RW_ROLE_EXPECT(aclrtMemcpy(numbers + 100 * place, 4, &mine, 4, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    }
    const bool waits = round % 3 == 0 || round % 3 == static_cast<int32_t>(call.rank) + 1;
    sum(0, state.stream);
    if (waits) RW_ROLE_EXPECT(aclrtWaitAndResetNotify(go, other, 0) == ACL_SUCCESS);
    sum(1, other);
    sum(2, state.stream);
    if (waits) RW_ROLE_EXPECT(aclrtRecordNotify(go, state.stream) == ACL_SUCCESS);
    RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS && aclrtSynchronizeStream(other) == ACL_SUCCESS);
    for (size_t place = 0; place < kNumbers; ++place) {
      int32_t got = 0, expected = 0;
      for (uint32_t rank = 0; rank < call.size; ++rank) expected += round + static_cast<int32_t>(rank) + static_cast<int32_t>(place);
      RW_ROLE_EXPECT(aclrtMemcpy(&got, 4, numbers + 100 * place, 4, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS && got == expected);
    }
  }
  RW_ROLE_EXPECT(aclrtDestroyStream(other) == ACL_SUCCESS && aclrtDestroyNotify(go) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kOvertake("overtake", &Overtake);

// Rank 0 gives a collective up that rank 1 has not come to yet: all hear of it, and what comes next is right again.
int AbortOne(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  // So many that the others need more of rank 0 than its input, or that in its place; over the network, that it is not carried before.
  const size_t few = std::getenv("HCCL_INTRA_ROCE_ENABLE") == nullptr ? 40'000 : ropeway::comm::kCarriedBytes + 1;
  const size_t most = std::max(few, size_t{1} << 20);
  void *buffer = nullptr, *all = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&buffer, most, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMalloc(&all, most * call.size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMemset(buffer, most, 0, most) == ACL_SUCCESS);
  for (const std::pair<bool, size_t>& what : {std::pair(false, few), std::pair(true, few), std::pair(false, most)}) {
    const bool gathers = what.first;
    const size_t bytes = what.second;
    const auto begin = [&] {
      const HcclResult called = gathers
                                    ? HcclAllGather(buffer, all, bytes, HCCL_DATA_TYPE_INT8, state.comm, state.stream)
                                    : HcclAllReduce(buffer, buffer, bytes, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, state.comm, state.stream);
      RW_ROLE_EXPECT(called == HCCL_SUCCESS);
    };
    const auto run = [&] {
      begin();
      return aclrtSynchronizeStream(state.stream);
    };
    // Two ways are tried in turns (Board::WayOfBlocks): the third time, what is gathered is read in place, as it was the first time.
    RW_ROLE_EXPECT(run() == ACL_SUCCESS && run() == ACL_SUCCESS);
    if (call.rank == 0) {
      begin();
      RW_ROLE_EXPECT(aclrtStreamAbort(state.stream) == ACL_SUCCESS);
      call.parent.Say("aborted");
    } else {
      if (call.rank == 1) RW_ROLE_EXPECT(call.parent.Hear() == "aborted");
      RW_ROLE_EXPECT(IsLossOnStream(run()));
    }
    for (int i = 0; i < 4; ++i) RW_ROLE_EXPECT(run() == ACL_SUCCESS);
  }
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kAbortOne("abort_one", &AbortOne);

// Collectives one after the other, until somebody is killed in the middle of one.
int LoseOneOfCollectives(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kMost = 1 << 20;
  void* buffer = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&buffer, kMost, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  aclError code = ACL_SUCCESS;
  for (uint32_t round = 0; code == ACL_SUCCESS; ++round) {
    if (round == 20) call.parent.Say("moving");
    const size_t size = round % 2 == 0 ? 512 : kMost;
    const HcclResult result = HcclAllReduce(buffer, buffer, size, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, state.comm, state.stream);
    RW_ROLE_EXPECT(result == HCCL_SUCCESS);
    code = aclrtSynchronizeStream(state.stream);
  }
  RW_ROLE_EXPECT(IsLossOnStream(code));
  HcclResult error = HCCL_SUCCESS;
  RW_ROLE_EXPECT(HcclGetCommAsyncError(state.comm, &error) == HCCL_SUCCESS && IsLoss(error));
  RW_ROLE_EXPECT(aclrtFree(buffer) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kLoseOneOfCollectives("lose_one_of_collectives", &LoseOneOfCollectives);

TEST(Processes, StormsOfCollectives) {
  for (const uint32_t size : {2u, 5u, 8u}) {
    auto ranks = StartRanks("storm_of_collectives", size);
    for (auto& rank : ranks) EXPECT_EQ(rank.Wait(), 0);
  }
}

TEST(Processes, StormsOfCollectivesOnOtherSchedules) {
  uint32_t size = 2;
  for (const char* schedule : {"latest", "random:1", "random:2", "random:3"}) {
    auto ranks = StartRanks("storm_of_collectives", size, {{"ROPEWAY_SCHEDULE", schedule}});
    for (auto& rank : ranks) EXPECT_EQ(rank.Wait(), 0) << schedule;
    size = size == 2 ? 3 : 9 - size;
  }
}

// On two cores, on which those that fit into no slot are, too; and on all that there are.
TEST(Processes, LargerBlocksAreReadInPlace) {
  cpu_set_t all, two;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&two);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &two);
  for (const cpu_set_t* cores : {&two, &all}) {
    for (const uint32_t size : {2u, 4u}) {
      ASSERT_EQ(sched_setaffinity(0, sizeof *cores, cores), 0);
      for (const char* role : {"read_in_place", "reduce_in_place"}) {
        auto ranks = StartRanks(role, size);
        ExpectAllGood(ranks);
      }
    }
  }
}

TEST(Processes, ACollectiveMayWaitForALaterOne) {
  for (const uint32_t size : {2u, 3u}) {
    auto ranks = StartRanks("overtake", size);
    ExpectAllGood(ranks);
  }
}

TEST(Processes, RanksThatDisagreeAboutASizeAllLearnOfIt) {
  auto ranks = StartRanks("disagree", 3);
  ExpectAllGood(ranks);
}

TEST(Processes, OthersHearOfAnAbortedCollective) {
  auto ranks = StartRanks("abort_one", 3);
  for (int i = 0; i < 3; ++i) ranks[1].Say(ranks[0].Hear());
  ExpectAllGood(ranks);
}

TEST(Processes, CollectivesOverTheNetworkInsideAHost) {
  for (const char* role : {"storm_of_collectives", "disagree"}) {
    auto ranks = StartRanks(role, 3, kOverNetwork);
    ExpectAllGood(ranks);
  }
  auto ranks = StartRanks("abort_one", 3, kOverNetwork);
  for (int i = 0; i < 3; ++i) ranks[1].Say(ranks[0].Hear());
  ExpectAllGood(ranks);
}

TEST(Processes, EverybodyLearnsOfARankThatIsKilledInACollective) {
  auto ranks = StartRanks("lose_one_of_collectives", 4);
  for (auto& rank : ranks) EXPECT_EQ(rank.Hear(), "moving");
  ranks[2].Kill();
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(ranks[i].Wait(), i == 2 ? 1009 : 0) << i;
}

}  // namespace processes_test
