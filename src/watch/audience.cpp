#include "watch/audience.h"

#include <pthread.h>

#include <array>

#include "base/mutex.h"
#include "stream/stream.h"

namespace ropeway {
namespace {

class Audience final : public Watcher {
 public:
  bool HearsCalls() const override { return true; }
  void CallBegins(CallFrame& frame) override {
    ForEach([&](Watcher& one) { one.CallBegins(frame); });
  }
  void CallEnds(CallFrame& frame) override {
    ForEach([&](Watcher& one) { one.CallEnds(frame); });
  }
  bool WantsMarks() const override {
    bool wants = false;
    ForEach([&](Watcher& one) { wants = wants || one.WantsMarks(); });
    return wants;
  }
  void Marked(const MarkSight& sight) override {
    ForEach([&](Watcher& one) { one.Marked(sight); });
  }
  void Submitted(const TaskSight& sight) override {
    ForEach([&](Watcher& one) { one.Submitted(sight); });
  }
  Moment Started(const TaskSight& sight) override {
    Moment all;
    ForEach([&](Watcher& one) {
      const Moment moment = one.Started(sight);
      all = {all.ticks | moment.ticks, all.real_ns | moment.real_ns};  // each knows one of the two clocks
    });
    return all;
  }
  void Finished(const TaskSight& sight, const RunSight& run) override {
    ForEach([&](Watcher& one) { one.Finished(sight, run); });
  }
  void Dropped(const TaskSight& sight) override {
    ForEach([&](Watcher& one) { one.Dropped(sight); });
  }
  // Profiles have no waits.
  uint64_t WaitBegins(const WaitSight& sight) override {
    Watcher* const trace = At(Seat::kTrace);
    return trace == nullptr ? 0 : trace->WaitBegins(sight);
  }
  void WaitEnds(const WaitSight& sight, uint64_t begun) override {
    if (Watcher* const trace = At(Seat::kTrace)) trace->WaitEnds(sight, begun);
  }
  void Allocated(const BlockSight& sight) override {
    ForEach([&](Watcher& one) { one.Allocated(sight); });
  }
  void Freed(const BlockSight& sight) override {
    ForEach([&](Watcher& one) { one.Freed(sight); });
  }
  void Ordered(const OrderSight& sight) override {
    ForEach([&](Watcher& one) { one.Ordered(sight); });
  }
  void Transferred(uint32_t stream_id, uint64_t sequence, const TransferSight& sight) override {
    ForEach([&](Watcher& one) { one.Transferred(stream_id, sequence, sight); });
  }
  void Messaged(uint32_t stream_id, uint64_t sequence, uint64_t message, bool sends) override {
    ForEach([&](Watcher& one) { one.Messaged(stream_id, sequence, message, sends); });
  }
  void Flush() override {
    ForEach([](Watcher& one) { one.Flush(); });
  }

  void Sit(Seat seat, Watcher* watcher) { seats_[static_cast<size_t>(seat)].store(watcher, std::memory_order_release); }
  // Who has to be told: nobody, the only one, or this.
  Watcher* Speaker() {
    Watcher* const trace = At(Seat::kTrace);
    Watcher* const profiles = At(Seat::kProfiles);
    if (trace != nullptr && profiles != nullptr) return this;
    return trace != nullptr ? trace : profiles;
  }

 private:
  Watcher* At(Seat seat) const { return seats_[static_cast<size_t>(seat)].load(std::memory_order_acquire); }
  template <typename Tell>
  void ForEach(Tell tell) const {
    for (const Seat seat : {Seat::kTrace, Seat::kProfiles}) {
      if (Watcher* const one = At(seat)) tell(*one);
    }
  }
  std::array<std::atomic<Watcher*>, 2> seats_{};
};

constinit Mutex g_seats_mutex{LockRank::kSeats};

Audience& TheAudience() {
  static auto* const audience = new Audience;  // what ends at exit may still tell
  return *audience;
}

}  // namespace

void TakeSeat(Seat seat, Watcher* watcher) {
  LockGuard lock(g_seats_mutex);
  // What a watcher has is its process's: a child is not watched before somebody in it takes a seat.
  static const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    for (const Seat one : {Seat::kTrace, Seat::kProfiles}) TheAudience().Sit(one, nullptr);
    g_watcher.store(nullptr, std::memory_order_release);
  });
  static_cast<void>(at_fork);
  TheAudience().Sit(seat, watcher);
  Watcher* const speaker = TheAudience().Speaker();
  const bool was_watched = g_watcher.exchange(speaker, std::memory_order_seq_cst) != nullptr;
  if (was_watched == (speaker != nullptr)) return;
  PassWatchTurnstile();
  Streams().ForEachInUse([&](Stream* stream) { stream->SetWatched(speaker != nullptr); });
}

}  // namespace ropeway
