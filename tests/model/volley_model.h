// Volleys and those who wait for values (engine/volley.h, ValueWatch), as a model: a payload and a flag, which a volley writes in the wrong
// order, a waiter for the flag, and a second volley that only opens and closes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ropeway_model {

struct VolleyModel {
  static constexpr int kWriter = 0;
  static constexpr int kOther = 1;
  static constexpr int kWaiter = 2;
  static constexpr int kThreads = 3;

  enum Place : uint8_t {
    kOpen,  // the volleys start here
    kLookForWaiters,
    kWriteFlag,  // side by side: the flag comes first
    kWritePayload,
    kClose,
    kAnnounce,  // is somebody waiting
    kTakeLock,
    kLookAtFlag,
    kLookAtOpen,
    kPayloadInOrder,
    kFlagInOrder,
    kFirstFlag,  // the waiter starts here
    kFirstOpen,
    kPark,
    kHang,
    kSecondFlag,
    kSecondOpen,
    kParked,
    kPassed,
    kEnd,
  };

  struct State {
    uint8_t open = 0;
    uint8_t waiting = 0;
    uint8_t payload = 0;
    uint8_t flag = 0;
    uint8_t locked = 0;
    uint8_t in_order[2] = {};    // that volley was refused, and its tasks are still to come
    uint8_t seen_flag[3] = {};   // by each
    uint8_t seen_quiet[3] = {};  // none was open, by those who ask first
    uint8_t place[kThreads] = {kOpen, kOpen, kFirstFlag};
  };

  bool asks_whether_open = true;
  bool asks_behind_the_look = true;
  bool announces_every_close = true;

  void Next(const State& state, int thread, std::vector<State>& out) const {
    thread == kWaiter ? NextWaiter(state, out) : NextVolley(state, thread, out);
  }
  std::string Broken(const State& state) const {
    return state.place[kWaiter] == kPassed && state.payload == 0 ? "the waiter went on without the payload" : "";
  }
  std::string BrokenAtRest(const State& state) const {
    return state.place[kWaiter] == kPassed ? "" : "the waiter waits for a value that is there";
  }

 private:
  using States = std::vector<State>;
  static void Go(State state, int thread, Place place, States& out) {
    state.place[thread] = place;
    out.push_back(state);
  }
  // What a look says, whose two halves are seen by `thread`; the second is seen now.
  bool Counts(const State& state, int thread) const {
    if (!asks_whether_open) return state.seen_flag[thread] != 0;
    if (!asks_behind_the_look) return state.flag != 0 && state.seen_quiet[thread] != 0;
    return state.seen_flag[thread] != 0 && state.open == 0;
  }
  void SeeFirstHalf(State& state, int thread) const {
    state.seen_flag[thread] = state.flag;
    state.seen_quiet[thread] = state.open == 0;
  }

  void NextVolley(const State& state, int me, States& out) const {
    State next = state;
    switch (state.place[me]) {
      case kOpen: ++next.open; return Go(next, me, kLookForWaiters, out);
      case kLookForWaiters:
        next.in_order[me] = state.waiting != 0;
        if (state.waiting != 0 || me == kOther) return Go(next, me, kClose, out);
        return Go(next, me, kWriteFlag, out);
      case kWriteFlag: next.flag = 1; return Go(next, me, kWritePayload, out);
      case kWritePayload: next.payload = 1; return Go(next, me, kClose, out);
      case kClose:
        --next.open;
        if (!announces_every_close && state.in_order[me] != 0) return Go(next, me, Behind(state, me), out);
        return Go(next, me, kAnnounce, out);
      case kAnnounce: return Go(next, me, state.waiting != 0 ? kTakeLock : Behind(state, me), out);
      case kTakeLock:
        if (state.locked != 0) return;
        next.locked = 1;
        return Go(next, me, kLookAtFlag, out);
      case kLookAtFlag: SeeFirstHalf(next, me); return Go(next, me, kLookAtOpen, out);
      case kLookAtOpen:
        next.locked = 0;
        if (state.place[kWaiter] == kParked && Counts(state, me)) {
          --next.waiting;
          next.place[kWaiter] = kPassed;
        }
        return Go(next, me, Behind(state, me), out);
      case kPayloadInOrder: next.payload = 1; return Go(next, me, kFlagInOrder, out);
      case kFlagInOrder:
        next.flag = 1;
        next.in_order[me] = 0;
        return Go(next, me, kAnnounce, out);
      default: return;
    }
  }
  static Place Behind(const State& state, int me) { return me == kWriter && state.in_order[me] != 0 ? kPayloadInOrder : kEnd; }

  void NextWaiter(const State& state, States& out) const {
    State next = state;
    switch (state.place[kWaiter]) {
      case kFirstFlag: SeeFirstHalf(next, kWaiter); return Go(next, kWaiter, kFirstOpen, out);
      case kFirstOpen: return Go(next, kWaiter, Counts(state, kWaiter) ? kPassed : kPark, out);
      case kPark:
        if (state.locked != 0) return;
        next.locked = 1;
        return Go(next, kWaiter, kHang, out);
      case kHang: ++next.waiting; return Go(next, kWaiter, kSecondFlag, out);
      case kSecondFlag: SeeFirstHalf(next, kWaiter); return Go(next, kWaiter, kSecondOpen, out);
      case kSecondOpen:
        next.locked = 0;
        if (!Counts(state, kWaiter)) return Go(next, kWaiter, kParked, out);
        --next.waiting;
        return Go(next, kWaiter, kPassed, out);
      default: return;
    }
  }
};

}  // namespace ropeway_model
