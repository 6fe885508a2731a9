#include "base/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

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
  EXPECT_EQ(loop.At(Deadline::Never(), [&] { order.push_back(-2); }), 0u);
  loop.Cancel(cancelled);
  loop.Cancel(0);
  while (order.size() < 3) loop.Turn(Nobody);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

}  // namespace event_loop_test
}  // namespace ropeway
