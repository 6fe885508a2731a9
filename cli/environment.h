// The variables that point builds and programs at the drop-in tree: one table for `env`, which prints them, and `exec`, which sets
// them. set_env.sh says the same to a shell; a test holds the two together.
#pragma once

#include <string>
#include <vector>

#include "cli/tree.h"

namespace ropeway::cli {

struct TreeVariable {
  const char* name;
  std::string value;
  bool in_front = false;  // a list with colons: the value goes in front of what is there
};

// Of a tree that is not complete, only where its library is.
std::vector<TreeVariable> TreeVariables(const Tree& tree);

}  // namespace ropeway::cli
