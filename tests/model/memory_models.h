// Two smaller protocols as models: lookups of registered memory while the array grows (memory/registrations.cpp), and
// aborts that meet on one queue (the mark up to which tasks are dropped, LaneQueue::Abort).
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

}  // namespace ropeway_model
