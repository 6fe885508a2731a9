// Plans of collectives without ranks: a simulator executes the programs of all ranks, and the outcome is compared with what the operation
// means.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "hccl_ranks/plan_simulator.h"
#include "tests/support/sanitized.h"

namespace collective_plan_test {

using namespace ropeway::comm;
using namespace ropeway_test;

// Not commutative enough to hide an order: what counts is that all ranks have the same bits.
uint8_t MixOne(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a * 3 + b * 5 + 7); }
uint8_t Add(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a + b); }
template <uint8_t (*kOp)(uint8_t, uint8_t)>
void Each(uint8_t* to, const uint8_t* a, const uint8_t* b, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) to[i] = kOp(a[i], b[i]);
}
constexpr auto Sums = Each<Add>, Mixes = Each<MixOne>;

Bytes Pattern(size_t size, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  Bytes bytes(size);
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

// No stream is here, so it is the same on every schedule: once is enough.
class CollectivePlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const schedule = std::getenv("ROPEWAY_SCHEDULE");
    if (schedule != nullptr && std::string(schedule) != "fast") GTEST_SKIP() << "tested on the schedule fast";
  }
};

// How many ranks, and on which hosts.
struct World {
  std::string name;
  std::vector<uint32_t> hosts;
};
World OneHost(uint32_t ranks) { return {std::to_string(ranks) + " ranks", std::vector<uint32_t>(ranks)}; }
World Hosts(uint32_t hosts, uint32_t each, bool interleaved) {
  World world{std::to_string(hosts) + " hosts of " + std::to_string(each) + (interleaved ? ", interleaved" : ""), {}};
  // Numbers that do not grow with the ranks.
  for (uint32_t rank = 0; rank < hosts * each; ++rank) world.hosts.push_back(7 + hosts - (interleaved ? rank % hosts : rank / each));
  return world;
}
World Uneven() { return {"3 + 1 + 2 ranks", {0, 0, 0, 1, 2, 2}}; }

std::vector<World> Worlds() {
  std::vector<World> worlds{Uneven(), Hosts(2, 1, false), Hosts(2, 4, false), Hosts(3, 3, true), Hosts(12, 2, false)};
  for (const uint32_t ranks : {1, 2, 3, 4, 5, 7, 8, 9, 11, 16, 19}) worlds.push_back(OneHost(ranks));
  return worlds;
}

std::vector<CollectiveShape> Shapes(const World& world, const CollectiveShape& common) {
  std::vector<CollectiveShape> shapes(world.hosts.size(), common);
  for (uint32_t rank = 0; rank < shapes.size(); ++rank) {
    shapes[rank].rank = rank;
    shapes[rank].hosts = world.hosts;
  }
  return shapes;
}

constexpr uint32_t kSchedules = 2;  // an early one and a late one
constexpr uint64_t kSizes[] = {1, 1000, kEagerBytes + 1};

void TryAllReduce(const World& world, uint64_t bytes, bool in_place) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kAllReduce;
  common.bytes = bytes;
  common.in_place = in_place;
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs;
  Bytes sum(bytes);
  for (uint32_t rank = 0; rank < size; ++rank) {
    inputs.push_back(Pattern(bytes, rank));
    for (uint64_t i = 0; i < bytes; ++i) sum[i] = Add(sum[i], inputs[rank][i]);
  }
  const std::vector<Bytes> outputs = in_place ? inputs : std::vector<Bytes>(size, Bytes(bytes));
  Bytes first;
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator sums(shapes, inputs, outputs, Sums, seed), mixes(shapes, inputs, outputs, Mixes, seed);
    ASSERT_TRUE(sums.Run() && mixes.Run());
    if (seed == 0) first = mixes.output(0);
    for (uint32_t rank = 0; rank < size; ++rank) {
      ASSERT_EQ(sums.output(rank), sum) << "rank " << rank << ", schedule " << seed;
      ASSERT_EQ(mixes.output(rank), first) << "rank " << rank << " has other bits, schedule " << seed;
    }
  }
}

TEST_F(CollectivePlanTest, AllReduceGivesAllTheSameBits) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : kSizes) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(world.name + ", " + std::to_string(bytes) + (in_place ? " bytes in place" : " bytes"));
        ASSERT_NO_FATAL_FAILURE(TryAllReduce(world, bytes, in_place));
      }
    }
  }
}

