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
// How long it leaves its descriptors to visitors who look; longer and longer while they go on, as every look after them costs a core that
// one of them may need. What comes when they have stopped waits so long at most, once.
constexpr int64_t kParkNs = 200'000;
constexpr int64_t kLongestParkNs = 2'000'000;
// How often visitors take what its sleep at the descriptors was broken for before it is called away.
constexpr int kTakenBeside = 4;
constexpr int kRoundsOfLast = 3;
constexpr int kLooksAtOnce = 16;
// How long a visitor waits for more before it does what has time.
constexpr int64_t kLazyNs = 20'000;

}  // namespace

// The counter of wake_ is never read: every write is an event of its own.
EventLoop::EventLoop()
    : epoll_(FileDescriptor::Make([] { return epoll_create1(EPOLL_CLOEXEC); })),
      wake_(FileDescriptor::Make([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  if (!epoll_ || !wake_ || !Watch(wake_.get(), EPOLLIN | EPOLLET, kWake))
    throw std::system_error(errno, std::generic_category(), "an event loop's epoll or eventfd");
}

bool EventLoop::Unpark() {
  LockGuard lock(mutex_);
  const bool parked = std::exchange(parked_, false);
  if (parked) unpark_.notify_one();
  return parked;
}

// The kernel wakes a thread at its descriptors for everything that comes; it finds that a visitor has it, and sleeps on there. Once called,
// it parks.
void EventLoop::CallAway() {
  LockGuard lock(mutex_);
  if (parked_) return;
  lock.unlock();
  WakeAtDescriptors();
}

void EventLoop::Wake() {
  if (!Unpark()) WakeAtDescriptors();
}

void EventLoop::WakeAtDescriptors() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void EventLoop::Post(std::function<void()> function) {
  bool asleep;
  {
    LockGuard lock(mutex_);
    posted_.push_back(std::move(function));
    // Else somebody is going to look, or the first one woke it.
    asleep = (turn_.fetch_or(kPosted, std::memory_order_acq_rel) & (kTaken | kPosted)) == 0;
  }
  if (asleep) Wake();
}

bool EventLoop::TryTurn(uint32_t unless) {
  uint32_t before = turn_.load(std::memory_order_relaxed);
  do {
    if ((before & (kTaken | unless)) != 0) return false;
  } while (!turn_.compare_exchange_weak(before, before | kTaken, std::memory_order_acquire, std::memory_order_relaxed));
  return true;
}

void EventLoop::LeaveTurn(bool wake) {
  uint32_t before = kTaken;
  if (!turn_.compare_exchange_strong(before, 0, std::memory_order_release, std::memory_order_relaxed)) {
    LockGuard lock(mutex_);  // whoever wants it sleeps, or does not yet look
    before = turn_.fetch_and(~uint32_t{kTaken}, std::memory_order_release);
  }
  if ((before & kWanted) != 0)
    free_.notify_one();
  else if (wake || (before & kPosted) != 0)
    Wake();
}

bool EventLoop::Visit(const std::function<void()>& function) {
  if (!TryTurn(kPosted)) return false;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  visited_ = visiting_ = true;
  function();
  RunLast();
  visiting_ = false;
  owner_.store({}, std::memory_order_relaxed);
  LeaveTurn(NextTimerNs() < sleeps_until_ns_ || !NothingBehind());
  return true;
}

int EventLoop::Look(const Guess& guess, const ReadyHere& ready) {
  int taken = 0, left = 0;
  bool in_vain = false;
  const auto take = [&](const epoll_event& event) {
    const bool mine = event.data.u64 != kWake && ready(event.data.u64, event.events);
    (mine ? taken : left) += 1;
  };
  const auto ask = [&] {
    epoll_event events[16];
    const int count = epoll_wait(epoll_.get(), events, 16, 0);
    for (int i = 0; i < count; ++i) take(events[i]);
    return count;
  };
  // Also of one who cannot: the loop's thread leaves the rest to him then, instead of sharing a core with one who waits for it.
  looked_at_ns_.store(NowNs(), std::memory_order_relaxed);
  const auto look = [&] {
    int64_t more_until_ns = 0;
    const int guessed = guess();
    if (guessed != kAsk) taken = guessed;
    int count = guessed;
    for (int round = 0; round < kLooksAtOnce && left == 0; count = kAsk) {
      if (count == kAsk) count = ask();
      // What is to be sent behind all of this goes along with what the next one has to say, if that is here; what has time waits for it.
      if (lazy_.empty() ? count <= 0 || last_.empty() : count <= 0 && NowNs() >= more_until_ns) break;
      if (count > 0) more_until_ns = NowNs() + kLazyNs, ++round;
    }
    in_vain = taken > 0 && ++taken_beside_ == kTakenBeside;
  };
  const bool looked = Visit(std::ref(look));
  if (left > 0) Unpark();
  if (in_vain) CallAway();
  return looked ? taken : -1;
}

void EventLoop::StopLooking() {
  looked_at_ns_.store(NowNs() - kParkNs, std::memory_order_relaxed);
  Unpark();
}

bool EventLoop::LookedLately() const { return NowNs() - looked_at_ns_.load(std::memory_order_relaxed) < kParkNs; }

// For as long as visitors look.
void EventLoop::Park(int64_t until_ns) {
  LockGuard lock(mutex_);
  parked_ = posted_.empty();
  int64_t pause_ns = kParkNs;
  for (int64_t now = NowNs(); parked_ && now < until_ns && LookedLately(); now = NowNs()) {
    const Condition::Time when{std::chrono::nanoseconds(std::min(until_ns, now + pause_ns))};
    unpark_.wait_until(mutex_, when, [this]() RW_REQUIRES(mutex_) { return !parked_; });
    pause_ns = std::min(2 * pause_ns, kLongestParkNs);
  }
  parked_ = false;
}

// A visitor is gone in a moment, as a rule: the answer to what it sends may be faster than its way out.
void EventLoop::TakeTurn() {
  constexpr int kYields = 100;
  for (int i = 0; i < kYields && (turn_.load(std::memory_order_relaxed) & kTaken) != 0; ++i) sched_yield();
  {
    LockGuard lock(mutex_);
    turn_.fetch_or(kWanted, std::memory_order_relaxed);
    while (!TryTurn(0)) free_.wait(mutex_);
    turn_.fetch_and(~uint32_t{kWanted}, std::memory_order_relaxed);
  }
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool EventLoop::GiveTurnUp() {
  if ((turn_.load(std::memory_order_relaxed) & kPosted) == 0) RunLast();
  if (!NothingBehind()) return false;
  owner_.store({}, std::memory_order_relaxed);
  uint32_t before = kTaken;
  if (turn_.compare_exchange_strong(before, 0, std::memory_order_release, std::memory_order_relaxed)) return true;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return false;
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
  if (when.never()) return {};
  const Timer timer{when.at_ns(), ++last_timer_};
  timers_.emplace(timer, std::move(function));
  return timer;
}

void EventLoop::Cancel(Timer timer) { timers_.erase(timer); }

void EventLoop::Turn(const Ready& ready, Deadline limit) {
  if (!HasTurn()) TakeTurn();
  taken_beside_ = 0;
  const int64_t now = NowNs(), longest = visited_ || !timers_.empty() ? now + kLongestSleepNs : INT64_MAX;
  const int64_t until = std::min({limit.at_ns(), NextTimerNs(), longest});
  const int64_t left_ms = until == INT64_MAX ? -1 : std::max<int64_t>(0, (until - now + 999999) / 1000000);
  sleeps_until_ns_ = until;
  const bool sleeps = left_ms != 0 && GiveTurnUp();
  const bool parks = sleeps && LookedLately();
  if (parks) Park(until);
  epoll_event events[64];
  const int count = epoll_wait(epoll_.get(), events, 64, sleeps && !parks ? static_cast<int>(left_ms) : 0);
  if (sleeps) TakeTurn();
  if (count == 0 && !parks) visited_ = false;
  for (int i = 0; i < count; ++i)
    if (events[i].data.u64 != kWake) ready(events[i].data.u64, events[i].events);
  RunPosted();
  RunTimers();
}

// What they post is found by whoever gives the turn up. Some of them have something behind them, such as a message that another one sends;
// what goes on for ever does so turn by turn.
void EventLoop::RunLast() {
  for (int round = 0; round < kRoundsOfLast && !NothingBehind(); ++round) {
    for (auto& function : std::exchange(lazy_, {})) last_.push_back(std::move(function));
    running_last_.swap(last_);  // which keeps the room that it has
    for (auto& function : running_last_) {
      RunSoon();
      function();
    }
    running_last_.clear();
    RunSoon();
  }
}

void EventLoop::RunSoon() {
  while (!soon_.empty()) {
    const std::function<void()> function = std::move(soon_.front());
    soon_.pop_front();
    function();
  }
}

void EventLoop::RunPosted() {
  std::vector<std::function<void()>> functions;
  {
    LockGuard lock(mutex_);
    functions.swap(posted_);
    turn_.fetch_and(~uint32_t{kPosted}, std::memory_order_relaxed);
  }
  for (auto& function : functions) {
    function();
    function = nullptr;  // what it held goes before the next one runs
  }
}

void EventLoop::RunTimers() {
  while (!timers_.empty() && timers_.begin()->first.at_ns <= NowNs()) {
    auto node = timers_.extract(timers_.begin());
    node.mapped()();
  }
}

}  // namespace ropeway
