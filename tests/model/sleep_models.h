// Who sleeps and who wakes: the lanes' protocol of engine/sched/lanes.cpp and the waiters' of LaneQueue::SleepUntil and
// Advance, as models. A futex wait is one step that compares and sleeps; a wake lets any one sleeper go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

// Two lanes and up to two pushers, each with one queue to push, and perhaps somebody who calls for help with shared work.
struct LanesModel {
  static constexpr int kLanes = 2;
  static constexpr int kPushers = 2;
  static constexpr int kHelpCaller = kLanes + kPushers;
  static constexpr int kThreads = kHelpCaller + 1;

  enum Place : uint8_t {
    kPopLook,  // lanes start here
    kPop,
    kMoreLook,    // popped one: is there more
    kMoreLinger,  // and is nobody lingering
    kRunning,     // a task runs; it may run for ever
    kLingerIn,
    kLingering,
    kLingerOutFound,
    kLingerOutNothing,
    kReadWord,
    kCountIn,
    kClearBefore,
    kLastLook,
    kWait,
    kAsleep,
    kCountOut,
    kClearAfter,
    kPush,  // pushers start here
    kPushedLook,
    kWakeLook,  // WakeOne, also the start of the one who calls for help
    kWakeClaim,
    kWakeWord,
    kWakeFutex,
    kEnd,
  };

  struct State {
    uint8_t listed = 0;
    uint8_t lingering = 0;
    uint8_t sleeping = 0;
    uint8_t word = 0;
    uint8_t under_way = 0;
    uint8_t ran = 0;
    uint8_t place[kThreads] = {kPopLook, kPopLook, kPush, kPush, kWakeLook};
    uint8_t seen_word[kLanes] = {};
  };

