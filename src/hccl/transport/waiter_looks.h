// What a thread does that waits for a stream (ropewayHelpWaiters) whose work hangs on others: it looks for their news itself, at their
// boards and at its own sockets, as long as somebody expects some.
#pragma once

#include <cstdint>

#include "hccl/transport/io_thread.h"

namespace ropeway::comm {

// Looks, and answers whether there is something to look for, as ropewayHelpFunc does. Any thread; once per function.
using WaiterLook = int (*)(int leaving);
void AddWaiterLook(WaiterLook look);
// Its descriptors are looked at, too; it is never destroyed.
void LookAtDescriptorsOf(IoThread& thread);

// Something small has begun whose end comes over a socket: worth looking for. `crowded`: those who bring it may need this core.
class NewsExpected {
 public:
  NewsExpected() = default;
  ~NewsExpected() { Came(); }
  NewsExpected(const NewsExpected&) = delete;
  NewsExpected& operator=(const NewsExpected&) = delete;
  void Expect(bool crowded);
  void Came();

 private:
  enum class State : uint8_t { kNone, kExpected, kCrowded } state_ = State::kNone;
};

}  // namespace ropeway::comm
