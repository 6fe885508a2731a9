// A thread that serves descriptors. Started on first use, never ended: it belongs to the process and uses no CPU while nothing happens. A
// process has one for everything that ranks say to each other, the I/O thread, and one for the bytes that they move
// (link/connected_peer.h). A forked child has none (see docs/hccl.md).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/event_loop.h"

namespace ropeway::comm {

class IoThread {
 public:
  // The I/O thread.
  static IoThread& Get();
  // Never destroyed. Throws std::system_error when the kernel gives no epoll, eventfd or thread.
  explicit IoThread(const char* name);

  // Runs `function` on the thread, after everything posted before. Any thread, also this one itself.
  void Post(std::function<void()> function) { loop_.Post(std::move(function)); }
  // The same, or at once on the calling thread while this one sleeps: for what is short and does not care where it runs, so nothing that
  // uses a context of the runtime. Nobody else is at work here meanwhile (event_loop.h).
  template <typename Function>
  void Run(Function function) {
    if (IsCurrent()) return loop_.Soon(std::move(function));
    if (!loop_.Visit(std::ref(function))) loop_.Post(std::move(function));
  }
  // At once on the calling thread, or not at all: while this one is at work, or is the caller.
  bool Try(const std::function<void()>& function) { return !IsCurrent() && loop_.Visit(function); }
  // Takes what has come, for a thread that waits for it, if this one is asleep: of those descriptors that visitors may serve. Whether there
  // was any.
  bool Look();
  void StopLooking() { loop_.StopLooking(); }
  // Whether the calling thread is this one, or stands in for it.
  bool IsCurrent() const { return loop_.HasTurn(); }
  bool IsVisited() const { return loop_.IsVisited(); }  // for those: whether it stands in

  // The rest is for those of whom that is true.

  // Calls ready(events) whenever `fd` has one of `events`, as EventLoop does: with `look`, also on the thread of who looks. That takes what
  // has come, as ready does, and answers whether there was something. False when the kernel takes no more.
  bool Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready, std::function<bool()> look = nullptr);
  void Change(int fd, uint32_t events) { loop_.Change(fd, events, Name(fd)); }
  void Forget(int fd);  // before closing it; safe inside its own function

  using Timer = EventLoop::Timer;
  Timer At(Deadline when, std::function<void()> function) { return loop_.At(when, std::move(function)); }
  void Cancel(Timer timer) { loop_.Cancel(timer); }
  void Last(std::function<void()> function) { loop_.Last(std::move(function)); }
  void Lazily(std::function<void()> function) { loop_.Lazily(std::move(function)); }
  // Of a visitor who comes to something that is the thread's own to do: `function` is posted, and so is all that belongs behind it.
  void LeaveToThread(std::function<void()> function);
  bool left_to_thread() const { return left_to_thread_; }

 private:
  static uint64_t Name(int fd) { return static_cast<uint64_t>(fd); }
  struct Watched {
    std::function<void(uint32_t)> ready;
    std::function<bool()> look;  // null: nothing for visitors
  };
  using WatchedRef = std::shared_ptr<Watched>;
  // False: it is not for the one who has the turn.
  bool Ready(uint64_t name, uint32_t events);
  // Where something came from the last two times, it will come from again, as a rule: looking there is one call of the kernel instead of
  // two. Now and then everybody has to be asked for.
  int Guess();
  void Came(const WatchedRef& from);

  EventLoop loop_;
  // Of who has the turn.
  std::unordered_map<uint64_t, WatchedRef> watched_;
  WatchedRef last_, usual_;  // to whom visitors were told of something; null where it is always another one
  uint32_t guesses_ = 0;
  bool left_to_thread_ = false;       // until it has begun with that: before, nobody visits
  std::atomic<int> for_visitors_{0};  // of those that are watched
};

}  // namespace ropeway::comm
