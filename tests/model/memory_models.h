// Three smaller protocols as models: lookups of registered memory while the array grows (memory/registrations.cpp), aborts that meet on
// one queue (the mark up to which tasks are dropped, LaneQueue::Abort), and synchronous operations and those who free (stream/fence.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

// A writer replaces an array of two entries by one of four and adds a third entry; a reader looks for the first entry,
// which is registered all the time.
struct RegistrationsModel {
  static constexpr int kThreads = 2;
  enum Thread { kWriter, kReader };
  static constexpr uint8_t kOldCapacity = 2;

  enum Place : uint8_t {
    kWriteBegin,
    kZeroCount,
    kSwitchArray,
    kFill,
    kSetCount,
    kWriteEnd,
    kAnyAtAll,
    kReadVersion,
    kReadFirst,
    kReadSecond,
    kLook,
    kReadAgain,
    kEnd,
  };
  struct State {
    uint8_t version = 0, count = 2, array = 0;
    uint8_t filled = 0;  // the new array has its entries
    uint8_t place[kThreads] = {kWriteBegin, kAnyAtAll};
    uint8_t seen_version = 0, seen_array = 0, seen_count = 0;
    uint8_t found = 0, missed = 0, overrun = 0;
  };

  bool count_before_array = true;  // the reader's order
  bool zero_count = false;         // the writer empties the set while it switches

  void Next(const State& state, int thread, std::vector<State>& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kWriteBegin: ++next.version; return Go(next, thread, zero_count ? kZeroCount : kSwitchArray, out);
      case kZeroCount: next.count = 0; return Go(next, thread, kSwitchArray, out);
      case kSwitchArray: next.array = 1; return Go(next, thread, kFill, out);
      case kFill: next.filled = 1; return Go(next, thread, kSetCount, out);
      case kSetCount: next.count = 3; return Go(next, thread, kWriteEnd, out);
      case kWriteEnd: ++next.version; return Go(next, thread, kEnd, out);
      case kAnyAtAll: next.missed |= state.count == 0; return Go(next, thread, state.count == 0 ? kEnd : kReadVersion, out);
      case kReadVersion: next.seen_version = state.version; return Go(next, thread, kReadFirst, out);
      case kReadFirst: Read(state, next, count_before_array); return Go(next, thread, kReadSecond, out);
      case kReadSecond: Read(state, next, !count_before_array); return Go(next, thread, kLook, out);
      case kLook:
        next.overrun |= state.seen_array == 0 && state.seen_count > kOldCapacity;
        next.found = state.seen_count > 0 && (state.seen_array == 0 || state.filled != 0);
        return Go(next, thread, kReadAgain, out);
      case kReadAgain:
        if (state.seen_version % 2 != 0 || state.version != state.seen_version) return Go(next, thread, kReadVersion, out);
        next.missed |= state.found == 0;
        return Go(next, thread, kEnd, out);
      default: return;
    }
  }

  std::string Broken(const State& state) const {
    return state.overrun != 0  ? "the reader looks behind the end of its array"
           : state.missed != 0 ? "the reader misses what is registered"
                               : "";
  }
  std::string BrokenAtRest(const State& state) const { return state.place[kReader] == kEnd ? "" : "the reader hangs"; }

 private:
  static void Read(const State& state, State& next, bool the_count) {
    (the_count ? next.seen_count : next.seen_array) = the_count ? state.count : state.array;
  }
  static void Go(State state, int thread, Place place, std::vector<State>& out) {
    state.place[thread] = place;
    out.push_back(state);
  }
};

// Two aborts and a submitter in between. Each abort must find everything marked that was submitted when it began.
struct AbortMarkModel {
  static constexpr int kThreads = 3;
  static constexpr int kSubmitter = 2;
  enum Place : uint8_t { kStart, kLoaded, kStore, kEnd };
  struct State {
    uint8_t submitted = 1, drop_up_to = 0;
    uint8_t place[kThreads] = {};
    uint8_t last[2] = {}, seen[2] = {};
  };
  bool keep_the_larger = true;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    State next = state;
    if (thread == kSubmitter) {
      if (state.place[thread] == kEnd) return;
      ++next.submitted;
      return Go(next, thread, kEnd, out);
    }
    switch (state.place[thread]) {
      case kStart: next.last[thread] = state.submitted; return Go(next, thread, kLoaded, out);
      case kLoaded:
        next.seen[thread] = state.drop_up_to;
        return Go(next, thread, state.drop_up_to < state.last[thread] ? kStore : kEnd, out);
      case kStore:
        if (keep_the_larger && state.drop_up_to != state.seen[thread]) return Go(next, thread, kLoaded, out);
        next.drop_up_to = state.last[thread];
        return Go(next, thread, kEnd, out);
      default: return;
    }
  }
  std::string Broken(const State& state) const {
    for (int abort = 0; abort < 2; ++abort) {
      if (state.place[abort] == kEnd && state.drop_up_to < state.last[abort]) return "an abort waits for tasks that nobody drops";
    }
    return "";
  }
  std::string BrokenAtRest(const State&) const { return ""; }

 private:
  static void Go(State state, int thread, Place place, std::vector<State>& out) {
    state.place[thread] = place;
    out.push_back(state);
  }
};

