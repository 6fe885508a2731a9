// Where the drop-in tree is: bin/ropeway lies in it, so it is found from the running command, wherever it was put.
#pragma once

#include <string>

namespace ropeway::cli {

struct Tree {
  std::string root;  // what ASCEND_HOME_PATH should say
  // The folder of libascendcl.so: root/lib64, or, in a build folder without a tree, where this command's own library
  // is.
  std::string library_folder;
  bool complete;  // lib64/libascendcl.so and include/acl/acl.h are there: programs can be built against root
};

Tree FindTree();

// The file that this process's aclrt* calls come from.
std::string LibraryInUse();

}  // namespace ropeway::cli
