// The services that were added, for those who bring them messages and news.
#pragma once

#include <vector>

#include "hccl/membership/communicator.h"

namespace ropeway::comm {

const std::vector<const Service*>& AllServices();
// Whose message this is; null for a type that nobody knows.
const Service* ServiceOf(uint16_t type);

}  // namespace ropeway::comm
