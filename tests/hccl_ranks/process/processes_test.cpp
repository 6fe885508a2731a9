// Ranks in processes of their own: data, barriers, rank tables, and what the others see when one of them dies or never
// comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "hccl/bootstrap/root_info.h"
#include "hccl/hccl_one_sided_services.h"
#include "hccl/transport/secure_socket.h"
#include "hccl_ranks/process/roles.h"

namespace processes_test {

using namespace ropeway_test;

// Every size once: in the offer, by the engine or over the link.
int Exchange(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  for (const size_t size : {8u, 16384u, 16385u, 400000u}) RingOnce(call, state, size, static_cast<uint32_t>(size));
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kExchange("exchange", &Exchange);

// Sub-communicator of the even ranks and of the odd ones.
int Split(RoleCall& call) {
  RankState state, half;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  std::vector<uint32_t> members;
  for (uint32_t rank = call.rank % 2; rank < call.size; rank += 2) members.push_back(rank);
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  RW_ROLE_EXPECT(HcclCreateSubCommConfig(&state.comm, static_cast<uint32_t>(members.size()), members.data(), 5 + call.rank % 2,
                                         call.rank / 2, &config, &half.comm) == HCCL_SUCCESS);
  half.stream = state.stream;
  RoleCall sub = call;
  sub.rank = call.rank / 2;
  sub.size = static_cast<uint32_t>(members.size());
  RingOnce(sub, half, 100000, 1000 * (call.rank % 2));
  RW_ROLE_EXPECT(HcclCommDestroy(half.comm) == HCCL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kSplit("split", &Split);

// The root dies, another rank leaves, and the one that stays has never spoken with it: nobody can tell it, and yet it does not wait for
// HCCL_CONNECT_TIMEOUT.
int SpeakFirstWithoutRoot(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  call.parent.Say("joined");
  call.parent.Hear();
  HcclResult error = HCCL_SUCCESS;
  do RW_ROLE_EXPECT(HcclGetCommAsyncError(state.comm, &error) == HCCL_SUCCESS);
  while (error == HCCL_SUCCESS);
  if (call.rank == 1) {
    call.parent.Say("knows");
    call.parent.Hear();
    void* buffer = nullptr;
    RW_ROLE_EXPECT(aclrtMalloc(&buffer, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    RW_ROLE_EXPECT(HcclSend(buffer, 64, HCCL_DATA_TYPE_INT8, 2, state.comm, state.stream) == HCCL_SUCCESS);
    RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == 507057);  // and not 507056, which says that time has passed
    RW_ROLE_EXPECT(aclrtFree(buffer) == ACL_SUCCESS);
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kSpeakFirstWithoutRoot("speak_first_without_root", &SpeakFirstWithoutRoot);

int LoseOne(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  void* buffer = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&buffer, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  if (call.rank == 1) {
    call.parent.Say("here");
    call.parent.Hear();
    return 2;  // not reached: the parent kills it
  }
  const bool receives = call.rank % 2 == 0;
  const HcclResult queued =
      receives ? HcclRecv(buffer, 1 << 20, HCCL_DATA_TYPE_UINT8, 1, state.comm, state.stream) : HcclBarrier(state.comm, state.stream);
  RW_ROLE_EXPECT(queued == HCCL_SUCCESS);
  call.parent.Say("waiting");
  RW_ROLE_EXPECT(IsLossOnStream(aclrtSynchronizeStream(state.stream)));
  HcclResult error = HCCL_SUCCESS;
  RW_ROLE_EXPECT(HcclGetCommAsyncError(state.comm, &error) == HCCL_SUCCESS && IsLoss(error));
  Leave(call, state);
  return 0;
}
const RoleEntry kLoseOne("lose_one", &LoseOne);

// Rank 0, which has the root's service, is the one that dies.
int LoseRoot(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  if (call.rank == 0) {
    call.parent.Say("here");
    call.parent.Hear();
    return 2;
  }
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  call.parent.Say("waiting");
  RW_ROLE_EXPECT(IsLossOnStream(aclrtSynchronizeStream(state.stream)));
  HcclResult error = HCCL_SUCCESS;
  RW_ROLE_EXPECT(HcclGetCommAsyncError(state.comm, &error) == HCCL_SUCCESS && IsLoss(error));
  Leave(call, state);
  return 0;
}
const RoleEntry kLoseRoot("lose_root", &LoseRoot);

// The text in one line, then the code.
int Incomplete(RoleCall& call) {
  RankState state;
  const HcclResult result = JoinByRoot(call, &state);
  std::string text = aclGetRecentErrMsg();
  for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
  call.parent.Say(text);
  return result;
}
const RoleEntry kIncomplete("incomplete", &Incomplete);

int ByTable(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(aclrtSetDevice(static_cast<int32_t>(call.rank)) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtCreateStream(&state.stream) == ACL_SUCCESS);
  RW_ROLE_EXPECT(HcclCommInitClusterInfo(call.argument.c_str(), call.rank, &state.comm) == HCCL_SUCCESS);
  for (const size_t size : {100u, 70000u, 1u << 20}) RingOnce(call, state, size, static_cast<uint32_t>(size));
  Leave(call, state);
  return 0;
}
const RoleEntry kByTable("by_table", &ByTable);

// The same, but nobody leaves before the parent says so.
int StayByTable(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(aclrtSetDevice(static_cast<int32_t>(call.rank)) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtCreateStream(&state.stream) == ACL_SUCCESS);
  RW_ROLE_EXPECT(HcclCommInitClusterInfo(call.argument.c_str(), call.rank, &state.comm) == HCCL_SUCCESS);
  RingOnce(call, state, 70000, 1);
  call.parent.Say("joined");
  call.parent.Hear();
  Leave(call, state);
  return 0;
}
const RoleEntry kStayByTable("stay_by_table", &StayByTable);

// Both wait for each other when the link goes: for bytes over a channel that is there, for bytes before there is one, or at a barrier.
int CutOff(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  if (call.argument == "channel") RingOnce(call, state, 200000, 1);  // over the link: the namespaces are hosts to each other
  void* buffer = nullptr;
  RW_ROLE_EXPECT(aclrtMalloc(&buffer, 64, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  const bool meets = call.argument == "barrier of " + std::to_string(call.rank);
  const HcclResult queued =
      meets ? HcclBarrier(state.comm, state.stream) : HcclRecv(buffer, 64, HCCL_DATA_TYPE_UINT8, 1 - call.rank, state.comm, state.stream);
  RW_ROLE_EXPECT(queued == HCCL_SUCCESS);
  call.parent.Say("waiting");
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == 507056);
  HcclResult error = HCCL_SUCCESS;
  RW_ROLE_EXPECT(HcclGetCommAsyncError(state.comm, &error) == HCCL_SUCCESS && error == HCCL_E_TCP_TRANSFER);
  Leave(call, state);
  return 0;
}
const RoleEntry kCutOff("cut_off", &CutOff);

// Messages between random pairs, of random sizes, from a list that every rank draws alike; each does its own part of
// it.
int Storm(RoleCall& call) {
  constexpr uint32_t kMessages = 300;
  constexpr size_t kLargest = 200000;
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  std::mt19937 random(20261115);
  std::vector<std::pair<void*, std::vector<uint8_t>>> received;
  for (uint32_t i = 0; i < kMessages; ++i) {
    const uint32_t from = random() % call.size, to = (from + 1 + random() % (call.size - 1)) % call.size;
    const size_t size = 1 + random() % (random() % 4 == 0 ? kLargest : 2000);
    if (call.rank != from && call.rank != to) continue;
    void* buffer = nullptr;
    RW_ROLE_EXPECT(aclrtMalloc(&buffer, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
    std::vector<uint8_t> bytes = PatternOf(size, i);
    if (call.rank == from) {
      RW_ROLE_EXPECT(aclrtMemcpy(buffer, size, bytes.data(), size, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
      RW_ROLE_EXPECT(HcclSend(buffer, size, HCCL_DATA_TYPE_UINT8, to, state.comm, state.stream) == HCCL_SUCCESS);
    } else {
      RW_ROLE_EXPECT(HcclRecv(buffer, size, HCCL_DATA_TYPE_UINT8, from, state.comm, state.stream) == HCCL_SUCCESS);
      received.emplace_back(buffer, std::move(bytes));
    }
  }
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  for (const auto& [buffer, bytes] : received) {
    std::vector<uint8_t> got(bytes.size());
    RW_ROLE_EXPECT(aclrtMemcpy(got.data(), got.size(), buffer, got.size(), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
    RW_ROLE_EXPECT(got == bytes);
  }
  Leave(call, state);
  return 0;
}
const RoleEntry kStorm("storm", &Storm);

// Memory behind reserved addresses, which has no key for other processes. Each rank puts into the other's.
int PutIntoMapped(RoleCall& call) {
  RankState state;
  RW_ROLE_EXPECT(JoinByRoot(call, &state) == HCCL_SUCCESS);
  constexpr size_t kSize = 2 << 20, kHalf = kSize / 2;
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {call.rank % 8, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle page = nullptr;
  void* base = nullptr;
  RW_ROLE_EXPECT(aclrtReserveMemAddress(&base, kSize, 0, nullptr, 0) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMallocPhysical(&page, kSize, &prop, 0) == ACL_SUCCESS);
  RW_ROLE_EXPECT(aclrtMapMem(base, kSize, 0, page, 0) == ACL_SUCCESS);
  const std::vector<uint8_t> mine = PatternOf(kHalf, call.rank), theirs = PatternOf(kHalf, 1 - call.rank);
  RW_ROLE_EXPECT(aclrtMemcpy(base, kSize, mine.data(), kHalf, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
  const uint32_t peer = 1 - call.rank;
  HcclMemDesc own{}, offered{};
  RW_ROLE_EXPECT(HcclRegisterMem(state.comm, peer, COMM_MEM_TYPE_DEVICE, base, kSize, &own) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
  HcclMemDescs local{&own, 1}, remote{&offered, 1};
  u32 count = 0;
  RW_ROLE_EXPECT(HcclExchangeMemDesc(state.comm, peer, &local, 0, &remote, &count) == HCCL_SUCCESS && count == 1);
  CommMem there{};
  RW_ROLE_EXPECT(HcclEnableMemAccess(state.comm, &offered, &there) == HCCL_SUCCESS);
  HcclOneSideOpDesc item{base, static_cast<char*>(there.addr) + kHalf, kHalf, HCCL_DATA_TYPE_UINT8};
  RW_ROLE_EXPECT(HcclBatchPut(state.comm, peer, &item, 1, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(HcclBarrier(state.comm, state.stream) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtSynchronizeStream(state.stream) == ACL_SUCCESS);
  std::vector<uint8_t> got(kHalf);
  void* const second = static_cast<char*>(base) + kHalf;
  RW_ROLE_EXPECT(aclrtMemcpy(got.data(), kHalf, second, kHalf, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
  RW_ROLE_EXPECT(got == theirs);
  RW_ROLE_EXPECT(HcclDisableMemAccess(state.comm, &offered) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(HcclDeregisterMem(state.comm, &own) == HCCL_SUCCESS);
  Leave(call, state);
  return 0;
}
const RoleEntry kPutIntoMapped("put_into_mapped", &PutIntoMapped);

// Joins with the usual limit on descriptors when the parent says that the flood is there, and has most of them left.
int JoinFlooded(RoleCall& call) {
  rlimit limit{};
  RW_ROLE_EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = std::min<rlim_t>(1024, limit.rlim_max);
  RW_ROLE_EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  RankState state;
  RW_ROLE_EXPECT(aclrtSetDevice(static_cast<int32_t>(call.rank)) == ACL_SUCCESS);
  HcclRootInfo root;
  if (call.rank == 0) {
    RW_ROLE_EXPECT(HcclGetRootInfo(&root) == HCCL_SUCCESS);
    call.parent.Say(ToHex(&root, sizeof root));
  }
  const std::string bytes = FromHex(call.parent.Hear());
  RW_ROLE_EXPECT(bytes.size() == sizeof root);
  std::memcpy(&root, bytes.data(), sizeof root);
  RW_ROLE_EXPECT(HcclCommInitRootInfo(call.size, &root, call.rank, &state.comm) == HCCL_SUCCESS);
  RW_ROLE_EXPECT(aclrtCreateStream(&state.stream) == ACL_SUCCESS);
  RingOnce(call, state, 100000, 1);
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  RW_ROLE_EXPECT(std::distance(begin(descriptors), end(descriptors)) < 512);
  Leave(call, state);
  return 0;
}
const RoleEntry kJoinFlooded("join_flooded", &JoinFlooded);

// 500 connections to the root whose info is the argument, which say nothing until the parent is done.
int Flood(RoleCall& call) {
  HcclRootInfo root;
  std::memcpy(&root, FromHex(call.argument).data(), sizeof root);
  ropeway::comm::RootTicket ticket;
  RW_ROLE_EXPECT(ropeway::comm::ReadRootInfo(root, &ticket));
  sockaddr_storage storage;
  const socklen_t size = ticket.root.Fill(&storage);
  for (int i = 0; i < 500; ++i) {
    const int fd = socket(storage.ss_family, SOCK_STREAM, 0);
    RW_ROLE_EXPECT(connect(fd, reinterpret_cast<sockaddr*>(&storage), size) == 0);
  }
  call.parent.Say("flooding");
  call.parent.Hear();
  return 0;
}
const RoleEntry kFlood("flood", &Flood);

TEST(Processes, RingExchangeOfTwo) {
  auto ranks = StartRanks("exchange", 2);
  ExpectAllGood(ranks);
}

TEST(Processes, RingExchangeOfEight) {
  auto ranks = StartRanks("exchange", 8);
  ExpectAllGood(ranks);
}

TEST(Processes, ARankThatLeftUnseenIsMissedSoonWithoutARoot) {
  auto ranks = StartRanks("speak_first_without_root", 3);
  for (auto& rank : ranks) EXPECT_EQ(rank.Hear(), "joined");
  ranks[0].Kill();
  EXPECT_EQ(ranks[0].Wait(), 1009);
  for (uint32_t i : {1u, 2u}) ranks[i].Say("the root is gone");
  EXPECT_EQ(ranks[1].Hear(), "knows");
  EXPECT_EQ(ranks[2].Wait(), 0);
  ranks[1].Say("the other one has left");
  EXPECT_EQ(ranks[1].Wait(), 0);
}

TEST(Processes, SubCommunicatorsExchangeAmongThemselves) {
  auto ranks = StartRanks("split", 6);
  ExpectAllGood(ranks);
}

TEST(Processes, MappedMemoryIsRegisteredForTheSameHost) {
  auto ranks = StartRanks("put_into_mapped", 2);
  ExpectAllGood(ranks);
}

TEST(Processes, EverybodyLearnsOfARankThatIsKilled) {
  auto ranks = StartRanks("lose_one", 4);
  for (auto& rank : ranks) EXPECT_NE(rank.Hear(), "");
  ranks[1].Kill();
  for (size_t rank = 0; rank < ranks.size(); ++rank) EXPECT_EQ(ranks[rank].Wait(), rank == 1 ? 1009 : 0) << "rank " << rank;
}

TEST(Processes, EverybodyLearnsOfARootThatIsKilled) {
  auto ranks = StartRanks("lose_root", 3);
  for (auto& rank : ranks) EXPECT_NE(rank.Hear(), "");
  ranks[0].Kill();
  for (size_t rank = 1; rank < ranks.size(); ++rank) EXPECT_EQ(ranks[rank].Wait(), 0) << "rank " << rank;
}

TEST(Processes, RanksMeetUnderAFloodOfStrangers) {
  std::vector<RankProcess> ranks, flood;
  const std::map<std::string, std::string> loopback = {{"HCCL_IF_IP", "127.0.0.1"}};
  for (uint32_t rank = 0; rank < 2; ++rank) ranks.emplace_back("join_flooded", rank, 2, "", loopback);
  const std::string root = ranks[0].Hear();
  for (uint32_t i = 0; i < 3; ++i) flood.emplace_back("flood", i, 3, root);
  for (auto& one : flood) EXPECT_EQ(one.Hear(), "flooding");
  for (auto& rank : ranks) rank.Say(root);
  ExpectAllGood(ranks);
  for (auto& one : flood) one.Say("enough");
  ExpectAllGood(flood);
}

// Two of four, who give up after `seconds`: what each of them says.
std::vector<std::string> JoinInVain(const std::string& seconds) {
  std::vector<RankProcess> ranks;
  for (uint32_t rank = 0; rank < 2; ++rank)
    ranks.emplace_back("incomplete", rank, 4, "", std::map<std::string, std::string>{{"HCCL_CONNECT_TIMEOUT", seconds}});
  ranks[1].Say(ranks[0].Hear());
  std::vector<std::string> texts;
  for (auto& rank : ranks) texts.push_back(rank.Hear());
  // Whoever comes when the other has given up may see the root's service end with its process.
  for (auto& rank : ranks) EXPECT_THAT(rank.Wait(), testing::AnyOf(HCCL_E_TIMEOUT, HCCL_E_REMOTE));
  return texts;
}

// On a busy machine one of the two may be too late for the other: then they get twice the time.
TEST(Processes, RanksThatNeverComeAreNamed) {
  std::vector<std::string> texts;
  const auto both_there = [&] { return (texts[0] + texts[1]).find("2 of 4 ranks have joined") != std::string::npos; };
  for (const char* seconds : {"0.2", "0.4", "0.8", "1.6", "3.2"}) {
    texts = JoinInVain(seconds);
    if (both_there()) break;
  }
  EXPECT_TRUE(both_there());
  for (const std::string& text : texts) {
    EXPECT_THAT(text, testing::HasSubstr("HCCL_E_TIMEOUT"));
    EXPECT_THAT(text, testing::HasSubstr("missing: 2-3"));
  }
}

// At once: nobody's time runs out here.
TEST(Processes, RanksThatDifferInEncryptionAreToldSoOnBothSides) {
  if (std::string why; !ropeway::comm::TlsThere(&why)) GTEST_SKIP() << why;
  for (const bool root_encrypts : {false, true}) {
    std::vector<RankProcess> ranks;
    for (const bool encrypts : {root_encrypts, !root_encrypts})
      ranks.emplace_back(
          "incomplete", static_cast<uint32_t>(ranks.size()), 2, "",
          std::map<std::string, std::string>{{"HCCL_CONNECT_TIMEOUT", "7200"}, {"ROPEWAY_HCCL_TLS", std::to_string(encrypts)}});
    ranks[1].Say(ranks[0].Hear());
    for (RankProcess& rank : ranks) {
      EXPECT_THAT(rank.Hear(), testing::HasSubstr("ROPEWAY_HCCL_TLS is "));
      EXPECT_EQ(rank.Wait(), HCCL_E_NOT_SUPPORT);
    }
  }
}

TEST(Processes, StormOfFour) {
  auto ranks = StartRanks("storm", 4);
  ExpectAllGood(ranks);
}

// Two network namespaces, joined by a cable that can be pulled. Removed again with the object.
class Cable {
 public:
  Cable() : a_("rwa" + std::to_string(getpid())), b_("rwb" + std::to_string(getpid())) {
    good_ = Do("ip netns add " + a_) && Do("ip netns add " + b_) &&
            Do("ip link add veth0 netns " + a_ + " type veth peer name veth0 netns " + b_) && Bring(a_, "1") && Bring(b_, "2");
  }
  ~Cable() {
    Do("ip netns del " + a_);
    Do("ip netns del " + b_);
  }
  bool good() const { return good_; }
  void Cut() const { EXPECT_TRUE(Do("ip -n " + a_ + " link set veth0 down")); }
  const std::string& a() const { return a_; }
  const std::string& b() const { return b_; }

 private:
  static bool Do(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }
  static bool Bring(const std::string& space, const std::string& number) {
    return Do("ip -n " + space + " link set lo up") && Do("ip -n " + space + " addr add 10.213.7." + number + "/24 dev veth0") &&
           Do("ip -n " + space + " link set veth0 up");
  }
  const std::string a_, b_;
  bool good_ = false;
};

// Takes as long as the kernel needs to believe it: the limit is a second, and it asks twice. The ways to wait are tried at once.
TEST(Processes, CutLinkIsNoticedOnBothSides) {
  const Cable cable;
  if (!cable.good()) GTEST_SKIP() << "NOT TESTED: this user may not make network namespaces (ip netns add, ip link add)";
  std::vector<std::vector<RankProcess>> pairs;
  for (const std::string way : {"channel", "no channel", "barrier of 0", "barrier of 1"}) {
    std::vector<RankProcess> ranks;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      ranks.emplace_back(
          "cut_off", rank, 2, way,
          std::map<std::string, std::string>{{kNetworkNamespace, rank == 0 ? cable.a() : cable.b()}, {"ROPEWAY_HCCL_LINK_TIMEOUT", "1"}});
    }
    ranks[1].Say(ranks[0].Hear());
    pairs.push_back(std::move(ranks));
  }
  for (auto& ranks : pairs)
    for (auto& rank : ranks) EXPECT_EQ(rank.Hear(), "waiting");
  cable.Cut();
  for (auto& ranks : pairs) ExpectAllGood(ranks);
}

// Tables: two servers on the loopback, so that the bytes take the way between hosts; and one server, where they do not.
class Table {
 public:
  explicit Table(const std::string& text)
      : path_("/tmp/ropeway_rank_table_" + std::to_string(getpid()) + "_" + std::to_string(count_++) + ".json") {
    std::ofstream(path_) << text;
  }
  ~Table() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

void RunTable(const std::string& text, uint32_t size) {
  const Table table(text);
  std::vector<RankProcess> ranks;
  for (uint32_t rank = 0; rank < size; ++rank) ranks.emplace_back("by_table", rank, size, table.path());
  ExpectAllGood(ranks);
}

TEST(Processes, TableOfTwoServers) {
  const std::string port = std::to_string(20000 + getpid() % 20000);
  RunTable(R"({"status":"completed","version":"1.0","server_count":"2","server_list":[
    {"server_id":"a","device":[{"device_id":"0","device_ip":"127.0.0.1","device_port":")" +
               port + R"(","rank_id":"0"},
                               {"device_id":"1","device_ip":"127.0.0.1","rank_id":"1"}]},
    {"server_id":"b","device":[{"device_id":"0","device_ip":"127.0.0.2","rank_id":"2"}]}]})",
           3);
}

TEST(Processes, TableOfOneServerNeedsNoAddresses) {
  const std::string port = std::to_string(20000 + getpid() % 20000);
  RunTable(R"({"status":"completed","version":"1.2","server_count":"1","server_list":[
    {"server_id":"a","host_ip":"127.0.0.1","device":[{"device_id":"0","device_port":")" +
               port + R"(","rank_id":"0"},
                               {"device_id":"1","rank_id":"1"}]}],
    "super_pod_list":[{"super_pod_id":"0","server_list":[{"server_id":"a"}]}]})",
           2);
}

// One server, two ranks, and the port that everybody has who names none. Other runs of this test have other tables.
std::string OneServer(const std::string& id, const std::string& first = "", const std::string& second = "") {
  return R"({"status":"completed","version":"1.0","server_count":"1","server_list":[{"server_id":")" + id + std::to_string(getpid()) +
         R"(","device":[{"device_id":"0",)" + first + R"("rank_id":"0"},{"device_id":"1",)" + second + R"("rank_id":"1"}]}]})";
}

TEST(Processes, TwoJobsOnOneMachineDoNotCollide) {
  const Table tables[] = {Table(OneServer("a")), Table(OneServer("b")), Table(OneServer("b"))};
  std::vector<RankProcess> ranks;
  for (size_t job = 0; job < 3; ++job) {
    // The third has the table of the second, and a secret of its own.
    const std::map<std::string, std::string> settings = {{"ROPEWAY_HCCL_SECRET", job == 2 ? "of the third job" : ""}};
    for (uint32_t rank = 0; rank < 2; ++rank) ranks.emplace_back("stay_by_table", rank, 2, tables[job].path(), settings);
  }
  for (auto& rank : ranks) EXPECT_EQ(rank.Hear(), "joined");
  for (auto& rank : ranks) rank.Say("leave");
  ExpectAllGood(ranks);
}

TEST(Processes, RanksOfOneServerInTwoNamespacesUseTheAddressesOfTheTable) {
  const Cable cable;
  if (!cable.good()) GTEST_SKIP() << "NOT TESTED: this user may not make network namespaces (ip netns add, ip link add)";
  const Table table(OneServer("a", R"("device_ip":"10.213.7.1",)", R"("device_ip":"10.213.7.2",)"));
  std::vector<RankProcess> ranks;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ranks.emplace_back("by_table", rank, 2, table.path(),
                       std::map<std::string, std::string>{{kNetworkNamespace, rank == 0 ? cable.a() : cable.b()}});
  }
  ExpectAllGood(ranks);
}

}  // namespace processes_test
