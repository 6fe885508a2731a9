// Who sleeps and who wakes: the lanes' protocol of engine/sched/lanes.cpp and the waiters' of LaneQueue::SleepUntil and
// Advance, as models. A futex wait is one step that compares and sleeps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

// Lanes with a list each, up to two pushers with one queue each, which goes to any list, lanes that make queues ready while they run, and
// perhaps somebody who calls for help with shared work. Which of the lingering lanes is the scout makes no difference here: each may see
// any list, or see nothing and go to sleep.
struct LanesModel {
  static constexpr int kLanes = 3;
  static constexpr int kPushers = 2;
  static constexpr int kHelpCaller = kLanes + kPushers;
  static constexpr int kThreads = kHelpCaller + 1;
  static constexpr uint8_t kNowhere = 0xFF;
  enum Call : uint8_t { kNoCall, kToHelp, kToLookAround };

  enum Place : uint8_t {
    kPopLook,  // lanes start here
    kPop,
    kRunning,  // a task runs; it may run for ever
    kFlagIn,
    kLingerIn,
    kLingering,
    kLingerOut,
    kFlagOut,
    kTake,     // LookAround: from there
    kLookAll,  // and is there more, list by list
    kSleepIn,
    kSleepLook,  // list by list
    kSleepCancel,
    kWait,
    kAsleep,
    kCalled,
    kPush,  // pushers start here
    kPushedLook,
    kCallLinger,  // CallOne
    kCallAsleep,
    kCallClaim,
    kWakeTake,  // Wake, also the start of the one who calls for help
    kWakeCall,
    kWakeFutex,
    kCallGiveBack,
    kEnd,
  };

  struct State {
    uint8_t listed[kLanes] = {};
    uint8_t flag[kLanes] = {};  // lingering, of each
    uint8_t lingering = 0;
    uint8_t asleep = 0;
    uint8_t coming = 0;
    uint8_t call[kLanes] = {};
    uint8_t ran = 0;
    uint8_t made = 0;              // by lanes that run
    uint8_t holds[kLanes] = {};    // a queue that it has taken
    uint8_t there[kThreads] = {};  // the list, or the lane, that a thread is about
    uint8_t place[kThreads] = {kPopLook, kPopLook, kPopLook, kPush, kPush, kWakeTake};
  };

