// Starting a user's program with the tree in front of everything else: what `exec` and `check` share.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"

namespace ropeway::cli {

// Says so, in the name of the command, when the tree has no library.
bool HasLibrary(const char* command, const Tree& tree);

void Export(const TreeVariable& variable);

// What a shell would say of a program that waitpid saw end.
int StatusOf(int wait_status);

// Becomes the program. Returns only when it could not be started, with the status that shells give for that.
int Execute(const char* command, std::vector<std::string> words);

}  // namespace ropeway::cli
