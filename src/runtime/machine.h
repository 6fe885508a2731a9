// What runs, on what: the settings, completed by what the machine offers. The engine (the CPU's, or a GPU's when its plugin and its driver
// are there), the devices, their memory, and which of them the program sees. Settled at the first question, since it takes the driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "engine/engine.h"

namespace ropeway {

struct Machine {
  std::string engine;                       // "cpu", "cuda", or "none" where the settings insist on a GPU that is not there
  std::string reason;                       // one line for people: what runs, and why not the other
  int devices = 0;                          // before the visibility list; 0 without an engine
  size_t device_memory = 0;                 // bytes per device, committed on touch
  std::optional<std::vector<int>> visible;  // physical ids in the order of user ids, where there is a list; it may leave nothing
};

// What a plugin tells of the GPUs.
struct Gpus {
  int count = 0;
  size_t memory = 0;  // of each
  std::string text;   // their name and driver, or why there are none
};

// Pure: the settings on a machine with these GPUs.
Machine CompleteConfig(const Config& config, const Gpus& gpus);

// This process's. The first call opens the CUDA plugin, unless the settings want the CPU.
const Machine& ThisMachine();

// The engine of this machine. Throws std::runtime_error when a GPU cannot be set up.
std::unique_ptr<Engine> CreateEngine();

}  // namespace ropeway
