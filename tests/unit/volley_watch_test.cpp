// What a watcher is told of tasks that run side by side: none begins before it was submitted, nor before the end of one that it needs.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "engine/watcher.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {
namespace volley_watch_test {

constexpr size_t kBlock = 128 << 10;  // a portion of its own: a volley has room for 128 of them at a time
constexpr size_t kBlocks = 200;       // so task i + 200 can only be begun when task i is complete
constexpr size_t kDevice = size_t{32} << 20;

// Counts moments instead of reading a clock. When the first of a volley are done, `then` is called once, by whoever leads it.
class MomentWatcher : public Watcher {
 public:
  explicit MomentWatcher(size_t tasks) : submitted(tasks + 1), started(tasks + 1), finished(tasks + 1) {}
  uint64_t Now() { return ++clock_; }
  void Submitted(const TaskSight&) override {}
  Moment Started(const TaskSight&) override { return {.ticks = Now()}; }
  void Finished(const TaskSight& sight, const RunSight& run) override {
    started[sight.sequence] = run.started.ticks;
    finished[sight.sequence] = Now();
    side_by_side += run.side_by_side;
    if (run.side_by_side && then != nullptr) std::exchange(then, nullptr)();
  }
  void Dropped(const TaskSight&) override {}
  uint64_t WaitBegins(const WaitSight&) override { return 0; }
  void WaitEnds(const WaitSight&, uint64_t) override {}
  void Allocated(const BlockSight&) override {}
  void Freed(const BlockSight&) override {}
  void Ordered(const OrderSight&) override {}
  void Flush() override {}

  std::vector<uint64_t> submitted, started, finished;  // by sequence; each written by one thread
  std::function<void()> then;
  size_t side_by_side = 0;

 private:
  std::atomic<uint64_t> clock_{0};
};

class VolleyWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = static_cast<char*>(shop_.engine().memory().ReserveDevices(kDevice, kDevice, 0));
    pinned_ = static_cast<char*>(shop_.engine().memory().ReserveHost(kBlock));
    ASSERT_NE(device_, nullptr);
    ASSERT_NE(pinned_, nullptr);
    g_watcher = &watcher_;
  }
  void TearDown() override { g_watcher = nullptr; }
  void Submit(size_t tasks) {
    for (; tasks > 0; --tasks) {
      watcher_.submitted[next_] = watcher_.Now();
      line_.Submit(CopyTask(device_ + next_++ % kBlocks * kBlock, pinned_, kBlock));
    }
  }

  static constexpr size_t kFirst = 400, kLater = 200;
  Workshop shop_{{"Fast1", ScheduleKind::kFast, 1, 0}};
  MomentWatcher watcher_{1 + kFirst + kLater};
  Line& line_ = shop_.NewLine();
  ManualSink sink_;
  char *device_ = nullptr, *pinned_ = nullptr;
  size_t next_ = 2;
};

// The rest is submitted while a volley is under way, by the thread that leads it: it comes neither too early nor too late.
TEST_F(VolleyWatchTest, ATaskBeginsBehindItsSubmitAndBehindWhatItNeeds) {
  watcher_.then = [this] { Submit(kLater); };
  std::atomic<int> called{0};
  line_.Submit(CallTask(&sink_, AddOne, &called));  // task 1: what comes behind it is all there when the volley begins
  Submit(kFirst);
  sink_.RunNext();
  while (line_->completed() < 1 + kFirst + kLater) sched_yield();  // who waits would help, and only up to what he waits for
  EXPECT_GT(watcher_.side_by_side, kFirst + kLater / 2) << "they are to run as volleys";
  size_t before_submit = 0, before_end = 0;
  for (size_t i = 2; i < next_; ++i) {
    before_submit += watcher_.started[i] < watcher_.submitted[i];
    if (i - 2 >= kBlocks) before_end += watcher_.started[i] < watcher_.finished[i - kBlocks];
  }
  EXPECT_EQ(before_submit, 0u);
  EXPECT_EQ(before_end, 0u);
}

}  // namespace volley_watch_test
}  // namespace ropeway_unit
