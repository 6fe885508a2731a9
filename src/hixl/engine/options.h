// The options of Initialize. Most are about RDMA: they are checked, and nothing follows from them.
#pragma once

#include "base/status.h"
#include "hixl/engine/face.h"

namespace ropeway::transfer {

struct Options {
  bool auto_connect = false;
  unsigned connect_threads = 2;
  unsigned connect_queue = 128;
};

// PARAM_INVALID for a key that there is not, and for a value that it cannot have.
Result<Options> ReadOptions(const Texts& given);

}  // namespace ropeway::transfer
