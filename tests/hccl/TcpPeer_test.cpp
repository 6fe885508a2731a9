// The TCP link and a peer that does not keep to its protocol, or ends in the middle of it: one end is ours, the other one is a socket of
// the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "hccl/link/link_wire.h"
#include "tests/hccl/link_hosts.h"

namespace tcp_peer_test {

using namespace link_hosts;

// As rank_connection.h has it.
std::string Bytes(uint16_t type, uint64_t id, const std::string& body = "", uint64_t bulk = 0) {
  return Writer().Number(static_cast<uint32_t>(body.size())).Number(type).Number(uint16_t{0}).Number(id).Number(bulk).Raw(body).Take();
}
std::string Opening(bool first) { return Bytes(kOpening, 0, Writer().Number(uint8_t{first}).Take()); }
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // offset and size
std::string PutHead(uint64_t id, uint64_t region, const Ranges& ranges, uint64_t total, uint64_t bulk) {
  Writer body;
  body.Number(region).Number(total);
  for (const auto& [offset, size] : ranges) body.Number(offset).Number(size);
  return Bytes(kPutData, id, body.Take(), bulk);
}
std::string PutHead(uint64_t id, uint64_t region, uint64_t offset, uint64_t total, uint64_t bulk) {
  return PutHead(id, region, {{offset, bulk}}, total, bulk);
}
std::string GetHead(uint64_t id, uint64_t item, uint64_t offset, uint64_t bulk) {
  return Bytes(kGetData, id, Writer().Number(item).Number(offset).Take(), bulk);
}
Ranges OneByteEach(uint64_t count) {
  Ranges ranges;
  for (uint64_t i = 0; i < count; ++i) ranges.emplace_back(i, 1);
  return ranges;
}

// The other side: connections that the test writes to and reads from.
class TcpPeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    peer_ = std::make_shared<TcpPeer>(ThreadOf(0), 1);
    peer_->Meet("", nullptr);
    peer_->Expose(1, {target_.data(), target_.size()});
  }
  void TearDown() override {
    peer_->Close({HCCL_E_REMOTE, "the test is over"});
    peer_->Withdraw(1);
  }
  // A connection to it, which blocks the test.
  FileDescriptor Connect(FileDescriptor* door = nullptr) {
    auto [calling, called] = NewConnection();
    if (door != nullptr) *door = FileDescriptor::Make([fd = called.get()] { return dup(fd); });
    peer_->Enter(std::move(called));
    const timeval patience{20, 0};
    EXPECT_EQ(setsockopt(calling.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    EXPECT_EQ(fcntl(calling.get(), F_SETFL, 0), 0);
    return std::move(calling);
  }
  FileDescriptor ConnectFirst() {
    FileDescriptor fd = Connect();
    Say(fd, Opening(true));
    return fd;
  }
  static void Say(const FileDescriptor& fd, const std::string& bytes) {
    EXPECT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  static std::string Hear(const FileDescriptor& fd, size_t size) {
    std::string bytes(size, '\0');
    if (size > 0) EXPECT_EQ(recv(fd.get(), bytes.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
    return bytes;
  }
  // The next frame, and what is behind it.
  static Frame Hear(const FileDescriptor& fd, std::string* bulk = nullptr) {
    const std::string head = Hear(fd, 24);
    Reader reader(head);
    const auto body = reader.Number<uint32_t>();
    Frame frame;
    frame.type = reader.Number<uint16_t>();
    reader.Number<uint16_t>();
    frame.id = reader.Number<uint64_t>();
    frame.body = Hear(fd, body);
    if (bulk != nullptr) *bulk = Hear(fd, reader.Number<uint64_t>());
    return frame;
  }
  // Of a frame: more than is read with its head, and so little that it arrives at once. In the middle of a frame a reader is woken for 128
  // KiB or the rest, so that what came behind a first part of such a half would lie there until the other half comes.
  static constexpr size_t kHalf = 30 << 10;
  // Until the peer has read all that was said to it: `door` is its end, too.
  static void AwaitRead(const FileDescriptor& fd, const FileDescriptor& door) {
    for (int waiting = 1; waiting != 0; std::this_thread::yield()) ASSERT_EQ(ioctl(fd.get(), SIOCOUTQ, &waiting), 0);
    for (int waiting = 1; waiting != 0; std::this_thread::yield()) ASSERT_EQ(ioctl(door.get(), SIOCINQ, &waiting), 0);
  }
  static bool HungUpOn(const FileDescriptor& fd) {
    char byte;
    const ssize_t got = recv(fd.get(), &byte, 1, 0);
    return got == 0 || (got < 0 && errno != EAGAIN);  // not: nothing came for as long as the test has patience
  }
  static uint32_t StatusOf(const Frame& frame) { return Reader(frame.body).Number<uint32_t>(); }

  std::shared_ptr<TcpPeer> peer_;
  std::vector<char> target_ = std::vector<char>(4096, 't');
};

// The news that a peer is gone may be here before its last answers are.
TEST_F(TcpPeerTest, APeerThatHasLeftIsHeardToItsEnd) {
  const FileDescriptor fd = ConnectFirst();
  char bytes[] = "12345678";
  auto answered = Begin(*peer_, true, {{bytes, 1, 0, 8}}), unanswered = Begin(*peer_, true, {{bytes, 1, 0, 8}});
  std::string bulk;
  const uint64_t put = Hear(fd, &bulk).id;
  Hear(fd, &bulk);
  peer_->PeerLeft({HCCL_E_REMOTE, "it has left"});
  auto later = Begin(*peer_, true, {{bytes, 1, 0, 8}});
  EXPECT_EQ(later.get().text, "it has left");
  Say(fd, Bytes(kPutDone, put, Writer().Number(uint32_t{0}).Take()));
  EXPECT_EQ(answered.get().code, HCCL_SUCCESS);
  Say(fd, Bytes(kGoodbye, 0));
  const TransferEnd end = unanswered.get();
  EXPECT_EQ(end.code, HCCL_E_REMOTE);
  EXPECT_EQ(end.text, "it has left");
  EXPECT_TRUE(HungUpOn(fd));
}

TEST_F(TcpPeerTest, APeerThatHasLeftIsNotWaitedForWithNothingPending) {
  const FileDescriptor fd = ConnectFirst();
  char byte = 0;
  auto get = Begin(*peer_, false, {{&byte, 1, 0, 1}});
  const uint64_t number = Hear(fd).id;
  Say(fd, GetHead(number, 0, 0, 1) + "x");
  EXPECT_EQ(get.get().code, HCCL_SUCCESS);
  peer_->PeerLeft({HCCL_E_REMOTE, "it has left"});
  EXPECT_EQ(Hear(fd).type, kGoodbye);
  EXPECT_TRUE(HungUpOn(fd));
}

// What nobody who keeps to the protocol says.
TEST_F(TcpPeerTest, NonsenseEndsTheLinkAndTouchesNothing) {
  const std::string sayings[] = {
      std::string(64, '\0'),
      std::string(64, '\xff'),
      Bytes(77, 1),
      Bytes(kPutData, 1, "short", 8) + "12345678",
      Bytes(kPutDone, 1, "long enough to be wrong"),
      Bytes(kGetRequest, 1, Writer().Number(uint64_t{0}).Take()),
      Bytes(kGetRequest, 1, Writer().Number(uint64_t{0}).Number(uint64_t{1}).Number(uint64_t{0}).Number(uint64_t{0}).Take()),
      Bytes(kGetRequest, 1, std::string(23, '\1')),
      Bytes(kPutGivenUp, 1),
      Bytes(kGoodbye, 1, "", 8) + "12345678",
      PutHead(1, 1, 0, 1ull << 62, kTcpFrameBytes + 1),  // a larger frame than there are
      PutHead(1, 1, 0, 7, 8) + "12345678",               // more than the whole put
      PutHead(1, 1, Ranges{}, 8, 8) + "12345678",
      PutHead(1, 1, {{0, 4}, {4, 3}}, 8, 8) + "12345678",           // less than there is
      PutHead(1, 1, {{0, 4}, {4, 5}}, 9, 8) + "12345678",           // more
      PutHead(1, 1, {{0, 9}, {4, UINT64_MAX}}, 8, 8) + "12345678",  // as many, as numbers of 64 bits go
      PutHead(1, 1, {{0, 8}, {8, 0}}, 8, 8) + "12345678",
      PutHead(1, 1, OneByteEach(257), 257, 257) + std::string(257, 'n'),  // more ranges than a frame has
      Bytes(kPutData, 1, Writer().Number(uint64_t{1}).Number(uint64_t{8}).Number(uint64_t{0}).Take(), 8) + "12345678",
      Opening(true),  // twice
      Opening(false),
  };
  for (const std::string& saying : sayings) {
    SetUp();
    const FileDescriptor fd = ConnectFirst();
    char byte = 0;
    auto get = Begin(*peer_, false, {{&byte, 1, 0, 1}});
    EXPECT_EQ(Hear(fd).type, kGetRequest);
    Say(fd, saying);
    EXPECT_EQ(get.get().code, HCCL_E_TCP_TRANSFER);
    EXPECT_TRUE(HungUpOn(fd));
    EXPECT_EQ(target_, std::vector<char>(4096, 't'));
  }
}

TEST_F(TcpPeerTest, AnswersToNobodyAreIgnored) {
  const FileDescriptor fd = ConnectFirst();
  const std::string good = Writer().Number(uint32_t{0}).Take();
  Say(fd, Bytes(kPutDone, 99, good) + Bytes(kGetFailed, 99, good) + Bytes(kGetGivenUp, 99));
  Say(fd, GetHead(99, 0, 0, 4) + "1234");
  Say(fd, PutHead(1, 1, 4, 4, 4) + "abcd");
  const Frame answer = Hear(fd);
  EXPECT_EQ(answer.type, kPutDone);
  EXPECT_EQ(StatusOf(answer), 0u);
  EXPECT_EQ(std::string(target_.data(), 9), "ttttabcdt");
}

// A put whose answer comes before its bytes were sent is no put.
TEST_F(TcpPeerTest, AnEarlyAnswerEndsTheLink) {
  std::vector<char> source(64 << 20);
  const FileDescriptor fd = ConnectFirst();
  auto put = Begin(*peer_, true, {{source.data(), 1, 0, source.size()}});
  char some[1000];
  EXPECT_GT(recv(fd.get(), some, sizeof some, 0), 0);
  Say(fd, Bytes(kPutDone, 1, Writer().Number(uint32_t{0}).Take()));
  EXPECT_EQ(put.get().code, HCCL_E_TCP_TRANSFER);
}

TEST_F(TcpPeerTest, BytesOfAGetGoIntoItsItemsOnly) {
  const FileDescriptor fd = ConnectFirst();
  const auto data = [](uint64_t item, uint64_t offset, const std::string& bytes) { return GetHead(1, item, offset, bytes.size()) + bytes; };
  char bytes[8] = {'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b'};
  auto get = Begin(*peer_, false, {{bytes, 1, 0, 2}, {bytes + 4, 1, 0, 2}});
  EXPECT_EQ(Hear(fd).type, kGetRequest);
  Say(fd, data(0, 0, "12") + data(1, 1, "4"));
  Say(fd, data(1, 1, "56"));
  EXPECT_EQ(get.get().code, HCCL_E_TCP_TRANSFER);
  EXPECT_EQ(std::string(bytes, 8), "12bbb4bb");
}

TEST_F(TcpPeerTest, BytesOfAGetGoOnIntoTheItemsBehind) {
  const FileDescriptor fd = ConnectFirst();
  char bytes[9] = "bbbbbbbb";
  auto get = Begin(*peer_, false, {{bytes, 1, 0, 2}, {bytes + 3, 1, 0, 2}, {bytes + 6, 1, 0, 1}});
  EXPECT_EQ(Hear(fd).type, kGetRequest);
  Say(fd, GetHead(1, 1, 1, 2) + "46" + GetHead(1, 0, 0, 3) + "123");
  EXPECT_EQ(get.get().code, HCCL_SUCCESS);
  EXPECT_STREQ(bytes, "12b34b6b");
}

TEST_F(TcpPeerTest, AFrameOfAGetHasALimitOfItems) {
  const FileDescriptor fd = ConnectFirst();
  std::vector<char> bytes(257, 'b');
  std::vector<TransferItem> items;
  for (char& byte : bytes) items.push_back({&byte, 1, 0, 1});
  auto get = Begin(*peer_, false, items);
  EXPECT_EQ(Hear(fd).type, kGetRequest);
  Say(fd, GetHead(1, 0, 0, 257) + std::string(257, 'n'));
  EXPECT_EQ(get.get().code, HCCL_E_TCP_TRANSFER);
  EXPECT_EQ(bytes, std::vector<char>(257, 'b'));
}

// The news of the failure overtakes a frame on another connection, half of which is here already.
TEST_F(TcpPeerTest, NothingOfAGetArrivesAfterItsEnd) {
  FileDescriptor door;
  const FileDescriptor first = ConnectFirst();
  const FileDescriptor other = Connect(&door);
  const std::string half(kHalf, 'n');
  std::vector<char> bytes(2 * half.size(), 'b');
  auto get = Begin(*peer_, false, {{bytes.data(), 1, 0, bytes.size()}});
  EXPECT_EQ(Hear(first).type, kGetRequest);
  Say(other, Opening(false) + GetHead(1, 0, 0, bytes.size()) + half);
  AwaitRead(other, door);
  Say(first, Bytes(kGetFailed, 1, Writer().Number(uint32_t{1}).Take()));
  EXPECT_EQ(get.get().code, HCCL_E_REMOTE);
  const std::vector<char> left(bytes);
  // Behind the rest of that frame, on the same connection: when it is answered, the rest was read.
  Say(other, half + PutHead(1, 1, 0, 4, 4) + "1234");
  EXPECT_EQ(StatusOf(Hear(first)), 0u);
  EXPECT_TRUE(bytes == left);
}

// Else it would be over while a frame on another connection still goes into its memory.
TEST_F(TcpPeerTest, MoreOfAGetThanWasAskedForEndsTheLink) {
  FileDescriptor door;
  const FileDescriptor first = ConnectFirst();
  const FileDescriptor other = Connect(&door);
  const std::string half(kHalf, 'n');
  std::vector<char> bytes(2 * half.size(), 'b');
  auto get = Begin(*peer_, false, {{bytes.data(), 1, 0, bytes.size()}});
  EXPECT_EQ(Hear(first).type, kGetRequest);
  Say(other, Opening(false) + GetHead(1, 0, 0, bytes.size()) + half);
  AwaitRead(other, door);
  Say(first, GetHead(1, 0, 0, 1) + "x");
  EXPECT_EQ(get.get().code, HCCL_E_TCP_TRANSFER);
  door.Reset();
  EXPECT_TRUE(HungUpOn(other));
}

TEST_F(TcpPeerTest, ARangeThatIsNotOfferedIsReadAndForgotten) {
  const FileDescriptor fd = ConnectFirst();
  Say(fd, PutHead(1, 2, 0, 4, 4) + "1234" + PutHead(2, 1, 4093, 4, 4) + "1234" + PutHead(3, 1, UINT64_MAX, 4, 4) + "1234");
  for (const uint32_t status : {1u, 2u, 2u}) EXPECT_EQ(StatusOf(Hear(fd)), status);
  EXPECT_EQ(target_, std::vector<char>(4096, 't'));
}

TEST_F(TcpPeerTest, RangesOfAFrameGoToTheirPlaces) {
  const FileDescriptor fd = ConnectFirst();
  Say(fd, PutHead(1, 1, {{4, 2}, {0, 1}, {4095, 1}}, 4, 4) + "1234" + PutHead(2, 1, OneByteEach(256), 256, 256) + std::string(256, 'n'));
  EXPECT_EQ(StatusOf(Hear(fd)), 0u);
  EXPECT_EQ(StatusOf(Hear(fd)), 0u);
  EXPECT_EQ(target_[255], 'n');
  EXPECT_EQ(target_[256], 't');
  EXPECT_EQ(target_[4095], '4');
}

// Not even what is good of it.
TEST_F(TcpPeerTest, AFrameWithABadRangeIsReadAndForgotten) {
  const FileDescriptor fd = ConnectFirst();
  for (const uint64_t offset : {uint64_t{4095}, uint64_t{4097}, UINT64_MAX}) {
    Say(fd, PutHead(1, 1, {{0, 2}, {offset, 2}, {8, 2}}, 6, 6) + "123456");
    EXPECT_EQ(StatusOf(Hear(fd)), 2u);
  }
  EXPECT_EQ(target_, std::vector<char>(4096, 't'));
}

// Those of one region, that is.
TEST_F(TcpPeerTest, SmallItemsShareAFrame) {
  const FileDescriptor fd = ConnectFirst();
  char bytes[] = "123456";
  auto put = Begin(*peer_, true, {{bytes, 7, 10, 2}, {bytes + 2, 8, 20, 1}, {bytes + 3, 7, 0, 3}});
  std::string bulk;
  EXPECT_EQ(Bytes(kPutData, 1, Hear(fd, &bulk).body, 5), PutHead(1, 7, {{10, 2}, {0, 3}}, 6, 5));
  EXPECT_EQ(bulk, "12456");
  EXPECT_EQ(Bytes(kPutData, 1, Hear(fd, &bulk).body, 1), PutHead(1, 8, {{20, 1}}, 6, 1));
  EXPECT_EQ(bulk, "3");
  Say(fd, Bytes(kPutDone, 1, Writer().Number(uint32_t{0}).Take()));
  EXPECT_EQ(put.get().code, HCCL_SUCCESS);
  target_[4000] = 'T';
  Writer items;
  items.Number(uint64_t{5});
  for (const uint64_t number : {1, 4000, 1, 1, 0, 2}) items.Number(number);
  Say(fd, Bytes(kGetRequest, 9, items.Take()));
  EXPECT_EQ(Bytes(kGetData, 9, Hear(fd, &bulk).body, 3), GetHead(9, 5, 0, 3));
  EXPECT_EQ(bulk, "Ttt");
}

// Whoever called may have given up on a connection that this side has welcomed, and calls again.
TEST_F(TcpPeerTest, ConnectionsThatSayNothingDoNotMatter) {
  for (int i = 0; i < 10; ++i) Connect();
  FileDescriptor silent = Connect();
  const FileDescriptor fd = ConnectFirst();
  Say(fd, PutHead(1, 1, 0, 4, 4) + "1234");
  EXPECT_EQ(StatusOf(Hear(fd)), 0u);
  silent = FileDescriptor();
  Say(fd, PutHead(2, 1, 0, 4, 4) + "1234");
  EXPECT_EQ(StatusOf(Hear(fd)), 0u);
}

// All connections may be made before the first word of the first one is heard.
TEST_F(TcpPeerTest, TheFirstConnectionMayBeTheLastToSpeak) {
  const FileDescriptor first = Connect();
  std::vector<FileDescriptor> others;
  for (size_t i = 0; i < kBulkConnections; ++i) others.push_back(Connect());
  for (const FileDescriptor& other : others) Say(other, Opening(false));
  Say(others.back(), PutHead(1, 1, 0, 4, 4) + "1234");
  Say(first, Opening(true));
  EXPECT_EQ(StatusOf(Hear(first)), 0u);
}

// Frames of a put that was given up may arrive over one connection later than the news of it over another.
TEST_F(TcpPeerTest, APutThatWasGivenUpIsAnsweredBehindItsLastFrame) {
  const FileDescriptor first = ConnectFirst();
  const FileDescriptor other = Connect();
  Say(other, Opening(false));
  Say(first, Bytes(kPutGivenUp, 1, Writer().Number(uint64_t{8}).Take()));
  Say(first, PutHead(2, 1, 0, 4, 4) + "1234");
  EXPECT_EQ(Hear(first).id, 2u);
  Say(other, PutHead(1, 1, 0, 100, 4) + "abcd" + PutHead(1, 1, 4, 100, 4) + "efgh");
  EXPECT_EQ(Hear(first).id, 1u);
  Say(first, Bytes(kPutGivenUp, 3, Writer().Number(uint64_t{0}).Take()));
  EXPECT_EQ(Hear(first).id, 3u);
  EXPECT_EQ(std::string(target_.data(), 12), "abcdefghtttt");
}

// Whatever was asked for before its stream was aborted must not be written later than what is asked for now.
TEST_F(TcpPeerTest, APutWaitsForOnesThatWereGivenUpBefore) {
  const FileDescriptor fd = ConnectFirst();
  char byte = 'a';
  const auto lease = std::make_shared<Lease>();
  auto aborted = Begin(*peer_, true, {{&byte, 1, 0, 1}}, lease);
  const auto hear_put = [&](uint64_t id) {
    const Frame frame = Hear(fd);
    EXPECT_EQ(frame.type, kPutData);
    EXPECT_EQ(frame.id, id);
    char sent;
    EXPECT_EQ(recv(fd.get(), &sent, 1, MSG_WAITALL), 1);
  };
  hear_put(1);
  lease->Close();
  auto put = Begin(*peer_, true, {{&byte, 1, 0, 1}});
  char got = 0;
  auto get = Begin(*peer_, false, {{&got, 1, 0, 1}});
  EXPECT_EQ(Hear(fd).type, kGetRequest) << "a get does not wait, and the put in front of it does";
  Say(fd, Bytes(kPutDone, 1, Writer().Number(uint32_t{0}).Take()));
  hear_put(2);
  Say(fd, Bytes(kPutDone, 2, Writer().Number(uint32_t{0}).Take()));
  EXPECT_EQ(put.get().code, HCCL_SUCCESS);
}

// Each of many that were given up, and each of those that wait for them, is looked at a few times, however many others there are.
TEST_F(TcpPeerTest, PutsThatWereGivenUpCostWorkByTheirNumber) {
  constexpr uint64_t kPuts = 200;
  const FileDescriptor fd = ConnectFirst();
  char byte = 'a';
  std::vector<std::shared_ptr<Lease>> leases;
  std::vector<std::future<TransferEnd>> given_up, puts;
  std::string bulk;
  for (uint64_t id = 1; id <= kPuts; ++id) {
    given_up.push_back(Begin(*peer_, true, {{&byte, 1, 0, 1}}, leases.emplace_back(std::make_shared<Lease>())));
    EXPECT_EQ(Hear(fd, &bulk).id, id);
  }
  for (const auto& lease : leases) lease->Close();
  for (uint64_t i = 0; i < kPuts; ++i) puts.push_back(Begin(*peer_, true, {{&byte, 1, 0, 1}}));
  const auto answer = [&](uint64_t id) { Say(fd, Bytes(kPutDone, id, Writer().Number(uint32_t{0}).Take())); };
  for (uint64_t id = 1; id <= kPuts; ++id) answer(id);
  for (uint64_t id = kPuts + 1; id <= 2 * kPuts; ++id) {
    EXPECT_EQ(Hear(fd, &bulk).id, id) << "none before all that were given up are over";
    answer(id);
  }
  for (auto* all : {&given_up, &puts})
    for (auto& put : *all) EXPECT_EQ(put.get().code, HCCL_SUCCESS);
  EXPECT_LE(peer_->LooksForTest(), 8 * kPuts);
}

TEST_F(TcpPeerTest, AnEndInTheMiddleOfAFrameFailsWhatIsPending) {
  for (const bool reset : {false, true}) {
    SetUp();
    FileDescriptor fd = ConnectFirst();
    char byte = 0;
    auto get = Begin(*peer_, false, {{&byte, 1, 0, 1}});
    EXPECT_EQ(Hear(fd).type, kGetRequest);
    Say(fd, PutHead(1, 1, 0, 100, 100) + "half");
    const linger at_once{1, 0};
    if (reset) EXPECT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    fd = FileDescriptor();
    EXPECT_EQ(get.get().code, reset ? HCCL_E_TCP_TRANSFER : HCCL_E_REMOTE);
  }
}

// A transfer larger than a frame asks the other side for more connections, and does without when none come.
TEST_F(TcpPeerTest, ALargeGetAsksForMoreConnections) {
  const FileDescriptor fd = ConnectFirst();
  std::vector<char> bytes(2 << 20);
  auto get = Begin(*peer_, false, {{bytes.data(), 1, 0, bytes.size()}});
  EXPECT_EQ(Hear(fd).type, kMoreWanted);
  EXPECT_EQ(Hear(fd).type, kGetRequest);
  const std::string frame(kTcpFrameBytes, 'x');
  for (uint64_t at = 0; at < bytes.size(); at += frame.size()) Say(fd, GetHead(1, 0, at, frame.size()) + frame);
  EXPECT_EQ(get.get().code, HCCL_SUCCESS);
  EXPECT_EQ(bytes, std::vector<char>(2 << 20, 'x'));
}

// None of them is large, and one after the other would need none.
TEST_F(TcpPeerTest, ManyTransfersAskForMoreConnections) {
  const FileDescriptor fd = ConnectFirst();
  std::vector<char> bytes(400 << 10);
  const auto get = [&] { return Begin(*peer_, false, {{bytes.data(), 1, 0, bytes.size()}}); };
  const std::string failed = Writer().Number(uint32_t{1}).Take();
  for (uint64_t id = 1; id <= 4; ++id) {
    auto alone = get();
    EXPECT_EQ(Hear(fd).type, kGetRequest);
    Say(fd, Bytes(kGetFailed, id, failed));
    EXPECT_EQ(alone.get().code, HCCL_E_REMOTE);
  }
  std::future<TransferEnd> together[] = {get(), get(), get()};
  for (const uint16_t type : {kGetRequest, kGetRequest, kMoreWanted, kGetRequest}) EXPECT_EQ(Hear(fd).type, type);
  peer_->Close({HCCL_E_REMOTE, "closed"});
  for (auto& one : together) EXPECT_EQ(one.get().code, HCCL_E_REMOTE);
}

// The link's thread may be asleep, and then the caller stands in for it.
TEST_F(TcpPeerTest, WhoAsksHearsOfAFailureBehindTheCall) {
  peer_->Close({HCCL_E_REMOTE, "closed"});
  for (int i = 0; i < 200; ++i) {
    char byte = 0;
    std::promise<std::thread::id> told;
    peer_->Move(true, {{&byte, 1, 0, 1}}, std::make_shared<Lease>(), [&](const TransferEnd& end) {
      EXPECT_EQ(end.code, HCCL_E_REMOTE);
      told.set_value(std::this_thread::get_id());
    });
    EXPECT_NE(told.get_future().get(), std::this_thread::get_id());
  }
}

TEST(TcpPeerThreads, ManyAskAtOnce) {
  const Pair pair(LinkKind::kTcp, 0, 1);
  constexpr size_t kThreads = 4, kRounds = 300, kBytes = 5000;
  std::vector<char> target(kThreads * kBytes);
  pair.there->Expose(1, {target.data(), target.size()});
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (size_t round = 0; round < kRounds; ++round) {
        std::vector<char> bytes = Pattern(kBytes, static_cast<int>(i * kRounds + round)), got(kBytes);
        EXPECT_EQ(Move(*pair.here, true, {{bytes.data(), 1, i * kBytes, kBytes}}).code, HCCL_SUCCESS);
        EXPECT_EQ(Move(*pair.here, false, {{got.data(), 1, i * kBytes, kBytes}}).code, HCCL_SUCCESS);
        ASSERT_EQ(got, bytes);
      }
    });
  for (std::thread& thread : threads) thread.join();
  pair.there->Withdraw(1);
}

// Frames that are sent in one moment are one packet, in their order, also in front of bytes.
TEST_F(TcpPeerTest, AnswersGoTogether) {
  const FileDescriptor fd = ConnectFirst();
  const auto put = [](uint64_t id) { return PutHead(id, 1, 0, 4, 4) + "data"; };
  Say(fd, put(1) + put(2) + put(3));
  std::string answers;
  for (uint64_t id = 1; id <= 3; ++id) answers += Bytes(kPutDone, id, Writer().Number(uint32_t{0}).Take());
  std::string heard(1000, '\0');
  const long size = recv(fd.get(), heard.data(), heard.size(), 0);
  EXPECT_EQ(heard.substr(0, static_cast<size_t>(std::max(0L, size))), answers);
}

// A peer that is there and does nothing.
TEST_F(TcpPeerTest, SilenceWithWorkPendingHasALimit) {
  setenv("HCCL_RDMA_TIMEOUT", "14", 1);  // 4.096 us * 2^14 * 2
  setenv("HCCL_RDMA_RETRY_CNT", "1", 1);
  SetUp();
  unsetenv("HCCL_RDMA_TIMEOUT");
  unsetenv("HCCL_RDMA_RETRY_CNT");
  const FileDescriptor fd = ConnectFirst();
  char byte = 0;
  const TransferEnd end = Move(*peer_, true, {{&byte, 1, 0, 1}});
  EXPECT_EQ(end.code, HCCL_E_ROCE_TRANSFER);
  EXPECT_NE(end.text.find("HCCL_RDMA_TIMEOUT"), std::string::npos);
}

}  // namespace tcp_peer_test
