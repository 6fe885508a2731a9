// The pieces under a communicator: hashes, messages, tables, root info, and the greeting of two ends that trust nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <random>

#include "hccl/bootstrap/bootstrap.h"
#include "hccl/bootstrap/comm_config.h"
#include "hccl/bootstrap/rank_table.h"
#include "hccl/bootstrap/root_info.h"
#include "hccl/membership/peer_table.h"
#include "hccl/transport/handshake.h"
#include "hccl/transport/sha256.h"
#include "hccl/transport/socket.h"
#include "hccl/transport/wire.h"
#include "hccl_ranks/ranks.h"

namespace parts_test {

using namespace ropeway::comm;

std::string Hex(const Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) {
    char two[3];
    snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

// FIPS 180-4 and RFC 4231.
TEST(Sha256, StandardVectors) {
  EXPECT_EQ(Hex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hex(Sha256(std::string(1000000, 'a'))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HmacVectors) {
  EXPECT_EQ(Hex(HmacSha256(std::string(20, '\x0b'), "Hi There")), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hex(HmacSha256("Jefe", "what do ya want for nothing?")), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(HmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// What the kernel was told about a new connection, in milliseconds.
unsigned UserTimeout(const Address& there) {
  const ropeway::FileDescriptor fd = BeginConnect(there);
  unsigned limit = 0;
  socklen_t size = sizeof limit;
  EXPECT_EQ(getsockopt(fd.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, &size), 0);
  return limit;
}

TEST(RankSocket, AnUnsoundLinkTimeoutIsIgnored) {
  Address here = *Address::Parse("127.0.0.1", 0);
  std::string why;
  const ropeway::FileDescriptor listener = Listen(&here, &why);
  ASSERT_TRUE(listener) << why;
  EXPECT_EQ(UserTimeout(here), 15000u);
  for (const auto& [text, expected] : {std::pair{"1", 1000u},
                                       {"3600", 3600000u},
                                       {"0", 15000u},
                                       {"-3", 15000u},
                                       {"3601", 15000u},
                                       {"9999999999999999999", 15000u},
                                       {"soon", 15000u},
                                       {"2s", 15000u},
                                       {"", 15000u}}) {
    const ropeway_test::Setting setting("ROPEWAY_HCCL_LINK_TIMEOUT", text);
    EXPECT_EQ(UserTimeout(here), expected) << text;
  }
}

TEST(Wire, ReaderNeverReadsPastTheEnd) {
  const std::string bytes = Writer().Number(uint32_t{7}).String("abc").Take();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Reader reader(std::string_view(bytes).substr(0, size));
    reader.Number<uint32_t>();
    reader.String();
    EXPECT_FALSE(reader.ok()) << size;
  }
  Reader whole(bytes);
  EXPECT_EQ(whole.Number<uint32_t>(), 7u);
  EXPECT_EQ(whole.String(), "abc");
  EXPECT_TRUE(whole.AtEnd());
}

std::vector<PeerInfo> SomePeers() {
  std::vector<PeerInfo> peers(5);
  for (uint32_t i = 0; i < peers.size(); ++i) {
    peers[i].host = i < 3 ? "one" : "two";
    peers[i].process = 100 + i;
    peers[i].pid = static_cast<int32_t>(i);
    peers[i].world_rank = 10 + i;
    peers[i].address = *Address::Parse(i % 2 == 0 ? "10.0.0.1" : "fd00::7", static_cast<uint16_t>(1000 + i));
  }
  return peers;
}

TEST(PeerTable, ComesBackAsItWent) {
  const std::vector<PeerInfo> peers = SomePeers();
  std::vector<PeerInfo> back;
  const std::string bytes = WritePeers(peers);
  Reader reader(bytes);
  ASSERT_TRUE(ReadPeers(reader, &back));
  ASSERT_EQ(back.size(), peers.size());
  for (size_t i = 0; i < peers.size(); ++i) {
    EXPECT_EQ(back[i].host, peers[i].host);
    EXPECT_EQ(back[i].process, peers[i].process);
    EXPECT_EQ(back[i].world_rank, peers[i].world_rank);
    EXPECT_EQ(back[i].address.Text(), peers[i].address.Text());
  }
}

// Neither a cut nor a changed table may crash, and no count makes it allocate more than the bytes can hold.
TEST(PeerTable, DamagedBytesAreRefusedOrHarmless) {
  const std::string bytes = WritePeers(SomePeers());
  std::mt19937 random(20261115);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = bytes.substr(0, random() % (bytes.size() + 1));
    for (int i = 0; i < 3 && !damaged.empty(); ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    std::vector<PeerInfo> back;
    Reader reader(damaged);
    if (ReadPeers(reader, &back)) {
      EXPECT_LE(back.size() * 43, damaged.size());
    }
  }
}

TEST(RootInfo, DamageIsSeen) {
  HcclRootInfo info;
  const RootTicket ticket{*Address::Parse("10.1.2.3", 4567), std::string(16, 'c'), std::string(32, 's')};
  WriteRootInfo(ticket, &info);
  RootTicket back;
  ASSERT_TRUE(ReadRootInfo(info, &back));
  EXPECT_EQ(back.root.Text(), "10.1.2.3:4567");
  EXPECT_EQ(back.secret, ticket.secret);
  for (const size_t at : {0u, 8u, 30u, 60u, 80u}) {
    HcclRootInfo damaged = info;
    damaged.internal[at] = static_cast<char>(damaged.internal[at] ^ 1);
    EXPECT_FALSE(ReadRootInfo(damaged, &back)) << at;
  }
}

class Handshake : public testing::Test {
 protected:
  const std::string secret_ = std::string(32, 's'), nonce_ = std::string(32, 'n'), own_ = std::string(32, 'o');
  const Hello hello_{std::string(16, 'c'), 3, 0, Purpose::kControl};
};

TEST_F(Handshake, BothSidesProveTheSecret) {
  const std::string sent = MakeHello(hello_, secret_, nonce_, own_);
  ASSERT_EQ(sent.size(), kHelloBytes);
  Hello got;
  ASSERT_TRUE(ParseHello(sent, &got));
  EXPECT_EQ(got.communicator, hello_.communicator);
  EXPECT_EQ(got.from, 3u);
  EXPECT_TRUE(ProvesSecret(sent, secret_, nonce_));
  const std::string answer = MakeVerdict(Verdict::kWelcome, sent, secret_, nonce_);
  Verdict verdict;
  EXPECT_TRUE(ParseVerdict(answer, sent, secret_, nonce_, &verdict));
  EXPECT_EQ(verdict, Verdict::kWelcome);
}

TEST_F(Handshake, NothingElseIsBelieved) {
  const std::string sent = MakeHello(hello_, secret_, nonce_, own_);
  EXPECT_FALSE(ProvesSecret(sent, secret_, std::string(32, 'm'))) << "a recorded greeting, replayed to another nonce";
  EXPECT_FALSE(ProvesSecret(sent, std::string(32, 't'), nonce_)) << "another communicator's secret";
  for (size_t at = 0; at < sent.size(); ++at) {
    std::string changed = sent;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_FALSE(ProvesSecret(changed, secret_, nonce_)) << at;
  }
  const std::string answer = MakeVerdict(Verdict::kBusy, sent, secret_, nonce_);
  Verdict verdict;
  for (size_t at = 0; at < answer.size(); ++at) {
    std::string changed = answer;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_FALSE(ParseVerdict(changed, sent, secret_, nonce_, &verdict)) << at;
  }
  EXPECT_FALSE(ProvesSecret(answer + sent.substr(answer.size()), secret_, nonce_)) << "an answer reflected as a greeting";
}

constexpr char kGoodTable[] = R"({"status":"completed","version":"1.0","server_count":"2","server_list":[
  {"server_id":"srvA","device":[{"device_id":"0","device_ip":"10.0.0.1","device_port":"17000","rank_id":"0"},
                                {"device_id":"1","device_ip":"10.0.0.3","rank_id":"1"}]},
  {"server_id":"srvB","device":[{"device_id":"0","device_ip":"fd00::2","rank_id":"2"}]}]})";

TEST(RankTableText, SaysWhoIsWhere) {
  RankTable table;
  ASSERT_EQ(ParseRankTable(kGoodTable, &table), "");
  ASSERT_EQ(table.ranks.size(), 3u);
  EXPECT_FALSE(table.one_server);
  EXPECT_EQ(table.ranks[0].address.Text(), "10.0.0.1:17000");
  EXPECT_EQ(table.ranks[1].address.Text(), "10.0.0.3:16666");
  EXPECT_EQ(table.ranks[1].device, 1);
  EXPECT_EQ(table.ranks[2].server, "srvB");
  EXPECT_EQ(table.ranks[2].address.Text(), "[fd00::2]:16666");
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(RankTableText, WhatMayBeLeftOutOrSaidTwice) {
  RankTable table;
  EXPECT_EQ(ParseRankTable(Replaced(kGoodTable, "\"server_count\":\"2\",", ""), &table), "") << "server_count need not be there";
  ASSERT_EQ(ParseRankTable(Replaced(kGoodTable, "10.0.0.3", "fd00::3,10.0.0.3"), &table), "");
  EXPECT_EQ(table.ranks[1].address.Text(), "[fd00::3]:16666") << "the first of them";
  EXPECT_EQ(ParseRankTable(Replaced(kGoodTable, "\"device_id\":\"1\"", "\"device_id\":\"31\""), &table), "");
}

// A rank's server is its network of layer 0; where it is met, the first of its addresses that is one of IP.
constexpr char kTableByRank[] = R"({"version":"2.0","rank_count":"3","rank_list":[
  {"rank_id":0,"local_id":0,"device_id":0,"device_port":17000,"level_list":[
    {"net_layer":0,"net_instance_id":"pod0","rank_addr_list":[{"addr_type":"EID","addr":"000000000000000000100000df001001"}]},
    {"net_layer":1,"net_instance_id":"all","rank_addr_list":[{"addr_type":"IPV4","addr":"10.0.0.1"}]}]},
  {"rank_id":"1","local_id":"1","device_id":"1","level_list":[
    {"net_layer":"0","net_instance_id":"pod0","rank_addr_list":[{"addr_type":"IPV4","addr":"10.0.0.3"}]}]},
  {"rank_id":2,"local_id":0,"device_id":0,"level_list":[
    {"net_layer":0,"net_instance_id":"pod1","rank_addr_list":[{"addr_type":"IPV6","addr":"fd00::2"}]}]}]})";

TEST(RankTableText, SaysWhoIsWhereByRank) {
  RankTable table;
  ASSERT_EQ(ParseRankTable(kTableByRank, &table), "");
  ASSERT_EQ(table.ranks.size(), 3u);
  EXPECT_FALSE(table.one_server);
  EXPECT_EQ(table.ranks[0].address.Text(), "10.0.0.1:17000");
  EXPECT_EQ(table.ranks[1].server, "pod0");
  EXPECT_EQ(table.ranks[1].device, 1);
  EXPECT_EQ(table.ranks[2].address.Text(), "[fd00::2]:16666");
  ASSERT_EQ(ParseRankTable(Replaced(kTableByRank, "pod1", "pod0"), &table), "");
  EXPECT_TRUE(table.one_server);
}

TEST(RankTableText, MistakesByRankAreNamed) {
  const char* const cases[][3] = {
      {"\"rank_count\":\"3\"", "\"rank_count\":4", "rank_count is 4, rank_list has 3"},
      {"\"version\":\"2.0\"", "\"version\":\"2.0\",\"status\":\"initializing\"", "not finished"},
      {"\"rank_id\":2", "\"rank_id\":1", "twice"},
      {"\"rank_id\":2", "\"rank_id\":3", "gap"},
      {"\"rank_id\":2", "\"rank_id\":-1", "rank_id"},
      {"\"device_id\":0", "\"device_id\":32", "device_id \"32\" is not a number from 0 to 31"},
      {"17000", "70000", "device_port"},
      {"\"net_layer\":0", "\"net_layer\":1", "no net_layer 0"},
      {"fd00::2", "fd00::x", "neither"},
      {"IPV6", "EID", "rank 2 has no address"},
      {"level_list", "level_lost", "level_list"},
      {"rank_list", "rank_lost", "rank_list"},
  };
  for (const auto& [what, by, word] : cases) {
    RankTable table;
    EXPECT_THAT(ParseRankTable(Replaced(kTableByRank, what, by), &table), testing::HasSubstr(word)) << what << " -> " << by;
  }
}

// Each case: what is replaced in the good table, by what, and a word of the message.
TEST(RankTableText, MistakesAreNamed) {
  const char* const cases[][3] = {
      {"completed", "initializing", "not finished"},
      {"\"1.0\"", "\"3.0\"", "version"},
      {"\"server_count\":\"2\"", "\"server_count\":\"3\"", "server_count"},
      {"\"server_count\":\"2\"", "\"server_count\":2", "not a string"},
      {"srvB", "srvA", "twice"},
      {"\"rank_id\":\"2\"", "\"rank_id\":\"1\"", "twice"},
      {"\"rank_id\":\"2\"", "\"rank_id\":\"4\"", "gap"},
      {"\"rank_id\":\"2\"", "\"rank_id\":\"x\"", "not a number"},
      {"\"rank_id\":\"0\"", "\"rank_id\":\"3\"", "follow each other"},
      {"\"device_id\":\"1\"", "\"device_id\":\"32\"", "device_id \"32\" is not a number from 0 to 31"},
      {"10.0.0.3", "10.0.0.3,", "neither"},
      {"10.0.0.3", "10.0.0.3,x", "\"x\" is neither"},
      {"17000", "0", "device_port"},
      {"17000", "65536", "device_port"},
      {"fd00::2", "fd00::x", "neither"},
      {"\"device_ip\":\"fd00::2\",", "", "device_ip"},
      {"server_list", "server_lost", "server_list"},
      {"]}]})", "]}]", "parse"},
  };
  for (const auto& [what, by, word] : cases) {
    std::string text = Replaced(kGoodTable, what, by);
    if (std::string(what) == "]}]})") text.pop_back();
    RankTable table;
    EXPECT_THAT(ParseRankTable(text, &table), testing::HasSubstr(word)) << what << " -> " << by;
  }
}

TEST(RankTableText, DamagedTextNeverCrashes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text = round % 2 == 0 ? kGoodTable : kTableByRank;
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = "\"{}[],:0a\\\n"[random() % 11];
    RankTable table;
    ParseRankTable(text, &table);
  }
}