// Two threads with synchronous operations, the first with two of them, a thread that takes a block away and frees it when nobody can be
// inside any more, and another one that moves the epoch on. An operation that found the block uses it until it ends.
struct OperationsModel {
  static constexpr int kOperations = 2;
  static constexpr int kFreer = 2;
  static constexpr int kThreads = 4;
  static constexpr uint8_t kFirstEpoch = 2;
  static constexpr uint8_t kLastEpoch = 4;
  enum Place : uint8_t {
    kReadEpoch,
    kAnnounce,
    kCheckEpoch,
    kLookUp,
    kUse,
    kLeave,
    kTakeAway,  // the freer
    kAnybody,   // place by place
    kOpen,
    kAdvance,  // the freer, and the other one
    kLook,     // place by place
    kMove,
    kEnd,
  };
  struct State {
    uint8_t epoch = kFirstEpoch;
    uint8_t since[kOperations] = {};
    uint8_t there = 1;  // can be found
    uint8_t freed = 0;
    uint8_t opened = 0;  // the epoch that the freer saw
    uint8_t rounds[kOperations] = {};
    uint8_t seen[kThreads] = {};    // an epoch
    uint8_t looked[kThreads] = {};  // at so many places
    uint8_t place[kThreads] = {kReadEpoch, kReadEpoch, kTakeAway, kAdvance};
  };
  // Each is a step that a mutant gets wrong.
  bool announce_first = true;
  bool leave_behind_use = true;
  bool look_before_move = true;
  bool move_from_what_was_seen = true;
  uint8_t moves = 2;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    thread < kOperations ? NextOperation(state, thread, out) : NextEpoch(state, thread, out);
  }
  std::string Broken(const State& state) const {
    for (int thread = 0; thread < kOperations; ++thread) {
      if (state.place[thread] == kUse && state.freed != 0) return "an operation uses what is freed";
    }
    return "";
  }
  std::string BrokenAtRest(const State& state) const { return state.freed != 0 ? "" : "nobody is inside, and the block is not freed"; }

 private:
  using States = std::vector<State>;
  static void Go(State state, int thread, Place place, States& out) {
    // States that differ in leftovers only are one.
    if (place == kReadEpoch || place == kUse || place == kLeave || place == kEnd) state.seen[thread] = 0;
    if (place != kAnybody && place != kLook) state.looked[thread] = 0;
    state.place[thread] = place;
    out.push_back(state);
  }

  void NextOperation(const State& state, int thread, States& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kReadEpoch: next.seen[thread] = state.epoch; return Go(next, thread, announce_first ? kAnnounce : kLookUp, out);
      case kAnnounce: next.since[thread] = state.seen[thread]; return Go(next, thread, announce_first ? kCheckEpoch : kUse, out);
      case kCheckEpoch:
        next.seen[thread] = state.epoch;
        return Go(next, thread, state.epoch == state.seen[thread] ? kLookUp : kAnnounce, out);
      case kLookUp:
        if (state.there == 0) return Go(next, thread, kLeave, out);
        return Go(next, thread, announce_first ? kUse : kAnnounce, out);
      case kUse:
        if (!leave_behind_use && state.since[thread] != 0) {
          next.since[thread] = 0;
          return Go(next, thread, kUse, out);
        }
        return Go(next, thread, kLeave, out);
      case kLeave:
        next.since[thread] = 0;
        ++next.rounds[thread];
        return Go(next, thread, next.rounds[thread] == 2 - thread ? kEnd : kReadEpoch, out);
      default: return;
    }
  }

  void NextEpoch(const State& state, int thread, States& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kTakeAway: next.there = 0; return Go(next, thread, kAnybody, out);
      case kAnybody:
        if (state.since[state.looked[thread]] != 0) return Go(next, thread, kOpen, out);
        if (++next.looked[thread] < kOperations) return Go(next, thread, kAnybody, out);
        return Free(next, thread, out);
      case kOpen: next.opened = state.epoch; return Go(next, thread, kAdvance, out);
      case kAdvance:
        if (thread == kFreer && state.epoch >= state.opened + moves) return Free(next, thread, out);
        if (thread != kFreer && state.epoch >= kLastEpoch) return Go(next, thread, kEnd, out);
        next.seen[thread] = state.epoch;
        return Go(next, thread, look_before_move ? kLook : kMove, out);
      case kLook: {
        const uint8_t since = state.since[state.looked[thread]];
        if (since != 0 && since < state.seen[thread]) return Go(next, thread, kAdvance, out);
        ++next.looked[thread];
        return Go(next, thread, next.looked[thread] < kOperations ? kLook : kMove, out);
      }
      case kMove:
        if (!move_from_what_was_seen) ++next.epoch;
        if (move_from_what_was_seen && state.epoch == state.seen[thread]) ++next.epoch;
        return Go(next, thread, kAdvance, out);
      default: return;
    }
  }

  static void Free(State state, int thread, States& out) {
    state.freed = 1;
    Go(state, thread, kEnd, out);
  }
};

}  // namespace ropeway_model