  int pushers = kPushers;
  bool help_caller = false;
  bool look_before_wait = true;
  bool count_before_look = true;
  bool clear_before_wait = true;
  bool read_word_first = true;
  bool wake_when_more = true;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    if (Absent(thread)) return;
    switch (state.place[thread]) {
      case kWakeLook:
      case kWakeClaim:
      case kWakeWord:
      case kWakeFutex: return NextWake(state, thread, out);
      case kPush:
      case kPushedLook: return NextPush(state, thread, out);
      case kReadWord:
      case kCountIn:
      case kClearBefore:
      case kLastLook:
      case kWait:
      case kAsleep:
      case kCountOut:
      case kClearAfter: return NextSleep(state, thread, out);
      default: return NextWork(state, thread, out);
    }
  }

  // Work may take for ever, so a lane that sleeps while a queue waits is an error even when another lane is awake and
  // busy: it is enough that nobody is on the way to do something about it.
  std::string Broken(const State& state) const {
    if (state.listed == 0) return "";
    bool somebody_sleeps = false;
    for (int thread = 0; thread < kThreads; ++thread) {
      if (Absent(thread)) continue;
      const uint8_t place = state.place[thread];
      somebody_sleeps |= place == kAsleep;
      if (place != kAsleep && place != kRunning && place != kEnd) return "";
    }
    return somebody_sleeps ? "a queue waits, a lane sleeps, and nobody is on the way" : "";
  }

  std::string BrokenAtRest(const State& state) const {
    if (state.listed != 0 || state.ran != pushers) return "work is left and every lane sleeps";
    if (state.sleeping != kLanes || state.lingering != 0) return "the counts of lanes are wrong";
    return "";
  }

 private:
  using States = std::vector<State>;
  static void Go(State state, int thread, Place place, States& out) {
    state.place[thread] = place;
    out.push_back(state);
  }
  static bool IsLane(int thread) { return thread < kLanes; }
  bool Absent(int thread) const { return thread == kHelpCaller ? !help_caller : thread >= kLanes + pushers; }

  void NextWork(const State& state, int lane, States& out) const {
    State next = state;
    switch (state.place[lane]) {
      case kPopLook: return Go(next, lane, state.listed != 0 ? kPop : kLingerIn, out);
      case kPop:
        if (state.listed == 0) return Go(next, lane, kLingerIn, out);
        --next.listed;
        return Go(next, lane, wake_when_more ? kMoreLook : kRunning, out);
      case kMoreLook: return Go(next, lane, state.listed != 0 ? kMoreLinger : kRunning, out);
      case kMoreLinger: return Go(next, lane, state.lingering == 0 ? kWakeLook : kRunning, out);
      case kRunning: ++next.ran; return Go(next, lane, kPopLook, out);
      case kLingerIn: ++next.lingering; return Go(next, lane, kLingering, out);
      case kLingering: return Go(next, lane, state.listed != 0 ? kLingerOutFound : kLingerOutNothing, out);
      case kLingerOutFound:
      case kLingerOutNothing:
        --next.lingering;
        return Go(next, lane, state.place[lane] == kLingerOutFound ? kPopLook : read_word_first ? kReadWord : kCountIn, out);
      default: return;
    }
  }

  void NextSleep(const State& state, int lane, States& out) const {
    State next = state;
    switch (state.place[lane]) {
      case kReadWord:
        next.seen_word[lane] = state.word;
        return Go(next, lane, read_word_first ? (count_before_look ? kCountIn : kLastLook) : kWait, out);
      case kCountIn: ++next.sleeping; return Go(next, lane, clear_before_wait ? kClearBefore : count_before_look ? kLastLook : kWait, out);
      case kClearBefore: next.under_way = 0; return Go(next, lane, count_before_look ? kLastLook : kWait, out);
      case kLastLook:
        if (look_before_wait && state.listed != 0) return Go(next, lane, count_before_look ? kCountOut : kPopLook, out);
        return Go(next, lane, !count_before_look ? kCountIn : read_word_first ? kWait : kReadWord, out);
      case kWait: return Go(next, lane, state.word == state.seen_word[lane] ? kAsleep : kCountOut, out);
      case kCountOut:
        --next.sleeping;
        next.seen_word[lane] = 0;  // states that differ in leftovers only are one
        return Go(next, lane, kClearAfter, out);
      case kClearAfter: next.under_way = 0; return Go(next, lane, kPopLook, out);
      default: return;  // asleep
    }
  }

  void NextPush(const State& state, int pusher, States& out) const {
    State next = state;
    if (state.place[pusher] == kPush) {
      ++next.listed;
      return Go(next, pusher, kPushedLook, out);
    }
    Go(next, pusher, state.lingering == 0 ? kWakeLook : kEnd, out);
  }

  void NextWake(const State& state, int thread, States& out) const {
    const Place home = IsLane(thread) ? kRunning : kEnd;
    State next = state;
    switch (state.place[thread]) {
      case kWakeLook: return Go(next, thread, state.sleeping == 0 ? home : kWakeClaim, out);
      case kWakeClaim: next.under_way = 1; return Go(next, thread, state.under_way != 0 ? home : kWakeWord, out);
      case kWakeWord: ++next.word; return Go(next, thread, kWakeFutex, out);
      default: break;
    }
    bool woke = false;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (state.place[lane] != kAsleep) continue;
      woke = true;
      State chosen = state;
      chosen.place[lane] = kCountOut;
      Go(chosen, thread, home, out);
    }
    if (!woke) Go(next, thread, home, out);
  }
};

// An owner that completes three tasks, and waiters for the second and the third; `aborter` lets every waiter go.
struct WaitersModel {
  static constexpr int kWaiters = 2;
  static constexpr int kOwner = 2;
  static constexpr int kAborter = 3;
  static constexpr int kThreads = 4;
  static constexpr uint8_t kTasks = 3;
  static constexpr uint8_t kNever = 0xFF;

  enum Place : uint8_t {
    kLook,  // waiters: is it done, was it aborted
    kReadProgress,
    kReadWakeAt,
    kSwapWakeAt,
    kLastLook,
    kWait,
    kAsleep,
    kComplete,  // the owner
    kReadWaiters,
    kTakeWaiters,
    kBump,
    kWakeAll,
    kAbortCount,  // the aborter
    kAbortBump,
    kAbortWake,
    kEnd,
  };

  struct State {
    uint8_t completed = 0;
    uint8_t wake_at = kNever;
    uint8_t progress = 0;
    uint8_t aborts = 0;
    uint8_t place[kThreads] = {kLook, kLook, kComplete, kAbortCount};
    uint8_t seen_progress[kWaiters] = {};
    uint8_t seen_wake_at[kWaiters] = {};
  };

