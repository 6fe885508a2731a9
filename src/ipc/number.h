// Keys for those who have room for one number only. The number is random; the socket and the secret follow from it, and it does
// not follow from the socket's name, which everybody can see.
#pragma once

#include <cstdint>

#include "ipc/key.h"

namespace ropeway::ipc {

Key KeyOfNumber(uint64_t number);

}  // namespace ropeway::ipc
