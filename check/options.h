// What `ropeway check` asks the layer for, in one variable of the environment:
// ROPEWAY_CHECK=json,stacks,leaks,every,suppress=FILE,output=FILE,hang=SECONDS,faults=RULES,host-access=on|sample|off
#pragma once

#include <string>

namespace ropeway::check {

struct Options {
  bool json = false;    // one object a line instead of text
  bool stacks = false;  // whole call stacks
  bool leaks = false;
  bool every = false;  // also what came before from the same places
  int hang_s = 10;
  std::string suppress;  // file of rules and sites that are not told
  std::string faults;    // calls that answer a code (faults.h)
  std::string host_access = "off";
  std::string output;  // file for what is found; stderr without one
};

const Options& GetOptions();

}  // namespace ropeway::check
