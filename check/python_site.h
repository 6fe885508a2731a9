// Where a Python program called the module `acl`: the frame on top of this thread, asked of whichever Python is in the process.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway::check {

struct PythonSite {
  uintptr_t key = 0;  // of this line of this code; 0 when the caller is no Python module
  std::string location;
};

PythonSite FindPythonSite(uintptr_t caller);

}  // namespace ropeway::check
