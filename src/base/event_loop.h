// Sleeps in epoll until a descriptor, a timer or a posted function needs its thread, and uses no CPU until then. Whose thread that is, and
// for how long, its owner says: it calls Turn again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/mutex.h"

namespace ropeway {

class EventLoop {
 public:
  // Throws std::system_error when the kernel gives no epoll or eventfd.
  EventLoop();

  // --- Any thread -------------------------------------------------------------------------------------------------------
  // Runs `function` on the loop's thread, after everything posted before.
  void Post(std::function<void()> function);
  // Whenever `fd` has one of `events` (EPOLLIN, EPOLLOUT), Turn tells its `name`. Level-triggered; now and then without cause, when the
  // number of a closed descriptor is used again. False with errno when the kernel takes no more.
  bool Watch(int fd, uint32_t events, uint64_t name);
  void Change(int fd, uint32_t events, uint64_t name);
  void Forget(int fd);  // before closing it

  // --- The loop's thread ------------------------------------------------------------------------------------------------
  using Timer = uint64_t;  // 0: none
  Timer At(Deadline when, std::function<void()> function);
  void Cancel(Timer timer);

  // One round: sleeps until something happens or the time has come, then runs what was posted, what is ready and what is due.
  using Ready = std::function<void(uint64_t name, uint32_t events)>;
  void Turn(const Ready& ready, Deadline limit = Deadline::Never());
  // The first of the three, for those who have not slept.
  void RunPosted();

 private:
  static constexpr uint64_t kWake = UINT64_MAX;  // the name of wake_
  void RunTimers();

  FileDescriptor epoll_;
  FileDescriptor wake_;

  // Of the loop's thread.
  std::map<std::pair<int64_t, Timer>, std::function<void()>> timers_;
  std::unordered_map<Timer, int64_t> timer_times_;
  Timer last_timer_ = 0;

  Mutex mutex_{LockRank::kEventLoop};
  std::vector<std::function<void()>> posted_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
