// How a replay goes idle (engine/sched/replay.h, invariant 3) as a model: an owner that runs two branches, each of which
// goes outside once or twice; those who end the waits of a branch; lanes that take the queue up again; and perhaps an
// abort that takes hold of it out of turn. One step per access that another thread can see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

struct ReplayModel {
  static constexpr int kBranches = 2;
  static constexpr int kThreads = 5;
  enum Thread { kFirstWaker, kSecondWaker, kFirstLane, kSecondLane, kAborter };
  enum Word : uint8_t { kQueued, kOwned, kBlocked, kEnded };

  enum Place : uint8_t {
    kHome,  // lanes: the run list; wakers: their branch; the aborter: a word that it can take
    // Has the queue, from here ...
    kTake,   // exchanges `woken`, one branch after the other
    kBlock,  // no branch can go on: the word becomes kBlocked
    kStoreIdle,
    kUnblock,
    kQueue,  // a waker: the word becomes kQueued
    // ... to here.
    kLook,  // at `woken`, one branch after the other; the queue may be somebody else's by now
    kClaim,
    kSwap,        // lanes and the aborter: the compare-and-swap on the word
    kStoreWoken,  // wakers
    kWakeClaim,
    kPush,
    kClaimBlocked,  // the aborter
    kEnd,
  };

  struct State {
    uint8_t word = kOwned;
    uint8_t idle = 0;
    uint8_t in_list = 0;
    uint8_t woken[kBranches] = {};
    uint8_t outside[kBranches] = {1, 1};  // with a wait that nobody has ended yet
    uint8_t waits[kBranches] = {};        // that the owner knows to be over
    uint8_t place[kThreads] = {kHome, kHome, kTake, kHome, kHome};
    uint8_t branch[kThreads] = {};  // where a loop over the branches is
    uint8_t seen[kThreads] = {};    // what it has found; for a waker: that idle was set
  };

  uint8_t waits_of[kBranches] = {2, 2};
  bool aborter = false;
  // What a mutant does otherwise.
  bool idle_before_look = true;   // the owner
  bool woken_before_idle = true;  // the wakers
  bool claim_by_exchange = true;  // and not by a load and a store
  bool claim_for_news = true;     // an owner with news takes the queue back as everybody else would
  bool look_at_all = true;        // branches

  void Next(const State& state, int thread, std::vector<State>& out) const {
    const uint8_t place = state.place[thread];
    if ((place >= kTake && place <= kUnblock) || place == kLook || place == kClaim) return NextOwner(state, thread, out);
    switch (thread) {
      case kFirstWaker:
      case kSecondWaker: return NextWaker(state, thread, out);
      case kAborter: return aborter ? NextAborter(state, out) : void();
      default: return NextLane(state, thread, out);
    }
  }

  std::string Broken(const State& state) const {
    int owners = 0;
    for (uint8_t place : state.place) owners += place >= kTake && place <= kQueue;
    return owners > 1 ? "two have the queue at once" : "";
  }
  std::string BrokenAtRest(const State& state) const {
    if (state.word != kEnded) return "a branch was woken, and the queue stays blocked";
    return Done(state) ? "" : "a wait was forgotten";
  }

 private:
  using States = std::vector<State>;
  bool Done(const State& state) const { return state.waits[0] == waits_of[0] && state.waits[1] == waits_of[1]; }
  static Place Home(int thread) { return thread == kAborter ? kEnd : kHome; }
  static void Go(State state, int thread, Place place, States& out) {
    // What a thread remembers ends with the loop: states that differ in leftovers only are one.
    const bool same_loop = place == state.place[thread] || place == kQueue || place == kStoreWoken;
    if (!same_loop) state.branch[thread] = state.seen[thread] = 0;
    state.place[thread] = place;
    out.push_back(state);
  }

