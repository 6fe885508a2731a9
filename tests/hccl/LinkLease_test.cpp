// Memory that is taken away from a link in the middle of a transfer: nobody reads or writes it afterwards, wherever the bytes
// are. Whether a transfer was through before is a matter of luck; that its memory is left alone is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>
#include <thread>

#include "tests/hccl/link_hosts.h"

namespace link_lease_test {

using namespace link_hosts;

constexpr size_t kBytes = 8 << 20;  // more than a link has on its way
constexpr RegionId kLarge = 1;
constexpr RegionId kSmall = 2;

// One large item, and many small ones, which share frames.
std::vector<TransferItem> AllOf(std::vector<char>& bytes) {
  constexpr uint64_t kHalf = kBytes / 2, kPiece = kHalf / 512;
  std::vector<TransferItem> items = {{bytes.data(), kLarge, 0, kHalf}};
  for (uint64_t at = kHalf; at < kBytes; at += kPiece) items.push_back({bytes.data() + at, kLarge, at, kPiece});
  return items;
}

// Holds a link back inside a callback, so that its side neither sends nor receives. Not with UCX, where whoever takes memory away
// needs that thread.
class Hold {
 public:
  explicit Hold(LinkKind kind) : holds_(kind != LinkKind::kUcx) {}
  // On the link's thread, or on one that stands in for it.
  void operator()() {
    here_.set_value();
    if (holds_) released_.get_future().wait();
  }
  void Await() { here_.get_future().wait(); }
  void Release() { released_.set_value(); }

