// The state word of engine/sched/queue.cpp as a model: submitter, helping waiter, lane, somebody who opens a gate, and an
// abort. One step per access that another thread can see. Owners share RunOwned, so its steps are shared here, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

struct QueueModel {
  static constexpr int kThreads = 5;
  enum Thread { kSubmitter, kHelper, kLane, kOpener, kAborter };
  enum Word : uint8_t { kIdle, kQueued, kOwned, kBlocked };
  static constexpr uint8_t kMostTasks = 3;
  static constexpr uint8_t kNobody = 0xFF;

  // Where a thread is. kRun... is RunOwned, for whoever owns the queue.
  enum Place : uint8_t {
    kStart,
    kPublished,  // submitter: the task is in the ring, the state word has not been looked at
    kLooked,     // saw an ownable word; the compare-and-swap comes next
    kPush,       // the word is kQueued by us; is there a link already
    kLink,       // no: a run list comes next
    kUnlink,     // lane: taken out of the list
    kRunLook,    // RunOwned: compare executed with submitted
    kRunHead,
    kRunPark,      // the word is kBlocked, the gate comes next
    kRunGiveUp,    // GoIdle: store idle_at
    kRunIdle,      // GoIdle: store kIdle
    kRunAgain,     // GoIdle: the second look
    kRunTakeBack,  // GoIdle: compare-and-swap
    kRunHandOver,  // the share is used up: store kQueued
    kEnd,
  };

  struct State {
    uint8_t word = kIdle;
    uint8_t submitted = 0;
    uint8_t executed = 0;  // of the owner
    uint8_t completed = 0;
    uint8_t drop_up_to = 0;
    uint8_t idle_at = 0;
    uint8_t base = 0;   // of the ring, by the submitter
    uint8_t known = 0;  // what the owner has seen of submitted, and of base with it
    uint8_t known_base = 0;
    uint8_t base_of[kMostTasks] = {};  // as it was when the task was put
    uint8_t linked = 0;
    uint8_t in_list = 0;  // of any lane
    uint8_t gate_open = 0;
    uint8_t parked = 0;
    uint8_t ran[kMostTasks] = {};      // how often each task was run
    uint8_t dropped[kMostTasks] = {};  // or dropped
    uint8_t place[kThreads] = {};
    uint8_t up_to[kThreads] = {};  // of the share
    uint8_t seen[kThreads] = {};   // the word or the number that was loaded
    uint8_t abort_last = kNobody;
  };