  int lanes = 2;
  int pushers = kPushers;
  int makes = 0;
  bool help_caller = false;
  // Each is a step, or its place, that a mutant gets wrong.
  bool look_behind_linger = true;
  bool look_behind_asleep = true;
  bool look_at_all_lists = true;
  bool clear_coming_first = true;
  bool ask_again = true;
  bool wait_for_the_call = true;
  bool call_where_nobody_lingers = true;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    if (Absent(thread)) return;
    const uint8_t place = state.place[thread];
    if (place >= kCallLinger && place < kEnd) return NextCall(state, thread, out);
    if (place == kPush || place == kPushedLook) return NextPush(state, thread, out);
    if (place >= kSleepIn) return NextSleep(state, thread, out);
    NextWork(state, thread, out);
  }

  // Work may take for ever, so a lane that sleeps while a queue waits is an error even when another lane is awake and
  // busy: it is enough that nobody is on the way to do something about it.
  std::string Broken(const State& state) const {
    if (!Listed(state)) return "";
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
    if (Listed(state) || state.ran != pushers + state.made) return "work is left and every lane sleeps";
    if (state.asleep != (1 << lanes) - 1 || state.lingering != 0 || state.coming != 0) return "the counts of lanes are wrong";
    return "";
  }

 private:
  using States = std::vector<State>;
  static void Go(State state, int thread, Place place, States& out) {
    // States that differ in leftovers only are one.
    if (place == kPopLook || place == kRunning || place == kEnd || place == kSleepIn) state.there[thread] = 0;
    state.place[thread] = place;
    out.push_back(state);
  }
  static bool IsLane(int thread) { return thread < kLanes; }
  bool Absent(int thread) const {
    if (IsLane(thread)) return thread >= lanes;
    return thread == kHelpCaller ? !help_caller : thread >= kLanes + pushers;
  }
  bool Listed(const State& state) const {
    for (int lane = 0; lane < lanes; ++lane) {
      if (state.listed[lane] != 0) return true;
    }
    return false;
  }
  // Where a thread goes on behind CallOne.
  static Place Home(const State& state, int thread) {
    if (!IsLane(thread)) return kEnd;
    return state.holds[thread] != 0 ? kRunning : kPopLook;
  }

  void NextWork(const State& state, int lane, States& out) const {
    State next = state;
    switch (state.place[lane]) {
      case kPopLook: return Go(next, lane, state.listed[lane] != 0 ? kPop : kFlagIn, out);
      case kPop:
        if (state.listed[lane] == 0) return Go(next, lane, kFlagIn, out);
        --next.listed[lane];
        next.holds[lane] = 1;
        return Go(next, lane, kRunning, out);
      case kRunning:
        if (state.made < makes) {
          ++next.made;
          next.there[lane] = static_cast<uint8_t>(lane);
          next.place[lane] = kPush;
          out.push_back(next);
          next = state;
        }
        ++next.ran;
        next.holds[lane] = 0;
        return Go(next, lane, kPopLook, out);
      case kFlagIn: next.flag[lane] = 1; return Go(next, lane, kLingerIn, out);
      case kLingerIn: ++next.lingering; return Go(next, lane, kLingering, out);
      case kLingering:
        for (int list = 0; list < lanes; ++list) {
          if (state.listed[list] == 0) continue;
          next.there[lane] = static_cast<uint8_t>(list);
          Go(next, lane, kLingerOut, out);
        }
        next.there[lane] = kNowhere;
        return Go(next, lane, kLingerOut, out);
      case kLingerOut: --next.lingering; return Go(next, lane, kFlagOut, out);
      case kFlagOut:
        next.flag[lane] = 0;
        if (state.there[lane] == kNowhere) next.there[lane] = 0;
        return Go(next, lane, state.there[lane] != kNowhere ? kTake : look_behind_asleep ? kSleepIn : kSleepLook, out);
      case kTake:
        if (state.there[lane] != kNowhere && state.listed[state.there[lane]] != 0) {
          --next.listed[state.there[lane]];
          next.holds[lane] = 1;
        }
        next.there[lane] = 0;
        return Go(next, lane, look_behind_linger ? kLookAll : Home(next, lane), out);
      case kLookAll:
        if (state.listed[state.there[lane]] != 0) return Go(next, lane, kCallLinger, out);
        if (++next.there[lane] < lanes) return Go(next, lane, kLookAll, out);
        return Go(next, lane, Home(next, lane), out);
      default: return;
    }
  }

  void NextSleep(const State& state, int lane, States& out) const {
    const auto bit = static_cast<uint8_t>(1 << lane);
    State next = state;
    switch (state.place[lane]) {
      case kSleepIn: next.asleep |= bit; return Go(next, lane, look_behind_asleep ? kSleepLook : kWait, out);
      case kSleepLook:
        if (state.listed[look_at_all_lists ? state.there[lane] : lane] != 0)
          return Go(next, lane, look_behind_asleep ? kSleepCancel : kPopLook, out);
        if (++next.there[lane] < lanes) return Go(next, lane, kSleepLook, out);
        next.there[lane] = 0;
        return Go(next, lane, look_behind_asleep ? kWait : kSleepIn, out);
      case kSleepCancel:
        if ((state.asleep & bit) == 0 && wait_for_the_call) return Go(next, lane, kWait, out);
        next.asleep = static_cast<uint8_t>(state.asleep & ~bit);
        return LookForSome(next, lane, out);
      case kWait: return Go(next, lane, state.call[lane] == kNoCall ? kAsleep : kCalled, out);
      case kCalled:
        if (state.call[lane] == kToLookAround && clear_coming_first) next.coming = 0;
        next.call[lane] = kNoCall;  // nobody looks until the lane is asleep again
        return LookForSome(next, lane, out);
      default: return;  // asleep
    }
  }

  void LookForSome(State state, int lane, States& out) const {
    state.there[lane] = kNowhere;
    for (int list = lanes - 1; list >= 0; --list) {
      if (state.listed[list] != 0) state.there[lane] = static_cast<uint8_t>(list);
    }
    Go(state, lane, kTake, out);
  }

  void NextPush(const State& state, int thread, States& out) const {
    if (state.place[thread] == kPushedLook) {
      const bool sees = state.flag[state.there[thread]] != 0 || !call_where_nobody_lingers;
      return Go(state, thread, sees ? Home(state, thread) : kCallLinger, out);
    }
    for (int list = 0; list < lanes; ++list) {
      if (IsLane(thread) && list != thread) continue;
      State next = state;
      next.there[thread] = static_cast<uint8_t>(list);
      Go(next, thread, next.listed[list]++ == 0 ? kPushedLook : Home(state, thread), out);
      out.back().listed[list] = next.listed[list];
    }
  }

  void NextCall(const State& state, int thread, States& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kCallLinger: next.there[thread] = 0; return Go(next, thread, state.lingering == 0 ? kCallAsleep : Home(state, thread), out);
      case kCallAsleep: return Go(next, thread, state.asleep != 0 ? kCallClaim : Home(state, thread), out);
      case kCallClaim: next.coming = 1; return Go(next, thread, state.coming == 0 ? kWakeTake : Home(state, thread), out);
      case kWakeTake:
        for (int lane = 0; lane < lanes; ++lane) {
          if ((state.asleep >> lane & 1) == 0) continue;
          next.asleep = static_cast<uint8_t>(state.asleep & ~(1 << lane));
          next.there[thread] = static_cast<uint8_t>(lane);
          return Go(next, thread, kWakeCall, out);
        }
        return Go(next, thread, thread == kHelpCaller ? kEnd : kCallGiveBack, out);
      case kWakeCall:
        next.call[state.there[thread]] = thread == kHelpCaller ? kToHelp : kToLookAround;
        return Go(next, thread, kWakeFutex, out);
      case kWakeFutex:
        if (state.place[state.there[thread]] == kAsleep) next.place[state.there[thread]] = kWait;  // it looks whether it was meant
        return Go(next, thread, Home(state, thread), out);
      default: next.coming = 0; return Go(next, thread, ask_again ? kCallLinger : Home(state, thread), out);
    }
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