// A loopback reaches as far as its network namespace: not other users' memory, but their sockets.
TEST(Reach, ARankWithoutAnAddressIsNamed) {
  const auto peer = [](const char* host, const char* ip) {
    PeerInfo info;
    info.host = host;
    info.address = *Address::Parse(ip, 1000);
    return info;
  };
  EXPECT_EQ(WhoCannotBeReached({peer("boot/7/0", "127.0.0.1"), peer("boot/7/1000", "::1"), peer("srv/boot/7/0", "127.0.0.2")}), "");
  EXPECT_EQ(WhoCannotBeReached({peer("boot/7/0", "10.0.0.1"), peer("boot/8/0", "fd00::2")}), "");
  EXPECT_EQ(WhoCannotBeReached({peer("process-1", "127.0.0.1")}), "");
  EXPECT_THAT(WhoCannotBeReached({peer("boot/7/0", "10.0.0.1"), peer("boot/8/0", "127.0.0.1")}),
              testing::HasSubstr("rank 1 has no address but its loopback, 127.0.0.1:1000, and rank 0 on another host cannot reach it"));
  EXPECT_THAT(WhoCannotBeReached({peer("s/boot/7/0", "::1"), peer("s/other/7/0", "10.0.0.2")}),
              testing::HasSubstr("rank 0 has no address"));
  EXPECT_THAT(WhoCannotBeReached({peer("process-1", "127.0.0.1"), peer("process-2", "127.0.0.1")}), testing::HasSubstr("rank 0"));
}

