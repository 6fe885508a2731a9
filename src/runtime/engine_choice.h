// Which engine runs: the CPU's, or a GPU's when its plugin and its driver are there. Decided once, when the settings are read, because
// the number of devices and their memory depend on it.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "base/config.h"
#include "engine/engine.h"

namespace ropeway {

// Fills in what the settings leave to the machine: the engine that `auto` means, and for GPUs their number and memory.
void ChooseEngine(Config& config);

// One line for people: what runs, and why not the other.
const std::string& EngineReason();

// The engine that the settings name. Throws std::runtime_error when a GPU cannot be set up.
std::unique_ptr<Engine> CreateEngine(const Config& config);

}  // namespace ropeway