 private:
  const bool holds_;
  std::promise<void> here_;
  std::promise<void> released_;
};

bool GivenUpOrDone(std::future<TransferEnd>& transfer) {
  const HcclResult code = transfer.get().code;
  return code == HCCL_E_REMOTE || code == HCCL_SUCCESS;
}

// As the threads of a link's connections do with the memory of one transfer.
TEST(Lease, IsUsedByManyAtOnceAndCloseWaitsForAll) {
  Lease lease;
  std::barrier<> both(3);
  std::atomic<int> left{0};
  const auto use = [&] {
    EXPECT_TRUE(lease.Use([&] {
      both.arrive_and_wait();
      while (!lease.closed()) std::this_thread::yield();
      ++left;
    }));
  };
  std::thread one(use), other(use);
  both.arrive_and_wait();
  lease.Close();
  EXPECT_EQ(left, 2);
  EXPECT_FALSE(lease.Use([&] { ++left; }));
  EXPECT_EQ(left, 2);
  one.join();
  other.join();
}

class LinkLease : public ::testing::TestWithParam<LinkKind> {
 protected:
  Pair pair{GetParam(), 0, 1};
  char mark = 'm';  // what is put into a small region
};
INSTANTIATE_TEST_SUITE_P(Network, LinkLease, ::testing::ValuesIn(kKinds), KindName);

// A small put is sent by the thread that brings it, and may end there: that is another one than the test's. It is over when what is
// returned goes.
std::future<void> HoldBehindAPut(Pair& pair, char* mark, Hold& hold) {
  auto put = [&pair, mark, &hold] {
    pair.here->Move(true, {{mark, kSmall, 0, 1}}, std::make_shared<Lease>(), [&hold](const TransferEnd&) { hold(); });
  };
  std::future<void> held = std::async(std::launch::async, put);
  hold.Await();
  return held;
}

// The receiver stands still while the sender's memory is taken away and used for something else.
TEST_P(LinkLease, NothingOfAClosedPutLeavesItsMemory) {
  std::vector<char> source(kBytes, 's'), target(kBytes, 't'), small(1);
  Hold hold(GetParam());
  pair.there->Expose(kLarge, {target.data(), kBytes});
  pair.there->Expose(kSmall, {small.data(), 1, std::make_shared<Lease>(), [&](uint64_t) { hold(); }});
  auto first = Begin(*pair.here, true, {{&mark, kSmall, 0, 1}});
  hold.Await();
  const auto lease = std::make_shared<Lease>();
  auto put = Begin(*pair.here, true, AllOf(source), lease);
  lease->Close();
  std::fill(source.begin(), source.end(), 'e');
  hold.Release();
  EXPECT_TRUE(GivenUpOrDone(put));
  EXPECT_EQ(first.get().code, HCCL_SUCCESS);
  pair.there->Expose(kSmall, {small.data(), 1});
  EXPECT_EQ(Move(*pair.here, true, {{&mark, kSmall, 0, 1}}).code, HCCL_SUCCESS);  // behind all that was sent
  EXPECT_EQ(std::count(target.begin(), target.end(), 'e'), 0);
  pair.there->Withdraw(kLarge);
  pair.there->Withdraw(kSmall);
}

// The asking side stands still while bytes come for memory that it has taken away.
TEST_P(LinkLease, NothingOfAClosedGetArrives) {
  std::vector<char> source(kBytes, 's'), target(kBytes, 't'), small(1);
  pair.there->Expose(kLarge, {source.data(), kBytes});
  pair.there->Expose(kSmall, {small.data(), 1});
  Hold hold(GetParam());
  const auto lease = std::make_shared<Lease>();
  auto get = Begin(*pair.here, false, AllOf(target), lease);
  const auto held = HoldBehindAPut(pair, &mark, hold);
  lease->Close();
  const std::vector<char> left(target);
  hold.Release();
  EXPECT_TRUE(GivenUpOrDone(get));
  EXPECT_EQ(Move(*pair.here, true, {{&mark, kSmall, 0, 1}}).code, HCCL_SUCCESS);
  EXPECT_TRUE(target == left);
  pair.there->Withdraw(kLarge);
  pair.there->Withdraw(kSmall);
}

// The same on the receiving side of a put.
TEST_P(LinkLease, NothingArrivesInAClosedRegion) {
  std::vector<char> source(kBytes, 's'), target(kBytes, 't'), small(1);
  Hold hold(GetParam());
  const auto lease = std::make_shared<Lease>();
  pair.there->Expose(kLarge, {target.data(), kBytes, lease});
  pair.there->Expose(kSmall, {small.data(), 1, std::make_shared<Lease>(), [&](uint64_t) { hold(); }});
  auto first = Begin(*pair.here, true, {{&mark, kSmall, 0, 1}});
  auto put = Begin(*pair.here, true, AllOf(source));
  hold.Await();
  lease->Close();
  const std::vector<char> left(target);
  hold.Release();
  EXPECT_TRUE(GivenUpOrDone(put));
  EXPECT_EQ(first.get().code, HCCL_SUCCESS);
  EXPECT_TRUE(target == left);
  pair.there->Withdraw(kLarge);
  pair.there->Withdraw(kSmall);
}

// A withdrawal does not wait for the network, and a get that is being answered reads nothing afterwards.
TEST_P(LinkLease, NothingOfAWithdrawnRegionLeavesIt) {
  std::vector<char> source(kBytes, 's'), target(kBytes, 't'), small(1);
  pair.there->Expose(kLarge, {source.data(), kBytes});
  pair.there->Expose(kSmall, {small.data(), 1});
  Hold hold(GetParam());
  auto get = Begin(*pair.here, false, AllOf(target));
  const auto held = HoldBehindAPut(pair, &mark, hold);
  pair.there->Withdraw(kLarge);
  std::fill(source.begin(), source.end(), 'e');
  hold.Release();
  EXPECT_TRUE(GivenUpOrDone(get));
  EXPECT_EQ(std::count(target.begin(), target.end(), 'e'), 0);
  pair.there->Withdraw(kSmall);
}

// A put that was given up leaves room for the next one with the same memory.
TEST_P(LinkLease, TheLinkGoesOnAfterAClosedPut) {
  std::vector<char> source = Pattern(3 << 20, 5), target(source.size());
  pair.there->Expose(kLarge, {target.data(), target.size()});
  for (int i = 0; i < 8; ++i) {
    const auto lease = std::make_shared<Lease>();
    auto put = Begin(*pair.here, true, {{source.data(), kLarge, 0, source.size()}}, lease);
    if (i % 2 == 0) {
      lease->Close();
      EXPECT_TRUE(GivenUpOrDone(put));
      continue;  // some of it may still be arriving
    }
    EXPECT_EQ(put.get().code, HCCL_SUCCESS);
    EXPECT_TRUE(target == source);
    std::fill(target.begin(), target.end(), 0);
  }
  pair.there->Withdraw(kLarge);
}

#ifdef RW_UCX_HOSTS
// UCX does not let go of what a peer does not take: then it is the link that ends, and the memory is free all the same.
TEST(UcxLinkLease, APeerThatStandsStillCostsTheLinkAndNotTheMemory) {
  Pair pair(LinkKind::kUcx, 0, 1);
  std::vector<char> source(64 << 20, 's'), target(source.size(), 't'), small(1);
  char mark = 'm';
  Hold hold(LinkKind::kTcp);
  pair.there->Expose(kLarge, {target.data(), target.size()});
  pair.there->Expose(kSmall, {small.data(), 1, std::make_shared<Lease>(), [&](uint64_t) { hold(); }});
  ASSERT_EQ(Move(*pair.here, true, {{&mark, kLarge, 0, 1}}).code, HCCL_SUCCESS);  // its key is here now
  auto first = Begin(*pair.here, true, {{&mark, kSmall, 0, 1}});
  hold.Await();
  const auto lease = std::make_shared<Lease>();
  auto put = Begin(*pair.here, true, {{source.data(), kLarge, 0, source.size()}}, lease);
  lease->Close();
  std::fill(source.begin(), source.end(), 'e');
  EXPECT_NE(put.get().code, HCCL_SUCCESS);
  EXPECT_NE(Move(*pair.here, true, {{&mark, kLarge, 0, 1}}).code, HCCL_SUCCESS);
  hold.Release();
  pair.there->Withdraw(kLarge);
  EXPECT_EQ(std::count(target.begin(), target.end(), 'e'), 0);
}
#endif

}  // namespace link_lease_test
