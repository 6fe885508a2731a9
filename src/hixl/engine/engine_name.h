// The name of an engine: a numeric address, and the port at which it listens.
#pragma once

#include <string>

#include "base/status.h"
#include "hccl/transport/address.h"

namespace ropeway::transfer {

struct EngineName {
  std::string text;
  comm::Address address;
  bool listens() const { return address.port != 0; }
};

// "10.0.0.1", "10.0.0.1:16000", "[fe80::1]", "[fe80::1]:16000". Without a port, or with one that is not above 0, it does not listen.
// PARAM_INVALID for anything else.
Result<EngineName> ParseEngineName(const std::string& text);

}  // namespace ropeway::transfer