  bool aborter = false;
  uint8_t owner_completes = kTasks;  // fewer: the rest never comes
  bool read_progress_first = true;
  bool register_before_look = true;
  bool complete_before_look = true;
  bool abort_bumps = true;

  static uint8_t Wanted(int waiter) { return static_cast<uint8_t>(waiter + 2); }

  void Next(const State& state, int thread, std::vector<State>& out) const {
    if (thread < kWaiters) return NextWaiter(state, thread, out);
    if (thread == kOwner) return NextOwner(state, out);
    if (aborter) NextAborter(state, out);
  }

  std::string Broken(const State&) const { return ""; }
  std::string BrokenAtRest(const State& state) const {
    for (int waiter = 0; waiter < kWaiters; ++waiter) {
      const bool may_go = state.completed >= Wanted(waiter) || (aborter && owner_completes == kTasks);
      if (may_go && state.place[waiter] != kEnd) return "a waiter sleeps for what is done";
    }
    return "";
  }

 private:
  using States = std::vector<State>;
  static void Go(State state, int thread, Place place, States& out) {
    state.place[thread] = place;
    out.push_back(state);
  }

  void NextWaiter(const State& state, int waiter, States& out) const {
    State next = state;
    switch (state.place[waiter]) {
      case kLook:
        if (state.completed >= Wanted(waiter) || state.aborts != 0) return Go(next, waiter, kEnd, out);
        return Go(next, waiter, read_progress_first ? kReadProgress : kReadWakeAt, out);
      case kReadProgress:
        next.seen_progress[waiter] = state.progress;
        return Go(next, waiter, !read_progress_first ? kWait : register_before_look ? kReadWakeAt : kLastLook, out);
      case kReadWakeAt:
        next.seen_wake_at[waiter] = state.wake_at;
        if (state.wake_at > Wanted(waiter)) return Go(next, waiter, kSwapWakeAt, out);
        return Go(next, waiter, register_before_look ? kLastLook : kWait, out);
      case kSwapWakeAt:
        if (state.wake_at != state.seen_wake_at[waiter]) return Go(next, waiter, kReadWakeAt, out);
        next.wake_at = Wanted(waiter);
        return Go(next, waiter, register_before_look ? kLastLook : kWait, out);
      case kLastLook:
        if (state.completed >= Wanted(waiter)) return Go(next, waiter, kLook, out);
        return Go(next, waiter, !register_before_look ? kReadWakeAt : read_progress_first ? kWait : kReadProgress, out);
      case kWait: return Go(next, waiter, state.progress == state.seen_progress[waiter] ? kAsleep : kLook, out);
      default: return;
    }
  }

  void NextOwner(const State& state, States& out) const {
    State next = state;
    switch (state.place[kOwner]) {
      case kComplete:
        if (state.completed == owner_completes) return Go(next, kOwner, kEnd, out);
        if (!complete_before_look) return Go(next, kOwner, state.completed + 1 >= state.wake_at ? kTakeWaiters : kReadWaiters, out);
        ++next.completed;
        return Go(next, kOwner, kReadWaiters, out);
      case kReadWaiters:
        if (!complete_before_look) {
          ++next.completed;
          return Go(next, kOwner, kComplete, out);
        }
        return Go(next, kOwner, state.completed >= state.wake_at ? kTakeWaiters : kComplete, out);
      case kTakeWaiters:
        next.wake_at = kNever;
        if (!complete_before_look) ++next.completed;
        return Go(next, kOwner, kBump, out);
      case kBump: ++next.progress; return Go(next, kOwner, kWakeAll, out);
      case kWakeAll: WakeEverybody(next); return Go(next, kOwner, kComplete, out);
      default: return;
    }
  }

  static void WakeEverybody(State& state) {
    for (int waiter = 0; waiter < kWaiters; ++waiter) {
      if (state.place[waiter] == kAsleep) state.place[waiter] = kLook;
    }
  }

  void NextAborter(const State& state, States& out) const {
    State next = state;
    switch (state.place[kAborter]) {
      case kAbortCount: ++next.aborts; return Go(next, kAborter, abort_bumps ? kAbortBump : kAbortWake, out);
      case kAbortBump: ++next.progress; return Go(next, kAborter, kAbortWake, out);
      case kAbortWake: WakeEverybody(next); return Go(next, kAborter, kEnd, out);
      default: return;
    }
  }
};

}  // namespace ropeway_model
