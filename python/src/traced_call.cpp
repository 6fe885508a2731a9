#include "traced_call.h"

#include <map>
#include <utility>

#include "check/python_frame.h"

namespace ropeway::python {

// The interpreter lock guards the table. A code object that is in it stays, so that no other gets its address.
void TracedCall::TellLine() {
  static auto* const places = new std::map<std::pair<uintptr_t, int>, const void*>;
  check::PythonFrame frame;
  if (!frame) return;
  const auto [found, added] = places->try_emplace({frame.code(), frame.line()}, nullptr);
  if (added) {
    frame.Keep();
    ropewayTellPlace((frame.Path() + ":" + std::to_string(frame.line())).c_str(), &found->second);
  }
  ropewayTellCaller(nullptr, found->second);
}

}  // namespace ropeway::python
