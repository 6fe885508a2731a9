// Which of two ways takes less time here, where that is up to the machine: what caches its cores have in common, how much stays in them,
// and what its kernel costs. Both are tried a few times, and the shortest times decide; after a thousand both are tried again, since
// threads, and the cores of virtual machines, move.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ropeway {

class FasterWay {
 public:
  enum Way : uint8_t { kOne, kOther };
  // Those that have done the same choose the same while they try.
  Way Choose() const {
    if (tried_[kOne].times < kTries || tried_[kOther].times < kTries) return tried_[kOne].times < tried_[kOther].times ? kOne : kOther;
    return tried_[kOne].least_ns <= tried_[kOther].least_ns ? kOne : kOther;
  }
  void Took(Way way, int64_t ns) {
    if (uses_ == kUses) *this = {};
    ++uses_;
    Tried& tried = tried_[way];
    ++tried.times;
    tried.least_ns = std::min(tried.least_ns, ns);
  }

 private:
  // Who loses the core in one of them has others.
  static constexpr int kTries = 8;
  static constexpr int kUses = 1000;
  struct Tried {
    int times = 0;
    int64_t least_ns = INT64_MAX;
  };
  Tried tried_[2];
  int uses_ = 0;
};

}  // namespace ropeway
