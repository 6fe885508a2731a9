// Where an address of the program is, in words: file and line from its debug information (libdw, loaded when the first report is
// written), the function otherwise, the module and the distance in it at least.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway::check {

struct Location {
  std::string function;
  std::string file;  // as the compiler was given it; empty without debug information
  int line = 0;
  std::string module;

  std::string Short() const;  // kv.cpp:91, or function+module
};

// Of a return address: the call is in front of it.
Location Locate(uintptr_t return_address);

}  // namespace ropeway::check