void TryReduce(const World& world, uint64_t bytes, bool in_place, uint32_t root) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kReduce;
  common.bytes = bytes;
  common.in_place = in_place;
  common.root = root;
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs;
  Bytes sum(bytes);
  for (uint32_t rank = 0; rank < size; ++rank) {
    inputs.push_back(Pattern(bytes, rank));
    for (uint64_t i = 0; i < bytes; ++i) sum[i] = Add(sum[i], inputs[rank][i]);
  }
  const std::vector<Bytes> outputs = in_place ? inputs : std::vector<Bytes>(size, Bytes(bytes, 9));
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator sums(shapes, inputs, outputs, Sums, seed);
    ASSERT_TRUE(sums.Run());
    for (uint32_t rank = 0; rank < size; ++rank) ASSERT_EQ(sums.output(rank), rank == root ? sum : outputs[rank]) << "rank " << rank;
  }
}

TEST_F(CollectivePlanTest, ReduceChangesTheRootAlone) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : kSizes) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(world.name + ", " + std::to_string(bytes) + (in_place ? " bytes in place" : " bytes"));
        ASSERT_NO_FATAL_FAILURE(TryReduce(world, bytes, in_place, 0));
        ASSERT_NO_FATAL_FAILURE(TryReduce(world, bytes, in_place, static_cast<uint32_t>(world.hosts.size()) - 1));
      }
    }
  }
}

// Blocks of different sizes, some of them empty, one behind the other with gaps.
std::vector<Block> SomeBlocks(uint32_t ranks, uint64_t bytes, bool equal) {
  std::vector<Block> blocks;
  uint64_t at = 0;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint64_t size = equal ? bytes : rank % 4 == 2 ? 0 : bytes + rank * 3;
    blocks.push_back({at, size});
    at += size + (equal ? 0 : rank % 3);
  }
  return blocks;
}
uint64_t EndOf(const Blocks& blocks, uint32_t ranks) { return blocks[ranks - 1].offset + blocks[ranks - 1].bytes + 8; }
Bytes Cut(const Bytes& from, const Block& block) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(block.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(block.bytes)};
}

void TryReduceScatter(const World& world, uint64_t bytes, bool equal) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kReduceScatter;
  common.sends = SomeBlocks(size, bytes, equal);
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs, outputs;
  Bytes sum(EndOf(common.sends, size));
  for (uint32_t rank = 0; rank < size; ++rank) {
    inputs.push_back(Pattern(sum.size(), rank));
    outputs.emplace_back(common.sends[rank].bytes);
    for (uint64_t i = 0; i < sum.size(); ++i) sum[i] = Add(sum[i], inputs[rank][i]);
  }
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator sums(shapes, inputs, outputs, Sums, seed);
    ASSERT_TRUE(sums.Run());
    for (uint32_t rank = 0; rank < size; ++rank) ASSERT_EQ(sums.output(rank), Cut(sum, common.sends[rank])) << "rank " << rank;
  }
}

TEST_F(CollectivePlanTest, ReduceScatterGivesEachRankItsBlock) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : {uint64_t{5}, kEagerBytes + 4}) {
      for (const bool equal : {false, true}) {
        SCOPED_TRACE(world.name + ", " + std::to_string(bytes));
        ASSERT_NO_FATAL_FAILURE(TryReduceScatter(world, bytes, equal));
      }
    }
  }
}

void TryAllGather(const World& world, uint64_t bytes, bool equal, bool in_place) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kAllGather;
  common.receives = SomeBlocks(size, bytes, equal);
  common.in_place = in_place;
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs, outputs;
  Bytes all(EndOf(common.receives, size));
  for (uint32_t rank = 0; rank < size; ++rank) {
    const Block block = common.receives[rank];
    inputs.push_back(Pattern(block.bytes, rank));
    outputs.emplace_back(all.size());
    std::copy(inputs[rank].begin(), inputs[rank].end(), all.begin() + static_cast<std::ptrdiff_t>(block.offset));
    if (in_place) std::copy(inputs[rank].begin(), inputs[rank].end(), outputs[rank].begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator gathered(shapes, inputs, outputs, Sums, seed);
    ASSERT_TRUE(gathered.Run());
    for (uint32_t rank = 0; rank < size; ++rank) ASSERT_EQ(gathered.output(rank), all) << "rank " << rank;
  }
}

