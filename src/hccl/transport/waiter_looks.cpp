#include "hccl/transport/waiter_looks.h"

#include <array>
#include <atomic>

#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// A list that only grows, read without a lock.
template <typename Entry>
class Few {
 public:
  void Add(Entry entry) {
    const size_t place = count_.fetch_add(1, std::memory_order_relaxed);
    entries_.at(place).store(entry, std::memory_order_release);
  }
  template <typename Function>
  void ForAll(const Function& function) const {
    for (const std::atomic<Entry>& place : entries_) {
      const Entry entry = place.load(std::memory_order_acquire);
      if (entry == nullptr) return;
      function(entry);
    }
  }

 private:
  std::atomic<size_t> count_{0};
  std::array<std::atomic<Entry>, 4> entries_{};
};

Few<WaiterLook> g_looks;
Few<IoThread*> g_threads;
std::atomic<int> g_expected{0};
std::atomic<int> g_crowded{0};

int LookForNews(int leaving) {
  if (g_expected.load(std::memory_order_relaxed) == 0) return 0;
  bool came = false;
  g_threads.ForAll([&](IoThread* thread) {
    if (leaving != 0) return thread->StopLooking();
    came = came || thread->Look();  // what came may be all that was expected
  });
  if (g_expected.load(std::memory_order_relaxed) == 0) return 0;
  return (g_crowded.load(std::memory_order_relaxed) > 0 ? 2 : 1) | (came ? 4 : 0);
}

int LookForAll(int leaving) {
  int answer = 0;
  g_looks.ForAll([&](WaiterLook look) { answer |= look(leaving); });
  return answer;
}

}  // namespace

void AddWaiterLook(WaiterLook look) {
  g_looks.Add(look);
  ropewayHelpWaiters(&LookForAll);
}

void LookAtDescriptorsOf(IoThread& thread) {
  g_threads.Add(&thread);
  [[maybe_unused]] static const bool added = (AddWaiterLook(&LookForNews), true);
}

void NewsExpected::Expect(bool crowded) {
  if (state_ != State::kNone) return;
  state_ = crowded ? State::kCrowded : State::kExpected;
  g_expected.fetch_add(1, std::memory_order_relaxed);
  if (crowded) g_crowded.fetch_add(1, std::memory_order_relaxed);
}

void NewsExpected::Came() {
  if (state_ == State::kNone) return;
  g_expected.fetch_sub(1, std::memory_order_relaxed);
  if (state_ == State::kCrowded) g_crowded.fetch_sub(1, std::memory_order_relaxed);
  state_ = State::kNone;
}

}  // namespace ropeway::comm