// A configuration as headers of another version make it: its last byte is the last one of a page, and the next cannot
// be read.
class ForeignConfig {
 public:
  ForeignConfig(const HcclCommConfig& config, uint64_t size, uint32_t version)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        memory_(static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        place_(memory_ + page_ - size) {
    EXPECT_EQ(mprotect(memory_ + page_, page_, PROT_NONE), 0);
    HcclCommConfigInfo info{size, HCCL_COMM_CONFIG_MAGIC_WORD, version, 0};
    std::memcpy(place_, &config, size);
    std::memcpy(place_, &info, sizeof info);
  }
  ~ForeignConfig() { munmap(memory_, 2 * page_); }
  ForeignConfig(const ForeignConfig&) = delete;
  ForeignConfig& operator=(const ForeignConfig&) = delete;
  const HcclCommConfig* get() const { return reinterpret_cast<const HcclCommConfig*>(place_); }

 private:
  const size_t page_;
  char* const memory_;
  char* const place_;
};

HcclCommConfig FullConfig() {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclCommName, "given");
  config.hcclWorldRankID = 77;
  config.hcclExecTimeOut = 5;
  return config;
}

TEST(Config, NoMoreIsReadThanItsSizeSays) {
  Plan plan;
  ASSERT_TRUE(ApplyConfig(ForeignConfig(FullConfig(), 300, 5).get(), &plan).ok());
  EXPECT_EQ(plan.name, "given");
  EXPECT_FALSE(plan.world_rank);
  EXPECT_FALSE(plan.exec_timeout_s);
  Plan shorter;
  ASSERT_TRUE(ApplyConfig(ForeignConfig(FullConfig(), 32, 1).get(), &shorter).ok());
  EXPECT_EQ(shorter.name, "");
  Plan of_ten;  // ends behind hcclQos
  ASSERT_TRUE(ApplyConfig(ForeignConfig(FullConfig(), 2232, 10).get(), &of_ten).ok());
  EXPECT_EQ(of_ten.exec_timeout_s, 5.0);
}

TEST(Config, FieldsNewerThanItsVersionAreIgnored) {
  HcclCommConfig config = FullConfig();
  config.aclGraphZeroCopyEnable = 9;
  for (uint32_t version = 0; version <= 12; ++version) {
    Plan plan;
    const Status status = ApplyConfig(ForeignConfig(config, sizeof config, version).get(), &plan);
    EXPECT_EQ(status.code(), version >= 7 ? HCCL_E_PARA : HCCL_SUCCESS) << version;
  }
  config.aclGraphZeroCopyEnable = 1;
  for (uint32_t version = 0; version <= 12; ++version) {
    Plan plan;
    EXPECT_TRUE(ApplyConfig(ForeignConfig(config, sizeof config, version).get(), &plan).ok()) << version;
    EXPECT_EQ(plan.name, version >= 2 ? "given" : "") << version;
    EXPECT_EQ(plan.world_rank.value_or(0), version >= 6 ? 77u : 0u) << version;
    EXPECT_EQ(plan.exec_timeout_s.value_or(0), version >= 8 ? 5.0 : 0.0) << version;
  }
}

}  // namespace parts_test