TEST_F(CollectivePlanTest, AllGatherGivesAllEverything) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : {uint64_t{5}, kEagerBytes + 4}) {
      for (const int variant : {0, 1, 2, 3}) {
        SCOPED_TRACE(world.name + ", " + std::to_string(bytes) + ", variant " + std::to_string(variant));
        ASSERT_NO_FATAL_FAILURE(TryAllGather(world, bytes, variant % 2 == 0, variant >= 2));
      }
    }
  }
}

void TryBroadcast(const World& world, uint64_t bytes, uint32_t root) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kBroadcast;
  common.bytes = bytes;
  common.root = root;
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> outputs;
  for (uint32_t rank = 0; rank < size; ++rank) outputs.push_back(Pattern(bytes, rank));
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator spread(shapes, std::vector<Bytes>(size), outputs, Sums, seed);
    ASSERT_TRUE(spread.Run());
    for (uint32_t rank = 0; rank < size; ++rank) ASSERT_EQ(spread.output(rank), outputs[root]) << "rank " << rank;
  }
}

TEST_F(CollectivePlanTest, BroadcastReachesAll) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : kSizes) {
      SCOPED_TRACE(world.name + ", " + std::to_string(bytes));
      for (uint32_t root = 0; root < world.hosts.size(); root += 3)
        ASSERT_NO_FATAL_FAILURE(TryBroadcast(world, bytes, root)) << "root " << root;
    }
  }
}

void TryScatter(const World& world, uint64_t bytes, uint32_t root) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  CollectiveShape common;
  common.what = Collective::kScatter;
  common.bytes = bytes;
  common.root = root;
  common.sends = Blocks::Equal(bytes);
  const std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs(size);
  inputs[root] = Pattern(EndOf(common.sends, size), 1);
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator scattered(shapes, inputs, std::vector<Bytes>(size, Bytes(bytes)), Sums, seed);
    ASSERT_TRUE(scattered.Run());
    for (uint32_t rank = 0; rank < size; ++rank)
      ASSERT_EQ(scattered.output(rank), Cut(inputs[root], common.sends[rank])) << "rank " << rank;
  }
}

// What each rank sends to each: a table that every rank sees its row and its column of.
void TryAllToAll(const World& world, uint64_t bytes) {
  const auto size = static_cast<uint32_t>(world.hosts.size());
  const auto count = [&](uint32_t from, uint32_t to) { return (from * 7 + to * 3) % 5 == 0 ? 0 : bytes + from * 2 + to; };
  CollectiveShape common;
  common.what = Collective::kAllToAll;
  std::vector<CollectiveShape> shapes = Shapes(world, common);
  std::vector<Bytes> inputs, outputs;
  for (uint32_t rank = 0; rank < size; ++rank) {
    uint64_t out = 0, in = 0;
    std::vector<Block> sends, receives;
    for (uint32_t peer = 0; peer < size; ++peer) {
      sends.push_back({out, count(rank, peer)});
      receives.push_back({in, count(peer, rank)});
      out += count(rank, peer);
      in += count(peer, rank);
    }
    shapes[rank].sends = std::move(sends);
    shapes[rank].receives = std::move(receives);
    inputs.push_back(Pattern(out, rank));
    outputs.emplace_back(in);
  }
  for (uint32_t seed = 0; seed < kSchedules; ++seed) {
    Simulator exchanged(shapes, inputs, outputs, Sums, seed);
    ASSERT_TRUE(exchanged.Run());
    for (uint32_t rank = 0; rank < size; ++rank) {
      for (uint32_t peer = 0; peer < size; ++peer)
        ASSERT_EQ(Cut(exchanged.output(rank), shapes[rank].receives[peer]), Cut(inputs[peer], shapes[peer].sends[rank]));
    }
  }
}

TEST_F(CollectivePlanTest, ScatterAndAllToAllGiveEachItsOwn) {
  for (const World& world : Worlds()) {
    for (const uint64_t bytes : {uint64_t{3}, kEagerBytes + 1}) {
      SCOPED_TRACE(world.name + ", " + std::to_string(bytes));
      ASSERT_NO_FATAL_FAILURE(TryScatter(world, bytes, 0));
      ASSERT_NO_FATAL_FAILURE(TryScatter(world, bytes, static_cast<uint32_t>(world.hosts.size()) / 2));
      ASSERT_NO_FATAL_FAILURE(TryAllToAll(world, bytes));
    }
  }
}

