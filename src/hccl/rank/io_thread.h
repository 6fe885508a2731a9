// The process's one I/O thread: sleeps in epoll until a socket, a timer or a posted function needs it. Started on first
// use, never ended: it belongs to the process and uses no CPU while nothing happens. A forked child has none (see
// docs/hccl.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ropeway::comm {

class IoThread {
 public:
  using Clock = std::chrono::steady_clock;
  // Never destroyed. Throws std::system_error when the kernel gives no epoll, eventfd or thread.
  static IoThread& Get();

  // Runs `function` on the I/O thread, after everything posted before. Any thread, also the I/O thread itself.
  void Post(std::function<void()> function);
  bool IsCurrent() const { return std::this_thread::get_id() == thread_id_; }

  // The rest is for the I/O thread only.

  // Calls ready(epoll events) whenever `fd` has one of `events` (EPOLLIN, EPOLLOUT). Level-triggered; now and then
  // without cause, when the number of a closed descriptor is used again. False when the kernel takes no more.
  bool Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready);
  void Change(int fd, uint32_t events);
  void Forget(int fd);  // before closing it; safe inside its own function

  using Timer = uint64_t;  // 0: none
  Timer At(Clock::time_point when, std::function<void()> function);
  void Cancel(Timer timer);

 private:
  IoThread();
  void Run();
  int TimeoutMs() const;
  void RunTimers();
  void RunPosted();

  int epoll_ = -1;
  int wake_ = -1;
  std::thread::id thread_id_;

  // Of the I/O thread.
  std::unordered_map<int, std::shared_ptr<std::function<void(uint32_t)>>> watched_;
  std::map<std::pair<Clock::time_point, Timer>, std::function<void()>> timers_;
  std::unordered_map<Timer, Clock::time_point> timer_times_;
  Timer last_timer_ = 0;

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace ropeway::comm
