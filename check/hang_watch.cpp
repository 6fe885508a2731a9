#include "check/hang_watch.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <thread>

#include "check/call.h"
#include "check/options.h"

namespace ropeway::check {
namespace {

using Steady = std::chrono::steady_clock;

struct HostWait {
  Place place;
  uint32_t operation;
  Steady::time_point since;
};

struct State {
  std::list<HostWait> waits;
  std::condition_variable changed;
  bool running = false;
};

State& GetState() {
  static auto* const state = new State;
  return *state;
}

void Judge(const HostWait& wait) {
  Books& books = Books::Get();
  const Step* const head = books.model.HeldAt(wait.place.stream);
  if (head == nullptr || head->number > wait.place.number) return;
  const Use use{{wait.place.stream, head->number}, head->operation};
  books.Tell(Rule::kHang, wait.operation, "has waited for " + std::to_string(GetOptions().hang_s) + " s", use,
             "waits for what nobody has submitted");
}

// Asleep while nobody waits.
void Watch() {
  State& state = GetState();
  std::unique_lock lock(Call::Mutex());
  const auto limit = std::chrono::seconds(GetOptions().hang_s);
  for (;;) {
    if (state.waits.empty()) {
      state.changed.wait(lock);
      continue;
    }
    const Steady::time_point due = state.waits.front().since + limit;
    if (Steady::now() < due) {
      state.changed.wait_until(lock, due);
      continue;
    }
    Judge(state.waits.front());
    state.waits.pop_front();
  }
}

}  // namespace

void HangWatch::Begin(const Place& place, uint32_t operation) {
  Books& books = Books::Get();
  if (books.model.HeldAt(place.stream) == nullptr) return;  // what a stream has is on its way
  State& state = GetState();
  state.waits.push_back({place, operation, Steady::now()});
  if (!state.running) {
    state.running = true;
    std::thread(Watch).detach();
  }
  state.changed.notify_one();
}

void HangWatch::End(const Place& place) {
  GetState().waits.remove_if([&](const HostWait& wait) { return wait.place.stream == place.stream && wait.place.number == place.number; });
}

}  // namespace ropeway::check
