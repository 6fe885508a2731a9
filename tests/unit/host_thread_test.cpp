// The thread that runs user functions.
#include "stream/host_thread.h"

#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace host_thread_test {

class Returner : public HostCall::Return {
 public:
  void Returned() override {
    if (HostCall::inside) inside_after = true;
    ++returned;
  }
  std::atomic<int> returned{0};
  std::atomic<bool> inside_after{false};
};

void AddOne(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

TEST(HostThreadTest, RunsInOrderAndTellsWhoWaits) {
  HostThread thread;
  Returner returner;
  Log log;
  struct Entry {
    Log* log;
    int value;
  };
  std::deque<Entry> entries;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    entries.push_back({&log, i});
    expected.push_back(i);
    thread.Post({[](void* entry) { static_cast<Entry*>(entry)->log->Add(static_cast<Entry*>(entry)->value); }, &entries.back(),
                 i % 2 == 0 ? &returner : nullptr});
  }
  thread.Join();
  EXPECT_EQ(log.values(), expected);
  EXPECT_EQ(returner.returned, 50);
}

TEST(HostThreadTest, OneThreadForAllAndNotTheCallers) {
  HostThread thread;
  struct Ids {
    std::mutex mutex;
    std::vector<std::thread::id> seen;
  } ids;
  for (int i = 0; i < 10; ++i) {
    thread.Post({[](void* argument) {
                   auto* here = static_cast<Ids*>(argument);
                   std::lock_guard lock(here->mutex);
                   here->seen.push_back(std::this_thread::get_id());
                 },
                 &ids, nullptr});
  }
  thread.Join();
  ASSERT_EQ(ids.seen.size(), 10u);
  for (std::thread::id id : ids.seen) EXPECT_EQ(id, ids.seen[0]);
  EXPECT_NE(ids.seen[0], std::this_thread::get_id());
}

TEST(HostThreadTest, KnowsThatItIsInside) {
  HostThread thread;
  Returner returner;
  struct Seen {
    bool inside = false;
    const HostCall::Return* running = nullptr;
  } seen;
  EXPECT_FALSE(HostCall::inside);
  thread.Post({[](void* argument) {
                 auto* here = static_cast<Seen*>(argument);
                 here->inside = HostCall::inside;
                 here->running = HostCall::running_here;
               },
               &seen, &returner});
  thread.Join();
  EXPECT_TRUE(seen.inside);
  EXPECT_EQ(seen.running, &returner);
  EXPECT_FALSE(returner.inside_after) << "the function has returned when the waiter is told";
}

TEST(HostThreadTest, RetractTakesBackWhatHasNotBegun) {
  HostThread thread;
  Latch begun, may_end;
  struct Latches {
    Latch *begun, *may_end;
  } latches{&begun, &may_end};
  Returner first, second, third;
  std::atomic<int> calls{0};
  thread.Post({[](void* argument) {
                 static_cast<Latches*>(argument)->begun->Release();
                 static_cast<Latches*>(argument)->may_end->Await();
               },
               &latches, &first});
  thread.Post({&AddOne, &calls, &second});
  thread.Post({&AddOne, &calls, &third});
  begun.Await();
  EXPECT_FALSE(thread.Retract(&first)) << "it runs";
  EXPECT_TRUE(thread.Retract(&second));
  EXPECT_FALSE(thread.Retract(&second));
  may_end.Release();
  thread.Join();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(first.returned, 1);
  EXPECT_EQ(second.returned, 0);
  EXPECT_EQ(third.returned, 1);
  EXPECT_FALSE(thread.Retract(&third)) << "it has returned";
}

TEST(HostThreadTest, IsUsableAgainAfterJoin) {
  HostThread thread;
  std::atomic<int> calls{0};
  thread.Join();  // nothing was ever posted
  for (int round = 1; round <= 20; ++round) {
    thread.Post({&AddOne, &calls, nullptr});
    thread.Join();
    EXPECT_EQ(calls, round);
  }
}

TEST(HostThreadTest, AFunctionMayPostAnother) {
  HostThread thread;
  struct Chain {
    HostThread* thread;
    Latch ended;
    int left = 10;
    static void Run(void* self) {
      auto* chain = static_cast<Chain*>(self);
      if (--chain->left > 0) {
        chain->thread->Post({&Chain::Run, chain, nullptr});
      } else {
        chain->ended.Release();
      }
    }
  } chain{&thread, {}};
  thread.Post({&Chain::Run, &chain, nullptr});
  chain.ended.Await();
  thread.Join();
  EXPECT_EQ(chain.left, 0);
}

// A device is reset on one thread and set again on another: the join of the old life meets the first post of the new one.
TEST(HostThreadTest, APostThatMeetsAJoinIsRunInTurnAndLeavesTheThreadUsable) {
  struct Meeting {
    HostThread thread;
    Latch begun, may_end;
    std::atomic<bool> first_ended{false}, out_of_turn{false};
    std::atomic<int> calls{0};
  };
  static auto* meeting = new Meeting;  // a test that fails must not take the process down with a running thread
  meeting->thread.Post({[](void*) {
                          meeting->begun.Release();
                          meeting->may_end.Await();
                          meeting->first_ended = true;
                        },
                        nullptr, nullptr});
  meeting->begun.Await();
  std::atomic<pid_t> tid{0};
  std::thread joiner([&] {
    tid = gettid();
    meeting->thread.Join();
  });
  while (tid == 0) sched_yield();
  AwaitAsleep(tid);
  meeting->thread.Post({[](void*) {
                          if (!meeting->first_ended) meeting->out_of_turn = true;
                          ++meeting->calls;
                        },
                        nullptr, nullptr});
  meeting->may_end.Release();
  joiner.join();
  meeting->thread.Post({&AddOne, &meeting->calls, nullptr});
  meeting->thread.Join();
  EXPECT_EQ(meeting->calls, 2) << "a function was never run";
  EXPECT_FALSE(meeting->out_of_turn) << "two functions ran at once";
}

TEST(HostThreadTest, AbandonForgetsWhatHasNotBegun) {
  static auto* thread = new HostThread;  // its thread is detached and may outlive the test
  static Latch begun, may_end, ended;
  static std::atomic<int> calls{0};
  thread->Post({[](void*) {
                  begun.Release();
                  may_end.Await();
                  ended.Release();
                },
                nullptr, nullptr});
  thread->Post({&AddOne, &calls, nullptr});
  begun.Await();
  thread->Abandon();
  thread->Post({&AddOne, &calls, nullptr});
  may_end.Release();
  ended.Await();
  EXPECT_EQ(calls, 0);
}

}  // namespace host_thread_test
}  // namespace ropeway_unit
