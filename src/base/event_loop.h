// Sleeps in epoll until a descriptor, a timer or a posted function needs its thread, and uses no CPU until then. Whose thread that is, and
// for how long, its owner says: it calls Turn again and again.
//
// One thread at a time has the turn, and what belongs to the loop belongs to that one: the loop's thread, always but while it sleeps, or a
// visitor, who has something to do that is worth no wake-up. So
//   - what is posted while somebody has the turn needs no wake-up either: nobody gives the turn up without looking (one word, turn_, says
//     whether it is taken and whether something is posted), and a visitor who finds something then wakes the loop's thread;
//   - a visitor takes and leaves the turn by one exchange of that word each, unless it has something to tell: that the loop's thread
//     waits for the turn is in the word, too, and is set, and answered, under the lock with which that thread goes to sleep;
//   - the loop's thread says how long it is going to sleep (sleeps_until_ns_) before it gives the turn up, and a visitor who leaves a
//     timer behind that is earlier wakes it, too.
//
// A visitor may also look whether a descriptor is ready (Look): a thread that waits for news does so itself, again and again, and has them
// sooner than if another one had to be woken first. To wake that one for what the visitor has by then would cost both of them the core, so
// behind a look the loop's thread sleeps beside its descriptors for a moment (kParkNs), until something is posted or due, or a visitor
// finds what is not for him.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <thread>
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
  // Runs `function` at once, on the calling thread, if the loop's own is asleep with nothing to do; else false. What it may hold and where
  // it may be called, the caller knows.
  bool Visit(const std::function<void()>& function);
  // The same for what is ready now: `ready` answers whether that was for a visitor. How many were; -1: it could not look. `guess` comes
  // first, and may know how many there are without asking the kernel; else kAsk.
  static constexpr int kAsk = -1;
  using Guess = std::function<int()>;
  using ReadyHere = std::function<bool(uint64_t name, uint32_t events)>;
  int Look(const Guess& guess, const ReadyHere& ready);
  // Who looked does so no more, and waits for what the loop's thread finds.
  void StopLooking();
  bool HasTurn() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  // Whenever `fd` has one of `events` (EPOLLIN, EPOLLOUT), Turn tells its `name`. Level-triggered; now and then without cause, when the
  // number of a closed descriptor is used again. False with errno when the kernel takes no more.
  bool Watch(int fd, uint32_t events, uint64_t name);
  void Change(int fd, uint32_t events, uint64_t name);
  void Forget(int fd);  // before closing it

  // --- Who has the turn -------------------------------------------------------------------------------------------------
  struct Timer {
    int64_t at_ns = 0;
    uint64_t number = 0;  // 0: none
    explicit operator bool() const { return number != 0; }
    auto operator<=>(const Timer&) const = default;
  };
  Timer At(Deadline when, std::function<void()> function);
  // Runs `function` when there is nothing else to do, before the turn is given up; or before all of those, when what is being done is.
  void Last(std::function<void()> function) { last_.push_back(std::move(function)); }
  void Soon(std::function<void()> function) { soon_.push_back(std::move(function)); }
  // As Last; a visitor who looks waits a moment for more to come, so that it is done once for all of it.
  void Lazily(std::function<void()> function) { lazy_.push_back(std::move(function)); }
  void Cancel(Timer timer);

  // Whether that is a visitor.
  bool IsVisited() const { return visiting_; }

  // --- The loop's thread ------------------------------------------------------------------------------------------------
  // One round: sleeps until something happens or the time has come, then runs what was posted, what is ready and what is due.
  using Ready = std::function<void(uint64_t name, uint32_t events)>;
  void Turn(const Ready& ready, Deadline limit = Deadline::Never());

 private:
  static constexpr uint64_t kWake = UINT64_MAX;  // the name of wake_
  void Wake();
  void WakeAtDescriptors();
  void CallAway();
  void TakeTurn();
  // False: it keeps the turn, since something was posted.
  bool GiveTurnUp();
  // False: somebody has it, or something else that `unless` names is so.
  bool TryTurn(uint32_t unless);
  void LeaveTurn(bool wake);
  bool LookedLately() const;
  // Whether it was parked.
  bool Unpark();
  void Park(int64_t until_ns);
  void RunLast();
  void RunSoon();
  int64_t NextTimerNs() const { return timers_.empty() ? INT64_MAX : timers_.begin()->first.at_ns; }
  void RunPosted();
  void RunTimers();
  bool NothingBehind() const { return soon_.empty() && last_.empty() && lazy_.empty(); }

  FileDescriptor epoll_;
  FileDescriptor wake_;

  // Of who has the turn.
  std::map<Timer, std::function<void()>> timers_;
  uint64_t last_timer_ = 0;
  std::deque<std::function<void()>> soon_;
  std::vector<std::function<void()>> last_, running_last_;
  std::vector<std::function<void()>> lazy_;
  int64_t sleeps_until_ns_ = 0;
  int taken_beside_ = 0;  // by visitors who looked, since the loop's thread had the turn
  bool visiting_ = false;
  bool visited_ = false;  // and visitors bring timers, which come and go: where none is left it does not sleep for ever at once
  std::atomic<int64_t> looked_at_ns_{INT64_MIN / 2};  // when a visitor last looked
  std::atomic<std::thread::id> owner_{};              // who has the turn; others may see anybody but themselves

  enum Turned : uint32_t {
    kTaken = 1,   // somebody has the turn
    kPosted = 2,  // posted_ has something; changes with it
    kWanted = 4,  // by the loop's thread, while a visitor has it
  };
  std::atomic<uint32_t> turn_{0};

  Mutex mutex_{LockRank::kEventLoop};
  Condition free_;  // of the turn
  Condition unpark_;
  bool parked_ RW_GUARDED_BY(mutex_) = false;  // the loop's thread is not at its descriptors
  std::vector<std::function<void()>> posted_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
