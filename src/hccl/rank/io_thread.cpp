#include "hccl/rank/io_thread.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/own_thread.h"

namespace ropeway::comm {

IoThread& IoThread::Get() {
  static IoThread* const io = new IoThread;  // outlives static destructors: its thread never ends
  return *io;
}

IoThread::IoThread() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || wake_ < 0)
    throw std::system_error(errno, std::generic_category(), "the I/O thread's epoll or eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  std::unique_lock lock(mutex_);  // the thread begins with what was posted: thread_id_ is set by then
  std::thread thread([this] { Run(); });
  thread_id_ = thread.get_id();
  thread.detach();
}

void IoThread::Post(std::function<void()> function) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(function));
  }
  // Later ones are found by the wake-up of the first.
  if (first) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }
}

bool IoThread::Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready) {
  watched_[fd] = std::make_shared<std::function<void(uint32_t)>>(std::move(ready));
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) return true;
  watched_.erase(fd);
  return false;
}

void IoThread::Change(int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void IoThread::Forget(int fd) {
  watched_.erase(fd);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

IoThread::Timer IoThread::At(Clock::time_point when, std::function<void()> function) {
  if (when == Clock::time_point::max()) return 0;
  const Timer timer = ++last_timer_;
  timers_.emplace(std::pair(when, timer), std::move(function));
  timer_times_.emplace(timer, when);
  return timer;
}

void IoThread::Cancel(Timer timer) {
  auto found = timer_times_.find(timer);
  if (found == timer_times_.end()) return;
  timers_.erase(std::pair(found->second, timer));
  timer_times_.erase(found);
}

int IoThread::TimeoutMs() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void IoThread::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
    auto node = timers_.extract(timers_.begin());
    timer_times_.erase(node.key().second);
    node.mapped()();
  }
}

void IoThread::RunPosted() {
  std::vector<std::function<void()>> functions;
  {
    std::lock_guard lock(mutex_);
    functions.swap(posted_);
  }
  for (auto& function : functions) {
    function();
    function = nullptr;  // what it held goes before the next one runs
  }
}

void IoThread::Run() {
  { std::lock_guard lock(mutex_); }
  const OwnThread self("rw-hccl-io");
  epoll_event events[64];
  for (;;) {
    const int count = epoll_wait(epoll_, events, 64, TimeoutMs());
    for (int i = 0; i < count; ++i) {
      const int fd = events[i].data.fd;
      if (fd == wake_) {
        uint64_t ignored;
        [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
        RunPosted();
        continue;
      }
      auto found = watched_.find(fd);
      if (found == watched_.end()) continue;  // forgotten by an earlier one of this round
      const auto ready = found->second;       // it may forget itself
      (*ready)(events[i].events);
    }
    RunTimers();
  }
}

}  // namespace ropeway::comm
