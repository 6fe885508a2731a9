// While a trace is recorded, and always for calls that make and free blocks: what the library does for a call of the program is told with
// the line of Python that it is on.
#pragma once

#include "ropeway/ropeway.h"

namespace ropeway::python {

// As long as it lives. Made while the interpreter lock is held.
class TracedCall {
 public:
  explicit TracedCall(bool always = false) : traced_(always || ropewayIsTraced() != 0) {
    if (traced_) TellLine();
  }
  ~TracedCall() {
    if (traced_) ropewayTellCaller(nullptr, nullptr);
  }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  static void TellLine();
  const bool traced_;
};

}  // namespace ropeway::python
