// A call that waits for streams: what it knows when it returns, and what is said when it does not.
#pragma once

#include <vector>

#include "check/call.h"
#include "check/hang_watch.h"

namespace ropeway::check {

// A wait that tells the error of some task has waited all the same. These have not.
bool HasWaited(aclError code);

// Watched from here to the end of the scope. `places_of(books)` says up to where.
class HostWait {
 public:
  template <typename PlacesOf>
  HostWait(Call& call, PlacesOf places_of) : call_(call) {
    call.Keep([&](Books& books, uint32_t operation) {
      places_ = places_of(books);
      ticket_ = HangWatch::Begin(places_, operation);
    });
  }
  ~HostWait() {
    if (ticket_ != 0) call_.Keep([&](Books&, uint32_t) { HangWatch::End(ticket_); });
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

  void Finish(Call& call) const {
    call.Keep([&](Books& books, uint32_t) {
      for (const Place& place : places_) books.model.Finish(place);
    });
  }

 private:
  Call& call_;
  std::vector<Place> places_;
  uint64_t ticket_ = 0;
};

}  // namespace ropeway::check
