// Batches: which neighbours become one piece, what a seal keeps, and the bytes at every point.
#include "engine/batch.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ropeway {
namespace batch_test {

// Addresses that are compared and never touched.
char* At(size_t offset) { return reinterpret_cast<char*>(size_t{0x10000} + offset); }

std::vector<size_t> Sizes(const Batch& batch) {
  std::vector<size_t> sizes;
  for (const Piece& piece : batch.pieces()) sizes.push_back(piece.size);
  return sizes;
}

TEST(BatchTest, BeginsEmpty) {
  Batch batch(8);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.bytes(), 0u);
  EXPECT_TRUE(batch.pieces().empty());
}

TEST(BatchTest, APieceIsKeptAsItIs) {
  Batch batch(1);
  batch.Add(At(100), At(9000), 77);
  ASSERT_EQ(batch.pieces().size(), 1u);
  EXPECT_EQ(batch.pieces()[0].dst, At(100));
  EXPECT_EQ(batch.pieces()[0].src, At(9000));
  EXPECT_EQ(batch.pieces()[0].size, 77u);
  EXPECT_EQ(batch.bytes(), 77u);
  EXPECT_FALSE(batch.empty());
}

TEST(BatchTest, NeighboursOnBothSidesBecomeOnePiece) {
  Batch batch(3);
  batch.Add(At(0), At(5000), 10);
  batch.Add(At(10), At(5010), 20);
  batch.Add(At(30), At(5030), 30);
  ASSERT_EQ(Sizes(batch), (std::vector<size_t>{60}));
  EXPECT_EQ(batch.pieces()[0].dst, At(0));
  EXPECT_EQ(batch.pieces()[0].src, At(5000));
  EXPECT_EQ(batch.bytes(), 60u);
}

TEST(BatchTest, NothingElseIsMerged) {
  struct Case {
    const char* what;
    size_t dst, src;
  };
  // The first piece is always dst [100, 110), src [500, 510).
  const Case cases[] = {
      {"only the destinations touch", 110, 900},   {"only the sources touch", 900, 510},
      {"a gap of one byte in dst", 111, 510},      {"a gap of one byte in src", 110, 511},
      {"an overlap of one byte in dst", 109, 510}, {"an overlap of one byte in src", 110, 509},
      {"in front instead of behind", 90, 490},     {"the same once more", 100, 500},
  };
  for (const Case& entry : cases) {
    Batch batch(2);
    batch.Add(At(100), At(500), 10);
    batch.Add(At(entry.dst), At(entry.src), 10);
    EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 10})) << entry.what;
    EXPECT_EQ(batch.bytes(), 20u) << entry.what;
  }
}

TEST(BatchTest, OnlyTheLastPieceGrows) {
  Batch batch(3);
  batch.Add(At(0), At(5000), 10);
  batch.Add(At(100), At(6000), 10);
  batch.Add(At(10), At(5010), 10);  // a neighbour of the first, which is not the last any more
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 10, 10}));
}

TEST(BatchTest, MoreThanWasReservedIsFine) {
  Batch batch(1);
  for (size_t i = 0; i < 100; ++i) batch.Add(At(i * 20), At(90000 + i * 20), 10);
  EXPECT_EQ(batch.pieces().size(), 100u);
  EXPECT_EQ(batch.bytes(), 1000u);
}

TEST(BatchTest, AReservedBatchDoesNotMoveItsPieces) {
  Batch batch(100);
  batch.Add(At(0), At(90000), 10);
  const Piece* first = batch.pieces().data();
  for (size_t i = 1; i < 100; ++i) batch.Add(At(i * 20), At(90000 + i * 20), 10);
  EXPECT_EQ(batch.pieces().data(), first) << "one allocation for the whole batch";
}

// --- Runs ---------------------------------------------------------------------------------------------------------------

