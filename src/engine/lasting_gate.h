// A gate for objects that come and go.
//
// A timer or an abort reads where a queue is parked and then looks for the queue there. In between the gate may open and the
// queue go on, and with it everything the task kept alive. So the memory of a gate must last: events and notifies lie in slabs,
// and what is allocated takes its gate from here. A gate that was given back is used again; who comes late finds his queue
// in it only if the queue is parked there anew, and then it is his to resume (LaneQueue::TimeOut, Unblock).
#pragma once

#include <list>

#include "engine/gate.h"

namespace ropeway {

class LastingGate {
 public:
  LastingGate();
  ~LastingGate();
  LastingGate(const LastingGate&) = delete;
  LastingGate& operator=(const LastingGate&) = delete;

  Gate* get() { return &gate_.front(); }
  Gate* operator->() { return get(); }

 private:
  std::list<Gate> gate_;  // one; giving it back takes no memory
};

}  // namespace ropeway
