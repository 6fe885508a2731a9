// Memory that a program has at several addresses: a range that is a view of another one stands for its bytes.
#pragma once

#include <map>

#include "check/model/range_map.h"

namespace ropeway::check {

class Views {
 public:
  bool empty() const { return views_.empty(); }

  void Add(const Range& range, uintptr_t original) { views_[range.begin] = {range.end, original}; }

  // Ends what this range is a view of, and the views of it.
  void Remove(const Range& range) {
    std::erase_if(views_, [&](const auto& entry) {
      const auto& [begin, view] = entry;
      const uintptr_t original_end = view.original + (view.end - begin);
      return (begin < range.end && range.begin < view.end) || (view.original < range.end && range.begin < original_end);
    });
  }

  // Calls tell(part, is_view) with the originals of its parts, in order.
  template <typename Tell>
  void Fold(Range range, Tell tell) const {
    auto at = views_.upper_bound(range.begin);
    if (at != views_.begin() && std::prev(at)->second.end > range.begin) --at;
    while (!range.empty()) {
      if (at == views_.end() || at->first >= range.end) return tell(range, false);
      if (at->first > range.begin) tell(Range{range.begin, at->first}, false);
      const uintptr_t begin = std::max(range.begin, at->first), end = std::min(range.end, at->second.end);
      const uintptr_t original = at->second.original + (begin - at->first);
      tell(Range{original, original + (end - begin)}, true);
      range.begin = end;
      ++at;
    }
  }

 private:
  struct View {
    uintptr_t end;
    uintptr_t original;
  };
  std::map<uintptr_t, View> views_;  // they do not overlap: blocks do not
};

}  // namespace ropeway::check
