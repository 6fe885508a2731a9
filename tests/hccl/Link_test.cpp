// The links inside one process.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/hccl/link_hosts.h"

namespace link_test {

using namespace link_hosts;

class Link : public ::testing::TestWithParam<LinkKind> {};
INSTANTIATE_TEST_SUITE_P(Network, Link, ::testing::ValuesIn(kKinds), KindName);

TEST_P(Link, PutAndGetMoveExactlyTheBytes) {
  Pair pair(GetParam(), 0, 1);
  std::vector<char> target(3 << 20, 'x');
  pair.there->Expose(1, {target.data(), target.size()});
  for (const size_t size :
       {size_t{1}, size_t{kTcpFrameBytes} - 1, size_t{kTcpFrameBytes}, size_t{kTcpFrameBytes} + 1, size_t{64 << 10}, size_t{2 << 20} + 3}) {
    std::vector<char> expected(target);
    std::vector<char> source = Pattern(size, static_cast<int>(size));
    memcpy(expected.data() + 5, source.data(), size);
    EXPECT_EQ(Move(*pair.here, true, {{source.data(), 1, 5, size}}).code, HCCL_SUCCESS);
    EXPECT_TRUE(target == expected) << size;
    std::vector<char> back(size + 1, 'y');
    EXPECT_EQ(Move(*pair.here, false, {{back.data(), 1, 5, size}}).code, HCCL_SUCCESS);
    EXPECT_TRUE(memcmp(back.data(), source.data(), size) == 0 && back[size] == 'y') << size;
  }
  pair.there->Withdraw(1);
}

TEST_P(Link, ManyItemsAreOneTransfer) {
  Pair pair(GetParam(), 0, 1);
  std::vector<char> target(256 * 1000);
  std::vector<char> source = Pattern(target.size(), 7);
  pair.there->Expose(9, {target.data(), target.size()});
  std::vector<TransferItem> items;
  for (uint64_t i = 0; i < 256; ++i) items.push_back({source.data() + i * 1000, 9, i * 1000, 1000});
  EXPECT_EQ(Move(*pair.here, true, items).code, HCCL_SUCCESS);
  EXPECT_TRUE(target == source);
  std::vector<char> back(source.size());
  for (uint64_t i = 0; i < 256; ++i) items[i].local = back.data() + i * 1000;
  EXPECT_EQ(Move(*pair.here, false, items).code, HCCL_SUCCESS);
  EXPECT_TRUE(back == source);
  pair.there->Withdraw(9);
}

// In turns of three regions, from one byte to more than a frame.
TEST_P(Link, ItemsOfAllSizesFindTheirPlaces) {
  Pair pair(GetParam(), 0, 1);
  std::mt19937 random(11);
  std::vector<uint64_t> sizes;
  for (int i = 0; i < 1000; ++i) sizes.push_back(i % 250 == 0 ? kTcpFrameBytes + random() % 100000 : 1 + random() % (i < 500 ? 40 : 4000));
  uint64_t total = 0;
  for (const uint64_t size : sizes) total += size;
  std::vector<char> source = Pattern(total, 5), back(total), targets[3];
  for (RegionId region = 0; region < 3; ++region) {
    targets[region].assign(total, 't');
    pair.there->Expose(1 + region, {targets[region].data(), total});
  }
  std::vector<TransferItem> puts, gets;
  uint64_t at = 0;
  for (size_t i = 0; i < sizes.size(); at += sizes[i++]) {
    puts.push_back({source.data() + at, 1 + i % 3, total - at - sizes[i], sizes[i]});
    gets.push_back(puts.back());
    gets.back().local = back.data() + at;
  }
  EXPECT_EQ(Move(*pair.here, true, puts).code, HCCL_SUCCESS);
  for (size_t i = 0; i < sizes.size(); ++i) ASSERT_EQ(memcmp(targets[i % 3].data() + puts[i].offset, puts[i].local, sizes[i]), 0) << i;
  EXPECT_EQ(Move(*pair.here, false, gets).code, HCCL_SUCCESS);
  EXPECT_TRUE(back == source);
  for (RegionId region = 1; region <= 3; ++region) pair.there->Withdraw(region);
}

TEST_P(Link, RangesOutsideTheRegionAreRefusedAndTheLinkGoesOn) {
  Pair pair(GetParam(), 0, 1);
  std::vector<char> target(4096, 't');
  std::vector<char> buffer(8192, 'b');
  pair.there->Expose(1, {target.data(), 2048});
  const TransferItem bad[] = {{buffer.data(), 1, 2047, 2},
                              {buffer.data(), 1, 2049, 1},
                              {buffer.data(), 1, UINT64_MAX, 2},
                              {buffer.data(), 1, 0, 2049},
                              {buffer.data(), 2, 0, 1}};
  for (const TransferItem& item : bad)
    for (const bool put : {true, false}) {
      const TransferEnd end = Move(*pair.here, put, {item});
      EXPECT_EQ(end.code, HCCL_E_REMOTE);
      EXPECT_NE(end.text, "");
    }
  EXPECT_EQ(target, std::vector<char>(4096, 't'));
  EXPECT_EQ(buffer, std::vector<char>(8192, 'b'));
  EXPECT_EQ(Move(*pair.here, true, {{buffer.data(), 1, 0, 2048}}).code, HCCL_SUCCESS);
  EXPECT_EQ(target[2047], 'b');
  EXPECT_EQ(target[2048], 't');
  pair.there->Withdraw(1);
}

TEST_P(Link, WithdrawnMemoryIsNotTouchedAgain) {
  Pair pair(GetParam(), 0, 1);
  std::vector<char> target(1 << 20, 't');
  std::vector<char> source(1 << 20, 's');
  pair.there->Expose(1, {target.data(), target.size()});
  auto first = Begin(*pair.here, true, {{source.data(), 1, 0, source.size()}});
  auto second = Begin(*pair.here, false, {{source.data(), 1, 0, source.size()}});
  pair.there->Withdraw(1);
  const std::vector<char> left(target);
  first.wait();
  second.wait();
  EXPECT_EQ(Move(*pair.here, true, {{source.data(), 1, 0, 1}}).code, HCCL_E_REMOTE);
  EXPECT_TRUE(target == left);
}

TEST_P(Link, ARegionIsOpenToItsPeerOnly) {
  Pair pair(GetParam(), 0, 1);
  Pair other(GetParam(), 2, 1);
  std::vector<char> target(64, 't');
  std::vector<char> source(64, 's');
  pair.there->Expose(1, {target.data(), target.size()});
  EXPECT_EQ(Move(*other.here, true, {{source.data(), 1, 0, 64}}).code, HCCL_E_REMOTE);
  EXPECT_EQ(target, std::vector<char>(64, 't'));
  EXPECT_EQ(Move(*pair.here, true, {{source.data(), 1, 0, 64}}).code, HCCL_SUCCESS);
  pair.there->Withdraw(1);
}

TEST_P(Link, ClosingEndsWhatIsPending) {
  const std::shared_ptr<Peer> lonely = NewEnd(GetParam(), 0);
  char byte = 0;
  auto put = Begin(*lonely, true, {{&byte, 1, 0, 1}});
  lonely->Close({HCCL_E_REMOTE, "gone"});
  const TransferEnd end = put.get();
  EXPECT_EQ(end.code, HCCL_E_REMOTE);
  EXPECT_EQ(end.text, "gone");
  EXPECT_EQ(Move(*lonely, false, {{&byte, 1, 0, 1}}).code, HCCL_E_REMOTE);
}

TEST_P(Link, APeerThatLeavesFailsTheTransfersOfTheOther) {
  Pair pair(GetParam(), 0, 1);
  std::vector<char> memory(64), source(64);
  pair.there->Expose(1, {memory.data(), memory.size()});
  ASSERT_EQ(Move(*pair.here, true, {{source.data(), 1, 0, 64}}).code, HCCL_SUCCESS);
  pair.there->Close({HCCL_E_REMOTE, "gone"});
  EXPECT_EQ(Move(*pair.here, true, {{source.data(), 1, 0, 64}}).code, HCCL_E_REMOTE);
}

// The thread of the side that leaves is busy, so that the put of the other side arrives before the leave-taking is at work.
TEST_P(Link, NothingIsTakenFromAPeerOnceItsEndIsClosed) {
  Pair pair(GetParam(), 0, 1);
  Pair beside(GetParam(), 0, 2);
  std::vector<char> memory(64, 'm');
  std::vector<char> other(64, 'o');
  pair.here->Expose(1, {other.data(), other.size()});
  pair.there->Expose(1, {memory.data(), memory.size()});
  beside.there->Expose(1, {other.data(), other.size()});
  std::promise<void> busy, free;
  EXPECT_EQ(Move(*pair.there, true, {{memory.data(), 1, 0, 64}}).code, HCCL_SUCCESS);
  ThreadOf(1).Post([&] {
    busy.set_value();
    free.get_future().wait();
  });
  busy.get_future().wait();
  pair.there->Close({HCCL_E_REMOTE, "gone"});
  auto late = Begin(*pair.here, true, {{other.data(), 1, 0, 64}});
  // Later than the late one over the same link: that one is on its way.
  std::vector<char> third(64);
  EXPECT_EQ(Move(*beside.here, true, {{third.data(), 1, 0, 64}}).code, HCCL_SUCCESS);
  free.set_value();
  EXPECT_EQ(late.get().code, HCCL_E_REMOTE);
}

// Every host offers one region to every other and owns the slice of it that it writes, so a reference knows every byte.
TEST_P(Link, StormOfFourHostsLeavesTheBytesOfTheReference) {
  constexpr size_t kHosts = 4;
  constexpr size_t kSlice = 40'000;
  constexpr int kOperations = 400;  // per host; the storm between processes is longer
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::vector<std::vector<char>> region(kHosts, std::vector<char>(kHosts * kSlice));
  std::vector<std::vector<char>> reference = region;
  std::vector<std::vector<std::shared_ptr<Peer>>> peer(kHosts, std::vector<std::shared_ptr<Peer>>(kHosts));
  for (size_t a = 0; a < kHosts; ++a)
    for (size_t b = 0; b < kHosts; ++b)
      if (a != b) (peer[a][b] = NewEnd(GetParam(), a))->Expose(1, {region[a].data(), region[a].size()});
  for (size_t a = 0; a < kHosts; ++a)
    for (size_t b = 0; b < a; ++b) Introduce(GetParam(), peer[a][b], peer[b][a]);

  const auto run = [&](size_t host) {
    std::mt19937 random(seed + static_cast<unsigned>(host));
    std::vector<char> bytes(kSlice), back(kSlice);
    for (int i = 0; i < kOperations; ++i) {
      const size_t to = (host + 1 + random() % (kHosts - 1)) % kHosts;
      const size_t offset = random() % kSlice;
      const size_t size = 1 + random() % (kSlice - offset);
      const uint64_t at = host * kSlice + offset;
      if (random() % 2 == 0) {
        for (size_t j = 0; j < size; j += 97) bytes[j] = static_cast<char>(random());
        ASSERT_EQ(Move(*peer[host][to], true, {{bytes.data(), 1, at, size}}).code, HCCL_SUCCESS);
        memcpy(reference[to].data() + at, bytes.data(), size);
      } else {
        ASSERT_EQ(Move(*peer[host][to], false, {{back.data(), 1, at, size}}).code, HCCL_SUCCESS);
        ASSERT_EQ(memcmp(back.data(), reference[to].data() + at, size), 0);
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t host = 0; host < kHosts; ++host) threads.emplace_back(run, host);
  for (std::thread& thread : threads) thread.join();
  for (size_t host = 0; host < kHosts; ++host) EXPECT_TRUE(region[host] == reference[host]) << "host " << host;
  for (auto& row : peer)
    for (auto& one : row)
      if (one != nullptr) one->Close({HCCL_E_REMOTE, "the test is over"});
}

}  // namespace link_test
