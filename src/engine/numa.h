// Nodes of the host's memory: which there are, and pages that shall lie on one.
#pragma once

#include "engine/shared_pages.h"

namespace ropeway {

bool NumaNodeExists(int node);
// Pages that nobody has touched come from this node from now on, as long as it has some left. False when the system refuses.
bool PreferNumaNode(const SharedPages& pages, int node);

}  // namespace ropeway
