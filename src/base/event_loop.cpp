#include "base/event_loop.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ropeway {
namespace {

// Of a loop that has timers.
constexpr int64_t kLongestSleepNs = 60'000'000'000;

}  // namespace

// The counter of wake_ is never read: every write is an event of its own.
EventLoop::EventLoop()
    : epoll_(FileDescriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); })),
      wake_(FileDescriptor::Make([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  if (!epoll_ || !wake_ || !Watch(wake_.get(), EPOLLIN | EPOLLET, kWake))
    throw std::system_error(errno, std::generic_category(), "an event loop's epoll or eventfd");
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void EventLoop::Post(std::function<void()> function) {
  bool asleep;
  {
    LockGuard lock(mutex_);
    asleep = !busy_ && posted_.empty();  // else somebody is going to look, or the first one woke it
    posted_.push_back(std::move(function));
  }
  if (asleep) Wake();
}

bool EventLoop::Visit(const std::function<void()>& function) {
  {
    LockGuard lock(mutex_);
    if (busy_ || !posted_.empty()) return false;
    busy_ = true;
  }
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  visited_ = visiting_ = true;
  function();
  RunLast();
  visiting_ = false;
  owner_.store({}, std::memory_order_relaxed);
  bool wake = NextTimerNs() < sleeps_until_ns_;
  LockGuard lock(mutex_);
  busy_ = false;
  const bool wanted = wanted_;
  wake = wake || !posted_.empty();
  lock.unlock();
  if (wanted)
    free_.notify_one();
  else if (wake)
    Wake();
  return true;
}

// A visitor is gone in a moment, as a rule: the answer to what it sends may be faster than its way out.
void EventLoop::TakeTurn() {
  constexpr int kYields = 100;
  LockGuard lock(mutex_);
  for (int i = 0; busy_ && i < kYields; ++i) {
    const LockGap gap(mutex_);
    sched_yield();
  }
  wanted_ = true;
  while (busy_) free_.wait(mutex_);
  wanted_ = false;
  busy_ = true;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool EventLoop::GiveTurnUp() {
  LockGuard lock(mutex_);
  if (posted_.empty() && !last_.empty()) {
    const LockGap gap(mutex_);
    RunLast();
  }
  if (!posted_.empty()) return false;
  owner_.store({}, std::memory_order_relaxed);
  busy_ = false;
  return true;
}

bool EventLoop::Watch(int fd, uint32_t events, uint64_t name) {
  epoll_event event{events, {.u64 = name}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLoop::Change(int fd, uint32_t events, uint64_t name) {
  epoll_event event{events, {.u64 = name}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Forget(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

EventLoop::Timer EventLoop::At(Deadline when, std::function<void()> function) {
  if (when.never()) return 0;
  const Timer timer = ++last_timer_;
  timers_.emplace(std::pair(when.at_ns(), timer), std::move(function));
  timer_times_.emplace(timer, when.at_ns());
  return timer;
}

void EventLoop::Cancel(Timer timer) {
  auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase(std::pair(found->second, timer));
  timer_times_.erase(found);
}

void EventLoop::Turn(const Ready& ready, Deadline limit) {
  if (!HasTurn()) TakeTurn();
  const int64_t now = NowNs(), longest = visited_ || !timers_.empty() ? now + kLongestSleepNs : INT64_MAX;
  const int64_t until = std::min({limit.at_ns(), NextTimerNs(), longest});
  const int64_t left_ms = until == INT64_MAX ? -1 : std::max<int64_t>(0, (until - now + 999999) / 1000000);
  sleeps_until_ns_ = until;
  const bool sleeps = left_ms != 0 && GiveTurnUp();
  epoll_event events[64];
  const int count = epoll_wait(epoll_.get(), events, 64, sleeps ? static_cast<int>(left_ms) : 0);
  if (sleeps) TakeTurn();
  if (count == 0) visited_ = false;
  for (int i = 0; i < count; ++i)
    if (events[i].data.u64 != kWake) ready(events[i].data.u64, events[i].events);
  RunPosted();
  RunTimers();
}

// What they post is found by whoever gives the turn up.
void EventLoop::RunLast() {
  for (auto& function : std::exchange(last_, {})) function();
}

void EventLoop::RunPosted() {
  std::vector<std::function<void()>> functions;
  {
    LockGuard lock(mutex_);
    functions.swap(posted_);
  }
  for (auto& function : functions) {
    function();
    function = nullptr;  // what it held goes before the next one runs
  }
}

void EventLoop::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first.first <= NowNs()) {
    auto node = timers_.extract(timers_.begin());
    timer_times_.erase(node.key().second);
    node.mapped()();
  }
}

}  // namespace ropeway