  // What takes part, and which step a mutant leaves out.
  uint8_t tasks = kMostTasks;
  bool helper = true, opener = false, aborter = false, inline_runs = true;
  int gate_task = -1;  // this task waits at the gate
  bool second_look = true;
  bool publish_before_look = true;
  bool own_by_swap = true;
  bool unlink_before_look = true;
  bool restart_when_complete = true;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    if (state.place[thread] >= kRunLook && state.place[thread] < kEnd) return NextOwner(state, thread, out);
    if (state.place[thread] == kPush || state.place[thread] == kLink) return NextPush(state, thread, out);
    switch (thread) {
      case kSubmitter: return NextSubmitter(state, out);
      case kHelper: return helper ? NextHelper(state, out) : void();
      case kLane: return NextLane(state, out);
      case kOpener: return opener ? NextOpener(state, out) : void();
      default: return aborter ? NextAborter(state, out) : void();
    }
  }

  std::string Broken(const State& state) const {
    int owners = 0;
    for (uint8_t place : state.place) owners += place >= kRunLook && place < kRunAgain;
    for (uint8_t place : state.place) owners += place == kRunHandOver;
    if (owners > 1) return "two owners at once";
    if (state.in_list > 1) return "linked twice";
    for (uint8_t place : state.place) {
      if (place == kRunHead && state.base_of[state.executed] != state.known_base) return "the owner looks into the wrong slot";
    }
    for (int task = 0; task < tasks; ++task) {
      if (state.ran[task] + state.dropped[task] > 1) return "a task ran twice";
    }
    if (state.completed > state.submitted) return "more completed than submitted";
    return "";
  }

  std::string BrokenAtRest(const State& state) const {
    if (state.completed != tasks && !(state.parked != 0 && state.gate_open == 0)) return "work is left and nobody moves";
    for (int task = 0; task < state.completed; ++task) {
      if (state.ran[task] + state.dropped[task] != 1) return "a task was lost";
    }
    if (helper && gate_task < 0 && state.place[kHelper] != kEnd) return "the waiter was forgotten";
    if (aborter && state.place[kAborter] != kEnd) return "the abort was forgotten";
    return "";
  }

 private:
  using States = std::vector<State>;

  // A thread that leaves RunOwned goes back to what it does.
  static Place Home(int thread) { return thread == kAborter ? kPublished : thread == kOpener ? kEnd : kStart; }
  static void Go(State state, int thread, Place place, States& out) {
    state.place[thread] = place;
    // What a thread remembers ends with the round: states that differ in leftovers only are one.
    if (place == Home(thread) || place == kEnd || place == kPush) state.seen[thread] = state.up_to[thread] = 0;
    out.push_back(state);
  }
  static bool Ownable(uint8_t word) { return word == kIdle || word == kQueued; }

  void Own(State state, int thread, uint8_t up_to, States& out) const {
    state.word = kOwned;
    state.up_to[thread] = up_to;
    Go(state, thread, kRunLook, out);
  }

  void NextSubmitter(const State& state, States& out) const {
    switch (state.place[kSubmitter]) {
      case kStart: {
        if (state.submitted == tasks) return;
        State next = state;
        if (restart_when_complete ? state.idle_at == state.submitted : state.word == kIdle) next.base = state.submitted;
        next.base_of[state.submitted] = next.base;
        if (publish_before_look) {
          ++next.submitted;
        } else {
          next.seen[kSubmitter] = state.word;
        }
        return Go(next, kSubmitter, kPublished, out);
      }
      case kPublished: {
        State next = state;
        uint8_t word = state.word;
        if (!publish_before_look) {
          ++next.submitted;
          word = state.seen[kSubmitter];
        }
        return Go(next, kSubmitter, word == kIdle ? kLooked : kStart, out);
      }
      case kLooked: {
        if (inline_runs && Ownable(state.word)) Own(state, kSubmitter, static_cast<uint8_t>(state.completed + 1), out);
        State next = state;
        if (state.word != kIdle) return Go(next, kSubmitter, kStart, out);
        next.word = kQueued;
        return Go(next, kSubmitter, kPush, out);
      }
      default: return;
    }
  }

  // Waits for the last but one task and helps. A spin that sees nothing new is no step.
  void NextHelper(const State& state, States& out) const {
    const uint8_t wanted = static_cast<uint8_t>(tasks - 1);
    switch (state.place[kHelper]) {
      case kStart:
        if (state.completed >= wanted) return Go(state, kHelper, kEnd, out);
        if (state.submitted >= wanted && Ownable(state.word)) {
          State next = state;
          next.seen[kHelper] = state.word;
          Go(next, kHelper, kLooked, out);
        }
        return;
      case kLooked: return TryOwn(state, kHelper, wanted, kStart, out);
      default: return;
    }
  }

  void TryOwn(const State& state, int thread, uint8_t up_to, Place otherwise, States& out) const {
    if (state.word == state.seen[thread] || (!own_by_swap && Ownable(state.seen[thread]))) return Own(state, thread, up_to, out);
    Go(state, thread, otherwise, out);
  }

  // RunList::Push. Where the queue is linked from before, the old place serves.
  void NextPush(const State& state, int thread, States& out) const {
    State next = state;
    if (state.place[thread] == kPush) {
      next.linked = 1;
      return Go(next, thread, state.linked != 0 ? Home(thread) : kLink, out);
    }
    ++next.in_list;
    Go(next, thread, Home(thread), out);
  }

  void NextLane(const State& state, States& out) const {
    switch (state.place[kLane]) {
      case kStart: {
        if (state.in_list == 0) return;
        State next = state;
        --next.in_list;
        return Go(next, kLane, unlink_before_look ? kUnlink : kPublished, out);
      }
      case kUnlink: {
        State next = state;
        next.linked = 0;
        return Go(next, kLane, unlink_before_look ? kPublished : kStart, out);
      }
      case kPublished: {
        State next = state;
        next.seen[kLane] = state.word;
        return Go(next, kLane, Ownable(state.word) ? kLooked : unlink_before_look ? kStart : kUnlink, out);
      }
      default: {
        State next = state;
        if (!unlink_before_look) next.linked = 0;
        return TryOwn(next, kLane, kNobody, kStart, out);
      }
    }
  }

  // Gate::Open: the flag and the list change under one lock; the released queue is resumed afterwards.
  void NextOpener(const State& state, States& out) const {
    State next = state;
    switch (state.place[kOpener]) {
      case kStart:
        next.gate_open = 1;
        next.seen[kOpener] = state.parked;
        next.parked = 0;
        return Go(next, kOpener, kPublished, out);
      case kPublished:
        if (state.seen[kOpener] == 0) return Go(next, kOpener, kEnd, out);
        ++next.ran[state.executed];
        return Go(next, kOpener, kLooked, out);
      case kLooked:
        next.completed = ++next.executed;
        next.seen[kOpener] = 0;
        next.word = kQueued;
        return Go(next, kOpener, kPush, out);
      default: return;
    }
  }

  void NextAborter(const State& state, States& out) const {
    State next = state;
    switch (state.place[kAborter]) {
      case kStart: next.abort_last = state.submitted; return Go(next, kAborter, kLooked, out);
      case kLooked: next.drop_up_to = state.abort_last; return Go(next, kAborter, kPublished, out);
      case kPublished:
        if (state.completed >= state.abort_last) return Go(next, kAborter, kEnd, out);
        if (Ownable(state.word)) return Own(state, kAborter, state.abort_last, out);
        if (state.word == kBlocked && state.parked != 0) {
          next.parked = 0;
          return Own(next, kAborter, state.abort_last, out);
        }
        return;
      default: return;
    }
  }

  void NextOwner(const State& state, int thread, States& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kRunLook:
        if (state.executed == state.known) {
          next.known = state.submitted;
          if (state.executed == state.submitted) return Go(next, thread, kRunGiveUp, out);
          next.known_base = state.base;
        }
        return Go(next, thread, state.executed >= state.up_to[thread] ? kRunHandOver : kRunHead, out);
      case kRunHead:
        if (state.executed < state.drop_up_to) {
          ++next.dropped[state.executed];
        } else if (state.executed == gate_task) {
          next.word = kBlocked;
          return Go(next, thread, kRunPark, out);
        } else {
          ++next.ran[state.executed];
        }
        next.completed = ++next.executed;
        return Go(next, thread, kRunLook, out);
      case kRunPark:
        if (state.gate_open == 0) {
          next.parked = 1;
          return Go(next, thread, Home(thread), out);
        }
        next.word = kOwned;
        ++next.ran[state.executed];
        next.completed = ++next.executed;
        return Go(next, thread, kRunLook, out);
      case kRunGiveUp: next.idle_at = state.executed; return Go(next, thread, kRunIdle, out);
      case kRunIdle:
        next.seen[thread] = state.executed;
        next.word = kIdle;
        return Go(next, thread, second_look ? kRunAgain : Home(thread), out);
      case kRunAgain: return Go(next, thread, state.submitted == state.seen[thread] ? Home(thread) : kRunTakeBack, out);
      case kRunTakeBack:
        if (state.word != kIdle) return Go(next, thread, Home(thread), out);
        next.word = kOwned;
        return Go(next, thread, kRunLook, out);
      default: next.word = kQueued; return Go(next, thread, kPush, out);
    }
  }
};

}  // namespace ropeway_model
