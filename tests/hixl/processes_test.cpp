// Engines in processes of their own, on this host and behind a network: data of all kinds, and what is left when one is killed.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "hccl_ranks/process/rank_process.h"
#include "tests/hixl/engines.h"

namespace processes_test {

using namespace hixl_tests;
using ropeway_test::kNetworkNamespace;
using ropeway_test::RankProcess;
using ropeway_test::RoleCall;
using ropeway_test::RoleEntry;
using Settings = std::map<std::string, std::string>;

constexpr size_t kBlock = 4096, kCount = 64, kSize = kBlock * kCount;
constexpr Memory::Kind kKinds[] = {Memory::kDevice, Memory::kPinned, Memory::kPageable};

// An engine with memory of each kind; tells its addresses. Then it does as it is told: "fill N", "sum" and "end".
int Serve(RoleCall& call) {
  if (aclrtSetDevice(1) != ACL_SUCCESS) return 2;
  std::vector<std::unique_ptr<Memory>> memories;
  for (const Memory::Kind kind : kKinds) memories.push_back(std::make_unique<Memory>(kind, kSize));
  Hixl engine;
  if (engine.Initialize(call.argument.c_str(), {}) != hixl::SUCCESS) {
    call.parent.Say(aclGetRecentErrMsg());
    return 3;
  }
  std::string addresses;
  for (const auto& memory : memories) {
    Register(engine, *memory);
    addresses += std::to_string(memory->at()) + " ";
  }
  call.parent.Say(addresses);
  for (;;) {
    std::istringstream wanted(call.parent.Hear());
    std::string word;
    int number = 0;
    wanted >> word >> number;
    if (word == "fill") {
      for (const auto& memory : memories) memory->Fill(static_cast<uint8_t>(number));
      call.parent.Say("filled");
    } else if (word == "read") {  // what block 1 begins with
      call.parent.Say(std::to_string(memories[static_cast<size_t>(number)]->Read()[kBlock]));
    } else {
      return testing::Test::HasFailure() ? 1 : 0;
    }
  }
}
const RoleEntry kServe("serve_engine", &Serve);

// The other engine.
struct Other {
  explicit Other(std::string own_name, const Settings& settings = {})
      : name(std::move(own_name)), process("serve_engine", 0, 1, name, settings) {
    std::istringstream told(process.Hear());
    for (uintptr_t& address : addresses) told >> address;
  }
  void Ask(const std::string& wanted, const std::string& answer) {
    process.Say(wanted);
    EXPECT_EQ(process.Hear(), answer) << wanted;
  }
  const std::string name;
  RankProcess process;
  uintptr_t addresses[3] = {};
};

// Every kind here with every kind there, both ways.
void MoveAll(Hixl& engine, Other& other) {
  ASSERT_EQ(engine.Connect(other.name.c_str(), 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
  for (const Memory::Kind kind : kKinds) {
    Memory here(kind, kSize);
    Register(engine, here);
    for (int there = 0; there < 3; ++there) {
      const auto descriptors = Scattered(here.at(), other.addresses[there], kBlock, kCount);
      other.Ask("fill 5", "filled");
      here.Fill(0);
      ASSERT_EQ(engine.TransferSync(other.name.c_str(), hixl::READ, descriptors, 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
      const std::vector<uint8_t> read = here.Read();
      for (size_t i = 0; i < kSize; ++i)
        ASSERT_EQ(read[i], Memory::Byte(5, (i / kBlock * 7 + 1) % kCount * kBlock + i % kBlock)) << kind << there << " " << i;
      here.Fill(static_cast<uint8_t>(there + 20));
      hixl::TransferReq request = nullptr;
      ASSERT_EQ(engine.TransferAsync(other.name.c_str(), hixl::WRITE, descriptors, {}, request), hixl::SUCCESS) << aclGetRecentErrMsg();
      hixl::TransferStatus status;
      do ASSERT_EQ(engine.GetTransferStatus(request, status), hixl::SUCCESS);
      while (status == hixl::TransferStatus::WAITING);
      ASSERT_EQ(status, hixl::TransferStatus::COMPLETED) << aclGetRecentErrMsg();
      other.Ask("read " + std::to_string(there), std::to_string(Memory::Byte(static_cast<uint8_t>(there + 20), 0)));
    }
    ASSERT_EQ(engine.Disconnect(other.name.c_str()), hixl::SUCCESS);
    engine.Finalize();
    ASSERT_EQ(engine.Initialize("127.0.0.1", {}), hixl::SUCCESS);
    ASSERT_EQ(engine.Connect(other.name.c_str(), 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
  }
}

class HixlProcesses : public testing::Test {
 protected:
  HixlProcesses() {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(engine_.Initialize("127.0.0.1", {}), hixl::SUCCESS);
  }
  Hixl engine_;
};

TEST_F(HixlProcesses, TransferOfEveryKind) {
  Other other(FreeName());
  MoveAll(engine_, other);
}

TEST_F(HixlProcesses, TransferOfEveryKindOverConnections) {
  // What orders the other process's filling before its sending is a word to this process and a request from it, which ThreadSanitizer does
  // not see: it looks at this one's side alone.
  Other other(FreeName(), {{"HCCL_INTRA_ROCE_ENABLE", "1"}, {"TSAN_OPTIONS", "report_bugs=0"}});
  MoveAll(engine_, other);
}

// At moments that differ. What is under way fails, and so does all that comes later, until the link is dropped; other links go on.
void KillInTheMiddle(Hixl& engine, const Settings& settings, Memory& here, int rounds) {
  Other witness(FreeName());
  ASSERT_EQ(engine.Connect(witness.name.c_str(), 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
  const auto with_witness = Scattered(here.at(), witness.addresses[0], kBlock, kCount);
  double worst_ms = 0;
  for (int round = 0; round < rounds; ++round) {
    Other other(FreeName(), settings);
    ASSERT_EQ(engine.Connect(other.name.c_str(), 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
    const auto descriptors = Scattered(here.at(), other.addresses[round % 3], kBlock, kCount);
    const hixl::TransferOp operation = round % 2 == 0 ? hixl::READ : hixl::WRITE;
    hixl::TransferReq request = nullptr;
    for (int i = 0; i < round % 7; ++i) ASSERT_EQ(engine.TransferSync(other.name.c_str(), operation, descriptors, 60000), hixl::SUCCESS);
    ASSERT_EQ(engine.TransferAsync(other.name.c_str(), operation, descriptors, {}, request), hixl::SUCCESS) << aclGetRecentErrMsg();
    other.process.Kill();
    const auto killed = std::chrono::steady_clock::now();
    hixl::Status status = hixl::SUCCESS;
    while (status == hixl::SUCCESS) status = engine.TransferSync(other.name.c_str(), operation, descriptors, 60000);
    worst_ms = std::max(worst_ms, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - killed).count());
    EXPECT_EQ(status, hixl::FAILED) << aclGetRecentErrMsg();
    hixl::TransferStatus first = hixl::TransferStatus::WAITING;
    EXPECT_EQ(engine.GetTransferStatus(request, first), hixl::SUCCESS);
    EXPECT_NE(first, hixl::TransferStatus::WAITING);
    EXPECT_EQ(engine.SendNotify(other.name.c_str(), {"a", "b"}, 60000), hixl::FAILED);
    EXPECT_EQ(engine.Disconnect(other.name.c_str()), hixl::SUCCESS);
    EXPECT_EQ(engine.Connect(other.name.c_str(), 20000), hixl::FAILED);
    ASSERT_EQ(engine.TransferSync(witness.name.c_str(), operation, with_witness, 60000), hixl::SUCCESS) << aclGetRecentErrMsg();
  }
  if (rounds > 100) std::printf("%d engines killed, the last news came %.1f ms later\n", rounds, worst_ms);
  EXPECT_EQ(engine.Disconnect(witness.name.c_str()), hixl::SUCCESS);
}

TEST_F(HixlProcesses, TransferWithOneThatIsKilled) {
  const int rounds = std::getenv("RW_KILLS") != nullptr ? std::atoi(std::getenv("RW_KILLS")) : 3;
  Memory here(Memory::kDevice, kSize);
  Register(engine_, here);
  KillInTheMiddle(engine_, {}, here, rounds);
  KillInTheMiddle(engine_, {{"HCCL_INTRA_ROCE_ENABLE", "1"}}, here, rounds);
  engine_.Finalize();
}

// --- Hosts --------------------------------------------------------------------------------------------------------------

// Connects from its own host: argument "name addresses". Tells what came of it.
int ConnectFromThere(RoleCall& call) {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 2;
  std::istringstream told(call.argument);
  std::string name;
  uintptr_t address = 0;
  told >> name >> address;
  Memory here(Memory::kDevice, kSize);
  Hixl engine;
  if (engine.Initialize("10.213.8.2", {}) != hixl::SUCCESS) return 3;
  Register(engine, here);
  hixl::Status status = engine.Connect(name.c_str(), 20000);
  if (status == hixl::SUCCESS)
    status = engine.TransferSync(name.c_str(), hixl::WRITE, Scattered(here.at(), address, kBlock, kCount), 20000);
  const char* const text = aclGetRecentErrMsg();
  call.parent.Say(std::to_string(status) + " " +
                  (text != nullptr && std::string(text).find("ROPEWAY_HIXL_SECRET") != std::string::npos ? "secret" : ""));
  return 0;
}
const RoleEntry kConnectFromThere("connect_from_there", &ConnectFromThere);

// Two network namespaces with a cable between them.
class TwoHosts {
 public:
  TwoHosts() : a_("rwhxa" + std::to_string(getpid())), b_("rwhxb" + std::to_string(getpid())) {
    good_ = Do("ip netns add " + a_) && Do("ip netns add " + b_) &&
            Do("ip link add veth0 netns " + a_ + " type veth peer name veth0 netns " + b_) && Bring(a_, "1") && Bring(b_, "2");
  }
  ~TwoHosts() {
    Do("ip netns del " + a_);
    Do("ip netns del " + b_);
  }
  bool good() const { return good_; }
  const std::string& a() const { return a_; }
  const std::string& b() const { return b_; }

 private:
  static bool Do(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }
  static bool Bring(const std::string& space, const std::string& number) {
    return Do("ip -n " + space + " link set lo up") && Do("ip -n " + space + " addr add 10.213.8." + number + "/24 dev veth0") &&
           Do("ip -n " + space + " link set veth0 up");
  }
  const std::string a_, b_;
  bool good_ = false;
};

TEST(HixlHosts, WhoKnowsTheSecretMayConnect) {
  const TwoHosts hosts;
  if (!hosts.good()) GTEST_SKIP() << "NOT TESTED: this user may not make network namespaces (ip netns add, ip link add)";
  const struct {
    const char *there, *here, *answer;
  } rows[] = {
      {"one", "one", "0 "}, {"one", "two", "503900 "}, {"one", "", "503900 secret"}, {"", "one", "503900 "}, {"", "", "503900 secret"}};
  for (const auto& row : rows) {
    Other other("10.213.8.1:16001", {{kNetworkNamespace, hosts.a()}, {"ROPEWAY_HIXL_SECRET", row.there}});
    RankProcess caller("connect_from_there", 0, 1, other.name + " " + std::to_string(other.addresses[0]),
                       {{kNetworkNamespace, hosts.b()}, {"ROPEWAY_HIXL_SECRET", row.here}});
    EXPECT_EQ(caller.Hear(), row.answer) << row.there << " and " << row.here;
    EXPECT_EQ(caller.Wait(), 0);
  }
}

}  // namespace processes_test
