// Per address: who wrote it last, and who has read it since. Nothing is kept of what the host knows to be finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "check/model/clock.h"

namespace ropeway::check {

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool empty() const { return begin == end; }
};

inline Range RangeOf(const void* address, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return {begin, begin + size};
}

// One operation's use of some bytes: where it stands, and the number of what is to be said of it in a report.
struct Use {
  Place place;
  uint32_t operation = 0;
};

class RangeMap {
 public:
  // Calls `meet(use, written, part)` for every earlier use of these bytes, last writers and readers since. `known_finished(place)` says
  // what may be forgotten.
  template <typename Meet>
  void Visit(const Range& range, Meet meet) const {
    for (auto at = FirstTouching(range); at != segments_.end() && at->first < range.end; ++at) {
      const Range part{std::max(at->first, range.begin), std::min(at->second.end, range.end)};
      if (at->second.writer.place) meet(at->second.writer, true, part);
      for (const Use& reader : at->second.readers) meet(reader, false, part);
    }
  }

  void Write(const Range& range, const Use& use) {
    if (Segment* const same = Exact(range)) {
      same->writer = use;
      same->readers.clear();
      return;
    }
    Clear(range);
    segments_.emplace_hint(segments_.lower_bound(range.begin), range.begin, Segment{range.end, use, {}});
  }

  template <typename KnownFinished>
  void Read(const Range& range, const Use& use, KnownFinished known_finished) {
    if (Segment* const same = Exact(range)) return AddReader(&same->readers, use, known_finished);
    SplitAt(range.begin);
    SplitAt(range.end);
    uintptr_t covered = range.begin;
    auto at = segments_.lower_bound(range.begin);
    while (covered < range.end) {
      if (at == segments_.end() || at->first > covered) {
        const uintptr_t end = at == segments_.end() ? range.end : std::min(at->first, range.end);
        segments_.emplace_hint(at, covered, Segment{end, {}, {use}});
        covered = end;
        continue;
      }
      AddReader(&at->second.readers, use, known_finished);
      covered = at->second.end;
      ++at;
    }
  }

  void Clear(const Range& range) {
    SplitAt(range.begin);
    SplitAt(range.end);
    segments_.erase(segments_.lower_bound(range.begin), segments_.lower_bound(range.end));
  }

  // Forgets what is finished, all over; worth its price when the map has doubled since the last time.
  template <typename KnownFinished>
  void Sweep(KnownFinished known_finished) {
    if (segments_.size() < 2 * kept_ + 4096) return;
    for (auto at = segments_.begin(); at != segments_.end();) {
      Segment& segment = at->second;
      if (segment.writer.place && known_finished(segment.writer.place)) segment.writer = {};
      std::erase_if(segment.readers, [&](const Use& reader) { return known_finished(reader.place); });
      at = !segment.writer.place && segment.readers.empty() ? segments_.erase(at) : std::next(at);
    }
    kept_ = segments_.size();
  }

  size_t size() const { return segments_.size(); }

 private:
  struct Segment {
    uintptr_t end;
    Use writer;
    std::vector<Use> readers;  // one per stream: a later one stands for the earlier
  };
  using Segments = std::map<uintptr_t, Segment>;

  Segments::const_iterator FirstTouching(const Range& range) const {
    auto at = segments_.upper_bound(range.begin);
    if (at != segments_.begin() && std::prev(at)->second.end > range.begin) --at;
    return at;
  }

  // Programs use the same blocks again and again.
  Segment* Exact(const Range& range) {
    const auto at = segments_.find(range.begin);
    return at != segments_.end() && at->second.end == range.end ? &at->second : nullptr;
  }

  void SplitAt(uintptr_t address) {
    const auto behind = segments_.upper_bound(address);
    if (behind == segments_.begin()) return;
    const auto at = std::prev(behind);
    if (at->first == address || at->second.end <= address) return;
    Segment rest = at->second;
    at->second.end = address;
    segments_.emplace_hint(behind, address, std::move(rest));
  }

  template <typename KnownFinished>
  static void AddReader(std::vector<Use>* readers, const Use& use, KnownFinished known_finished) {
    std::erase_if(*readers, [&](const Use& one) { return one.place.stream == use.place.stream || known_finished(one.place); });
    readers->push_back(use);
  }

  Segments segments_;
  size_t kept_ = 0;
};

}  // namespace ropeway::check
