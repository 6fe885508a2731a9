// Large work that several threads share: every byte once, nobody leaves early, nobody stays too long.
#include "engine/sched/shared_work.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace ropeway::sched {
namespace shared_work_test {

struct Touches {
  explicit Touches(size_t size) : count(size), bytes(new std::atomic<int>[size]()) {}
  static void Touch(void* self, size_t begin, size_t end) {
    auto* touches = static_cast<Touches*>(self);
    for (size_t i = begin; i < end; ++i) ++touches->bytes[i];
    ++touches->chunks;
  }
  bool EachOnce() const {
    for (size_t i = 0; i < count; ++i) {
      if (bytes[i] != 1) return false;
    }
    return true;
  }
  size_t count;
  std::unique_ptr<std::atomic<int>[]> bytes;
  std::atomic<int> chunks{0};
};

std::atomic<bool> g_never{false};

TEST(RangeWorkTest, ChunksCoverTheRangeOnce) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{99}, size_t{100}, size_t{101}, size_t{1000}}) {
    Touches touches(size);
    RangeWork work(size, 100, &Touches::Touch, &touches);
    work.RunPortions(g_never);
    EXPECT_TRUE(touches.EachOnce()) << size;
    EXPECT_EQ(touches.chunks, static_cast<int>((size + 99) / 100)) << size;
    EXPECT_TRUE(work.AllTaken());
  }
}

TEST(RangeWorkTest, StopCutsItShort) {
  Touches touches(1000);
  std::atomic<bool> stop{true};
  RangeWork work(1000, 100, &Touches::Touch, &touches);
  work.RunPortions(stop);
  EXPECT_EQ(touches.chunks, 0);
}

TEST(WorkBoardTest, TheBringerDoesItAloneWhenNobodyComes) {
  WorkBoard board;
  Touches touches(1000);
  RangeWork work(1000, 100, &Touches::Touch, &touches);
  EXPECT_FALSE(board.WantsGuests());
  EXPECT_FALSE(board.Join(g_never));
  board.Run(work, g_never);
  EXPECT_TRUE(touches.EachOnce());
  EXPECT_FALSE(board.WantsGuests());
  EXPECT_FALSE(board.Join(g_never));
}

TEST(WorkBoardTest, NestedWorkBeyondThePlacesIsDoneToo) {
  // Each chunk posts the next work: more at once than the board has places.
  struct Nest {
    WorkBoard* board;
    int depth;
    std::atomic<int>* done;
    static void Down(void* self, size_t, size_t) {
      auto* nest = static_cast<Nest*>(self);
      ++*nest->done;
      if (nest->depth == 0) return;
      Nest inner{nest->board, nest->depth - 1, nest->done};
      RangeWork work(2, 1, &Nest::Down, &inner);
      nest->board->Run(work, g_never);
    }
  };
  WorkBoard board;
  std::atomic<int> done{0};
  Nest nest{&board, 9, &done};
  RangeWork work(2, 1, &Nest::Down, &nest);
  board.Run(work, g_never);
  EXPECT_EQ(done, 2046);
  EXPECT_FALSE(board.WantsGuests());
}

TEST(WorkBoardTest, GuestsAreLimited) {
  // The only chunk waits until two others have been turned away.
  struct Crowd {
    std::atomic<int> inside{0}, most{0};
    std::atomic<bool> leave{false};
    static void Stay(void* self, size_t, size_t) {
      auto* crowd = static_cast<Crowd*>(self);
      const int now = ++crowd->inside;
      int most = crowd->most;
      while (now > most && !crowd->most.compare_exchange_weak(most, now)) {
      }
      while (!crowd->leave) std::this_thread::yield();
      --crowd->inside;
    }
  } crowd;
  WorkBoard board;
  board.set_max_guests(1);
  RangeWork work(8, 1, &Crowd::Stay, &crowd);
  std::thread bringer([&] { board.Run(work, g_never); });
  while (!board.WantsGuests() || crowd.inside < 1) std::this_thread::yield();
  std::thread guest([&] { board.Join(g_never); });
  while (crowd.inside < 2) std::this_thread::yield();
  EXPECT_FALSE(board.Join(g_never)) << "one guest is enough";
  crowd.leave = true;
  bringer.join();
  guest.join();
  EXPECT_EQ(crowd.most, 2);
}

// Those who have nothing to do must not stand at the door: it says so without being opened.
TEST(WorkBoardTest, NoMoreGuestsAreWantedThanThereArePortions) {
  struct Peek {
    WorkBoard* board;
    int wanted_seen = 0;
    std::atomic<int> calls{0};
    static void Look(void* self, size_t, size_t) {
      auto* peek = static_cast<Peek*>(self);
      if (peek->calls++ > 0) return;
      while (peek->board->WantsGuests()) {
        ++peek->wanted_seen;
        std::thread([peek] { peek->board->Join(g_never); }).join();
      }
    }
  };
  for (size_t portions : {1, 2, 3, 12}) {
    WorkBoard board;
    board.set_max_guests(8);
    Peek peek{&board};
    RangeWork work(portions, 1, &Peek::Look, &peek);
    board.Run(work, g_never);
    // The first guest takes all that is left; the second finds nothing, and closes the door.
    EXPECT_EQ(peek.wanted_seen, portions == 1 ? 0 : portions == 2 ? 1 : 2) << portions;
    EXPECT_EQ(peek.calls, static_cast<int>(portions));
    EXPECT_FALSE(board.WantsGuests());
  }
}

// He may have something else to do by then; another one may come.
TEST(WorkBoardTest, AGuestLeavesAfterSomePortions) {
  struct Visits {
    WorkBoard* board;
    std::atomic<int> calls{0};
    int visits = 0, most = 0;
    static void Invite(void* self, size_t, size_t) {
      auto* visits = static_cast<Visits*>(self);
      if (visits->calls++ > 0) return;
      while (visits->board->WantsGuests()) {
        ++visits->visits;
        const int before = visits->calls;
        std::thread([visits] { visits->board->Join(g_never); }).join();
        visits->most = std::max(visits->most, visits->calls - before);
      }
    }
  };
  WorkBoard board;
  Visits visits{&board};
  RangeWork work(1000, 1, &Visits::Invite, &visits);
  board.Run(work, g_never);
  EXPECT_EQ(visits.calls, 1000);
  EXPECT_LT(visits.most, 100);
  EXPECT_GT(visits.visits, 10);
  EXPECT_FALSE(board.WantsGuests());
}

TEST(WorkBoardTest, WorkMayVanishAsSoonAsItIsDone) {
  constexpr int kRounds = 3000;
  WorkBoard board;
  board.set_max_guests(3);
  std::atomic<bool> over{false};
  std::atomic<int> joined{0};
  std::vector<std::thread> helpers;
  for (int i = 0; i < 3; ++i) {
    helpers.emplace_back([&] {
      while (!over) {
        if (board.Join(g_never)) {
          ++joined;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  auto bring = [&] {
    for (int round = 0; round < kRounds || joined < 10; ++round) {
      auto touches = std::make_unique<Touches>(64);
      RangeWork work(64, 4, &Touches::Touch, touches.get());
      board.Run(work, g_never);
      ASSERT_TRUE(touches->EachOnce());
    }
  };
  std::thread other(bring);
  bring();
  other.join();
  over = true;
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace shared_work_test
}  // namespace ropeway::sched
