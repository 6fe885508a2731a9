// The CPU engine: the embedded default, and the reference that other engines must agree with byte for byte.
#pragma once

#include <memory>

#include "base/config.h"
#include "engine/engine.h"

namespace ropeway::cpu {

std::unique_ptr<Engine> CreateCpuEngine(const Config& config);

}  // namespace ropeway::cpu
