#include "base/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ropeway {

EventLoop::EventLoop()
    : epoll_(FileDescriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); })),
      wake_(FileDescriptor::Make([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  if (!epoll_ || !wake_ || !Watch(wake_.get(), EPOLLIN, kWake))
    throw std::system_error(errno, std::generic_category(), "an event loop's epoll or eventfd");
}

void EventLoop::Post(std::function<void()> function) {
  bool first;
  {
    LockGuard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(function));
  }
  if (!first) return;  // found by the wake-up of the first
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
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
  const int64_t until = std::min(limit.at_ns(), timers_.empty() ? INT64_MAX : timers_.begin()->first.first);
  const int64_t left_ms = until == INT64_MAX ? -1 : std::clamp<int64_t>((until - NowNs() + 999999) / 1000000, 0, 60'000);
  epoll_event events[64];
  const int count = epoll_wait(epoll_.get(), events, 64, static_cast<int>(left_ms));
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u64 != kWake) {
      ready(events[i].data.u64, events[i].events);
      continue;
    }
    uint64_t ignored;
    [[maybe_unused]] const ssize_t got = read(wake_.get(), &ignored, sizeof ignored);
    RunPosted();
  }
  RunTimers();
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