struct ItemRun {
  std::vector<void*> dsts;
  std::vector<const void*> srcs;
  std::vector<size_t> sizes;
  void Item(size_t dst, size_t src, size_t size) {
    dsts.push_back(At(dst));
    srcs.push_back(At(src));
    sizes.push_back(size);
  }
  void AddTo(Batch& batch, bool may_merge) const { batch.AddRun(dsts.data(), srcs.data(), sizes.data(), sizes.size(), may_merge); }
};

TEST(BatchTest, ARunIsWhatItsItemsAreOneByOne) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    ItemRun run;
    size_t dst = 0, src = 100000;
    for (size_t i = 0; i < 40; ++i) {
      run.Item(dst, src, 1 + random() % 64);
      dst += run.sizes.back() + random() % 2 * 8;
      src += run.sizes.back() + random() % 2 * 8;
    }
    Batch at_once(40), one_by_one(40);
    run.AddTo(at_once, true);
    for (size_t i = 0; i < 40; ++i) one_by_one.Add(run.dsts[i], run.srcs[i], run.sizes[i]);
    EXPECT_EQ(Sizes(at_once), Sizes(one_by_one)) << "round " << round;
    EXPECT_EQ(at_once.bytes(), one_by_one.bytes());
    for (size_t i = 0; i < at_once.pieces().size(); ++i) {
      EXPECT_EQ(at_once.pieces()[i].dst, one_by_one.pieces()[i].dst);
      EXPECT_EQ(at_once.pieces()[i].src, one_by_one.pieces()[i].src);
    }
  }
}

TEST(BatchTest, ARunJoinsWhatIsInFrontOnlyWhereItMay) {
  for (const bool may_merge : {false, true}) {
    Batch batch(3);
    batch.Add(At(0), At(5000), 10);
    ItemRun run;
    run.Item(10, 5010, 20);
    run.Item(30, 5030, 30);
    run.AddTo(batch, may_merge);
    EXPECT_EQ(Sizes(batch), may_merge ? std::vector<size_t>({60}) : std::vector<size_t>({10, 50}));
  }
}

TEST(BatchTest, ARunDoesNotGrowASealedPiece) {
  Batch batch(3);
  batch.Add(At(0), At(5000), 10);
  batch.Seal();
  ItemRun run;
  run.Item(10, 5010, 20);
  run.Item(30, 5030, 30);
  run.AddTo(batch, true);
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 50}));
  batch.CutToSeal();
  EXPECT_EQ(batch.bytes(), 10u);
}

TEST(BatchTest, PiecesOfOneSizeAreKnown) {
  const auto even_size = [](std::vector<size_t> sizes, size_t gap, bool at_once) {
    ItemRun run;
    size_t at = 0;
    for (const size_t size : sizes) {
      run.Item(at, 100000 + at, size);
      at += size + gap;
    }
    Batch batch(sizes.size());
    if (at_once) run.AddTo(batch, true);
    for (size_t i = 0; !at_once && i < sizes.size(); ++i) batch.Add(run.dsts[i], run.srcs[i], run.sizes[i]);
    return batch.EvenSize();
  };
  for (const bool at_once : {false, true}) {
    EXPECT_EQ(even_size({10, 10, 10}, 8, at_once), 10u);
    EXPECT_EQ(even_size({10, 10, 11}, 8, at_once), 0u);
    EXPECT_EQ(even_size({11, 10, 10}, 8, at_once), 0u);
    EXPECT_EQ(even_size({10, 10, 10}, 0, at_once), 0u) << "one piece of 30, which nobody needs to know";
    EXPECT_EQ(even_size({}, 8, at_once), 0u);
  }
  Batch two_runs(4);
  ItemRun first, second;
  first.Item(0, 5000, 10);
  second.Item(100, 6000, 20);
  first.AddTo(two_runs, true);
  second.AddTo(two_runs, true);
  EXPECT_EQ(two_runs.EvenSize(), 0u);
}

