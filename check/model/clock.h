// Places in streams, and what is known to be in front of one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ropeway::check {

using StreamIndex = uint32_t;

struct Place {
  StreamIndex stream = 0;
  uint64_t number = 0;  // from 1 on; 0 is nowhere
  explicit operator bool() const { return number != 0; }
};

// For every stream the last number that is in front, sorted by stream. Streams that are not named have nothing in front.
class Clock {
 public:
  uint64_t Of(StreamIndex stream) const {
    const auto at = Find(stream);
    return at != entries_.end() && at->stream == stream ? at->number : 0;
  }

  void Raise(const Place& place) {
    const auto at = entries_.begin() + (Find(place.stream) - entries_.cbegin());
    if (at == entries_.end() || at->stream != place.stream)
      entries_.insert(at, place);
    else
      at->number = std::max(at->number, place.number);
  }

  void Join(const Clock& other) {
    for (const Place& place : other.entries_) Raise(place);
  }

  template <typename Predicate>
  void Drop(Predicate finished) {
    std::erase_if(entries_, finished);
  }

  const std::vector<Place>& entries() const { return entries_; }

 private:
  std::vector<Place>::const_iterator Find(StreamIndex stream) const {
    return std::lower_bound(entries_.begin(), entries_.end(), stream,
                            [](const Place& place, StreamIndex one) { return place.stream < one; });
  }

  std::vector<Place> entries_;
};

}  // namespace ropeway::check
