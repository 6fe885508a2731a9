#include "base/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace ropeway {
namespace event_loop_test {

void Nobody(uint64_t name, uint32_t) { ADD_FAILURE() << name << " is ready"; }

TEST(EventLoopTest, RunsWhatIsPostedInOrderAlsoFromElsewhere) {
  EventLoop loop;
  std::vector<int> order;
  std::thread([&] {
    for (int i = 0; i < 5; ++i) loop.Post([&order, i] { order.push_back(i); });
  }).join();
  loop.Post([&] {
    loop.Post([&] { order.push_back(6); });
    order.push_back(5);
  });
  while (order.size() < 7) loop.Turn(Nobody);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(EventLoopTest, TellsTheNamesOfWhatIsReady) {
  EventLoop loop;
  int pipes[2][2];
  for (auto& ends : pipes) ASSERT_EQ(pipe(ends), 0);
  ASSERT_TRUE(loop.Watch(pipes[0][0], EPOLLIN, 10));
  ASSERT_TRUE(loop.Watch(pipes[1][0], EPOLLIN, 11));
  EXPECT_FALSE(loop.Watch(-1, EPOLLIN, 12));
  const auto next = [&] {
    std::vector<uint64_t> names;
    loop.Turn([&](uint64_t name, uint32_t) { names.push_back(name); }, Deadline::AfterNs(0));
    return names;
  };
  EXPECT_TRUE(next().empty());
  ASSERT_EQ(write(pipes[1][1], "x", 1), 1);
  EXPECT_EQ(next(), std::vector<uint64_t>{11});
  EXPECT_EQ(next(), std::vector<uint64_t>{11});  // until it has been read
  loop.Change(pipes[1][0], 0, 11);
  EXPECT_TRUE(next().empty());
  loop.Change(pipes[1][0], EPOLLIN, 13);
  EXPECT_EQ(next(), std::vector<uint64_t>{13});
  loop.Forget(pipes[1][0]);
  EXPECT_TRUE(next().empty());
  for (auto& ends : pipes)
    for (const int end : ends) close(end);
}

TEST(EventLoopTest, TimersRunInTheOrderOfTheirTimesUnlessCancelled) {
  EventLoop loop;
  std::vector<int> order;
  const Deadline now = Deadline::AfterNs(0);
  loop.At(Deadline::AfterMs(2), [&] { order.push_back(2); });
  const EventLoop::Timer cancelled = loop.At(Deadline::AfterMs(1), [&] { order.push_back(-1); });
  loop.At(now, [&] { order.push_back(0); });
  loop.At(now, [&] { order.push_back(1); });
  EXPECT_FALSE(loop.At(Deadline::Never(), [&] { order.push_back(-2); }));
  loop.Cancel(cancelled);
  loop.Cancel({});
  while (order.size() < 3) loop.Turn(Nobody);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

// A loop with a thread, which ends with it.
class LoopThread {
 public:
  explicit LoopThread(EventLoop::Ready ready = Nobody) : ready_(std::move(ready)) {}
  ~LoopThread() {
    loop.Post([this] { over_ = true; });
    thread_.join();
  }
  // Until the thread sleeps.
  void Visit(const std::function<void()>& function) {
    while (!loop.Visit(function)) std::this_thread::yield();
  }
  std::thread::id id() const { return thread_.get_id(); }
  EventLoop loop;

 private:
  const EventLoop::Ready ready_;
  bool over_ = false;
  std::thread thread_{[this] {
    while (!over_) loop.Turn(ready_);
  }};
};

TEST(EventLoopTest, AVisitorStandsInForAThreadThatSleeps) {
  LoopThread there;
  EXPECT_FALSE(there.loop.HasTurn());
  bool ran = false;
  there.Visit([&] {
    ran = there.loop.HasTurn() && there.loop.IsVisited();
    EXPECT_FALSE(there.loop.Visit([] { ADD_FAILURE() << "two have the turn"; }));
  });
  EXPECT_TRUE(ran);
  EXPECT_FALSE(there.loop.HasTurn());
}

TEST(EventLoopTest, WhatAVisitorLeavesBehindIsTheThreads) {
  LoopThread there;
  std::promise<std::thread::id> posted, timed;
  there.Visit([&] {
    there.loop.Post([&] { posted.set_value(std::this_thread::get_id()); });
    EXPECT_FALSE(there.loop.Visit([] {}));
  });
  EXPECT_EQ(posted.get_future().get(), there.id());
  // The thread sleeps without a limit, or for a minute.
  there.Visit([&] { there.loop.At(Deadline::AfterMs(1), [&] { timed.set_value(std::this_thread::get_id()); }); });
  EXPECT_EQ(timed.get_future().get(), there.id());
}

TEST(EventLoopTest, NobodyVisitsWhileSomethingWaits) {
  EventLoop loop;
  bool ran = false;
  loop.Post([&] { ran = true; });
  EXPECT_FALSE(loop.Visit([] {}));
  loop.Turn(Nobody);
  EXPECT_TRUE(ran);
  std::thread([&] { EXPECT_FALSE(loop.Visit([] {})) << "this thread has the turn"; }).join();
}

TEST(EventLoopTest, TheLastThingsComeBehindEverythingElse) {
  LoopThread there;
  std::vector<int> order;
  std::promise<void> done;
  there.loop.Post([&] {
    there.loop.Last([&] {
      order.push_back(2);
      done.set_value();
    });
    there.loop.Post([&] { there.loop.Post([&] { order.push_back(1); }); });
    order.push_back(0);
  });
  done.get_future().wait();
  there.Visit([&] {
    there.loop.Last([&] { order.push_back(4); });
    order.push_back(3);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

// What one of them has behind it is not left lying until something else happens, and what goes on for ever keeps nobody out.
TEST(EventLoopTest, TheLastThingsMayHaveMoreBehindThem) {
  LoopThread there;
  std::vector<int> order;
  there.Visit([&] {
    there.loop.Last([&] {
      order.push_back(2);
      there.loop.Last([&] { order.push_back(4); });
      there.loop.Soon([&] { order.push_back(3); });
    });
    there.loop.Soon([&] { order.push_back(1); });
    order.push_back(0);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  // Nobody comes by again: neither a message nor a timer.
  there.Visit([&] { there.loop.Soon([&] { there.loop.Lazily([&] { order.push_back(5); }); }); });
  EXPECT_EQ(order.back(), 5);
  there.Visit([&] { there.loop.Last([&] { there.loop.Lazily([&] { order.push_back(6); }); }); });
  EXPECT_EQ(order.back(), 6);
  std::atomic<bool> enough{false};
  std::promise<std::thread::id> ended;
  const std::function<void()> again = [&] {
    if (!enough) return there.loop.Last(again);
    ended.set_value(std::this_thread::get_id());
  };
  there.Visit(again);
  std::promise<void> posted;
  there.loop.Post([&] { posted.set_value(); });
  posted.get_future().wait();
  enough = true;
  EXPECT_EQ(ended.get_future().get(), there.id());
}

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void Write() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  void Read() const {
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  }
  int ends[2];
};

int ask() { return EventLoop::kAsk; }

// What a visitor finds by himself is all for this time, and is counted like what the kernel names.
TEST(EventLoopTest, AVisitorMayGuessWhereSomethingCame) {
  const Pipe pipe;
  EventLoop loop;
  ASSERT_TRUE(loop.Watch(pipe.ends[0], EPOLLIN, 1));
  int named = 0;
  const auto take = [&](uint64_t, uint32_t) {
    ++named;
    pipe.Read();
    return true;
  };
  pipe.Write();
  EXPECT_EQ(loop.Look([] { return 0; }, take), 0);
  EXPECT_EQ(loop.Look([] { return 1; }, take), 1);
  EXPECT_EQ(named, 0) << "nobody asked the kernel";
  EXPECT_EQ(loop.Look(ask, take), 1);
  EXPECT_EQ(named, 1);
  // Something is to be done behind what was found: then more of it is looked for first.
  pipe.Write();
  const auto guess = [&] {
    loop.Last([&] { EXPECT_EQ(named, 2); });
    return 1;
  };
  EXPECT_EQ(loop.Look(guess, take), 2);
}

TEST(EventLoopTest, AVisitorTakesWhatIsReady) {
  const Pipe mine, other;
  std::promise<std::thread::id> by_thread;
  LoopThread there([&](uint64_t name, uint32_t) {
    EXPECT_EQ(name, 2u);
    other.Read();
    by_thread.set_value(std::this_thread::get_id());
  });
  std::vector<uint64_t> seen;
  const auto take = [&](uint64_t name, uint32_t) {
    seen.push_back(name);
    if (name != 1) return false;
    mine.Read();
    return true;
  };
  // Watched by a visitor who looks at once: the thread has no time to come first.
  there.Visit([&] { ASSERT_TRUE(there.loop.Watch(other.ends[0], EPOLLIN, 2)); });
  while (there.loop.Look(ask, take) < 0) std::this_thread::yield();
  EXPECT_TRUE(seen.empty());
  other.Write();
  EXPECT_EQ(by_thread.get_future().get(), there.id()) << "what is not for visitors is the thread's, also behind a look";
  EventLoop alone;
  ASSERT_TRUE(alone.Watch(mine.ends[0], EPOLLIN, 1));
  mine.Write();
  seen.clear();
  EXPECT_EQ(alone.Look(ask, take), 1);
  EXPECT_EQ(alone.Look(ask, take), 0);
  EXPECT_EQ(seen, std::vector<uint64_t>{1});
}

// A thread that was looked past comes back to its descriptors by itself, and at once for what is posted or due, or when nobody looks any
// more: whatever the moment, nothing is left.
TEST(EventLoopTest, AThreadThatIsParkedMissesNothing) {
  const Pipe pipe;
  std::atomic<int> read{0};
  LoopThread there([&](uint64_t, uint32_t) {
    pipe.Read();
    ++read;
  });
  there.Visit([&] { ASSERT_TRUE(there.loop.Watch(pipe.ends[0], EPOLLIN, 1)); });
  const auto look = [&] {
    there.loop.Look(ask, [&](uint64_t, uint32_t) {
      pipe.Read();
      ++read;
      return true;
    });
  };
  for (int round = 0; round < 300; ++round) {
    look();
    if (round % 3 == 0) there.loop.StopLooking();
    pipe.Write();
    if (round % 3 == 1) {
      std::promise<void> posted;
      there.loop.Post([&] { posted.set_value(); });
      posted.get_future().wait();
    }
    while (read <= round) std::this_thread::yield();
  }
  std::promise<void> due;
  look();
  there.Visit([&] { there.loop.At(Deadline::AfterMs(1), [&] { due.set_value(); }); });
  look();
  due.get_future().wait();
  EXPECT_EQ(read, 300);
}

// Visitors and the thread in turns: nothing is lost, and nobody is disturbed.
TEST(EventLoopTest, ManyVisitorsAndOneThreadTakeTurns) {
  LoopThread there;
  int turns = 0;  // of whoever has it
  std::atomic<int> visits{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        const auto count = [&] { ++turns; };
        if (there.loop.Visit(count))
          ++visits;
        else
          there.loop.Post(count);
      }
    });
  for (std::thread& thread : threads) thread.join();
  int seen = 0;
  there.Visit([&] { seen = turns; });
  EXPECT_EQ(seen, 3000);
}

}  // namespace event_loop_test
}  // namespace ropeway
