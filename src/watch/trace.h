// The first watcher: writes every task, allocation and ordering edge as one JSON object per line. `docs/trace.md` has the
// fields.
#pragma once

#include <string>

namespace ropeway {

// Installs the trace writer. A file that cannot be opened is complained about on stderr, and nothing is traced.
void StartTrace(const std::string& path);

}  // namespace ropeway