// From one to a thousand: every number of ranks below 130 (40 under sanitizers), and some above. RW_LONG=1: all of them.
TEST_F(CollectivePlanTest, UpToAThousandRanks) {
  std::vector<World> worlds{OneHost(511), OneHost(1000), Hosts(125, 8, false)};
  const uint32_t all_below = std::getenv("RW_LONG") != nullptr ? 1001 : kSanitized ? 40 : 130;
  for (uint32_t ranks = 1; ranks < all_below; ++ranks) worlds.push_back(OneHost(ranks));
  for (const World& world : worlds) {
    SCOPED_TRACE(world.name);
    const auto size = static_cast<uint32_t>(world.hosts.size());
    for (const uint64_t bytes : {uint64_t{9}, uint64_t{kEagerBytes + 1}}) {
      if (bytes > kEagerBytes && size > 130) continue;  // a ring is a ring
      CollectiveShape common;
      common.bytes = bytes;
      const std::vector<CollectiveShape> shapes = Shapes(world, common);
      std::vector<Bytes> inputs;
      Bytes sum(bytes);
      for (uint32_t rank = 0; rank < size; ++rank) {
        inputs.push_back(Bytes(bytes, static_cast<uint8_t>(rank)));
        for (uint8_t& byte : sum) byte = Add(byte, static_cast<uint8_t>(rank));
      }
      Simulator sums(shapes, inputs, std::vector<Bytes>(size, Bytes(bytes)), Sums, 1);
      ASSERT_TRUE(sums.Run());
      for (uint32_t rank = 0; rank < size; ++rank) ASSERT_EQ(sums.output(rank), sum) << "rank " << rank;
    }
    ASSERT_NO_FATAL_FAILURE(TryBroadcast(world, 10, size / 2));
  }
}

// A small one of many ranks takes rounds that grow with the logarithm, and rings speak with two neighbours.
TEST_F(CollectivePlanTest, ManyRanksDoNotAllSpeakWithEachOther) {
  CollectiveShape common;
  common.bytes = 100;
  std::vector<CollectiveShape> shapes = Shapes(OneHost(1000), common);
  size_t most = 0;
  for (const CollectiveShape& shape : shapes) {
    const CollectivePlan plan = MakeCollectivePlan(shape);
    most = std::max(most, plan.steps.size());
  }
  EXPECT_LE(most, 3 * 10u + 4);
  for (CollectiveShape& shape : shapes) shape.bytes = 1 << 20;
  for (const Step& step : MakeCollectivePlan(shapes[500]).steps) {
    if (step.kind == Step::Kind::kSend) {
      EXPECT_EQ(step.peer, 501u);
    }
  }
}

// Every byte of one host's data crosses to each other host once, whatever number of ranks there is.
TEST_F(CollectivePlanTest, BetweenHostsNothingGoesTwice) {
  constexpr uint64_t kBytes = 1 << 20;
  const auto crossing = [](const World& world, Collective what) {
    CollectiveShape common;
    common.what = what;
    common.bytes = kBytes;
    common.root = 1;
    common.sends = common.receives = Blocks::Equal(kBytes / world.hosts.size());
    uint64_t bytes = 0;
    for (const CollectiveShape& shape : Shapes(world, common)) {
      for (const Step& step : MakeCollectivePlan(shape).steps)
        if (step.kind == Step::Kind::kSend && world.hosts[step.peer] != world.hosts[shape.rank]) bytes += step.from.bytes;
    }
    return bytes;
  };
  for (const bool interleaved : {false, true}) {
    const World two = Hosts(2, 4, interleaved), three = Hosts(3, 4, interleaved);
    EXPECT_EQ(crossing(two, Collective::kAllReduce), 2 * kBytes);  // half of it each way to be reduced, and half of the result back
    EXPECT_EQ(crossing(two, Collective::kReduceScatter), kBytes);  // each host's half of it
    EXPECT_EQ(crossing(three, Collective::kReduceScatter), 2 * kBytes - 2 * kBytes % 12);
    EXPECT_EQ(crossing(two, Collective::kReduce), kBytes);
    EXPECT_EQ(crossing(three, Collective::kReduce), 2 * kBytes);
    EXPECT_EQ(crossing(three, Collective::kBroadcast), 2 * kBytes);
    EXPECT_EQ(crossing(two, Collective::kAllGather), kBytes);
  }
  EXPECT_EQ(crossing(Uneven(), Collective::kReduce), 2 * kBytes);
}

}  // namespace collective_plan_test