TEST(BatchTest, AThreadsNextBatchOfItsSizeGetsTheSameMemory) {
  const auto memory_of = [](size_t pieces) {
    Batch batch(pieces);
    batch.Add(At(0), At(5000), 10);
    return static_cast<const void*>(batch.pieces().data());
  };
  const void* first = memory_of(4096);
  EXPECT_EQ(memory_of(4096), first);
  Batch held(4096);
  held.Add(At(0), At(5000), 10);
  EXPECT_NE(memory_of(4096), static_cast<const void*>(held.pieces().data())) << "what is in use is nobody else's";
}

// --- Seal ---------------------------------------------------------------------------------------------------------------

TEST(BatchTest, ACutForgetsWhatCameBehindTheSeal) {
  Batch batch(4);
  batch.Add(At(0), At(5000), 10);
  batch.Add(At(100), At(6000), 20);
  batch.Seal();
  batch.Add(At(200), At(7000), 30);
  batch.Add(At(300), At(8000), 40);
  EXPECT_EQ(batch.bytes(), 100u);
  batch.CutToSeal();
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 20}));
  EXPECT_EQ(batch.bytes(), 30u);
}

TEST(BatchTest, ASealedPieceDoesNotGrow) {
  Batch batch(3);
  batch.Add(At(0), At(5000), 10);
  batch.Seal();
  batch.Add(At(10), At(5010), 20);
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 20}));
  batch.Add(At(30), At(5030), 30);  // behind the seal neighbours are merged as ever
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 50}));
  batch.CutToSeal();
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10}));
  EXPECT_EQ(batch.bytes(), 10u);
}

TEST(BatchTest, ACutWithoutASealEmptiesTheBatch) {
  Batch batch(2);
  batch.Add(At(0), At(5000), 10);
  batch.CutToSeal();
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.bytes(), 0u);
}

TEST(BatchTest, ACutWithNothingBehindTheSealChangesNothing) {
  Batch batch(1);
  batch.Add(At(0), At(5000), 10);
  batch.Seal();
  batch.CutToSeal();
  batch.CutToSeal();
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10}));
  EXPECT_EQ(batch.bytes(), 10u);
}

TEST(BatchTest, TheLatestSealCounts) {
  Batch batch(3);
  batch.Seal();
  batch.Add(At(0), At(5000), 10);
  batch.Seal();
  batch.Add(At(100), At(6000), 20);
  batch.CutToSeal();
  EXPECT_EQ(batch.bytes(), 10u);
  batch.Add(At(200), At(7000), 5);  // a batch that was cut can go on
  EXPECT_EQ(Sizes(batch), (std::vector<size_t>{10, 5}));
  EXPECT_EQ(batch.bytes(), 15u);
}

// Whatever is merged: the bytes, and which goes where, stay the same.
TEST(BatchTest, RandomItemsAreCoveredExactly) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    Batch batch(40);
    std::vector<std::pair<char*, char*>> asked, got;  // every byte: where to, where from
    size_t dst = 0, src = 100000;
    for (int item = 0; item < 40; ++item) {
      const size_t size = 1 + random() % 8;
      for (size_t i = 0; i < size; ++i) asked.emplace_back(At(dst + i), At(src + i));
      batch.Add(At(dst), At(src), size);
      if (random() % 8 == 0) batch.Seal();
      dst += size + (random() % 3 == 0 ? 1 : 0);
      src += size + (random() % 3 == 0 ? 1 : 0);
    }
    for (const Piece& piece : batch.pieces()) {
      for (size_t i = 0; i < piece.size; ++i)
        got.emplace_back(static_cast<char*>(piece.dst) + i, static_cast<char*>(const_cast<void*>(piece.src)) + i);
    }
    EXPECT_EQ(got, asked) << "seed " << seed;
    EXPECT_EQ(batch.bytes(), asked.size()) << "seed " << seed;
    EXPECT_LT(batch.pieces().size(), 40u) << "seed " << seed;
  }
}

}  // namespace batch_test
}  // namespace ropeway
