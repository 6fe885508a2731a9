#include "check/hang_watch.h"

#include <unistd.h>

#include <algorithm>
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
  uint64_t ticket;
  std::vector<Place> places;
  uint32_t operation;
  Steady::time_point since;
};

struct State {
  std::list<HostWait> waits;
  std::condition_variable changed;
  uint64_t last_ticket = 0;
  pid_t running_in = 0;  // a child has no such thread
};

State& GetState() {
  static auto* const state = new State;
  return *state;
}

// The step at which a stream stands still, if that is in front of `place`.
const Step* HeadInFrontOf(const Place& place) {
  const Step* const head = Books::Get().model.HeldAt(place.stream);
  return head == nullptr || head->number > place.number ? nullptr : head;
}

// From wait to wait, to one that nobody has submitted the release of, or around in a circle.
std::string ChainFrom(StreamIndex stream, const Step& head) {
  Books& books = Books::Get();
  std::vector<StreamIndex> seen{stream};
  std::string chain;
  const Step* step = &head;
  for (;;) {
    const std::optional<StreamIndex> holder = books.model.HolderOf(*step);
    const Step* const next = holder ? books.model.HeldAt(*holder) : nullptr;
    if (next == nullptr) return chain + "waits for what nobody has submitted";
    chain += "waits for " + books.NameOf(*holder) + ", which stands at " + books.NameOf(Place{*holder, next->number}) + " and ";
    if (std::find(seen.begin(), seen.end(), *holder) != seen.end()) return chain + "waits in turn: a cycle";
    seen.push_back(*holder);
    step = next;
  }
}

void Judge(const HostWait& wait) {
  Books& books = Books::Get();
  for (const Place& place : wait.places) {
    const Step* const head = HeadInFrontOf(place);
    if (head == nullptr) continue;
    const Use use{{place.stream, head->number}, head->operation};
    return books.Tell(Rule::kHang, wait.operation, "has waited for " + std::to_string(GetOptions().hang_s) + " s", use,
                      ChainFrom(place.stream, *head));
  }
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

uint64_t HangWatch::Begin(const std::vector<Place>& places, uint32_t operation) {
  if (std::none_of(places.begin(), places.end(), HeadInFrontOf)) return 0;
  State& state = GetState();
  state.waits.push_back({++state.last_ticket, places, operation, Steady::now()});
  if (state.running_in != getpid()) {
    state.running_in = getpid();
    std::thread(Watch).detach();
  }
  state.changed.notify_one();
  return state.last_ticket;
}

void HangWatch::End(uint64_t ticket) {
  GetState().waits.remove_if([&](const HostWait& wait) { return wait.ticket == ticket; });
}

}  // namespace ropeway::check