  // Replay::Run and Replay::GoIdle.
  void NextOwner(const State& state, int thread, States& out) const {
    State next = state;
    switch (state.place[thread]) {
      case kTake: return Take(next, thread, out);
      case kBlock: next.word = kBlocked; return Go(next, thread, idle_before_look ? kStoreIdle : kLook, out);
      case kStoreIdle: next.idle = 1; return Go(next, thread, idle_before_look ? kLook : Home(thread), out);
      case kLook: return Look(next, thread, out);
      case kClaim: next.idle = 0; return Go(next, thread, state.idle != 0 || !claim_for_news ? kUnblock : Home(thread), out);
      default: next.word = kOwned; return Go(next, thread, kTake, out);
    }
  }

  // A branch that comes back runs on and goes outside again, or is done.
  void Take(State next, int thread, States& out) const {
    const int branch = next.branch[thread];
    if (next.woken[branch] != 0) {
      next.woken[branch] = 0;
      next.outside[branch] = ++next.waits[branch] < waits_of[branch];
      next.seen[thread] = 1;
    }
    if (++next.branch[thread] < kBranches) return Go(next, thread, kTake, out);
    const bool moved = next.seen[thread] != 0;
    next.branch[thread] = next.seen[thread] = 0;
    if (!Done(next)) return Go(next, thread, moved ? kTake : kBlock, out);
    next.word = kEnded;
    Go(next, thread, Home(thread), out);
  }

  void Look(State next, int thread, States& out) const {
    next.seen[thread] |= next.woken[next.branch[thread]];
    if (++next.branch[thread] < (look_at_all ? kBranches : 1)) return Go(next, thread, kLook, out);
    const bool news = next.seen[thread] != 0;
    if (!idle_before_look) return Go(next, thread, news ? kUnblock : kStoreIdle, out);
    Go(next, thread, news ? kClaim : Home(thread), out);
  }

  // Replay::Wake, once for each wait of its branch.
  void NextWaker(const State& state, int waker, States& out) const {
    State next = state;
    switch (state.place[waker]) {
      case kHome:
        if (state.outside[waker] == 0) return;
        next.outside[waker] = 0;
        return Go(next, waker, woken_before_idle ? kStoreWoken : kWakeClaim, out);
      case kStoreWoken:
        next.woken[waker] = 1;
        if (woken_before_idle) return Go(next, waker, kWakeClaim, out);
        return Go(next, waker, state.seen[waker] != 0 ? kQueue : kHome, out);
      case kWakeClaim:
        next.seen[waker] = state.idle;
        if (claim_by_exchange) next.idle = 0;
        if (!woken_before_idle) return Go(next, waker, kStoreWoken, out);
        return Go(next, waker, state.idle != 0 ? kQueue : kHome, out);
      case kQueue:
        if (!claim_by_exchange) next.idle = 0;
        next.word = kQueued;
        return Go(next, waker, kPush, out);
      default: next.in_list = 1; return Go(next, waker, kHome, out);
    }
  }

  void NextLane(const State& state, int lane, States& out) const {
    State next = state;
    if (state.place[lane] == kSwap) return Swap(next, lane, out);
    if (state.in_list == 0) return;
    next.in_list = 0;
    Go(next, lane, kSwap, out);
  }

  void Swap(State next, int thread, States& out) const {
    if (next.word != kQueued) return Go(next, thread, Home(thread), out);
    next.word = kOwned;
    Go(next, thread, kTake, out);
  }

  // CpuQueue::Abort, as far as it takes a queued or a blocked queue; once, or it would mend what is broken.
  void NextAborter(const State& state, States& out) const {
    State next = state;
    switch (state.place[kAborter]) {
      case kHome:
        if (state.word == kQueued) return Go(next, kAborter, kSwap, out);
        if (state.word == kBlocked) return Go(next, kAborter, kClaimBlocked, out);
        return;
      case kSwap: return Swap(next, kAborter, out);
      case kClaimBlocked: next.idle = 0; return Go(next, kAborter, state.idle != 0 ? kUnblock : kEnd, out);
      default: return;
    }
  }
};

}  // namespace ropeway_model
