// Who wants to see the model's steps as they are worked off: a race detector of the program (thread_sanitizer.h). Tokens are addresses that
// stand for what passes order from one to another.
#pragma once

#include "check/model/range_map.h"

namespace ropeway::check {

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void Used(StreamIndex stream, const Range& range, bool write) = 0;
  virtual void Released(StreamIndex stream, const void* token) = 0;
  virtual void Acquired(StreamIndex stream, const void* token) = 0;
  virtual void HostAcquired(const void* token) = 0;
};

}  // namespace ropeway::check
