// The operations of a program by the call that made them: a name and a place in the program. A loop makes one.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/python_site.h"

namespace ropeway::check {

struct Operation {
  const char* call = "";         // the name of the function, a literal
  uintptr_t site = 0;            // where it returns to
  bool inside = false;           // a library of the target made it, not the program
  mutable std::string location;  // file and line: of a Python program at once, of others when somebody asks
  std::vector<void*> stack;
};

class Operations {
 public:
  uint32_t NumberOf(const char* call, uintptr_t site, const PythonSite& python);
  // Host code that touches memory, by the innermost place on its stack that is no library of the system.
  uint32_t NumberOfAccess(const std::vector<void*>& stack);
  const Operation& At(uint32_t number) const { return all_[number]; }

 private:
  std::unordered_map<uintptr_t, uint32_t> numbers_;  // by call and site, or line of Python
  std::deque<Operation> all_{1};                     // 0 is none
};

}  // namespace ropeway::check
